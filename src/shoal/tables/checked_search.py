"""A search whose pattern is returned only if the independent check confirms it, also for whole numbers."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from shoal.errors import Infeasible
from shoal.runtime import Budget, Observer, Seeds, silent
from shoal.runtime.budget import StopReason
from shoal.runtime.observer import CHECKING, Progress
from shoal.tables.methods import METHODS
from shoal.tables.problem import Problem
from shoal.tables.safety.audit import Audit
from shoal.tables.safety.audit import audit as audit_pattern
from shoal.tables.safety.groups import known_groups, with_room_beside
from shoal.tables.safety.whole_numbers import integer_failures
from shoal.tables.solution import Pattern
from shoal.tables.verify import verify

# What costs more by this share costs as much.
_NO_MORE = 1e-9


def checked_pattern(problem: Problem, solution: Pattern, *, counts: bool) -> tuple[Pattern, Audit]:
    """The pattern with its audit if the independent check confirms it, else one with more cells that it confirms.

    A method whose arithmetic was not good enough for a table must neither publish nor fail with a riddle.
    """
    last = None
    for pattern in _ever_safer(problem, solution):
        try:
            verify(problem, pattern)
            found = audit_pattern(problem, pattern.complementary)
            if counts:
                found = replace(found, integer=integer_failures(problem, pattern.complementary))
            if found.safe:
                return pattern, found
        except AssertionError as error:
            last = error
    raise Infeasible(
        "the check by linear programmes confirms no pattern of this table, not even that with all cells hidden that "
        "may be; its figures may span too many orders of magnitude"
    ) from last


def _ever_safer(problem: Problem, solution: Pattern) -> Iterator[Pattern]:
    yield solution
    hidden = solution.complementary
    try:
        rescue = METHODS["general"].solve(
            problem, None, budget=Budget(), seeds=Seeds(0), threads=1, observer=silent
        )
    except (Infeasible, AssertionError):
        pass
    else:
        for cells in (rescue.complementary, np.union1d(hidden, rescue.complementary).astype(np.int64)):
            yield _rescued(problem, solution, cells)
    yield _rescued(problem, solution, np.flatnonzero(problem.candidates))


def _unproven(problem: Problem, solution: Pattern, cells: np.ndarray) -> Pattern:
    return replace(solution.without_proof(), complementary=cells, value=problem.total_cost(cells))


def _rescued(problem: Problem, solution: Pattern, cells: np.ndarray) -> Pattern:
    found = _unproven(problem, solution, cells)
    return replace(found, record={**solution.record, "rescued": 1.0})


def solve_whole(
    problem: Problem,
    method: Any,
    options: Mapping[str, Any] | None,
    budget: Budget,
    seed: int,
    threads: int,
    observer: Observer,
    *,
    counts: bool,
) -> Pattern:
    """Solve; for counts, ask for more where whole numbers alone, or a group in one cell, give something away, and solve again.

    What is proved of the first search holds for all: no pattern that is safe from more costs less. Later ones ask for more than
    is needed, and prove nothing.
    """
    asked, run = problem, budget.start()
    least: float | None = None
    for turn in range(4):
        try:
            solution: Pattern = method.solve(
                asked, options, budget=run.remaining(), seeds=Seeds(seed), threads=threads, observer=observer
            )
        except Infeasible:
            if asked is problem:
                raise
            # One way of asking for more is not the only one.
            solution = _unproven(problem, solution, np.flatnonzero(problem.candidates))
            if _gives_away(problem, solution, counts=counts):
                raise
            return _proved(solution, least)
        run.spend(solution.work)
        if asked is problem:
            least = solution.bound
        else:
            solution = _proved(_for_first(problem, asked, solution), least)
        bad: tuple[int, ...] = ()
        if counts:
            observer(Progress(run.work, run.seconds, phase=CHECKING))
            bad = integer_failures(problem, solution.complementary)
            observer(Progress(run.work, run.seconds))
        known = known_groups(problem, problem.hidden_mask(solution.complementary))
        if not bad and not known.size:
            return solution
        if known.size:
            # What was mended in one place may come back in another, so then everywhere.
            groups = [group for group in problem.groups if turn or group.cell in known]
            asked = with_room_beside(asked, groups)
        more = np.isin(asked.sensitive, bad)
        asked = asked.with_changes(
            lower=np.where(more, np.minimum(asked.lower + 1.0, problem.down[asked.sensitive]), asked.lower),
            upper=np.where(more, asked.upper + 1.0, asked.upper),
        )
    if not bad:
        raise Infeasible(
            f"{known.size} cells have all of a group, and nothing beside them leaves room for others; the first is "
            f"{problem.table.name(int(known[0]))}"
        )
    raise Infeasible(
        f"{len(bad)} count cells can be worked out because counts are whole numbers; the first is "
        f"{problem.table.name(bad[0])}"
    )


def _gives_away(problem: Problem, solution: Pattern, *, counts: bool) -> bool:
    hidden = solution.complementary
    known = known_groups(problem, problem.hidden_mask(hidden))
    return bool(known.size or (counts and integer_failures(problem, hidden)))


def _proved(solution: Pattern, least: float | None) -> Pattern:
    """The pattern with the least that any safe one costs; one that costs no more is the best."""
    if least is None:
        return solution
    found = replace(solution, bound=min(least, solution.value))
    if solution.value > least * (1.0 + _NO_MORE):
        return found
    return replace(found, optimal=True, stopped_by=StopReason.OPTIMAL)


def _for_first(problem: Problem, original: Problem, solution: Pattern) -> Pattern:
    """The pattern for the problem as it was given: what only the harder one calls sensitive is hidden besides."""
    cells = np.setdiff1d(np.union1d(solution.complementary, original.sensitive), problem.sensitive)
    return _unproven(problem, solution, cells.astype(np.int64))
