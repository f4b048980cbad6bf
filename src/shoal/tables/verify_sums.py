"""Sums of hidden cells that a relation gives away, as the check of a pattern finds them: in whole numbers below a prime."""

from collections.abc import Iterator, Mapping

import numpy as np

from shoal.tables.model.table import Table
from shoal.tables.problem import Problem
from shoal.tables.verify_unknowns import hidden_cells, unknowns

# Changes of the unknowns are drawn from the numbers below this prime, so that nothing is lost by rounding.
_PRIME = 2**61 - 1


def sensitive_sums(problem: Problem, complementary: np.ndarray) -> int:
    """How many relations give away a sum of hidden cells that is sensitive itself."""
    if problem.sums is None:
        return 0
    hidden = hidden_cells(problem, complementary)
    known = _known_sums(problem.table, hidden, _any_change(problem.table, hidden))
    return len({relation for relation, cells in known if not problem.sums(cells)})


def _any_change(table: Table, hidden: np.ndarray) -> dict[int, int]:
    """How each hidden cell changes in a table drawn from all that keep the relations: 0 if it cannot change at all.

    The unknowns are eliminated one by one; those that are left over are drawn.
    """
    column, turn, rows = unknowns(table, hidden)
    solved: dict[int, dict[int, int]] = {}
    for row in sorted(rows, key=len):
        left = {unknown: _whole(value) for unknown, value in row.items()}
        while (pivot := next((unknown for unknown in left if unknown in solved), None)) is not None:
            factor = left[pivot]
            for unknown, value in solved[pivot].items():
                changed = (left.get(unknown, 0) - factor * value) % _PRIME
                if changed:
                    left[unknown] = changed
                else:
                    left.pop(unknown, None)
        if left:
            pivot = next(iter(left))
            scale = pow(left[pivot], -1, _PRIME)
            solved[pivot] = {unknown: value * scale % _PRIME for unknown, value in left.items()}
    drawn = np.random.default_rng(4_930_861).integers(1, _PRIME, int(column.max(initial=-1)) + 1)
    change = dict(enumerate(drawn.tolist()))
    for pivot, terms in reversed(solved.items()):
        change[pivot] = (
            -sum(value * change[other] for other, value in terms.items() if other != pivot) % _PRIME
        )
    return {
        cell: int(turn[cell]) * change[int(column[cell])] % _PRIME if column[cell] >= 0 else 0
        for cell in hidden.tolist()
    }


def _whole(value: float) -> int:
    above, below = float(value).as_integer_ratio()
    return above * pow(below, -1, _PRIME) % _PRIME


def _known_sums(
    table: Table, hidden: np.ndarray, change: Mapping[int, int]
) -> Iterator[tuple[int, np.ndarray]]:
    """Relations with hidden cells whose sum they give away: all of one sign, once what is known or cancels out is left out.

    Another cell that changes by the same amount, whatever happens, may stand for any one of them.
    """
    unknown = set(hidden.tolist())
    alike: dict[int, list[int]] = {}
    for cell in sorted(unknown):
        alike.setdefault(change[cell], []).append(cell)
    for relation in range(table.relations):
        pairs = zip(table.relation(relation).tolist(), table.signs_of(relation).tolist(), strict=True)
        terms = [(cell, sign) for cell, sign in pairs if cell in unknown and sign and change[cell]]
        together: dict[int, float] = {}
        for cell, sign in terms:
            amount = min(change[cell], _PRIME - change[cell])
            together[amount] = together.get(amount, 0.0) + (sign if amount == change[cell] else -sign)
        if {sign > 0 for _, sign in terms} == {True, False}:
            amounts = {amount for amount, total in together.items() if abs(total) > 1e-12}
            terms = [term for term in terms if {change[term[0]], _PRIME - change[term[0]]} & amounts]
        if len({sign > 0 for _, sign in terms}) != 1:
            continue
        cells = [cell for cell, _ in terms]
        yield relation, np.array(cells, dtype=np.int64)
        for place, cell in enumerate(cells):
            for other in alike[change[cell]]:
                if other not in cells:
                    yield relation, np.array([*cells[:place], other, *cells[place + 1 :]], dtype=np.int64)
