"""Random small recoding problems, and the best recoding of whole columns by trying all of them."""

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import combinations, product

import numpy as np

from shoal.microdata.columns.hierarchies.hierarchy import Hierarchy
from shoal.microdata.models.model import (
    AverageRisk,
    Closeness,
    ConfidentialColumn,
    DistinctDiversity,
    EntropyDiversity,
    KMap,
    Likeness,
    Model,
    Presence,
    RecursiveDiversity,
)
from shoal.microdata.recoding import verify as checks
from shoal.microdata.recoding.problem import MEASURES, Problem
from shoal.microdata.recoding.solution import Recoding


def hierarchy(rng: np.random.Generator, leaves: int, levels: int, name: str) -> Hierarchy:
    """A random nested hierarchy: neighbours are joined at random from level to level."""
    rows = [[f"{name}{leaf}"] for leaf in range(leaves)]
    group = list(range(leaves))
    for level in range(1, levels + 1):
        target = {old: int(rng.integers(0, max(1, len(set(group)) - 1))) for old in sorted(set(group))}
        group = [target[old] for old in group]
        for row, own in zip(rows, group, strict=True):
            row.append(f"{name}{level}.{own}")
    return Hierarchy([tuple(row) for row in rows])


@dataclass(frozen=True)
class Sample:
    """A problem and the records it was counted from."""

    problem: Problem
    columns: list[np.ndarray]
    units: np.ndarray | None


def _about_all(models: Sequence[Model]) -> bool:
    """Whether a model looks at all classes together, so that others than those that fail may have to be left out."""
    return any(isinstance(model, AverageRisk) for model in models)


def random_models(rng: np.random.Generator, kinds: int) -> list:
    values = [
        DistinctDiversity("c", int(rng.integers(2, 4))),
        EntropyDiversity("c", float(rng.uniform(1.2, 2.5))),
        RecursiveDiversity("c", float(rng.uniform(0.8, 4)), int(rng.integers(2, 4))),
        Closeness("c", float(rng.uniform(0.1, 0.6))),
        Closeness("c", float(rng.uniform(0.05, 0.5)), "ordered"),
        Closeness("c", float(rng.uniform(0.1, 0.6)), "hierarchical"),
        Likeness("c", float(rng.uniform(0.3, 3))),
        Likeness("c", float(rng.uniform(0.3, 3)), enhanced=True),
        AverageRisk(float(rng.uniform(0.1, 0.5))),
    ]
    population = [
        KMap(int(rng.integers(2, 9))),
        Presence(float(rng.choice([0.0, 0.1])), float(rng.uniform(0.3, 1.0))),
    ]
    chosen = [values[i] for i in rng.choice(len(values), rng.integers(0, 3), replace=False)]
    chosen += (
        [population[i] for i in rng.choice(2, rng.integers(0, 2), replace=False)]
        if rng.random() < 0.3
        else []
    )
    return chosen


def sample(
    seed: int, *, models: bool = True, measures: tuple[str, ...] = MEASURES, units: bool = True
) -> Sample:
    """A small problem of any kind."""
    rng = np.random.default_rng(seed)
    d = int(rng.integers(1, 4))
    hierarchies = [
        hierarchy(rng, int(rng.integers(1, 6)), int(rng.integers(0, 4)), "abc"[j]) for j in range(d)
    ]
    kinds = int(rng.integers(2, 5))
    chosen = random_models(rng, kinds) if models else []
    keep_suppressed = bool(rng.random() < 0.2)
    # Where all classes together count, every choice of those left out is tried.
    n = int(rng.integers(2, 10 if keep_suppressed or _about_all(chosen) else 26))
    columns = [rng.integers(0, len(h.rows), n).astype(np.int32) for h in hierarchies]
    codes = rng.integers(0, kinds, n).astype(np.int32)
    shares = np.bincount(codes, minlength=kinds) / n
    # Values that do not occur have no share to compare with.
    present = np.flatnonzero(shares)
    codes = np.searchsorted(present, codes).astype(np.int32)
    shares = shares[present]
    tree = np.stack([np.arange(shares.size), np.arange(shares.size) // 2]).astype(np.int32)
    missing = int(rng.integers(-1, shares.size)) if rng.random() < 0.3 else -1
    column = ConfidentialColumn("c", shares, missing, tree)
    owners = rng.integers(0, max(2, n // 2), n) if units and rng.random() < 0.3 else None
    population = None
    if any(isinstance(model, KMap | Presence) for model in chosen):
        extra = [rng.integers(0, len(h.rows), 2 * n).astype(np.int32) for h in hierarchies]
        population = [np.concatenate([own, more]) for own, more in zip(columns, extra, strict=True)]
    people = n if owners is None else len(np.unique(owners))
    limit = int(rng.choice([0, people // 10, people // 3, people]))
    k = int(rng.integers(1, min(5, people) + 1))
    weights = np.ones(d) if rng.random() < 0.5 else rng.uniform(0.2, 3.0, d)
    problem = Problem.of(
        columns,
        hierarchies,
        k=k,
        units=owners,
        confidential={"c": (codes, column)} if models else None,
        population=population,
        limit=limit,
        models=tuple(chosen),
        measure=str(rng.choice(measures)),
        weights=weights,
        keep_suppressed=keep_suppressed and population is None,
    )
    if rng.random() < 0.2:
        lowest = tuple(int(rng.integers(0, h.height + 1)) for h in hierarchies)
        highest = tuple(
            int(rng.integers(low, h.height + 1)) for low, h in zip(lowest, hierarchies, strict=True)
        )
        problem = replace(problem, lowest=lowest, highest=highest)
    return Sample(problem, columns, owners)


def best_by_trying_all(problem: Problem) -> tuple[float, tuple[int, ...]] | None:
    """The least loss over all levels, and the first levels that reach it; ``None`` if no levels are allowed."""
    best = None
    ranges = [range(low, high + 1) for low, high in zip(problem.lowest, problem.highest, strict=True)]
    for levels in product(*ranges):
        value = _value(problem, levels)
        if value is not None and (best is None or value < best[0] - 1e-9 * max(1.0, abs(best[0]))):
            best = (value, levels)
    return best


def _value(problem: Problem, levels: tuple[int, ...]) -> float | None:
    """The least loss at these levels, whoever is left out besides the classes that fail."""
    classes, labels = _classes(problem, levels)
    failing = {own for own, one in classes.items() if not _released(problem, one)}
    if any(not classes[own].records for own in failing):
        return None
    others = [own for own, one in classes.items() if one.records and own not in failing]
    best = None
    for size in range(len(others) if problem.keep_suppressed or _about_all(problem.models) else 1):
        for further in combinations(others, size):
            value = _value_without(problem, levels, classes, labels, failing.union(further), best)
            best = best if value is None else value
    return best


def _value_without(
    problem: Problem,
    levels: tuple[int, ...],
    classes: dict,
    labels: list,
    left_out: set,
    best: float | None,
) -> float | None:
    """The loss with these classes left out, if that is allowed and better than the best so far."""
    out = checks.SeenClass()
    for own in left_out:
        checks._join(out, classes[own])
    tuples = np.flatnonzero(problem.records)
    kept = np.array([labels[item] not in left_out for item in tuples])
    if out.size > problem.limit or not kept.any():
        return None
    recoding = Recoding(
        value=0.0,
        tuples=tuples,
        records=problem.records[tuples],
        levels=np.tile(np.array(levels), (tuples.size, 1)),
        released=kept,
        uniform=levels,
    )
    loss = checks._loss(problem, recoding, [labels[item] for item in tuples])
    if best is not None and loss >= best:
        return None
    try:
        checks.verify(problem, replace(recoding, value=loss))
    except AssertionError:
        return None
    return loss


def _released(problem: Problem, one: checks.SeenClass) -> bool:
    if one.records and one.size < problem.k:
        return False
    return all(
        checks._holds(model, one, problem.confidential)
        for model in problem.models
        if not isinstance(model, AverageRisk)
    )


def _classes(problem: Problem, levels: tuple[int, ...]) -> tuple[dict, list]:
    classes: dict = defaultdict(checks.SeenClass)
    persons = checks._persons(problem)
    labels = []
    for item, key in enumerate(problem.keys.tolist()):
        own = tuple(
            h.rows[leaf][level] for h, leaf, level in zip(problem.hierarchies, key, levels, strict=True)
        )
        labels.append(own)
        one = classes[own]
        one.records += int(problem.records[item])
        one.unnamed += int(problem.people[item])
        one.people.update(persons.get(item, ()))
        if problem.population is not None:
            one.population += int(problem.population[item])
        for name, histogram in problem.histograms.items():
            run = slice(histogram.starts[item], histogram.starts[item + 1])
            counts = dict(zip(histogram.values[run].tolist(), histogram.counts[run].tolist(), strict=True))
            one.values[name].update(Counter(counts))
    return classes, labels
