"""Programmes handed over as arrays: what the solver then holds is what was written, number for number."""

import numpy as np
import pytest

from shoal.runtime.linear_programmes import is_optimal, programme, quiet_highs


def drawn(rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """A matrix and everything else of a programme that has a solution."""
    rows, columns = int(rng.integers(0, 5)), int(rng.integers(1, 6))
    matrix = np.where(rng.random((rows, columns)) < 0.6, rng.integers(1, 5, (rows, columns)), 0).astype(float)
    upper = rng.integers(1, 4, columns).astype(float)
    need = np.floor(rng.random(rows) * (matrix @ upper))
    return matrix, rng.integers(-3, 9, columns).astype(float), upper, need


def cheapest(matrix: np.ndarray, cost: np.ndarray, upper: np.ndarray, need: np.ndarray) -> float:
    """The optimum in whole numbers, by trying all."""
    points = np.stack(np.meshgrid(*[np.arange(most + 1) for most in upper]), axis=-1).reshape(-1, upper.size)
    return float((points[(points @ matrix.T >= need - 1e-9).all(axis=1)] @ cost).min())


def by_rows(matrix: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    at, places = np.nonzero(matrix)
    starts = np.concatenate([[0], np.cumsum(np.bincount(at, minlength=matrix.shape[0]))])
    return starts, places, matrix[at, places]


@pytest.mark.parametrize("place", range(40))
def test_the_optimum_in_whole_numbers_is_that_of_all_points(place: int) -> None:
    matrix, cost, upper, need = drawn(np.random.default_rng([1, place]))
    limits = np.zeros(upper.size), upper
    rest = need, np.full(need.size, np.inf)
    for by, parts in (("rows", by_rows(matrix)), ("columns", by_rows(matrix.T))):
        solver = quiet_highs(programme(cost, *limits, parts, *rest, by=by, whole=True))  # type: ignore[arg-type]
        solver.run()
        assert is_optimal(solver)
        assert solver.getInfo().objective_function_value == pytest.approx(cheapest(matrix, cost, upper, need))


def test_only_the_columns_named_are_whole() -> None:
    rows = np.array([0, 2]), np.array([0, 1]), np.array([2.0, 2.0])
    values = []
    for whole in (False, np.array([True, False]), np.array([False, True]), True):
        model = programme(
            np.array([1.0, 4.0]),
            np.zeros(2),
            np.array([9.0, 0.5]),
            rows,
            np.array([3.0]),
            np.array([np.inf]),
            whole=whole,
        )
        solver = quiet_highs(model)
        solver.run()
        values.append(solver.getInfo().objective_function_value)
    assert values == pytest.approx([1.5, 2.0, 1.5, 2.0])


def test_a_programme_replaces_what_the_solver_held() -> None:
    none = np.zeros(1, dtype=np.int32), np.zeros(0, dtype=np.int32), np.zeros(0)
    first = programme(np.ones(3), np.ones(3), np.full(3, 2.0), none, np.zeros(0), np.zeros(0), whole=True)
    second = programme(np.ones(2), np.full(2, 0.25), np.ones(2), none, np.zeros(0), np.zeros(0))
    solver = quiet_highs(first)
    solver.run()
    second.hand_to(solver)
    solver.run()
    assert solver.getInfo().objective_function_value == pytest.approx(0.5)
