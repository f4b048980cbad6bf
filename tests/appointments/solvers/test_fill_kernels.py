"""Fills against their slow twins, and what they must never do."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.appointments.oracle import random_general, random_plain

from shoal.anonymity.vector import AnonymityVector
from shoal.appointments.problem import Problem
from shoal.appointments.solvers import fill_kernels, filling
from shoal.appointments.solvers.random import draw
from shoal.runtime import Seeds


def slow_published_rule(sizes, capacities):
    """The published greedy rule, in words turned into lists."""
    room = list(capacities)
    rows = {}
    for i in sorted(range(len(sizes)), key=lambda i: -sizes[i]):
        row = [0] * len(room)
        chosen, so_far = [], 0
        for j in sorted(range(len(room)), key=lambda j: (-room[j], j)):
            if so_far >= sizes[i]:
                break
            if room[j]:
                chosen.append(j)
                so_far += room[j]
        left = sizes[i]
        while left:
            open_slots = [j for j in chosen if room[j]]
            least = min(open_slots, key=lambda j: (room[j], j))
            most = min(open_slots, key=lambda j: (-room[j], j))
            j, amount = (least, room[least]) if room[least] <= left else (most, left)
            row[j] += amount
            room[j] -= amount
            left -= amount
        rows[i] = row
    return [rows[i] for i in range(len(sizes))]


def slow_best_fit(sizes, capacities):
    """The tightest slot that takes the rest of the group, else all of the largest."""
    room = list(capacities)
    rows = {}
    for i in sorted(range(len(sizes)), key=lambda i: -sizes[i]):
        row, left = [0] * len(room), sizes[i]
        while left:
            whole = [j for j in range(len(room)) if room[j] >= left]
            j = (
                min(whole, key=lambda j: (room[j], j))
                if whole
                else max(range(len(room)), key=lambda j: (room[j], -j))
            )
            amount = min(left, room[j])
            row[j] += amount
            room[j] -= amount
            left -= amount
        rows[i] = row
    return [rows[i] for i in range(len(sizes))]


plain_problems = st.tuples(
    st.lists(st.integers(1, 9), min_size=1, max_size=6), st.lists(st.integers(1, 9), min_size=1, max_size=6)
).filter(lambda pair: sum(pair[0]) <= sum(pair[1]))


@settings(max_examples=150, deadline=None)
@given(plain_problems)
def test_greedy_rules_equal_their_slow_twins(pair):
    problem = Problem(*pair)
    assert filling.greedy(problem).tolist() == slow_published_rule(*pair)
    assert filling.fit(problem).tolist() == slow_best_fit(*pair)


def test_published_example():
    problem = Problem([4, 4, 5, 2], [4, 2, 4, 3, 2])
    published, fitted = filling.greedy(problem), filling.fit(problem)
    assert AnonymityVector.from_sizes(published[published > 0]) == AnonymityVector((2, 3, 1, 1))
    assert AnonymityVector.from_sizes(fitted[fitted > 0]) == AnonymityVector((2, 1, 1, 2))


def seats_everybody(problem, matrix):
    assert (matrix >= 0).all()
    assert (matrix.sum(axis=1) == problem.sizes).all()
    assert (matrix.sum(axis=0) <= problem.capacities).all()
    assert not matrix[~problem.eligible].any()


@pytest.mark.parametrize("make", [random_plain, random_general])
def test_every_fill_seats_everybody(make):
    for seed in range(300):
        problem = make(np.random.default_rng(seed))
        for matrix in (
            filling.greedy(problem),
            filling.fit(problem),
            draw(problem, Seeds(seed), "seat"),
            draw(problem, Seeds(seed), "probe"),
        ):
            seats_everybody(problem, matrix)


def test_augmenting_finds_the_last_seat():
    # The first row must make way for the second, which can sit in one slot only.
    problem = Problem([2, 2], [2, 2], eligible=[[True, True], [True, False]])
    matrix = np.array([[2, 0], [0, 0]])
    assert fill_kernels.complete(matrix, problem.sizes, problem.capacities, problem.eligible) == 0
    assert matrix.tolist() == [[0, 2], [2, 0]]


def test_wrap_around_keeps_every_piece():
    met = 0
    for seed in range(300):
        generator = np.random.default_rng(seed)
        problem = random_plain(generator, most_people=40, most_groups=7, most_slots=7)
        for k in range(1, int(problem.sizes.min()) + 1):
            trial, matrix = fill_kernels.wrap_around(
                problem.sizes, problem.capacities, k, 20, Seeds(seed).state()
            )
            if trial:
                seats_everybody(problem, matrix)
                assert matrix[matrix > 0].min() >= k
                met += 1
    assert met > 300


def test_random_seats_are_uniform():
    # Two people, slots of 1 and 3 seats: 4·3 ordered seatings, 6 of them with nobody in the small slot.
    problem = Problem([1, 1], [1, 3])
    alone = sum(int(draw(problem, Seeds(seed), "seat")[:, 0].sum()) for seed in range(4000))
    assert 0.46 < alone / 4000 < 0.54


def test_random_probe_is_repeatable_and_differs_by_seed():
    problem = Problem([30, 20], [25, 25, 10])
    one, two = (draw(problem, Seeds(seed), "probe") for seed in (1, 2))
    assert (one == draw(problem, Seeds(1), "probe")).all()
    assert (one != two).any()
