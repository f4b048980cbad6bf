"""Risk by log-linear models of the sample counts (Skinner and Shlomo).

The counts of all combinations of keys are modelled as Poisson variables whose logarithm is a sum of main effects, or of these
and all effects of two keys. With μ the fitted count of the sample and π the sampling fraction, h = μ(1−π)/π people with the
same keys are expected outside the sample. τ₁ = Σ e^(−h) sample uniques are expected to be unique in the population, and
τ₂ = Σ (1−e^(−h))/h re-identifications among the sample uniques. Keys are categories, always. These are estimates of models,
not bounds; independent keys usually overstate risk and all two-way effects understate it, so the truth often lies between.

References
----------
- C. Skinner and N. Shlomo, Assessing identification risk in survey microdata using log-linear models, JASA 103(483), 2008.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import prod
from typing import TypeAlias

import numpy as np

from shoal.microdata.risk import keys_kernels
from shoal.microdata.risk import loglinear_kernels as kernels
from shoal.microdata.risk.households import Households
from shoal.runtime.budget import Run

#: A table with more cells than this is not fitted with effects of two keys: it is held in memory and passed many times.
LARGEST_TABLE = 1_000_000
_MOST_ROUNDS = 200
# What is left to go, relative to the counts, that is near enough.
_CLOSE = 1e-5
_ROUNDS_BEFORE_LEAP = 4
# Where every round leaves less than this of the way, no leap is needed.
_SLOW = 0.3

#: A pair of keys: where its cells are in the table, and the observed counts.
_Pair: TypeAlias = tuple[np.ndarray, np.ndarray]


@dataclass(frozen=True)
class LoglinearRisk:
    """What a model expects: sample uniques that are unique in the population, and re-identifications.

    ``tau2`` counts re-identifications among the sample uniques alone, ``reidentifications`` those among all records, and
    ``persons`` all members of a household of which somebody is found, where households are known.
    """

    tau1: float
    tau2: float
    reidentifications: float
    persons: float
    converged: bool = True


def main_effects(codes: np.ndarray, sizes: Sequence[int], records: np.ndarray) -> np.ndarray:
    """The fitted count of each class if the keys were independent.

    >>> main_effects(np.array([[0, 0, 1], [0, 1, 0]]), [2, 2], np.array([4, 2, 2])).tolist()
    [4.5, 1.5, 1.5]
    """
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int64)
    margins = np.zeros(sum(sizes))
    for own, start in zip(codes, starts, strict=True):
        keys_kernels.add_up(own, records, margins[start:])
    fitted = np.empty(records.size)
    kernels.main_effects(codes, margins, starts, float(records.sum()), fitted)
    return fitted


def two_way(
    codes: np.ndarray, sizes: Sequence[int], records: np.ndarray, run: Run | None = None
) -> tuple[np.ndarray, bool] | None:
    """The fitted count of each class with all effects of two keys, and whether the fitting came to its end.

    None if the time of the ``run`` was over before: a fit that was broken off says nothing that can be relied on.

    Iterative proportional fitting: the table of all combinations is scaled to the observed counts of each pair of keys in turn.
    Rounds that move it less and less at a steady rate are followed by a leap as far as all further ones would get; that is a
    change of the effects of pairs, too, so the fit stays one of the model, and what follows goes to the same end.
    """
    table = np.full(prod(sizes), records.sum() / prod(sizes))
    pairs = list(_pairs(codes, sizes, records))
    moves: list[float] = []
    converged = False
    for _ in range(_MOST_ROUNDS):
        if run is not None and run.stopped:
            return None
        factors = _scale_to_pairs(table, pairs)
        moves.append(_moved(factors, pairs))
        if run is not None:
            run.spend()
            run.report(phase="log-linear model")
        further = _further(moves)
        if moves[-1] * max(1.0, further) <= _CLOSE:
            converged = True
            break
        if len(moves) >= _ROUNDS_BEFORE_LEAP and _steady(moves):
            _leap(table, pairs, factors, further)
            moves.clear()
    return table[np.ravel_multi_index(tuple(codes), tuple(sizes))], converged


def _scale_to_pairs(table: np.ndarray, pairs: Sequence[_Pair]) -> list[np.ndarray]:
    """One round: the table is scaled to each pair in turn, and the factors of the pairs are returned."""
    every = []
    for shape, observed in pairs:
        fitted = np.empty_like(observed)
        kernels.pair_margins(table, shape, fitted)
        factors = np.divide(observed, fitted, out=np.zeros_like(observed), where=fitted > 0)
        kernels.scale_pair(table, shape, factors)
        every.append(factors)
    return every


def _moved(factors: Sequence[np.ndarray], pairs: Sequence[_Pair]) -> float:
    """How far a round moved the counts of pairs: relative to them, in the mean of squares over records and pairs."""
    total = sum(float((observed * _logarithms(own) ** 2).sum()) for own, (_, observed) in zip(factors, pairs))
    records = sum(float(observed.sum()) for _, observed in pairs)
    return math.sqrt(total / records)


def _further(moves: Sequence[float]) -> float:
    """How many times the last move all further ones amount to together, if they shrink as the last did; without end if not.

    >>> _further([0.1, 0.05]), _further([0.1])
    (1.0, inf)
    """
    if moves[-1] == 0.0:
        return 0.0
    rate = moves[-1] / moves[-2] if len(moves) > 1 else 1.0
    return rate / (1.0 - rate) if rate < 1.0 else math.inf


def _steady(moves: Sequence[float]) -> bool:
    """Whether moves shrink at a rate that hardly changes."""
    before, rate = moves[-2] / moves[-3], moves[-1] / moves[-2]
    return _SLOW < rate < 1.0 and abs(rate - before) < 0.1 * (1.0 - rate) + 0.02


def _leap(table: np.ndarray, pairs: Sequence[_Pair], factors: Sequence[np.ndarray], times: float) -> None:
    """Repeat a round as many times at once, but change no effect by more than the factor e."""
    largest = max(float(np.abs(_logarithms(own)).max()) for own in factors)
    power = min(times, 1.0 / largest)
    for (shape, _), own in zip(pairs, factors):
        kernels.scale_pair(table, shape, np.where(own > 0, own, 1.0) ** power)


def _logarithms(factors: np.ndarray) -> np.ndarray:
    """The logarithms; 0 for pairs that do not occur, whose cells are 0 from the first round on."""
    logarithms: np.ndarray = np.log(np.where(factors > 0, factors, 1.0))
    return logarithms


def _pairs(codes: np.ndarray, sizes: Sequence[int], records: np.ndarray) -> Iterator[_Pair]:
    """For each pair of keys where its cells are in the table, and what was observed."""
    for a, b in combinations(range(len(sizes)), 2):
        shape = np.array(
            [prod(sizes[:a]), sizes[a], prod(sizes[a + 1 : b]), sizes[b], prod(sizes[b + 1 :])],
            dtype=np.int64,
        )
        cells = codes[a].astype(np.int64) * sizes[b] + codes[b]
        observed = np.bincount(cells, records, minlength=sizes[a] * sizes[b])
        yield shape, observed.reshape(sizes[a], sizes[b])


def risk_of_fit(
    counts: np.ndarray,
    fitted: np.ndarray,
    fraction: float,
    *,
    converged: bool = True,
    class_of: np.ndarray | None = None,
    households: Households | None = None,
) -> LoglinearRisk:
    """What fitted sample counts say about risk, for a sampling fraction that is the same for all.

    With ``households`` whoever finds one member finds all; ``class_of`` is then the class of every record.

    >>> risk = risk_of_fit(np.array([1, 2]), np.array([0.5, 2.0]), 0.5)
    >>> round(risk.tau1, 6), round(risk.tau2, 6), round(risk.reidentifications, 6)
    (0.606531, 0.786939, 1.354606)
    """
    chances = np.empty(counts.size)
    tau1, tau2, every = kernels.implied_risk(counts.astype(np.int64), fitted, fraction, chances)
    persons = float(every)
    if households is not None and class_of is not None:
        persons = float((households.risk(chances, class_of) * households.sizes).sum())
    return LoglinearRisk(float(tau1), float(tau2), float(every), persons, converged)


def warm_up() -> None:
    """Compile the kernels."""
    codes = np.array([[0, 1, 1], [0, 0, 1], [0, 1, 0]], dtype=np.int32)
    records = np.array([1, 2, 3])
    main_effects(codes, (2, 2, 2), records)
    fit = two_way(codes, (2, 2, 2), records)
    assert fit is not None
    risk_of_fit(records, fit[0], 0.5)
