"""Bins that may be shown: none with fewer units than a reader may learn about."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

SMALLEST_BIN = 10


@dataclass(frozen=True)
class Bin:
    """A range of values (ends included) and how many units fall into it."""

    low: float
    high: float
    count: int

    @property
    def name(self) -> str:
        """The range as text."""
        if self.low == self.high:
            return f"{self.low:g}"
        return f"{self.low:g}–{self.high:g}"


def merge_small(bins: Sequence[Bin], smallest: int = SMALLEST_BIN) -> list[Bin]:
    """Join neighbouring bins until each holds at least ``smallest`` units; nothing if there are not enough in all.

    >>> [b.name for b in merge_small([Bin(1, 1, 4), Bin(2, 2, 8), Bin(3, 3, 30), Bin(4, 4, 6)])]
    ['1–2', '3–4']
    """
    merged: list[Bin] = []
    for current in bins:
        if merged and merged[-1].count < smallest:
            last = merged.pop()
            current = Bin(last.low, current.high, last.count + current.count)
        merged.append(current)
    if len(merged) > 1 and merged[-1].count < smallest:
        last = merged.pop()
        before = merged.pop()
        merged.append(Bin(before.low, last.high, before.count + last.count))
    return [bin_ for bin_ in merged if bin_.count >= smallest]


def histogram(values: np.ndarray, *, bins: int = 24, smallest: int = SMALLEST_BIN) -> list[Bin]:
    """Bins of equal width between the 1st and the 99th percentile, merged until each may be shown."""
    values = np.asarray(values, dtype=float)
    values = values[np.isfinite(values)]
    if values.size < smallest:
        return []
    low, high = np.quantile(values, [0.01, 0.99])
    inside = values[(values >= low) & (values <= high)]
    # Neighbouring numbers leave no room for bins between them.
    if not (np.diff(np.linspace(low, high, bins + 1)) > 0).all():
        return merge_small([Bin(float(low), float(high), int(inside.size))], smallest)
    counts, edges = np.histogram(inside, bins=bins, range=(low, high))
    return merge_small(
        [Bin(float(a), float(b), int(c)) for a, b, c in zip(edges[:-1], edges[1:], counts, strict=True)],
        smallest,
    )
