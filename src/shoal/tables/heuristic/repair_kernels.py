"""Compiled improving of patterns on networks: a part of the pattern is destroyed, and the rest repaired (Shaw 1998)."""

from typing import Any, NamedTuple

import numpy as np

from shoal.runtime.kernels import kernel
from shoal.runtime.randomness import below, next_bits, shuffle, uniform
from shoal.tables.heuristic.network_state import Graph, Noise, Scratch, State, show
from shoal.tables.heuristic.protection_kernels import SPLIT, protect
from shoal.tables.heuristic.redundancy_kernels import clean_up, removable
from shoal.tables.heuristic.requirement_kernels import fill, needs


class Cooling(NamedTuple):
    """Temperatures from ``hot`` to ``cold`` in every ``cycle`` of steps."""

    cycle: int
    hot: float
    cold: float


@kernel
def _copy(source: State, target: State) -> Any:
    # Make one state equal to another.
    fill(target.hidden, source.hidden)
    fill(target.degree, source.degree)
    fill(target.listed, source.listed)
    fill(target.at_tail, source.at_tail)
    fill(target.at_head, source.at_head)
    for r in range(source.uses.shape[0]):
        fill(target.uses[r], source.uses[r])
    fill(target.length, source.length)
    fill(target.bloom, source.bloom)
    fill(target.witness, source.witness)


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
    steps: np.ndarray,
    cooling: Cooling,
) -> Any:
    """Destroy and repair with annealing.

    ``steps`` are counted from the beginning of a run, so that cutting it into pieces changes nothing. Returns the current
    and the best cost; the best pattern is kept in ``best_hidden``.
    """
    every = np.arange(graph.slack.shape[0])
    order = every.copy()
    for step in steps:
        along = (step % cooling.cycle) / cooling.cycle
        temperature = cooling.hot * (cooling.cold / cooling.hot) ** along
        _copy(state, backup)
        cells = removable(graph, state)
        if cells.shape[0] == 0:
            return current, best
        removed = cells[: _destroy(graph, state, rng, cells)]
        for e in removed:
            scratch.penalty[e] = 1.0 + 2.0 * uniform(rng)
        noise = Noise(next_bits(rng), 0.5)
        fill(order, every)
        shuffle(rng, order)
        fine = True
        for r in order:
            touched = state.length[r] < 0
            for e in removed:
                touched = touched or needs(state, r, e)
            if touched and not protect(graph, state, scratch, r, rng, SPLIT, noise):
                fine = False
                break
        for e in removed:
            scratch.penalty[e] = 1.0
        cost = clean_up(graph, state, scratch) if fine else np.inf
        if fine and (cost <= current or uniform(rng) < np.exp((current - cost) / temperature)):
            current = cost
            if cost < best - 1e-9:
                best = cost
                fill(best_hidden, state.hidden)
        else:
            _copy(backup, state)
    return current, best


@kernel
def _destroy(graph: Graph, state: State, rng: np.ndarray, cells: np.ndarray) -> Any:
    # Moves the cells to remove to the front of the list, shows them, and returns how many there are.
    size = cells.shape[0]
    choice = uniform(rng)
    removed = 0
    if choice < 0.25:
        i = below(rng, size)
        cells[0], cells[i] = cells[i], cells[0]
        removed = 1
    elif choice < 0.55:
        r = below(rng, graph.slack.shape[0])
        for i in range(size):
            if state.length[r] >= 0 and needs(state, r, cells[i]):
                cells[removed], cells[i] = cells[i], cells[removed]
                removed += 1
    elif choice < 0.75:
        e = cells[below(rng, size)]
        tail, head = graph.arcs.tail, graph.arcs.head
        for i in range(size):
            f = cells[i]
            near = tail[f] in (tail[e], head[e]) or head[f] in (tail[e], head[e])
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
