"""The unit of a table changes nothing, and what is short of its need is not safe, however large the figures are."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tables.oracle import cube

from shoal.errors import Infeasible, InputError
from shoal.tables.api import audit, suppress
from shoal.tables.problem import Problem
from shoal.tables.safety.audit import audit as audit_pattern
from shoal.tables.verify import unprotected

SQUARE = [("1", "1"), ("1", "2"), ("2", "1"), ("2", "2")]


def times(problem: Problem, factor: float) -> Problem:
    """The same table in another unit."""
    return problem.with_changes(
        table=replace(problem.table, values=problem.table.values * factor),
        lower=problem.lower * factor,
        upper=problem.upper * factor,
        cost=problem.cost * factor,
        low=problem.low * factor,
        high=problem.high * factor,
    )


@pytest.mark.parametrize("factor", [1e-9, 1e-6, 1e-3, 1e3, 1e6, 1e9])
def test_the_unit_changes_neither_pattern_nor_verdict(factor: float) -> None:
    matrix = np.random.default_rng(1).integers(1, 1000, (6, 6)).astype(float)
    cells = [("1", "1"), ("3", "4", 0, 0), ("5", "2"), ("6", "6")]
    plain, other = suppress(matrix, sensitive=cells), suppress(matrix * factor, sensitive=cells)
    assert other.complementary.tolist() == plain.complementary.tolist()
    assert other.cost == pytest.approx(plain.cost * factor) and other.bound == pytest.approx(other.cost)
    assert other.solution.optimal and other.audit.smallest_margin == pytest.approx(
        plain.audit.smallest_margin
    )
    alone = [cell[:2] for cell in cells]
    assert audit(matrix * factor, alone, sensitive=alone).unsafe.size == 4


@pytest.mark.parametrize("factor", [1e-9, 1e9])
def test_the_unit_changes_nothing_in_general_tables(factor: float) -> None:
    for seed in range(3):
        problem = cube(np.random.default_rng(seed))
        rng = np.random.default_rng(seed)
        hidden = np.flatnonzero(problem.candidates & (rng.random(problem.table.cells) < 0.5))
        plain, other = audit_pattern(problem, hidden), audit_pattern(times(problem, factor), hidden)
        assert other.unsafe.tolist() == plain.unsafe.tolist()
        assert other.disclosed.tolist() == plain.disclosed.tolist()
        assert other.high / factor == pytest.approx(plain.high) and other.low / factor == pytest.approx(
            plain.low
        )
        assert unprotected(times(problem, factor), hidden) == unprotected(problem, hidden)


def test_a_narrow_interval_of_a_large_cell_is_not_safe() -> None:
    matrix = np.array([[1e9, 26.0, 5.0], [26.0, 1e9, 7.0], [3.0, 4.0, 8.0]])
    assert not audit(matrix, SQUARE, sensitive=[("1", "1", 0, 50)]).safe
    assert not audit(matrix, SQUARE, sensitive=[("1", "1", 0, 26.001)]).safe
    assert audit(matrix, SQUARE, sensitive=[("1", "1", 0, 26)]).safe


def test_a_level_of_nothing_asks_for_no_more_than_an_interval() -> None:
    matrix = np.array([[2e6, 4.0, 5.0], [3.0, 9.0, 7.0], [3.0, 4.0, 8.0]])
    found = audit(matrix, SQUARE, sensitive=[("1", "1", 0, 0)])
    assert found.safe and found.high[0] - found.low[0] == 12.0
    assert suppress(matrix, sensitive=[("1", "1", 0, 0)]).cost == 11.0


def test_levels_lost_in_rounding_are_refused() -> None:
    matrix = np.array([[1e-9, 2e-9, 5.0], [3e-9, 1e-9, 7.0], [3.0, 4.0, 1e9]])
    with pytest.raises(InputError, match="orders of magnitude"):
        suppress(matrix, sensitive=[("1", "1")])


def reach(
    hidden: list[tuple[int, int]], values: list[list[float]], cell: tuple[int, int], rising: bool
) -> Fraction:
    """How far a cell can move, in whole arithmetic: the largest flow through the other hidden cells."""
    room = {}
    for i, j in hidden:
        room["r", i, "c", j], room["c", j, "r", i] = None, Fraction(values[i][j])
    i, j = cell
    own = room.pop(("r", i, "c", j)), room.pop(("c", j, "r", i))
    source, sink = (("c", j), ("r", i)) if rising else (("r", i), ("c", j))
    limit, sent = (None if rising else own[1]), Fraction(0)
    while True:
        before: dict = {source: None}
        queue = [source]
        while queue and sink not in before:
            node = queue.pop(0)
            for (a, b, c, d), left in room.items():
                if (a, b) == node and (c, d) not in before and (left is None or left > 0):
                    before[c, d] = node
                    queue.append((c, d))
        if sink not in before:
            return sent
        path, node = [], sink
        while before[node] is not None:
            path.append((*before[node], *node))
            node = before[node]
        lefts = [room[arc] for arc in path if room[arc] is not None]
        if limit is not None:
            lefts.append(limit - sent)
        amount = min(lefts)
        if amount == 0:
            return sent
        for arc in path:
            back = (*arc[2:], *arc[:2])
            room[arc] = None if room[arc] is None else room[arc] - amount
            room[back] = None if room[back] is None else room[back] + amount
        sent += amount


@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 10**9),
    st.sampled_from([(0, 6), (-2, 9), (0, 12)]),
    st.sampled_from(["auto", "general", "shortest-path", "hypercube"]),
)
def test_patterns_of_wide_tables_are_safe_in_whole_arithmetic(
    seed: int, span: tuple[int, int], method: str
) -> None:
    rng = np.random.default_rng(seed)
    rows, columns = rng.integers(3, 6, 2)
    values = np.round(10.0 ** rng.uniform(*span, (rows, columns)), 2)
    cells = [(int(i), int(j)) for i in range(rows) for j in range(columns)]
    chosen = [cells[place] for place in rng.choice(len(cells), int(rng.integers(1, 4)), replace=False)]
    levels = [(str(i + 1), str(j + 1)) for i, j in chosen]
    try:
        found = suppress(values, sensitive=levels, method=method, iterations=200)
    except Infeasible:
        hidden = cells
    else:
        hidden = [
            divmod(int(c), int(columns) + 1)
            for c in np.flatnonzero(found.problem.hidden_mask(found.complementary))
        ]
    shares = [
        reach(hidden, values.tolist(), cell, rising) / (Fraction(1, 10) * Fraction(values[cell]))
        for cell in chosen
        for rising in (True, False)
    ]
    assert (min(shares) >= 1 - Fraction(1, 10**6)) == (hidden is not cells)
