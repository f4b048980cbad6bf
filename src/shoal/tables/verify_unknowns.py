"""What somebody does not know of a table: a part of the check of a pattern, which shares nothing with what makes patterns."""

import numpy as np

from shoal.tables.model.table import Table
from shoal.tables.problem import Problem


def hidden_cells(problem: Problem, complementary: np.ndarray) -> np.ndarray:
    """All cells that are hidden, in order."""
    both = np.sort(np.concatenate([problem.sensitive, complementary])).astype(np.int64)
    return both[np.diff(both, prepend=-1) != 0]


def unknowns(table: Table, hidden: np.ndarray) -> tuple[np.ndarray, np.ndarray, list[dict[int, float]]]:
    """Which unknown each hidden cell is, whether it is turned round, and the relations between the unknowns."""
    is_hidden = np.zeros(table.cells, dtype=bool)
    is_hidden[hidden] = True
    # What a cell equals: itself, or plus or minus another; cells that are known have no root.
    root: dict[int, tuple[int, float]] = {int(cell): (int(cell), 1.0) for cell in hidden}
    known: set[int] = set()

    def resolve(cell: int) -> tuple[int, float]:
        sign, path = 1.0, []
        while root[cell][0] != cell:
            path.append((cell, sign))
            sign *= root[cell][1]
            cell = root[cell][0]
        for earlier, before in path:
            root[earlier] = (cell, sign * before)
        return cell, sign

    pending = [
        [(int(cell), float(value)) for cell, value in zip(cells, signs, strict=True) if is_hidden[cell]]
        for cells, signs in (
            (table.relation(place), table.signs_of(place))
            for place in range(table.relations)
            if is_hidden[table.relation(place)].any()
        )
    ]
    found: list[dict[int, float]] = []
    changed = True
    while changed:
        changed = False
        found = []
        for entries in pending:
            row: dict[int, float] = {}
            for cell, value in entries:
                top, sign = resolve(cell)
                if top not in known:
                    row[top] = row.get(top, 0.0) + sign * value
            row = {cell: value for cell, value in row.items() if value != 0.0}
            if len(row) == 1:
                known.update(row)
                changed = True
            elif len(row) == 2 and len({abs(value) for value in row.values()}) == 1:
                (one, a), (two, b) = row.items()
                root[two] = (one, -a / b)
                changed = True
            elif row:
                found.append(row)
    column = np.full(table.cells, -1, dtype=np.int64)
    turn = np.ones(table.cells)
    number: dict[int, int] = {}
    for cell in hidden.tolist():
        top, sign = resolve(cell)
        if top not in known:
            column[cell] = number.setdefault(top, len(number))
            turn[cell] = sign
    distinct = {tuple(sorted((number[cell], value) for cell, value in row.items())): None for row in found}
    return column, turn, [dict(row) for row in distinct]
