"""The plainest attack there is: joining the data with a list of names on what both have (Moro Lías 2024, §2.1)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import narwhals as nw
import numpy as np

from shoal.errors import InputError, unknown
from shoal.microdata.columns.inputs import read_frame
from shoal.microdata.risk.counts import count_classes
from shoal.microdata.risk.keys import code_columns

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame


@dataclass(frozen=True)
class ListLinkage:
    """How many entries of a list fit exactly one record, several, or none.

    ``reidentified`` are those that fit one record which nobody else of the list fits. The list may be smaller than the data or
    larger: ``expected_matches`` is how many entries are matched rightly, those that look the same being told apart by chance, if
    of each group of these as many as possible are in both.
    """

    reidentified: int
    one: int
    several: int
    none: int
    expected_matches: float

    @property
    def listed(self) -> int:
        """How many entries the list has."""
        return self.one + self.several + self.none


def check_written_alike(released: "IntoDataFrame", listed: "IntoDataFrame", on: Sequence[str]) -> None:
    """An ``InputError`` for a key of which no value on the list occurs in the data: it is written otherwise, and finds nobody."""
    frames = _read(released, listed, on)
    records = len(frames[0])
    for name in on:
        _, key = code_columns(frames, name, other="the list")
        of_data, of_list = (part[part != key.missing] for part in (key.codes[:records], key.codes[records:]))
        if of_data.size and of_list.size and not np.isin(of_list, of_data).any():
            raise InputError(
                f"no value of '{name}' on the list occurs in the data, so nobody can be found by it: are both written alike? "
                "A list is brought to the form of a release by the same mapping"
            )


def _read(released: "IntoDataFrame", listed: "IntoDataFrame", on: Sequence[str]) -> "list[nw.DataFrame[Any]]":
    frames = [read_frame(frame) for frame in (released, listed)]
    for frame, where in zip(frames, ("in the data", "in the list"), strict=True):
        for name in on:
            if name not in frame.columns:
                raise unknown("column", name, frame.columns, where=where)
    return frames


def link(
    released: "IntoDataFrame",
    listed: "IntoDataFrame",
    on: Sequence[str],
    *,
    null: Literal["own", "wildcard"] = "own",
    counts: np.ndarray | None = None,
) -> ListLinkage:
    """Join a list with data on some columns and count whom it re-identifies.

    Values are compared as they stand: whoever generalised a release must generalise the list the same way. Who lacks a value
    fits nobody, or with ``null="wildcard"`` everybody who agrees on the others. ``counts`` says which records count.

    >>> import polars as pl
    >>> records = pl.DataFrame({"zip": ["02142", "02139", "02139"], "sex": ["m", "f", "f"], "problem": ["cancer", "flu", "gout"]})
    >>> voters = pl.DataFrame({"name": ["Smith", "Jones"], "zip": ["02142", "02139"], "sex": ["m", "f"]})
    >>> link(records, voters, ["zip", "sex"])
    ListLinkage(reidentified=1, one=1, several=1, none=0, expected_matches=1.5)
    """
    frames = _read(released, listed, on)
    records, entries = map(len, frames)
    keys = [code_columns(frames, name, other="the list")[1] for name in on]
    counts = np.ones(records, dtype=np.int64) if counts is None else counts
    groups, classes = count_classes(
        [key.codes for key in keys],
        [key.size for key in keys],
        [key.missing for key in keys],
        np.concatenate([counts, np.zeros(entries, dtype=np.int64)]),
        np.concatenate([np.zeros(records), np.ones(entries)]),
        wildcard=null == "wildcard",
    )
    own = groups.of_record[records:]
    fits, rivals = classes.counts[own], classes.populations[own]
    if null == "own":
        lacking = [key.codes[records:] == key.missing for key in keys if key.missing >= 0]
        fits = np.where(np.logical_or.reduce(lacking), 0, fits) if lacking else fits
    fitting = fits > 0
    return ListLinkage(
        reidentified=int(((fits == 1) & (rivals == 1)).sum()),
        one=int((fits == 1).sum()),
        several=int((fits > 1).sum()),
        none=int((~fitting).sum()),
        expected_matches=float((1.0 / np.maximum(fits, rivals)[fitting]).sum()),
    )
