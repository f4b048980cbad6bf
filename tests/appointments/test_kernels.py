"""Compiled kernels against slow and obvious twins."""

from itertools import product

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_flow
from tests.appointments.oracle import random_general, random_plain

from shoal.anonymity.vector import AnonymityVector
from shoal.appointments.from_papers import genetic_kernels
from shoal.appointments.from_papers.branch_and_bound import nodes, rows_of
from shoal.appointments.problem import Problem
from shoal.appointments.solvers import fill_kernels, filling
from shoal.appointments.solvers.annealing import Annealer, AnnealingOptions
from shoal.appointments.solvers.annealing_kernels import more_anonymous, sorted_cells, sorted_in_kernels
from shoal.runtime import Seeds

sizes_and_caps = st.tuples(
    st.lists(st.integers(1, 6), min_size=1, max_size=4), st.lists(st.integers(1, 6), min_size=1, max_size=4)
)


@settings(max_examples=150, deadline=None)
@given(st.integers(1, 8), st.lists(st.integers(0, 5), min_size=1, max_size=4), st.integers(0, 3))
def test_rows_are_all_rows_in_falling_order(total, caps, beat):
    every = [
        list(row)
        for row in product(*(range(cap, -1, -1) for cap in caps))
        if sum(row) == total and all(x == 0 or x > beat for x in row)
    ]
    assert rows_of(total, np.array(caps), beat) == every


def slow_search(sizes, caps, bound):
    """The published search with its set of prefixes, as printed."""
    explored, best = set(), [-2]

    def smallest(rows):
        found = [x for row in rows for x in row if x > 0]
        return min(found) if found else -1

    def next_row(prefix, total, room):
        if prefix and smallest(prefix) <= best[0]:
            return None
        for row in rows_of(total, np.array(room), max(best[0], 0)):
            if (*prefix, tuple(row)) not in explored:
                return tuple(row)
        return None

    def search(prefix):
        if best[0] >= bound:
            return
        if len(prefix) == len(sizes):
            best[0] = max(best[0], smallest(prefix))
            return
        while best[0] < bound:
            room = [cap - sum(row[j] for row in prefix) for j, cap in enumerate(caps)]
            row = next_row(prefix, sizes[len(prefix)], room)
            if row is None:
                explored.add(prefix)
                break
            explored.add((*prefix, row))
            search((*prefix, row))

    search(())
    return best[0], len(explored)


@settings(max_examples=60, deadline=None)
@given(sizes_and_caps)
def test_the_resumable_search_visits_the_nodes_of_the_published_one(pair):
    sizes, caps = pair
    if sum(sizes) > sum(caps) or len(caps) ** sum(sizes) > 3**9:
        return
    problem = Problem(sizes, caps)
    for bound in ("published", "safe"):
        stop, k, count = nodes(problem, bound=bound)
        slow_k, explored = slow_search(sizes, caps, stop)
        assert k == slow_k
        # A finished prefix is entered when it is pushed and again when it is exhausted, so the set counts it once; only the
        # root is never pushed.
        assert count == explored


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 10_000))
def test_augmenting_paths_seat_as_many_as_a_maximum_flow(seed):
    generator = np.random.default_rng(seed)
    rows, slots = generator.integers(1, 6, 2)
    sizes, capacities = generator.integers(1, 6, rows), generator.integers(0, 6, slots)
    eligible = generator.random((rows, slots)) < 0.5
    matrix = np.zeros((rows, slots), np.int64)
    missing = fill_kernels.complete(matrix, sizes, capacities, eligible)
    graph = np.zeros((rows + slots + 2, rows + slots + 2), np.int32)
    graph[0, 1 : rows + 1] = sizes
    graph[1 : rows + 1, rows + 1 : -1] = np.where(eligible, 100, 0)
    graph[rows + 1 : -1, -1] = capacities
    flow = maximum_flow(csr_array(graph), 0, rows + slots + 1).flow_value
    assert sizes.sum() - missing == flow == matrix.sum()
    assert (matrix.sum(axis=0) <= capacities).all()
    assert not matrix[~eligible].any()


@settings(max_examples=100, deadline=None)
@given(st.lists(st.lists(st.integers(0, 7), min_size=3, max_size=3), min_size=2, max_size=2), sizes_and_caps)
def test_judgement_equals_its_slow_twin(rows, pair):
    sizes, caps = (np.array((numbers * 3)[:n]) for numbers, n in zip(pair, (2, 3), strict=True))
    key = np.zeros(3, np.int64)
    genetic_kernels.judge(np.array(rows), sizes, caps, key)
    full = sum(sum(row[j] for row in rows) > caps[j] for j in range(3))
    wrong = sum(sum(row) != size for row, size in zip(rows, sizes, strict=True))
    pieces = [x for row in rows for x in row if x]
    assert key.tolist() == [full, wrong, -min(pieces, default=0)]


@settings(max_examples=100, deadline=None)
@given(st.lists(st.integers(1, 9), min_size=1, max_size=6), st.randoms())
def test_order_of_sorted_cells_is_the_order_of_vectors(cells, random):
    # Another split of the same people.
    total = sum(cells)
    other = []
    while sum(other) < total:
        other.append(random.randint(1, total - sum(other)))
    one, two = np.sort(np.array(cells)), np.sort(np.array(other))
    better = AnonymityVector.from_sizes(one) < AnonymityVector.from_sizes(two)
    assert bool(more_anonymous(one, two)) is better


def test_annealing_keeps_its_books():
    for seed in range(60):
        generator = np.random.default_rng(seed)
        make = random_plain if seed % 2 else random_general
        problem = make(generator, objective="vector")
        start = filling.greedy(problem)
        target = 0 if seed % 3 else int(generator.integers(1, 4))
        annealer = Annealer(
            problem, start, AnnealingOptions(schedule=3000), Seeds(seed).state(), target=target, tau=1.0
        )
        while not annealer.done:
            annealer.steps(int(generator.integers(1, 700)))
            for matrix in (annealer.seating.matrix, annealer.best):
                assert (matrix >= 0).all()
                assert (matrix.sum(axis=1) == problem.sizes).all()
                assert (matrix.sum(axis=0) <= problem.capacities).all()
                assert not matrix[~problem.eligible].any()
            assert (annealer.seating.cells == problem.cells(annealer.seating.matrix)).all()
            assert (annealer.seating.room == problem.capacities - annealer.seating.matrix.sum(axis=0)).all()
            number = int((annealer.seating.matrix > 0).sum())
            assert (
                sorted(annealer.seating.occupied[:number].tolist())
                == np.flatnonzero(annealer.seating.matrix).tolist()
            )
        before, after = (sorted_cells(problem.cells(matrix)) for matrix in (start, annealer.best))
        if target == 0:
            assert not more_anonymous(before, after)
        elif annealer.improved:
            assert after[0] >= target


def test_annealing_in_chunks_of_any_size_is_the_same():
    problem = Problem([9, 7, 5, 8], [6, 8, 7, 5, 6], "vector")
    found = []
    for chunk in (1, 7, 500):
        annealer = Annealer(
            problem, filling.greedy(problem), AnnealingOptions(schedule=2000), Seeds(1).state(), tau=1.0
        )
        while not annealer.done:
            annealer.steps(chunk)
        found.append((annealer.best.tobytes(), annealer.seating.matrix.tobytes()))
    assert len(set(found)) == 1


@given(st.integers(0, 2**32 - 1), st.integers(1, 40), st.integers(1, 40), st.integers(1, 50))
def test_kernels_sort_cells_as_numpy_does(seed, crowds, slots, most):
    cells = np.random.default_rng(seed).integers(0, most, (crowds, slots))
    assert sorted_in_kernels(cells).tolist() == sorted_cells(cells).tolist()
