"""Solving a part of a pattern again: cheaper or nothing, always safe, and optimal if the part is the whole."""

from functools import cache

import numpy as np
import pytest
from tests.tables.oracle import hierarchy, optimum, random_plane

from shoal.runtime import Budget, Seeds, silent
from shoal.tables.exact import search as exact
from shoal.tables.exact.refusal import violated
from shoal.tables.exact.relaxation import Relaxation
from shoal.tables.exact.search import ExactOptions, Incumbent
from shoal.tables.exact.windows import Windows
from shoal.tables.problem import Problem
from shoal.tables.solution import Pattern
from shoal.tables.verify import verify


def prepared(problem: Problem):
    """A search that has its first pattern, and the windows over all cells."""
    search = exact._Search(problem, ExactOptions(), Budget().start(silent), Seeds(0))
    first = np.flatnonzero(problem.candidates)
    search.best = Incumbent(first, problem.total_cost(first))
    relaxation = Relaxation(problem, search.separator, np.flatnonzero(problem.candidates))
    relaxation.tighten(search.run)
    windows = Windows(
        problem,
        lambda cells: search.separator.write(relaxation.numbers, cells),
        lambda pattern, cells: violated(problem, search.separator, pattern, cells)[0],
        lambda pattern: search.heuristic.build(search.rng, pattern),
        relaxation.x,
        relaxation.reduced,
        first,
    )
    return search, windows, first


@cache
def planes() -> list[Problem]:
    rng = np.random.default_rng(3)
    found = [random_plane(rng, 5, 5, 2, protection=0.2) for _ in range(12)]
    return found + [hierarchy(rng) for _ in range(4)]


@pytest.mark.parametrize("place", range(16))
def test_the_whole_pattern_as_one_window_gives_the_optimum(place: int) -> None:
    problem = planes()[place]
    search, windows, pattern = prepared(problem)
    for _ in range(40):
        found = windows.solve(pattern, pattern, search.run)
        if found is None:
            break
        assert problem.total_cost(found) < problem.total_cost(pattern)
        pattern = found
    cost = problem.total_cost(pattern)
    verify(problem, Pattern(value=cost, complementary=pattern, **search.run.closing()))
    assert cost == pytest.approx(optimum(problem), rel=1e-6)


def test_released_cells_belong_to_the_pattern_and_answers_are_safe() -> None:
    problem = random_plane(np.random.default_rng(8), 12, 12, 8, protection=0.2)
    search, windows, pattern = prepared(problem)
    rng = Seeds(1).state()
    for _ in range(5):
        windows.size = 20
        released = windows.release(pattern, rng)
        assert released.size == 20
        assert np.isin(released, pattern).all()
        found = windows.solve(pattern, released, search.run)
        if found is None:
            continue
        verify(problem, Pattern(value=problem.total_cost(found), complementary=found, **search.run.closing()))
        pattern = found


def test_large_tables_are_improved_by_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact, "LARGEST_ANNEALED", 10)
    monkeypatch.setattr(exact, "FEWEST_FOR_WINDOWS", 1)
    monkeypatch.setattr(exact, "LARGEST_TREE", 0)
    problem = random_plane(np.random.default_rng(6), 15, 15, 6, protection=0.2)
    phases = set()
    found = exact.solve(
        problem,
        ExactOptions(improvements=1),
        budget=Budget(),
        seeds=Seeds(0),
        observer=lambda progress: phases.add(progress.phase),
    )
    verify(problem, found)
    assert "windows" in phases
    again = exact.solve(
        problem, ExactOptions(improvements=1), budget=Budget(), seeds=Seeds(0), observer=silent
    )
    assert (again.complementary == found.complementary).all()
