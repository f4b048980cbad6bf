"""How a text file is written: what the user said, or what its first lines suggest."""

import csv
import io
import re
from contextlib import suppress
from itertools import islice, pairwise

from shoal.errors import InputError

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


def check_header(names: list[str], name: str) -> None:
    """Refuse a first line that cannot hold column names. Its fields are not shown: they may be a person's."""
    if not any(field.strip() for field in names):
        raise InputError(f"the first line of '{name}' is empty; it must hold the column names")
    if all(_NUMBER.fullmatch(field.strip()) for field in names) and not _counting(names):
        raise InputError(f"the first line of '{name}' holds only numbers; it must hold the column names")
    first: dict[str, int] = {}
    for position, field in enumerate(names, start=1):
        if field in first:
            what = "have the same name" if field else "have no name"
            raise InputError(f"columns {first[field]} and {position} of '{name}' {what}")
        first[field] = position


def _counting(names: list[str]) -> bool:
    """Whether the names are consecutive whole numbers (1, 2, 3 or years), as column names sometimes are."""
    if len(names) < 2 or not all(field.isdecimal() for field in names):
        return False
    numbers = [int(field) for field in names]
    return all(later == earlier + 1 for earlier, later in pairwise(numbers))
