"""Compiled building and cleaning up of patterns on networks.

A pattern is built by shortest paths in the residual network (Kelly, Golden and Assad 1992; Castro 2007) and thinned out by
removing redundant cells in descending cost.
"""

from typing import Any, NamedTuple

import numpy as np

from shoal.search.kernels import kernel
from shoal.search.randomness import next_bits, shuffle, uniform
from shoal.tables.safety.flow_kernels import (
    NOBODY,
    Arcs,
    Flow,
    Wanted,
    ends,
    know,
    max_flow,
    moving,
    note_move,
)

# A requirement met by more cells than this is simply checked again whenever a cell goes.
LONGEST = 96
# From here on a short way is looked for before a flow: most requirements have one, and it is found in few cells.
MANY_CELLS = 100_000
# Names for the answers a helper can be given.
_FORGET = False
WHOLE, SPLIT = False, True


class Graph(NamedTuple):
    """What does not change during a search. ``first`` and ``usable`` list the arcs that may be used at each node."""

    arcs: Arcs
    wanted: Wanted
    slack: np.ndarray
    cost: np.ndarray
    price: np.ndarray
    fixed: np.ndarray
    first: np.ndarray
    usable: np.ndarray
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
    """Working space. The last row of ``flow`` marks the ends of short ways and is 0 between two uses of it, the others are
    those of a ``Flow``. ``penalty`` is by how many times a cell is dearer than its price, for those just removed.
    """

    change: np.ndarray
    known: np.ndarray
    flow: np.ndarray
    moved: np.ndarray
    distance: np.ndarray
    via: np.ndarray
    done: np.ndarray
    heap_key: np.ndarray
    heap_node: np.ndarray
    path: np.ndarray
    penalty: np.ndarray


class Noise(NamedTuple):
    """How strongly prices are disturbed, and the number that decides which way."""

    salt: np.uint64
    strength: float


def new_state(graph: Graph, nodes: int) -> State:
    """The state in which only fixed cells are hidden and no requirement has been looked at."""
    cells, wanted = graph.cost.shape[0], graph.slack.shape[0]
    state = State(
        np.zeros(cells, dtype=np.bool_),
        np.zeros(nodes, dtype=np.int64),
        np.zeros(graph.usable.shape[0], dtype=np.int32),
        np.zeros(cells, dtype=np.int64),
        np.zeros(cells, dtype=np.int64),
        np.zeros((wanted, LONGEST), dtype=np.int32),
        np.full(wanted, -1, dtype=np.int64),
        np.zeros(wanted, dtype=np.uint64),
        np.full(cells, -1, dtype=np.int64),
    )
    hide_all(graph, state, np.flatnonzero(graph.fixed))
    return state


def new_scratch(graph: Graph, nodes: int) -> Scratch:
    """Working space for a graph of this size."""
    cells = graph.cost.shape[0]
    longest = graph.usable.shape[0] + nodes + 8
    return Scratch(
        np.zeros(cells),
        np.full(cells, NOBODY, dtype=np.int64),
        np.zeros((5, nodes + 1), dtype=np.int64),
        np.zeros(cells + 1, dtype=np.int32),
        np.zeros(nodes),
        np.zeros(nodes, dtype=np.int64),
        np.zeros(nodes, dtype=np.bool_),
        np.zeros(longest),
        np.zeros(longest, dtype=np.int64),
        np.zeros(nodes + 1, dtype=np.int64),
        np.ones(cells),
    )


@kernel
def hide(graph: Graph, state: State, e: int) -> Any:
    """Add a cell to the hidden ones."""
    if state.hidden[e]:
        return
    state.hidden[e] = True
    t, h = graph.arcs.tail[e], graph.arcs.head[e]
    if t == h:
        return
    state.at_tail[e] = graph.first[t] + state.degree[t]
    state.listed[state.at_tail[e]] = e
    state.degree[t] += 1
    state.at_head[e] = graph.first[h] + state.degree[h]
    state.listed[state.at_head[e]] = e
    state.degree[h] += 1


@kernel
def hide_all(graph: Graph, state: State, cells: np.ndarray) -> Any:
    """Add several cells to the hidden ones."""
    for e in cells:
        hide(graph, state, e)


@kernel
def show(graph: Graph, state: State, e: int) -> Any:
    """Take a cell out of the hidden ones."""
    if not state.hidden[e]:
        return
    state.hidden[e] = False
    t, h = graph.arcs.tail[e], graph.arcs.head[e]
    if t == h:
        return
    for v, position in ((t, state.at_tail[e]), (h, state.at_head[e])):
        state.degree[v] -= 1
        last = graph.first[v] + state.degree[v]
        moved = state.listed[last]
        state.listed[position] = moved
        if moved != e:
            if graph.arcs.tail[moved] == v:
                state.at_tail[moved] = position
            else:
                state.at_head[moved] = position


@kernel
def _flow(graph: Graph, state: State, scratch: Scratch, r: int, direction: int, limit: float) -> Any:
    # Move the cell of requirement r in one direction, by ``limit`` at most.
    k = graph.wanted.cell[r]
    source, sink, own = ends(graph.arcs, k, direction)
    flow = Flow(
        graph.arcs,
        graph.first,
        state.degree,
        state.listed,
        scratch.change,
        scratch.known,
        scratch.flow,
        scratch.moved,
        graph.tiny,
    )
    return max_flow(flow, source, sink, min(own, limit), k, graph.wanted.scenario[r])


@kernel
def _gather(graph: Graph, state: State, scratch: Scratch, r: int, keep: bool) -> Any:
    # Clear the changes; with keep, note which removable cells were moved.
    for e in moving(scratch.moved, graph.first, state.degree, state.listed):
        if scratch.change[e] == 0.0:
            continue
        moved = abs(scratch.change[e]) > graph.tiny
        scratch.change[e] = 0.0
        if keep and moved and not graph.fixed[e] and state.length[r] >= 0:
            if state.length[r] == state.uses.shape[1]:
                state.length[r] = -1
            else:
                state.uses[r, state.length[r]] = e
                state.length[r] += 1
                state.bloom[r] |= np.uint64(1) << np.uint64(e & 63)


@kernel
def _short_way(graph: Graph, state: State, scratch: Scratch, r: int) -> Any:
    # Whether three hidden cells or fewer carry all that requirement r needs; if so, they are noted as those it uses.
    tail, head, up, down = graph.arcs
    known, mark = scratch.known, scratch.flow[4]
    k, direction, scenario = graph.wanted.cell[r], graph.wanted.kind[r], graph.wanted.scenario[r]
    source, sink, own = ends(graph.arcs, k, direction)
    need = graph.wanted.need[r] - graph.slack[r]
    if source == sink or own < need:
        return False
    first, degree, listed = graph.first, state.degree, state.listed
    last = first[sink] + degree[sink]
    for at in range(first[sink], last):
        e = listed[at]
        w = tail[e] + head[e] - sink
        if e != k and known[e] != scenario and (up[e] if tail[e] == w else down[e]) >= need:
            mark[w] = e + 1
    one, two, three = -1, -1, -1
    for at in range(first[source], first[source] + degree[source]):
        e = listed[at]
        v = tail[e] + head[e] - source
        if e == k or known[e] == scenario or (up[e] if tail[e] == source else down[e]) < need:
            continue
        if v == sink or mark[v] > 0:
            one, three = e, mark[v] - 1 if v != sink else -1
            break
        for further in range(first[v], first[v] + degree[v]):
            f = listed[further]
            w = tail[f] + head[f] - v
            if w == source or f == k or known[f] == scenario or mark[w] == 0:
                continue
            if (up[f] if tail[f] == v else down[f]) >= need:
                one, two, three = e, f, mark[w] - 1
                break
        if one >= 0:
            break
    for at in range(first[sink], last):
        mark[tail[listed[at]] + head[listed[at]] - sink] = 0
    if one < 0:
        return False
    state.length[r] = 0
    state.bloom[r] = np.uint64(0)
    for e in (one, two, three):
        if e >= 0 and not graph.fixed[e]:
            state.uses[r, state.length[r]] = e
            state.length[r] += 1
            state.bloom[r] |= np.uint64(1) << np.uint64(e & 63)
    return True


@kernel
def fill(target: np.ndarray, source: np.ndarray) -> Any:
    """Make one row equal to another, one by one: machine code that could fail with a message is not kept."""
    for i in range(source.shape[0]):
        target[i] = source[i]


@kernel
def holds(graph: Graph, state: State, scratch: Scratch, r: int) -> Any:
    """Whether requirement r is met now; if so, which cells it uses is noted."""
    kind, need, scenario = graph.wanted.kind[r], graph.wanted.need[r], graph.wanted.scenario[r]
    know(scratch.known, graph.wanted, scenario, scenario)
    if kind != 2 and graph.cost.shape[0] >= MANY_CELLS and _short_way(graph, state, scratch, r):
        know(scratch.known, graph.wanted, scenario, NOBODY)
        return True
    enough = need - graph.slack[r]
    total = 0.0
    kept, kept_bloom = state.length[r], state.bloom[r]
    if kind == 2:
        # The first direction may leave its list behind before the second one fails.
        old = state.uses[r].copy()
    for direction in range(2):
        if (kind == 2 or kind == direction) and total < enough:
            total += _flow(graph, state, scratch, r, direction, need - total)
            if direction == 0 or kind == 1:
                state.length[r] = 0
                state.bloom[r] = np.uint64(0)
            _gather(graph, state, scratch, r, total >= enough or (kind == 2 and direction == 0))
    know(scratch.known, graph.wanted, scenario, NOBODY)
    if total < enough:
        state.length[r] = kept
        state.bloom[r] = kept_bloom
        if kind == 2:
            fill(state.uses[r], old)
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
def _factor(noise: Noise, e: int) -> Any:
    x = np.uint64(e) * np.uint64(0x9E3779B97F4A7C15) + noise.salt
    x ^= x >> np.uint64(29)
    x *= np.uint64(0xBF58476D1CE4E5B9)
    x ^= x >> np.uint64(32)
    return 1.0 + noise.strength * (float(x >> np.uint64(11)) * (1.0 / 9007199254740992.0) - 0.5)


@kernel
def cheapest_path(
    graph: Graph, state: State, scratch: Scratch, r: int, direction: int, amount: float, noise: Noise
) -> Any:
    """The cheapest path able to carry ``amount`` (Dijkstra 1959): hidden cells are free; returns its cost, or −1.

    It moves the cell of requirement r in one direction. The arcs of the path are left in ``scratch.path``, from the sink
    back, ended by −1.
    """
    tail, head, up, down = graph.arcs
    change, known = scratch.change, scratch.known
    k, scenario = graph.wanted.cell[r], graph.wanted.scenario[r]
    source, sink, _ = ends(graph.arcs, k, direction)
    scratch.distance[:] = np.inf
    scratch.done[:] = False
    scratch.distance[source] = 0.0
    size = _push_heap(scratch, 0, 0.0, source)
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
            e = graph.usable[position]
            if e == k or known[e] == scenario:
                continue
            w = tail[e] + head[e] - v
            room = up[e] - change[e] if tail[e] == v else down[e] + change[e]
            if scratch.done[w] or room < amount:
                continue
            step = 1e-9
            if not state.hidden[e]:
                step += graph.price[e] * _factor(noise, e) * scratch.penalty[e]
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
        v = tail[e] + head[e] - v
        i += 1
    scratch.path[i] = -1
    return scratch.distance[sink]


@kernel
def _follow(graph: Graph, state: State, scratch: Scratch, r: int, direction: int, amount: float) -> Any:
    # Hide the cells of the path and send as much along it as it bears, at most ``amount``.
    tail, head, up, down = graph.arcs
    change = scratch.change
    _, sink, _ = ends(graph.arcs, graph.wanted.cell[r], direction)
    v = sink
    i = 0
    while scratch.path[i] >= 0:
        e = scratch.path[i]
        v = tail[e] + head[e] - v
        amount = min(amount, up[e] - change[e] if tail[e] == v else down[e] + change[e])
        i += 1
    v = sink
    i = 0
    while scratch.path[i] >= 0:
        e = scratch.path[i]
        hide(graph, state, e)
        v = tail[e] + head[e] - v
        if change[e] == 0.0:
            note_move(scratch.moved, e)
        change[e] += amount if tail[e] == v else -amount
        i += 1
    return amount


@kernel
def protect(
    graph: Graph, state: State, scratch: Scratch, r: int, rng: np.ndarray, split: bool, noise: Noise
) -> Any:
    """Hide further cells until requirement r is met; false if that cannot be done with the arcs of the graph."""
    if holds(graph, state, scratch, r):
        return True
    k, direction, scenario = graph.wanted.cell[r], graph.wanted.kind[r], graph.wanted.scenario[r]
    goal = graph.wanted.need[r]
    know(scratch.known, graph.wanted, scenario, scenario)
    if direction == 2:
        direction, other = _cheaper_direction(graph, state, scratch, r, noise)
        goal -= other
    sent = _flow(graph, state, scratch, r, direction, goal)
    enough = goal - graph.slack[r]
    _, _, own = ends(graph.arcs, k, direction)
    possible = own >= enough
    amount = goal - sent
    if split and uniform(rng) < 0.25:
        amount *= 0.3 + 0.6 * uniform(rng)
    smallest = (goal - sent) / 256.0
    while possible and sent < enough:
        amount = min(amount, goal - sent)
        if cheapest_path(graph, state, scratch, r, direction, amount, noise) < 0.0:
            amount *= 0.5
            if amount < smallest or amount <= graph.tiny:
                possible = False
            continue
        more = sent + _follow(graph, state, scratch, r, direction, goal - sent)
        # What rounding swallows would be sent for ever.
        possible = more > sent
        sent = more
        amount = goal - sent
    _gather(graph, state, scratch, r, _FORGET)
    know(scratch.known, graph.wanted, scenario, NOBODY)
    return possible and holds(graph, state, scratch, r)


@kernel
def _cheaper_direction(graph: Graph, state: State, scratch: Scratch, r: int, noise: Noise) -> Any:
    # The direction in which what a width lacks is cheaper, and what the other gives already.
    k, need = graph.wanted.cell[r], graph.wanted.need[r]
    best, direction, base = np.inf, -1, 0.0
    for candidate in range(2):
        other = _flow(graph, state, scratch, r, 1 - candidate, need)
        _gather(graph, state, scratch, r, _FORGET)
        here = _flow(graph, state, scratch, r, candidate, need - other)
        _, _, own = ends(graph.arcs, k, candidate)
        if own >= need - other:
            cost = cheapest_path(graph, state, scratch, r, candidate, need - other - here, noise)
            if cost >= 0.0 and cost < best:
                best, direction, base = cost, candidate, other
        _gather(graph, state, scratch, r, _FORGET)
    if direction < 0:
        direction = 0 if graph.arcs.up[k] >= graph.arcs.down[k] else 1
        base = _flow(graph, state, scratch, r, 1 - direction, need)
        _gather(graph, state, scratch, r, _FORGET)
    return direction, base


@kernel
def needs(state: State, r: int, e: int) -> Any:
    """Whether requirement r may use a cell, as far as is known."""
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
    for r in range(graph.slack.shape[0]):
        if r != w and needs(state, r, e) and not holds(graph, state, scratch, r):
            hide(graph, state, e)
            state.witness[e] = r
            return False
    return True


@kernel
def lay_paths(graph: Graph, state: State, scratch: Scratch, r: int) -> Any:
    """Cheapest paths, each carrying what it can, until requirement r is met from nothing; −1 if it cannot be."""
    kind, scenario = graph.wanted.kind[r], graph.wanted.scenario[r]
    left = graph.wanted.need[r]
    know(scratch.known, graph.wanted, scenario, scenario)
    for direction in range(2):
        if kind != 2 and kind != direction:
            continue
        _, _, own = ends(graph.arcs, graph.wanted.cell[r], direction)
        goal = min(left, own)
        plain = Noise(np.uint64(0), 0.0)
        while goal > graph.slack[r]:
            if cheapest_path(graph, state, scratch, r, direction, 2.0 * graph.tiny, plain) < 0.0:
                break
            sent = _follow(graph, state, scratch, r, direction, goal)
            if not goal - sent < goal:
                break
            goal -= sent
            left -= sent
        _gather(graph, state, scratch, r, _FORGET)
    know(scratch.known, graph.wanted, scenario, NOBODY)
    return 0 if left <= graph.slack[r] else -1


@kernel
def drop_redundant(graph: Graph, state: State, scratch: Scratch, cells: np.ndarray) -> Any:
    """Remove the redundant ones of these cells, in this order."""
    for e in cells:
        if state.hidden[e] and not graph.fixed[e]:
            redundant(graph, state, scratch, e)


@kernel
def removable(graph: Graph, state: State) -> Any:
    """The hidden cells that are not sensitive."""
    cells = np.empty(state.hidden.shape[0], dtype=np.int64)
    found = 0
    for e in range(state.hidden.shape[0]):
        if state.hidden[e] and not graph.fixed[e]:
            cells[found] = e
            found += 1
    return cells[:found]


@kernel
def clean_up(graph: Graph, state: State, scratch: Scratch) -> Any:
    """Remove redundant cells, the most expensive first; returns the cost of what remains."""
    cells = removable(graph, state)
    total = 0.0
    for i in np.argsort(-graph.cost[cells], kind="mergesort"):
        if not redundant(graph, state, scratch, cells[i]):
            total += graph.cost[cells[i]]
    return total


@kernel
def shuffled(graph: Graph, rng: np.ndarray) -> Any:
    """All requirements in random order, and the number that decides how prices are disturbed while they are met."""
    order = np.arange(graph.slack.shape[0])
    shuffle(rng, order)
    return order, next_bits(rng)


@kernel
def protect_all(
    graph: Graph, state: State, scratch: Scratch, rng: np.ndarray, order: np.ndarray, noise: Noise
) -> Any:
    """Meet these requirements one after the other; false if one cannot be met."""
    possible = True
    for r in order:
        possible = possible and protect(graph, state, scratch, r, rng, WHOLE, noise)
    return possible


@kernel
def build(graph: Graph, state: State, scratch: Scratch, rng: np.ndarray, strength: float) -> Any:
    """Meet all requirements in random order and clean up; returns the cost, or −1 if one cannot be met."""
    order, salt = shuffled(graph, rng)
    if not protect_all(graph, state, scratch, rng, order, Noise(salt, strength)):
        return -1.0
    return clean_up(graph, state, scratch)
