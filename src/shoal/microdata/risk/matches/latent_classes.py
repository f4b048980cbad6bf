"""The probability of each cell by latent classes: records fall into hidden classes, in each of which the keys are independent.

The classes are fitted by expectation and maximisation; the shares of values in a class are drawn towards those in all records, as
strongly as the data want it. How many classes there are is chosen by records that are left out of the fit.

References
----------
- D. Manrique-Vallier and J. Reiter, Estimating identification disclosure risk using mixed membership models, JASA 107, 2012.
- T. Minka, Estimating a Dirichlet distribution, 2000.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from shoal.microdata.risk.matches import latent_classes_kernels as kernels
from shoal.runtime.budget import Run

_MOST_CLASSES = 64
# The share of the records that are left out to choose the number of classes.
_LEFT_OUT = 0.2
_WORSE_IN_A_ROW = 2
_MOST_ROUNDS, _LEAST_ROUNDS = 60, 16
_CLOSE = 1e-5
_STRENGTHS = tuple(2.0**power for power in range(-1, 13))
_FIRST_STRENGTH = 8.0
_ROUNDS_BETWEEN_LOOKS = 10


@dataclass(frozen=True, eq=False)
class Cells:
    """The combinations of values that occur: ``rows`` numbers their values among those of all keys, ``counts`` how often.

    ``sizes`` says how many values each key has.
    """

    rows: np.ndarray
    counts: np.ndarray
    sizes: tuple[int, ...]

    @classmethod
    def of(cls, codes: np.ndarray, sizes: Sequence[int], counts: np.ndarray) -> "Cells":
        """Cells whose ``codes`` stand in a row for each key.

        >>> Cells.of(np.array([[0, 1], [0, 2]]), [2, 3], np.array([5, 1])).rows.tolist()
        [[0, 2], [1, 4]]
        """
        starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]).astype(np.int32)
        rows = np.ascontiguousarray((codes.astype(np.int32) + starts[:, None]).T)
        return cls(rows, counts.astype(np.float64), tuple(int(size) for size in sizes))

    @property
    def records(self) -> float:
        """How many there are in all."""
        return float(self.counts.sum())

    @property
    def slices(self) -> list[slice]:
        """Where the values of each key stand."""
        ends = np.cumsum(self.sizes).tolist()
        return [slice(end - size, end) for end, size in zip(ends, self.sizes, strict=True)]

    def value_counts(self) -> np.ndarray:
        """How often each value occurs."""
        whole = np.zeros(sum(self.sizes))
        for rows in self.rows.T:
            whole += np.bincount(rows, self.counts, minlength=whole.size)
        return whole

    @property
    def possible(self) -> int:
        """How many combinations of values there could be."""
        return prod(self.sizes)

    def all_rows(self) -> np.ndarray:
        """All combinations of values that there could be.

        >>> Cells.of(np.array([[0], [1]]), [1, 2], np.array([5])).all_rows().tolist()
        [[0, 1], [0, 2]]
        """
        codes = np.stack(np.unravel_index(np.arange(self.possible), self.sizes))
        return Cells.of(codes, self.sizes, np.ones(self.possible)).rows

    def with_counts(self, counts: np.ndarray) -> "Cells":
        """The same combinations with other counts; those that do not occur are left out."""
        occurring = counts > 0
        return Cells(self.rows[occurring], counts[occurring].astype(np.float64), self.sizes)


@dataclass(frozen=True, eq=False)
class LatentClasses:
    """Fitted classes: their ``shares``, the ``margins`` of all values, and by value and class the ``lifts`` over these.

    ``sums`` and ``totals`` are what the records add to each value and class, ``strengths`` how strongly each key's values are
    drawn towards the margins.
    """

    shares: np.ndarray
    margins: np.ndarray
    lifts: np.ndarray
    sums: np.ndarray
    totals: np.ndarray
    strengths: np.ndarray

    def probabilities(self, rows: np.ndarray) -> np.ndarray:
        """The probability of each cell."""
        lifts = np.empty(rows.shape[0])
        kernels.lifts_of_cells(rows, self.shares, self.lifts, lifts)
        return lifts * independent(rows, self.margins)

    def probabilities_without_own(self, cells: Cells) -> np.ndarray:
        """The probability of each cell by the records of all other cells."""
        lifts = np.empty(cells.counts.size)
        kernels.lifts_without_own(
            cells.rows,
            cells.counts,
            cells.records,
            self.shares,
            self.lifts,
            self.margins,
            self.strengths,
            self.sums,
            self.totals,
            lifts,
        )
        return lifts * independent(cells.rows, self.margins)

    def draw(self, cells: Cells, number: int, generator: np.random.Generator) -> np.ndarray:
        """Cells drawn by their probabilities."""
        of_class = generator.multinomial(number, self.shares / self.shares.sum())
        rows = np.empty((number, len(cells.sizes)), dtype=np.int32)
        end = 0
        for c, own in enumerate(of_class.tolist()):
            begin, end = end, end + own
            for key, part in enumerate(cells.slices):
                ends = np.cumsum(self.margins[part] * self.lifts[part, c])
                values = np.searchsorted(ends, generator.random(own) * ends[-1], side="right")
                rows[begin:end, key] = part.start + np.minimum(values, ends.size - 1)
        return rows


def independent(rows: np.ndarray, margins: np.ndarray) -> np.ndarray:
    """The probability of each cell if the keys were independent."""
    product: np.ndarray = margins[rows].prod(axis=1)
    return product


def fit(cells: Cells, run: Run | None = None, *, seed: int = 0) -> LatentClasses | None:
    """Classes as many as the records support; None if the time of the ``run`` is over before."""
    left_out = np.random.default_rng(seed).binomial(cells.counts.astype(np.int64), _LEFT_OUT)
    remaining = cells.with_counts(cells.counts - left_out)
    others = cells.with_counts(left_out)
    best, most, worse, classes = 1, -np.inf, 0, 1
    while remaining.records and others.records and classes <= _MOST_CLASSES and worse < _WORSE_IN_A_ROW:
        fitted = fit_classes(remaining, classes, run, seed=seed)
        if fitted is None:
            return None
        score = float(others.counts @ np.log(fitted.probabilities(others.rows) + 1e-300))
        if score > most:
            best, most, worse = classes, score, 0
        else:
            worse += 1
        classes *= 2
    return fit_classes(cells, best, run, seed=seed)


def fit_classes(cells: Cells, classes: int, run: Run | None = None, *, seed: int = 0) -> LatentClasses | None:
    """A number of classes, fitted; None if the time of the ``run`` is over before."""
    records, slices = cells.records, cells.slices
    of_key = np.repeat(np.arange(len(cells.sizes)), cells.sizes)
    least = 0.5 / np.array(cells.sizes)[of_key]
    margins = (cells.value_counts() + least) / (records + 0.5)
    shares = np.full(classes, 1.0 / classes)
    strengths = np.full(len(cells.sizes), 1.0 if classes == 1 else _FIRST_STRENGTH)
    lifts = _first_lifts(margins, slices, classes, seed)
    sums, totals = np.empty(lifts.shape), np.empty(classes)
    constant = float(cells.counts @ np.log(independent(cells.rows, margins) + 1e-300))
    before = -np.inf
    for round_ in range(1, _MOST_ROUNDS + 1):
        if run is not None and round_ % _ROUNDS_BETWEEN_LOOKS == 1 and run.stopped:
            return None
        likelihood = constant + float(kernels.expect(cells.rows, cells.counts, shares, lifts, sums, totals))
        shares = (totals + 0.5) / (records + 0.5 * classes)
        if round_ % 10 == 5 and classes > 1:
            strengths = np.array([_strength(margins[part], sums[part], totals) for part in slices])
        prior = strengths[of_key] * margins
        lifts = (sums + prior[:, None]) / ((totals + strengths[of_key, None]) * margins[:, None])
        if round_ >= _LEAST_ROUNDS and abs(likelihood - before) < _CLOSE * abs(likelihood):
            break
        before = likelihood
    if run is not None:
        run.spend()
        run.report(phase="latent classes")
    kernels.expect(cells.rows, cells.counts, shares, lifts, sums, totals)
    return LatentClasses(shares, margins, lifts, sums, totals, strengths)


def _first_lifts(margins: np.ndarray, slices: Sequence[slice], classes: int, seed: int) -> np.ndarray:
    """The shares of values in each class over those in all records, scattered by chance."""
    if classes == 1:
        return np.ones((margins.size, 1))
    noise = np.random.default_rng(seed).gamma(2.0, 0.5, (margins.size, classes))
    for part in slices:
        noise[part] /= (margins[part, None] * noise[part]).sum(axis=0)
    return noise


def _strength(margins: np.ndarray, sums: np.ndarray, totals: np.ndarray) -> float:
    """How strongly a key's values in the classes are drawn towards those in all records."""
    scores = [kernels.evidence(strength, margins, sums, totals) for strength in _STRENGTHS]
    return _STRENGTHS[int(np.argmax(scores))]
