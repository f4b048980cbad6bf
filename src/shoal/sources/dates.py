"""Dates as people write them in text: 31/12/2024, 12/31/2024, 31.12.2024, 2024/12/31, with or without a time of day.

A column of text becomes one of dates only if a single form of writing holds all its values and gives them back as they
were. Whether 01/02/2024 is in January or February no form can tell; a column in which no value settles it stays text.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass

import polars as pl

#: The forms that dates are written in unless they came in another.
ISO_DAY, ISO_MOMENT, ISO_EXACT = "%Y-%m-%d", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%S%.6f"

_SHAPE = re.compile(
    r"(?P<first>\d{1,4})(?P<sign>[-/.])\d{1,2}(?P=sign)(?P<last>\d{1,4})"
    r"(?:(?P<gap>[ T])\d{1,2}:\d{2}(?P<seconds>:\d{2}(?P<fraction>\.\d{3}|\.\d{6})?)?)?"
)
_LOOSE = re.compile(
    r"\s*(?:\d{4}([-/.])(?P<m1>\d{1,2})\1(?P<d1>\d{1,2})|(?P<a>\d{1,2})([-/.])(?P<b>\d{1,2})\5(?:\d{4}|\d{2})"
    r"|\d{1,2}([-/. ]?)[^\W\d_]{3,9}\7(?:1[89]|20)\d{2})(?:[ T]\d{1,2}:\d{2}\S*(?: ?[AaPp][Mm])?)?\s*"
)
# A few typing errors or words for "unknown" make dates no less revealing.
_MOSTLY = 0.8
_PADDINGS = ((False, False), (True, True), (True, False), (False, True))
_WORDS = (("%-", "%"), ("%Y", "yyyy"), ("%m", "mm"), ("%d", "dd"), ("%H:%M:%S", "time"), ("%H:%M", "time"))
_LENGTHS = frozenset({(4, 1), (4, 2), (1, 4), (2, 4)})


@dataclass(frozen=True)
class Dates:
    """Values of a column as dates, and the form they were written in."""

    values: pl.Series
    form: str


def has_date_shape(text: str) -> bool:
    """Whether one text is written like a date that a form could hold.

    >>> has_date_shape("31/12/2024"), has_date_shape("2024-12-31 09:30"), has_date_shape("3.14")
    (True, True, False)
    """
    match = _SHAPE.fullmatch(text)
    return match is not None and (len(match["first"]), len(match["last"])) in _LENGTHS


def possible_dates(values: pl.Series, example: str) -> list[Dates]:
    """The column as dates in every form that holds all its values: none, one, or two if day and month are unclear.

    ``example`` is one of its values, by which the forms are chosen.

    >>> [dates.form for dates in possible_dates(pl.Series(["01/02/2024", "31/12/2024"]), "01/02/2024")]
    ['%d/%m/%Y']
    >>> [dates.form for dates in possible_dates(pl.Series(["1.2.2024"]), "1.2.2024")]
    ['%-d.%-m.%Y', '%-m.%-d.%Y']
    """
    match = _SHAPE.fullmatch(example)
    if match is None:
        return []
    sign = match["sign"]
    orders = ("Ymd",) if len(match["first"]) == 4 else ("dmY", "mdY")
    clock = ""
    if match["gap"]:
        fraction = f"%.{len(match['fraction']) - 1}f" if match["fraction"] else ""
        clock = match["gap"] + "%H:%M" + (":%S" if match["seconds"] else "") + fraction
    found = [_read(values, sign.join(f"%{part}" for part in order), clock) for order in orders]
    return [dates for dates in found if dates is not None]


def _read(values: pl.Series, day: str, clock: str) -> Dates | None:
    dtype = pl.Datetime("us") if clock else pl.Date
    missing = values.null_count()
    empty = int((values == "").sum())
    found = values.str.strptime(dtype, day + clock, strict=False)
    if found.null_count() > missing + empty:
        return None
    for bare_day, bare_hour in _PADDINGS if clock else _PADDINGS[:2]:
        form = day.replace("%d", "%-d").replace("%m", "%-m") if bare_day else day
        form += clock.replace("%H", "%-H") if bare_hour else clock
        if (found.dt.to_string(form) == values).sum() == len(values) - missing - empty:
            return Dates(found, form)
    return None


def in_words(form: str) -> str:
    """A form as people say it.

    >>> in_words("%-d.%-m.%Y %H:%M")
    'dd.mm.yyyy time'
    """
    form = re.sub(r"%\.\df", "", form)
    for sign, word in _WORDS:
        form = form.replace(sign, word)
    return form.replace("T", " ")


def hold_dates(texts: Iterable[str]) -> bool:
    """Whether nearly all the texts are dates, in whatever way they are written.

    >>> hold_dates(["01/02/24", "3.4.1961", "31-Dec-1999"]), hold_dates(["12-34", "x"]), hold_dates([])
    (True, False, False)
    """
    seen = fitting = 0
    for text in texts:
        seen += 1
        fitting += _is_date(text)
        if fitting + 10 < _MOSTLY * seen:
            return False
    return seen > 0 and fitting >= _MOSTLY * seen


def _is_date(text: str) -> bool:
    match = _LOOSE.fullmatch(text)
    if match is None:
        return False
    if match["m1"]:
        return 1 <= int(match["m1"]) <= 12 and 1 <= int(match["d1"]) <= 31
    if match["a"]:
        low, high = sorted((int(match["a"]), int(match["b"])))
        return 1 <= low <= 12 and high <= 31
    return True
