"""What the circuit heuristics share: the plain two-dimensional table, and chromosomes that remember circuits.

A chromosome is a safe pattern together with, for each sensitive cell, the cells of its circuit of protection: those that
move when the cell is moved as far as it must be (Herrington 2015). Exchanging a whole circuit, and keeping every
cell another circuit still needs, keeps a pattern safe.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from shoal.errors import Infeasible, InputError
from shoal.runtime import Run, Seeds
from shoal.runtime.kernels import kernel
from shoal.runtime.randomness import shuffle
from shoal.tables.from_papers.hypercube_kernels import Grid, cell_holds, hypercube
from shoal.tables.heuristic.network_state import Graph, Scratch, State, hide, show
from shoal.tables.heuristic.networks import NetworkHeuristic
from shoal.tables.problem import Problem
from shoal.tables.safety.sums import add_for_sums
from shoal.tables.solution import Pattern

# Circuits with more cells than this are never exchanged.
LARGEST_CIRCUIT = 32


class Chromosome(NamedTuple):
    """A safe pattern (``hidden``, complementary cells only), its circuits and how many circuits use each cell.

    ``circuits[s, : lengths[s]]`` belong to the sensitive cell of place s; a length of −1 means too many to list.
    """

    hidden: np.ndarray
    circuits: np.ndarray
    lengths: np.ndarray
    uses: np.ndarray
    cost: float

    def copy(self) -> "Chromosome":
        """Another one with arrays of its own."""
        hidden, circuits, lengths, uses, cost = self
        return Chromosome(hidden.copy(), circuits.copy(), lengths.copy(), uses.copy(), cost)


class Plane:
    """The kernels with all they need for one plain two-dimensional problem."""

    def __init__(self, problem: Problem, method: str, search: int) -> None:
        network, shape = problem.table.network, problem.table.shape
        if shape is None or network is None:
            raise InputError(
                f"method '{method}' needs a plain two-dimensional table; use 'auto', 'general' or 'exact'"
            )
        if not problem.table.internal[problem.sensitive].all():
            raise InputError(f"method '{method}' cannot protect totals; use 'auto', 'general' or 'exact'")
        self.problem = problem
        self.method = method
        self.search = search
        self.heuristic = NetworkHeuristic(problem, network)
        self.heuristic.focus(problem.candidates & problem.table.internal)
        order = np.argsort(problem.sensitive)
        self.sensitive = problem.sensitive[order]
        ends = np.append(self.sensitive, problem.table.cells)
        self.first = np.searchsorted(problem.requirements.cell, ends).astype(np.int64)
        # Where no levels are given, the width is what a cell must be able to rise by.
        upper, lower = problem.upper[order], problem.lower[order]
        rise = np.where(upper + lower > 0, upper, problem.required_width[order])
        self.grid = Grid(*shape, self.heuristic.usable, self.sensitive, self.first, rise, lower)

    @property
    def graph(self) -> Graph:
        """The static part of the kernels' arguments."""
        return self.heuristic.graph

    @property
    def scratch(self) -> Scratch:
        """Working space."""
        return self.heuristic.scratch

    def hypercube(self, rng: np.ndarray, search: int | None = None) -> State | None:
        """Rectangles in random order, then clean-up; ``None`` if some cell could not be protected."""
        state = self.heuristic.state()
        order = np.arange(self.sensitive.size)
        shuffle(rng, order)
        kind = self.search if search is None else search
        cost = hypercube(self.graph, state, self.scratch, self.grid, order, kind)
        return None if cost < 0 else state

    def chromosome(self, state: State) -> Chromosome:
        """The pattern of a state with the circuits its requirements use now."""
        count = self.sensitive.size
        circuits = np.zeros((count, LARGEST_CIRCUIT * 3), dtype=np.int32)
        hidden = state.hidden & ~self.problem.is_sensitive
        uses = np.zeros(hidden.size, dtype=np.int32)
        found = Chromosome(hidden, circuits, np.zeros(count, dtype=np.int64), uses, self.cost_of(hidden))
        for s in range(count):
            renew(state, self.first, found, s)
        return found

    def cost_of(self, hidden: np.ndarray) -> float:
        """What hiding the cells of a mask costs."""
        return self.problem.total_cost(np.flatnonzero(hidden))

    def solution(self, hidden: np.ndarray, seeds: Seeds, run: Run, record: Mapping[str, float]) -> Pattern:
        """What a search found, made safe from insiders and sums as well, with what it counted on its way."""
        pattern = self.finish(np.flatnonzero(hidden), seeds.child("finish").state())
        value = self.problem.total_cost(pattern)
        run.report(value)
        counts = {name: float(count) for name, count in record.items()}
        return Pattern(value=value, complementary=pattern, record=counts, **run.closing())

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
def _uses(chromosome: Chromosome, s: int, e: int) -> Any:
    # Whether circuit s lists a cell.
    listed = False
    for i in range(chromosome.lengths[s]):
        listed = listed or chromosome.circuits[s, i] == e
    return listed


@kernel
def renew(state: State, first: np.ndarray, chromosome: Chromosome, s: int) -> Any:
    """Let the cells that the requirements of sensitive cell s use now be its circuit."""
    circuits, lengths, uses = chromosome.circuits, chromosome.lengths, chromosome.uses
    for i in range(lengths[s]):
        uses[circuits[s, i]] -= 1
    lengths[s] = 0
    for q in range(first[s], first[s + 1]):
        if state.length[q] < 0:
            lengths[s] = -1
        for i in range(state.length[q]):
            e = state.uses[q, i]
            if lengths[s] < 0 or _uses(chromosome, s, e):
                continue
            if lengths[s] == circuits.shape[1]:
                lengths[s] = -1
            else:
                circuits[s, lengths[s]] = e
                lengths[s] += 1
    for i in range(lengths[s]):
        uses[circuits[s, i]] += 1


@kernel
def _cost_of(prices: np.ndarray, chromosome: Chromosome, s: int) -> Any:
    total = 0.0
    for i in range(chromosome.lengths[s]):
        total += prices[chromosome.circuits[s, i]]
    return total


@kernel
def _difference(prices: np.ndarray, receiver: Chromosome, giver: Chromosome, s: int) -> Any:
    # What the receiver costs more after its circuit s gave way to the giver's; cells other circuits use stay.
    total = 0.0
    for i in range(giver.lengths[s]):
        e = giver.circuits[s, i]
        if not receiver.hidden[e]:
            total += prices[e]
    for i in range(receiver.lengths[s]):
        e = receiver.circuits[s, i]
        if receiver.uses[e] <= 1 and not _uses(giver, s, e):
            total -= prices[e]
    return total


@kernel
def find_exchange(
    prices: np.ndarray, order: np.ndarray, attempts: int, largest: int, one: Chromosome, two: Chromosome
) -> Any:
    """The first circuit in ``order`` whose exchange makes a child cheaper than the cheaper parent: place and tries.

    −1 if none of the attempts does.
    """
    limit = min(one.cost, two.cost)
    tries = 0
    for s in order:
        if tries >= attempts:
            break
        tries += 1
        a, b = one.lengths[s], two.lengths[s]
        if a < 0 or b < 0 or a > largest or b > largest:
            continue
        if abs(_cost_of(prices, one, s) - _cost_of(prices, two, s)) < 1e-12:
            continue
        first = one.cost + _difference(prices, one, two, s)
        second = two.cost + _difference(prices, two, one, s)
        if min(first, second) < limit - 1e-9:
            return s, tries
    return -1, tries


@kernel
def exchange(child: Chromosome, giver: Chromosome, s: int) -> Any:
    """Replace circuit s of a child by the giver's; its arrays are changed in place."""
    for i in range(child.lengths[s]):
        e = child.circuits[s, i]
        child.uses[e] -= 1
        if child.uses[e] == 0:
            child.hidden[e] = False
    for i in range(giver.lengths[s]):
        e = giver.circuits[s, i]
        child.circuits[s, i] = e
        child.uses[e] += 1
        child.hidden[e] = True
    child.lengths[s] = giver.lengths[s]


@kernel
def mutate(
    graph: Graph,
    state: State,
    scratch: Scratch,
    first: np.ndarray,
    child: Chromosome,
    s: int,
) -> Any:
    """Remove the first redundant cell of circuit s and renew the circuits that used it; the cell, or −1."""
    for i in range(child.lengths[s]):
        e = child.circuits[s, i]
        show(graph, state, e)
        fine = True
        for other in range(child.lengths.shape[0]):
            touched = child.lengths[other] < 0 or _uses(child, other, e)
            if touched and not cell_holds(graph, state, scratch, first, other):
                fine = False
                break
        if not fine:
            hide(graph, state, e)
            continue
        child.hidden[e] = False
        for other in range(child.lengths.shape[0]):
            if _uses(child, other, e):
                renew(state, first, child, other)
        return e
    return -1
