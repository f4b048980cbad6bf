"""Sums of products of columns, and which columns say something of their own."""

import numpy as np

from shoal.runtime.kernels import kernel


@kernel
def weighted_products(table, weights):  # type: ignore[no-untyped-def]
    """Σ wᵢ·xᵢ·xᵢ′ over the rows of a table."""
    rows, columns = table.shape
    total = np.zeros((columns, columns))
    for i in range(rows):
        for j in range(columns):
            share = weights[i] * table[i, j]
            if share != 0.0:
                for k in range(j + 1):
                    total[j, k] += share * table[i, k]
    for j in range(columns):
        for k in range(j):
            total[k, j] = total[j, k]
    return total


@kernel
def independent(products, least):  # type: ignore[no-untyped-def]
    """Which columns are not sums of those before them, from the matrix of their products.

    A column is left out if less than the share ``least`` of its square remains beside the ones kept.
    """
    size = products.shape[0]
    rest = products.copy()
    kept = np.zeros(size, dtype=np.bool_)
    for j in range(size):
        if rest[j, j] > least * products[j, j] and products[j, j] > 0.0:
            kept[j] = True
            for k in range(j + 1, size):
                share = rest[k, j] / rest[j, j]
                if share != 0.0:
                    for m in range(j + 1, size):
                        rest[k, m] -= share * rest[j, m]
    return kept


def warm_up() -> None:
    """Compile the kernels."""
    independent(weighted_products(np.eye(3), np.ones(3)), 1e-9)
