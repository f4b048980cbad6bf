"""Which released record stands for which original one: what a comparison needs, and nobody else may have."""

import csv
import io
import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import narwhals as nw
import numpy as np

from shoal.errors import InputError, unreadable
from shoal.sources.internal import WORD

_HEADER = ("original", "released", "note")
# What the first note says besides; files of earlier versions have it in a last line of its own.
_SUMS = "internal: sums by place of the release "
_LAST_LINE = "# " + _SUMS
_NOT_RELEASED = -1
# Each record counts by its own share, so that the sums of another release, or of another order, are others.
_STEP = (5**0.5 - 1) / 2
# What a workbook or a text file may lose of a number, and no more.
_TOLERANCE = 1e-9


def sums_by_position(columns: Mapping[str, np.ndarray]) -> dict[str, float]:
    """What tells one release from another: the sum of each column, every record weighed by its place.

    >>> sums_by_position({"x": np.array([1.0, 2.0])}) == sums_by_position({"x": np.array([2.0, 1.0])})
    False
    """
    return {name: float(_weighed(values).sum()) for name, values in columns.items()}


def released_numbers(frame: nw.DataFrame, names: Iterable[str]) -> dict[str, np.ndarray]:
    """Those of the columns that hold numbers, gaps as NaN."""
    return {
        name: np.array(frame[name].cast(nw.Float64).to_numpy(), dtype=float)
        for name in names
        if name in frame.columns and frame.schema[name].is_numeric()
    }


def _weighed(values: np.ndarray) -> np.ndarray:
    shares = np.modf(np.arange(1, values.size + 1) * _STEP)[0]
    return np.where(np.isfinite(values), values, 0.0) * shares


@dataclass(frozen=True, eq=False)
class RecordLinks:
    """One-to-one links between original and released records. Internal: they undo what hides the records.

    ``released`` holds for each original record the place of its released one, counted from 0; −1 for a record that was
    set aside. ``sums`` are those by place of the released numbers, by which the release is known again.

    >>> links = RecordLinks.of(remaining=[True, False, True], order=[1, 0])
    >>> links.released.tolist(), links.records, links.released_records
    ([1, -1, 0], 3, 2)
    >>> print(links.csv(), end="")
    original,released,note
    1,2,internal
    2,,internal
    3,1,internal
    """

    released: np.ndarray = field(repr=False)
    sums: Mapping[str, float] = field(default_factory=dict, repr=False)

    @classmethod
    def of(
        cls, remaining: Sequence[bool], order: Sequence[int], columns: Mapping[str, np.ndarray] | None = None
    ) -> "RecordLinks":
        """From which original records were kept, in which order these were released, and with which numbers."""
        taken = np.flatnonzero(np.asarray(remaining, dtype=bool))
        places = np.asarray(order, dtype=np.int64)
        released = np.full(len(remaining), _NOT_RELEASED, dtype=np.int64)
        released[taken[places]] = np.arange(places.size)
        return cls(released, sums_by_position(columns or {}))

    def is_of(self, columns: Mapping[str, np.ndarray]) -> bool:
        """Whether these are the numbers that were released, as far as the links know their columns."""
        for name, values in columns.items():
            weighed = _weighed(values)
            allowed = _TOLERANCE * float(np.abs(weighed).sum())
            if name in self.sums and abs(float(weighed.sum()) - self.sums[name]) > allowed:
                return False
        return True

    @property
    def records(self) -> int:
        """Original records."""
        return int(self.released.size)

    @property
    def released_records(self) -> int:
        """Released records."""
        return int((self.released != _NOT_RELEASED).sum())

    def rows(self) -> tuple[np.ndarray, np.ndarray]:
        """The places of the original records that were released, and beside them those of their released ones."""
        original = np.flatnonzero(self.released != _NOT_RELEASED)
        return original, self.released[original]

    def csv(self) -> str:
        """The links as text: record numbers from 1 on; a record that was set aside has no released one."""
        text = io.StringIO()
        lines = csv.writer(text, lineterminator="\n")
        lines.writerow(_HEADER)
        note = f"{_SUMS}{json.dumps(dict(self.sums), ensure_ascii=False)}" if self.sums else WORD
        for original, released in enumerate(self.released.tolist(), start=1):
            lines.writerow((original, released + 1 if released != _NOT_RELEASED else "", note))
            note = WORD
        return text.getvalue()

    def write(self, path: str | os.PathLike[str], *, force: bool = False) -> None:
        """Write the file that ``read`` and ``shoal compare --record-links`` read; only its owner can open it."""
        from shoal.sources import atomically

        with atomically(path, force=force, internal=True) as unfinished:
            unfinished.write_text(self.csv(), encoding="utf-8")

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> "RecordLinks":
        """The links of a file; an ``InputError`` says what is wrong with it."""
        name = Path(path).name
        try:
            text = Path(path).read_text(encoding="utf-8-sig")
        except OSError as error:
            raise unreadable("file of record links", path, error) from None
        except UnicodeDecodeError:
            raise InputError(f"'{name}' holds no record links: it is not a text file") from None
        text, _, sums = text.partition(_LAST_LINE)
        lines = csv.reader(io.StringIO(text))
        header = next(lines, [])
        if not {"original", "released"} <= set(header):
            raise InputError(f"'{name}' holds no record links: its header must name original and released")
        columns = header.index("original"), header.index("released")
        pairs = []
        try:
            for row in filter(None, lines):
                pairs.append((_number(row[columns[0]]), _number(row[columns[1]], blank=True)))
                sums = row[-1].removeprefix(_SUMS) if len(pairs) == 1 and row[-1].startswith(_SUMS) else sums
        except (ValueError, IndexError, csv.Error):
            raise InputError(
                f"line {lines.line_num} of '{name}' is no record link: it needs two whole numbers from 1 on, "
                "the second is empty for a record that was not released"
            ) from None
        return cls(_checked(np.array(pairs, dtype=np.int64).reshape(-1, 2), name), _read_sums(sums, name))


def _number(text: str, *, blank: bool = False) -> int:
    """A record number as a place from 0 on; −1 where a blank is allowed and there is one."""
    if blank and not text.strip():
        return _NOT_RELEASED
    number = int(text)
    if not 1 <= number <= 2**53:
        raise ValueError
    return number - 1


def _read_sums(text: str, name: str) -> dict[str, float]:
    try:
        found = json.loads(text) if text.strip() else {}
        return {str(column): float(value) for column, value in found.items()}
    except (ValueError, TypeError, AttributeError, RecursionError):
        raise InputError(f"'{name}' is damaged: what it notes of the release must be sums") from None


def _checked(pairs: np.ndarray, name: str) -> np.ndarray:
    originals, released = pairs[:, 0], pairs[:, 1]
    linked = released[released != _NOT_RELEASED]
    for side, which in ((originals, "original"), (linked, "released")):
        if not np.array_equal(np.sort(side), np.arange(side.size)):
            raise InputError(
                f"the links of '{name}' are not one to one: every {which} record from 1 to {side.size} must be there once"
            )
    result = np.empty(originals.size, dtype=np.int64)
    result[originals] = released
    return result
