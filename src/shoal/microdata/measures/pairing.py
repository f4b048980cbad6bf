"""Which record of the protected table belongs to which original one: said by the user, and never taken on trust."""

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import narwhals as nw
import numpy as np

from shoal.errors import InputError, parameter, unknown
from shoal.microdata.columns.attributes import is_moment, read_attribute
from shoal.microdata.columns.record_links import RecordLinks, released_numbers
from shoal.numbers import counted
from shoal.remarks import Remark, note, warning

Way = Literal["key", "record-links", "position"]

# A release in kept order follows the original in every column; below this correlation of ranks it was put in another.
_FOLLOWS = 0.5
# From this many records on, columns that follow no better than by chance (in standard deviations of it) say something.
_ENOUGH, _BY_CHANCE = 100, 3.0


@dataclass(frozen=True)
class Pairing:
    """How the records of two tables are paired: by a key, by links, or by position if somebody says so.

    ``key`` is a column, or the name of a pandas index, that both tables have.
    """

    key: str | None = None
    record_links: RecordLinks | None = None
    by_position: bool = False

    @classmethod
    def read(
        cls, key: str | None, record_links: "RecordLinks | str | os.PathLike[str] | None", by_position: bool
    ) -> "Pairing":
        """The one way that is chosen; an ``InputError`` if there is none, or more than one."""
        cls.check(key, record_links, by_position)
        if record_links is not None and not isinstance(record_links, RecordLinks):
            record_links = RecordLinks.read(record_links)
        return cls(key, record_links, by_position)

    @staticmethod
    def check(key: str | None, record_links: object, by_position: bool) -> None:
        """Refuse if there is no way, or more than one."""
        ways = sum((key is not None, record_links is not None, by_position))
        if ways == 0:
            raise InputError(
                f"say how the records of the two tables belong together: {parameter('key')} names a column that both have, "
                f"{parameter('record_links')} the file of links that protecting wrote; "
                f"{parameter('paired_by_position')} is for tables that hold the same records in the same order"
            )
        if ways > 1:
            raise InputError(
                f"records are paired in one way: {parameter('key')}, {parameter('record_links')} or "
                f"{parameter('paired_by_position')}"
            )

    @property
    def way(self) -> Way:
        """The way in one word."""
        if self.by_position:
            return "position"
        return "key" if self.key is not None else "record-links"

    def pair(
        self, before: nw.DataFrame, after: nw.DataFrame, compared: Sequence[str]
    ) -> tuple[np.ndarray, np.ndarray, list[Remark]]:
        """The rows of both tables that belong together, and what is to be said of it."""
        if self.record_links is not None:
            first, second, remarks = _by_links(before, after, self.record_links)
            # Values may have been exchanged on purpose, but not those of all columns.
            agreeing, moved = _unchanged(before, after, first, second, compared)
            if moved and not agreeing and not _some_agree(before, after, first, second, compared):
                raise InputError(
                    f"column '{moved[0]}' has the same values in both tables, but the record links join others, so they "
                    f"are of another release; use those written with this one, or name it with {parameter('columns')} if its "
                    "values were exchanged"
                )
            return first, second, remarks
        if self.key is not None:
            first, second, remarks = _by_key(before, after, self.key)
            agreeing, moved = _unchanged(before, after, first, second, [*compared, self.key])
            # Values may have been swapped on purpose; where nothing at all agrees the keys were given out anew.
            if moved and not agreeing and not _some_agree(before, after, first, second, compared):
                raise InputError(
                    f"column '{moved[0]}' has the same values in both tables, but '{self.key}' joins others, so it is not "
                    f"the same in both; use {parameter('record_links')}, or name the column with {parameter('columns')} if its "
                    "values were exchanged"
                )
            return first, second, remarks
        return _by_position(before, after, compared)


def _by_links(
    before: nw.DataFrame, after: nw.DataFrame, links: RecordLinks
) -> tuple[np.ndarray, np.ndarray, list[Remark]]:
    sides = ((before, links.records, "original"), (after, links.released_records, "protected"))
    for frame, linked, which in sides:
        if len(frame) != linked:
            raise InputError(
                f"the record links are of {linked} {which} records, but the {which} data has {len(frame)}"
            )
    if not links.is_of(released_numbers(after, links.sums)):
        raise InputError(
            "the record links are of another release, or the protected data was changed since they were written; "
            f"use those of this release, or {parameter('key')}"
        )
    rows = links.rows()
    if rows[0].size == 0:
        raise InputError("the record links say that no record was released")
    return *rows, _left_out(len(before) - rows[0].size)


def _by_key(
    before: nw.DataFrame, after: nw.DataFrame, key: str
) -> tuple[np.ndarray, np.ndarray, list[Remark]]:
    places = []
    for frame, which in ((before, "original"), (after, "protected")):
        values = key_values(frame, key, which)
        if any(value is None or value != value for value in values):
            raise InputError(f"every record of the {which} data needs a value in '{key}' to be paired by it")
        place = {value: row for row, value in enumerate(values)}
        if len(place) < len(values):
            raise InputError(f"the values of '{key}' must be different for all records of the {which} data")
        places.append(place)
    both = [value for value in places[0] if value in places[1]]
    if not both:
        raise InputError(f"no record of the two tables has the same '{key}'")
    if len(both) < len(after):
        raise InputError(
            f"{len(after) - len(both)} records of the protected data have a '{key}' that no original record has"
        )
    first, second = (np.array([place[value] for value in both], dtype=np.int64) for place in places)
    return first, second, _left_out(len(before) - len(both))


def key_values(frame: nw.DataFrame, key: str, which: str) -> list[Any]:
    """The values of a key: a column, or an index of pandas that has this name."""
    if key in frame.columns:
        if frame.schema[key].is_nested():
            raise InputError(f"column '{key}' of the {which} data holds lists or records; it cannot be a key")
        return frame[key].to_list()
    if frame.implementation.is_pandas_like() and key in frame.to_native().index.names:
        return list(frame.to_native().index.get_level_values(key).tolist())
    raise unknown("column", key, frame.columns, where=f"in the {which} data")


def _left_out(count: int) -> list[Remark]:
    one = "record is not in the protected data and is left out"
    many = "records are not in the protected data and are left out"
    return [note("unreleased-records", counted(count, one, many))] if count else []


def _by_position(
    before: nw.DataFrame, after: nw.DataFrame, compared: Sequence[str]
) -> tuple[np.ndarray, np.ndarray, list[Remark]]:
    use = f"use {parameter('key')} or {parameter('record_links')}"
    if len(before) != len(after):
        raise InputError(
            f"the original has {len(before)} records and the protected data {len(after)}, so they cannot be paired by "
            f"position; {use}"
        )
    rows = np.arange(len(before))
    witnesses, moved = _unchanged(before, after, rows, rows, compared)
    if moved:
        raise InputError(
            f"column '{moved[0]}' has the same values in both tables, but at other records, so the records are not in "
            f"the same order; {use}, or name it with {parameter('columns')} if its values were exchanged"
        )
    kinds, new_kinds = before.schema, after.schema
    for name in _shared(before, after):
        ordered = all(kind.is_numeric() or is_moment(kind) for kind in (kinds[name], new_kinds[name]))
        if ordered and _sorted_anew(_floats(before[name]), _floats(after[name])):
            raise InputError(
                f"the protected data is sorted by '{name}' and the original is not, so the records are not in the same "
                f"order; {use}"
            )
    if witnesses:
        confirmed = f"records are paired by position; {', '.join(witnesses)} agree in all of them"
        return rows, rows, [note("paired-by-position", confirmed, *witnesses)]
    if _nothing_follows(before, after, compared):
        raise InputError(
            "no column compared follows the original from record to record, so the records are hardly in the same order; "
            + use
        )
    text = "records are paired by position, which nothing in the two tables confirms"
    return rows, rows, [warning("paired-by-position", text)]


def _shared(before: nw.DataFrame, after: nw.DataFrame) -> list[str]:
    there = set(after.columns)
    return [name for name in before.columns if name in there]


def _unchanged(
    before: nw.DataFrame, after: nw.DataFrame, first: np.ndarray, second: np.ndarray, but: Sequence[str]
) -> tuple[list[str], list[str]]:
    """Columns that protection left alone: those that agree in all pairs, and those whose values stand elsewhere."""
    agreeing, moved = [], []
    left_out = set(but)
    for name in _shared(before, after):
        if name in left_out:
            continue
        old, new = texts(before[name]), texts(after[name])
        old, new = [old[row] for row in first.tolist()], [new[row] for row in second.tolist()]
        if _moved(old, new):
            moved.append(name)
        elif old == new and len(set(old)) > 1:
            agreeing.append(name)
    return agreeing, moved


def _some_agree(
    before: nw.DataFrame, after: nw.DataFrame, first: np.ndarray, second: np.ndarray, columns: Sequence[str]
) -> bool:
    """Whether one of these columns is the same in all pairs."""
    others = [name for name in _shared(before, after) if name not in set(columns)]
    return bool(_unchanged(before, after, first, second, others)[0])


def _nothing_follows(before: nw.DataFrame, after: nw.DataFrame, compared: Sequence[str]) -> bool:
    """Whether every column compared is as if the records had been shuffled; of few records nobody can say."""
    kinds, new_kinds = before.schema, after.schema
    ordered = [
        name
        for name in compared
        if all(kind.is_numeric() or is_moment(kind) for kind in (kinds[name], new_kinds[name]))
    ]
    found = [_follows(_floats(before[name]), _floats(after[name])) for name in ordered]
    known = [share for share in found if share is not None]
    return bool(known) and len(before) >= _ENOUGH and max(known) < _BY_CHANCE / np.sqrt(len(before))


def texts(column: nw.Series) -> list[str | None]:
    """Values in a form that is the same in every format: whole numbers may come back as fractions, dates as texts."""
    values = zip(column.to_list(), column.is_null().to_list(), strict=True)
    return [None if gone or value != value else _text(value) for value, gone in values]


def _text(value: Any) -> str:
    if isinstance(value, float) and value.is_integer() and abs(value) < 2**53:
        return str(int(value))
    return str(value)


def _moved(old: Sequence[str | None], new: Sequence[str | None]) -> bool:
    """Whether protection left the values alone (some may be blanked), and yet they stand at other records."""
    known = [(before, after) for before, after in zip(old, new, strict=True) if after is not None]
    if all(before == after for before, after in known):
        return False
    return Counter(after for _, after in known) <= Counter(old)


def _sorted_anew(old: np.ndarray, new: np.ndarray) -> bool:
    """Whether the released column was put in order, and the original one does not follow it."""
    known = np.isfinite(old) & np.isfinite(new)
    steps = np.diff(new[known])
    if not ((steps >= 0).all() or (steps <= 0).all()):
        return False
    share = _follows(old, new)
    return share is not None and share < _FOLLOWS


def _follows(old: np.ndarray, new: np.ndarray) -> float | None:
    """The correlation of the ranks; ``None`` where there are none to speak of."""
    known = np.isfinite(old) & np.isfinite(new)
    x, y = old[known], new[known]
    if x.size < 3 or (y == y[0]).all() or (x == x[0]).all():
        return None
    import polars as pl

    return float(np.corrcoef(pl.Series(x).rank(), pl.Series(y).rank())[0, 1])


def _floats(column: nw.Series) -> np.ndarray:
    if not is_moment(column.dtype):
        return np.array(column.cast(nw.Float64).to_numpy(), dtype=float)
    return read_attribute(column.to_frame(), column.name).values
