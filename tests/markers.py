"""Data in which every value is a marker, so that one that is said where none may be said is found."""

import re
from datetime import date, timedelta

import polars as pl

RECORDS = 40
_FIRST = 918273645
_CITIES = ["zqCityAlpha", "zqCityBeta", "zqCityGamma", "zqCityDelta"]
_SCHOOLS = ["zqSchoolLow", "zqSchoolMiddle", "zqSchoolHigh"]


def number(place: int) -> int:
    """The marker of a number: nine digits that nothing else has, and no sum or mean of others."""
    return _FIRST + (place * (place + 104729) * 7919) % 999_983


def day(place: int) -> date:
    """The marker of a date, in a year nobody else speaks of."""
    return date(1743, 1, 2) + timedelta(days=11 * place)


def people(records: int = RECORDS) -> pl.DataFrame:
    """People with names, numbers, dates and categories, all of them markers."""
    places = range(records)
    return pl.DataFrame(
        {
            "person": [f"zqPerson{place:03}" for place in places],
            "income": [number(place * place % 97) for place in places],
            "rent": [number(200 + place * 37 % 89) / 1000 for place in places],
            "born": [day(place) for place in places],
            "city": [_CITIES[place % 4] for place in places],
            "school": [_SCHOOLS[place % 3] for place in places],
        }
    )


# Nine digits of a number may be written with separators between them or a point after any of them; dates in any order.
_TEXT = re.compile(r"zq[A-Z]", re.IGNORECASE)
# The year stands alone or before month and day; the fraction of a second of a time stamp may begin like it.
_SLOT_OR_DATE = re.compile(r"vq[A-Z]|(?<![0-9])1743(?:[01][0-9][0-3][0-9])?(?![0-9])")
_DIGITS = re.compile(r"[0-9][0-9,.'_\u202f\u2009]*")
_NUMBERS = {str(number(place)) for place in range(400)}


def texts_in(text: str) -> list[str]:
    """The texts among the markers that occur in a text; a slot (vq…) may be named in a plan, and a mean of dates."""
    return [match.group() for match in _TEXT.finditer(text)]


def said(text: str) -> list[str]:
    """The markers that occur in a text."""
    found = texts_in(text) + [match.group() for match in _SLOT_OR_DATE.finditer(text)]
    for match in _DIGITS.finditer(text):
        digits = re.sub(r"\D", "", match.group())
        # A figure that was rounded to fewer digits still gives the value away.
        found += [
            marker for marker in _NUMBERS if marker[:6] in digits and (marker in digits or len(digits) < 9)
        ]
    return found
