"""Compiles the kernels of the kit, and the random numbers they draw, for the types that searches use."""

import numpy as np

from shoal.runtime.evolution import keys, replacement, selection
from shoal.runtime.randomness import below, next_bits, shuffle, uniform
from shoal.runtime.seeds import Seeds


def warm_up() -> None:
    """Run every kernel once with whole and with real keys."""
    state = Seeds(0).state()
    next_bits(state)
    uniform(state)
    below(state, 2)
    shuffle(state, np.arange(3))
    weights = np.ones(3)
    selection.at_random(state, 3, 2)
    selection.roulette(state, weights)
    selection.distinct_roulette(state, weights, 2)
    for table in (np.array([[1, 2], [3, 4], [5, 6]]), np.array([[1.0], [2.0], [3.0]])):
        child = table[0]
        keys.fitter(child, child)
        keys.fittest(table)
        keys.least_fit(table)
        keys.ranking(table)
        selection.tournament(state, table, 2)
        selection.distinct_tournaments(state, table, 2, 2)
        selection.inverse_costs(table)
        selection.elite(table, 2)
        selection.elite_and_other(state, table, 1)
        replacement.steady_state(table, child)
        replacement.elite_places(table, table, 2)
        replacement.kill_tournament(state, table, child, 2)
        replacement.truncation_merge(table, table)
    genes = np.zeros((2, 3), dtype=np.int64)
    replacement.hamming(genes[0], genes[1])
    replacement.similar(state, genes, genes[0], 2)
