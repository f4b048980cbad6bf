"""Compiled maximum flows on the network of hidden cells.

``change[e]`` is by how much cell e departs from its true value: it may rise to ``up[e]`` and fall to ``−down[e]``. Rising
sends flow from tail to head, falling sends it back. A cell can rise by as much as flows from its head to its tail
through the other hidden cells, and fall by as much as flows from tail to head.
"""

from typing import Any, NamedTuple

import numpy as np

from shoal.runtime.kernels import kernel

# A flow this large means "without limit"; sums of a few such numbers must stay finite.
UNLIMITED = 1e30
# No insider has this number: what ``known`` says of an arc that nobody knows.
NOBODY = -2


class Arcs(NamedTuple):
    """The cells of a table as arcs, and how far each can rise and fall.

    The other end of arc e at node v is ``tail[e] + head[e] - v``; away from its tail it can carry ``up[e] - change[e]`` more,
    away from its head ``down[e] + change[e]``.
    """

    tail: np.ndarray
    head: np.ndarray
    up: np.ndarray
    down: np.ndarray


class Wanted(NamedTuple):
    """Requirements (as in ``Requirements``) and the cells that insider s knows: ``group_cells[group_first[s] : …[s + 1]]``."""

    cell: np.ndarray
    kind: np.ndarray
    need: np.ndarray
    scenario: np.ndarray
    group_first: np.ndarray
    group_cells: np.ndarray


class Flow(NamedTuple):
    """A flow through hidden cells: those at node v are ``listed[first[v] : first[v] + degree[v]]``.

    ``known[e]`` is the insider who knows arc e, so that it cannot move. ``work`` is scratch: rows level, position, queue,
    path. ``moved[1 : 1 + moved[0]]`` lists every arc that departs from its true value, and perhaps others, so that what
    one flow has done is undone without a look at all arcs; ``moved[0]`` −1 means that the list was too short.
    """

    arcs: Arcs
    first: np.ndarray
    degree: np.ndarray
    listed: np.ndarray
    change: np.ndarray
    known: np.ndarray
    work: np.ndarray
    moved: np.ndarray
    tiny: float


@kernel
def note_move(moved: np.ndarray, e: int) -> Any:
    """Put an arc on the list of those that move."""
    count = moved[0]
    if count >= 0:
        if count + 1 < moved.shape[0]:
            moved[count + 1] = e
            moved[0] = count + 1
        else:
            moved[0] = -1


@kernel
def flow_through(nodes: int, arcs: Arcs, cells: np.ndarray, tiny: float) -> Any:
    """The flow of nothing through these cells."""
    tail, head = arcs.tail, arcs.head
    degree = np.zeros(nodes, dtype=np.int64)
    for e in cells:
        if tail[e] != head[e]:
            degree[tail[e]] += 1
            degree[head[e]] += 1
    first = np.zeros(nodes + 1, dtype=np.int64)
    for v in range(nodes):
        first[v + 1] = first[v] + degree[v]
    listed = np.empty(first[nodes], dtype=np.int32)
    filled = np.zeros(nodes, dtype=np.int64)
    for e in cells:
        if tail[e] != head[e]:
            for v in (tail[e], head[e]):
                listed[first[v] + filled[v]] = e
                filled[v] += 1
    change = np.zeros(tail.shape[0])
    known = np.full(tail.shape[0], NOBODY, dtype=np.int64)
    work = np.zeros((4, nodes + 1), dtype=np.int64)
    moved = np.zeros(tail.shape[0] + 1, dtype=np.int32)
    return Flow(arcs, first, degree, listed, change, known, work, moved, tiny)


@kernel
def ends(arcs: Arcs, k: int, direction: int) -> Any:
    """Between which nodes flow must go so that cell k rises (0) or falls (1), and how far the cell itself lets it."""
    if direction == 0:
        return arcs.head[k], arcs.tail[k], arcs.up[k]
    return arcs.tail[k], arcs.head[k], arcs.down[k]


@kernel
def know(known: np.ndarray, wanted: Wanted, scenario: int, mark: int) -> Any:
    """Mark the cells of an insider, or with ``NOBODY`` unmark them; an outsider knows none."""
    if scenario >= 0:
        for p in range(wanted.group_first[scenario], wanted.group_first[scenario + 1]):
            known[wanted.group_cells[p]] = mark


@kernel
def max_flow(flow: Flow, source: int, sink: int, limit: float, skip: int, scenario: int) -> Any:
    """Send up to ``limit`` from source to sink (Dinic 1970); returns what could be sent. ``flow.change`` is updated.

    Arc ``skip`` and arcs with ``known[e] == scenario`` stay as they are. At the end ``work[0, v] > 0`` marks the nodes that
    can still be reached from the source.

    Ends whatever the numbers are: where rounding (or a nan) keeps an arc from filling up, its path is left all the same, and
    a round that sends nothing is the last.
    """
    tail, head, up, down = flow.arcs
    change, known, moved, tiny = flow.change, flow.known, flow.moved, flow.tiny
    first, degree, listed = flow.first, flow.degree, flow.listed
    level, position, queue, path = flow.work[0], flow.work[1], flow.work[2], flow.work[3]
    sent = 0.0
    if limit <= 0.0:
        return sent
    if source == sink:
        return limit
    before = -1.0
    while sent > before:
        before = sent
        level[:] = 0
        level[source] = 1
        queue[0] = source
        read, written = 0, 1
        arrived = False
        while read < written and not arrived:
            v = queue[read]
            read += 1
            for at in range(first[v], first[v] + degree[v]):
                e = listed[at]
                if e == skip or known[e] == scenario:
                    continue
                w = tail[e] + head[e] - v
                room = up[e] - change[e] if tail[e] == v else down[e] + change[e]
                if room > tiny and level[w] == 0:
                    level[w] = level[v] + 1
                    if w == sink:
                        arrived = True
                        break
                    queue[written] = w
                    written += 1
        if not arrived or sent >= limit:
            return sent
        # Nodes beyond the sink's level cannot lie on a shortest path; the queue holds all that were seen.
        for i in range(written):
            position[queue[i]] = 0
        position[sink] = 0
        depth = 0
        v = source
        while True:
            if v == sink:
                amount = limit - sent
                tight, tight_node = 0, source
                node = source
                for i in range(depth):
                    e = path[i]
                    room = up[e] - change[e] if tail[e] == node else down[e] + change[e]
                    if room < amount:
                        amount = room
                        tight, tight_node = i, node
                    node = tail[e] + head[e] - node
                node = source
                back, back_node = depth, sink
                for i in range(depth):
                    e = path[i]
                    if change[e] == 0.0:
                        note_move(moved, e)
                    change[e] += amount if tail[e] == node else -amount
                    room = up[e] - change[e] if tail[e] == node else down[e] + change[e]
                    if room <= tiny and i < back:
                        back, back_node = i, node
                    node = tail[e] + head[e] - node
                sent += amount
                if sent >= limit - tiny:
                    return limit
                if back == depth:
                    back, back_node = tight, tight_node
                    position[back_node] += 1
                depth = back
                v = back_node
                continue
            advanced = False
            while position[v] < degree[v]:
                e = listed[first[v] + position[v]]
                if e != skip and known[e] != scenario:
                    w = tail[e] + head[e] - v
                    room = up[e] - change[e] if tail[e] == v else down[e] + change[e]
                    if room > tiny and level[w] == level[v] + 1:
                        path[depth] = e
                        depth += 1
                        v = w
                        advanced = True
                        break
                position[v] += 1
            if advanced:
                continue
            if v == source:
                break
            depth -= 1
            v = tail[path[depth]] + head[path[depth]] - v
            position[v] += 1
    # The sink is among the nodes that were reached, so they are no cut; the source alone always is one.
    level[:] = 0
    level[source] = 1
    return sent


@kernel
def moving(moved: np.ndarray, first: np.ndarray, degree: np.ndarray, listed: np.ndarray) -> Any:
    """All arcs that may depart from their true values; the list of them begins anew."""
    count = moved[0]
    moved[0] = 0
    if count >= 0:
        return moved[1 : count + 1].copy()
    total = 0
    for v in range(degree.shape[0]):
        total += degree[v]
    every = np.empty(total, dtype=moved.dtype)
    filled = 0
    for v in range(degree.shape[0]):
        for at in range(first[v], first[v] + degree[v]):
            every[filled] = listed[at]
            filled += 1
    return every


@kernel
def clear(flow: Flow) -> Any:
    """Set the change of every arc back to 0."""
    for e in moving(flow.moved, flow.first, flow.degree, flow.listed):
        flow.change[e] = 0.0


@kernel
def _around(flow: Flow, node: int, skip: int, way: int) -> Any:
    # How much can leave a node (``way`` 1) or enter it (−1) through its arcs.
    total = 0.0
    for at in range(flow.first[node], flow.first[node] + flow.degree[node]):
        e = flow.listed[at]
        if e != skip:
            total += flow.arcs.up[e] if (flow.arcs.tail[e] == node) == (way == 1) else flow.arcs.down[e]
    return total


def intervals(
    nodes: int, arcs: Arcs, hidden: np.ndarray, cells: np.ndarray, limit: float, tiny: float
) -> tuple[np.ndarray, np.ndarray]:
    """How far each asked cell can rise and fall when exactly the ``hidden`` cells are hidden."""
    moved = np.zeros((2, cells.size))
    _intervals(nodes, arcs, hidden, cells, limit, tiny, moved)
    return moved[0], moved[1]


# Machine code of kernels that return no arrays is kept; these write into arrays that they are given.
@kernel
def _intervals(
    nodes: int,
    arcs: Arcs,
    hidden: np.ndarray,
    cells: np.ndarray,
    limit: float,
    tiny: float,
    moved: np.ndarray,
) -> Any:
    flow = flow_through(nodes, arcs, hidden, tiny)
    for i in range(cells.shape[0]):
        k = cells[i]
        for direction in range(2):
            source, sink, own = ends(arcs, k, direction)
            cap = min(own, limit)
            if source != sink:
                # Most flows fill the arcs around one of the two ends; knowing that saves the last, full search.
                cap = min(cap, _around(flow, source, k, 1))
                cap = min(cap, _around(flow, sink, k, -1))
            if cap > 0.0:
                moved[direction, i] = max_flow(flow, source, sink, cap, k, -1)
                clear(flow)


def reach(
    nodes: int, arcs: Arcs, hidden: np.ndarray, wanted: Wanted, tiny: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """How far each requirement is met, up to its need, and the cells of one way to meet it.

    The supports are returned as one list with starts: requirement i uses ``support[starts[i] : starts[i + 1]]``.
    """
    count = wanted.cell.size
    reached, starts = np.zeros(count), np.zeros(count + 1, dtype=np.int64)
    support = np.empty(max(1024, 8 * count), dtype=np.int32)
    while (size := _reach(nodes, arcs, hidden, wanted, tiny, reached, starts, support)) > support.size:
        support = np.empty(size, dtype=np.int32)
    return reached, starts, support[:size].copy()


@kernel
def _reach(
    nodes: int,
    arcs: Arcs,
    hidden: np.ndarray,
    wanted: Wanted,
    tiny: float,
    reached: np.ndarray,
    starts: np.ndarray,
    support: np.ndarray,
) -> Any:
    # Returns how many cells there are in all, of which those are listed that there is room for.
    flow = flow_through(nodes, arcs, hidden, tiny)
    change = flow.change
    count = wanted.cell.shape[0]
    reached[:] = 0.0
    size = 0
    for i in range(count):
        k, kind, scenario = wanted.cell[i], wanted.kind[i], wanted.scenario[i]
        know(flow.known, wanted, scenario, scenario)
        for direction in range(2):
            if kind != 2 and kind != direction:
                continue
            source, sink, own = ends(arcs, k, direction)
            cap = min(own, wanted.need[i] - reached[i])
            if cap <= 0.0:
                continue
            reached[i] += max_flow(flow, source, sink, cap, k, scenario)
            for e in moving(flow.moved, flow.first, flow.degree, flow.listed):
                if abs(change[e]) > tiny:
                    if size < support.shape[0]:
                        support[size] = e
                    size += 1
                change[e] = 0.0
        starts[i + 1] = size
        know(flow.known, wanted, scenario, NOBODY)
    return size
