"""Which columns to protect when nobody says: numbers that measure something, not identifiers, codes, years or weights."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import narwhals as nw

from shoal.errors import InputError, unknown

_IDENTIFIER = re.compile(
    r"(^|[_\W])(id|ident|identifier|key|nr|no|num|number|index|row|serial|ssn|uuid)($|[_\W]|\d)",
    re.IGNORECASE,
)
_ENDS_IN_ID = re.compile(r"[a-z0-9](ID|Id)$|^ID[A-Z_0-9]*$|UTILITYID$")
_CODE = re.compile(
    r"(^|[_\W])(code|cod|cp|zip|zipcode|postcode|postal|plz|nace|nuts|sic|naics|isic|fips|region|class)($|[_\W]|\d)",
    re.IGNORECASE,
)
_WEIGHT = re.compile(
    r"(^|[_\W])(w|wt|weights?|gewicht|peso|sampling_weight)($|[_\W]|\d)|wgt|weight", re.IGNORECASE
)
_FEW = 10


@dataclass(frozen=True)
class Choice:
    """The columns to protect, and why each other column of numbers or dates was left out."""

    columns: tuple[str, ...]
    left_out: tuple[tuple[str, str], ...] = ()

    def sentence(self) -> str:
        """The choice in one line."""
        text = "protecting " + ", ".join(self.columns)
        if self.left_out:
            text += "; left out: " + ", ".join(f"{name} ({why})" for name, why in self.left_out)
        return text


def choose_columns(
    frame: nw.DataFrame, asked: Sequence[str] | None, *, not_these: Sequence[str] = ()
) -> Choice:
    """The columns asked for (``["*"]``: every numeric one), or those that look like measurements.

    >>> import polars as pl
    >>> data = pl.DataFrame({"id": [1, 2, 3, 4], "income": [9.5, 7.0, 7.0, 1.0], "year": [2001, 2001, 2002, 2003]})
    >>> choose_columns(nw.from_native(data), None).sentence()
    'protecting income; left out: id (an identifier), year (a year)'
    """
    schema = frame.schema
    if asked is not None and list(asked) != ["*"]:
        seen: set[str] = set()
        for name in asked:
            if name not in schema:
                raise unknown("column", name, schema, where="in the data")
            if name in seen:
                raise InputError(f"column '{name}' is named twice")
            seen.add(name)
        if not asked:
            raise InputError("name at least one column to protect")
        return Choice(tuple(asked))
    numeric = [name for name, kind in schema.items() if kind.is_numeric() and name not in not_these]
    if not numeric:
        raise InputError(
            "there is no numeric column to microaggregate; name columns with --columns or --ordinal"
        )
    if asked is not None:
        return Choice(tuple(numeric))
    reasons = {name: suspicion(frame, name) for name in numeric}
    chosen = tuple(name for name in numeric if reasons[name] is None)
    if not chosen:
        raise InputError(
            "every numeric column looks like an identifier, code, year or weight; name those to protect with --columns"
        )
    reasons |= {name: "a date" for name in schema if name not in not_these and is_moment(schema[name])}
    return Choice(chosen, tuple((name, why) for name, why in reasons.items() if why is not None))


def is_moment(kind: nw.dtypes.DType) -> bool:
    """Whether a column holds dates, with or without the time of day."""
    return kind == nw.Date or kind == nw.Datetime or isinstance(kind, nw.Datetime)


def suspicion(frame: nw.DataFrame, name: str) -> str | None:
    """Why a numeric column is probably no measurement; ``None`` if it probably is one."""
    if _IDENTIFIER.search(name) or _ENDS_IN_ID.search(name):
        return "an identifier"
    if _WEIGHT.search(name):
        return "a weight"
    if _CODE.search(name):
        return "a code"
    column = frame[name]
    if not column.dtype.is_integer():
        return None
    present = column.drop_nulls()
    if len(present) == 0:
        return "empty"
    distinct = present.n_unique()
    low, high = present.min(), present.max()
    if distinct == len(present) and distinct > 1 and _given_out(low, high, distinct):
        return "a unique integer"
    if low >= 1850 and high <= 2100 and high - low <= 150:
        return "a year"
    if high - low < 2 * distinct and 2 * distinct >= len(present) and present.is_sorted():
        return "a running number"
    if 1 < distinct <= _FEW and len(present) >= 10 * distinct:
        return "a code with few values"
    return None


def is_unique_integer(frame: nw.DataFrame, name: str) -> bool:
    """Whether no two records share the value of an integer column: released as it is, it singles everybody out."""
    column = frame[name]
    if not column.dtype.is_integer():
        return False
    present = column.drop_nulls()
    return len(present) > 1 and present.n_unique() == len(present)


def _given_out(low: int, high: int, distinct: int) -> bool:
    # Numbers that somebody gave out lie close together or have one length; amounts differ in length and lie far apart.
    return high - low < 20 * distinct or (low >= 10_000 and len(str(low)) == len(str(high)))
