"""Which columns to protect when nobody says: numbers that measure something, not identifiers, codes, years or weights."""

from collections.abc import Sequence
from dataclasses import dataclass

import narwhals as nw

from shoal.errors import InputError, parameter, unknown
from shoal.microdata.columns.roles import AMOUNTS_OR_NUMBERS, Guess, guess_roles


@dataclass(frozen=True)
class Choice:
    """The columns to protect, why each other column of numbers or dates was left out, and which may be numbers given out."""

    columns: tuple[str, ...]
    left_out: tuple[tuple[str, str], ...] = ()
    doubtful: tuple[str, ...] = ()

    def sentence(self, doing: str = "protecting") -> str:
        """The choice in one line."""
        text = f"{doing} {', '.join(self.columns)}"
        if self.left_out:
            text += "; left out: " + ", ".join(f"{name} ({why})" for name, why in self.left_out)
        if self.doubtful:
            text += (
                f"; nearly all whole numbers of {', '.join(self.doubtful)} are different: if they were given out and identify "
                f"somebody, name the others with {parameter('columns')}"
            )
        return text


def choose_columns(
    frame: nw.DataFrame,
    named: Sequence[str] | None,
    *,
    not_these: Sequence[str] = (),
    guesses: Sequence[Guess] | None = None,
) -> Choice:
    """The columns asked for (``["*"]``: every numeric one), or those that look like measurements.

    ``guesses`` are the roles of the columns where they are known already.

    >>> import polars as pl
    >>> data = pl.DataFrame({"id": [1, 2, 3, 4], "income": [9.5, 7.0, 7.0, 1.0], "year": [2001, 2001, 2002, 2003]})
    >>> choose_columns(nw.from_native(data), None).sentence()
    'protecting income; left out: id (an identifier), year (a year)'
    """
    schema = frame.schema
    if named is not None and list(named) != ["*"]:
        seen: set[str] = set()
        for name in named:
            if name not in schema:
                raise unknown("column", name, schema, where="in the data")
            if name in seen:
                raise InputError(f"column '{name}' is named twice")
            seen.add(name)
        if not named:
            raise InputError("name at least one column to protect")
        return Choice(tuple(named))
    numeric = [name for name, kind in schema.items() if kind.is_numeric() and name not in not_these]
    found = [guess for guess in guesses or guess_roles(frame) if guess.column not in not_these]
    faulty = tuple((guess.column, guess.kind) for guess in found if guess.fault)
    wrong = "".join(f"; column '{name}' is {kind}" for name, kind in faulty)
    if not numeric:
        raise InputError(
            f"there is no numeric column to microaggregate; name columns with {parameter('columns')} or "
            f"{parameter('ordinal')}{wrong}"
        )
    if named is not None:
        return Choice(tuple(numeric), faulty)
    numbers = set(numeric)
    chosen = tuple(guess.column for guess in found if guess.averaged and guess.column in numbers)
    if not chosen:
        raise InputError(
            "every numeric column is constant or looks like an identifier, code, year or weight; "
            f"name those to protect with {parameter('columns')}{wrong}"
        )
    taken = set(chosen)
    others = [guess for guess in found if guess.column not in taken]
    told = [g for g in others if g.column in numbers or g.kind == "a date" or g.fault]
    doubtful = tuple(
        guess.column for guess in found if guess.column in taken and guess.reason == AMOUNTS_OR_NUMBERS
    )
    return Choice(chosen, tuple((guess.column, guess.kind) for guess in told), doubtful)
