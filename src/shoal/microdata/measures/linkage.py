"""Distance-based record linkage: an intruder takes the nearest protected record for each original one."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from shoal.microdata.measures.linkage_kernels import TIE, TINY, Boxes, boxed, link, squared_distance

if TYPE_CHECKING:
    from shoal.runtime.budget import Run

__all__ = ["TIE", "TINY", "Links", "link_by_distance", "squared_distance"]


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


# So many records of each thread are looked at before the next look at the clock, at most.
_AT_ONCE, _FIRST = 20_000, 1_000


def link_by_distance(
    original: np.ndarray,
    protected: np.ndarray,
    *,
    own: np.ndarray | None = None,
    threads: int = 1,
    run: "Run | None" = None,
) -> Links:
    """Find who is linked, by exact Euclidean nearest neighbours; row i of both tables is the same record.

    With ``own`` only some are looked for: original record i is protected record ``own[i]``. Within a ``run`` it is given up
    when the time of that is over (``TimeIsOver``).

    Equal protected records are looked at once. The others lie in boxes of near ones, and every box that is farther than the
    record's own distance is left out. Memory is linear.

    >>> before = np.array([[0.0, 0.0], [1.0, 0.0], [9.0, 9.0]])
    >>> links = link_by_distance(before, np.array([[0.5, 0.0], [0.5, 0.0], [9.0, 9.0]]))
    >>> links.strict, links.expected
    (1, 2.0)
    """
    # For an array that cannot be written to, as some frames give, the kernel would be compiled once more.
    original = np.require(original, np.float64, ["C", "W"])
    m = original.shape[0]
    beaten = np.zeros(m, dtype=np.bool_)
    tied = np.ones(m, dtype=np.int64)
    if m == 0 or original.shape[1] == 0:
        tied[:] = max(1, len(protected))
        return Links(beaten, tied)
    different, inverse, counts = np.unique(
        np.asarray(protected, dtype=np.float64) + 0.0, axis=0, return_inverse=True, return_counts=True
    )
    boxes = Boxes(*boxed(different))
    place = np.empty(boxes.order.size, dtype=np.int64)
    place[boxes.order] = np.arange(boxes.order.size)
    standing = place[inverse.reshape(-1)]
    found_at = standing if own is None else standing[own]
    targets = np.ascontiguousarray(different[boxes.order])
    arguments = (original, targets, counts[boxes.order], found_at, boxes, beaten, tied)
    with ThreadPoolExecutor(threads) as pool:
        for first, last, parts in _turns(m, threads, run):
            edges = np.linspace(first, last, max(1, min(parts, last - first)) + 1).astype(np.int64)
            list(pool.map(lambda b: link(*arguments, b[0], b[1]), pairwise(edges)))
    return Links(beaten, tied)


def _turns(records: int, threads: int, run: "Run | None") -> Iterator[tuple[int, int, int]]:
    """The records in turns, each from first to last in so many parts: all at once where no clock is looked at."""
    if run is None:
        yield 0, records, 4 * threads
        return
    first = 0
    while first < records:
        run.look()
        last = min(records, first + threads * max(1, run.chunk(_AT_ONCE if first else _FIRST)))
        yield first, last, threads
        run.spend(-(-(last - first) // threads))
        first = last
