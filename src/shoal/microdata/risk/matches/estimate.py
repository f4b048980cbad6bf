"""How many records somebody who does not know who responded would match rightly, with an interval, from the sample alone.

Latent classes give the probability of each combination of keys. Values that are rare in the sample have less behind them than
they show, so that their combinations are discounted. A gamma layer says how the population scatters about that. What remains
unknown is judged by four variants (with and without the layer, each cell with and without its own records), by the posterior of
the layer, and by the chance that is left when all of it is known; a last part was measured on known populations.

References
----------
- C. Skinner and N. Shlomo, Assessing identification risk in survey microdata using log-linear models, JASA 103, 2008.
- H. Ney, U. Essen and R. Kneser, On structuring probabilistic dependences in stochastic language modelling, 1994.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from shoal.microdata.risk.matches.gamma_layer import POISSON, CellRisks, Means, Scatter
from shoal.microdata.risk.matches.latent_classes import Cells, LatentClasses, fit
from shoal.runtime.budget import Run

#: The chance that an interval holds the truth, and how many standard deviations that is.
COVERED = 0.9
_DEVIATIONS = 1.645
# A standard deviation is a part of the range of the variants; what they do not show grows as the fraction gets smaller. Both were
# chosen on draws from known populations; the manual reports other draws from the same ones.
_RANGE_IN_DEVIATIONS = 3.0
_BY_FRACTION = 0.015
_LEAST_DISCOUNT = 0.02
_DRAWN = 40_000
_LARGEST_FRACTION = 0.999
#: With fewer records the estimate is often far off.
FEWEST_RECORDS = 300
# Where only households were drawn and nobody says so, cells clump far more than elsewhere.
_CLUMPED_SHAPE = 0.1

#: A figure made of the risks of all cells.
_Figure = Callable[[CellRisks], float]

# Fewer matches or uniques than this are none: in a very large population their number is too small for a number.
_NOTHING = 1e-9


@dataclass(frozen=True)
class Estimated:
    """A figure with its interval, which holds the truth with a chance of 90 %; of a counted figure both ends are the figure."""

    value: float
    low: float
    high: float

    @classmethod
    def counted(cls, value: float) -> "Estimated":
        """A figure that is known.

        >>> Estimated.counted(2.5)
        Estimated(value=2.5, low=2.5, high=2.5)
        """
        return cls(value, value, value)

    @classmethod
    def about(cls, value: float, deviation: float, most: float) -> "Estimated":
        """A figure whose logarithm has a standard deviation, and which cannot exceed ``most``.

        >>> Estimated.about(4.0, 0.0, 5.0)
        Estimated(value=4.0, low=4.0, high=4.0)
        """
        factor = math.exp(min(_DEVIATIONS * deviation, 700.0))
        return cls(value, value / factor, max(value, min(most, value * factor)))

    def scaled(self, value: float, most: float) -> "Estimated":
        """Another figure that is as uncertain as this one."""
        if self.value == 0.0:
            return Estimated.counted(value)
        high = min(most, value * self.high / self.value)
        return Estimated(value, value * self.low / self.value, max(value, high))


@dataclass(frozen=True, eq=False)
class MatchEstimate:
    """What the sample says of its population.

    ``matches`` is Σ 1/F over all records, ``matches_among_uniques`` that over sample uniques, and ``population_uniques`` how many
    of these are unique in the population. ``units`` are what was counted in each cell; ``risks``, ``low`` and ``high`` are the
    expected 1/F of its records and the interval of that. ``classes`` is how many latent classes there are, ``scatter`` how the
    population scatters about them.
    """

    matches: Estimated
    matches_among_uniques: Estimated
    population_uniques: Estimated
    units: np.ndarray
    risks: np.ndarray
    low: np.ndarray
    high: np.ndarray
    classes: int
    scatter: Scatter

    @property
    def clumped(self) -> bool:
        """Whether records clump as those of households do of which nobody says that they are one."""
        return self.scatter.power >= 1.0 and math.exp(self.scatter.alpha) < _CLUMPED_SHAPE


@dataclass(frozen=True, eq=False)
class SampleCells:
    """The combinations of keys in a sample: ``codes`` in a row for each key, each with as many values as ``sizes`` says.

    ``units`` are counted in each: records, or households with somebody in it; ``records`` is how many records there are, and
    ``hidden_in`` among how many records each is hidden. ``fractions`` says which part of its population was drawn,
    ``fraction`` which part of all.
    """

    codes: np.ndarray
    sizes: tuple[int, ...]
    units: np.ndarray
    records: np.ndarray
    hidden_in: np.ndarray
    fractions: np.ndarray
    fraction: float

    def record_risks(self, expected: np.ndarray) -> np.ndarray:
        """The expected 1/F of each record, by that of each unit; never above what is known from the sample."""
        shared: np.ndarray = np.minimum(expected * self.units / self.records, 1.0 / self.hidden_in)
        return shared

    @property
    def alone(self) -> np.ndarray:
        """Whether a cell has one record that is alone with its keys."""
        single: np.ndarray = (self.records == 1) & (self.hidden_in == 1)
        return single


def estimate_matches(cells: SampleCells, run: Run | None = None, *, seed: int = 0) -> MatchEstimate | None:
    """The estimate; None if the time of the ``run`` is over before."""
    counted = Cells.of(cells.codes, cells.sizes, cells.units)
    fitted = fit(counted, run, seed=seed)
    if fitted is None:
        return None
    means = _means(cells, counted, fitted, seed)
    others = replace(means, means=_discounted(counted, fitted.probabilities_without_own(counted)))
    scatters = means.scatter(), others.scatter()
    main = means.risks(scatters[0])
    variants = [main, means.risks(POISSON), others.risks(scatters[1]), others.risks(POISSON)]
    sides = [
        (layer.risks(up), layer.risks(down))
        for layer, scatter in zip((means, others), scatters, strict=True)
        for up, down in layer.spread_about(scatter)
    ]
    chance = means.variances(scatters[0], main.expected)
    beyond = (_BY_FRACTION * math.log(1.0 / cells.fraction)) ** 2
    alone = cells.alone
    of_records = cells.records

    def deviations(figure: Callable[[CellRisks], np.ndarray]) -> np.ndarray:
        """The standard deviation of the logarithm of figures, but for the chance that is left."""
        values = np.log(np.stack([figure(one) for one in variants]) + 1e-300)
        between = values.max(axis=0) - values.min(axis=0)
        halves = [(np.log(figure(a) + 1e-300) - np.log(figure(b) + 1e-300)) / 2.0 for a, b in sides]
        # Two axes of each of two layers: their squares add up, and the layers are two views of one thing.
        within = np.square(np.stack(halves)).sum(axis=0) / 2.0
        squares: np.ndarray = within + (between / _RANGE_IN_DEVIATIONS) ** 2 + beyond
        return np.sqrt(squares)

    def estimated(figure: _Figure, left: float, most: float) -> Estimated:
        value = figure(main)
        if value <= _NOTHING:
            return Estimated(0.0, 0.0, 0.0)
        deviation = float(deviations(lambda risks: np.array([figure(risks)]))[0])
        return Estimated.about(value, math.hypot(deviation, math.sqrt(math.log1p(left / value**2))), most)

    def matches(risks: CellRisks) -> float:
        return float(of_records @ cells.record_risks(risks.expected))

    def matches_among_uniques(risks: CellRisks) -> float:
        return float(risks.expected[alone].sum())

    def population_uniques(risks: CellRisks) -> float:
        return float(risks.unique[alone].sum())

    most = float((of_records / cells.hidden_in).sum())
    unique = main.unique[alone]
    spread = np.exp(_DEVIATIONS * deviations(lambda risks: cells.record_risks(risks.expected)))
    own = cells.record_risks(main.expected)
    return MatchEstimate(
        matches=estimated(matches, float((cells.units**2 * chance).sum()), most),
        matches_among_uniques=estimated(
            matches_among_uniques, float(chance[alone].sum()), float(alone.sum())
        ),
        population_uniques=estimated(
            population_uniques, float((unique * (1.0 - unique)).sum()), float(alone.sum())
        ),
        units=cells.units,
        risks=own,
        low=own / spread,
        high=np.minimum(own * spread, 1.0 / cells.hidden_in),
        classes=int(fitted.shares.size),
        scatter=scatters[0],
    )


def _means(cells: SampleCells, counted: Cells, fitted: LatentClasses, seed: int) -> Means:
    """The discounted means of the cells that occur, and of all there could be, or a draw of these if they are many."""
    few = counted.possible <= _DRAWN
    rows = counted.all_rows() if few else fitted.draw(counted, _DRAWN, np.random.default_rng(seed))
    probabilities = fitted.probabilities(rows)
    factors = discounts(counted)
    return Means(
        counts=np.ascontiguousarray(cells.units, dtype=np.int64),
        means=_discounted(counted, fitted.probabilities(counted.rows)),
        fraction=cells.fraction,
        fractions=np.clip(cells.fractions, 1e-12, _LARGEST_FRACTION),
        all_means=counted.records * probabilities * _of_cells(factors, rows),
        all_numbers=np.ones(rows.shape[0]) if few else 1.0 / (_DRAWN * probabilities),
    )


def _discounted(counted: Cells, probabilities: np.ndarray) -> np.ndarray:
    means: np.ndarray = counted.records * probabilities * _of_cells(discounts(counted), counted.rows)
    return np.maximum(means, 1e-290)


def _of_cells(factors: np.ndarray, rows: np.ndarray) -> np.ndarray:
    product: np.ndarray = np.maximum(factors[rows].prod(axis=1), _LEAST_DISCOUNT)
    return product


def discounts(cells: Cells) -> np.ndarray:
    """The factor of each value: one seen c times has less than its share behind it, by δ/c with the δ of Kneser and Ney.

    >>> discounts(Cells.of(np.array([[0, 1, 2, 3]]), [4], np.array([1, 1, 2, 8]))).tolist()
    [0.5, 0.5, 0.75, 0.9375]
    """
    counts = cells.value_counts()
    factors = np.ones(counts.size)
    for part in cells.slices:
        once, twice = int((counts[part] == 1).sum()), int((counts[part] == 2).sum())
        if once:
            factors[part] = 1.0 - once / (once + 2.0 * twice) / np.maximum(counts[part], 1.0)
    return factors


def warm_up() -> None:
    """Compile the kernels."""
    codes = np.array([[0, 0, 1, 1, 1], [0, 1, 0, 1, 2]], dtype=np.int32)
    counts = np.array([1, 2, 4, 9, 40])
    estimate_matches(SampleCells(codes, (2, 3), counts, counts, counts, np.full(5, 0.1), 0.1))
