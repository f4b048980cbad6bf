"""What the circuit heuristics share: the plain two-dimensional table, and chromosomes that remember circuits.

A chromosome is a safe pattern together with, for each sensitive cell, the cells of its circuit of protection: those that
move when the cell is moved as far as it must be (Herrington 2015). Exchanging a whole circuit, and keeping every
cell another circuit still needs, keeps a pattern safe.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.errors import Infeasible, InputError
from shoal.search.kernels import kernel
from shoal.search.randomness import shuffle
from shoal.tables.heuristic import network_kernels
from shoal.tables.heuristic.networks import NetworkHeuristic
from shoal.tables.problem import Problem
from shoal.tables.published.hypercube_kernels import cell_holds, hypercube
from shoal.tables.safety.audit import add_for_sums

# Circuits with more cells than this are never exchanged.
LARGEST_CIRCUIT = 32


@dataclass(frozen=True, eq=False)
class Chromosome:
    """A safe pattern (``hidden``, complementary cells only), its circuits and how many circuits use each cell.

    ``circuits[s, : lengths[s]]`` belong to the sensitive cell of place s; a length of −1 means too many to list.
    """

    hidden: np.ndarray
    circuits: np.ndarray
    lengths: np.ndarray
    uses: np.ndarray
    cost: float


def require_plane(problem: Problem, method: str) -> None:
    """Raise ``InputError`` unless the table is plain and two-dimensional and all sensitive cells are internal."""
    if problem.table.shape is None:
        raise InputError(
            f"method '{method}' needs a plain two-dimensional table; use 'auto', 'general' or 'exact'"
        )
    if not problem.table.internal[problem.sensitive].all():
        raise InputError(f"method '{method}' cannot protect totals; use 'auto', 'general' or 'exact'")


class Plane:
    """The kernels with all they need for one plain two-dimensional problem."""

    def __init__(self, problem: Problem, method: str, search: int) -> None:
        require_plane(problem, method)
        network = problem.table.network
        shape = problem.table.shape
        assert network is not None and shape is not None
        self.problem = problem
        self.method = method
        self.search = search
        self.rows, self.columns = shape
        self.heuristic = NetworkHeuristic(problem, network)
        self.heuristic.focus(problem.candidates & problem.table.internal)
        wanted = problem.requirements
        self.sensitive = np.unique(wanted.cell)
        self.first = np.searchsorted(wanted.cell, np.append(self.sensitive, problem.table.cells)).astype(
            np.int64
        )
        level = np.zeros((2, problem.table.cells))
        width = np.zeros(problem.table.cells)
        level[0, problem.sensitive], level[1, problem.sensitive] = problem.upper, problem.lower
        width[problem.sensitive] = problem.required_width
        self.rise = np.maximum(
            level[0, self.sensitive], np.where(level.sum(axis=0) > 0, 0.0, width)[self.sensitive]
        )
        self.fall = level[1, self.sensitive]

    @property
    def graph(self) -> network_kernels.Graph:
        """The static part of the kernels' arguments."""
        return self.heuristic.graph

    @property
    def scratch(self) -> network_kernels.Scratch:
        """Working space."""
        return self.heuristic.scratch

    def hypercube(self, rng: np.ndarray) -> network_kernels.State | None:
        """Rectangles in random order, then clean-up; ``None`` if some cell could not be protected."""
        state = network_kernels.new_state(self.graph, self.heuristic.network.nodes)
        order = np.arange(self.sensitive.size)
        shuffle(rng, order)
        cost = hypercube(
            self.graph,
            state,
            self.scratch,
            self.heuristic.usable,
            self.rows,
            self.columns,
            self.first,
            self.sensitive,
            self.rise,
            self.fall,
            order,
            self.search,
        )
        return None if cost < 0 else state

    def load(self, hidden: np.ndarray) -> network_kernels.State:
        """A state in which these complementary cells are hidden."""
        state = network_kernels.new_state(self.graph, self.heuristic.network.nodes)
        hide_all(self.graph, state, hidden)
        return state

    def chromosome(self, state: network_kernels.State) -> Chromosome:
        """The pattern of a state with the circuits its requirements use now."""
        circuits, lengths, uses = collect(self.graph, state, self.first, LARGEST_CIRCUIT * 3)
        hidden = state.hidden & ~self.problem.is_sensitive
        return Chromosome(hidden, circuits, lengths, uses, self.problem.total_cost(np.flatnonzero(hidden)))

    def finish(self, pattern: np.ndarray, rng: np.ndarray) -> np.ndarray:
        """The pattern made safe from insiders and sums as well, where these are asked for."""
        problem = self.problem
        found: np.ndarray | None = pattern
        if problem.insiders:
            found = self.heuristic.build(rng, pattern)
        if found is not None and problem.sums is not None:
            found = add_for_sums(problem, found, problem.cost)
        if found is None:
            raise self.failure()
        return found

    def failure(self) -> Infeasible:
        """The error that says that this method found nothing."""
        return Infeasible(f"method '{self.method}' found no safe pattern; 'auto' may find one")


@kernel
def hide_all(graph: network_kernels.Graph, state: network_kernels.State, hidden: np.ndarray) -> Any:
    """Hide every cell of a mask."""
    for e in range(hidden.shape[0]):
        if hidden[e]:
            network_kernels.hide(graph, state, e)


@kernel
def collect(
    graph: network_kernels.Graph, state: network_kernels.State, first: np.ndarray, longest: int
) -> Any:
    """The circuits of all sensitive cells, their lengths, and how many circuits use each cell."""
    count = first.shape[0] - 1
    circuits = np.zeros((count, longest), dtype=np.int32)
    lengths = np.zeros(count, dtype=np.int64)
    uses = np.zeros(graph.tail.shape[0], dtype=np.int32)
    for s in range(count):
        for q in range(first[s], first[s + 1]):
            if state.length[q] < 0:
                lengths[s] = -1
            for i in range(state.length[q]):
                e = state.uses[q, i]
                known = lengths[s] < 0
                for p in range(max(0, lengths[s])):
                    known = known or circuits[s, p] == e
                if not known:
                    if lengths[s] == longest:
                        lengths[s] = -1
                    else:
                        circuits[s, lengths[s]] = e
                        lengths[s] += 1
        for p in range(max(0, lengths[s])):
            uses[circuits[s, p]] += 1
    return circuits, lengths, uses


@kernel
def _cost_of(cost: np.ndarray, circuit: np.ndarray, length: int) -> Any:
    total = 0.0
    for i in range(length):
        total += cost[circuit[i]]
    return total


@kernel
def _difference(
    cost: np.ndarray,
    hidden: np.ndarray,
    uses: np.ndarray,
    old: np.ndarray,
    old_length: int,
    new: np.ndarray,
    new_length: int,
) -> Any:
    # What the pattern costs more after circuit ``old`` gave way to ``new``; cells other circuits use stay.
    total = 0.0
    for i in range(new_length):
        if not hidden[new[i]]:
            total += cost[new[i]]
    for i in range(old_length):
        e = old[i]
        if uses[e] <= 1:
            stays = False
            for j in range(new_length):
                stays = stays or new[j] == e
            if not stays:
                total -= cost[e]
    return total


@kernel
def find_exchange(
    cost: np.ndarray,
    order: np.ndarray,
    attempts: int,
    largest: int,
    one: tuple[Any, ...],
    two: tuple[Any, ...],
) -> Any:
    """The first circuit in ``order`` whose exchange makes a child cheaper than the cheaper parent: place and tries.

    ``one`` and ``two`` are (hidden, circuits, lengths, uses, cost) of the parents. −1 if none of the attempts does.
    """
    hidden1, circuits1, lengths1, uses1, cost1 = one
    hidden2, circuits2, lengths2, uses2, cost2 = two
    limit = min(cost1, cost2)
    tries = 0
    for s in order:
        if tries >= attempts:
            break
        tries += 1
        a, b = lengths1[s], lengths2[s]
        if a < 0 or b < 0 or a > largest or b > largest:
            continue
        if abs(_cost_of(cost, circuits1[s], a) - _cost_of(cost, circuits2[s], b)) < 1e-12:
            continue
        first = cost1 + _difference(cost, hidden1, uses1, circuits1[s], a, circuits2[s], b)
        second = cost2 + _difference(cost, hidden2, uses2, circuits2[s], b, circuits1[s], a)
        if min(first, second) < limit - 1e-9:
            return s, tries
    return -1, tries


@kernel
def exchange(
    hidden: np.ndarray,
    circuits: np.ndarray,
    lengths: np.ndarray,
    uses: np.ndarray,
    s: int,
    new: np.ndarray,
    new_length: int,
) -> Any:
    """Replace circuit s; arrays of the child are changed in place."""
    for i in range(lengths[s]):
        e = circuits[s, i]
        uses[e] -= 1
        if uses[e] == 0:
            hidden[e] = False
    for i in range(new_length):
        e = new[i]
        circuits[s, i] = e
        uses[e] += 1
        hidden[e] = True
    lengths[s] = new_length


@kernel
def mutate(
    graph: network_kernels.Graph,
    state: network_kernels.State,
    scratch: network_kernels.Scratch,
    first: np.ndarray,
    circuits: np.ndarray,
    lengths: np.ndarray,
    uses: np.ndarray,
    hidden: np.ndarray,
    s: int,
) -> Any:
    """Remove the first redundant cell of circuit s and renew the circuits that used it; the cell, or −1."""
    for i in range(max(0, lengths[s])):
        e = circuits[s, i]
        network_kernels.show(graph, state, e)
        fine = True
        for other in range(lengths.shape[0]):
            touched = lengths[other] < 0
            for p in range(max(0, lengths[other])):
                touched = touched or circuits[other, p] == e
            if touched and not cell_holds(graph, state, scratch, first, other):
                fine = False
                break
        if not fine:
            network_kernels.hide(graph, state, e)
            continue
        hidden[e] = False
        for other in range(lengths.shape[0]):
            touched = False
            for p in range(max(0, lengths[other])):
                touched = touched or circuits[other, p] == e
            if touched:
                for p in range(lengths[other]):
                    uses[circuits[other, p]] -= 1
                lengths[other] = 0
                for q in range(first[other], first[other + 1]):
                    if state.length[q] < 0 or lengths[other] < 0:
                        lengths[other] = -1
                        break
                    for u in range(state.length[q]):
                        f = state.uses[q, u]
                        known = False
                        for p in range(lengths[other]):
                            known = known or circuits[other, p] == f
                        if not known and lengths[other] < circuits.shape[1]:
                            circuits[other, lengths[other]] = f
                            lengths[other] += 1
                for p in range(max(0, lengths[other])):
                    uses[circuits[other, p]] += 1
        return e
    return -1


def parts(chromosome: Chromosome) -> tuple[Any, ...]:
    """A chromosome as the kernels take it."""
    return (chromosome.hidden, chromosome.circuits, chromosome.lengths, chromosome.uses, chromosome.cost)
