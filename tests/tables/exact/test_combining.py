"""Sums of known inequalities, rounded: each holds for every pattern that the inequalities it is made of allow."""

from itertools import combinations, product

import numpy as np
import pytest
from tests.tables.oracle import random_plane

from shoal.runtime import Budget
from shoal.tables.exact import thread_parts as hands
from shoal.tables.exact.combining import Combination, Rowwise, combination, sums
from shoal.tables.exact.network_cuts import NetworkCuts
from shoal.tables.exact.refusal import is_safe
from shoal.tables.exact.relaxation import Relaxation


def rounded(total: np.ndarray, rhs: float, turned: np.ndarray, divisor: float) -> tuple[np.ndarray, float]:
    """The same, one coefficient after the other."""
    left = rhs - sum(value for value, above in zip(total, turned, strict=True) if above)
    part = left / divisor - (np.ceil(left / divisor) - 1)

    def one(value: float) -> float:
        whole = np.floor(value / divisor)
        return float(whole * part + min(value / divisor - whole, part))

    row = [-one(-value) if above else one(value) for value, above in zip(total, turned, strict=True)]
    right = part * np.ceil(left / divisor) + sum(
        value for value, above in zip(row, turned, strict=True) if above
    )
    return np.minimum(np.array(row) / right, 1.0), right


@pytest.mark.parametrize("seed", range(40))
def test_no_point_of_whole_numbers_is_cut_off(seed: int) -> None:
    rng = np.random.default_rng(seed)
    size, count = 7, 5
    matrix = np.where(rng.random((count, size)) < 0.6, rng.choice([1.0, 0.5, 0.3, 0.8], (count, size)), 0.0)
    matrix[matrix.sum(axis=1) < 1.0] = 1.0
    points = np.array(list(product((0.0, 1.0), repeat=size)))
    allowed = points[(points @ matrix.T >= 1.0 - 1e-12).all(axis=1)]
    held = [np.flatnonzero(row) for row in matrix]
    rows = Rowwise(
        np.concatenate([[0], np.cumsum([cells.size for cells in held])]).astype(np.int64),
        np.concatenate(held),
        np.concatenate([row[cells] for row, cells in zip(matrix, held, strict=True)]),
    )
    made = 0
    for _ in range(5):
        x = np.clip(rng.uniform(-0.2, 1.2, size), 0.0, 1.0)
        found = sums(rows, np.zeros(count), x, np.arange(count), 1e-6)
        for chain in found.rows:
            parts = chain[chain >= 0]
            assert len(set(parts.tolist())) == parts.size
            total = matrix[parts].sum(axis=0)
            cells = np.flatnonzero(total)
            one = combination(tuple(parts.tolist()), cells, total[cells], x[cells], 1e-6)
            assert one is not None
            turned = np.isin(np.arange(size), one.turned)
            values = one.coefficients(total, turned)
            slow, scale = rounded(total, float(parts.size), turned, one.divisor)
            assert one.scale == pytest.approx(scale)
            np.testing.assert_allclose(values, slow, atol=1e-9)
            assert values @ x < 1.0
            assert (allowed @ values >= 1.0 - 1e-9).all()
            made += 1
    assert made


def test_half_of_an_odd_number_of_rows() -> None:
    """Three leaves of a star, each pair of which a link joins: half of every link meets all, but two links are needed."""
    rows = Rowwise(np.array([0, 2, 4, 6]), np.array([0, 1, 1, 2, 0, 2]), np.ones(6))
    x = np.full(3, 0.5)
    found = sums(rows, np.zeros(3), x, np.arange(3), 0.01)
    made = []
    for chain in found.rows:
        parts = tuple(np.sort(chain[chain >= 0]).tolist())
        if len(parts) == 3:
            one = combination(parts, np.arange(3), np.full(3, 2.0), x, 0.01)
            assert one is not None
            made.append(one.coefficients(np.full(3, 2.0), np.isin(np.arange(3), one.turned)))
    assert made and np.allclose(made[0], 0.5)


@pytest.mark.parametrize("seed", range(30))
def test_every_safe_pattern_meets_them(seed: int) -> None:
    problem = random_plane(np.random.default_rng(seed), 3, 4, 2)
    assert problem.table.network is not None
    columns = np.flatnonzero(problem.candidates)
    separator = NetworkCuts(problem, problem.table.network)
    relaxation = Relaxation(problem, separator, columns)
    relaxation.tighten(Budget().start(), gain=1e-6)
    relaxation.tighten(Budget().start(), patience=8, gain=1e-6, sums=True)
    numbers = [place for place, one in enumerate(separator.records) if isinstance(one, Combination)]
    rows = separator.write(numbers, columns)
    few = columns[np.argsort(problem.cost[columns])[:9]]
    for size in range(few.size + 1):
        for chosen in combinations(few.tolist(), size):
            pattern = np.array(chosen, dtype=np.int64)
            x = np.zeros(problem.table.cells)
            x[pattern] = 1.0
            missed = [
                number
                for number, cells, values in zip(rows.numbers, rows.cells, rows.values, strict=True)
                if values @ x[cells] < 1.0 - 1e-7
            ]
            assert not missed or not is_safe(problem, pattern)


def test_columns_left_out_come_back_when_they_pay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hands, "FEWEST_EACH", 1)
    problem = random_plane(np.random.default_rng(3), 12, 12, 6)
    assert problem.table.network is not None
    every = np.flatnonzero(problem.candidates)
    bounds = []
    for most, threads in ((every.size, 1), (30, 1), (30, 2)):
        separator = NetworkCuts(problem, problem.table.network, threads)
        relaxation = Relaxation(problem, separator, every)
        relaxation.tighten(Budget().start())
        base = relaxation.bound
        relaxation.narrow(most)
        relaxation.tighten(Budget().start(), patience=8, gain=1e-6, sums=True)
        bounds.append(relaxation.bound)
        assert relaxation.bound >= base
        # The rows it holds are those that are written anew, also over columns that came in later.
        held, anew = relaxation.rows, separator.write(relaxation.numbers, relaxation.columns)
        for place in range(len(held)):
            assert dict(zip(held.cells[place].tolist(), held.values[place].tolist(), strict=True)) == (
                pytest.approx(dict(zip(anew.cells[place].tolist(), anew.values[place].tolist(), strict=True)))
            )
    assert bounds[1] == pytest.approx(bounds[0], rel=0.02)
    assert bounds[2] == bounds[1]
