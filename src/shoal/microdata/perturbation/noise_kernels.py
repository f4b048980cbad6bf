"""Kernels of noise: sums of products in one pass, and rows turned by small matrices."""

import numpy as np

from shoal.runtime.kernels import kernel
from shoal.runtime.secret_kernels import normal

# Sums of so many rows are made first and then added up, so that large files lose no digits.
_BLOCK = 512


@kernel
def column_means(table: np.ndarray) -> np.ndarray:
    """The means of the columns."""
    n, d = table.shape
    total, block = np.zeros(d), np.zeros(d)
    for row in range(n):
        for column in range(d):
            block[column] += table[row, column]
        if (row + 1) % _BLOCK == 0 or row + 1 == n:
            total += block
            block[:] = 0.0
    return total / n


@kernel
def products(table: np.ndarray, centre: np.ndarray) -> np.ndarray:
    """The sums of products of all pairs of columns, centred."""
    n, d = table.shape
    total, block, own = np.zeros((d, d)), np.zeros((d, d)), np.empty(d)
    for row in range(n):
        for column in range(d):
            own[column] = table[row, column] - centre[column]
        for column in range(d):
            for other in range(column + 1):
                block[column, other] += own[column] * own[other]
        if (row + 1) % _BLOCK == 0 or row + 1 == n:
            total += block
            block[:] = 0.0
    for column in range(d):
        for other in range(column):
            total[other, column] = total[column, other]
    return total


@kernel
def normals(keys: np.ndarray, who: np.ndarray) -> np.ndarray:
    """Standard normal numbers, a row for each identity and a column for each key."""
    found = np.empty((who.size, keys.shape[0]))
    for row in range(who.size):
        for column in range(keys.shape[0]):
            found[row, column] = normal(keys[column], who[row], np.uint64(0))
    return found


@kernel
def add_turned(target: np.ndarray, table: np.ndarray, centre: np.ndarray, matrix: np.ndarray) -> None:
    """Add to the first columns of the target the rows of a table, centred, times a matrix."""
    d, width = matrix.shape
    for row in range(table.shape[0]):
        for column in range(d):
            own = table[row, column] - centre[column]
            for other in range(width):
                target[row, other] += own * matrix[column, other]


@kernel
def turn(table: np.ndarray, centre: np.ndarray, matrix: np.ndarray) -> None:
    """Replace each row of a table, centred, by itself times a square matrix."""
    d = matrix.shape[0]
    own = np.empty(d)
    for row in range(table.shape[0]):
        for column in range(d):
            own[column] = table[row, column] - centre[column]
            table[row, column] = 0.0
        for column in range(d):
            for other in range(d):
                table[row, other] += own[column] * matrix[column, other]


def warm_up() -> None:
    """Compile the kernels."""
    table = np.zeros((1, 2))
    means = column_means(table)
    products(table, means)
    normals(np.zeros((1, 2), dtype=np.uint64), np.zeros(1, dtype=np.uint64))
    add_turned(table, table, means, np.zeros((2, 1)))
    turn(table, means, np.zeros((2, 2)))
