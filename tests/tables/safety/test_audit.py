"""Intervals by flows and by linear programmes are those of slow linear programmes; verdicts follow from them."""

from dataclasses import replace
from functools import partial

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components
from tests.tables.oracle import cube, hierarchy, interval, random_plane

from shoal.tables.model.table import Table
from shoal.tables.model.tabulation import tabulate
from shoal.tables.problem import Problem
from shoal.tables.safety.attackers_named import doubtful_if_bounded
from shoal.tables.safety.audit import audit, failing_insiders, hopeless, rise_and_fall
from shoal.tables.solution import Pattern
from shoal.tables.verify import unprotected, verify

NINE = [[10.0, 20.0, 30.0], [40.0, 50.0, 60.0], [70.0, 80.0, 90.0]]
STAR = [[100.0, 6.0, 6.0], [6.0, 6.0, 90.0], [6.0, 80.0, 6.0]]


@pytest.mark.parametrize(
    ("matrix", "hidden", "sensitive", "low", "high", "safe"),
    [
        (NINE, [(1, 1), (1, 2), (2, 1), (2, 2)], (2, 2), 40, 70, True),
        (NINE, [(2, 1), (2, 2), (3, 1), (3, 2)], (2, 2), 0, 90, True),
        (STAR, [(1, 1), (1, 2), (2, 1), (2, 2)], (1, 1), 94, 106, False),
        (STAR, [(1, 1), (1, 2), (1, 3), (2, 1), (2, 2), (3, 1), (3, 3)], (1, 1), 88, 112, True),
    ],
)
def test_hand_checked_vectors(matrix, hidden, sensitive, low, high, safe) -> None:
    table = Table.from_matrix(matrix)
    problem = Problem.of(table, [table.find(*map(str, sensitive))])
    others = np.array([table.find(*map(str, cell)) for cell in hidden if cell != sensitive])
    found = audit(problem, others)
    at = found.place[int(problem.sensitive[0])]
    assert (found.low[at], found.high[at], found.safe) == (low, high, safe)


def test_reaching_the_level_exactly_is_safe_and_a_lone_cell_never_is() -> None:
    table = Table.from_matrix([[50.0, 5.0, 90.0], [5.0, 5.0, 90.0], [80.0, 80.0, 80.0]])
    corner = table.find("1", "1")
    problem = Problem.of(table, [corner])
    others = np.array([table.find("1", "2"), table.find("2", "1"), table.find("2", "2")])
    assert audit(problem, others).safe
    loose = Problem.of(table, [corner], lower=[0.0], upper=[0.0])
    lone = audit(loose, np.array([table.find("1", "2")]))
    assert lone.unsafe.tolist() == [corner]


@settings(max_examples=200, deadline=None)
@given(st.integers(0, 10**9))
def test_flow_intervals_equal_linear_programmes(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows, columns = rng.integers(2, 6, 2)
    problem = random_plane(rng, int(rows), int(columns), 2)
    hidden = problem.is_sensitive | (problem.table.internal & (rng.random(problem.table.cells) < 0.6))
    rise, fall = rise_and_fall(problem, hidden, np.flatnonzero(hidden))
    cell = int(rng.choice(np.flatnonzero(hidden)))
    at = int(np.searchsorted(np.flatnonzero(hidden), cell))
    low, high = interval(problem, hidden, cell)
    value = problem.table.values[cell]
    assert value - fall[at] == pytest.approx(low, abs=1e-6)
    assert value + rise[at] == pytest.approx(high, abs=1e-6)


@pytest.mark.parametrize("make", [cube, hierarchy])
@pytest.mark.parametrize("seed", range(4))
def test_intervals_of_other_tables(make, seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem = make(rng)
    assert (problem.table.network is None) == (make is cube)
    hidden = problem.is_sensitive | (rng.random(problem.table.cells) < 0.4)
    cells = np.flatnonzero(hidden)[:6]
    rise, fall = rise_and_fall(problem, hidden, cells)
    for place, cell in enumerate(cells):
        low, high = interval(problem, hidden, int(cell))
        value = problem.table.values[cell]
        assert value - fall[place] == pytest.approx(low, abs=1e-5)
        assert value + rise[place] == pytest.approx(high, abs=1e-5)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**9))
def test_audit_and_verify_agree(seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem = random_plane(rng, 4, 4, 2, protection=0.2)
    table = problem.table
    known = (
        np.array([int(problem.sensitive[0])]),
        rng.choice(np.flatnonzero(table.internal), 2, replace=False),
    )
    problem = problem.with_changes(insiders=known)
    complementary = np.flatnonzero(problem.candidates & (rng.random(table.cells) < 0.6))
    found = audit(problem, complementary)
    failures = unprotected(problem, complementary)
    assert sorted({cell for cell, _, insider in failures if insider < 0}) == sorted(found.unsafe.tolist())
    inside = {(cell, insider) for cell, _, insider in failures if insider >= 0}
    # A cell an outsider can compute already is reported once; the insiders' list holds what goes beyond.
    assert inside == set(found.insider) or found.unsafe.size != 0
    pattern = Pattern(value=problem.total_cost(complementary), complementary=complementary)
    if failures:
        with pytest.raises(AssertionError):
            verify(problem, pattern)
    else:
        verify(problem, pattern)


def test_cells_disclosed_although_nobody_called_them_sensitive() -> None:
    table = Table.from_matrix(NINE)
    problem = Problem.of(table, [table.find("2", "2")])
    square = [table.find("1", "1"), table.find("1", "2"), table.find("2", "1")]
    lone = table.find("3", "3")
    found = audit(problem, np.array([*square, lone]))
    assert found.safe and found.disclosed.tolist() == [lone]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**9))
def test_bridges_are_the_cells_that_cannot_move(seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem = random_plane(rng, 4, 5, 1)
    network = problem.table.network
    hidden = problem.table.internal & (rng.random(problem.table.cells) < 0.4)
    cells = np.flatnonzero(hidden)
    rise, fall = rise_and_fall(problem, hidden, cells)
    for cell, width in zip(cells, rise + fall, strict=True):
        others = cells[cells != cell]
        links = coo_array(
            (np.ones(others.size), (network.tail[others], network.head[others])), (network.nodes,) * 2
        )
        _, part = connected_components(links, directed=False)
        assert (part[network.tail[cell]] != part[network.head[cell]]) == (width < 1e-9)


def test_the_insider_is_found() -> None:
    # Two firms alone in their cells: each subtracts its own figure from the sum the row gives away.
    table = Table.from_matrix([[30.0, 40.0, 5.0], [10.0, 20.0, 6.0], [7.0, 8.0, 9.0]])
    one, two = table.find("1", "1"), table.find("1", "2")
    below = [table.find("2", "1"), table.find("2", "2")]
    problem = Problem.of(table, [one, two], insiders=(np.array([one]), np.array([two])))
    hidden = problem.hidden_mask(np.array(below))
    assert sorted(failing_insiders(problem, hidden).cell.tolist()) == [one, one, two, two]
    wider = np.array([*below, table.find("1", "3"), table.find("2", "3")])
    assert audit(problem, wider).safe


def test_chains_of_subtotals_are_recognised_and_cubes_are_not() -> None:
    # A subtotal with a single part: which of its three relations follows from the others is not settled by counting.
    rng = np.random.default_rng(0)
    leaves = rng.integers(1, 50, (5, 3)).astype(float)
    tree = {"a": "n1", "b": "n1", "c": "n1", "n1": "n", "n": "", "d": "s", "e": "s", "s": ""}
    records = [
        {"row": code, "column": str(j), "v": leaves[i, j]} for i, code in enumerate("abcde") for j in range(3)
    ]
    made = tabulate(
        pl.DataFrame(records), ["row", "column"], value="v", hierarchies={"row": tree}, rules=["frequency(2)"]
    )
    bare = replace(made.table, basis=None)
    assert bare.network is not None
    problem = Problem.of(bare, np.flatnonzero(bare.internal)[:3], candidates=np.ones(bare.cells, dtype=bool))
    hidden = problem.is_sensitive | (rng.random(bare.cells) < 0.5)
    cells = np.flatnonzero(hidden)
    rise, fall = rise_and_fall(problem, hidden, cells)
    for place, cell in enumerate(cells):
        low, high = interval(problem, hidden, int(cell))
        assert bare.values[cell] - fall[place] == pytest.approx(low, abs=1e-6)
        assert bare.values[cell] + rise[place] == pytest.approx(high, abs=1e-6)
    assert cube(rng).table.network is None


def test_what_cannot_be_protected_is_named() -> None:
    table = Table.from_matrix([[5.0, 0.0, 0.0], [0.0, 7.0, 8.0], [0.0, 9.0, 4.0]])
    lonely = table.find("1", "1")
    problem = Problem.of(table, [lonely], candidates=table.internal & (table.values > 0))
    assert hopeless(problem).tolist() == [lonely]


def test_insiders_are_found_where_an_outsider_sees_no_limit() -> None:
    # All totals are hidden too, so cells can rise for ever; whoever knows the other cells of a line is not so ignorant.
    failed = 0
    for seed in range(6):
        rng = np.random.default_rng(seed)
        problem = cube(rng)
        table = problem.table
        cell = int(problem.sensitive[0])
        line = next(
            table.relation(place) for place in range(table.relations) if cell in table.relation(place)
        )
        known = np.setdiff1d(line, [cell, *problem.sensitive[1:]])
        others = np.setdiff1d(np.arange(table.cells), problem.sensitive)
        problem = problem.with_changes(candidates=np.ones(table.cells, dtype=bool), insiders=(known,))
        found = audit(problem, others)
        assert found.unsafe.size == 0 and np.isinf(found.high).any()
        broken = failing_insiders(problem, problem.hidden_mask(others))
        failures = unprotected(problem, others)
        assert sorted(zip(broken.cell, broken.kind, broken.scenario, strict=True)) == sorted(failures)
        failed += len(failures)
    assert failed


@pytest.mark.parametrize("make", [cube, hierarchy, partial(random_plane, rows=5, columns=4, sensitive=3)])
def test_cells_that_bounds_would_give_away_are_those_of_a_whole_audit(make) -> None:
    """Asking only whether levels are met counts the same cells as all intervals do, in any unit."""
    counts = set()
    for seed in range(12):
        rng = np.random.default_rng(seed)
        problem = make(rng)
        hidden = np.flatnonzero(problem.candidates & (rng.random(problem.table.cells) < 0.45))
        values = problem.table.values
        narrow = problem.with_changes(high=np.maximum(2.0 * np.abs(values), values), insiders=())
        found = doubtful_if_bounded(problem, hidden)
        assert found == audit(narrow, hidden, all_cells=False).unsafe.size
        tiny = problem.with_changes(
            table=replace(problem.table, values=1e-9 * values),
            **{name: 1e-9 * getattr(problem, name) for name in ("lower", "upper", "sliding", "low", "high")},
        )
        assert doubtful_if_bounded(tiny, hidden) == found
        counts.add(found)
    assert len(counts) > 1
