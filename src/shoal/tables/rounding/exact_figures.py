"""Figures as whole numbers of their last decimal, so that sums of them are exact; part of the checks, and of no search."""

import numpy as np

_MOST_DECIMALS = 9
_LARGEST = 2**50


def last_decimal(*figures: np.ndarray) -> int | None:
    """How many of the last decimal come to one, for all figures as they are written; ``None`` if they have many or are large.

    >>> last_decimal(np.array([1.25, 3.0])), last_decimal(np.array([1 / 3]))
    (100, None)
    """
    every = np.concatenate([np.asarray(item, dtype=np.float64).ravel() for item in figures])
    if not np.isfinite(every).all():
        return None
    for decimals in range(_MOST_DECIMALS + 1):
        scale = 10**decimals
        if np.abs(every).max(initial=0.0) * scale > _LARGEST:
            return None
        if (np.rint(every * scale) / scale == every).all():
            return int(scale)
    return None


def in_units(figures: np.ndarray, scale: int) -> np.ndarray:
    """Figures as whole numbers of 1/``scale``."""
    found: np.ndarray = np.rint(np.asarray(figures, dtype=np.float64) * scale).astype(np.int64)
    return found


def sums_of(matrix: object, figures: np.ndarray) -> np.ndarray | None:
    """The relations of whole numbers, added up as such; ``None`` if they have other signs than whole numbers."""
    from scipy.sparse import csr_matrix

    rows = csr_matrix(matrix)
    if (rows.data != np.rint(rows.data)).any():
        return None
    largest = float(np.abs(figures).max(initial=0)) * float(
        np.abs(rows).sum(axis=1).max() if rows.nnz else 0.0
    )
    if largest >= 2.0**62:
        return None
    return np.asarray(rows.astype(np.int64) @ figures)
