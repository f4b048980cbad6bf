"""Slots that overflow: no piece is ever below K, nobody gets lost, and who has a seat in the end has one by every rule."""

import math

import numpy as np
import pytest
from tests.appointments.oracle import best_of_all, random_plain

from shoal.appointments.api import assign_sizes
from shoal.appointments.problem import Problem
from shoal.appointments.solution import settle
from shoal.appointments.solvers import filling, overflow
from shoal.appointments.solvers.overflow_kernels import OVERFLOW, STEP
from shoal.appointments.verify import verify
from shoal.runtime import Budget, Seeds
from shoal.runtime.randomness import below, uniform


def narrow(seed, groups, rooms, slack=0):
    generator = np.random.default_rng([seed, groups, rooms])
    sizes = generator.integers(60, 119, groups, endpoint=True)
    weights = generator.uniform(0.5, 1.5, rooms)
    seats = np.floor(weights / weights.sum() * sizes.sum()).astype(int)
    seats[: sizes.sum() - seats.sum()] += 1
    seats[0] += slack
    return Problem(sizes, seats)


def cooling(problem, k, schedule, seed):
    seeds = Seeds(seed)
    order = seeds.child("order").generator().permutation(problem.rows)
    return overflow.Overflow(problem, k, schedule, seeds.state(), order)


def slow_twin(problem, k, aim, state, matrix, order):
    """The same draws on a dictionary of pieces for each crowd; the people without a seat are counted anew for each step."""
    pieces = [{int(np.flatnonzero(row)[0]): int(row.sum())} for row in matrix]
    seats = problem.capacities.tolist()

    def load(slot, crowds):
        return sum(crowd.get(slot, 0) for crowd in crowds)

    def without(crowds):
        return sum(max(0, load(slot, crowds) - seats[slot]) for slot in range(len(seats)))

    def fitting(j, t, low, high):
        first = uniform(state) < 0.5
        amount = load(j, pieces) - seats[j] if first else seats[t] - load(t, pieces)
        return min(max(amount, low), high)

    heat, ratio = aim.hot, (aim.cold / aim.hot) ** (1.0 / aim.schedule)
    for step in range(aim.schedule):
        if without(pieces) == 0:
            return step, pieces
        heat *= ratio
        for _ in range(3):
            i = int(below(state, len(pieces)))
            j = order[i][int(below(state, len(order[i])))]
            if load(j, pieces) != seats[j]:
                break
        x = pieces[i][j]
        trial = [dict(crowd) for crowd in pieces]
        lists = [list(slots) for slots in order]
        draw = int(below(state, 8))
        if draw < 3:
            e = int(below(state, len(pieces)))
            t = order[e][int(below(state, len(order[e])))]
            if e == i or t in pieces[i] or j in pieces[e]:
                continue
            trial[i][t], trial[e][j] = trial[i].pop(j), trial[e].pop(t)
            lists[i][lists[i].index(j)], lists[e][lists[e].index(t)] = t, j
        else:
            if draw in (4, 5) and len(order[i]) > 1:
                t = order[i][int(below(state, len(order[i])))]
                amount = fitting(j, t, k - pieces[i][t], x - k)
            else:
                t = int(below(state, len(seats)))
                amount = x
                if draw > 3 and x >= 2 * k and t not in pieces[i]:
                    amount = fitting(j, t, k, x - k)
            if t == j:
                continue
            trial[i][j] -= amount
            trial[i][t] = trial[i].get(t, 0) + amount
            if trial[i][j] == 0:
                del trial[i][j]
                place = lists[i].index(j)
                lists[i][place] = lists[i][-1]
                lists[i].pop()
            if t not in pieces[i]:
                lists[i].append(t)
        change = without(trial) - without(pieces)
        if change > 0 and uniform(state) >= math.exp(-float(change) / heat):
            continue
        pieces, order = trial, lists
    return aim.schedule, pieces


@pytest.mark.parametrize("seed", range(12))
def test_the_kernel_takes_the_steps_of_its_slow_twin(seed):
    problem = narrow(seed, 4 + seed, 3 + seed % 5, slack=seed % 3)
    k = (30, 20, 40)[seed % 3]
    one = cooling(problem, k, 400, seed)
    begin, state = one.matrix.copy(), one.crowding.state.copy()
    lists = [[int(np.flatnonzero(row)[0])] for row in begin]
    with np.errstate(over="ignore"):
        steps, pieces = slow_twin(problem, k, one.relief, state, begin, lists)
    assert one.steps(400) == steps
    assert one.crowding.state.tolist() == state.tolist()
    assert [{int(j): int(row[j]) for j in np.flatnonzero(row)} for row in one.matrix] == pieces


@pytest.mark.parametrize("seed", range(20))
def test_what_is_kept_agrees_with_the_matrix_at_every_moment(seed):
    generator = np.random.default_rng(seed)
    problem = narrow(seed, 12, 8, slack=seed % 4)
    k = int(generator.integers(1, 60))
    one = cooling(problem, k, 20_000, seed)
    while not one.done:
        one.steps(int(generator.integers(1, 3000)))
        matrix, crowding = one.matrix, one.crowding
        assert (matrix.sum(axis=1) == problem.sizes).all()
        assert (matrix[matrix != 0] >= k).all()
        assert (crowding.load == matrix.sum(axis=0)).all()
        assert crowding.memory[OVERFLOW] == np.maximum(crowding.load - problem.capacities, 0).sum()
        for row, number, slots in zip(matrix, crowding.number, crowding.where, strict=True):
            assert sorted(slots[:number].tolist()) == np.flatnonzero(row).tolist()
    assert one.everybody_seated or one.crowding.memory[STEP] == 20_000
    if one.everybody_seated:
        assert (one.matrix.sum(axis=0) <= problem.capacities).all()


def test_chunks_of_any_size_are_the_same():
    problem = narrow(5, 20, 12)
    found = []
    for chunk in (1, 7, 500):
        one = cooling(problem, 40, 3000, 1)
        while not one.done:
            one.steps(chunk)
        found.append(one.matrix.tobytes())
    assert len(set(found)) == 1


@pytest.mark.parametrize("seed", range(60))
def test_a_plan_is_never_worse_nor_better_than_the_best(seed):
    problem = random_plain(np.random.default_rng(seed))
    before = filling.better_rule(problem)
    best, _ = best_of_all(problem)
    run = Budget(iterations=30_000).start(direction=problem.direction)
    after = overflow.raise_k(problem, before, int(problem.sizes.min()), run, Seeds(seed), 20_000)
    verify(problem, settle(problem, after, bound=best))
    assert problem.value(before) <= problem.value(after) <= best
    assert run.work <= 20_000


@pytest.mark.parametrize("scale", [1000, 10**9])
def test_a_plan_of_any_scale_is_the_same(scale):
    problem = narrow(0, 50, 30)
    large = Problem(problem.sizes * scale, problem.capacities * scale)
    one, other = cooling(problem, 42, 300_000, 4), cooling(large, 42 * scale, 300_000, 4)
    assert one.steps(300_000) == other.steps(300_000)
    assert (one.matrix * scale == other.matrix).all()


@pytest.mark.parametrize(("groups", "rooms"), [(10, 10), (20, 20), (50, 30)])
def test_seats_without_any_to_spare_are_filled_to_a_proved_k(groups, rooms):
    plans = []
    for seed in range(4):
        problem = narrow(seed, groups, rooms)
        plans.append(assign_sizes(problem.sizes.tolist(), problem.capacities.tolist(), iterations=4000))
    assert np.mean([plan.k for plan in plans]) >= 0.98 * np.mean([plan.k_bound for plan in plans])
    assert np.mean([plan.optimal for plan in plans]) >= 0.75
