"""Whose the records are: the column that says so, what is counted then, and columns that may have been forgotten."""

from collections.abc import Collection, Sequence
from typing import Any

import narwhals as nw

from shoal.errors import parameter
from shoal.exact_names import is_pattern
from shoal.microdata.columns.names import Meaning
from shoal.microdata.columns.roles import GROUP_NUMBER, Guess, guess_roles
from shoal.microdata.columns.shapes import Shape
from shoal.remarks import Remark, warning
from shoal.settings import EACH_RECORD

# So many records of a frame that is not in memory are looked at.
_LOOKED_AT = 5_000
# Identifiers that several units may share, and by which nobody counts them.
_SHARED = (
    str(Meaning.CONTACT),
    str(Meaning.NAME),
    str(Meaning.FREE_TEXT),
    "an e-mail address",
    "a telephone number",
)
_GIVEN_OUT = (str(Meaning.NUMBER), str(Meaning.IDENTIFIER), str(Meaning.PERSON))


def unit_column(unit: str | None, columns: Sequence[str]) -> str | None:
    """The column that says whose each record is; ``None`` where each record is a unit of its own, declared or not.

    >>> unit_column("record", ["patient"]), unit_column("record", ["record"]), unit_column("patient", ["patient"])
    (None, 'record', 'patient')
    """
    return None if unit == EACH_RECORD and EACH_RECORD not in columns else unit


def units_in_words(unit: str | bool | None) -> tuple[str, str]:
    """What is counted, one and several of it: records, or the units that a column tells apart, or ``True`` for a nameless one.

    >>> units_in_words(None), units_in_words("patient"), units_in_words(True)
    (('record', 'records'), ("unit of 'patient'", "units of 'patient'"), ('unit', 'units'))
    """
    if not unit:
        return "record", "records"
    return ("unit", "units") if unit is True else (f"unit of '{unit}'", f"units of '{unit}'")


def possible_units(
    frame: Any, guesses: Sequence[Guess] | None = None, but: Collection[str | None] = ()
) -> dict[str, int]:
    """Columns that may say whose the records are, with their number of values: identifiers whose values repeat.

    Those in ``but`` are something else. Of a frame that is not in memory the first records are looked at.

    >>> import polars as pl
    >>> possible_units(pl.DataFrame({"patient": [i // 3 for i in range(90)], "age": [30, 40, 50] * 30}))
    {'patient': 30}
    """
    data = _in_memory(frame)
    names = [
        name for name in data.columns if isinstance(name, str) and name not in but and not is_pattern(name)
    ]
    if guesses is None:
        guesses = [guess_roles(data[name].to_frame())[0] for name in names]
    shapes = {guess.column: Shape(data[guess.column]) for guess in guesses if guess.column in names}
    return {
        guess.column: shapes[guess.column].distinct
        for guess in guesses
        if guess.column in shapes and _may_count(guess, shapes[guess.column])
    }


def _in_memory(frame: Any) -> "nw.DataFrame[Any]":
    data = nw.from_native(frame)
    return data.head(_LOOKED_AT).collect() if isinstance(data, nw.LazyFrame) else data


def _may_count(guess: Guess, shape: Shape) -> bool:
    """Whether a column may tell units apart, of which some have several records."""
    if guess.role not in ("identifier", "household", "unit") or not (shape.is_whole or shape.is_text):
        return False
    if not 1 < shape.distinct < shape.count or shape.is_few:
        return False
    if guess.role == "household":
        return guess.kind == GROUP_NUMBER
    numbered = shape.is_whole or shape.is_numbered_text or guess.kind in _GIVEN_OUT
    return guess.role == "unit" or (numbered and guess.kind not in _SHARED)


def unit_remarks(
    frame: Any, unit: str | None, guesses: Sequence[Guess] | None = None, but: Collection[str | None] = ()
) -> list[Remark]:
    """What to say where nobody has said whose the records are and a column may tell; nothing of the columns in ``but``."""
    if unit is not None:
        return []
    return [
        warning(
            "possible-unit",
            f"'{name}' looks like the number of a unit (person, household, firm, episode), and its values repeat. Without a unit "
            f"records are counted, and one unit may fill a class alone. Count units with {parameter('unit', name)}, or declare "
            f"with {parameter('unit', EACH_RECORD)} that each record is one",
            name,
        )
        for name in possible_units(frame, guesses, but)
    ]
