"""Compiled judging of requirements on networks: whether hidden cells let one move as far as it must, and which it uses."""

from typing import Any

import numpy as np

from shoal.runtime.kernels import kernel
from shoal.tables.heuristic.network_state import Graph, Scratch, State
from shoal.tables.safety.flow_kernels import NOBODY, Flow, ends, know, max_flow, moving

# From here on a short way is looked for before a flow: most requirements have one, and it is found in few cells.
MANY_CELLS = 100_000
# A name for the answer that ``gather`` can be given.
FORGET = False


@kernel
def move(graph: Graph, state: State, scratch: Scratch, r: int, direction: int, limit: float) -> Any:
    """Move the cell of requirement r in one direction, by ``limit`` at most."""
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
def gather(graph: Graph, state: State, scratch: Scratch, r: int, keep: bool) -> Any:
    """Clear the changes; with keep, note which removable cells were moved."""
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
    """Make one row equal to another."""
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
            total += move(graph, state, scratch, r, direction, need - total)
            if direction == 0 or kind == 1:
                state.length[r] = 0
                state.bloom[r] = np.uint64(0)
            gather(graph, state, scratch, r, total >= enough or (kind == 2 and direction == 0))
    know(scratch.known, graph.wanted, scenario, NOBODY)
    if total < enough:
        state.length[r] = kept
        state.bloom[r] = kept_bloom
        if kind == 2:
            fill(state.uses[r], old)
        return False
    return True


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
