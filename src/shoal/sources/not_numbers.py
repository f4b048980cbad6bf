"""Why a column is not one of numbers: the first record that holds something else, and its shape, never the value."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice

import narwhals as nw
import numpy as np

from shoal.errors import parameter
from shoal.sources.dates import has_date_shape

# Missing marks, as the reader of text files knows them, are no reason.
_MARKS = frozenset({"", "NA", "N/A", "NULL", "null", "."})
_NUMBER = re.compile(r"-?(0|[1-9]\d{0,15})?(\.\d*)?([eE][+-]?\d+)?|-?(inf|nan)", re.IGNORECASE)

# Of fewer values, or with more that are none, nobody can say that they are meant to be numbers.
_TELLING, _FEW = 4, 0.2
_COMMA = re.compile(r"-?\d*,\d+")
# Digits that are no number, and a letter before or between digits: postcodes, codes of diseases and of trades.
_CODE = re.compile(r"[+-]?[\d\s]+|\w*[^\W\d_]\d[\w.]*")

_SHAPES = (
    (re.compile(r"-?0\d+([.,]\d+)?"), "digits with a leading zero, as codes have"),
    (re.compile(r"\+[\d.,]+"), "a number with a plus sign"),
    (re.compile(r"-?\d{17,}"), "more digits than a number keeps, as long codes have"),
    (
        re.compile(r"-?\d*,\d+"),
        f"a number with a comma; if that is the decimal mark, try {parameter('decimal', 'comma')}",
    ),
    (
        re.compile(r"-?\d{1,3}((,\d{3})+(\.\d*)?|(\.\d{3})+(,\d*)?|([ \u00a0\u202f'’]\d{3})+([.,]\d*)?)"),
        "a number with thousands separators",
    ),
    (re.compile(r"-?\d*([.,]\d*){2,}"), "a number with two decimal marks"),
    (re.compile(r"-?[\d.,]+\s*%"), "a number with a per cent sign"),
    (re.compile(r"[$€£¥]\s*-?[\d.,]+|-?[\d.,]+\s*[$€£¥]"), "a number with a currency sign"),
    (re.compile(r"[<>≤≥~]=?\s*-?[\d.,]+"), "a number with a sign for less or more before it"),
    (re.compile(r"[\d.,]+\s*[-–]\s*[\d.,]+"), "a range of numbers"),
    (re.compile(r"-?[\d.,]+\s*[^\W\d_]+\.?"), "a number followed by letters"),
    (re.compile(r"[^\W\d_][^\W\d]*([\s'’.-]+[^\W\d]+)*\.?"), "letters"),
    (re.compile(r"[\w\s]+"), "letters and digits"),
)
_KINDS = (
    (nw.Boolean, "true and false"),
    (nw.Duration, "lengths of time"),
    (nw.Time, "times of day"),
    (nw.List, "lists"),
    (nw.Array, "lists"),
    (nw.Struct, "records within records"),
    (nw.Binary, "bytes"),
    (nw.Date, "dates"),
    (nw.Datetime, "dates"),
)


def why_not_numeric(column: nw.Series) -> str:
    """What a column holds instead of numbers, with the first record of a text that is none.

    >>> import polars as pl
    >>> from shoal.errors import Message
    >>> print(Message(why_not_numeric(nw.from_native(pl.Series(["12", "1,5", "x"]), series_only=True))))
    record 2 holds a number with a comma; if that is the decimal mark, try decimal='comma'
    """
    for kind, words in _KINDS:
        if column.dtype == kind or isinstance(column.dtype, kind):
            return f"it holds {words}"
    if not isinstance(column.dtype, nw.String | nw.Categorical | nw.Enum | nw.Object):
        return "it holds no values" if len(column.drop_nulls()) == 0 else "it holds no numbers"
    found = first_not_number(column.to_list())
    if found is None:
        return "its numbers are kept as text"
    record, shape = found
    return f"record {record} holds {shape}"


def first_not_number(values: Iterable[object]) -> tuple[int, str] | None:
    """The first value that is neither a number nor missing: its place, counted from 1, and its shape.

    >>> first_not_number(["7", "NA", None, "1.234.567"])
    (4, 'a number with thousands separators')
    """
    others = (
        (record, shape_of(str(value)))
        for record, value in enumerate(values, start=1)
        if value is not None and not isinstance(value, int | float) and not _is_number(str(value))
    )
    return next(islice(others, 1), None)


@dataclass(frozen=True)
class Faults:
    """A few values that keep a column from being one of numbers: the records that hold them, counted from 1.

    ``numbers`` are all values, NaN where there is none or no number.
    """

    records: tuple[int, ...]
    numbers: np.ndarray = field(repr=False)

    def __str__(self) -> str:
        more = len(self.records) - 1
        return f"record {self.records[0]}" + (f" and {more:,} more" if more else "")


def faults_in_numbers(values: Sequence[object]) -> Faults | None:
    """The values that keep texts from being a column of numbers, if they are few and nothing says that it is one of codes.

    >>> str(faults_in_numbers([*map(str, range(30)), "n/a?", *map(str, range(30)), "unknown"]))
    'record 31 and 1 more'
    >>> faults_in_numbers([*map(str, range(30)), "007"]) is None
    True
    """
    texts = ["" if value is None else str(value).strip() for value in values]
    present = sum(text not in _MARKS for text in texts)
    # Numbers are written with one decimal sign; a comma is one only where it is needed for most of them.
    for written in (texts, [text.replace(",", ".") if _COMMA.fullmatch(text) else text for text in texts]):
        wrong = [place for place, text in enumerate(written) if not _is_number(text)]
        if wrong and len(wrong) <= _FEW * present and present - len(wrong) >= _TELLING:
            break
    else:
        return None
    if 2 * sum(_CODE.fullmatch(texts[place]) is not None for place in wrong) >= len(wrong):
        return None
    numbers = np.full(len(texts), np.nan)
    faulty = set(wrong)
    for place, text in enumerate(written):
        if place not in faulty and text not in _MARKS:
            numbers[place] = float(text)
    return Faults(tuple(place + 1 for place in wrong), numbers)


def _is_number(text: str) -> bool:
    bare = text.strip()
    return bare in _MARKS or (_NUMBER.fullmatch(bare) is not None and any(sign.isalnum() for sign in bare))


def shape_of(text: str) -> str:
    """What a text that is not a number looks like, without repeating any of it.

    >>> [shape_of(text) for text in ("Ann Lee", "AB-12", "12 kg", "31/12/2024", "?")]
    ['letters', 'letters, digits and other signs', 'a number followed by letters', 'a date', 'other signs than digits']
    """
    bare = text.strip()
    if has_date_shape(bare):
        return "a date"
    for pattern, words in _SHAPES:
        if pattern.fullmatch(bare):
            return words
    return (
        "letters, digits and other signs"
        if any(sign.isalnum() for sign in bare)
        else "other signs than digits"
    )
