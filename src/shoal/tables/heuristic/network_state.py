"""What a search for patterns on networks works on: the graph, which cells are hidden, and working space."""

from typing import Any, NamedTuple

import numpy as np

from shoal.runtime.kernels import kernel
from shoal.tables.safety.flow_kernels import NOBODY, Arcs, Wanted

# A requirement met by more cells than this is simply checked again whenever a cell goes.
LONGEST = 96


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
