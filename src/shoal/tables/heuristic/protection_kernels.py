"""Compiled building of patterns on networks by shortest paths (Kelly, Golden and Assad 1992; Castro 2007)."""

from typing import Any

import numpy as np

from shoal.runtime.kernels import kernel
from shoal.runtime.randomness import next_bits, shuffle, uniform
from shoal.tables.heuristic.network_state import Graph, Noise, Scratch, State
from shoal.tables.heuristic.path_kernels import cheapest_path, follow
from shoal.tables.heuristic.redundancy_kernels import clean_up
from shoal.tables.heuristic.requirement_kernels import FORGET, gather, holds, move
from shoal.tables.safety.flow_kernels import NOBODY, ends, know

# Names for the answers that ``protect`` can be given.
WHOLE, SPLIT = False, True


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
    sent = move(graph, state, scratch, r, direction, goal)
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
        more = sent + follow(graph, state, scratch, r, direction, goal - sent)
        # What rounding swallows would be sent for ever.
        possible = more > sent
        sent = more
        amount = goal - sent
    gather(graph, state, scratch, r, FORGET)
    know(scratch.known, graph.wanted, scenario, NOBODY)
    return possible and holds(graph, state, scratch, r)


@kernel
def _cheaper_direction(graph: Graph, state: State, scratch: Scratch, r: int, noise: Noise) -> Any:
    # The direction in which what a width lacks is cheaper, and what the other gives already.
    k, need = graph.wanted.cell[r], graph.wanted.need[r]
    best, direction, base = np.inf, -1, 0.0
    for candidate in range(2):
        other = move(graph, state, scratch, r, 1 - candidate, need)
        gather(graph, state, scratch, r, FORGET)
        here = move(graph, state, scratch, r, candidate, need - other)
        _, _, own = ends(graph.arcs, k, candidate)
        if own >= need - other:
            cost = cheapest_path(graph, state, scratch, r, candidate, need - other - here, noise)
            if cost >= 0.0 and cost < best:
                best, direction, base = cost, candidate, other
        gather(graph, state, scratch, r, FORGET)
    if direction < 0:
        direction = 0 if graph.arcs.up[k] >= graph.arcs.down[k] else 1
        base = move(graph, state, scratch, r, 1 - direction, need)
        gather(graph, state, scratch, r, FORGET)
    return direction, base


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
            sent = follow(graph, state, scratch, r, direction, goal)
            if not goal - sent < goal:
                break
            goal -= sent
            left -= sent
        gather(graph, state, scratch, r, FORGET)
    know(scratch.known, graph.wanted, scenario, NOBODY)
    return 0 if left <= graph.slack[r] else -1


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
