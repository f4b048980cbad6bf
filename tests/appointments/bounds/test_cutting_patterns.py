"""Pattern bounds: kernels against enumeration, the bound against every assignment, and instances only it can close."""

from functools import cache

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.appointments.oracle import best_of_all, random_general, random_plain

from shoal.appointments.api import assign_sizes
from shoal.appointments.bounds import cutting_patterns
from shoal.appointments.bounds.limits import largest_k
from shoal.appointments.problem import Problem
from shoal.runtime import Budget


def slow_cut(prices, k, size):
    @cache
    def best(people):
        if people == 0:
            return 0
        values = [
            best(people - piece) + prices[piece]
            for piece in range(k, min(people, len(prices) - 1) + 1)
            if best(people - piece) is not None
        ]
        return min(values, default=None)

    return best(size)


def slow_fill(prices, k, seats):
    @cache
    def best(room):
        return max(
            [0, *(best(room - piece) + prices[piece] for piece in range(k, min(room, len(prices) - 1) + 1))]
        )

    return best(seats)


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(-20, 50), min_size=4, max_size=9), st.integers(1, 3), st.integers(1, 14))
def test_kernels_equal_their_slow_twins(prices, k, size):
    choice = np.zeros(size + 1, np.int64)
    cost = cutting_patterns.cheapest_cuts(np.array(prices), k, size, choice)
    expected = slow_cut(tuple(prices), k, size)
    assert (cost[size] if cost[size] < 2**60 else None) == expected
    if expected is not None:
        left, total = size, 0
        while left:
            assert choice[left] >= k
            total += prices[choice[left]]
            left -= choice[left]
        assert total == expected
    assert cutting_patterns.dearest_fills(np.array(prices), k, size, choice)[size] == slow_fill(
        tuple(prices), k, size
    )


def never_below_the_optimum(seeds):
    lowered = 0
    for seed in seeds:
        generator = np.random.default_rng(seed)
        for make in (random_plain, random_general):
            problem = make(generator)
            if not cutting_patterns.applies(problem):
                continue
            high = largest_k(problem)
            bound = cutting_patterns.lower(problem, 1, high, Budget(iterations=10**6).start())
            assert best_of_all(problem)[0] <= bound <= high
            lowered += bound < high
    return lowered


def test_bound_is_never_below_the_optimum():
    assert never_below_the_optimum(range(60)) > 0


@pytest.mark.long
def test_bound_is_never_below_the_optimum_thousands():
    never_below_the_optimum(range(1000, 3000))


def narrow(groups, rooms, slack, seed):
    generator = np.random.default_rng(seed)
    sizes = generator.integers(60, 120, groups)
    total = int(np.ceil(sizes.sum() * slack))
    weights = generator.uniform(0.5, 1.5, rooms)
    capacities = np.floor(weights / weights.sum() * total).astype(int)
    capacities[: total - capacities.sum()] += 1
    return sizes, capacities


@pytest.mark.parametrize(
    ("slack", "seed", "best"),
    [(1.0, 1, 39), (1.0, 2, 36), (1.05, 2, 43), (1.05, 3, 36), (1.2, 0, 55), (1.2, 2, 55)],
)
def test_narrow_sizes_are_closed(slack, seed, best):
    # Simple bounds are 5 to 20 above the optimum here, and no solver alone closes the gap.
    sizes, capacities = narrow(10, 10, slack, seed)
    plan = assign_sizes(sizes, capacities, iterations=20_000)
    assert largest_k(plan.problem) > best
    assert (plan.k, plan.k_bound, plan.optimal) == (best, best, True)


def test_a_budget_that_ends_proves_nothing():
    problem = Problem(*narrow(10, 10, 1.0, 2))
    high = largest_k(problem)
    assert cutting_patterns.lower(problem, 30, high, Budget(iterations=0).start()) == high
    assert cutting_patterns.Patterns(problem, 45).excluded(Budget(iterations=3).start()) is None
    assert cutting_patterns.Patterns(problem, 45).excluded(Budget(iterations=1000).start()) is True
    assert cutting_patterns.Patterns(problem, 20).excluded(Budget(iterations=1000).start()) is False
