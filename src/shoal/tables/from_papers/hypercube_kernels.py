"""Compiled search for the rectangle that protects a sensitive cell at the least cost (Herrington 2015, figure 2)."""

from typing import Any, NamedTuple

import numpy as np

from shoal.runtime.kernels import kernel
from shoal.tables.heuristic.network_state import Graph, Scratch, State, hide
from shoal.tables.heuristic.redundancy_kernels import clean_up
from shoal.tables.heuristic.requirement_kernels import holds

JOINT, SPLIT = 0, 1
_FRESH = True


class Grid(NamedTuple):
    """A plain table: its internal rows and columns, the cells that may be hidden, and the sensitive ones.

    Sensitive cell s must be able to rise and fall that far, as its requirements from ``first[s]`` to ``first[s + 1]`` say.
    """

    rows: int
    columns: int
    usable: np.ndarray
    sensitive: np.ndarray
    first: np.ndarray
    rise: np.ndarray
    fall: np.ndarray


@kernel
def _cost(hidden: np.ndarray, usable: np.ndarray, cost: np.ndarray, e: int) -> Any:
    # Cells hidden already are free; cells that may not be hidden are out of reach.
    if hidden[e]:
        return 0.0
    return cost[e] if usable[e] else np.inf


@kernel
def best_rectangle(
    graph: Graph, state: State, grid: Grid, cell: int, rise: float, fall: float, fresh: bool
) -> Any:
    """The other corners of the cheapest rectangle that lets a cell rise and fall that far: below, beside and across it.

    With ``fresh`` only rectangles count that hide at least one more cell. −1 for all three if there is none.
    """
    width = grid.columns + 1
    r, c = cell // width, cell % width
    up, down, cost = graph.arcs.up, graph.arcs.down, graph.cost
    hidden, usable = state.hidden, grid.usable
    best, corners = np.inf, (-1, -1, -1)
    for i in range(grid.rows):
        if i == r:
            continue
        below = i * width + c
        at_below = _cost(hidden, usable, cost, below)
        if at_below >= best or down[below] < rise or up[below] < fall:
            continue
        for j in range(grid.columns):
            if j == c:
                continue
            beside, across = r * width + j, i * width + j
            if down[beside] < rise or up[beside] < fall or up[across] < rise or down[across] < fall:
                continue
            total = at_below + _cost(hidden, usable, cost, beside) + _cost(hidden, usable, cost, across)
            if total >= best:
                continue
            if fresh and hidden[below] and hidden[beside] and hidden[across]:
                continue
            best, corners = total, (below, beside, across)
    return corners


@kernel
def _hide_rectangle(
    graph: Graph, state: State, grid: Grid, cell: int, rise: float, fall: float, fresh: bool
) -> Any:
    # How many cells the cheapest rectangle adds, or −1 if there is none.
    corners = best_rectangle(graph, state, grid, cell, rise, fall, fresh)
    if corners[0] < 0:
        return -1
    added = 0
    for e in corners:
        if not state.hidden[e]:
            added += 1
            hide(graph, state, e)
    return added


@kernel
def add_rectangle(graph: Graph, state: State, grid: Grid, s: int, search: int) -> Any:
    """Hide the rectangle (``JOINT``: one for both directions; ``SPLIT``: one for each); how many cells that adds.

    Where none reaches the protection, the cheapest that adds a cell is taken regardless.
    """
    cell = grid.sensitive[s]
    added = 0
    for half in range(2 if search == SPLIT else 1):
        rise = grid.rise[s] if search == JOINT or half == 0 else 0.0
        fall = grid.fall[s] if search == JOINT or half == 1 else 0.0
        more = _hide_rectangle(graph, state, grid, cell, rise, fall, search == JOINT)
        if more < 0:
            more = _hide_rectangle(graph, state, grid, cell, 0.0, 0.0, _FRESH)
        added += max(0, more)
    return added if added > 0 else max(0, _hide_rectangle(graph, state, grid, cell, 0.0, 0.0, _FRESH))


@kernel
def cell_holds(graph: Graph, state: State, scratch: Scratch, first: np.ndarray, s: int) -> Any:
    """Whether all requirements of sensitive cell s hold; which cells they use is noted."""
    fine = True
    for q in range(first[s], first[s + 1]):
        fine = fine and holds(graph, state, scratch, q)
    return fine


@kernel
def hypercube(
    graph: Graph, state: State, scratch: Scratch, grid: Grid, order: np.ndarray, search: int
) -> Any:
    """Rectangles for the sensitive cells in this order until each is safe, then clean-up; the cost, or −1."""
    for s in order:
        while not cell_holds(graph, state, scratch, grid.first, s):
            if add_rectangle(graph, state, grid, s, search) == 0:
                return -1.0
    return clean_up(graph, state, scratch)
