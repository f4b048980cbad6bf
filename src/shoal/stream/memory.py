"""How much may be held at once, so that a run stays under the memory it was given."""

import os
from dataclasses import dataclass
from math import ceil, log2
from typing import Any

import polars as pl
import polars.selectors as cs

from shoal.errors import InputError, parameter

_GB = 1e9
#: What Python, NumPy, Polars and the compiled kernels take before there is any record.
BASE = 0.45 * _GB
_LEAST = 0.7 * _GB


@dataclass(frozen=True)
class Room:
    """Records in a slice that is read, in a leaf, and in a part that is written; groups of a class count at once."""

    slice: int
    leaf: int
    part: int
    classes: int


def room_for(
    memory: float | None, row_bytes: float, columns: int, leaf: int, typical: float | None = None
) -> Room:
    """What fits; ``memory`` is in GB, by default half of what is free.

    The size of leaves decides what is released, so it goes by what is the same each time: the bytes of a ``typical`` record
    (by default ``row_bytes``), and without ``memory`` half of all there is, free or not.

    >>> room_for(2.0, 100.0, 4, 40_000).leaf
    40000
    """
    given = _free() / 2 if memory is None else memory * _GB
    if given < _LEAST:
        raise InputError(
            f"{parameter('memory')} must be at least {_LEAST / _GB:g} GB, which Shoal itself needs"
        )
    spare = given - BASE
    # Records as they are read, sorted and written, and as points with what the search keeps of them.
    per_record = row_bytes + 8.0 * columns
    fits = int(spare / (8.0 * per_record))
    of_leaf = 16.0 * ((row_bytes if typical is None else typical) + 8.0 * columns) + 600.0
    lasting = spare if memory is not None else max(_LEAST, _all() / 2) - BASE
    return Room(
        slice=max(1_000, min(500_000, fits)),
        leaf=min(leaf, max(1_000, int(lasting / of_leaf))),
        part=max(1_000, min(1_000_000, fits)),
        classes=max(10_000, int(spare / (6.0 * (8.0 * columns + 40.0)))),
    )


def _free() -> float:
    return _pages("SC_AVPHYS_PAGES")


def _all() -> float:
    return _pages("SC_PHYS_PAGES")


def _pages(which: str) -> float:
    try:
        return float(os.sysconf(which) * os.sysconf("SC_PAGE_SIZE"))
    except (ValueError, OSError, AttributeError):
        return 4 * _GB


def row_bytes(frame: Any) -> float:
    """About how much one record takes in memory."""
    return float(frame.estimated_size()) / max(1, frame.height)


def typical_bytes(looked_at: pl.DataFrame, nested: float) -> float:
    """About how much one record takes, by the values of some alone: whoever lies beside them in memory does not count.

    ``nested`` is how much its lists and structures take, which are not looked at; it is taken for the next power of two.

    >>> typical_bytes(pl.DataFrame({"a": [1.0, 2.0], "b": ["x", "four"]}), nested=0.0)
    26.5
    """
    texts = looked_at.select(cs.string().str.len_bytes().sum(), cs.binary().bin.size().sum())
    letters = sum(int(value or 0) for row in texts.iter_rows() for value in row)
    fixed = sum(16 if kind in (pl.String, pl.Binary) else 8 for kind in looked_at.dtypes)
    return fixed + letters / max(1, looked_at.height) + (2.0 ** ceil(log2(nested)) if nested > 0 else 0.0)
