"""A partition of records into groups."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Self

import numpy as np

from shoal.errors import InputError, unreadable
from shoal.microdata.microaggregation.problem import Problem
from shoal.runtime import Run, Solution
from shoal.runtime.in_rows import in_rows

if TYPE_CHECKING:
    from concurrent.futures import Executor

_SLICE = 65_536


@dataclass(frozen=True, kw_only=True)
class Partition(Solution):
    """Groups of at least k records; ``value`` and ``bound`` are squared errors in the problem's space.

    ``labels`` holds one integer per record; groups are numbered 0, 1, … by first appearance.
    """

    labels: np.ndarray
    sst: float

    @classmethod
    def constructed(cls, problem: Problem, labels: np.ndarray, run: Run, *, optimal: bool = False) -> Self:
        """What a run ends with that built one partition and looks no further."""
        labels = numbered_by_appearance(labels)
        value = squared_error(problem.points, labels)
        bound = value if optimal else None
        run.report(value, bound=bound)
        if optimal:
            run.finish()
        return cls(value=value, bound=bound, optimal=optimal, labels=labels, sst=problem.sst, **run.closing())

    @property
    def groups(self) -> int:
        """Number of groups."""
        return int(self.labels.max()) + 1

    @property
    def sizes(self) -> np.ndarray:
        """Records in each group."""
        return np.bincount(self.labels)

    @property
    def loss_percent(self) -> float:
        """Information loss, 100·SSE/SST."""
        return 100.0 * self.value / self.sst if self.sst > 0 else 0.0

    @property
    def bound_percent(self) -> float | None:
        """The proved lower bound as a loss in percent; ``None`` if no bound was computed."""
        if self.bound is None:
            return None
        return 100.0 * self.bound / self.sst if self.sst > 0 else 0.0


def read_labels(path: Path) -> np.ndarray:
    """The groups of records from a file with one whole number for each; lines that begin with # are remarks."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
        words = " ".join(line for line in lines if not line.startswith("#")).split()
        return np.array([int(word) for word in words], dtype=np.int64)
    except OSError as error:
        raise unreadable("file of labels", path, error) from None
    except (ValueError, OverflowError):
        raise InputError(f"the file of labels '{path}' must hold one whole number per record") from None


def numbered_by_appearance(labels: np.ndarray) -> np.ndarray:
    """The same groups, numbered 0, 1, … in the order in which the records meet them.

    >>> numbered_by_appearance(np.array([7, 7, 2, 7, 2])).tolist()
    [0, 0, 1, 0, 1]
    """
    labels = np.asarray(labels)
    if labels.size == 0 or labels.min() < 0 or labels.max() > 4 * labels.size:
        labels = np.unique(labels, return_inverse=True)[1].reshape(-1)
    first = np.full(int(labels.max(initial=-1)) + 1, labels.size)
    # Where places are written twice the last one stays; backwards that is each label's first.
    first[labels[::-1]] = np.arange(labels.size)[::-1]
    rank = np.empty(first.size, dtype=np.int32)
    rank[np.argsort(first, kind="stable")] = np.arange(first.size, dtype=np.int32)
    return rank[labels]


def group_means(points: np.ndarray, labels: np.ndarray, executor: "Executor | None" = None) -> np.ndarray:
    """The mean of each group, one row per group; threads of the executor share the columns."""
    groups = int(labels.max()) + 1
    sizes = np.bincount(labels, minlength=groups)
    means = np.empty((groups, points.shape[1]))

    def column(part: slice) -> None:
        total = np.bincount(labels, weights=points[:, part.start], minlength=groups)
        np.divide(total, sizes, out=means[:, part.start])

    in_rows(executor, points.shape[1], column, rows=1)
    return means


def squared_error(points: np.ndarray, labels: np.ndarray, executor: "Executor | None" = None) -> float:
    """The sum of squared distances of the points to the means of their groups."""
    means = group_means(points, labels, executor)

    # In slices, so that a million records need no second and third copy of themselves.
    def lost(part: slice) -> np.floating:
        return np.square(points[part] - means.take(labels[part], axis=0)).sum()

    return float(sum(in_rows(executor, len(labels), lost, _SLICE)))
