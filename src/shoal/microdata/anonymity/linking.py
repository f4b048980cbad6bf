"""The plainest attack there is: joining a release with a list of people on what both have (Moro Lías 2024, §2.1)."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from shoal.errors import unknown
from shoal.microdata.columns.inputs import read_frame

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame


@dataclass(frozen=True)
class Linked:
    """How many people of a list fit exactly one record, several, or none."""

    one: int
    several: int
    none: int

    @property
    def listed(self) -> int:
        """How many people the list has."""
        return self.one + self.several + self.none


def link(released: "IntoDataFrame", listed: "IntoDataFrame", on: Sequence[str]) -> Linked:
    """Join a list with a release on some columns and count whom it re-identifies.

    Values are compared as texts, as they stand: whoever generalised a release must generalise the list the same way.

    >>> import polars as pl
    >>> records = pl.DataFrame({"zip": ["02142", "02139", "02139"], "sex": ["m", "f", "f"], "problem": ["cancer", "flu", "gout"]})
    >>> voters = pl.DataFrame({"name": ["Smith", "Jones"], "zip": ["02142", "02139"], "sex": ["m", "f"]})
    >>> link(records, voters, ["zip", "sex"])
    Linked(one=1, several=1, none=0)
    """
    frames = [read_frame(frame) for frame in (released, listed)]
    for frame, where in zip(frames, ("in the release", "in the list"), strict=True):
        for name in on:
            if name not in frame.columns:
                raise unknown("column", name, frame.columns, where=where)
    records, people = ([tuple(map(str, row)) for row in frame.select(list(on)).rows()] for frame in frames)
    found = Counter(records)
    matches = [found[person] for person in people]
    return Linked(
        sum(count == 1 for count in matches),
        sum(count > 1 for count in matches),
        sum(count == 0 for count in matches),
    )
