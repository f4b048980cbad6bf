"""A steady-state algorithm on sets with a portfolio of policies.

Each need is met by one of several circuits, sets of cells; a chromosome is the circuit chosen for each need, and it
costs the weights of all cells in them. The crossover exchanges the circuits of one need, and is accepted only if a
child is cheaper than the cheaper parent.
"""

from dataclasses import dataclass
from functools import cached_property
from itertools import product

import numpy as np
import pytest

from shoal.search import Budget, Seeds
from shoal.search.evolution import (
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
from shoal.search.randomness import below, shuffle

CELLS, NEEDS = 24, 6
_random = Seeds(11).generator()
WEIGHTS = _random.integers(1, 60, CELLS).tolist()
CIRCUITS = [
    [frozenset(_random.choice(CELLS, 4, replace=False).tolist()) for _ in range(5)] for _ in range(NEEDS)
]


@dataclass(frozen=True)
class Pattern:
    circuits: tuple[frozenset, ...]

    @cached_property
    def cells(self):
        return frozenset().union(*self.circuits)

    @cached_property
    def cost(self):
        return sum(WEIGHTS[cell] for cell in self.cells)

    def with_circuit(self, need, circuit):
        return Pattern(self.circuits[:need] + (circuit,) + self.circuits[need + 1 :])


def mate(state, one, other):
    needs = np.arange(NEEDS)
    shuffle(state, needs)
    for need in needs:
        children = one.with_circuit(need, other.circuits[need]), other.with_circuit(need, one.circuits[need])
        if min(child.cost for child in children) < min(one.cost, other.cost):
            return [mutated(state, child) for child in children]
    return []


def mutated(state, pattern):
    """Tries another circuit for one need, and keeps it if that is no dearer."""
    need = int(below(state, NEEDS))
    tried = pattern.with_circuit(need, CIRCUITS[need][int(below(state, 5))])
    return tried if tried.cost <= pattern.cost else pattern


def distance(one, other):
    return len(one.cells ^ other.cells)


ELITE = (EliteParents(), ReplaceByElite())
ROULETTE, TOURNAMENT = RouletteParents(), TournamentParents(3)
KILL, SIMILAR = KillTournament(3), ReplaceSimilar(distance, 3)
PAIRS = [(ROULETTE, KILL), (ROULETTE, SIMILAR), (TOURNAMENT, KILL), (TOURNAMENT, SIMILAR)]
PORTFOLIO = Portfolio([Strategy(*ELITE, 0.10), *(Strategy(*pair, 0.225) for pair in PAIRS)])
CONFIGURATIONS = [Strategy(*pair) for pair in [*PAIRS, ELITE]] + [PORTFOLIO]


def _search(strategy, seed):
    state = Seeds(seed).child("founders").state()
    founders = [Pattern(tuple(choice[int(below(state, 5))] for choice in CIRCUITS)) for _ in range(10)]
    mating = Operator("mate", mate, parents=2)
    return Evolution(founders, lambda pattern: pattern.cost, [mating], strategy, Seeds(seed))


@pytest.mark.parametrize("strategy", CONFIGURATIONS)
def test_every_configuration_runs(strategy):
    improved = 0
    for seed in range(5):
        search = _search(strategy, seed)
        start, run = search.best.cost, Budget(iterations=1000).start()
        failures = 0
        for _ in evolve(search, run, patience=100):
            members = search.population.members
            assert len(members) == 10
            assert search.population.keys[:, 0].tolist() == [member.cost for member in members]
            assert all(c in CIRCUITS[n] for member in members for n, c in enumerate(member.circuits))
            assert search.best.cost <= min(member.cost for member in members)
        failures = (search.statistics.made == 0).sum()
        assert search.evaluations == 10 + 2 * (search.generation - failures)
        assert search.stalled == 100 or run.work == 1000
        assert search.best.cost == search.best_key[0] <= start
        improved += search.best.cost < start
    assert improved >= 4


def test_the_portfolio_comes_near_the_best():
    best_possible = min(Pattern(circuits).cost for circuits in product(*CIRCUITS))
    found = []
    for seed in range(8):
        search = _search(PORTFOLIO, seed)
        for _ in evolve(search, Budget(iterations=1000).start(), patience=100):
            pass
        found.append(search.best.cost)
    assert min(found) == best_possible
    assert np.mean(found) <= 1.15 * best_possible


def test_elite_pairs_never_lose_the_best_and_similar_may():
    for seed in range(4):
        search = _search(Strategy(*ELITE), seed)
        for _ in evolve(search, Budget(iterations=60).start()):
            assert min(member.cost for member in search.population.members) == search.best.cost
