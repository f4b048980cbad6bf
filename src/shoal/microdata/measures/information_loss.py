"""How much the statistics of a table changed: IL1 to IL5 and IL1s, and the squared error.

Domingo-Ferrer and Torra, A quantitative comparison of disclosure control methods for microdata (2001), and the Handbook
on Statistical Disclosure Control (2nd edition, 2024). Ratios whose denominator is 0, or a mean or covariance that is 0 up to
rounding, are skipped, and counted.
"""

from dataclasses import dataclass

import numpy as np

from shoal.microdata.measures.scaling import constant, deviations, magnitude, on_common_scale


@dataclass(frozen=True)
class Mean:
    """A mean of terms; ``skipped`` of them could not be formed. Nothing to average makes 0."""

    value: float
    terms: int
    skipped: int


@dataclass(frozen=True, eq=False)
class InformationLoss:
    """The loss measures of a protected table, each 0 when nothing changed.

    ``il1`` mean relative change of a value, ``il2`` of a mean, ``il3`` of a covariance (variances included), ``il4`` of
    a variance, ``il5`` mean absolute change of a correlation, ``il1s`` mean change of a value in units of √2 standard
    deviations. ``by_column`` has IL1, IL1s, IL2, IL4 and 100·SSE/SST of each column.
    """

    il1: Mean
    il1s: Mean
    il2: Mean
    il3: Mean
    il4: Mean
    il5: Mean
    sse_percent: float
    by_column: tuple["ColumnLoss", ...]

    @property
    def il(self) -> float:
        """The classic summary: 100 times the mean of IL1 to IL5."""
        return 20.0 * sum(part.value for part in (self.il1, self.il2, self.il3, self.il4, self.il5))

    @property
    def skipped(self) -> int:
        """How many ratios had a zero denominator."""
        return sum(part.skipped for part in (self.il1, self.il1s, self.il2, self.il3, self.il4, self.il5))


@dataclass(frozen=True)
class ColumnLoss:
    """The loss of one column; 0 where a ratio could not be formed."""

    il1: float
    il1s: float
    il2: float
    il4: float
    sse_percent: float


def information_loss(original: np.ndarray, protected: np.ndarray) -> InformationLoss:
    """Every loss measure of a protected table.

    >>> before = np.array([[1.0, 2.0], [2.0, 1.0], [3.0, 6.0]])
    >>> loss = information_loss(before, before * [1.0, 1.1])
    >>> round(loss.il1.value, 4), round(loss.il2.value, 4), round(loss.il4.value, 4), round(loss.il5.value, 4)
    (0.05, 0.05, 0.105, 0.0)
    """
    size = magnitude(original)
    before, after = original / size, protected / size
    n = before.shape[1]
    covariance, covariance_after = _covariances(before), _covariances(after)
    upper = np.triu_indices(n)
    correlation, defined = _correlations(covariance, constant(original))
    correlation_after, _ = _correlations(covariance_after, constant(protected))
    pairs = np.triu_indices(n, 1)
    usable = (defined[:, None] & defined[None, :])[pairs]
    changes = np.abs(correlation - correlation_after)[pairs][usable]
    spread = np.sqrt(2.0) * deviations(before)
    means, covariance = _without_noise(before, covariance)
    means_after = _or_the_same(before, means, after.mean(axis=0))
    return InformationLoss(
        il1=_relative(before, after),
        il1s=_ratio(np.abs(before - after), np.broadcast_to(spread, before.shape)),
        il2=_relative(means, means_after),
        il3=_relative(covariance[upper], covariance_after[upper]),
        il4=_relative(np.diag(covariance), np.diag(covariance_after)),
        il5=Mean(float(changes.mean()) if changes.size else 0.0, int(changes.size), int((~usable).sum())),
        sse_percent=squared_error_percent(original, protected),
        by_column=tuple(
            ColumnLoss(
                il1=_relative(before[:, j], after[:, j]).value,
                il1s=_ratio(np.abs(before[:, j] - after[:, j]), np.full(len(before), spread[j])).value,
                il2=_relative(means[j : j + 1], means_after[j : j + 1]).value,
                il4=_relative(covariance[j : j + 1, j], covariance_after[j : j + 1, j]).value,
                sse_percent=squared_error_percent(original[:, j : j + 1], protected[:, j : j + 1]),
            )
            for j in range(n)
        ),
    )


def _without_noise(table: np.ndarray, covariance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Means and covariances of a table, with 0 where rounding alone explains what was computed.

    A sum of n terms is wrong by some √n roundings of their size; what is below that is 0 for all one can know.
    """
    noise = _noise(table)
    means = table.mean(axis=0)
    size = np.abs(table).mean(axis=0)
    spread = np.sqrt(np.diag(covariance))
    # Centred values carry the rounding of the values themselves.
    of_pair = np.outer(spread, spread + size)
    known = np.abs(covariance) > noise * np.maximum(of_pair, of_pair.T)
    return np.where(np.abs(means) > noise * size, means, 0.0), np.where(known, covariance, 0.0)


def _or_the_same(table: np.ndarray, means: np.ndarray, means_after: np.ndarray) -> np.ndarray:
    """The means after, but those before where rounding alone explains the difference."""
    size = np.abs(table).mean(axis=0)
    return np.where(np.abs(means_after - means) > _noise(table) * size, means_after, means)


def _noise(table: np.ndarray) -> float:
    return float(4.0 * np.finfo(float).eps * np.sqrt(table.shape[0]))


def squared_error_percent(original: np.ndarray, protected: np.ndarray) -> float:
    """100·SSE/SST on standardised columns; 0 when no column varies.

    >>> squared_error_percent(np.array([[1.0], [2.0], [3.0]]), np.array([[2.0], [2.0], [2.0]]))
    100.0
    """
    before, after = on_common_scale(original, protected, "z-score")
    varying = ~constant(original)
    total = float(np.square(before[:, varying]).sum())
    return 100.0 * float(np.square(before - after)[:, varying].sum()) / total if total > 0 else 0.0


def _relative(before: np.ndarray, after: np.ndarray) -> Mean:
    return _ratio(np.abs(before - after), np.abs(before))


def _ratio(numerators: np.ndarray, denominators: np.ndarray) -> Mean:
    usable = denominators != 0
    terms = int(usable.sum())
    value = float((numerators[usable] / denominators[usable]).mean()) if terms else 0.0
    return Mean(value, terms, int(usable.size) - terms)


def _covariances(table: np.ndarray) -> np.ndarray:
    if table.shape[0] < 2:
        return np.zeros((table.shape[1], table.shape[1]))
    centred = np.where(constant(table), 0.0, table - table.mean(axis=0))
    matrix: np.ndarray = centred.T @ centred / (table.shape[0] - 1)
    return matrix


def _correlations(covariance: np.ndarray, flat: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    # The correlation with a constant column counts as 0 after protection; before it is not defined.
    spread = np.sqrt(np.diag(covariance))
    defined = ~flat & (spread > 0)
    safe = np.where(defined, spread, 1.0)
    matrix = covariance / np.outer(safe, safe)
    matrix[~defined, :] = 0.0
    matrix[:, ~defined] = 0.0
    return np.clip(matrix, -1.0, 1.0), defined
