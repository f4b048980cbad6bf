"""A classification tree that is judged on people it was not grown on."""

from dataclasses import dataclass, field

import numpy as np

from shoal.microdata.measures.mixed import MixedTables
from shoal.microdata.measures.utility.auc import area
from shoal.microdata.measures.utility.tree_kernels import Tree, grow, read
from shoal.runtime import Seeds

BINS = 64
DEPTH = 6
FEWEST = 20
FOLDS = 5


@dataclass(frozen=True, eq=False)
class Binned:
    """The columns of stacked records as bins; ``ordered`` are those of numbers."""

    bins: np.ndarray = field(repr=False)
    ordered: np.ndarray
    sizes: np.ndarray

    def without(self, column: int) -> "Binned":
        """All columns but one."""
        return Binned(
            np.ascontiguousarray(np.delete(self.bins, column, axis=1)),
            np.delete(self.ordered, column),
            np.delete(self.sizes, column),
        )


def binned(tables: MixedTables, *, bins: int = BINS) -> Binned:
    """The original records and below them the released ones: numbers by quantiles of both, categories by how frequent they are.

    >>> binned(MixedTables.of_numbers(np.array([[1.0], [9.0]]), np.array([[2.0], [8.0]])), bins=2).bins.ravel().tolist()
    [0, 1, 0, 1]
    """
    columns, sizes = [], []
    for column in range(tables.before.shape[1]):
        values = np.concatenate([tables.before[:, column], tables.after[:, column]])
        edges = np.unique(np.quantile(values, np.linspace(0, 1, bins + 1)[1:-1], method="lower"))
        columns.append(np.searchsorted(edges, values, side="left"))
        sizes.append(edges.size + 1)
    for pair in tables.categories:
        values = np.concatenate([pair.aligned, pair.after])
        codes, place, counts = np.unique(values, return_inverse=True, return_counts=True)
        rank = np.empty(codes.size, dtype=np.int64)
        rank[np.lexsort((codes, -counts))] = np.arange(codes.size)
        columns.append(np.minimum(rank[place.reshape(-1)], bins - 1))
        sizes.append(min(codes.size, bins))
    ordered = np.arange(len(columns)) < tables.before.shape[1]
    table = np.column_stack(columns) if columns else np.zeros((2 * tables.records, 0))
    return Binned(np.ascontiguousarray(table, dtype=np.int64), ordered, np.array(sizes, dtype=np.int64))


def folds_of(people: np.ndarray, seeds: Seeds, *, folds: int = FOLDS) -> np.ndarray:
    """A fold for each record, the same for all records of a person.

    >>> folds_of(np.array([4, 4, 7, 9]), Seeds(0), folds=2).tolist()[:2] in ([0, 0], [1, 1])
    True
    """
    known, whose = np.unique(people, return_inverse=True)
    fold = seeds.child("folds").generator().permutation(np.arange(known.size) % folds)
    of_record: np.ndarray = fold[whose.reshape(-1)]
    return of_record


def grown(columns: Binned, positive: np.ndarray, rows: np.ndarray) -> Tree:
    """A tree of the usual size, grown on some rows."""
    return Tree(
        *grow(
            columns.bins,
            positive.astype(np.float64),
            rows.astype(np.int64),
            columns.ordered,
            columns.sizes,
            DEPTH,
            FEWEST,
        )
    )


def separability(tables: MixedTables, *, seeds: Seeds) -> tuple[float, float]:
    """How well a tree tells original from released records: pMSE and AUC, judged by trees that never saw the person.

    >>> table = np.random.default_rng(0).normal(size=(200, 2))
    >>> separability(MixedTables.of_numbers(table, table + 9.0), seeds=Seeds(0))[1]
    1.0
    """
    columns = binned(tables)
    half = tables.records
    released = np.arange(2 * half) >= half
    fold = np.tile(folds_of(tables.people_or_records(), seeds), 2)
    chance = np.full(2 * half, 0.5)
    for number in range(FOLDS):
        inside, outside = np.flatnonzero(fold == number), np.flatnonzero(fold != number)
        if inside.size and outside.size:
            found = read(grown(columns, released, outside), columns.bins, inside)
            chance[inside] = found
    return float(np.square(chance - 0.5).mean()), area(chance, released)
