"""Rank windows: against values that were exchanged with others of similar rank.

In every column of numbers the intruder looks at the released records whose rank is within a window of that of the value known,
and keeps those that are in all windows and share what was released as it was. Nin, Herranz and Torra, Rethinking rank swapping
to decrease disclosure risk, Data & Knowledge Engineering 64 (2008).
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from shoal.microdata.measures.attacks.attack import Attack
from shoal.microdata.measures.attacks.batches import Look, go_on, turns
from shoal.microdata.measures.mixed import MixedTables, sampled
from shoal.runtime import Seeds
from shoal.runtime.kernels import kernel

TARGETS = 2000
#: Half widths tried, as shares of the records, beside the one that the release has.
WINDOWS = (0.01, 0.02, 0.05, 0.10, 0.15, 0.20)
# One of so many suspects is as good as nobody.
_MANY = 1000


class Ranks(NamedTuple):
    """First and last rank that records equal to a value have in a released column, for each record and column."""

    first: np.ndarray
    last: np.ndarray

    @staticmethod
    def among(released: np.ndarray, values: np.ndarray, look: Look = go_on) -> "Ranks":
        """Ranks that ``values`` would have among those ``released``."""
        first, last = np.empty(values.shape, dtype=np.int64), np.empty(values.shape, dtype=np.int64)
        for column in range(values.shape[1]):
            look()
            ordered = np.sort(released[:, column])
            first[:, column] = np.searchsorted(ordered, values[:, column], side="left")
            last[:, column] = np.searchsorted(ordered, values[:, column], side="right") - 1
        # A value that nobody has stands between two ranks.
        return Ranks(first, np.maximum(first, last))

    def take(self, rows: np.ndarray | slice) -> "Ranks":
        """Those of some records."""
        return Ranks(np.ascontiguousarray(self.first[rows]), np.ascontiguousarray(self.last[rows]))

    def beside(self, codes: Sequence[np.ndarray]) -> "Ranks":
        """The same with further columns, in which equal codes are equal ranks."""
        return Ranks(np.column_stack([self.first, *codes]), np.column_stack([self.last, *codes]))


def attack(tables: MixedTables, *, seeds: Seeds, targets: int = TARGETS, look: Look = go_on) -> Attack | None:
    """Expected matches in percent at the best of the ``WINDOWS`` or by the release's own; ``None`` without a column of numbers.

    >>> table = np.arange(200.0).reshape(100, 2)
    >>> attack(MixedTables.of_numbers(table, table), seeds=Seeds(0)).percent
    100.0
    """
    n = tables.records
    if n == 0 or tables.before.shape[1] == 0:
        return None
    chosen = sampled(n, targets, seeds, "rank windows")
    reaches = np.array([0, *(int(share * n) for share in WINDOWS)], dtype=np.int64)
    released = Ranks.among(tables.after, tables.after, look)
    known = Ranks.among(tables.after, tables.before[chosen], look)
    # Records in the order of one column: those in its window are neighbours.
    leading = _leading(tables.after)
    order = np.argsort(released.first[:, leading], kind="stable")
    ordered = released.take(order)
    # The smallest window in which anybody is found stands for an intruder who does not know how wide it was.
    parts = [count_windows(known.take(part), ordered, reaches, leading) for part in turns(chosen.size, look)]
    found, nearest = (np.concatenate(each) for each in zip(*parts, strict=True))
    moved = _apart(known, released.take(chosen))
    own = moved.max(axis=1)
    matched = [
        float(((own <= reach) / np.maximum(1, found[:, place])).mean())
        for place, reach in enumerate(reaches.tolist())
    ]
    closest = float(((own == nearest[:, 0]) / np.maximum(1, nearest[:, 1])).mean())
    # Whoever knows how values were exchanged knows how far in each column, and what was not exchanged at all.
    kept = [pair.after for pair in tables.categories if not pair.changed.any()]
    farthest = np.concatenate([moved.max(axis=0), np.zeros(len(kept), dtype=np.int64)])
    wider = known.beside([codes[chosen] for codes in kept])
    others = ordered.beside([codes[order] for codes in kept])
    suspects = np.concatenate(
        [
            count_within(wider.take(part), others, farthest, leading, _MANY)
            for part in turns(chosen.size, look)
        ]
    )
    matched.append(float(np.where(suspects < _MANY, 1.0 / np.maximum(1, suspects), 0.0).mean()))
    best = int(np.argmax(matched))
    width = [*reaches.tolist(), int(farthest.max())][best] / n
    guessing = closest >= matched[best]
    return Attack(
        "rank-windows",
        "linkage by rank windows",
        "every number of a record, what was released as it was, and within which windows of ranks values were exchanged",
        100.0 * max(closest, matched[best]),
        int(chosen.size),
        n,
        (("window_percent", None if guessing else 100.0 * width),),
    )


def _leading(table: np.ndarray) -> int:
    """The column with the most different values: its window holds the fewest records."""
    return int(np.argmax([np.unique(table[:, column]).size for column in range(table.shape[1])]))


def _apart(one: Ranks, other: Ranks) -> np.ndarray:
    """How many ranks lie between the two, record by record and column by column."""
    gaps: np.ndarray = np.maximum(0, np.maximum(other.first - one.last, one.first - other.last))
    return gaps


@kernel
def count_windows(known, ordered, reaches, leading):  # type: ignore[no-untyped-def]
    """For every target: how many records are within each reach in all columns; the least reach that holds any, and how many.

    ``ordered`` are ranks of the released records, in the order of the ``leading`` column; ``reaches`` increase. Nobody is
    looked at beyond the last, and the least reach is -1 where that holds nobody.
    """
    targets, columns = known.first.shape
    records = ordered.first.shape[0]
    steps = reaches.shape[0]
    most = reaches[steps - 1]
    found = np.zeros((targets, steps), dtype=np.int64)
    nearest = np.zeros((targets, 2), dtype=np.int64)
    for i in range(targets):
        least, held = most + 1, 0
        # First ranks are in order; a run of equal values ends where the next begins.
        begin = np.searchsorted(ordered.last[:, leading], known.first[i, leading] - most)
        for j in range(begin, records):
            if ordered.first[j, leading] - known.last[i, leading] > most:
                break
            gap = 0
            for column in range(columns):
                ahead = ordered.first[j, column] - known.last[i, column]
                behind = known.first[i, column] - ordered.last[j, column]
                gap = max(gap, ahead, behind)
                if gap > most:
                    break
            if gap > most:
                continue
            step = steps - 1
            while step >= 0 and gap <= reaches[step]:
                found[i, step] += 1
                step -= 1
            if gap < least:
                least, held = gap, 1
            elif gap == least:
                held += 1
        nearest[i, 0] = least if held else -1
        nearest[i, 1] = held
    return found, nearest


@kernel
def count_within(known, ordered, reaches, leading, most):  # type: ignore[no-untyped-def]
    """For every target how many records are within reach in all columns, each with its own; nobody is counted beyond ``most``."""
    targets, columns = known.first.shape
    records = ordered.first.shape[0]
    found = np.zeros(targets, dtype=np.int64)
    for i in range(targets):
        begin = np.searchsorted(ordered.last[:, leading], known.first[i, leading] - reaches[leading])
        for j in range(begin, records):
            if found[i] >= most or ordered.first[j, leading] - known.last[i, leading] > reaches[leading]:
                break
            within = True
            for column in range(columns):
                ahead = ordered.first[j, column] - known.last[i, column]
                behind = known.first[i, column] - ordered.last[j, column]
                if ahead > reaches[column] or behind > reaches[column]:
                    within = False
                    break
            found[i] += within
    return found


def warm_up() -> None:
    """Compile the kernels."""
    table = np.arange(20.0).reshape(10, 2)
    attack(MixedTables.of_numbers(table, table), seeds=Seeds(0))
