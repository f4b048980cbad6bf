"""Tables that are networks: cells are arcs, relations are nodes, and an attacker's interval is a maximum flow.

A two-dimensional table is one, also with its totals hidden and with a hierarchy in one of its dimensions: there the
relations of subtotal rows follow from the others and are left out.
"""

from dataclasses import dataclass

import numpy as np

from shoal.tables.model.distinct import distinct
from shoal.tables.model.table import Table


@dataclass(frozen=True, eq=False)
class Network:
    """Cell ``e`` is an arc from ``tail[e]`` to ``head[e]``; changing all cells along a cycle keeps every relation.

    ``starts`` and ``arcs`` list the arcs at each node.
    """

    nodes: int
    tail: np.ndarray
    head: np.ndarray
    starts: np.ndarray
    arcs: np.ndarray


def recognise(table: Table) -> Network | None:
    """The network a table is, or ``None`` if it is none of the kinds recognised here."""
    memberships = np.bincount(table.members, minlength=table.cells)
    lengths = np.diff(table.starts)
    relation_of = np.repeat(np.arange(table.relations), lengths)
    if not (np.abs(table.signs) == 1).all():
        return None
    pairs = relation_of.astype(np.int64) * table.cells + table.members
    if distinct(pairs).size != pairs.size:
        return None
    kept = np.ones(table.relations, dtype=bool)
    if table.basis is not None:
        kept = table.basis.astype(bool)
    elif memberships.max(initial=0) > 2:
        found = _without_implied(table, memberships, relation_of)
        if found is None:
            return None
        kept = found
    entries = kept[relation_of]
    used = np.bincount(table.members[entries], minlength=table.cells)
    if used.max(initial=0) > 2:
        return None
    ends = _orient(table, relation_of[entries], table.members[entries], table.signs[entries])
    if ends is None:
        return None
    tail, head = ends
    network = _network(table.relations + 1, tail, head)
    if not kept.all() and not _implied(table, network):
        return None
    return network


_UNKNOWN, _STAYS, _GOES = 0, 1, 2
_MOST_GUESSES = 600


def _without_implied(table: Table, memberships: np.ndarray, relation_of: np.ndarray) -> np.ndarray | None:
    """Which relations to keep so that no cell is in more than two; ``None`` if no such choice is found.

    Relations with a cell in only two must stay; where two of the three relations of a cell stay, the third goes; and
    where one goes, the other two of its cells stay. What is then still open, as in a chain of subtotals, is tried: a
    relation may go if all that go with it follow from those around them.
    """
    if memberships.max() > 3:
        return None
    order = np.argsort(table.members, kind="stable")
    of_cell = np.split(relation_of[order], np.cumsum(memberships)[:-1])
    state = np.full(table.relations, _UNKNOWN)
    sure = distinct(relation_of[memberships[table.members] <= 2])
    if not _settle(table, of_cell, state, sure, _STAYS):
        return None
    guesses = 0
    for relation in np.argsort(-np.diff(table.starts), kind="stable"):
        if state[relation] != _UNKNOWN:
            continue
        guesses += 1
        trial = state.copy()
        fits = _settle(table, of_cell, trial, np.array([relation]), _GOES)
        gone = np.flatnonzero((trial == _GOES) & (state != _GOES))
        if fits and _follow_from_others(table, of_cell, gone):
            state = trial
        elif guesses > _MOST_GUESSES or not _settle(table, of_cell, state, np.array([relation]), _STAYS):
            return None
    return state != _GOES


def _settle(
    table: Table, of_cell: list[np.ndarray], state: np.ndarray, first: np.ndarray, verdict: int
) -> bool:
    """Decide some relations and all that follow from them; false if a cell would be in three that stay."""
    state[first] = verdict
    pending = list(first)
    while pending:
        for cell in table.relation(int(pending.pop())):
            mine = of_cell[cell]
            if mine.size < 3:
                if (state[mine] == _GOES).any():
                    return False
                continue
            states = state[mine]
            stay, go = int((states == _STAYS).sum()), int((states == _GOES).sum())
            if stay == 3:
                return False
            if go == 1 or stay == 2:
                settled = mine[states == _UNKNOWN]
                state[settled] = _STAYS if go else _GOES
                pending.extend(settled)
    return True


def _follow_from_others(table: Table, of_cell: list[np.ndarray], gone: np.ndarray) -> bool:
    """Whether a random combination of these relations is one of those in their neighbourhood."""
    from scipy.sparse.linalg import lsqr

    near = gone
    for _ in range(2):
        cells = np.unique(np.concatenate([table.relation(int(relation)) for relation in near]))
        near = np.unique(np.concatenate([of_cell[cell] for cell in cells]))
    others = np.setdiff1d(near, gone)
    if others.size == 0 or others.size > 20_000:
        return False
    weights = np.random.default_rng(1).uniform(0.5, 1.5, gone.size)
    wanted = table.matrix[gone].T @ weights
    found = lsqr(table.matrix[others].T, wanted, atol=1e-12, btol=1e-12, iter_lim=4000)
    return bool(found[3] < 1e-6 * np.linalg.norm(wanted))


def _orient(
    table: Table, relations: np.ndarray, members: np.ndarray, signs: np.ndarray
) -> tuple[np.ndarray, np.ndarray] | None:
    # Each relation may be turned round so that a cell enters one of its two and leaves the other.
    ground = table.relations
    order = np.argsort(members, kind="stable")
    members, relations, signs = members[order], relations[order], signs[order]
    count = np.bincount(members, minlength=table.cells)
    first = np.cumsum(count) - count
    one, two = count >= 1, count == 2
    neighbours: list[list[tuple[int, bool]]] = [[] for _ in range(table.relations)]
    for cell in np.flatnonzero(two):
        a, b = first[cell], first[cell] + 1
        turn = signs[a] == signs[b]
        neighbours[relations[a]].append((relations[b], turn))
        neighbours[relations[b]].append((relations[a], turn))
    side = np.zeros(table.relations, dtype=np.int64)
    for root in range(table.relations):
        if side[root]:
            continue
        side[root] = 1
        stack = [root]
        while stack:
            node = stack.pop()
            for other, turn in neighbours[node]:
                wanted = -side[node] if turn else side[node]
                if side[other] == 0:
                    side[other] = wanted
                    stack.append(other)
                elif side[other] != wanted:
                    return None
    tail = np.full(table.cells, ground)
    head = np.full(table.cells, ground)
    leaves = np.zeros(table.cells, dtype=bool)
    leaves[one] = (side[relations[first[one]]] * signs[first[one]]) > 0
    tail[one & leaves] = relations[first[one & leaves]]
    head[one & ~leaves] = relations[first[one & ~leaves]]
    head[two & leaves] = relations[first[two & leaves] + 1]
    tail[two & ~leaves] = relations[first[two & ~leaves] + 1]
    return tail.astype(np.int32), head.astype(np.int32)


def _network(nodes: int, tail: np.ndarray, head: np.ndarray) -> Network:
    proper = np.flatnonzero(tail != head)
    ends = np.concatenate([tail[proper], head[proper]])
    arcs = np.concatenate([proper, proper])
    order = np.lexsort((arcs, ends))
    starts = np.concatenate([[0], np.cumsum(np.bincount(ends, minlength=nodes))]).astype(np.int64)
    return Network(nodes, tail, head, starts, arcs[order].astype(np.int32))


def _implied(table: Table, network: Network) -> bool:
    """Whether relations that were left out hold for every circulation: tested on random ones, wrong with probability 0.

    A circulation is made by changing the arcs outside a spanning forest at random and balancing along the forest.
    """
    rng = np.random.default_rng(20_141_201)
    scale = abs(table.rows)
    parent, order = _forest(network)
    on_tree = np.zeros(table.cells, dtype=bool)
    on_tree[parent[parent >= 0]] = True
    for _ in range(3):
        change = rng.uniform(-1.0, 1.0, table.cells)
        change[on_tree] = 0.0
        balance = np.zeros(network.nodes)
        np.add.at(balance, network.tail, change)
        np.subtract.at(balance, network.head, change)
        for node in order[::-1]:
            arc = parent[node]
            if arc < 0:
                continue
            if network.tail[arc] == node:
                change[arc] = -balance[node]
                balance[network.head[arc]] -= change[arc]
            else:
                change[arc] = balance[node]
                balance[network.tail[arc]] += change[arc]
        if (np.abs(table.rows @ change) > 1e-9 * (1.0 + scale @ np.abs(change))).any():
            return False
    return True


def _forest(network: Network) -> tuple[np.ndarray, list[int]]:
    parent = np.full(network.nodes, -1, dtype=np.int64)
    seen = np.zeros(network.nodes, dtype=bool)
    order: list[int] = []
    for root in range(network.nodes - 1, -1, -1):
        if seen[root]:
            continue
        seen[root] = True
        queue = [root]
        while queue:
            node = queue.pop()
            order.append(node)
            for arc in network.arcs[network.starts[node] : network.starts[node + 1]]:
                other = network.head[arc] if network.tail[arc] == node else network.tail[arc]
                if not seen[other]:
                    seen[other] = True
                    parent[other] = arc
                    queue.append(int(other))
    return parent, order
