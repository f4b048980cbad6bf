"""Eigenvalues of the correlation matrix before and after: what became of the directions in which columns move together."""

from dataclasses import dataclass

import numpy as np

from shoal.microdata.measures.scaling import constant
from shoal.microdata.measures.utility.moment_kernels import weighted_products

_ZERO = 1e-10


@dataclass(frozen=True)
class Eigenvalues:
    """``mean_change`` is Σ|λ − λ′|/d; ``relative`` Σ|λ − λ′|/λ, which sdcMicro reports, ``None`` where some λ is 0."""

    mean_change: float
    relative: float | None


def eigenvalues(before: np.ndarray, after: np.ndarray) -> Eigenvalues | None:
    """Compare the eigenvalues in order of size, over the columns that vary before; ``None`` with fewer than two.

    A column that is constant after has no correlation left, not even with itself.

    >>> table = np.array([[0.0, 0.0], [1.0, 1.0], [2.0, 2.0]])
    >>> eigenvalues(table, np.array([[0.0, 1.0], [1.0, 0.0], [2.0, 1.0]])).mean_change.__round__(9)
    1.0
    """
    varying = ~constant(before)
    size = int(varying.sum())
    if size < 2 or before.shape[0] < 2:
        return None
    one, two = (np.linalg.eigvalsh(correlations(table[:, varying])) for table in (before, after))
    apart = np.abs(one - two)
    relative = float((apart / one).sum()) if one.min() > _ZERO else None
    return Eigenvalues(float(apart.sum()) / size, relative)


def correlations(table: np.ndarray) -> np.ndarray:
    """The correlation matrix, with zeros for constant columns.

    >>> correlations(np.array([[1.0, 5.0], [2.0, 5.0]])).tolist()
    [[1.0, 0.0], [0.0, 0.0]]
    """
    flat = constant(table)
    size = np.where(np.abs(table).max(axis=0) > 1e100, np.abs(table).max(axis=0), 1.0)
    scaled = table / size
    centred = np.ascontiguousarray(np.where(flat, 0.0, scaled - scaled.mean(axis=0)))
    products = weighted_products(centred, np.ones(table.shape[0]))
    spread = np.sqrt(np.diag(products))
    spread = np.where(spread > 0, spread, 1.0)
    matrix = products / np.outer(spread, spread)
    np.fill_diagonal(matrix, np.where(flat, 0.0, 1.0))
    found: np.ndarray = matrix
    return found
