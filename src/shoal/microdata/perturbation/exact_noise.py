"""Noise that leaves means and covariances exactly as they were.

K. Muralidhar and R. Sarathy, Generating sufficiency-based non-synthetic perturbed data, Transactions on Data Privacy 1(1), 2008:
noise is made orthogonal to the constant and to the data, gets exactly the covariance of the data, and is mixed with them in
shares whose squares add up to one.
"""

import numpy as np

from shoal.microdata.perturbation import noise_kernels as kernels

# A direction in which standardised columns vary by less is a relation between them, like a total: it is kept as it is.
_RELATION = 1e-10


def fewest_units(columns: int) -> int:
    """Units that a stratum needs: the kept mean and variance of two records are those two records.

    >>> fewest_units(1), fewest_units(4)
    (10, 20)
    """
    return max(10, 5 * columns)


def exactly_noised(values: np.ndarray, noise: np.ndarray, share: float) -> np.ndarray:
    """Rows of numbers with noise whose standard deviation is a share of theirs, means and covariances as before.

    ``noise`` holds independent standard normal numbers, as many as there are values. Constant columns stay, and so does every
    linear relation between columns.

    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=(40, 2))
    >>> y = exactly_noised(x, rng.normal(size=(40, 2)), 0.5)
    >>> bool(np.allclose(np.cov(x.T), np.cov(y.T), rtol=1e-13)), bool(np.allclose(x, y))
    (True, False)
    """
    n = values.shape[0]
    means = kernels.column_means(values)
    covariances = kernels.products(values, means) / (n - 1)
    deviations = np.sqrt(np.diag(covariances))
    # Rounding makes the mean of equal numbers differ from them in the last digit.
    varying = np.flatnonzero(deviations > 1e-14 * np.abs(means))
    if varying.size == 0:
        return values.copy()
    if varying.size < deviations.size:
        found = values.copy()
        own, drawn = np.ascontiguousarray(values[:, varying]), np.ascontiguousarray(noise[:, varying])
        found[:, varying] = exactly_noised(own, drawn, share)
        return found
    sizes, directions = np.linalg.eigh(covariances / np.outer(deviations, deviations))
    kept = sizes > _RELATION * sizes.size
    directions, roots = directions[:, kept], np.sqrt(sizes[kept])
    white, last = _white_noise(values, means, directions / roots / deviations[:, None], noise)
    mixed = 1.0 / np.sqrt(1.0 + share * share)
    inwards, outwards = directions / deviations[:, None], directions.T * deviations
    found = values.copy()
    kernels.add_turned(found, values, means, (mixed - 1.0) * (inwards @ outwards))
    kernels.add_turned(found, white, kernels.column_means(white), share * mixed * (last * roots @ outwards))
    found -= kernels.column_means(found) - means
    return found


def _white_noise(
    values: np.ndarray, means: np.ndarray, whitening: np.ndarray, noise: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """A table, and the matrix that turns it into noise of variance one, orthogonal to the values and in itself."""
    rank = whitening.shape[1]
    table = np.zeros((values.shape[0], 2 * rank))
    kernels.add_turned(table, values, means, np.ascontiguousarray(whitening))
    table[:, rank:] = noise[:, :rank]
    # Twice is enough: the second time everything is already orthogonal to many digits (Cholesky QR, repeated).
    kernels.turn(table, kernels.column_means(table), _whitening(table))
    return table, _whitening(table)[:, rank:]


def _whitening(table: np.ndarray) -> np.ndarray:
    """The triangular matrix that makes the columns orthogonal, one after the other, with variance one."""
    products = kernels.products(table, kernels.column_means(table)) / (table.shape[0] - 1)
    lower = np.linalg.cholesky(products)
    found: np.ndarray = np.ascontiguousarray(np.linalg.inv(lower).T)
    return found
