"""Compiled building, cleaning up and improving of patterns on networks.

A pattern is built by shortest paths in the residual network (Kelly, Golden and Assad 1992; Castro 2007), thinned out by
removing redundant cells in descending cost, and improved by destroying a part of it and repairing the rest.
"""

from typing import Any, NamedTuple

import numpy as np

from shoal.search.kernels import kernel
from shoal.search.randomness import below, next_bits, shuffle, uniform
from shoal.tables.safety.flow_kernels import max_flow

# A requirement met by more cells than this is simply checked again whenever a cell goes.
LONGEST = 96
# Names for the two answers a helper can be given.
_FORGET = False
_SPLIT = True


class Graph(NamedTuple):
    """What does not change during a search. ``first`` and ``arcs`` list the arcs that may be used at each node."""

    tail: np.ndarray
    head: np.ndarray
    up: np.ndarray
    down: np.ndarray
    cost: np.ndarray
    price: np.ndarray
    fixed: np.ndarray
    first: np.ndarray
    arcs: np.ndarray
    cell: np.ndarray
    kind: np.ndarray
    need: np.ndarray
    slack: np.ndarray
    scenario: np.ndarray
    group_first: np.ndarray
    group_cells: np.ndarray
    tiny: float


class State(NamedTuple):
    """What changes: which cells are hidden (with their lists at the nodes) and how each requirement is met.

    ``uses[r, : length[r]]`` are the removable cells requirement r moves; ``length[r]`` −1 means too many to list.
    """

    hidden: np.ndarray
    degree: np.ndarray
    listed: np.ndarray
    at_tail: np.ndarray
    at_head: np.ndarray
    uses: np.ndarray
    length: np.ndarray
    bloom: np.ndarray
    witness: np.ndarray


class Scratch(NamedTuple):
    """Working space."""

    change: np.ndarray
    known: np.ndarray
    flow: np.ndarray
    distance: np.ndarray
    via: np.ndarray
    done: np.ndarray
    heap_key: np.ndarray
    heap_node: np.ndarray
    path: np.ndarray


def new_state(graph: Graph, nodes: int) -> State:
    """The state in which only fixed cells are hidden and no requirement has been looked at."""
    cells, wanted = graph.tail.shape[0], graph.cell.shape[0]
    state = State(
        np.zeros(cells, dtype=np.bool_),
        np.zeros(nodes, dtype=np.int64),
        np.zeros(graph.arcs.shape[0], dtype=np.int32),
        np.zeros(cells, dtype=np.int64),
        np.zeros(cells, dtype=np.int64),
        np.zeros((wanted, LONGEST), dtype=np.int32),
        np.full(wanted, -1, dtype=np.int64),
        np.zeros(wanted, dtype=np.uint64),
        np.full(cells, -1, dtype=np.int64),
    )
    for cell in np.flatnonzero(graph.fixed):
        hide(graph, state, cell)
    return state


def new_scratch(graph: Graph, nodes: int) -> Scratch:
    """Working space for a graph of this size."""
    cells = graph.tail.shape[0]
    room = graph.arcs.shape[0] + nodes + 8
    return Scratch(
        np.zeros(cells),
        np.full(cells, -2, dtype=np.int64),
        np.zeros((4, nodes + 1), dtype=np.int64),
        np.zeros(nodes),
        np.zeros(nodes, dtype=np.int64),
        np.zeros(nodes, dtype=np.bool_),
        np.zeros(room),
        np.zeros(room, dtype=np.int64),
        np.zeros(nodes + 1, dtype=np.int64),
    )


@kernel
def hide(graph: Graph, state: State, e: int) -> Any:
    """Add a cell to the hidden ones."""
    if state.hidden[e]:
        return
    state.hidden[e] = True
    t, h = graph.tail[e], graph.head[e]
    if t == h:
        return
    state.at_tail[e] = graph.first[t] + state.degree[t]
    state.listed[state.at_tail[e]] = e
    state.degree[t] += 1
    state.at_head[e] = graph.first[h] + state.degree[h]
    state.listed[state.at_head[e]] = e
    state.degree[h] += 1


@kernel
def show(graph: Graph, state: State, e: int) -> Any:
    """Take a cell out of the hidden ones."""
    if not state.hidden[e]:
        return
    state.hidden[e] = False
    t, h = graph.tail[e], graph.head[e]
    if t == h:
        return
    for v, position in ((t, state.at_tail[e]), (h, state.at_head[e])):
        state.degree[v] -= 1
        last = graph.first[v] + state.degree[v]
        moved = state.listed[last]
        state.listed[position] = moved
        if moved != e:
            if graph.tail[moved] == v:
                state.at_tail[moved] = position
            else:
                state.at_head[moved] = position


@kernel
def _know(graph: Graph, scratch: Scratch, scenario: int, mark: int) -> Any:
    for p in range(graph.group_first[scenario], graph.group_first[scenario + 1]):
        scratch.known[graph.group_cells[p]] = mark


@kernel
def _flow(
    graph: Graph, state: State, scratch: Scratch, k: int, direction: int, limit: float, scenario: int
) -> Any:
    if direction == 0:
        source, sink, own = graph.head[k], graph.tail[k], graph.up[k]
    else:
        source, sink, own = graph.tail[k], graph.head[k], graph.down[k]
    cap = min(own, limit)
    if cap <= 0.0:
        return 0.0
    return max_flow(
        graph.first,
        state.degree,
        state.listed,
        graph.tail,
        graph.head,
        graph.up,
        graph.down,
        scratch.change,
        source,
        sink,
        cap,
        k,
        scratch.known,
        scenario,
        graph.tiny,
        scratch.flow,
    )


@kernel
def _gather(graph: Graph, state: State, scratch: Scratch, r: int, keep: bool) -> Any:
    # Clear the changes; with keep, note which removable cells were moved.
    for v in range(state.degree.shape[0]):
        for position in range(graph.first[v], graph.first[v] + state.degree[v]):
            e = state.listed[position]
            if scratch.change[e] != 0.0:
                if (
                    keep
                    and not graph.fixed[e]
                    and abs(scratch.change[e]) > graph.tiny
                    and state.length[r] >= 0
                ):
                    if state.length[r] == state.uses.shape[1]:
                        state.length[r] = -1
                    else:
                        state.uses[r, state.length[r]] = e
                        state.length[r] += 1
                        state.bloom[r] |= np.uint64(1) << np.uint64(e & 63)
                scratch.change[e] = 0.0


@kernel
def holds(graph: Graph, state: State, scratch: Scratch, r: int) -> Any:
    """Whether requirement r is met now; if so, which cells it uses is noted."""
    k, kind, need, scenario = graph.cell[r], graph.kind[r], graph.need[r], graph.scenario[r]
    if scenario >= 0:
        _know(graph, scratch, scenario, scenario)
    enough = need - graph.slack[r]
    total = 0.0
    kept, kept_bloom = state.length[r], state.bloom[r]
    if kind == 2:
        # The first direction may leave its list behind before the second one fails.
        old = state.uses[r].copy()
    for direction in range(2):
        if (kind == 2 or kind == direction) and total < enough:
            total += _flow(graph, state, scratch, k, direction, need - total, scenario)
            if direction == 0 or kind == 1:
                state.length[r] = 0
                state.bloom[r] = np.uint64(0)
            _gather(graph, state, scratch, r, total >= enough or (kind == 2 and direction == 0))
    if scenario >= 0:
        _know(graph, scratch, scenario, -2)
    if total < enough:
        state.length[r] = kept
        state.bloom[r] = kept_bloom
        if kind == 2:
            state.uses[r] = old
        return False
    return True


@kernel
def _push_heap(scratch: Scratch, size: int, key: float, node: int) -> Any:
    i = size
    while i > 0:
        parent = (i - 1) >> 1
        if scratch.heap_key[parent] <= key:
            break
        scratch.heap_key[i] = scratch.heap_key[parent]
        scratch.heap_node[i] = scratch.heap_node[parent]
        i = parent
    scratch.heap_key[i] = key
    scratch.heap_node[i] = node
    return size + 1


@kernel
def _pop_heap(scratch: Scratch, size: int) -> Any:
    size -= 1
    key, node = scratch.heap_key[size], scratch.heap_node[size]
    i = 0
    while True:
        child = 2 * i + 1
        if child >= size:
            break
        if child + 1 < size and scratch.heap_key[child + 1] < scratch.heap_key[child]:
            child += 1
        if scratch.heap_key[child] >= key:
            break
        scratch.heap_key[i] = scratch.heap_key[child]
        scratch.heap_node[i] = scratch.heap_node[child]
        i = child
    if size > 0:
        scratch.heap_key[i] = key
        scratch.heap_node[i] = node
    return size


@kernel
def _noise(e: int, salt: int, strength: float) -> Any:
    x = np.uint64(e) * np.uint64(0x9E3779B97F4A7C15) + salt
    x ^= x >> np.uint64(29)
    x *= np.uint64(0xBF58476D1CE4E5B9)
    x ^= x >> np.uint64(32)
    return 1.0 + strength * (float(x >> np.uint64(11)) * (1.0 / 9007199254740992.0) - 0.5)


@kernel
def cheapest_path(
    graph: Graph,
    state: State,
    scratch: Scratch,
    k: int,
    source: int,
    sink: int,
    amount: float,
    scenario: int,
    salt: int,
    strength: float,
    penalty: np.ndarray,
) -> Any:
    """The cheapest path able to carry ``amount`` (Dijkstra 1959): hidden cells are free; returns its cost, or −1.

    The arcs of the path are left in ``scratch.path``, from the sink back, ended by −1.
    """
    scratch.distance[:] = np.inf
    scratch.done[:] = False
    scratch.distance[source] = 0.0
    size = 0
    scratch.heap_key[0] = 0.0
    scratch.heap_node[0] = source
    size = 1
    while size > 0:
        v = scratch.heap_node[0]
        size = _pop_heap(scratch, size)
        if scratch.done[v]:
            continue
        scratch.done[v] = True
        if v == sink:
            break
        at = scratch.distance[v]
        for position in range(graph.first[v], graph.first[v + 1]):
            e = graph.arcs[position]
            if e == k or scratch.known[e] == scenario:
                continue
            if graph.tail[e] == v:
                w = graph.head[e]
                room = graph.up[e] - scratch.change[e]
            else:
                w = graph.tail[e]
                room = graph.down[e] + scratch.change[e]
            if scratch.done[w] or room < amount:
                continue
            step = 1e-9
            if not state.hidden[e]:
                step += graph.price[e] * _noise(e, salt, strength) * penalty[e]
            if at + step < scratch.distance[w]:
                scratch.distance[w] = at + step
                scratch.via[w] = e
                size = _push_heap(scratch, size, at + step, w)
    if not scratch.done[sink]:
        return -1.0
    v = sink
    i = 0
    while v != source:
        e = scratch.via[v]
        scratch.path[i] = e
        i += 1
        v = graph.tail[e] if graph.head[e] == v else graph.head[e]
    scratch.path[i] = -1
    return scratch.distance[sink]


@kernel
def _follow(graph: Graph, state: State, scratch: Scratch, sink: int, amount: float) -> Any:
    # Hide the cells of the path and send as much along it as it bears, at most ``amount``.
    v = sink
    i = 0
    room = amount
    while scratch.path[i] >= 0:
        e = scratch.path[i]
        if graph.head[e] == v:
            room = min(room, graph.up[e] - scratch.change[e])
            v = graph.tail[e]
        else:
            room = min(room, graph.down[e] + scratch.change[e])
            v = graph.head[e]
        i += 1
    v = sink
    i = 0
    while scratch.path[i] >= 0:
        e = scratch.path[i]
        hide(graph, state, e)
        if graph.head[e] == v:
            scratch.change[e] += room
            v = graph.tail[e]
        else:
            scratch.change[e] -= room
            v = graph.head[e]
        i += 1
    return room


@kernel
def protect(
    graph: Graph,
    state: State,
    scratch: Scratch,
    r: int,
    rng: np.ndarray,
    split: bool,
    salt: int,
    strength: float,
    penalty: np.ndarray,
) -> Any:
    """Hide further cells until requirement r is met; false if that cannot be done with the arcs of the graph."""
    k, kind, need, scenario = graph.cell[r], graph.kind[r], graph.need[r], graph.scenario[r]
    if holds(graph, state, scratch, r):
        return True
    if scenario >= 0:
        _know(graph, scratch, scenario, scenario)
    direction = kind
    base = 0.0
    if kind == 2:
        # Take the direction in which the missing width is cheaper; what the other gives already counts.
        best = np.inf
        direction = -1
        for candidate in range(2):
            other = _flow(graph, state, scratch, k, 1 - candidate, need, scenario)
            _gather(graph, state, scratch, r, _FORGET)
            here = _flow(graph, state, scratch, k, candidate, need - other, scenario)
            own = graph.up[k] if candidate == 0 else graph.down[k]
            missing = need - other - here
            if own >= need - other:
                source, sink = graph.head[k], graph.tail[k]
                if candidate == 1:
                    source, sink = sink, source
                found = cheapest_path(
                    graph, state, scratch, k, source, sink, missing, scenario, salt, strength, penalty
                )
                if found >= 0.0 and found < best:
                    best, direction, base = found, candidate, other
            _gather(graph, state, scratch, r, _FORGET)
        if direction < 0:
            direction = 0 if graph.up[k] >= graph.down[k] else 1
            base = _flow(graph, state, scratch, k, 1 - direction, need, scenario)
            _gather(graph, state, scratch, r, _FORGET)
    goal = need - base
    sent = _flow(graph, state, scratch, k, direction, goal, scenario)
    source, sink = graph.head[k], graph.tail[k]
    if direction == 1:
        source, sink = sink, source
    enough = goal - graph.slack[r]
    own = graph.up[k] if direction == 0 else graph.down[k]
    possible = own >= enough
    amount = goal - sent
    if split and uniform(rng) < 0.25:
        amount *= 0.3 + 0.6 * uniform(rng)
    smallest = (goal - sent) / 256.0
    while possible and sent < enough:
        amount = min(amount, goal - sent)
        cost = cheapest_path(
            graph, state, scratch, k, source, sink, amount, scenario, salt, strength, penalty
        )
        if cost < 0.0:
            amount *= 0.5
            if amount < smallest or amount <= graph.tiny:
                possible = False
            continue
        more = sent + _follow(graph, state, scratch, sink, goal - sent)
        # What rounding swallows would be sent for ever.
        possible = more > sent
        sent = more
        amount = goal - sent
    _gather(graph, state, scratch, r, _FORGET)
    if scenario >= 0:
        _know(graph, scratch, scenario, -2)
    return possible and holds(graph, state, scratch, r)


@kernel
def _needs(state: State, r: int, e: int) -> Any:
    if state.length[r] < 0:
        return True
    if state.bloom[r] & (np.uint64(1) << np.uint64(e & 63)) == np.uint64(0):
        return False
    found = False
    for i in range(state.length[r]):
        found = found or state.uses[r, i] == e
    return found


@kernel
def redundant(graph: Graph, state: State, scratch: Scratch, e: int) -> Any:
    """Remove a cell if every requirement still holds without it."""
    show(graph, state, e)
    w = state.witness[e]
    if w >= 0 and not holds(graph, state, scratch, w):
        hide(graph, state, e)
        return False
    for r in range(graph.cell.shape[0]):
        if r != w and _needs(state, r, e) and not holds(graph, state, scratch, r):
            hide(graph, state, e)
            state.witness[e] = r
            return False
    return True


@kernel
def lay_paths(graph: Graph, state: State, scratch: Scratch, r: int, penalty: np.ndarray) -> Any:
    """Cheapest paths, each carrying what it can, until requirement r is met from nothing; −1 if it cannot be."""
    k, kind, scenario = graph.cell[r], graph.kind[r], graph.scenario[r]
    left = graph.need[r]
    if scenario >= 0:
        _know(graph, scratch, scenario, scenario)
    for direction in range(2):
        if kind != 2 and kind != direction:
            continue
        source, sink, own = graph.head[k], graph.tail[k], graph.up[k]
        if direction == 1:
            source, sink, own = sink, source, graph.down[k]
        goal = min(left, own)
        while goal > graph.slack[r]:
            cost = cheapest_path(
                graph, state, scratch, k, source, sink, 2.0 * graph.tiny, scenario, np.uint64(0), 0.0, penalty
            )
            if cost < 0.0:
                break
            sent = _follow(graph, state, scratch, sink, goal)
            if not goal - sent < goal:
                break
            goal -= sent
            left -= sent
        _gather(graph, state, scratch, r, _FORGET)
    if scenario >= 0:
        _know(graph, scratch, scenario, -2)
    return 0 if left <= graph.slack[r] else -1


@kernel
def drop_redundant(graph: Graph, state: State, scratch: Scratch, cells: np.ndarray) -> Any:
    """Remove the redundant ones of these cells, in this order."""
    for e in cells:
        if state.hidden[e] and not graph.fixed[e]:
            redundant(graph, state, scratch, e)


@kernel
def clean_up(graph: Graph, state: State, scratch: Scratch) -> Any:
    """Remove redundant cells, the most expensive first; returns the cost of what remains."""
    cells = np.empty(graph.tail.shape[0], dtype=np.int64)
    size = 0
    for e in range(graph.tail.shape[0]):
        if state.hidden[e] and not graph.fixed[e]:
            cells[size] = e
            size += 1
    order = np.argsort(-graph.cost[cells[:size]], kind="mergesort")
    total = 0.0
    for i in order:
        e = cells[i]
        if not redundant(graph, state, scratch, e):
            total += graph.cost[e]
    return total


@kernel
def build(
    graph: Graph,
    state: State,
    scratch: Scratch,
    rng: np.ndarray,
    split: bool,
    strength: float,
    penalty: np.ndarray,
) -> Any:
    """Meet all requirements in random order and clean up; returns the cost, or −1 if one cannot be met."""
    order = np.arange(graph.cell.shape[0])
    shuffle(rng, order)
    salt = next_bits(rng)
    for r in order:
        if not protect(graph, state, scratch, r, rng, split, salt, strength, penalty):
            return -1.0
    return clean_up(graph, state, scratch)


@kernel
def copy_state(graph: Graph, source: State, target: State) -> Any:
    """Make one state equal to another."""
    target.hidden[:] = source.hidden
    target.degree[:] = source.degree
    target.listed[:] = source.listed
    target.at_tail[:] = source.at_tail
    target.at_head[:] = source.at_head
    target.uses[:] = source.uses
    target.length[:] = source.length
    target.bloom[:] = source.bloom
    target.witness[:] = source.witness


@kernel
def improve(
    graph: Graph,
    state: State,
    backup: State,
    scratch: Scratch,
    rng: np.ndarray,
    current: float,
    best: float,
    best_hidden: np.ndarray,
    done: int,
    steps: int,
    cycle: int,
    hot: float,
    cold: float,
    penalty: np.ndarray,
) -> Any:
    """Destroy and repair ``steps`` times with annealing (temperatures ``hot`` to ``cold`` in each ``cycle``).

    ``done`` is how many steps came before, so that cutting a run into pieces changes nothing. Returns the current and
    the best cost; the best pattern is kept in ``best_hidden``.
    """
    cells = np.empty(graph.tail.shape[0], dtype=np.int64)
    every = np.arange(graph.cell.shape[0])
    order = every.copy()
    for step in range(done, done + steps):
        temperature = hot * (cold / hot) ** ((step % cycle) / cycle)
        copy_state(graph, state, backup)
        size = 0
        for e in range(graph.tail.shape[0]):
            if state.hidden[e] and not graph.fixed[e]:
                cells[size] = e
                size += 1
        if size == 0:
            return current, best
        removed = _destroy(graph, state, rng, cells, size)
        for i in range(removed):
            penalty[cells[i]] = 1.0 + 2.0 * uniform(rng)
        salt = next_bits(rng)
        order[:] = every
        shuffle(rng, order)
        fine = True
        for r in order:
            touched = state.length[r] < 0
            for i in range(removed):
                if touched:
                    break
                touched = _needs(state, r, cells[i])
            if touched and not protect(graph, state, scratch, r, rng, _SPLIT, salt, 0.5, penalty):
                fine = False
                break
        for i in range(removed):
            penalty[cells[i]] = 1.0
        cost = clean_up(graph, state, scratch) if fine else np.inf
        if fine and (cost <= current or uniform(rng) < np.exp((current - cost) / temperature)):
            current = cost
            if cost < best - 1e-9:
                best = cost
                best_hidden[:] = state.hidden
        else:
            copy_state(graph, backup, state)
    return current, best


@kernel
def _destroy(graph: Graph, state: State, rng: np.ndarray, cells: np.ndarray, size: int) -> Any:
    # Moves the cells to remove to the front of the list, shows them, and returns how many there are.
    choice = uniform(rng)
    removed = 0
    if choice < 0.25:
        i = below(rng, size)
        cells[0], cells[i] = cells[i], cells[0]
        removed = 1
    elif choice < 0.55:
        r = below(rng, graph.cell.shape[0])
        for i in range(size):
            if state.length[r] >= 0 and _needs(state, r, cells[i]):
                cells[removed], cells[i] = cells[i], cells[removed]
                removed += 1
    elif choice < 0.75:
        e = cells[below(rng, size)]
        t, h = graph.tail[e], graph.head[e]
        for i in range(size):
            f = cells[i]
            near = graph.tail[f] == t or graph.head[f] == h or graph.tail[f] == h or graph.head[f] == t
            if near and removed < 8 and uniform(rng) < 0.6:
                cells[removed], cells[i] = cells[i], cells[removed]
                removed += 1
    if removed == 0:
        wanted = min(size, 1 + below(rng, 5))
        for i in range(wanted):
            j = i + below(rng, size - i)
            cells[i], cells[j] = cells[j], cells[i]
        removed = wanted
    for i in range(removed):
        show(graph, state, cells[i])
    return removed
