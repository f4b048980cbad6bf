"""Regression before and after: how far the confidence intervals of coefficients overlap.

Each column of numbers in turn is regressed on all other columns. The overlap of two 95 % intervals is the mean of the shares
of each that lies in the other (Karr and others, The American Statistician 60, 2006): 1 if they are the same, 0 if they are
apart. Columns that are sums of others, in either table, are dropped first.
"""

from dataclasses import dataclass

import numpy as np

from shoal.microdata.measures.mixed import MixedTables
from shoal.microdata.measures.utility.design import main_terms
from shoal.microdata.measures.utility.moment_kernels import independent, weighted_products
from shoal.runtime import Seeds

#: Of larger files a sample is looked at; more terms than this are too many.
RECORDS = 200_000
TERMS = 150
_OWN = 1e-9
_TAIL = 0.975


@dataclass(frozen=True)
class Regression:
    """One column explained by the others: mean and least overlap over the coefficients, the constant included."""

    response: str
    mean: float
    minimum: float
    worst: str


@dataclass(frozen=True)
class Coefficients:
    """All regressions; ``dropped`` are columns of which a term is a sum of others."""

    records: int
    regressions: tuple[Regression, ...]
    dropped: tuple[str, ...]

    @property
    def mean(self) -> float:
        """The mean over all coefficients of all regressions."""
        return float(np.mean([regression.mean for regression in self.regressions]))

    @property
    def worst(self) -> Regression:
        """The regression with the least overlap."""
        return min(self.regressions, key=lambda regression: regression.minimum)


def coefficients(
    tables: MixedTables, *, seeds: Seeds, records: int = RECORDS, terms: int = TERMS
) -> Coefficients | None:
    """Compare every regression; ``None`` without two columns that can be, or with more terms than ``terms``.

    >>> table = np.random.default_rng(0).normal(size=(40, 3))
    >>> round(coefficients(MixedTables.of_numbers(table, table), seeds=Seeds(0)).worst.minimum, 9)
    1.0
    """
    looked_at = tables.sample(records, seeds, "coefficients")
    posed = main_terms(looked_at)
    n, names = looked_at.records, looked_at.columns
    if len(posed.of) > terms or n < 3:
        return None
    moments = [_moments(table) for table in (posed.before, posed.after)]
    kept = np.ones(len(posed.of), dtype=np.bool_)
    # What is dropped for one table may leave the other with fewer; twice is enough, since the second only takes away.
    for _, products in moments:
        chosen = np.flatnonzero(kept)
        kept[chosen] = independent(np.ascontiguousarray(products[np.ix_(chosen, chosen)]), _OWN)
    chosen = np.flatnonzero(kept)
    numbers = [place for place in chosen.tolist() if place < looked_at.before.shape[1]]
    dropped = dict.fromkeys(names[posed.of[place][0]] for place in np.flatnonzero(~kept))
    if len(chosen) < 2 or not numbers or n <= len(chosen) + 1:
        return None
    # The constant is that of numbers in their own units, not of centred ones.
    origin = np.zeros(len(posed.of))
    origin[: looked_at.before.shape[1]] = looked_at.origin()
    estimates = [
        _Regressions(n, (means + origin)[chosen], products[np.ix_(chosen, chosen)])
        for means, products in moments
    ]
    regressions = []
    for place in numbers:
        at = int(np.flatnonzero(chosen == place)[0])
        overlap = _overlap(estimates[0].of(at), estimates[1].of(at), n - len(chosen))
        others = ["the constant", *(names[posed.of[other][0]] for other in chosen if other != place)]
        regressions.append(
            Regression(
                names[place], float(overlap.mean()), float(overlap.min()), others[int(overlap.argmin())]
            )
        )
    return Coefficients(n, tuple(regressions), tuple(dropped))


def _moments(table: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    means = table.mean(axis=0)
    centred = np.ascontiguousarray(
        np.where(np.abs(table - means) > 1e-12 * np.abs(means), table - means, 0.0)
    )
    return means, weighted_products(centred, np.ones(table.shape[0]))


class _Regressions:
    """Coefficients of all regressions of one table, from one inverse of its matrix of products.

    With P that inverse: β = −P_jk/P_jj, residuals have the sum of squares 1/P_jj, and the inverse without column j is P −
    P_j·P_j′/P_jj.
    """

    def __init__(self, records: int, means: np.ndarray, products: np.ndarray) -> None:
        self._records, self._means = records, means
        spread = np.sqrt(np.diag(products))
        self._inverse = np.linalg.inv(products / np.outer(spread, spread)) / np.outer(spread, spread)

    def of(self, response: int) -> tuple[np.ndarray, np.ndarray]:
        """Coefficients with the constant first, and their standard errors."""
        others = np.delete(np.arange(self._means.size), response)
        column, own = self._inverse[others, response], self._inverse[response, response]
        slopes = -column / own
        error = 1.0 / own / (self._records - self._means.size)
        inverse = self._inverse[np.ix_(others, others)] - np.outer(column, column) / own
        centre = self._means[others]
        constant = self._means[response] - float((slopes * centre).sum())
        of_constant = 1.0 / self._records + float(centre @ inverse @ centre)
        variances = error * np.concatenate([[of_constant], np.diag(inverse)])
        return np.concatenate([[constant], slopes]), np.sqrt(np.maximum(variances, 0.0))


def _overlap(
    one: tuple[np.ndarray, np.ndarray], two: tuple[np.ndarray, np.ndarray], freedom: int
) -> np.ndarray:
    from scipy.special import stdtrit

    reach = float(stdtrit(freedom, _TAIL))
    low, high = (
        np.array([value + sign * reach * error for value, error in (one, two)]) for sign in (-1.0, 1.0)
    )
    shared = high.min(axis=0) - low.max(axis=0)
    widths = high - low
    with np.errstate(divide="ignore", invalid="ignore"):
        share = 0.5 * (shared / widths[0] + shared / widths[1])
    # Intervals without width are the same or they are not.
    exact = (widths == 0).any(axis=0)
    share = np.where(exact, np.isclose(one[0], two[0], rtol=1e-9, atol=1e-12).astype(float), share)
    return np.clip(share, 0.0, 1.0)
