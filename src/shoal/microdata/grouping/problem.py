"""The grouping problem: scaled records, k, and how a grouping is scored."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal

import numpy as np

from shoal.errors import InputError
from shoal.microdata.measures.intervals import WIDTHS, Around
from shoal.microdata.measures.scaling import Scaling, on_common_scale

if TYPE_CHECKING:
    from shoal.microdata.microaggregation.construct.mdav import Bounds, Distance

Variant = Literal["compatible", "literal"]
Partition = tuple[int, ...]


@dataclass(frozen=True)
class Scoring:
    """How records are clustered and interval disclosure is counted when a grouping is scored.

    The default reproduces the published tables of GOMM: clustering by Manhattan distance, ten intervals around the
    protected value. ``Scoring.of("literal")`` is what its text describes instead.
    """

    distance: "Distance" = "manhattan"
    bounds: "Bounds" = "compatible"
    widths: tuple[float, ...] = WIDTHS
    around: Around = "protected"
    scaling: Scaling = "min-max"
    loss_weight: float = 0.5

    @property
    def risk_weight(self) -> float:
        """How much interval disclosure counts, and linkage as much."""
        return (1.0 - self.loss_weight) / 2.0

    @classmethod
    def of(cls, variant: Variant, bounds: "Bounds" = "compatible", loss_weight: float = 0.5) -> "Scoring":
        """The scoring of a variant, with the clustering's bounds and the weight of the loss as asked for."""
        if variant == "literal":
            return cls("euclidean", bounds, (0.10,), "original", "none", loss_weight)
        return cls(bounds=bounds, loss_weight=loss_weight)


@dataclass(frozen=True, eq=False)
class GroupingProblem:
    """Part n attributes into groups such that microaggregating each with k gives the best score.

    >>> problem = GroupingProblem.of(np.array([[1.0, 2.0], [3.0, 6.0], [5.0, 3.0], [8.0, 9.0]]), k=2)
    >>> problem.m, problem.n, problem.clusters
    (4, 2, 2)
    """

    points: np.ndarray
    k: int
    scoring: Scoring = field(default_factory=Scoring)
    # The squared error when every record becomes the mean of all: what 100 % loss means.
    sst: float = field(init=False)
    # The sizes of the clusters as they are formed; they do not depend on the attributes.
    sizes: tuple[int, ...] = field(init=False)

    def __post_init__(self) -> None:
        points = np.array(self.points, dtype=np.float64, order="C")
        if points.ndim != 2 or points.shape[0] == 0:
            raise InputError("there are no records")
        if points.shape[1] == 0:
            raise InputError("there is no numeric column to group")
        if not np.isfinite(points).all():
            raise InputError("the columns to group hold missing or infinite values")
        if self.k < 2:
            raise InputError(f"k must be at least 2, not {self.k}")
        if self.k > points.shape[0]:
            raise InputError(f"k is {self.k}, but there are only {points.shape[0]} records")
        points.setflags(write=False)
        object.__setattr__(self, "points", points)
        object.__setattr__(self, "sst", float(np.square(points - points.mean(axis=0)).sum()))
        object.__setattr__(self, "sizes", _cluster_sizes(points.shape[0], self.k, self.scoring.bounds))

    @classmethod
    def of(cls, values: np.ndarray, k: int, scoring: Scoring | None = None) -> "GroupingProblem":
        """The problem of a table as it is: columns are scaled as the scoring asks."""
        using = scoring or Scoring()
        table = np.asarray(values, dtype=np.float64)
        if table.ndim != 2 or table.size == 0 or not np.isfinite(table).all():
            return cls(table, k, using)
        return cls(on_common_scale(table, table, using.scaling)[0], k, using)

    @property
    def m(self) -> int:
        """Number of records."""
        return int(self.points.shape[0])

    @property
    def n(self) -> int:
        """Number of attributes."""
        return int(self.points.shape[1])

    @property
    def clusters(self) -> int:
        """Number of clusters of each group of attributes."""
        return len(self.sizes)

    def loss_percent(self, sse: float) -> float:
        """A squared error as information loss."""
        return 100.0 * sse / self.sst if self.sst > 0 else 0.0

    def disclosure_percent(self, hits: float) -> float:
        """A number of values inside intervals, over all widths, as interval disclosure."""
        return 100.0 * hits / (self.m * self.n * len(self.scoring.widths))


def _cluster_sizes(records: int, k: int, bounds: "Bounds") -> tuple[int, ...]:
    left, sizes = records, []
    enough_for_second = 2 * k if bounds == "strict" else k + 1
    while left >= 2 * k:
        sizes.append(k)
        left -= k
        if left >= enough_for_second:
            sizes.append(k)
            left -= k
    return (*sizes, left) if left else tuple(sizes)


def canonical(groups: Iterable[Iterable[int]]) -> Partition:
    """Groups of attribute numbers as a tuple of bit sets, ordered by their lowest attribute.

    >>> canonical([[1, 3], [0, 2]])
    (5, 10)
    """
    masks = [sum(1 << attribute for attribute in set(group)) for group in groups]
    return tuple(sorted(masks, key=lambda mask: mask & -mask))


def members(mask: int) -> list[int]:
    """The attributes of a bit set, in order.

    >>> members(10)
    [1, 3]
    """
    return [place for place in range(mask.bit_length()) if mask >> place & 1]


def groups_of(partition: Partition) -> tuple[tuple[int, ...], ...]:
    """A partition as tuples of attribute numbers."""
    return tuple(tuple(members(mask)) for mask in partition)
