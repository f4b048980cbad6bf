"""Mended answers meet every inequality that can be met, and little else of them changes."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shoal.runtime import Budget, silent
from shoal.tables.exact import mending
from shoal.tables.exact.inequalities import Inequalities
from shoal.tables.exact.mending import KnownRows
from shoal.tables.model.sparse_rows import SparseRows
from shoal.tables.model.table import Table
from shoal.tables.problem import Problem

CELLS = 16


def problem(costs: list[int]) -> Problem:
    table = Table.from_matrix(np.arange(1.0, CELLS + 1).reshape(4, 4))
    cost = np.ones(table.cells)
    inside = np.flatnonzero(table.internal)
    cost[inside[: len(costs)]] = costs
    return Problem.of(table, inside[:1], lower=np.ones(1), upper=np.ones(1), cost=cost)


@st.composite
def instances(draw: st.DrawFn) -> tuple[list[int], list[tuple[list[int], list[float], float]], list[int]]:
    """Costs, inequalities over fifteen cells (some against bridges), and the cells chosen at first."""
    costs = draw(st.lists(st.integers(1, 9), min_size=16, max_size=16))
    rows = []
    for _ in range(draw(st.integers(1, 12))):
        cells = draw(st.lists(st.integers(0, 14), min_size=1, max_size=6, unique=True))
        if len(cells) > 1 and draw(st.booleans()):
            rows.append((cells, [-1.0] + [1.0] * (len(cells) - 1), 0.0))
        else:
            values = [draw(st.sampled_from([0.25, 0.5, 1.0])) for _ in cells]
            rows.append((cells, values, min(1.0, sum(values))))
    return costs, rows, draw(st.lists(st.integers(0, 14), max_size=6, unique=True))


def known(costs: list[int], rows: list[tuple[list[int], list[float], float]]) -> KnownRows:
    asked = problem(costs)
    columns = np.flatnonzero(asked.candidates)
    made = KnownRows(asked, columns)
    given_ = Inequalities()
    for number, (cells, values, rhs) in enumerate(rows):
        given_.add(number, columns[cells].astype(np.int32), np.array(values), rhs)
    made.add(given_)
    return made


def lacking(rows: list[tuple[list[int], list[float], float]], chosen: set[int]) -> list[float]:
    return [
        rhs - sum(value for cell, value in zip(cells, values, strict=True) if cell in chosen)
        for cells, values, rhs in rows
    ]


def plain_cover(
    rows: list[tuple[list[int], list[float], float]], price: np.ndarray, start: list[int]
) -> set[int]:
    """The slow twin: the same choices, all that rows lack computed anew each time."""
    chosen = set(start)
    while True:
        short = lacking(rows, chosen)
        score: dict[int, float] = {}
        for (cells, values, _), left in zip(rows, short, strict=True):
            for cell, value in zip(cells, values, strict=True):
                if left > 1e-7 and cell not in chosen and value > 0:
                    score[cell] = score.get(cell, 0.0) + min(value, left)
        if not score:
            break
        best = max(score[cell] / price[cell] for cell in score)
        taken: set[int] = set()
        for least in (best, 0.6 * best):
            for cell in score:
                mine = {number for number, row in enumerate(rows) if cell in row[0]}
                if cell not in chosen and score[cell] / price[cell] >= least and not mine & taken:
                    chosen.add(cell)
                    taken |= mine
    for cell in np.argsort(-price, kind="stable").tolist():
        if cell in chosen:
            fewer = lacking(rows, chosen - {cell})
            if all(
                left <= 1e-7
                for left, row in zip(fewer, rows, strict=True)
                if cell in row[0] and row[1][row[0].index(cell)] > 0
            ):
                chosen.remove(cell)
    return chosen


@given(instances())
def test_covering_at_once_does_what_its_slow_twin_does(
    instance: tuple[list[int], list[tuple[list[int], list[float], float]], list[int]],
) -> None:
    costs, rows, start = instance
    made = known(costs, rows)
    # Distinct prices: which of equal ones comes first is not promised.
    x = np.zeros(made.problem.table.cells)
    x[made.columns] = np.linspace(0.0, 0.5, made.columns.size) ** 1.3
    found = made.covered(made.columns[start], x)
    price = made.problem.cost[made.columns] * (1.05 - x[made.columns]) + 1e-9
    assert set(np.searchsorted(made.columns, found).tolist()) == plain_cover(rows, price, start)


@given(instances())
def test_what_is_mended_meets_all_that_everything_would_meet(
    instance: tuple[list[int], list[tuple[list[int], list[float], float]], list[int]],
) -> None:
    costs, rows, start = instance
    made = known(costs, rows)
    found = made.mended(made.columns[start], Budget().start(silent))
    if found is None:
        # Cells further away are needed, or nothing helps.
        return
    chosen = set(np.searchsorted(made.columns, found).tolist())
    assert max(lacking(rows, chosen)) <= 1e-6
    if max(lacking(rows, set(start))) <= 1e-7:
        assert chosen == set(start)


@given(instances())
def test_parts_share_no_row(
    instance: tuple[list[int], list[tuple[list[int], list[float], float]], list[int]],
) -> None:
    _, rows, start = instance
    starts = np.cumsum([0, *(len(cells) for cells, _, _ in rows)])
    matrix = SparseRows(starts, np.concatenate([cells for cells, _, _ in rows]), np.ones(starts[-1]), 15)
    free = np.ones(15, dtype=bool)
    free[start] = False
    parts = mending._parts(matrix, free)
    assert sorted(cell for part in parts for cell in part.tolist()) == sorted(
        {cell for cells, _, _ in rows for cell in cells if free[cell]}
    )
    for cells, _, _ in rows:
        mine = {cell for cell in cells if free[cell]}
        assert sum(bool(mine & set(part.tolist())) for part in parts) <= 1
