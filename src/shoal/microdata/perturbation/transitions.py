"""Transition matrices of PRAM, and how counts of a perturbed file are corrected with them.

J. M. Gouweleeuw, P. Kooiman, L. C. R. J. Willenborg and P.-P. de Wolf, Post randomisation for statistical disclosure control:
theory and implementation, Journal of Official Statistics 14(4), 1998.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.errors import InputError, unknown
from shoal.numbers import counted

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

# A matrix whose smallest singular value is below this cannot be turned round: counts could not be corrected.
SINGULAR = 1e-9


@dataclass(frozen=True, eq=False)
class Transition:
    """How likely each category becomes each other one, among the records of one group.

    ``categories`` are their numbers in the column, ``shares`` how frequent they are in the group before, and ``matrix`` has a
    row for each true and a column for each seen category. ``values`` are the categories in words, in the same order, and
    ``stratum`` the values of the columns that form the strata.
    """

    categories: np.ndarray = field(repr=False)
    shares: np.ndarray = field(repr=False)
    records: int
    matrix: np.ndarray = field(repr=False)
    values: tuple[str | None, ...] = ()
    stratum: tuple[str | None, ...] = ()

    @property
    def expected_change(self) -> float:
        """The share of values that is expected to change."""
        return float((self.shares * (1.0 - np.diag(self.matrix))).sum())

    @property
    def seen(self) -> np.ndarray:
        """The shares that are expected after."""
        expected: np.ndarray = (self.shares[:, None] * self.matrix).sum(axis=0)
        return expected

    @property
    def truth(self) -> np.ndarray:
        """The chance that a category that is seen is the true one (Bayes)."""
        seen = self.seen
        return np.where(seen > 0, self.shares * np.diag(self.matrix) / np.where(seen > 0, seen, 1.0), 0.0)

    def estimate(self, counts: "ArrayLike | Mapping[Any, float]") -> tuple[np.ndarray, np.ndarray]:
        """Unbiased counts before perturbation from those after, and their covariance given the truth.

        ``counts`` are in the order of ``values``, or by category; one that is not named was not seen. The released counts T*
        have the expectation R′T and the covariance Σ T_k (diag(r_k) − r_k r_k′), with r_k the rows of R.

        >>> even = Transition(np.arange(2), np.array([0.5, 0.5]), 100, np.array([[0.9, 0.1], [0.1, 0.9]]))
        >>> even.estimate(np.array([58, 42]))[0].tolist()
        [60.0, 40.0]
        """
        if isinstance(counts, Mapping):
            names = [str(value) for value in self.values]
            by_name = {str(name): count for name, count in counts.items()}
            for name in by_name:
                if name not in names:
                    raise unknown("category", name, names, where="in this group")
            counts = [by_name.get(name, 0.0) for name in names]
        return corrected(self.matrix, counts)


def corrected(matrix: "ArrayLike", counts: "ArrayLike") -> tuple[np.ndarray, np.ndarray]:
    """Counts before perturbation, estimated from those after with a matrix of PRAM, and their covariance.

    Rows of the matrix are true categories, columns seen ones. It is what users of a release do with a published matrix.

    >>> found, covariance = corrected([[0.9, 0.1], [0.1, 0.9]], [58, 42])
    >>> found.tolist(), float(covariance[0, 0].round(4))
    ([60.0, 40.0], 14.0625)
    """
    rows = np.asarray(matrix, dtype=float)
    if not can_be_turned(rows):
        raise InputError("this matrix is singular: counts cannot be corrected with it")
    seen = np.asarray(counts, dtype=float)
    if seen.shape != rows.shape[:1]:
        raise InputError(
            f"the matrix has {counted(rows.shape[0], 'category', 'categories')}; give one count for each, in its order"
        )
    if not np.isfinite(seen).all() or (seen < 0).any():
        raise InputError(
            "counts must be numbers of 0 or more; of a category that was not seen 0, not a missing value"
        )
    inverse = np.linalg.inv(rows.T)
    found = inverse @ seen
    weights = np.maximum(found, 0.0)
    spread = np.diag((weights[:, None] * rows).sum(axis=0)) - (rows * weights[:, None]).T @ rows
    return found.round(12), inverse @ spread @ inverse.T


def can_be_turned(matrix: np.ndarray) -> bool:
    """Whether counts can be corrected with a matrix."""
    return bool(np.linalg.svd(matrix, compute_uv=False)[-1] >= SINGULAR)


def by_chance(matrix: np.ndarray) -> bool:
    """Whether any category may become several: a matrix that only renames them hides nothing.

    >>> by_chance(np.array([[0.0, 1.0], [1.0, 0.0]])), by_chance(np.array([[1.0, 0.0], [0.1, 0.9]]))
    (False, True)
    """
    return bool((matrix.max(axis=1) < 1.0 - SINGULAR).any())


def mixing(shares: np.ndarray, change: float, limit: float = 0.95) -> tuple[np.ndarray, bool]:
    """R = (1 − t)·I + t·1p′ with t = change/(1 − Σp²): it keeps the shares p, and changes that share of all values.

    A group in which one category prevails has too little to change to: t stays at most ``limit``, so that R can be turned round;
    the second value tells whether the change is what was asked for.

    >>> mixing(np.array([0.5, 0.5]), 0.2)[0].tolist()
    [[0.8, 0.2], [0.2, 0.8]]
    """
    room = 1.0 - float((shares**2).sum())
    t = min(change / room, limit) if room > 0 else 0.0
    matrix = (1.0 - t) * np.eye(shares.size) + t * shares[None, :]
    return matrix, bool(room > 0 and change <= limit * room)


def invariant(matrix: np.ndarray, shares: np.ndarray, alpha: float = 1.0) -> np.ndarray:
    """A matrix that keeps the shares, made of any other: R = P·Q with Q_kj = P_jk p_j/(pP)_k, then α·R + (1 − α)·I.

    >>> p = np.array([0.75, 0.25])
    >>> (p @ invariant(np.array([[0.8, 0.2], [0.4, 0.6]]), p)).round(12).tolist()
    [0.75, 0.25]
    """
    joint = shares[:, None] * matrix
    seen = joint.sum(axis=0)
    # Nobody is seen in a category that none can become: what it would be turned back to does not matter.
    back = np.where(seen[:, None] > 0, joint.T / np.where(seen > 0, seen, 1.0)[:, None], np.eye(shares.size))
    return alpha * (matrix @ back) + (1.0 - alpha) * np.eye(shares.size)
