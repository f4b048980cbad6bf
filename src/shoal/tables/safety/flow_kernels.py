"""Compiled maximum flows on the network of hidden cells.

``change[e]`` is by how much cell e departs from its true value: it may rise to ``up[e]`` and fall to ``−down[e]``. Rising
sends flow from tail to head, falling sends it back. A cell can rise by as much as flows from its head to its tail
through the other hidden cells, and fall by as much as flows from tail to head.
"""

from typing import Any

import numpy as np

from shoal.search.kernels import kernel

# A flow this large means "without limit"; sums of a few such numbers must stay finite.
UNLIMITED = 1e30


@kernel
def max_flow(
    first: np.ndarray,
    degree: np.ndarray,
    arcs: np.ndarray,
    tail: np.ndarray,
    head: np.ndarray,
    up: np.ndarray,
    down: np.ndarray,
    change: np.ndarray,
    source: int,
    sink: int,
    limit: float,
    skip: int,
    known: np.ndarray,
    scenario: int,
    tiny: float,
    work: np.ndarray,
) -> Any:
    """Send up to ``limit`` from source to sink (Dinic 1970); returns what could be sent. ``change`` is updated.

    The arcs at node v are ``arcs[first[v] : first[v] + degree[v]]``. Arc ``skip`` and arcs with ``known[e] == scenario``
    stay as they are. ``work`` is scratch: rows level, place, queue, path; at the end ``work[0, v] > 0`` marks the nodes
    that can still be reached from the source.

    Ends whatever the numbers are: where rounding (or a nan) keeps an arc from filling up, its path is left all the same, and
    a round that sends nothing is the last.
    """
    level = work[0]
    place = work[1]
    queue = work[2]
    path = work[3]
    sent = 0.0
    if source == sink:
        return limit
    before = -1.0
    while sent > before:
        before = sent
        level[:] = 0
        level[source] = 1
        queue[0] = source
        read, written = 0, 1
        found = False
        while read < written and not found:
            v = queue[read]
            read += 1
            for position in range(first[v], first[v] + degree[v]):
                e = arcs[position]
                if e == skip or known[e] == scenario:
                    continue
                if tail[e] == v:
                    w = head[e]
                    room = up[e] - change[e]
                else:
                    w = tail[e]
                    room = down[e] + change[e]
                if room > tiny and level[w] == 0:
                    level[w] = level[v] + 1
                    if w == sink:
                        found = True
                        break
                    queue[written] = w
                    written += 1
        if not found or sent >= limit:
            return sent
        # Nodes beyond the sink's level cannot lie on a shortest path; the queue holds all that were seen.
        for i in range(written):
            place[queue[i]] = 0
        place[sink] = 0
        depth = 0
        v = source
        while True:
            if v == sink:
                amount = limit - sent
                tight, tight_node = 0, source
                node = source
                for i in range(depth):
                    e = path[i]
                    if tail[e] == node:
                        room = up[e] - change[e]
                        after = head[e]
                    else:
                        room = down[e] + change[e]
                        after = tail[e]
                    if room < amount:
                        amount = room
                        tight, tight_node = i, node
                    node = after
                node = source
                back = depth
                back_node = sink
                for i in range(depth):
                    e = path[i]
                    if tail[e] == node:
                        change[e] += amount
                        room = up[e] - change[e]
                        after = head[e]
                    else:
                        change[e] -= amount
                        room = down[e] + change[e]
                        after = tail[e]
                    if room <= tiny and i < back:
                        back = i
                        back_node = node
                    node = after
                sent += amount
                if sent >= limit - tiny:
                    return limit
                if back == depth:
                    back, back_node = tight, tight_node
                    place[back_node] += 1
                depth = back
                v = back_node
                continue
            advanced = False
            while place[v] < degree[v]:
                e = arcs[first[v] + place[v]]
                if e != skip and known[e] != scenario:
                    if tail[e] == v:
                        w = head[e]
                        room = up[e] - change[e]
                    else:
                        w = tail[e]
                        room = down[e] + change[e]
                    if room > tiny and level[w] == level[v] + 1:
                        path[depth] = e
                        depth += 1
                        v = w
                        advanced = True
                        break
                place[v] += 1
            if advanced:
                continue
            if v == source:
                break
            depth -= 1
            e = path[depth]
            v = tail[e] if head[e] == v else head[e]
            place[v] += 1
    # The sink is among the nodes that were reached, so they are no cut; the source alone always is one.
    level[:] = 0
    level[source] = 1
    return sent


@kernel
def subgraph(nodes: int, tail: np.ndarray, head: np.ndarray, cells: np.ndarray) -> Any:
    """First, degree and arcs of the network that consists of these cells only."""
    degree = np.zeros(nodes, dtype=np.int64)
    for e in cells:
        if tail[e] != head[e]:
            degree[tail[e]] += 1
            degree[head[e]] += 1
    first = np.zeros(nodes + 1, dtype=np.int64)
    for v in range(nodes):
        first[v + 1] = first[v] + degree[v]
    arcs = np.empty(first[nodes], dtype=np.int32)
    filled = np.zeros(nodes, dtype=np.int64)
    for e in cells:
        if tail[e] != head[e]:
            for v in (tail[e], head[e]):
                arcs[first[v] + filled[v]] = e
                filled[v] += 1
    return first, degree, arcs


@kernel
def clear(change: np.ndarray, first: np.ndarray, degree: np.ndarray, arcs: np.ndarray) -> Any:
    """Set the change of every arc of a network back to 0."""
    for v in range(degree.shape[0]):
        for position in range(first[v], first[v] + degree[v]):
            change[arcs[position]] = 0.0


@kernel
def around(
    first: np.ndarray,
    degree: np.ndarray,
    arcs: np.ndarray,
    tail: np.ndarray,
    head: np.ndarray,
    up: np.ndarray,
    down: np.ndarray,
    node: int,
    skip: int,
    known: np.ndarray,
    scenario: int,
    way: int,
) -> Any:
    """How much can leave a node (``way`` 1) or enter it (−1) through its arcs."""
    total = 0.0
    for position in range(first[node], first[node] + degree[node]):
        e = arcs[position]
        if e != skip and known[e] != scenario:
            total += up[e] if (tail[e] == node) == (way == 1) else down[e]
    return total


@kernel
def intervals(
    nodes: int,
    tail: np.ndarray,
    head: np.ndarray,
    up: np.ndarray,
    down: np.ndarray,
    hidden: np.ndarray,
    asked: np.ndarray,
    limit: float,
    tiny: float,
    known: np.ndarray,
    scenario: int,
) -> Any:
    """How far each asked cell can rise and fall when exactly the ``hidden`` cells are hidden."""
    first, degree, arcs = subgraph(nodes, tail, head, hidden)
    change = np.zeros(tail.shape[0])
    work = np.zeros((4, nodes + 1), dtype=np.int64)
    rise = np.zeros(asked.shape[0])
    fall = np.zeros(asked.shape[0])
    for i in range(asked.shape[0]):
        k = asked[i]
        for direction in range(2):
            source, sink = (head[k], tail[k]) if direction == 0 else (tail[k], head[k])
            own = up[k] if direction == 0 else down[k]
            cap = min(own, limit)
            if known[k] == scenario:
                cap = 0.0
            elif source != sink:
                # Most flows fill the arcs around one of the two ends; knowing that saves the last, full search.
                cap = min(
                    cap, around(first, degree, arcs, tail, head, up, down, source, k, known, scenario, 1)
                )
                cap = min(
                    cap, around(first, degree, arcs, tail, head, up, down, sink, k, known, scenario, -1)
                )
            sent = 0.0
            if cap > 0.0:
                sent = max_flow(
                    first,
                    degree,
                    arcs,
                    tail,
                    head,
                    up,
                    down,
                    change,
                    source,
                    sink,
                    cap,
                    k,
                    known,
                    scenario,
                    tiny,
                    work,
                )
                clear(change, first, degree, arcs)
            if direction == 0:
                rise[i] = sent
            else:
                fall[i] = sent
    return rise, fall


@kernel
def reach(
    nodes: int,
    tail: np.ndarray,
    head: np.ndarray,
    up: np.ndarray,
    down: np.ndarray,
    hidden: np.ndarray,
    cells: np.ndarray,
    kinds: np.ndarray,
    needs: np.ndarray,
    scenarios: np.ndarray,
    group_first: np.ndarray,
    group_cells: np.ndarray,
    limit: float,
    tiny: float,
) -> Any:
    """How far each requirement is met, up to its need, and the cells of one way to meet it (``-1`` between them).

    The supports are returned as one list with starts: requirement i uses ``support[starts[i] : starts[i + 1]]``.
    """
    first, degree, arcs = subgraph(nodes, tail, head, hidden)
    change = np.zeros(tail.shape[0])
    known = np.full(tail.shape[0], -2, dtype=np.int64)
    work = np.zeros((4, nodes + 1), dtype=np.int64)
    reached = np.zeros(cells.shape[0])
    starts = np.zeros(cells.shape[0] + 1, dtype=np.int64)
    support = np.empty(1024, dtype=np.int32)
    size = 0
    for i in range(cells.shape[0]):
        k = cells[i]
        scenario = scenarios[i]
        if scenario >= 0:
            for p in range(group_first[scenario], group_first[scenario + 1]):
                known[group_cells[p]] = scenario
        else:
            scenario = -1
        total = 0.0
        for direction in range(2):
            if kinds[i] != 2 and kinds[i] != direction:
                continue
            source, sink = (head[k], tail[k]) if direction == 0 else (tail[k], head[k])
            own = up[k] if direction == 0 else down[k]
            cap = min(own, needs[i] - total)
            if cap <= 0.0:
                continue
            total += max_flow(
                first,
                degree,
                arcs,
                tail,
                head,
                up,
                down,
                change,
                source,
                sink,
                cap,
                k,
                known,
                scenario,
                tiny,
                work,
            )
            for v in range(nodes):
                for position in range(first[v], first[v] + degree[v]):
                    e = arcs[position]
                    if change[e] != 0.0 and tail[e] == v:
                        if abs(change[e]) > tiny:
                            if size == support.shape[0]:
                                larger = np.empty(2 * size, dtype=np.int32)
                                larger[:size] = support
                                support = larger
                            support[size] = e
                            size += 1
                        change[e] = 0.0
        reached[i] = total
        starts[i + 1] = size
        if scenarios[i] >= 0:
            for p in range(group_first[scenario], group_first[scenario + 1]):
                known[group_cells[p]] = -2
    return reached, starts, support[:size].copy()


@kernel
def bridges(
    nodes: int, first: np.ndarray, degree: np.ndarray, arcs: np.ndarray, tail: np.ndarray, head: np.ndarray
) -> Any:
    """Which arcs lie on no cycle (Tarjan 1974); they cannot move at all, whatever their bounds."""
    number = np.zeros(nodes, dtype=np.int64)
    lowest = np.zeros(nodes, dtype=np.int64)
    place = np.zeros(nodes, dtype=np.int64)
    entered = np.full(nodes, -1, dtype=np.int64)
    stack = np.empty(nodes, dtype=np.int64)
    found = np.zeros(tail.shape[0], dtype=np.bool_)
    counter = 0
    for root in range(nodes):
        if number[root] != 0:
            continue
        counter += 1
        number[root] = counter
        lowest[root] = counter
        stack[0] = root
        depth = 1
        while depth > 0:
            v = stack[depth - 1]
            if place[v] < degree[v]:
                e = arcs[first[v] + place[v]]
                place[v] += 1
                if e == entered[v]:
                    continue
                w = head[e] if tail[e] == v else tail[e]
                if number[w] == 0:
                    counter += 1
                    number[w] = counter
                    lowest[w] = counter
                    entered[w] = e
                    stack[depth] = w
                    depth += 1
                elif number[w] < lowest[v]:
                    lowest[v] = number[w]
            else:
                depth -= 1
                if depth > 0:
                    u = stack[depth - 1]
                    if lowest[v] < lowest[u]:
                        lowest[u] = lowest[v]
                    if lowest[v] > number[u]:
                        found[entered[v]] = True
    return found
