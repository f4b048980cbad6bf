"""Tables of one, two and more columns before and after: how many records stand in another cell.

Total variation is half the sum of the differences of all shares, 0 to 1; the Hellinger distance √(1 − Σ√(p·q)) weighs rare
cells more. Numbers are cut into tenths of the original; of categories the rarest beyond a thousand are taken together.
"""

from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np

from shoal.microdata.measures.mixed import MixedTables
from shoal.runtime import Seeds
from shoal.runtime.kernels import kernel

#: Counting goes on up to so many records times tables; beyond that a sample of the records is counted.
WORK = 200_000_000
#: More tables than this are not counted at all.
TABLES = 20_000
_PARTS, _CATEGORIES, _DENSE = 10, 1000, 1 << 22


@dataclass(frozen=True)
class Marginal:
    """One table: its columns, total variation and Hellinger distance."""

    columns: tuple[str, ...]
    total_variation: float
    hellinger: float


@dataclass(frozen=True)
class Marginals:
    """All tables of so many columns: mean and worst, the latter named; ``every`` has the worst first."""

    ways: int
    records: int
    every: tuple[Marginal, ...]

    @property
    def worst(self) -> Marginal:
        """The table with the largest total variation."""
        return self.every[0]

    @property
    def mean(self) -> float:
        """Mean total variation."""
        return float(np.mean([table.total_variation for table in self.every]))

    @property
    def mean_hellinger(self) -> float:
        """Mean Hellinger distance."""
        return float(np.mean([table.hellinger for table in self.every]))


def marginals(
    tables: MixedTables, ways: int, *, seeds: Seeds, work: int = WORK, most: int = TABLES
) -> Marginals | None:
    """Every table of ``ways`` columns; ``None`` if there are too few columns, or too many tables.

    >>> before, after = np.array([[1.0, 1.0], [2.0, 2.0]]), np.array([[1.0, 2.0], [2.0, 1.0]])
    >>> marginals(MixedTables.of_numbers(before, after), 2, seeds=Seeds(0)).worst.total_variation
    1.0
    """
    names = tables.columns
    count = comb(len(names), ways)
    if count == 0 or count > most or tables.records == 0:
        return None
    looked_at = tables.sample(max(1000, work // count), seeds, "marginals")
    coded = [*_tenths(tables, looked_at), *_frequent(looked_at)]
    found = [
        Marginal(tuple(names[place] for place in places), *_differ([coded[place] for place in places]))
        for places in combinations(range(len(names)), ways)
    ]
    order = sorted(range(count), key=lambda position: -found[position].total_variation)
    return Marginals(ways, looked_at.records, tuple(found[place] for place in order))


_Coded = tuple[np.ndarray, np.ndarray, int]


def _tenths(tables: MixedTables, looked_at: MixedTables) -> list[_Coded]:
    found = []
    for column in range(tables.before.shape[1]):
        shares = np.linspace(0, 1, _PARTS + 1)[1:-1]
        edges = np.unique(np.quantile(tables.before[:, column], shares, method="lower"))
        one, two = (np.searchsorted(edges, t[:, column]) for t in (looked_at.before, looked_at.after))
        found.append((one, two, edges.size + 1))
    return found


def _frequent(tables: MixedTables) -> list[_Coded]:
    found = []
    for pair in tables.categories:
        codes, place, counts = np.unique(
            np.concatenate([pair.aligned, pair.after]), return_inverse=True, return_counts=True
        )
        rank = np.empty(codes.size, dtype=np.int64)
        rank[np.lexsort((codes, -counts))] = np.arange(codes.size)
        both = np.minimum(rank[place.reshape(-1)], _CATEGORIES)
        found.append((both[: tables.records], both[tables.records :], min(codes.size, _CATEGORIES + 1)))
    return found


def _differ(columns: list[_Coded]) -> tuple[float, float]:
    one, two, size = columns[0]
    for first, second, wide in columns[1:]:
        one, two, size = one * wide + first, two * wide + second, size * wide
        if size > _DENSE:
            seen, place = np.unique(np.concatenate([one, two]), return_inverse=True)
            place = place.reshape(-1)
            one, two, size = place[: one.size], place[one.size :], seen.size
    return distances(one.astype(np.int64), two.astype(np.int64), size)


@kernel
def distances(before, after, cells):  # type: ignore[no-untyped-def]
    """Total variation and Hellinger distance of two columns of cell numbers."""
    n = before.shape[0]
    one, two = np.zeros(cells, dtype=np.int64), np.zeros(cells, dtype=np.int64)
    for i in range(n):
        one[before[i]] += 1
        two[after[i]] += 1
    apart, shared = 0, 0.0
    for cell in range(cells):
        apart += abs(one[cell] - two[cell])
        root = np.sqrt(np.float64(one[cell])) - np.sqrt(np.float64(two[cell]))
        shared += root * root
    return apart / (2.0 * n), np.sqrt(shared / (2.0 * n))


def warm_up() -> None:
    """Compile the kernel."""
    distances(np.array([0, 1]), np.array([1, 1]), 2)
