"""Sums over classes and sizes that estimates of population uniques need, as plain functions on arrays."""

import numpy as np

from shoal.runtime.kernels import kernel


@kernel
def class_sums(theta: float, alpha: float, classes: int) -> tuple[float, float, float]:
    """Σ 1/(θ + iα), Σ i/(θ + iα) and Σ 1/(θ + iα)² for i from 1 below ``classes``."""
    plain = 0.0
    by_number = 0.0
    squares = 0.0
    for i in range(1, classes):
        one = 1.0 / (theta + i * alpha)
        plain += one
        by_number += i * one
        squares += one * one
    return plain, by_number, squares


@kernel
def size_sum(alpha: float, larger: np.ndarray) -> float:
    """Σ larger[j]/(j − α): ``larger[j]`` classes have more than j records, j from 1 on."""
    total = 0.0
    for j in range(1, larger.shape[0]):
        total += larger[j] / (j - alpha)
    return total


@kernel
def weighed_sizes(classes_of_size: np.ndarray, records: int, population: float) -> float:
    """Σ c_j · j · Π_{i<j} (1 − (n−1)/(N−i)): classes of each size by how likely one record of such a class is drawn.

    By the product: differences of log-gamma lose seven digits for a population of 300 million.
    """
    total = 0.0
    left = 1.0
    for j in range(1, classes_of_size.shape[0]):
        total += classes_of_size[j] * j * left
        left *= max(0.0, 1.0 - (records - 1.0) / (population - j)) if population > j else 0.0
    return total
