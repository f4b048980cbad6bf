"""Sums of hidden cells that a relation gives away, judged by the rules as if they were cells.

What can be computed is not hidden for a sum: a cell that the other relations give back drops out of it, cells that can only
move together cancel out, and one stands for another that moves as it does. All this is read off one change of the
hidden cells that keeps every relation and is random otherwise: known cells stay where they are, tied ones move alike.
"""

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from shoal.runtime.linear_programmes import programme, quiet_highs
from shoal.tables.model.network import Network
from shoal.tables.problem import Problem

# What differs by less than this in a random change is the same but for rounding.
_SAME = 1e-7


@dataclass(frozen=True, eq=False)
class KnownSum:
    """Cells whose sum a relation gives away; ``plain`` if they are all that is hidden of that relation."""

    relation: int
    cells: np.ndarray
    plain: bool


def movement(problem: Problem, hidden: np.ndarray) -> np.ndarray:
    """For each cell a number that says how it moves: 0 if it is known, equal for cells that move alike.

    Cells that move in opposite ways have opposite numbers. They are names of a kind, no amounts.
    """
    network = problem.table.network
    cells = np.flatnonzero(hidden)
    found = np.zeros(hidden.size, dtype=np.int64)
    if cells.size:
        found[cells] = _around(network, cells) if network is not None else _projected(problem, cells)
    return found


def _around(network: Network, cells: np.ndarray) -> np.ndarray:
    """A random circulation of the hidden arcs: arbitrary outside a spanning forest, balanced along it.

    Numbers are whole and wrap around, so that what balances does so exactly.
    """
    tails, heads = network.tail[cells].tolist(), network.head[cells].tolist()
    beside: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for place, (tail, head) in enumerate(zip(tails, heads, strict=True)):
        beside[tail].append((place, head))
        beside[head].append((place, tail))
    order: list[tuple[int, int]] = []
    seen: set[int] = set()
    for root in beside:
        queue = [] if root in seen else [(root, -1)]
        seen.add(root)
        while queue:
            node, arc = queue.pop()
            order.append((node, arc))
            for place, other in beside[node]:
                if other not in seen:
                    seen.add(other)
                    queue.append((other, place))
    whole = np.iinfo(np.int64)
    drawn = np.random.default_rng(20_170_523).integers(whole.min, whole.max, cells.size, dtype=np.int64)
    flow = drawn.astype(np.uint64)
    flow[[arc for _, arc in order if arc >= 0]] = 0
    balance = np.zeros(network.nodes, dtype=np.uint64)
    np.add.at(balance, heads, flow)
    np.subtract.at(balance, tails, flow)
    size, left, moved = 1 << 64, balance.tolist(), flow.tolist()
    for node, arc in reversed(order):
        if arc < 0:
            continue
        leaves = tails[arc] == node
        amount = left[node] if leaves else (-left[node]) % size
        moved[arc] = amount
        other = heads[arc] if leaves else tails[arc]
        left[other] = (left[other] + (amount if leaves else -amount)) % size
    return np.array(moved, dtype=np.uint64).view(np.int64)


def _projected(problem: Problem, cells: np.ndarray) -> np.ndarray:
    """The same of any table: random changes less what breaks the relations; equal ones get the same number."""
    from scipy.sparse.linalg import lsqr

    matrix = problem.table.matrix[:, cells]
    rng = np.random.default_rng(20_170_523)
    changes = []
    for _ in range(2):
        change = rng.normal(0.0, 1.0, cells.size)
        for _ in range(2):
            # Once more, for what the first solution was off by.
            change = change - lsqr(matrix, matrix @ change, atol=1e-13, btol=1e-13, iter_lim=20_000)[0]
        changes.append(change)
    first, second = changes
    turn = np.where(first < 0.0, -1, 1)
    names = np.zeros(cells.size, dtype=np.int64)
    moving = np.flatnonzero((np.abs(first) > _SAME) | (np.abs(second) > _SAME))
    alike = moving[np.argsort(np.abs(first[moving]), kind="stable")]
    for group in _split(alike, np.abs(first)):
        for same in _split(group[np.argsort((turn * second)[group], kind="stable")], turn * second):
            names[same] = same.min() + 1
    return turn * names


def _split(places: np.ndarray, values: np.ndarray) -> list[np.ndarray]:
    return np.split(places, np.flatnonzero(np.diff(values[places]) > _SAME) + 1) if places.size else []


def known_sums(problem: Problem, hidden: np.ndarray) -> Iterator[KnownSum]:
    """Every sum that one relation gives away, once what is known without it is left out."""
    table, moves = problem.table, movement(problem, hidden)
    alike: dict[int, list[int]] = defaultdict(list)
    for cell in np.flatnonzero(moves).tolist():
        alike[int(moves[cell])].append(cell)
    for relation in range(table.relations):
        cells, signs = table.relation(relation), table.signs_of(relation)
        raw = hidden[cells] & (signs != 0)
        left = raw & (moves[cells] != 0)
        if not left.any():
            continue
        if np.unique(np.sign(signs[left])).size > 1:
            left &= _remaining(moves[cells], np.where(left, signs, 0.0))
            if not left.any() or np.unique(np.sign(signs[left])).size > 1:
                continue
        own = cells[left].astype(np.int64)
        yield KnownSum(relation, own, bool((left == raw).all()))
        for place, cell in enumerate(own.tolist()):
            for other in alike[int(moves[cell])]:
                if other not in own:
                    yield KnownSum(
                        relation, np.concatenate([own[:place], [other], own[place + 1 :]]), plain=False
                    )


def _remaining(moves: np.ndarray, signs: np.ndarray) -> np.ndarray:
    """Which terms are left when those that move together are added up."""
    _, group = np.unique(np.abs(moves), return_inverse=True)
    net = np.bincount(group, np.sign(moves) * signs)
    kept: np.ndarray = (np.abs(net) > 1e-12)[group]
    return kept


def sensitive_sums(problem: Problem, hidden: np.ndarray) -> list[KnownSum]:
    """The known sums that the rules call sensitive, one of each relation."""
    bad: dict[int, KnownSum] = {}
    for known in known_sums(problem, hidden) if problem.sums is not None else ():
        if known.relation not in bad and problem.sums is not None and not problem.sums(known.cells):
            bad[known.relation] = known
    return list(bad.values())


def failing_sums(problem: Problem, hidden: np.ndarray) -> list[int]:
    """Relations that give away a sum which is sensitive itself."""
    return [known.relation for known in sensitive_sums(problem, hidden)]


def add_for_sums(problem: Problem, pattern: np.ndarray, price: np.ndarray) -> np.ndarray | None:
    """Hide what moves every sensitive sum that is known, cheaply, until none is; ``None`` if all that may be hidden does not.

    Hiding more never makes an interval narrower, so the pattern stays safe.
    """
    mask = problem.hidden_mask(pattern)
    while bad := sensitive_sums(problem, mask):
        more = _cheap_change(problem, mask, bad[0].cells, price)
        if more is None or mask[more].all():
            return None
        mask[more] = True
    return np.flatnonzero(mask & ~problem.is_sensitive)


def _cheap_change(
    problem: Problem, mask: np.ndarray, cells: np.ndarray, price: np.ndarray
) -> np.ndarray | None:
    """The cells that move when the sum of some moves by 1 and that costs as little as it can."""
    table = problem.table
    usable = np.flatnonzero(problem.candidates | problem.is_sensitive | mask)
    rows = table.rows.of_columns(usable)
    column = np.searchsorted(usable, cells)
    # What is hidden already costs next to nothing, so that detours are not taken for their own sake.
    cost = np.where(mask, 0.0, price)[usable]
    cost = cost + 1e-3 * max(float(cost[cost > 0].min(initial=np.inf)) if (cost > 0).any() else 1.0, 1e-9)
    starts = np.concatenate([2 * rows.indptr, [2 * rows.indptr[-1] + 2 * column.size]])
    index = np.concatenate([rows.indices, column])
    value = np.concatenate([rows.data, np.ones(column.size)])
    wanted = np.zeros(rows.shape[0] + 1)
    wanted[-1] = 1.0
    model = programme(
        np.concatenate([cost, cost]),
        np.zeros(2 * usable.size),
        np.full(2 * usable.size, np.inf),
        (
            starts,
            np.stack([index, index + usable.size], axis=1).ravel(),
            np.stack([value, -value], axis=1).ravel(),
        ),
        wanted,
        wanted,
    )
    solver = quiet_highs(model)
    solver.run()
    if solver.modelStatusToString(solver.getModelStatus()) != "Optimal":
        return None
    moved = np.array(solver.getSolution().col_value)
    return usable[np.abs(moved[: usable.size] - moved[usable.size :]) > 1e-7]
