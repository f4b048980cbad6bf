"""Local recoding: groups of near records, each released at the lowest levels its own members share.

First *layers*: levels in the order of their loss, and at each the classes of what remains that have k people and
hold under the models. Then a search takes a few groups near each other apart and puts them together anew. The loss is far below
that of one recoding for all, at the price that the values of a column stand at different levels.

Local recoding: J. Xu and others, Utility-based anonymization using local recoding, KDD 2006. To recode again and again what
remains is also how ARX recodes locally.
"""

from dataclasses import replace
from functools import partial

import numpy as np

from shoal.errors import Infeasible, InputError, parameter
from shoal.microdata.models.model import PopulationModel, ValueModel
from shoal.microdata.recoding import lattice
from shoal.microdata.recoding.classes import Classes, Levels
from shoal.microdata.recoding.local_recoding.bound import lower_bound
from shoal.microdata.recoding.local_recoding.items import Items, Pieces
from shoal.microdata.recoding.local_recoding.layers import layers, layers_under
from shoal.microdata.recoding.local_recoding.leftovers import placed
from shoal.microdata.recoding.local_recoding.neighbourhoods import improved
from shoal.microdata.recoding.local_recoding.release import Grouping
from shoal.microdata.recoding.local_recoding.requirements import failing, joined_until_allowed
from shoal.microdata.recoding.problem import Problem
from shoal.microdata.recoding.solution import Recoding
from shoal.runtime import Budget, Observer, Run, Seeds, StopReason, silent
from shoal.runtime.options import NoOptions

# Pools of groups that are tried by default: so many for each group there could be, and at most.
_POOLS = 100
_POOLS_WITH_MODELS = 20
_MOST_POOLS = 2_000_000
# Boxes of the lattice that are looked at for a recoding of whole columns to begin with.
_BOXES = 100
_EQUAL = 1e-9


def solve(
    problem: Problem,
    options: NoOptions | None = None,
    *,
    budget: Budget | None = None,
    seeds: Seeds | None = None,
    threads: int = 1,
    observer: Observer = silent,
    start: "Recoding | Levels | None" = None,
) -> Recoding:
    """Find groups with little loss; iterations are pools of groups that were parted anew.

    >>> from shoal.microdata.columns.hierarchies.hierarchy import Hierarchy
    >>> ages = Hierarchy([("31", "30-39"), ("38", "30-39"), ("47", "40-49"), ("48", "40-49")])
    >>> found = solve(Problem.of([np.array([0, 0, 0, 1, 1, 2, 3])], [ages], k=2))
    >>> found.levels.ravel().tolist(), round(found.value, 4)
    ([0, 0, 1, 1], 0.0952)
    """
    check(problem)
    pools = _POOLS_WITH_MODELS if any(isinstance(model, ValueModel) for model in problem.models) else _POOLS
    default = min(_MOST_POOLS, pools * max(10, problem.units // problem.k))
    allowed, seeds = budget or Budget(), seeds or Seeds()
    run = allowed.or_iterations(default + (default // 2 if problem.limit else 0)).start(observer)
    items = Items.of(problem)
    best = _constructed(items)
    starts = [start]
    if problem.limit:
        half = None if allowed.seconds is None else allowed.seconds / 2
        share = run.remaining(iterations=default if allowed.usual else None, seconds=half)
        starts.append(_with_everybody(problem, share, run, seeds, threads))
    for one in starts:
        best = best if one is None else _better(best, _started(items, one))
    if problem.models or problem.spread is not None:
        best = _better(best, _from_whole_columns(items, run))
    if best is None:
        raise _infeasible(items)
    bound = lower_bound(items, best.rates())
    run.report(best.value, bound=bound)
    found = improved(best, run, seeds.child("local"), threads, bound=bound)
    best = found if found.value < best.value else best
    return _as_recoding(best, bound, run)


def _with_everybody(
    problem: Problem, budget: Budget, run: Run, seeds: Seeds, threads: int
) -> Recoding | None:
    """The recoding that leaves out nobody, searched as by itself: who may leave out records never loses more than that."""
    try:
        recoding = solve(
            replace(problem, limit=0),
            budget=budget,
            seeds=seeds,
            threads=threads,
            observer=run.nested("nobody left out"),
        )
    except Infeasible:
        return None
    run.spend(recoding.work)
    return recoding


def check(problem: Problem) -> None:
    """Refuse what local recoding cannot do."""
    if problem.uniform:
        raise InputError(
            f"local recoding leaves values at mixed levels; leave out {parameter('uniform')}, or choose another method"
        )
    if problem.measure in ("discernibility", "class-size"):
        raise InputError(
            f"local recoding chooses levels, and {parameter('measure', problem.measure)} does not say what they cost; "
            f"choose {parameter('measure', 'loss')}, 'cells' or 'entropy', or {parameter('method', 'lattice')}"
        )
    if problem.population is not None or any(isinstance(model, PopulationModel) for model in problem.models):
        raise InputError(
            "models of a population need one recoding of all, so that everybody of it has a class; "
            f"choose {parameter('method', 'lattice')}"
        )
    for column, hierarchy in enumerate(problem.hierarchies):
        if hierarchy.ambiguous and _unreadable(problem, column):
            raise InputError(
                f"the hierarchy of key {column + 1} has a label that stands for different values at different levels, so that "
                f"records at mixed levels could not be read; make labels differ ({parameter('hierarchy')}), or choose "
                f"{parameter('method', 'lattice')}"
            )


def _unreadable(problem: Problem, column: int) -> bool:
    """Whether one label means different values at two of the levels that may be released."""
    hierarchy = problem.hierarchies[column]
    meant: dict[str | None, tuple[int, ...]] = {}
    for level in range(problem.lowest[column], problem.highest[column] + 1):
        starts = np.flatnonzero(np.diff(hierarchy.nodes[level], prepend=-1)).tolist()
        for label, *run in zip(hierarchy.labels[level], starts, hierarchy.sizes[level].tolist(), strict=True):
            if meant.setdefault(label, tuple(run)) != tuple(run):
                return True
    return False


def _constructed(items: Items) -> Grouping | None:
    """Groups in layers; a limit on the average risk is met by a larger k, where k alone does not meet it."""
    for k in _sizes(items.problem):
        found = _layered(items, k)
        if _allowed(found):
            return found
    return None


def _sizes(problem: Problem) -> list[int]:
    """The numbers of people to try, the smallest first: with the last, any limit on the average risk holds."""
    largest = max([problem.k, *[int(np.ceil(1.0 / risk.limit - _EQUAL)) for risk in problem.average_risks]])
    return sorted({round(float(k)) for k in np.linspace(problem.k, largest, min(8, largest - problem.k + 1))})


def _layered(items: Items, k: int) -> Grouping:
    problem = items.problem
    fits = items.classes.at(problem.highest).people >= problem.k
    forced = int(items.present[~fits[items.kinds]].sum())
    room = 0 if problem.keep_suppressed else max(0, problem.limit - forced)
    if any(isinstance(model, ValueModel) for model in problem.models):
        groups = layers_under(items, k, partial(failing, items))
    else:
        groups = layers(items, k)
    groups = placed(items, groups, room=room)
    if problem.models:
        groups = joined_until_allowed(items, groups)
    pieces = Pieces.of(items)
    return Grouping(items, pieces, groups[pieces.items])


def _allowed(grouping: Grouping) -> bool:
    """Whether few enough are left out, something is released, and what concerns all of it holds."""
    problem = grouping.items.problem
    if grouping.size == 0 or grouping.people(released=False) > problem.limit:
        return False
    classes, kept = np.unique(grouping.groups[grouping.groups >= 0]).size, grouping.people(released=True)
    if not all(risk.allows(classes, kept) for risk in problem.average_risks):
        return False
    return not problem.keep_suppressed or _may_form_class(grouping)


def _may_form_class(grouping: Grouping) -> bool:
    """Whether those left out could be released as one class without keys."""
    out = grouping.groups < 0
    if not out.any():
        return True
    items = grouping.items
    if items.divisible:
        return int(grouping.pieces.people[out].sum()) >= items.problem.k
    return not failing(items, np.where(out, 0, -1)[np.argsort(grouping.pieces.items)], 1).any()


def _started(items: Items, start: "Recoding | Levels") -> Grouping | None:
    """The groups of a recoding that was given, if it meets the demands."""
    problem = items.problem
    if isinstance(start, Recoding):
        tuples, records, kept = start.tuples, start.records, start.released
        levels = start.levels.astype(np.int64)
    else:
        tuples = np.flatnonzero(problem.records > 0)
        records = problem.records[tuples]
        levels = np.tile(np.array(start, dtype=np.int64), (tuples.size, 1))
        classes, groups = Classes.of_tuples(problem).joined(tuple(start))
        kept = ~classes.failing[groups[tuples]]
    nodes = [
        hierarchy.nodes[levels[:, column], problem.keys[tuples, column]]
        for column, hierarchy in enumerate(problem.hierarchies)
    ]
    labels = np.concatenate([levels, np.stack(nodes, axis=1)], axis=1)
    numbers = np.unique(labels, axis=0, return_inverse=True)[1].ravel()
    groups = np.where(kept, numbers, -1)
    if items.divisible:
        own = items.base[tuples]
        pieces = Pieces(own, np.ascontiguousarray(items.keys[own]), records, records)
        found = Grouping(items, pieces, groups)
        fails = bool((found.described().people[np.unique(groups[groups >= 0])] < problem.k).any())
    else:
        whole = np.full(items.size, -2, dtype=np.int64)
        whole[items.base[tuples]] = groups
        if (whole[items.base[tuples]] != groups).any():
            return None
        found = Grouping(items, Pieces.of(items), whole)
        fails = bool(failing(items, whole, max(1, found.size)).any())
    return None if fails or not _allowed(found) else found


def _from_whole_columns(items: Items, run: Run) -> Grouping | None:
    """The groups of a good recoding of whole columns.

    Layers count people who have several tuples at one of them only, and join groups that fail without a look at the whole;
    on small data one recoding for all may be better.
    """
    try:
        found = lattice.solve(items.problem, budget=run.remaining(iterations=_BOXES))
    except Infeasible:
        return None
    return _started(items, found)


def _better(one: Grouping | None, other: Grouping | None) -> Grouping | None:
    if one is None or other is None:
        return one or other
    return other if other.value < one.value else one


def _as_recoding(grouping: Grouping, bound: float | None, run: Run) -> Recoding:
    tuples, records, groups = grouping.in_tuples()
    value = grouping.value
    if run.value is not None and abs(run.value - value) <= _EQUAL * max(1.0, abs(value)):
        # The search adds up the same losses in another order.
        value = run.value
    if bound is not None:
        bound = min(bound, value)
    optimal = bound is not None and value <= bound + _EQUAL * max(1.0, abs(value))
    if optimal:
        bound = value
        run.finish(StopReason.OPTIMAL)
    return Recoding(
        value=value,
        bound=bound,
        optimal=optimal,
        tuples=tuples,
        records=records,
        levels=grouping.levels()[groups],
        released=groups >= 0,
        **run.closing(),
    )


def _infeasible(items: Items) -> Infeasible:
    problem = items.problem
    highest = items.classes.at(problem.highest)
    people = highest.people_in(highest.failing)
    share = 100.0 * people / problem.units
    return Infeasible(
        f"no local recoding was found that meets these demands: with all records at the highest levels {people:,} of "
        f"{problem.units:,} {problem.counted[1]} ({share:.1f} %) are left out, and {problem.limit:,} may be; raise "
        f"{parameter('suppress')}, or ask for less"
    )
