"""The small kit that genetic algorithms share.

A chromosome may be anything; its fitness is a row of numbers, compared column by column, smaller is fitter
(``keys``). ``selection`` and ``replacement`` are kernels on arrays of keys, which a search that is compiled as a
whole calls directly. For chromosomes that are Python objects, ``Evolution`` puts the same kernels to work on a
``Population``, keeps ``OperatorStatistics``, and ``evolve`` spends the budget.
"""

from shoal.runtime.evolution.evolve import Evolution, evolve
from shoal.runtime.evolution.operators import Operator, SwitchOff
from shoal.runtime.evolution.policies import (
    AnyParents,
    EliteAndOtherParents,
    EliteParents,
    KillTournament,
    MergeAndTruncate,
    OnlyNovel,
    Portfolio,
    ReplaceByElite,
    ReplaceLeastFit,
    ReplaceSimilar,
    ReplaceWorst,
    RouletteParents,
    Strategy,
    TournamentParents,
)
from shoal.runtime.evolution.population import Population
from shoal.runtime.evolution.statistics import OperatorStatistics, efficiency

__all__ = [
    "AnyParents",
    "EliteAndOtherParents",
    "EliteParents",
    "Evolution",
    "KillTournament",
    "MergeAndTruncate",
    "OnlyNovel",
    "Operator",
    "OperatorStatistics",
    "Population",
    "Portfolio",
    "ReplaceByElite",
    "ReplaceLeastFit",
    "ReplaceSimilar",
    "ReplaceWorst",
    "RouletteParents",
    "Strategy",
    "SwitchOff",
    "TournamentParents",
    "efficiency",
    "evolve",
]
