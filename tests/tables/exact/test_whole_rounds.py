"""Bounds in whole numbers: never above the cheapest pattern, and equal to it once an answer is safe."""

from collections.abc import Callable
from functools import cache

import numpy as np
import pytest
from tests.tables.oracle import cube, hierarchy, optimum, random_plane

from shoal.runtime import Budget, Run, Seeds, silent
from shoal.tables.exact import search as exact
from shoal.tables.exact import whole_rounds
from shoal.tables.exact.inequalities import Inequalities
from shoal.tables.exact.relaxation import Relaxation
from shoal.tables.exact.search import ExactOptions, Incumbent
from shoal.tables.exact.whole_rounds import WholeProgramme, mend, raise_bound
from shoal.tables.problem import Problem
from shoal.tables.solution import Pattern
from shoal.tables.verify import verify

KINDS = (cube, hierarchy, lambda rng: random_plane(rng, 5, 5, 2, protection=0.2))


def prepared(problem: Problem) -> exact._Search:
    """A search that hides everything so far."""
    search = exact._Search(problem, ExactOptions(), Budget().start(silent), Seeds(0))
    everything = np.flatnonzero(problem.candidates)
    search.best = Incumbent(everything, problem.total_cost(everything))
    return search


def check(problem: Problem, best: float, *, tightened: bool) -> bool:
    if not np.isfinite(best):
        return False
    search = prepared(problem)
    columns = np.flatnonzero(problem.candidates)
    relaxation = Relaxation(problem, search.separator, columns)
    if tightened:
        relaxation.tighten(search.run)
    whole = WholeProgramme(problem, columns, search.separator.write(relaxation.numbers, columns))
    bounds: list[float] = []
    run = Budget().start(lambda progress: bounds.append(progress.bound or 0.0))
    proved = raise_bound(whole, search.best, search._hooks(columns), search._rounded_up, relaxation.x, run)
    assert proved
    assert bounds == sorted(bounds)
    assert max(bounds) <= best * (1 + 1e-6) + 1e-9
    assert search.best.cost == pytest.approx(best, rel=1e-6)
    verify(problem, Pattern(value=search.best.cost, complementary=search.best.pattern, **run.closing()))
    return True


@cache
def solved(kind: int) -> list[tuple[Problem, float]]:
    """Problems of a kind with their optimum, which is the same whatever is done to the programme."""
    rng = np.random.default_rng([5, kind])
    problems = [KINDS[kind](rng) for _ in range(12)]
    return [(problem, optimum(problem)) for problem in problems]


@pytest.mark.parametrize("kind", range(len(KINDS)))
@pytest.mark.parametrize("tightened", [True, False])
def test_rounds_end_with_the_optimum(kind: int, tightened: bool) -> None:
    assert sum(check(problem, best, tightened=tightened) for problem, best in solved(kind)) > 4


@pytest.mark.long
@pytest.mark.parametrize("block", range(30))
def test_rounds_end_with_the_optimum_at_length(block: int) -> None:
    rng = np.random.default_rng([6, block])
    problems = [KINDS[place % 3](rng) for place in range(60)]
    found = [
        check(problem, optimum(problem), tightened=place % 2 == 0) for place, problem in enumerate(problems)
    ]
    assert sum(found) > 20


def test_the_search_with_rounds_finds_the_optimum(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact, "FEWEST_WHOLE", 0)
    rng = np.random.default_rng(12)
    proved = 0
    for place in range(12):
        problem = KINDS[place % 2](rng)
        best = optimum(problem)
        if not np.isfinite(best):
            continue
        found = exact.solve(problem, ExactOptions(), budget=Budget(), seeds=Seeds(0), observer=silent)
        verify(problem, found)
        assert found.optimal and found.value == pytest.approx(best, rel=1e-6)
        proved += 1
    assert proved > 4


def test_a_programme_without_a_pattern_proves_the_incumbent() -> None:
    problem = random_plane(np.random.default_rng(1), 5, 5, 2, protection=0.2)
    search = prepared(problem)
    columns = search.best.pattern[:3]
    rows = Inequalities()
    rows.add(0, columns.astype(np.int32), np.ones(columns.size), columns.size + 1.0)
    whole = WholeProgramme(problem, columns, rows)
    nothing = np.zeros(problem.table.cells)
    assert raise_bound(whole, search.best, search._hooks(columns), search._rounded_up, nothing, search.run)
    assert whole.infeasible and whole.answer is None


def test_a_programme_that_is_broken_off_keeps_a_valid_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(whole_rounds, "_LOOKS", 0)
    rng = np.random.default_rng(8)
    for _ in range(8):
        problem = cube(rng)
        best = optimum(problem)
        if not np.isfinite(best):
            continue
        search = prepared(problem)
        columns = np.flatnonzero(problem.candidates)
        relaxation = Relaxation(problem, search.separator, columns)
        relaxation.tighten(search.run)
        whole = WholeProgramme(problem, columns, search.separator.write(relaxation.numbers, columns))
        raise_bound(whole, search.best, search._hooks(columns), search._rounded_up, relaxation.x, search.run)
        assert whole.bound <= best * (1 + 1e-6)
        assert search.best.cost >= best * (1 - 1e-6)


@pytest.mark.parametrize("kind", [cube, hierarchy])
def test_an_answer_is_mended_until_it_is_safe(kind: Callable[[np.random.Generator], Problem]) -> None:
    rng = np.random.default_rng(3)
    mended = 0
    for _ in range(10):
        problem = kind(rng)
        best = optimum(problem)
        if not np.isfinite(best):
            continue
        search = prepared(problem)
        columns = np.flatnonzero(problem.candidates)
        whole = WholeProgramme(problem, columns, Inequalities())
        whole.answer = np.empty(0, dtype=np.int64)
        last = mend(whole, np.zeros(problem.table.cells), search._hooks(columns), search.run)
        assert last is not None and search.judge.safe(last)
        assert search.best.cost >= best * (1 - 1e-6)
        mended += problem.total_cost(last) < problem.total_cost(columns)
    assert mended > 2


def test_no_round_follows_an_answer_that_costs_what_is_proved(monkeypatch: pytest.MonkeyPatch) -> None:
    gaps: list[tuple[float, float]] = []
    solve = WholeProgramme.solve

    def watched(whole: WholeProgramme, incumbent: np.ndarray, gap: float, run: Run) -> None:
        gaps.append((whole.problem.total_cost(incumbent), whole.bound))
        solve(whole, incumbent, gap, run)

    monkeypatch.setattr(WholeProgramme, "solve", watched)
    for kind in range(len(KINDS)):
        for problem, best in solved(kind):
            check(problem, best, tightened=True)
    assert len(gaps) > 10
    assert all(cost - bound > 1e-6 * max(1.0, cost) for cost, bound in gaps)
