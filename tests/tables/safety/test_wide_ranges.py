"""Small cells beside very large ones: what audit and check call safe is so in fractions, which have no tolerances."""

from fractions import Fraction

import numpy as np
import pytest
from tests.tables.exact_intervals import rise_and_fall

from shoal.errors import Infeasible
from shoal.tables.model.table import Table
from shoal.tables.problem import UP, Problem
from shoal.tables.rounding.adjustment.attack import conclusions
from shoal.tables.rounding.adjustment.problem import AdjustmentProblem
from shoal.tables.rounding.adjustment.witnesses import Possible
from shoal.tables.rounding.controlled_rounding.problem import RoundingProblem
from shoal.tables.safety.audit import audit
from shoal.tables.verify import unprotected

FIGURES = (
    [0.0, 1.0, 2.0, 1e6, 1e9, 3e9],
    [0.01, 0.02, 1.0, 5.0, 1e6],
    [0.01, 0.03, 1e6, 1e9],
    [1.0, 3.0, 5.0, 1e12],
    [1.0, 1e11, 1e12],
)


def figures(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Figures of very different size."""
    found = rng.choice(np.array(FIGURES[rng.integers(len(FIGURES))]), shape)
    return found * rng.integers(1, 10, shape) + (rng.integers(0, 3, shape) if rng.integers(3) == 0 else 0)


def table_of(rng: np.random.Generator) -> Table:
    """A plane, as a network or as any other table, or a cube."""
    if kind := int(rng.integers(3)):
        plane = Table.from_matrix(figures(rng, tuple(rng.integers(2, 5, 2).tolist())))
        if kind == 1:
            plane.__dict__["network"] = None
        return plane
    full = figures(rng, tuple(rng.integers(2, 4, 3).tolist()))
    for axis in range(3):
        full = np.concatenate([full, full.sum(axis=axis, keepdims=True)], axis=axis)
    index = np.arange(full.size).reshape(full.shape)
    lines = [
        line
        for axis in range(3)
        for line in np.moveaxis(index, axis, -1).reshape(-1, full.shape[axis]).tolist()
    ]
    relations = [[(cell, 1.0) for cell in line[:-1]] + [(line[-1], -1.0)] for line in lines]
    return Table.from_relations(full.ravel(), relations, {"cell": np.arange(full.size).astype(object)})


def attacked(seed: int) -> tuple[Problem, np.ndarray]:
    """A table with sensitive cells, and others that happen to be hidden beside them."""
    rng = np.random.default_rng(seed)
    table = table_of(rng)
    usable = np.flatnonzero(table.internal) if rng.integers(3) else np.arange(table.cells)
    hidden = rng.choice(usable, int(rng.integers(2, min(usable.size, 12))), replace=False)
    bounds = {"high": 2 * table.values} if rng.integers(2) else {}
    problem = Problem.of(
        table,
        np.sort(hidden[: int(rng.integers(1, 3))]),
        protection=float(rng.choice([0.0, 0.01, 0.1, 1.0])),
        candidates=np.isin(np.arange(table.cells), usable),
        insiders=(hidden[-1:],) if rng.integers(3) == 0 else (),
        **bounds,
    )
    return problem, np.setdiff1d(hidden, problem.sensitive)


def verdict(problem: Problem, hidden: np.ndarray, place: int, known: np.ndarray) -> bool | None:
    """Whether a sensitive cell is protected; ``None`` where it is short of that by less than a millionth."""
    ends = rise_and_fall(problem, hidden, int(problem.sensitive[place]), known.tolist())
    needs = [Fraction(float(levels[place])) for levels in (problem.upper, problem.lower)]
    width = Fraction(float(problem.required_width[place]))

    def holds(share: Fraction) -> bool:
        wide = any(end is None for end in ends) or sum(end or 0 for end in ends) >= width * share
        return wide and all(end is None or end >= need * share for end, need in zip(ends, needs, strict=True))

    return True if holds(Fraction(1)) else None if holds(Fraction(999_998, 1_000_000)) else False


@pytest.mark.parametrize("part", range(4))
def test_audit_and_check_agree_with_fractions(part) -> None:
    for seed in range(60 * part, 60 * part + 60):
        problem, complementary = attacked(seed)
        hidden = np.union1d(problem.sensitive, complementary)
        found = audit(problem, complementary)
        failures = unprotected(problem, complementary)
        for place, cell in enumerate(problem.sensitive.tolist()):
            safe = verdict(problem, hidden, place, np.empty(0, dtype=np.int64))
            assert safe is None or safe == (cell not in found.unsafe), seed
            assert safe is None or safe == ((cell, -1) not in {(c, who) for c, _, who in failures}), seed
            for number, known in enumerate(problem.insiders):
                if safe is not True or cell in known:
                    continue
                safe = verdict(problem, hidden, place, known)
                assert safe is None or safe == ((cell, number) not in found.insider), seed
                assert safe is None or safe == ((cell, number) not in {(c, who) for c, _, who in failures}), (
                    seed
                )


@pytest.mark.parametrize("seed", range(400, 420))
def test_intervals_beside_large_figures_are_those_of_fractions(seed) -> None:
    problem, complementary = attacked(seed)
    found = audit(problem, complementary)
    for cell, low, high in zip(found.cells.tolist(), found.low, found.high, strict=True):
        value = float(problem.table.values[cell])
        rise, fall = rise_and_fall(problem, found.cells, cell)
        assert high - value == pytest.approx(
            np.inf if rise is None else float(rise), rel=1e-6, abs=1e-9 * value
        )
        assert value - low == pytest.approx(
            np.inf if fall is None else float(fall), rel=1e-6, abs=1e-9 * value
        )


def taken_for_unbounded() -> tuple[Problem, np.ndarray, int]:
    """A cell of two billion that can rise by 2: the solver calls it unbounded."""
    table = Table.from_matrix([[1.0, 1.0, 1.0], [1.0, 1.0, 2.0], [1.0, 1.0, 2e9]])
    problem = Problem.of(table, [0, 6, 10], protection=0.01, candidates=np.ones(16, dtype=bool))
    return problem, np.array([3, 4, 8, 9, 12, 13, 14, 15]), 10


@pytest.mark.parametrize("network", [True, False])
def test_what_a_solver_calls_unbounded_is_not_believed(network) -> None:
    problem, complementary, cell = taken_for_unbounded()
    if not network:
        problem.table.__dict__["network"] = None
    assert rise_and_fall(problem, np.union1d(problem.sensitive, complementary), cell)[0] == 2
    found = audit(problem, complementary)
    assert found.high[found.place[cell]] == pytest.approx(2e9 + 2.0, rel=1e-14)
    assert found.unsafe.tolist() == [cell]
    assert unprotected(problem, complementary) == [(cell, UP, -1)]


def nearly_known() -> AdjustmentProblem:
    """A cell of 1.5 in a row with one of 2.5, which may move by a hundredth only; all else is very large."""
    table = Table.from_matrix([[1.5, 2.5], [1e9, 3e9], [5e9, 2e9]])
    return AdjustmentProblem.of(Problem.of(table, [0], protection=0.1), keep_totals=True, limit=0.01)


def test_a_small_cell_beside_large_ones_is_not_uncertain_by_a_tolerance() -> None:
    problem = nearly_known()
    change = np.zeros(problem.table.cells)
    change[0] = 0.2
    # The cell could be lower or higher by no more than the other one may have moved, however far the large ones may.
    possible = Possible(problem, change)
    assert {need.rising for need in possible.failing(possible.needs())} == {True, False}
    found = conclusions(problem, change)
    assert found.unsafe.tolist() == [0] and found.fall[0] < 0.03


def test_an_insider_who_knows_the_rest_of_a_small_row_knows_the_cell() -> None:
    table = Table.from_matrix([[1.5, 2.5, 3.5], [1e9, 3e9, 2e9], [5e9, 2e9, 2e9]])
    protect = Problem.of(table, [0], protection=0.01, insiders=(np.array([1, 2]),))
    problem = AdjustmentProblem.of(protect, keep_totals=True, limit=0.5)
    change = np.zeros(table.cells)
    change[0] = 0.03
    found = conclusions(problem, change)
    assert found.unsafe.size == 0 and found.insider == ((0, 0),)
    possible = Possible(problem, change)
    assert not possible.failing(possible.needs())
    assert possible.failing(possible.needs(), np.array([1, 2]))


def test_a_large_figure_is_no_multiple_because_it_is_large() -> None:
    table = Table.from_matrix([[5e9 + 1.5, 3.0], [2.0, 8.0]])
    problem = RoundingProblem(Problem.of(table, []), 5.0, table.values / 5.0)
    assert (problem.most - problem.least)[0] == 1


def test_the_fractions_know_what_ends_and_what_does_not() -> None:
    problem = Problem.of(Table.from_matrix([[1.0, 0.0], [0.0, 1e9]]), [0], protection=0.5)
    assert rise_and_fall(problem, [0, 1, 3, 4], 0) == (Fraction(0), Fraction(1))
    assert rise_and_fall(problem, [0, 1, 3, 4], 0, [4]) == (Fraction(0), Fraction(0))
    assert rise_and_fall(problem, [0, 1, 2, 3, 4, 5, 6, 7, 8], 0) == (None, Fraction(1))


def test_a_level_far_above_all_figures_is_not_taken_for_met() -> None:
    """The cell can rise by 3,000 at most, more than all figures together."""
    table = Table.from_matrix([[10.0, 20.0], [30.0, 40.0]])
    problem = Problem.of(table, [0], lower=[5.0], upper=[5000.0], low=-np.inf, high=table.values + 3000.0)
    found = audit(problem, np.arange(1, table.cells))
    assert not found.safe and found.high[found.cells == 0] == pytest.approx(3010.0)
    with pytest.raises(Infeasible, match="stay uncertain by its levels"):
        AdjustmentProblem.of(problem)


@pytest.mark.parametrize("seed", range(20))
def test_bounds_far_above_all_figures_end_an_interval(seed) -> None:
    rng = np.random.default_rng(seed)
    table = Table.from_matrix(rng.integers(1, 20, tuple(rng.integers(2, 5, 2))).astype(float))
    far = rng.choice([1e3, 1e5, 1e7, np.inf], table.cells, p=[0.4, 0.3, 0.2, 0.1])
    low = -far[rng.permutation(far.size)] if rng.integers(2) else 0.0
    everything = np.ones(table.cells, dtype=bool)
    problem = Problem.of(table, [0], protection=0.1, candidates=everything, low=low, high=table.values + far)
    hidden = np.union1d([0], rng.choice(table.cells, table.cells - 2, replace=False))
    found = audit(problem, np.setdiff1d(hidden, [0]))
    for cell, least, most in zip(found.cells.tolist(), found.low, found.high, strict=True):
        rise, fall = rise_and_fall(problem, hidden.tolist(), cell)
        value = float(table.values[cell])
        assert most == pytest.approx(np.inf if rise is None else value + float(rise), rel=1e-9)
        assert least == pytest.approx(-np.inf if fall is None else value - float(fall), rel=1e-9, abs=1e-6)
