"""Compiled search for the rectangle that protects a sensitive cell at the least cost (Herrington 2015, figure 2)."""

from typing import Any

import numpy as np

from shoal.search.kernels import kernel
from shoal.tables.heuristic.network_kernels import Graph, Scratch, State, clean_up, hide, holds

JOINT, SPLIT = 0, 1
_FRESH = True


@kernel
def _cost(graph: Graph, state: State, usable: np.ndarray, e: int) -> Any:
    # Cells hidden already are free; cells that may not be hidden are out of reach.
    if state.hidden[e]:
        return 0.0
    return graph.cost[e] if usable[e] else np.inf


@kernel
def best_rectangle(
    graph: Graph,
    state: State,
    usable: np.ndarray,
    rows: int,
    columns: int,
    width: int,
    r: int,
    c: int,
    rise: float,
    fall: float,
    fresh: bool,
) -> Any:
    """Row and column of the opposite corner of the cheapest rectangle that lets (r, c) rise and fall that far.

    With ``fresh`` only rectangles count that hide at least one more cell. (−1, −1) if there is none.
    """
    best, best_i, best_j = np.inf, -1, -1
    for i in range(rows):
        if i == r:
            continue
        below = i * width + c
        at_below = _cost(graph, state, usable, below)
        if at_below >= best or graph.down[below] < rise or graph.up[below] < fall:
            continue
        for j in range(columns):
            if j == c:
                continue
            beside, across = r * width + j, i * width + j
            if graph.down[beside] < rise or graph.up[beside] < fall:
                continue
            if graph.up[across] < rise or graph.down[across] < fall:
                continue
            total = at_below + _cost(graph, state, usable, beside) + _cost(graph, state, usable, across)
            if total >= best:
                continue
            if fresh and state.hidden[below] and state.hidden[beside] and state.hidden[across]:
                continue
            best, best_i, best_j = total, i, j
    return best_i, best_j


@kernel
def _take(graph: Graph, state: State, width: int, r: int, c: int, i: int, j: int) -> Any:
    added = 0
    for e in (i * width + c, r * width + j, i * width + j):
        if not state.hidden[e]:
            added += 1
            hide(graph, state, e)
    return added


@kernel
def add_rectangle(
    graph: Graph,
    state: State,
    usable: np.ndarray,
    rows: int,
    columns: int,
    width: int,
    r: int,
    c: int,
    rise: float,
    fall: float,
    search: int,
) -> Any:
    """Hide the rectangle (``JOINT``: one for both directions; ``SPLIT``: one for each); how many cells that adds.

    Where none reaches the protection, the cheapest that adds a cell is taken regardless.
    """
    added = 0
    for half in range(2 if search == SPLIT else 1):
        up = rise if search == JOINT or half == 0 else 0.0
        down = fall if search == JOINT or half == 1 else 0.0
        i, j = best_rectangle(graph, state, usable, rows, columns, width, r, c, up, down, search == JOINT)
        if i < 0:
            i, j = best_rectangle(graph, state, usable, rows, columns, width, r, c, 0.0, 0.0, _FRESH)
        if i >= 0:
            added += _take(graph, state, width, r, c, i, j)
    if added == 0:
        i, j = best_rectangle(graph, state, usable, rows, columns, width, r, c, 0.0, 0.0, _FRESH)
        if i >= 0:
            added = _take(graph, state, width, r, c, i, j)
    return added


@kernel
def cell_holds(graph: Graph, state: State, scratch: Scratch, first: np.ndarray, s: int) -> Any:
    """Whether all requirements of sensitive cell s hold; which cells they use is noted."""
    fine = True
    for q in range(first[s], first[s + 1]):
        fine = fine and holds(graph, state, scratch, q)
    return fine


@kernel
def hypercube(
    graph: Graph,
    state: State,
    scratch: Scratch,
    usable: np.ndarray,
    rows: int,
    columns: int,
    first: np.ndarray,
    sensitive: np.ndarray,
    rise: np.ndarray,
    fall: np.ndarray,
    order: np.ndarray,
    search: int,
) -> Any:
    """Rectangles for the sensitive cells in this order until each is safe, then clean-up; the cost, or −1."""
    width = columns + 1
    for s in order:
        r, c = sensitive[s] // width, sensitive[s] % width
        while not cell_holds(graph, state, scratch, first, s):
            if add_rectangle(graph, state, usable, rows, columns, width, r, c, rise[s], fall[s], search) == 0:
                return -1.0
    return clean_up(graph, state, scratch)


__all__ = [
    "JOINT",
    "SPLIT",
    "Graph",
    "Scratch",
    "State",
    "add_rectangle",
    "best_rectangle",
    "cell_holds",
    "hypercube",
]
