"""The best cut of records that stand in a row: a shortest path from the first to the last.

Hansen and Mukherjee, A polynomial algorithm for optimal univariate microaggregation, IEEE TKDE 15(4), 2003;
for several attributes Domingo-Ferrer, Martínez-Ballesté, Mateo-Sanz and Sebé, VLDB Journal 15(4), 2006.
"""

import numpy as np

from shoal.runtime.kernels import kernel


@kernel
def cut_line(values: np.ndarray, smallest: int, largest: int, cost: np.ndarray, size: np.ndarray) -> None:
    """``cut_path`` for one attribute."""
    n = values.shape[0]
    share = 1.0 / np.arange(1, largest + 2)
    cost[:] = np.inf
    size[:] = 0
    cost[0] = 0.0
    for first in range(n - smallest + 1):
        here = cost[first]
        if here == np.inf:
            continue
        # Errors are summed around a mean that moves along, never as a difference of large sums, so that
        # groups of close values far from zero keep their digits.
        mean = values[first]
        error = 0.0
        for m in range(2, min(largest, n - first) + 1):
            away = values[first + m - 1] - mean
            mean += away * share[m - 1]
            error += away * (values[first + m - 1] - mean)
            if m >= smallest:
                total = here + error
                if total < cost[first + m]:
                    cost[first + m] = total
                    size[first + m] = m


@kernel
def cut_path(points: np.ndarray, smallest: int, largest: int, cost: np.ndarray, size: np.ndarray) -> None:
    """Cut a row of points into runs of ``smallest`` to ``largest`` with the least squared error, O(n k d).

    ``cost[j]`` becomes the least error of the first j points and ``size[j]`` the length of the last run in
    it.
    """
    n, d = points.shape
    share = 1.0 / np.arange(1, largest + 2)
    mean = np.empty(d)
    cost[:] = np.inf
    size[:] = 0
    cost[0] = 0.0
    for first in range(n - smallest + 1):
        here = cost[first]
        if here == np.inf:
            continue
        for a in range(d):
            mean[a] = points[first, a]
        error = 0.0
        for m in range(2, min(largest, n - first) + 1):
            for a in range(d):
                x = points[first + m - 1, a]
                away = x - mean[a]
                mean[a] += away * share[m - 1]
                error += away * (x - mean[a])
            if m >= smallest:
                total = here + error
                if total < cost[first + m]:
                    cost[first + m] = total
                    size[first + m] = m


@kernel
def runs(size: np.ndarray, order: np.ndarray, labels: np.ndarray) -> None:
    """Follow the sizes back from the end and give each run a number, written at its records' places."""
    end = order.shape[0]
    run = 0
    while end > 0:
        for place in range(end - size[end], end):
            labels[order[place]] = run
        end -= size[end]
        run += 1


def sizes_worth_trying(k: int, largest: int | None) -> tuple[int, int]:
    """The group sizes some best partition is made of: a group of 2k or more can be cut without a loss.

    >>> sizes_worth_trying(5, None), sizes_worth_trying(5, 7), sizes_worth_trying(5, 20)
    ((5, 9), (5, 7), (5, 9))
    """
    return k, 2 * k - 1 if largest is None else min(largest, 2 * k - 1)


def best_cut(
    points: np.ndarray, order: np.ndarray, k: int, largest: int | None = None
) -> tuple[np.ndarray, float]:
    """Labels (by record) and squared error of the best partition into runs of the given order.

    >>> labels, error = best_cut(np.array([[1.0], [9.0], [2.0], [8.0]]), np.array([0, 2, 3, 1]), k=2)
    >>> labels[0] == labels[2], labels[1] == labels[3], error
    (np.True_, np.True_, 1.0)
    """
    n, d = points.shape
    cost = np.empty(n + 1)
    size = np.empty(n + 1, dtype=np.int32)
    if d == 1:
        cut_line(points[:, 0][order], *sizes_worth_trying(k, largest), cost, size)
    else:
        cut_path(points[order], *sizes_worth_trying(k, largest), cost, size)
    labels = np.empty(n, dtype=np.int32)
    runs(size, order, labels)
    return labels, float(cost[n])


def warm_up() -> None:
    """Compile the kernels."""
    for d in (1, 2):
        best_cut(np.arange(4.0 * d).reshape(4, d), np.arange(4), 2)
