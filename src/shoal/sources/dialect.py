"""How a text file is written: what the user said, or what its first lines suggest."""

import csv
import io
import re
from contextlib import suppress
from itertools import islice, pairwise

from shoal.errors import InputError, parameter

_CANDIDATES = (",", ";", "\t", "|")
_NAMES = {"tab": "\t", "\\t": "\t", "comma": ",", "semicolon": ";", "pipe": "|", "point": ".", "dot": "."}
_NUMBER = re.compile(r"[+-]?(\d+([.,]\d*)?|[.,]\d+)([eE][+-]?\d+)?")


def known_separator(separator: str) -> str:
    """A separator as the user gave it, by its sign or its name.

    >>> known_separator("semicolon")
    ';'
    """
    sign = _NAMES.get(separator.lower(), separator)
    if len(sign) != 1 or not sign.isascii() or sign.isalnum() or sign in '"\r\n\0.+-':
        raise InputError(f"separator '{separator}' is not one of , ; | or tab, nor another single ASCII sign")
    return sign


def known_decimal(decimal: str) -> str:
    """The decimal sign: a point or a comma."""
    sign = _NAMES.get(decimal.lower(), decimal)
    if sign not in (".", ","):
        raise InputError(f"decimal sign '{decimal}' is neither a point nor a comma")
    return sign


def guess_separator(sample: str, default: str) -> str:
    """The separator that cuts the first lines into fields: the usual one if it does so evenly, else the one that does.

    >>> guess_separator("name;height (m, in shoes)|x", default=",")
    ','
    >>> guess_separator(chr(10).join(["firm;turnover", "a;1,5", "b;2,25"]), default=",")
    ';'
    """
    scores = {}
    for candidate in _CANDIDATES:
        widths = [len(row) for row in first_records(sample, candidate) if row]
        if widths and widths[0] > 1:
            scores[candidate] = (sum(width == widths[0] for width in widths) / len(widths), widths[0])
    if not scores or scores.get(default, (0, 0))[0] == 1:
        return default
    return max(scores, key=lambda candidate: scores[candidate])


def first_records(sample: str, separator: str, count: int = 200) -> list[list[str]]:
    """The first records, as far as they can be told apart."""
    reader = csv.reader(io.StringIO(sample, newline=""), delimiter=separator)
    records: list[list[str]] = []
    # What was read before a fault is enough for a guess; the real reading reports it.
    with suppress(csv.Error):
        records.extend(islice(reader, count))
    return records


class NoNames(InputError):
    """The line where names are expected holds none."""


def check_header(names: list[str], name: str, unit: str = "line", number: int = 1) -> None:
    """Refuse a header that cannot hold column names. Its fields are not shown: they may be a person's."""
    where = f"{'the first ' + unit if number == 1 else f'{unit} {number}'} of '{name}'"
    if not any(field.strip() for field in names):
        raise NoNames(
            f"{where} is empty; it must hold the column names (or say {parameter('header_row')}, 0 if there are none)"
        )
    if all(is_number(field) for field in names) and not _counting(names):
        raise NoNames(
            f"{where} holds only numbers; it must hold the column names (or say {parameter('header_row')}, 0 if there are none)"
        )
    first: dict[str, int] = {}
    for position, field in enumerate(names, start=1):
        if field in first:
            if field:
                raise NoNames(
                    f"columns {first[field]} and {position} of '{name}' have the same name; "
                    f"{parameter('header_row')} 0 says that there are no names"
                )
            raise NoNames(
                f"columns {first[field]} and {position} of '{name}' have no name; "
                f"{parameter('header_row')} says which {unit} holds the names, if not {number}"
            )
        first[field] = position


def looks_like_names(fields: list[str]) -> bool:
    """Whether a row reads like a header: all of it filled, no name twice, numbers only if they count (2019, 2020).

    >>> looks_like_names(["region", "2019", "2020"]), looks_like_names(["Ann", "34"])
    (True, False)
    """
    numbers = [field for field in fields if is_number(field)]
    distinct = len(set(fields)) == len(fields) and all(field.strip() for field in fields)
    return distinct and len(numbers) < len(fields) and (not numbers or _counting(numbers))


def is_number(field: str) -> bool:
    """Whether a field is a number and nothing else, with a point or a comma."""
    return _NUMBER.fullmatch(field.strip()) is not None


def _counting(names: list[str]) -> bool:
    """Whether the names are consecutive whole numbers (1, 2, 3 or years), as column names sometimes are."""
    if len(names) < 2 or not all(field.isdecimal() for field in names):
        return False
    numbers = [int(field) for field in names]
    return all(later == earlier + 1 for earlier, later in pairwise(numbers))
