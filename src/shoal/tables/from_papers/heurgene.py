"""HeurGene: a genetic algorithm whose crossover exchanges whole circuits of protection (Herrington 2015).

Ten HyperCube patterns are the founders. In each generation two parents exchange the circuit of one sensitive cell,
provided a child becomes cheaper than the cheaper parent; a mutation then removes one redundant cell. Selection and
replacement come from a portfolio.

Three options are what the work leaves to others: founders of different kinds (``seeding``), a mutation that adds a circuit
before it takes away what is not needed any more (``mutation``), and an end when another second would save too little
(``least_benefit``).
"""

from dataclasses import dataclass, field, replace
from typing import Literal

import numpy as np
from pydantic import Field

from shoal.runtime import Budget, Observer, Run, Seeds
from shoal.runtime.compilation import working_cpu_time
from shoal.runtime.evolution import (
    EliteParents,
    Evolution,
    KillTournament,
    Operator,
    Portfolio,
    ReplaceByElite,
    ReplaceSimilar,
    RouletteParents,
    Strategy,
    TournamentParents,
    evolve,
)
from shoal.runtime.evolution.policies import Replace, Select
from shoal.runtime.evolution.replacement import hamming
from shoal.runtime.options import Options
from shoal.runtime.randomness import below, shuffle
from shoal.tables.from_papers.circuits import Chromosome, Plane, exchange, find_exchange, mutate
from shoal.tables.from_papers.hypercube import search_of
from shoal.tables.from_papers.hypercube_kernels import JOINT, SPLIT
from shoal.tables.heuristic.network_state import State
from shoal.tables.heuristic.protection_kernels import build
from shoal.tables.heuristic.redundancy_kernels import drop_redundant
from shoal.tables.heuristic.requirement_kernels import holds
from shoal.tables.problem import Problem
from shoal.tables.solution import Pattern

Configuration = Literal[
    "portfolio", "roulette/kill", "roulette/similar", "tournament/kill", "tournament/similar", "elite/elite"
]


class HeurGeneOptions(Options):
    """The published settings; ``configuration`` names a selection and a replacement, or the portfolio of all."""

    population: int = Field(default=10, ge=2, description="members of the population")
    generations: int = Field(default=1000, ge=0, description="generations, where no budget is given")
    patience: int = Field(
        default=100, ge=1, description="generations without improvement that end the search"
    )
    attempts: int = Field(default=100, ge=1, description="circuits that are tried in one crossover")
    largest_circuit: int = Field(
        default=32, ge=1, le=96, description="most cells in a circuit that is exchanged"
    )
    configuration: Configuration = Field(
        default="portfolio", description="how parents are selected and members replaced, or all ways in turn"
    )
    elite_share: float = Field(
        default=0.10,
        ge=0.0,
        le=1.0,
        description="share of the generations that use the elite way (portfolio)",
    )
    tournament: int = Field(default=3, ge=1, description="members among which a parent is chosen")
    kill: int = Field(default=3, ge=1, description="members among which the least fit is replaced")
    similar: int = Field(default=3, ge=1, description="members among which the most similar one is replaced")
    rectangles: Literal["joint", "split"] = Field(
        default="split",
        description="how founders hide: one rectangle for both directions, or one for each (as the work draws it)",
    )
    seeding: Literal["hypercube", "diverse"] = Field(
        default="hypercube",
        description="founders: rectangles in random orders, or also those of the other kind and cheapest paths (not published)",
    )
    mutation: Literal["remove", "add"] = Field(
        default="remove",
        description="remove a redundant cell, or add a whole circuit first and then clean up (not published)",
    )
    least_benefit: float | None = Field(
        default=None,
        gt=0.0,
        description="end when so many generations saved less than this per CPU second (not published)",
    )
    window: int = Field(default=20, ge=1, description="generations over which that is looked at")
    check_children: bool = Field(
        default=False, description="count, after the run, how many children of crossovers were unsafe"
    )


@dataclass
class Tally:
    """What happened: mating attempts, accepted crossovers, removals by mutation, founders that failed."""

    attempts: int = 0
    crossovers: int = 0
    removals: int = 0
    failures: int = 0
    accepted: list[tuple[float, float, float]] = field(default_factory=list)
    children: list[np.ndarray] = field(default_factory=list)


def apart(one: Chromosome, other: Chromosome) -> float:
    """In how many cells two patterns differ."""
    return float(hamming(one.hidden, other.hidden))


def strategies(options: HeurGeneOptions) -> Portfolio:
    """The strategies of a configuration with their shares."""
    elite = Strategy(EliteParents(), ReplaceByElite(), share=options.elite_share)
    selections: dict[str, Select] = {
        "roulette": RouletteParents(),
        "tournament": TournamentParents(options.tournament),
    }
    replacements: dict[str, Replace] = {
        "kill": KillTournament(options.kill),
        "similar": ReplaceSimilar(apart, options.similar),
    }
    if options.configuration == "elite/elite":
        return Portfolio([Strategy(elite.select, elite.replace)])
    if options.configuration != "portfolio":
        selection, _, replacement = options.configuration.partition("/")
        return Portfolio([Strategy(selections[selection], replacements[replacement])])
    rest = (1.0 - options.elite_share) / 4.0
    return Portfolio(
        [
            elite,
            *(Strategy(s, r, share=rest) for s in selections.values() for r in replacements.values()),
        ]
    )


class Breeder:
    """The operators of HeurGene on one problem."""

    def __init__(self, plane: Plane, options: HeurGeneOptions) -> None:
        self.plane = plane
        self.options = options
        self.tally = Tally()

    def founders(self, seeds: Seeds, run: Run | None = None) -> list[Chromosome]:
        """HyperCube patterns, fewer if the run is over before; those that fail are counted."""
        found: list[Chromosome] = []
        for place in range(self.options.population):
            if found and run is not None and run.stopped:
                break
            state = self._founder(place, seeds.child("hypercube", place).state())
            if state is None:
                self.tally.failures += 1
            else:
                found.append(self.plane.chromosome(state))
        if not found:
            raise self.plane.failure()
        while len(found) < 2:
            found.append(found[0])
        return found

    def _founder(self, position: int, rng: np.ndarray) -> State | None:
        """A pattern to begin with; with diverse seeding every third one each by the other rectangles and by cheapest paths."""
        plane = self.plane
        if self.options.seeding == "hypercube" or position % 3 == 0:
            return plane.hypercube(rng)
        if position % 3 == 1:
            return plane.hypercube(rng, JOINT if self.options.rectangles == "split" else SPLIT)
        state = plane.heuristic.state()
        cost = build(plane.graph, state, plane.scratch, rng, 1.0)
        return None if cost < 0 else state

    def children(self, state: np.ndarray, one: Chromosome, two: Chromosome) -> list[Chromosome]:
        """Two children by one exchange and a mutation each; none if no attempt succeeds."""
        order = np.arange(self.plane.sensitive.size)
        shuffle(state, order)
        options = self.options
        s, tries = find_exchange(
            self.plane.graph.cost, order, options.attempts, options.largest_circuit, one, two
        )
        self.tally.attempts += int(tries)
        adding = options.mutation == "add"
        if s < 0:
            return [self.added(one, two, int(order[0]))] if adding else []
        born = [self.cross(one, two, s), self.cross(two, one, s)]
        if options.check_children:
            self.tally.children += [child.hidden for child in born]
        self.tally.crossovers += 1
        self.tally.accepted.append((min(one.cost, two.cost), born[0].cost, born[1].cost))
        givers = (one, two)
        return [
            self.added(child, giver, int(below(state, order.size)))
            if adding
            else self.mutated(child, int(below(state, order.size)))
            for child, giver in zip(born, givers, strict=True)
        ]

    def cross(self, receiver: Chromosome, giver: Chromosome, s: int) -> Chromosome:
        """The receiver with the circuit of sensitive cell s from the giver."""
        child = receiver.copy()
        exchange(child, giver, s)
        return child._replace(cost=self.plane.cost_of(child.hidden))

    def mutated(self, child: Chromosome, s: int) -> Chromosome:
        """The child without the first redundant cell of one circuit."""
        plane, mutant = self.plane, child.copy()
        state = plane.heuristic.state(np.flatnonzero(mutant.hidden))
        if mutate(plane.graph, state, plane.scratch, plane.first, mutant, s) < 0:
            return child
        self.tally.removals += 1
        return mutant._replace(cost=plane.cost_of(mutant.hidden))

    def added(self, child: Chromosome, giver: Chromosome, s: int) -> Chromosome:
        """The child with the giver's circuit of one sensitive cell beside its own, without what is redundant then."""
        plane = self.plane
        together = child.hidden.copy()
        together[giver.circuits[s, : max(0, int(giver.lengths[s]))]] = True
        cells = np.flatnonzero(together)
        state = plane.heuristic.examined(cells)
        dearest_first = cells[np.argsort(-plane.graph.cost[cells], kind="stable")]
        drop_redundant(plane.graph, state, plane.scratch, dearest_first)
        self.tally.removals += int(cells.size - (state.hidden & together).sum())
        return plane.chromosome(state)

    def unsafe_children(self) -> int:
        """How many children of crossovers left a sensitive cell unprotected, looked at cell by cell."""
        plane = self.plane
        return sum(not _is_safe(plane, hidden) for hidden in self.tally.children)


def _is_safe(plane: Plane, hidden: np.ndarray) -> bool:
    state = plane.heuristic.state(np.flatnonzero(hidden))
    return all(holds(plane.graph, state, plane.scratch, r) for r in range(plane.heuristic.wanted.size))


class _Benefit:
    """Whether another second would still save enough: what the last generations saved per second of CPU."""

    def __init__(self, least: float | None, window: int) -> None:
        self._least = least
        self._window = window
        self._points: list[tuple[float, float]] = []

    def too_small(self, cost: float) -> bool:
        """Enter the best cost after a generation; whether the last ones saved too little."""
        if self._least is None:
            return False
        self._points.append((working_cpu_time(), cost))
        if len(self._points) <= self._window:
            return False
        then, before = self._points[-1 - self._window]
        now, after = self._points[-1]
        return (before - after) < self._least * (now - then)


def solve(
    problem: Problem,
    options: HeurGeneOptions,
    *,
    budget: Budget,
    seeds: Seeds,
    threads: int = 1,
    observer: Observer,
    start: Pattern | None = None,
) -> Pattern:
    """Evolve; one generation (one pair of parents) is one unit of work."""
    plane = Plane(problem, "heurgene", search_of(options.rectangles))
    breeder = Breeder(plane, options)
    run = budget.start(observer)
    founders = breeder.founders(seeds, run)
    search = Evolution(
        founders,
        lambda chromosome: chromosome.cost,
        [Operator("crossover", breeder.children, parents=2)],
        strategies(options),
        seeds.child("evolution"),
    )
    founded = float(search.best_key[0])
    benefit = _Benefit(options.least_benefit, options.window)
    for generation in evolve(search, run, patience=options.patience):
        if generation >= options.generations or benefit.too_small(float(search.best_key[0])):
            break
    tally = breeder.tally
    record = {
        "generations": search.generation,
        "last_improvement": search.improved_at,
        "attempts": tally.attempts,
        "crossovers": tally.crossovers,
        "removals": tally.removals,
        "failures": tally.failures,
        "best_founder": founded,
    }
    found = plane.solution(search.best.hidden, seeds, run, record)
    if not options.check_children:
        return found
    # Only now, so that it is no part of the time.
    counted = {"children": float(len(tally.children)), "infeasible": float(breeder.unsafe_children())}
    return replace(found, record={**found.record, **counted})
