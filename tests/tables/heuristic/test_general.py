"""General tables: what moves together, the kernels against obvious twins, and safe patterns at every turn."""

import heapq

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import null_space
from scipy.sparse import csr_matrix
from tests.tables.oracle import cube, optimum

from shoal.runtime import Budget, Control, Seeds, silent
from shoal.tables.heuristic.general import LpHeuristic
from shoal.tables.heuristic.neighbourhood import Incidence, around, nearest, submatrix
from shoal.tables.methods import METHODS
from shoal.tables.model.reduction import reduce, ties
from shoal.tables.problem import Problem
from shoal.tables.safety.audit import audit, failing, failing_insiders
from shoal.tables.verify import unprotected, verify


def sparse_cube(seed: int, size: int = 3, sensitive: int = 2) -> Problem:
    """A cube of which most cells may not be hidden, totals included, so that many cells are tied."""
    rng = np.random.default_rng(seed)
    problem = cube(rng, size, sensitive)
    return problem.with_changes(candidates=rng.random(problem.table.cells) < 0.55)


@settings(max_examples=80, deadline=None)
@given(st.integers(0, 10**9))
def test_tied_cells_move_together_in_every_change(seed: int) -> None:
    problem = sparse_cube(seed)
    movable = problem.candidates | problem.is_sensitive
    cells = np.flatnonzero(movable)
    found = ties(problem.table.rows, movable)
    changes = null_space(problem.table.matrix.toarray()[:, cells])
    whole = np.zeros((movable.size, changes.shape[1]))
    whole[cells] = changes
    assert np.abs(whole[movable & (found.group < 0)]).max(initial=0.0) < 1e-9
    groups = np.zeros((found.groups, changes.shape[1]))
    for cell in np.flatnonzero(found.group >= 0):
        groups[found.group[cell]] = found.sign[cell] * whole[cell]
    for cell in np.flatnonzero(found.group >= 0):
        assert np.abs(whole[cell] - found.sign[cell] * groups[found.group[cell]]).max(initial=0.0) < 1e-9
    # The small relations allow no more than the large ones.
    rows = found.matrix
    small = csr_matrix((rows.data, rows.indices, rows.indptr), shape=rows.shape).toarray()
    assert null_space(small).shape[1] == changes.shape[1] or found.groups == 0


@pytest.mark.parametrize("seed", range(12))
def test_the_smaller_problem_has_the_same_optimum(seed: int) -> None:
    problem = sparse_cube(seed)
    best = optimum(problem)
    small = reduce(problem)
    if small is None or not np.isfinite(best):
        return
    assert small.problem.size < problem.size
    assert optimum(small.problem) + small.constant == pytest.approx(best)
    found = METHODS["exact"].solve(problem, None, budget=Budget(), seeds=Seeds(0), observer=silent)
    verify(problem, found)
    assert found.optimal and found.value == pytest.approx(best)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**9))
def test_kernels_equal_their_twins(seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem = cube(rng)
    table = problem.table
    dense = table.matrix.toarray() != 0
    incidence = Incidence.of(table)
    step = np.where(rng.random(table.cells) < 0.7, rng.uniform(0.5, 3.0, table.cells), np.inf)
    cell, limit = int(rng.integers(table.cells)), int(rng.integers(1, 40))
    work = np.full(table.cells, np.inf), np.zeros(table.relations, dtype=bool)
    found, whole = nearest(incidence, cell, step, limit, *work)
    assert np.isinf(work[0]).all() and not work[1].any()
    distance = {cell: 0.0}
    done: list[int] = []
    heap = [(0.0, cell)]
    while heap:
        far, here = heapq.heappop(heap)
        if here in done:
            continue
        done.append(here)
        for other in np.flatnonzero(dense[dense[:, here]].any(axis=0) & np.isfinite(step)):
            if far + step[other] < distance.get(int(other), np.inf):
                distance[int(other)] = far + step[other]
                heapq.heappush(heap, (distance[int(other)], int(other)))
    assert sorted(distance[c] for c in found) == pytest.approx(sorted(distance[c] for c in done[:limit]))
    assert whole == (len(done) <= limit)

    chosen = np.sort(found)
    places, starts, rows, values, count = submatrix(incidence, chosen, np.full(table.relations, -1))
    kept = set(chosen.tolist())
    while True:
        alone = [r for r in range(table.relations) if sum(dense[r, c] for c in kept) == 1]
        if not alone:
            break
        kept -= {c for c in kept if dense[alone[0], c]}
    assert chosen[places].tolist() == sorted(kept)
    assert count == sum(any(dense[r, c] for c in kept) for r in range(table.relations))
    local = np.zeros((count, len(kept)))
    for column in range(len(kept)):
        part = slice(starts[column], starts[column + 1])
        local[rows[part], column] = values[part]
    expected = table.matrix.toarray()[:, sorted(kept)]
    expected = expected[(expected != 0).any(axis=1)]
    assert sorted(map(tuple, local)) == sorted(map(tuple, expected))

    open_ = rng.random(table.cells) < 0.4
    relations, cells, row_starts, columns, row_values, complete = around(
        incidence, cell, open_, 10**4, np.full(table.cells, -1), np.zeros(table.relations, dtype=bool)
    )
    reach = {cell}
    while True:
        near = set(np.flatnonzero(dense[dense[:, sorted(reach)].any(axis=1)].any(axis=0) & open_).tolist())
        if near <= reach:
            break
        reach |= near
    assert complete and set(cells.tolist()) == reach
    assert set(relations.tolist()) == set(np.flatnonzero(dense[:, sorted(reach)].any(axis=1)).tolist())
    rebuilt = np.zeros((relations.size, cells.size))
    for row in range(relations.size):
        part = slice(row_starts[row], row_starts[row + 1])
        rebuilt[row, columns[part]] = row_values[part]
    assert (rebuilt == table.matrix.toarray()[np.ix_(relations, cells)]).all()


@pytest.mark.parametrize("kind", ["plain", "sliding", "insiders", "bounded"])
@pytest.mark.parametrize("seed", range(3))
def test_patterns_are_safe_and_improvement_keeps_them_so(kind: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem = cube(rng, 5, 8)
    if kind == "sliding":
        problem = problem.with_changes(sliding=0.6 * problem.table.values[problem.sensitive])
    if kind == "insiders":
        problem = problem.with_changes(insiders=tuple(np.array([cell]) for cell in problem.sensitive[:5]))
    if kind == "bounded":
        problem = problem.with_changes(high=1.5 * problem.table.values + 1.0)
    found = METHODS["general"].solve(problem, None, budget=Budget(), seeds=Seeds(0), observer=silent)
    verify(problem, found)
    assert audit(problem, found.complementary).safe
    heuristic = LpHeuristic(problem)
    first = heuristic.build(Seeds(0).state())
    assert first is not None
    seen: list[np.ndarray] = []
    run = Budget(iterations=60).start()
    better = heuristic.improve(first, 60, Seeds(1), run, seen.append)
    assert problem.total_cost(better) <= problem.total_cost(first)
    for pattern in (*seen, better):
        assert audit(problem, pattern).safe


def test_a_cancelled_search_of_a_general_table_still_returns_a_safe_pattern() -> None:
    problem = cube(np.random.default_rng(3), 6, 12)
    control = Control()
    control.cancel()
    found = METHODS["auto"].solve(
        problem, None, budget=Budget(control=control), seeds=Seeds(0), observer=silent
    )
    verify(problem, found)
    assert found.stopped_by == "interrupt" and not found.optimal
    # Nothing was proved, and that is said: a bound of 0 would look like one.
    assert found.bound is None


@pytest.mark.parametrize("seed", range(25))
def test_what_insiders_break_is_what_the_independent_check_finds(seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem = cube(rng, 4, 6)
    known = (
        *(np.array([cell]) for cell in problem.sensitive),
        rng.choice(problem.table.cells, 3, replace=False),
    )
    sliding = 0.7 * problem.table.values[problem.sensitive] * (seed % 3 == 0)
    problem = problem.with_changes(insiders=known, sliding=sliding)
    share = 0.55 + 0.3 * rng.random()
    complementary = np.flatnonzero(problem.candidates & (rng.random(problem.table.cells) < share))
    hidden = problem.hidden_mask(complementary)
    if failing(problem, hidden, problem.requirements).size:
        return
    found = failing_insiders(problem, hidden)
    broken = set(zip(found.cell.tolist(), found.kind.tolist(), found.scenario.tolist(), strict=True))
    assert broken == {entry for entry in unprotected(problem, complementary) if entry[2] >= 0}
