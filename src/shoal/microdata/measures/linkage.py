"""Distance-based record linkage: an intruder takes the nearest protected record for each original one."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from shoal.search.kernels import kernel

# Sums of squares that differ by less than this count as equal: the order of summing must not decide a tie.
TIE = 1e-10
TINY = 1e-20


@dataclass(frozen=True, eq=False)
class Links:
    """What an intruder finds for each record: whether some other protected record is strictly nearer than its own
    (``beaten``), and how many are as near as its own, itself included (``tied``).
    """

    beaten: np.ndarray
    tied: np.ndarray

    @property
    def strict(self) -> int:
        """Records whose own protected record is nearer than all others; a tie is no link."""
        return int((~self.beaten & (self.tied == 1)).sum())

    @property
    def expected(self) -> float:
        """The links to expect when a tie is decided by chance: a true match among t nearest counts 1/t."""
        return float((~self.beaten / self.tied).sum())

    @property
    def strict_percent(self) -> float:
        """Strict links in percent of the records."""
        return 100.0 * self.strict / max(1, self.beaten.size)

    @property
    def expected_percent(self) -> float:
        """Expected links in percent of the records."""
        return 100.0 * self.expected / max(1, self.beaten.size)


def link_by_distance(original: np.ndarray, protected: np.ndarray, *, threads: int = 1) -> Links:
    """Find who is linked, by exact Euclidean nearest neighbours; row i of both tables is the same record.

    Equal protected records are looked at once. The others are sorted along the direction in which they vary most, and
    the search leaves off where that direction alone is farther than the record's own distance. Memory is linear.

    >>> before = np.array([[0.0, 0.0], [1.0, 0.0], [9.0, 9.0]])
    >>> links = link_by_distance(before, np.array([[0.5, 0.0], [0.5, 0.0], [9.0, 9.0]]))
    >>> links.strict, links.expected
    (1, 2.0)
    """
    original = np.ascontiguousarray(original, dtype=np.float64)
    m = original.shape[0]
    beaten = np.zeros(m, dtype=np.bool_)
    tied = np.ones(m, dtype=np.int64)
    if m == 0 or original.shape[1] == 0:
        tied[:] = max(1, m)
        return Links(beaten, tied)
    different, inverse, counts = np.unique(
        np.asarray(protected, dtype=np.float64) + 0.0, axis=0, return_inverse=True, return_counts=True
    )
    axis = _main_direction(different)
    along = different @ axis
    order = np.argsort(along, kind="stable")
    place = np.empty(order.size, dtype=np.int64)
    place[order] = np.arange(order.size)
    own = place[inverse.reshape(-1)]
    targets = np.ascontiguousarray(different[order])
    arguments = (original, original @ axis, targets, along[order], counts[order], own, beaten, tied)
    edges = np.linspace(0, m, max(1, min(4 * threads, m)) + 1).astype(np.int64)
    with ThreadPoolExecutor(threads) as pool:
        list(pool.map(lambda b: _link(*arguments, b[0], b[1]), pairwise(edges)))
    return Links(beaten, tied)


def _main_direction(table: np.ndarray) -> np.ndarray:
    """A unit vector along which the rows vary most."""
    centred = table - table.mean(axis=0)
    _, vectors = np.linalg.eigh(centred.T @ centred)
    axis: np.ndarray = vectors[:, -1]
    return axis


@kernel
def squared_distance(one: np.ndarray, other: np.ndarray) -> float:
    """The squared Euclidean distance of two records."""
    total = 0.0
    for column in range(one.shape[0]):
        difference = one[column] - other[column]
        total += difference * difference
    return total


@kernel
def _link(points, along_points, targets, along, counts, own, beaten, tied, begin, end):  # type: ignore[no-untyped-def]
    last = targets.shape[0]
    for i in range(begin, end):
        record = points[i]
        mine = squared_distance(record, targets[own[i]])
        slack = mine * TIE + TINY
        reach = np.sqrt(mine + slack) * (1.0 + 1e-9) + 1e-12 * (1.0 + abs(along_points[i]))
        ties = counts[own[i]]
        lost = False
        # Outwards from the own record, which is where nearer ones are most likely.
        for direction in (1, -1):
            j = own[i] + direction
            while 0 <= j < last:
                ahead = (along[j] - along_points[i]) * direction
                if ahead > reach:
                    break
                if ahead >= -reach:
                    distance = squared_distance(record, targets[j])
                    if distance < mine - slack:
                        lost = True
                        break
                    if distance <= mine + slack:
                        ties += counts[j]
                j += direction
            if lost:
                break
        beaten[i] = lost
        tied[i] = ties


def warm_up() -> None:
    """Compile the kernels."""
    link_by_distance(np.arange(6.0).reshape(3, 2), np.arange(6.0).reshape(3, 2))
