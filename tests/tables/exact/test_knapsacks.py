"""The deepest inequality of a cut: as deep as a linear programme over all sets says, and met by whatever carries enough."""

from itertools import combinations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import linprog
from tests.tables.oracle import random_plane

from shoal.tables.exact.cut_rows import Knapsack
from shoal.tables.exact.knapsacks import lifted, lightest
from shoal.tables.exact.network_cuts import NetworkCuts
from shoal.tables.exact.refusal import is_safe
from shoal.tables.problem import Problem

SHARES = st.lists(st.sampled_from([0.05, 0.1, 0.25, 0.3, 0.4, 0.5, 0.55, 0.7, 0.9]), min_size=2, max_size=6)


def points(size: int) -> np.ndarray:
    return np.array(list(product((0.0, 1.0), repeat=size)))


@given(SHARES, st.integers(0, 2**16))
def test_no_weights_are_lighter(few: list[float], seed: int) -> None:
    shares = np.sort(np.array(few))
    x = np.random.default_rng(seed).uniform(0.01, 1.0, shares.size)
    every = points(shares.size)
    enough = every[every @ shares >= 1.0 - 1e-9]
    weights = np.zeros(shares.size)
    found = lightest(shares, x, 10.0, weights)
    if enough.size == 0:
        assert found == 0.0 and (weights == 0.0).all()
        return
    slow = linprog(x, A_ub=-enough, b_ub=-np.ones(len(enough)), bounds=(0.0, None))
    assert found == pytest.approx(slow.fun, abs=1e-7)
    assert weights @ x == pytest.approx(found, abs=1e-7)
    assert (enough @ weights >= 1.0 - 1e-7).all()
    # Asked for less than there is, it ends sooner and says so.
    assert lightest(shares, x, 0.5 * found, weights) >= 0.5 * found


@given(SHARES, SHARES, st.integers(0, 2**16))
def test_whatever_carries_enough_meets_it(few: list[float], others: list[float], seed: int) -> None:
    rng = np.random.default_rng(seed)
    shares, more = np.sort(np.array(few)), np.array([*others, 1.0, 0.02])
    weights = np.zeros(shares.size)
    lightest(shares, rng.uniform(0.01, 1.0, shares.size), 10.0, weights)
    # Weights that are wrong make a weaker inequality or none, never one that does not hold.
    for own in (weights, weights * rng.uniform(0.6, 1.5, shares.size), rng.random(shares.size)):
        made = lifted(shares, own)
        if made is None:
            continue
        every = points(shares.size + more.size)
        enough = every[every @ np.concatenate([shares, more]) >= 1.0 - 1e-9]
        assert (enough @ np.concatenate([made.own, made.of_others(more)]) >= 1.0 - 1e-7).all()


def test_two_of_three_that_carry_half_each() -> None:
    shares, weights = np.full(3, 0.5), np.zeros(3)
    assert lightest(shares, np.full(3, 0.6), 10.0, weights) == pytest.approx(0.9)
    made = lifted(shares, weights)
    assert made is not None
    np.testing.assert_allclose(made.own, 0.5)
    # A fourth that carries as much counts for as much, and one that carries little for its share.
    np.testing.assert_allclose(made.of_others(np.array([0.5, 0.1, 1.0])), [0.5, 0.1, 1.0], atol=1e-8)


def at_random_points(problem: Problem, columns: np.ndarray) -> tuple[NetworkCuts, list[int]]:
    """The inequalities of single cuts that a few points violate."""
    assert problem.table.network is not None
    separator = NetworkCuts(problem, problem.table.network)
    rng = np.random.default_rng(0)
    numbers: dict[int, None] = {}
    for most in (0.3, 0.5, 0.8):
        x = np.zeros(problem.table.cells)
        x[columns] = rng.uniform(0.0, most, columns.size)
        x[problem.sensitive] = 1.0
        separator.separate(x, columns)
        rows = separator.fill(x, columns)
        for cells, values in zip(rows.cells, rows.values, strict=True):
            assert values @ x[cells] < 0.99
        numbers |= dict.fromkeys(rows.numbers)
    assert all(isinstance(separator.records[number], Knapsack) for number in numbers)
    return separator, list(numbers)


@pytest.mark.parametrize("block", range(5))
def test_every_safe_pattern_meets_them(block: int) -> None:
    made = 0
    for seed in range(6 * block, 6 * block + 6):
        problem = random_plane(np.random.default_rng(seed), 3, 4, 3, protection=0.5)
        if seed % 3 == 1:
            problem = problem.with_changes(sliding=0.5 * problem.table.values[problem.sensitive])
        if seed % 3 == 2:
            problem = problem.with_changes(high=1.3 * problem.table.values + 1.0)
        columns = np.flatnonzero(problem.candidates)
        separator, numbers = at_random_points(problem, columns)
        made += len(numbers)
        rows = separator.write(numbers, columns)
        few = columns[np.argsort(problem.cost[columns])[:9]]
        for size in range(few.size + 1):
            for chosen in combinations(few.tolist(), size):
                pattern = np.array(chosen, dtype=np.int64)
                x = np.zeros(problem.table.cells)
                x[pattern] = 1.0
                missed = any(
                    values @ x[cells] < 1.0 - 1e-7
                    for cells, values in zip(rows.cells, rows.values, strict=True)
                )
                assert not missed or not is_safe(problem, pattern)
    assert made


def test_cells_outside_are_priced_as_they_are_written() -> None:
    problem = random_plane(np.random.default_rng(1), 8, 8, 8, protection=0.3)
    every = np.flatnonzero(problem.candidates)
    separator, numbers = at_random_points(problem, every)
    assert numbers
    duals = np.random.default_rng(0).random(len(numbers))
    expected = problem.cost.copy()
    rows = separator.write(numbers, every)
    for dual, cells, values in zip(duals, rows.cells, rows.values, strict=True):
        expected[cells] -= dual * values
    np.testing.assert_allclose(separator.price(np.array(numbers), duals, every), expected[every], atol=1e-6)
