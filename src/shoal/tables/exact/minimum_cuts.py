"""Cuts of a network: those that let through least at a point, and those that a cell is alone in carrying across."""

from typing import Any, NamedTuple

import numpy as np

from shoal.runtime.kernels import kernel
from shoal.tables.safety.flow_kernels import (
    NOBODY,
    Arcs,
    Flow,
    Wanted,
    clear,
    ends,
    flow_through,
    know,
    max_flow,
)


class Cuts(NamedTuple):
    """Cuts: the requirement each belongs to, what it must carry, and its node set.

    A node is in the set (bit 1); of a width, bit 2 is for the cut of the second direction.
    """

    owner: np.ndarray
    must: np.ndarray
    sets: np.ndarray

    def at(self, places: Any) -> "Cuts":
        """Some of them."""
        return Cuts(*(array[places] for array in self))

    def and_those_of(self, more: "Cuts") -> "Cuts":
        """These and others behind them."""
        return Cuts(*(np.concatenate(pair) for pair in zip(self, more, strict=True)))


@kernel
def _mark_reaching(flow: Flow, sink: int, skip: int, scenario: int, mark: np.ndarray) -> Any:
    # Marks the nodes from which the sink can be reached in the residual network.
    tail, head, up, down = flow.arcs
    change, queue = flow.change, flow.work[2]
    mark[:] = 0
    mark[sink] = 1
    queue[0] = sink
    read, written = 0, 1
    while read < written:
        v = queue[read]
        read += 1
        for at in range(flow.first[v], flow.first[v] + flow.degree[v]):
            e = flow.listed[at]
            if e == skip or flow.known[e] == scenario:
                continue
            w = tail[e] + head[e] - v
            room = up[e] - change[e] if tail[e] == w else down[e] + change[e]
            if room > flow.tiny and mark[w] == 0:
                mark[w] = 1
                queue[written] = w
                written += 1


# Machine code of kernels that return no arrays is kept; these write into arrays that they are given.
@kernel
def _minimum_cuts(
    nodes: int,
    arcs: Arcs,
    x: np.ndarray,
    support: np.ndarray,
    wanted: Wanted,
    beyond: float,
    tiny: float,
    cuts: Cuts,
) -> Any:
    at_x = Arcs(arcs.tail, arcs.head, np.zeros(x.shape[0]), np.zeros(x.shape[0]))
    flow = flow_through(nodes, at_x, support, tiny)
    mark = np.zeros(nodes, dtype=np.int64)
    count = wanted.cell.shape[0]
    owner, must, sets = cuts.owner, cuts.must, cuts.sets
    size = 0
    worst = 1.0
    for r in range(count):
        k, kind, need, scenario = wanted.cell[r], wanted.kind[r], wanted.need[r], wanted.scenario[r]
        know(flow.known, wanted, scenario, scenario)
        for e in support:
            at_x.up[e] = min(arcs.up[e], need) * x[e]
            at_x.down[e] = min(arcs.down[e], need) * x[e]
        sets[size : size + 2] = 0
        left = need
        total = 0.0
        for direction in range(2):
            if kind != 2 and kind != direction:
                continue
            source, sink, own = ends(arcs, k, direction)
            bit = np.uint8(1 if kind != 2 or direction == 0 else 2)
            sent = max_flow(flow, source, sink, min(own, beyond * need), k, scenario)
            total += sent
            if sent >= own - tiny:
                left -= own
            else:
                reachable = flow.work[0]
                for v in range(nodes):
                    if reachable[v] > 0:
                        sets[size, v] |= bit
                _mark_reaching(flow, sink, k, scenario, mark)
                for v in range(nodes):
                    if mark[v] == 0 and size + 1 < 2 * count:
                        sets[size + 1, v] |= bit
            clear(flow)
        know(flow.known, wanted, scenario, NOBODY)
        if need > 0.0:
            worst = min(worst, total / need)
        if total < beyond * need - tiny and left > 0.0:
            several = 1
            for v in range(nodes):
                if sets[size, v] != sets[size + 1, v]:
                    several = 2
            owner[size : size + several] = r
            must[size : size + several] = left
            size += several
    return size, worst


def minimum_cuts(
    nodes: int, arcs: Arcs, x: np.ndarray, support: np.ndarray, wanted: Wanted, beyond: float, tiny: float
) -> tuple[Cuts, float]:
    """Two minimum cuts for each requirement whose flow at the point ``x`` is below ``beyond`` times its need.

    An arc lets through what its cell counts for in the inequality: no more than is needed. Returns the cuts, and the least
    share of a need that flows.
    """
    most = 2 * wanted.cell.size
    found = Cuts(np.empty(most, dtype=np.int64), np.empty(most), np.zeros((most, nodes), dtype=np.uint8))
    size, worst = _minimum_cuts(nodes, arcs, x, support, wanted, beyond, tiny, found)
    return found.at(slice(0, size)), worst


@kernel
def _bridge_cuts(
    nodes: int,
    arcs: Arcs,
    x: np.ndarray,
    support: np.ndarray,
    fixed: np.ndarray,
    tiny: float,
    least: float,
    owner: np.ndarray,
    sets: np.ndarray,
) -> Any:
    used = np.empty(x.shape[0])
    for e in range(x.shape[0]):
        used[e] = 1.0 if fixed[e] else x[e]
    flow = flow_through(nodes, Arcs(arcs.tail, arcs.head, used, used), support, tiny)
    size = 0
    for e in support:
        if fixed[e] or x[e] < 0.05 or arcs.tail[e] == arcs.head[e]:
            continue
        if max_flow(flow, arcs.tail[e], arcs.head[e], x[e], e, -1) < x[e] - least:
            owner[size] = e
            for v in range(nodes):
                sets[size, v] = flow.work[0, v] > 0
            size += 1
        clear(flow)
    return size


def bridge_cuts(
    nodes: int, arcs: Arcs, x: np.ndarray, support: np.ndarray, fixed: np.ndarray, tiny: float, least: float
) -> tuple[np.ndarray, np.ndarray]:
    """For cells that the point uses more than any cycle through them allows: the cell and the node set."""
    owner, sets = np.empty(support.size, dtype=np.int64), np.zeros((support.size, nodes), dtype=np.uint8)
    size = _bridge_cuts(nodes, arcs, x, support, fixed, tiny, least, owner, sets)
    return owner[:size].copy(), sets[:size].copy()
