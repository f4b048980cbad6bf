"""What is drawn at random is drawn as often as it should be."""

from collections import Counter
from itertools import permutations

import numpy as np
import pytest
from scipy import stats
from tests.runtime.evolution.twins import chances, hamming

from shoal.runtime import Seeds
from shoal.runtime.evolution import (
    EliteParents,
    KillTournament,
    Portfolio,
    ReplaceSimilar,
    ReplaceWorst,
    RouletteParents,
    Strategy,
    TournamentParents,
    replacement,
    selection,
)

DRAWS = 12_000
KEYS = np.array([[3.0], [1.0], [4.0], [2.0]])
COSTS = KEYS[:, 0].tolist()


def _agree(draw, expected):
    """Whether results come with the expected chances; the seed is fixed, so that the answer is always the same."""
    state = Seeds(2024).state()
    seen = Counter(draw(state) for _ in range(DRAWS))
    assert set(seen) <= {result for result, chance in expected.items() if chance > 0}
    likely = [result for result, chance in expected.items() if chance > 0]
    assert sum(expected.values()) == pytest.approx(1)
    observed = [seen[result] for result in likely]
    assert stats.chisquare(observed, [DRAWS * expected[result] for result in likely]).pvalue > 1e-4


def _pair(array):
    return tuple(array.tolist())


def _cheapest(drawn):
    return min(drawn, key=lambda member: COSTS[member])


def _dearest(drawn):
    return max(drawn, key=lambda member: COSTS[member])


def test_at_random():
    expected = {(i, j): 1 / 16 for i in range(4) for j in range(4)}
    _agree(lambda state: _pair(selection.at_random(state, 4, 2)), expected)


@pytest.mark.parametrize("size", [1, 2, 3])
def test_tournament(size):
    expected = chances(_cheapest, 4, lambda members: [members] * size)
    _agree(lambda state: int(selection.tournament(state, KEYS, size)), expected)


def test_distinct_tournaments():
    first = chances(_cheapest, 4, lambda members: [members] * 2)
    expected = {}
    for winner, chance in first.items():
        others = [member for member in range(4) if member != winner]
        second = chances(
            lambda drawn, o=others: _cheapest([o[i] for i in drawn]), 3, lambda members: [members] * 2
        )
        expected |= {(winner, other): chance * then for other, then in second.items()}
    _agree(lambda state: _pair(selection.distinct_tournaments(state, KEYS, 2, 2)), expected)


def test_roulette_follows_inverse_costs():
    shares = np.array([1 / cost for cost in COSTS]) / sum(1 / cost for cost in COSTS)
    weights = selection.inverse_costs(KEYS)
    _agree(lambda state: int(selection.roulette(state, weights)), dict(enumerate(shares)))
    pairs = {(i, j): shares[i] * shares[j] / (1 - shares[i]) for i, j in permutations(range(4), 2)}
    _agree(lambda state: _pair(selection.distinct_roulette(state, weights, 2)), pairs)


def test_members_that_cost_nothing_share_the_wheel():
    weights = selection.inverse_costs(np.array([[0.0], [5.0], [0.0]]))
    _agree(lambda state: int(selection.roulette(state, weights)), {0: 0.5, 2: 0.5})
    pairs = {(0, 2): 0.5, (2, 0): 0.5}
    _agree(lambda state: _pair(selection.distinct_roulette(state, weights, 2)), pairs)


def test_elite_and_other():
    expected = {(one, other): 1 / 4 for one in (1, 3) for other in (0, 2)}
    _agree(lambda state: _pair(selection.elite_and_other(state, KEYS, 2)), expected)


def test_kill_tournament():
    child = np.array([2.5])
    expected = chances(
        lambda drawn: _dearest(drawn) if COSTS[_dearest(drawn)] > 2.5 else -1,
        4,
        lambda members: [members] * 2,
    )
    _agree(lambda state: int(replacement.kill_tournament(state, KEYS, child, 2)), expected)


def test_similar():
    genes, child = np.array([[0, 0, 0], [1, 1, 1], [0, 0, 1], [1, 0, 1]]), np.array([1, 0, 1])
    expected = chances(
        lambda drawn: min(drawn, key=lambda member: hamming(genes[member], child)),
        4,
        lambda members: [members] * 2,
    )
    _agree(lambda state: int(replacement.similar(state, genes, child, 2)), expected)


def test_portfolio():
    roulette, tournament = RouletteParents(), TournamentParents()
    kill, similar = KillTournament(), ReplaceSimilar(hamming)
    strategies = [Strategy(EliteParents(), ReplaceWorst(), 0.10)]
    strategies += [Strategy(s, r, 0.225) for s in (roulette, tournament) for r in (kill, similar)]
    portfolio = Portfolio(strategies)
    expected = {(strategy.select, strategy.replace): strategy.share for strategy in strategies}

    def draw(state):
        strategy = portfolio.draw(state)
        return strategy.select, strategy.replace

    _agree(draw, expected)
