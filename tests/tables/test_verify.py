"""The check of a pattern agrees with linear programmes in the plain values, and refuses every planted lie."""

from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given, reject, settings
from hypothesis import strategies as st
from tests.mutants import complaint, forged
from tests.tables.oracle import cube, hierarchy, interval, random_plane

from shoal.errors import Infeasible
from shoal.runtime import Budget, Seeds, silent
from shoal.tables.methods import METHODS
from shoal.tables.model.table import Table
from shoal.tables.problem import DOWN, UP, WIDTH, Problem
from shoal.tables.solution import Pattern
from shoal.tables.verify import unprotected, verify

SEEDS = st.integers(0, 2**32)


def problem_of(seed: int) -> Problem:
    """A small table: a plane, a cube or a hierarchy; levels, points or widths; in any unit; with insiders or not."""
    rng = np.random.default_rng(seed)
    make = [lambda: random_plane(rng, 4, 4, 2, protection=0.2), lambda: cube(rng), lambda: hierarchy(rng)]
    problem = make[rng.integers(3)]()
    count = problem.sensitive.size
    changes: dict[str, Any] = {}
    if rng.integers(3) == 0:
        changes["sliding"] = problem.lower + problem.upper + 1.0
    if rng.integers(3) == 0:
        changes.update(lower=np.zeros(count), upper=np.zeros(count))
    if rng.integers(2):
        known = rng.choice(np.flatnonzero(problem.table.internal), 3, replace=False)
        changes["insiders"] = (known[:1], known[1:])
    unit = float(10.0 ** rng.choice([-9, 0, 9]))
    table = problem.table
    scaled = Table(
        table.values * unit, table.starts, table.members, table.signs, table.keys, shape=table.shape
    )
    changes["table"] = scaled
    problem = problem.with_changes(**changes)
    levels = ("lower", "upper", "sliding", "low", "high")
    return (
        problem.with_changes(**{name: getattr(problem, name) * unit for name in levels})
        if unit != 1
        else problem
    )


def solved(seed: int) -> tuple[Problem, Pattern]:
    """A problem that can be protected, and its cheapest pattern."""
    problem = problem_of(seed)
    try:
        found = METHODS["exact"].solve(
            problem,
            None,
            budget=Budget(iterations=2000),
            seeds=Seeds(0),
            threads=1,
            observer=silent,
        )
    except Infeasible:
        reject()
    return problem, found


def without_one(problem: Problem, honest: Pattern) -> Pattern:
    """A cheapest pattern that lacks a cell is no pattern, if the cell costs anything."""
    costly = honest.complementary[problem.cost[honest.complementary] > 0]
    assume(honest.optimal and costly.size)
    return with_cells(problem, honest, np.setdiff1d(honest.complementary, costly[:1]))


def bare(problem: Problem, honest: Pattern) -> Pattern:
    """A cheapest pattern that costs anything is needed."""
    assume(honest.optimal and honest.value > 0)
    return with_cells(problem, honest, [])


def with_cells(problem: Problem, honest: Pattern, cells: Any) -> Pattern:
    """Other cells, and the right cost of them, so that nothing else is wrong."""
    cells = np.asarray(cells, dtype=np.int64)
    cost = float(problem.cost[np.clip(cells, 0, problem.table.cells - 1)].sum())
    return forged(honest, complementary=cells, value=cost, bound=None, optimal=False)


def priced(honest: Pattern, factor: float) -> Pattern:
    assume(honest.value > 0)
    return forged(honest, value=honest.value * factor, bound=None, optimal=False)


def bounded(honest: Pattern, factor: float, *, optimal: bool) -> Pattern:
    assume(honest.value > 0)
    return forged(honest, bound=honest.value * factor, optimal=optimal)


def may_not_be_hidden(problem: Problem) -> int:
    others = np.flatnonzero(~problem.candidates & ~problem.is_sensitive)
    assume(others.size)
    return int(others[0])


LIES: dict[str, tuple[Any, str]] = {
    "cost too low": (lambda p, s: priced(s, 0.999), "the pattern costs"),
    "cost too high": (lambda p, s: priced(s, 1.001), "the pattern costs"),
    "bound above the cost": (lambda p, s: bounded(s, 1.001, optimal=False), "bound is above"),
    "optimal without a bound": (lambda p, s: forged(s, bound=None, optimal=True), "optimal without"),
    "optimal above its bound": (lambda p, s: bounded(s, 0.99, optimal=True), "the bound is lower"),
    "a cell twice": (
        lambda p, s: with_cells(p, s, [*s.complementary, *np.flatnonzero(p.candidates)[[0, 0]]]),
        "listed twice",
    ),
    "a cell that may not be hidden": (
        lambda p, s: with_cells(p, s, [*s.complementary, may_not_be_hidden(p)]),
        "may not be",
    ),
    "a sensitive cell": (lambda p, s: with_cells(p, s, [*s.complementary, p.sensitive[0]]), "may not be"),
    "a cell beyond the table": (
        lambda p, s: with_cells(p, s, [*s.complementary, p.table.cells]),
        "not in the table",
    ),
    "a cell counted from the end": (
        lambda p, s: with_cells(p, s, [*s.complementary, -1]),
        "not in the table",
    ),
    "a cell published that is needed": (without_one, "requirements are not met"),
    "nothing but the sensitive cells": (bare, "requirements are not met"),
}


@pytest.mark.parametrize("lie", LIES)
@settings(max_examples=8)
@given(seed=SEEDS)
def test_lies_are_refused(lie: str, seed: int) -> None:
    problem, honest = solved(seed)
    assert complaint(verify, problem, honest) is None
    tell, text = LIES[lie]
    with pytest.raises(AssertionError, match=text):
        verify(problem, tell(problem, honest))


def fails(problem: Problem, hidden: np.ndarray) -> set[tuple[int, int]]:
    """Sensitive cells whose interval is too narrow in the eyes of an outsider (−1) or an insider."""
    found = set()
    for viewer in range(-1, len(problem.insiders)):
        known = problem.insiders[viewer] if viewer >= 0 else np.empty(0, dtype=np.int64)
        unknown = hidden.copy()
        unknown[known] = False
        for cell, lower, upper, width in zip(
            problem.sensitive, problem.lower, problem.upper, problem.required_width, strict=True
        ):
            if cell in known:
                continue
            value = problem.table.values[cell]
            low, high = interval(problem, unknown, int(cell))
            slack = 1e-5 * max(upper, lower, width)
            if high - value < upper - slack or value - low < lower - slack or high - low < width - slack:
                found.add((int(cell), viewer))
    return found


@settings(max_examples=40)
@given(seed=SEEDS)
def test_any_pattern_is_judged_as_by_the_intervals_themselves(seed: int) -> None:
    problem = problem_of(seed)
    size = np.abs(problem.table.values).max()
    # The programmes of the oracle have absolute tolerances.
    assume(1.0 < size < 1e6)
    rng = np.random.default_rng(seed)
    cells = np.flatnonzero(problem.candidates & (rng.random(problem.table.cells) < rng.uniform(0.1, 0.7)))
    hidden = problem.is_sensitive.copy()
    hidden[cells] = True
    judged = {(cell, viewer) for cell, _, viewer in unprotected(problem, cells)}
    expected = fails(problem, hidden)
    outside = {cell for cell, viewer in expected if viewer < 0}
    assert {cell for cell, viewer in judged if viewer < 0} == outside
    # What nobody may see, an insider may not either; the check names the outsider then.
    assert {pair for pair in judged if pair[0] not in outside} == {
        pair for pair in expected if pair[0] not in outside
    }


@settings(max_examples=10)
@given(seed=SEEDS)
def test_a_sum_that_may_not_be_known_is_refused(seed: int) -> None:
    problem, honest = solved(seed)
    asked: list[tuple[int, ...]] = []

    def record(cells: np.ndarray) -> bool:
        asked.append(tuple(cells.tolist()))
        return True

    verify(problem.with_changes(sums=record), honest)
    assume(asked)
    for known in asked[:3]:
        strict = problem.with_changes(sums=lambda cells, known=known: tuple(cells.tolist()) != known)
        assert complaint(verify, strict, honest) == "a relation gives away a sum that is sensitive itself"


def test_what_is_asked_is_what_the_levels_say() -> None:
    rng = np.random.default_rng(1)
    problem = random_plane(rng, 5, 5, 3)
    nothing = np.empty(0, dtype=np.int64)
    # With nothing hidden but three cells apart from each other, every single level is failed.
    cells = [problem.table.find("1", "1"), problem.table.find("2", "2"), problem.table.find("3", "3")]
    problem = Problem.of(
        problem.table, cells, lower=[1.0, 0.0, 0.0], upper=[0.0, 2.0, 0.0], sliding=[0.0, 0.0, 3.0]
    )
    kinds = {(cell, kind) for cell, kind, _ in unprotected(problem, nothing)}
    assert kinds == {(cells[0], DOWN), (cells[1], UP), (cells[2], WIDTH)}
