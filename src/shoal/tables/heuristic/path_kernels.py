"""Compiled cheapest paths in the residual network (Dijkstra 1959), with prices that are disturbed at random."""

from typing import Any

import numpy as np

from shoal.runtime.kernels import kernel
from shoal.tables.heuristic.network_state import Graph, Noise, Scratch, State, hide
from shoal.tables.safety.flow_kernels import ends, note_move


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
def follow(graph: Graph, state: State, scratch: Scratch, r: int, direction: int, amount: float) -> Any:
    """Hide the cells of the path and send as much along it as it bears, at most ``amount``."""
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
