"""Dates: from the day to the month, the quarter, the year and the decade."""

import re
from dataclasses import dataclass, replace
from datetime import date, datetime
from typing import Any

import numpy as np
import polars as pl

from shoal.errors import InputError
from shoal.microdata.columns.hierarchies.hierarchy import Row, Values
from shoal.microdata.columns.hierarchies.rule import Rule, listed
from shoal.microdata.columns.hierarchies.rule_text import RuleText, whole_in, written
from shoal.sources.dates import possible_dates

#: What a moment can become, finest first; each is a part of the next.
LEVELS = ("hour", "day", "month", "quarter", "half", "year", "decade")

#: Year, month, day, hour and what is below; what a text leaves out is 0.
Moment = tuple[int, int, int, int, int]

_ISO = re.compile(r"\s*(\d{4})(?:-(\d{2})(?:-(\d{2})(?:[T ](\d{2}):(\d{2}).*)?)?)?\s*")
_TEN = 10
# Only where dates go over so many years do the outermost stand out.
_MANY_YEARS = 30


@dataclass(frozen=True)
class DateLevels(Rule):
    """Which levels there are, and from which years on dates are joined at both ends.

    Values are dates, moments, years as numbers, or texts: ISO ("2024-05-31", also "2024-05" and "2024") or in one other
    ``form``. Where a value says less than a level, it stays as it is there.

    >>> DateLevels(("month", "quarter", "year")).hierarchy(["2024-05-31"]).rows
    (('2024-05-31', '2024-05', '2024-Q2', '2024', '*'),)
    """

    name = "dates"
    takes = "dates"

    levels: tuple[str, ...] = ()
    bottom: int | None = None
    top: int | None = None
    form: str | None = None

    @classmethod
    def read(cls, text: RuleText) -> "DateLevels":
        """From texts like ``dates``, ``dates(month,year)`` and ``dates(year,decade,bottom=1940)``."""
        text.check_options("bottom", "top", "form")
        levels = tuple(word.lower() for word in text.words())
        places = [LEVELS.index(level) if level in LEVELS else -1 for level in levels]
        if -1 in places or places != sorted(set(places)):
            raise InputError(f"'dates' needs levels in this order: {', '.join(LEVELS)}")
        ends = {
            end: whole_in(text.name, text.options[end], least=1)
            for end in ("bottom", "top")
            if end in text.options
        }
        if any(end % _TEN for end in ends.values()) and "decade" in levels:
            raise InputError(
                "with decades the ends of 'dates' must be years in which one begins, like bottom=1940"
            )
        if len(ends) == 2 and ends["bottom"] > ends["top"]:
            raise InputError("the bottom of 'dates' is above its top")
        return cls(levels, form=text.options.get("form"), **ends)

    def __str__(self) -> str:
        """The levels, then the ends."""
        return written(self.name, self.levels, {"bottom": self.bottom, "top": self.top, "form": self.form})

    def in_words(self) -> str:
        """What it does."""
        text = listed(self.levels) if self.levels else "month, quarter, year and decade"
        ends = [f"before {self.bottom} together"] if self.bottom is not None else []
        ends += [f"{self.top} and later together"] if self.top is not None else []
        return "; ".join([text, *ends])

    def settled(self, values: Values) -> Rule:
        """With levels as fine as the dates, open ends where they go over many years, and the form of texts."""
        rule = self if self.form is not None else replace(self, form=_form(values))
        if rule.levels:
            return rule
        known = [
            (rule.position(value, text), count)
            for value, text, count in zip(
                values.samples,
                values.texts,
                np.bincount(values.codes, minlength=len(values.texts)),
                strict=True,
            )
            if text is not None
        ]
        moments = sorted((moment, int(count)) for moment, count in known if moment is not None)
        has_time = any(moment[3] or moment[4] for moment, _ in moments)
        has_day = any(moment[2] for moment, _ in moments)
        has_month = any(moment[1] for moment, _ in moments) or not moments
        levels = [
            *(["day"] if has_time else []),
            *(["month"] if has_day or has_time or not moments else []),
            *(["quarter", "year"] if has_month else []),
            "decade",
        ]
        rule = replace(rule, levels=tuple(levels))
        return rule if rule.bottom is not None or rule.top is not None else rule._with_ends(moments)

    def _with_ends(self, moments: list[tuple[Moment, int]]) -> "DateLevels":
        """Open ends with enough records in each, in years in which a decade begins."""
        years = [moment[0] for moment, _ in moments]
        if not years or years[-1] - years[0] < _MANY_YEARS:
            return self
        reach = np.cumsum([count for _, count in moments])
        records = int(reach[-1])
        enough = min(max(10, records // 50), max(1, records // 4))
        low, high = (
            years[int(np.searchsorted(reach, rank, side="right"))] for rank in (enough - 1, records - enough)
        )
        bottom, top = low // _TEN * _TEN + _TEN, high // _TEN * _TEN
        if bottom >= top:
            # Where most are of one decade, it alone is closed, however few are outside.
            bottom, top = bottom - _TEN, top + _TEN
        return replace(self, bottom=max(bottom, _TEN), top=top)

    def position(self, value: Any, text: str) -> Moment | None:
        """When it is."""
        if isinstance(value, datetime):
            return value.year, value.month, value.day, value.hour, 60 * value.minute + value.second + 1
        if isinstance(value, date):
            return value.year, value.month, value.day, 0, 0
        return self._read(text)

    def _read(self, text: str) -> Moment | None:
        if self.form is not None:
            try:
                found = datetime.strptime(text.strip(), _python_form(self.form))
            except ValueError:
                return None
            clock = "%H" in self.form
            rest = 60 * found.minute + found.second + 1 if clock else 0
            return found.year, found.month, found.day, found.hour, rest
        match = _ISO.fullmatch(text)
        if match is None:
            return None
        year, month, day, hour, minute = (int(part or 0) for part in match.groups())
        try:
            date(year, month or 1, day or 1)
        except ValueError:
            return None
        if (match[2] and not month) or (match[3] and not day) or hour > 23 or minute > 59:
            return None
        return year, month, day, hour, 60 * minute + 1 if match[4] else 0

    def labels(self, position: Moment, text: str) -> Row:
        """The part of the calendar at each level."""
        return tuple(self._label(position, level) for level in self.levels)

    def _label(self, moment: Moment, level: str) -> str:
        year, month, day, hour, rest = moment
        if self.bottom is not None and year < self.bottom:
            return f"<{self.bottom}"
        if self.top is not None and year >= self.top:
            return f">={self.top}"
        if level == "decade":
            first = year // _TEN * _TEN
            return f"{first:04}-{first + _TEN - 1:04}"
        if level == "year" or not month:
            return f"{year:04}"
        if level == "half":
            return f"{year:04}-H{(month + 5) // 6}"
        if level == "quarter":
            return f"{year:04}-Q{(month + 2) // 3}"
        if level == "month" or not day:
            return f"{year:04}-{month:02}"
        if level == "day" or not rest:
            return f"{year:04}-{month:02}-{day:02}"
        return f"{year:04}-{month:02}-{day:02} {hour:02}h"


def _python_form(form: str) -> str:
    return re.sub(r"%\.\df", ".%f", form.replace("%-", "%"))


def _form(values: Values) -> str | None:
    """The form of texts that are not ISO; an ``InputError`` if day and month cannot be told apart."""
    texts = [text for text, value in zip(values.texts, values.samples, strict=True) if isinstance(value, str)]
    strange = [text for text in texts if text is not None and _ISO.fullmatch(text) is None]
    if not strange:
        return None
    found = possible_dates(pl.Series(strange), strange[0])
    if len(found) > 1:
        raise InputError(
            "its dates do not tell day and month apart; state their form: dates(month,year,form=%d/%m/%Y)"
        )
    # Texts that are no dates in one form are named by their records later on.
    return found[0].form if found and len(strange) == len(texts) else None
