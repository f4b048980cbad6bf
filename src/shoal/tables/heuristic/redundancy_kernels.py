"""Compiled cleaning up of patterns on networks: redundant cells are removed in descending cost."""

from typing import Any

import numpy as np

from shoal.runtime.kernels import kernel
from shoal.tables.heuristic.network_state import Graph, Scratch, State, hide, show
from shoal.tables.heuristic.requirement_kernels import holds, needs


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
