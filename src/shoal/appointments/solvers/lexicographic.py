"""The best anonymity vector, level by level, each level decided by a constraint solver or all at once by the dynamic programme.

The levels are not all numbers 1, 2, 3, … as in the constraint model of Cabana Ramírez (2016), but only the sizes that the best
known plan has: for each one question is asked: with everything before it kept, can there be fewer crowds of this
size and none of the sizes in between? A no freezes the level, a yes is a better plan. The vector before any slot is given is
a bound, so levels that agree with it are frozen without asking.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, Literal

import numpy as np
from pydantic import Field

from shoal.anonymity.vector import AnonymityVector
from shoal.appointments.bounds.limits import best_vector
from shoal.appointments.problem import Problem
from shoal.appointments.solvers import annealing, dynamic, one_shot
from shoal.appointments.solvers.constraint import Decision, SeatModel, seat_anyhow
from shoal.appointments.solvers.method import SearchResult, method
from shoal.errors import InputError
from shoal.runtime import Run, Seeds
from shoal.runtime.options import Options

DEFAULT_UNITS = 20_000

# What one unit of work buys, so that all parts of the method cost about the same time per unit.
STEPS_PER_UNIT, STATES_PER_UNIT = 4_000, 2


class LexicographicOptions(Options):
    """``level``: how many components of the vector to prove (none given: all). ``start``: units spent on a first plan."""

    level: int | None = Field(
        default=None, ge=1, description="components of the vector to prove; all if none is given"
    )
    start: int = Field(default=25, ge=0, description="units of work spent on a first plan")
    model: Literal["levels", "one-shot"] = Field(
        default="levels",
        description="prove one level after the other, or all in one constraint model (small populations)",
    )


@method(DEFAULT_UNITS)
def solve(problem: Problem, options: LexicographicOptions, run: Run, seeds: Seeds) -> SearchResult:
    """Prove the best vector level by level; work counts thousandths of the constraint solver's deterministic seconds."""
    if problem.objective != "vector":
        raise InputError("method 'lexicographic' has objective vector only; use constraint or auto for K")
    base = best_vector(problem)
    matrix = seat_anyhow(problem, run, seeds.child("start"))
    run.report(problem.value(matrix), bound=base, phase="greedy")
    if options.model == "one-shot":
        return one_shot.solve(problem, matrix, base, run, seeds.child("one-shot"))
    if not problem.diverse and problem.value(matrix) != base:
        matrix = anneal(problem, matrix, options.start, base, run, seeds.child("anneal"))
    return SearchResult(*prove(problem, matrix, base, run, seeds.child("prove"), level=options.level))


def anneal(
    problem: Problem, matrix: np.ndarray, units: int, bound: Any, run: Run, seeds: Seeds
) -> np.ndarray:
    """Some units of annealing towards a better vector."""
    options = annealing.AnnealingOptions(schedule=50_000)
    with finer(run, units, STEPS_PER_UNIT) as inner:
        limit = units * STEPS_PER_UNIT
        found = annealing.better_vector(problem, matrix, options, inner, seeds, limit, bound)
    run.report(problem.value(found), phase="annealing")
    return found


@contextmanager
def finer(run: Run, units: int, per_unit: int) -> Iterator[Run]:
    """A run inside this one, in a finer currency; what it used up is spent here, in whole units."""
    left = run.remaining(iterations=units)
    assert left.iterations is not None
    inner = replace(left, iterations=left.iterations * per_unit, target=None).start(direction=run.direction)
    yield inner
    run.spend(-(-inner.work // per_unit))


def prove(
    problem: Problem, matrix: np.ndarray, base: Any, run: Run, seeds: Seeds, *, level: int | None = None
) -> tuple[np.ndarray, Any]:
    """Improve and prove a plan until it is optimal or the budget ends; returns it with the proved bound."""
    if problem.value(matrix) == base:
        return matrix, base
    if dynamic.fits(problem):
        matrix, proved = by_states(problem, matrix, _half_of_what_is_left(run), run)
        if proved:
            return matrix, problem.value(matrix)
    return by_levels(problem, matrix, base, run, seeds, level=level)


def by_states(problem: Problem, matrix: np.ndarray, units: int, run: Run) -> tuple[np.ndarray, bool]:
    """Some units of the dynamic programme; says whether the plan is proved to be the best."""
    with finer(run, units, STATES_PER_UNIT) as inner:
        matrix, proved = dynamic.improve(problem, matrix, inner)
    run.report(problem.value(matrix), phase="dynamic programme")
    return matrix, proved


def _half_of_what_is_left(run: Run) -> int:
    left = run.remaining().iterations
    return 2_000 if left is None else -(-left // 2)


def by_levels(
    problem: Problem,
    matrix: np.ndarray,
    base: Any,
    run: Run,
    seeds: Seeds,
    *,
    level: int | None = None,
    most: int | None = None,
    frozen: list[tuple[int, int]] | None = None,
) -> tuple[np.ndarray, Any]:
    """Freeze one level of the vector after the other, with ``most`` units for each question.

    ``frozen`` are levels that are proved already; those proved here are added to it.
    """
    frozen = [] if frozen is None else frozen
    known = dict(base.items())
    people = int(problem.crowd_sizes.sum())
    question = 0
    while True:
        levels = list(problem.value(matrix).items())
        if len(frozen) == len(levels):
            return matrix, problem.value(matrix)
        size, count = levels[len(frozen)]
        if level is not None and size > level:
            break
        on_base = all(known.get(one) == number for one, number in frozen) and not [
            one for one in known if one < size and one not in dict(frozen)
        ]
        if on_base and known.get(size, 0) == count:
            frozen.append((size, count))
            continue
        if count == 1 and sum(one * number for one, number in frozen) + size == people:
            # The last crowd: everybody else is settled, so it has this size in every plan.
            frozen.append((size, count))
            continue
        answer, found = _fewer(problem, frozen, size, count, run, seeds.child(question), most)
        question += 1
        if answer is None:
            break
        if answer and found is not None:
            matrix = found
            run.report(problem.value(matrix), phase=f"better at level {size}")
        else:
            frozen.append((size, count))
            run.report(bound=max(base, _completed(problem, frozen)), phase=f"level {size} is proved")
    return matrix, max(base, _completed(problem, frozen))


def _completed(problem: Problem, frozen: list[tuple[int, int]]) -> Any:
    """The best vector that begins with the frozen levels: everybody else in one crowd."""
    counts = dict(frozen)
    rest = int(problem.crowd_sizes.sum()) - sum(size * count for size, count in frozen)
    if rest:
        counts[rest] = counts.get(rest, 0) + 1
    return AnonymityVector(counts)


def _fewer(
    problem: Problem,
    frozen: list[tuple[int, int]],
    size: int,
    count: int,
    run: Run,
    seeds: Seeds,
    most: int | None,
) -> Decision:
    """Whether, with the frozen levels kept, fewer than ``count`` crowds of ``size`` and none in between can be had."""
    model = SeatModel(problem)
    exact = dict(frozen)
    allowed = {**exact, **({size: count - 1} if count > 1 else {})}
    literals: dict[int, list[Any]] = {one: [] for one in allowed}
    cp_model = model.model
    for (crowd, label), (amount, used, largest) in model.cells.items():
        pinned = int(problem.pinned[crowd, label])
        choices = []
        for one in allowed:
            if pinned <= one <= largest:
                here = cp_model.new_bool_var("")
                cp_model.add(amount == one).only_enforce_if(here)
                literals[one].append(here)
                choices.append(here)
        if largest > size:
            big = cp_model.new_bool_var("")
            cp_model.add(amount >= size + 1).only_enforce_if(big)
            choices.append(big)
        if used is True:
            cp_model.add_exactly_one(choices)
        else:
            cp_model.add(sum(choices) == used)
    for one, number in exact.items():
        cp_model.add(sum(literals[one]) == number)
    if count > 1:
        cp_model.add(sum(literals[size]) <= count - 1)
    return model.decided(run, seeds, most)
