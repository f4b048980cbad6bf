"""A steady-state algorithm on matrices that is compiled as a whole, with a pre-order for fitness.

People come in groups of given sizes and are put into rooms of given capacities; a cell of the matrix is how many of
a group are in a room. Fitter is: fewer rooms too full, then fewer groups that are not whole, then a larger K, the
smallest positive cell.
"""

from itertools import product

import numpy as np
import pytest
from tests.search.evolution import twins
from tests.search.xoshiro import Twin

from shoal.search import Budget, Seeds, StopReason
from shoal.search.evolution.keys import fittest
from shoal.search.evolution.replacement import steady_state
from shoal.search.evolution.selection import tournament
from shoal.search.kernels import kernel
from shoal.search.randomness import below, uniform

MUTATION = 0.6


@kernel
def rate(matrix, groups, rooms, key):
    key[0] = 0
    key[1] = 0
    smallest = 0
    for j in range(rooms.shape[0]):
        if matrix[:, j].sum() > rooms[j]:
            key[0] += 1
    for i in range(groups.shape[0]):
        if matrix[i].sum() != groups[i]:
            key[1] += 1
    for i in range(groups.shape[0]):
        for j in range(rooms.shape[0]):
            if matrix[i, j] > 0 and (smallest == 0 or matrix[i, j] < smallest):
                smallest = matrix[i, j]
    key[2] = -smallest


@kernel
def found(state, members, keys, groups, rooms):
    for member in range(members.shape[0]):
        for i in range(groups.shape[0]):
            for j in range(rooms.shape[0]):
                members[member, i, j] = below(state, min(groups[i], rooms[j]) + 1)
        rate(members[member], groups, rooms, keys[member])


@kernel
def crossover(state, one, other, child):
    size = one.shape[0] + 1
    p, q = below(state, size), below(state, size)
    p, q = min(p, q), max(p, q)
    child[:] = one
    child[p:q] = other[p:q]


@kernel
def mutate(state, child, groups, rooms):
    i, j = below(state, groups.shape[0]), below(state, rooms.shape[0])
    kind = below(state, 4)
    if kind == 0:
        child[i, j] = 0
    elif kind < 3:
        child[i, j] = groups[i]
    else:
        child[i, j] = below(state, min(groups[i], rooms[j]) + 1)


@kernel
def repair(state, child, groups, rooms):
    """Puts the missing people of one group that is not whole into a room with space, or takes superfluous ones out."""
    i = below(state, groups.shape[0])
    j = below(state, rooms.shape[0])
    missing = groups[i] - child[i].sum()
    if missing > 0:
        child[i, j] += max(0, min(missing, rooms[j] - child[:, j].sum()))
    elif missing < 0:
        child[i, j] = max(0, child[i, j] + missing)


@kernel
def generations(state, members, keys, groups, rooms, count):
    child = np.empty_like(members[0])
    key = np.empty_like(keys[0])
    for _ in range(count):
        one, other = tournament(state, keys, 2), tournament(state, keys, 2)
        crossover(state, members[one], members[other], child)
        if uniform(state) < MUTATION:
            mutate(state, child, groups, rooms)
        repair(state, child, groups, rooms)
        rate(child, groups, rooms, key)
        place = steady_state(keys, key)
        if place >= 0:
            members[place] = child
            keys[place] = key


def _start(seed, groups, rooms, size):
    state = Seeds(seed).state()
    members = np.empty((size, len(groups), len(rooms)), dtype=np.int64)
    keys = np.empty((size, 3), dtype=np.int64)
    found(state, members, keys, np.array(groups), np.array(rooms))
    return state, members, keys


def _slow(seed, groups, rooms, size, count):
    """The same algorithm with lists and the twins."""
    twin, n, m = Twin(Seeds(seed).state()), len(groups), len(rooms)

    def key(matrix):
        full = sum(sum(row[j] for row in matrix) > rooms[j] for j in range(m))
        wrong = sum(sum(row) != group for row, group in zip(matrix, groups, strict=True))
        return full, wrong, -min((cell for row in matrix for cell in row if cell > 0), default=0)

    members = [
        [[twin.below(min(groups[i], rooms[j]) + 1) for j in range(m)] for i in range(n)] for _ in range(size)
    ]
    keys = [key(member) for member in members]
    for _ in range(count):
        one, other = twins.tournament(twin, keys, 2), twins.tournament(twin, keys, 2)
        p, q = sorted([twin.below(n + 1), twin.below(n + 1)])
        child = [list(members[other if p <= i < q else one][i]) for i in range(n)]
        if twin.uniform() < MUTATION:
            i, j, kind = twin.below(n), twin.below(m), twin.below(4)
            child[i][j] = [0, groups[i], groups[i], None][kind]
            if kind == 3:
                child[i][j] = twin.below(min(groups[i], rooms[j]) + 1)
        i, j = twin.below(n), twin.below(m)
        missing = groups[i] - sum(child[i])
        if missing > 0:
            child[i][j] += max(0, min(missing, rooms[j] - sum(row[j] for row in child)))
        elif missing < 0:
            child[i][j] = max(0, child[i][j] + missing)
        place = twins.steady_state(keys, key(child))
        if place >= 0:
            members[place], keys[place] = child, key(child)
    return members, keys


def _best_possible(groups, rooms):
    """The largest K of all ways to seat the groups, by trying them all."""
    rows = [[row for row in product(*(range(min(g, c) + 1) for c in rooms)) if sum(row) == g] for g in groups]
    fitting = (
        matrix
        for matrix in product(*rows)
        if all(sum(column) <= room for column, room in zip(zip(*matrix, strict=True), rooms, strict=True))
    )
    return max(min(cell for row in matrix for cell in row if cell > 0) for matrix in fitting)


@pytest.mark.parametrize("seed", range(5))
def test_compiled_and_slow_agree_in_every_member(seed):
    groups, rooms = [4, 4, 5, 2], [4, 2, 4, 3, 2]
    state, members, keys = _start(seed, groups, rooms, 15)
    generations(state, members, keys, np.array(groups), np.array(rooms), 400)
    slow_members, slow_keys = _slow(seed, groups, rooms, 15, 400)
    assert members.tolist() == slow_members
    assert [tuple(key) for key in keys.tolist()] == slow_keys


def test_750_000_generations_are_compiled_and_find_the_best():
    groups, rooms = np.array([3, 5, 2, 4]), np.array([5, 4, 5])
    state, members, keys = _start(1, groups, rooms, 500)
    generations(state, members.copy(), keys.copy(), groups, rooms, 1)
    state = Seeds(1).child("search").state()
    run = Budget(iterations=750_000).start()
    while chunk := run.chunk(20_000):
        generations(state, members, keys, groups, rooms, chunk)
        run.spend(chunk)
        run.report(tuple(keys[fittest(keys)].tolist()))
    assert generations.nopython_signatures
    assert (run.work, run.closing()["stopped_by"]) == (750_000, StopReason.ITERATIONS)
    assert run.value == (0, 0, -_best_possible(groups.tolist(), rooms.tolist()))


def test_the_course_does_not_depend_on_how_it_is_cut():
    groups, rooms = np.array([4, 4, 5, 2]), np.array([4, 2, 4, 3, 2])
    results = []
    for cut in ([3000], [1] * 10 + [990, 2000]):
        state, members, keys = _start(3, groups, rooms, 40)
        for count in cut:
            generations(state, members, keys, groups, rooms, count)
        results.append((members.tolist(), keys.tolist(), state.tolist()))
    assert results[0] == results[1]


def test_feasible_beats_infeasible_and_nobody_gets_worse():
    groups, rooms = np.array([4, 4, 5, 2]), np.array([4, 2, 4, 3, 2])
    state, members, keys = _start(4, groups, rooms, 40)
    before = sorted(map(tuple, keys.tolist()))
    for _ in range(20):
        generations(state, members, keys, groups, rooms, 200)
        after = sorted(map(tuple, keys.tolist()))
        assert all(new <= old for new, old in zip(after, before, strict=True))
        before = after
    assert before[0][:2] == (0, 0)
