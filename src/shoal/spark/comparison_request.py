"""What a comparison on a cluster is asked for, and what is found by the look of some records where nobody says it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw

from shoal.errors import InputError
from shoal.exact_names import only
from shoal.microdata.columns.column_choice import choose_columns
from shoal.microdata.columns.released_as_is import listed
from shoal.microdata.columns.roles import Guess
from shoal.microdata.columns.units import unit_remarks
from shoal.microdata.measures.problem import counted_in_k, remarks_on_key
from shoal.microdata.microaggregation.leaves.request import LOOKED_AT
from shoal.remarks import Remark, note, warning
from shoal.spark.frames import Frame
from shoal.spark.look import guessed, some_records


@dataclass(frozen=True)
class ComparisonRequest:
    """The columns to compare, those over which K is counted, and what is to be said of both."""

    key: str
    columns: tuple[str, ...]
    quasi: tuple[str, ...]
    quasi_guessed: bool
    remarks: tuple[Remark, ...]


def read_comparison(
    one: Frame,
    two: Frame,
    key: str,
    columns: Sequence[str] | None,
    quasi: Sequence[str] | None,
    roles: Mapping[str, str] | None,
    unit: str | None,
    declared: str | None,
) -> ComparisonRequest:
    """What nobody has said is found by the look of some records; what a column was before protection says more of it."""
    remarks: list[Remark] = []
    looked_at = some_records(one)
    guesses = guessed(one, looked_at, roles)
    if columns is None or list(columns) == ["*"]:
        columns = _numbers_to_compare(one, two, key, unit, columns, looked_at, guesses)
        text = f"comparing {', '.join(columns)} (by the look of {LOOKED_AT:,} records at most)"
        remarks.append(note("compared-columns", text, *columns))
    if not columns:
        raise InputError("name at least one column to compare")
    counted = tuple(quasi) if quasi else _counted(one, two, columns, guesses, (key, unit), remarks)
    remarks += remarks_on_key(key, counted)
    remarks += unit_remarks(looked_at, declared, guesses, (key, *(quasi or ()), *columns))
    could_help = [
        name
        for name in counted_in_k(guesses, two.names, columns, (key, unit))
        if name not in columns and name in one.names
    ]
    if could_help:
        text = (
            f"intervals and linkage are of the columns compared alone; {listed(could_help)} could be known, too, and then more "
            "is found: compare without an engine, of a sample if need be"
        )
        remarks.append(warning("restricted-risk", text, *could_help))
    return ComparisonRequest(
        key=key,
        columns=tuple(columns),
        quasi=counted,
        quasi_guessed=not quasi,
        remarks=tuple(remarks),
    )


def _counted(
    one: Frame,
    two: Frame,
    columns: Sequence[str],
    guesses: Sequence[Guess],
    but: tuple[str | None, ...],
    remarks: list[Remark],
) -> tuple[str, ...]:
    """The columns over which K is counted when nobody says."""
    new = [name for name in two.names if name not in one.names]
    if new:
        guesses = (*guesses, *(guess for guess in guessed(two, some_records(two)) if guess.column in new))
    counted = counted_in_k(guesses, two.names, columns, but)
    if odd := [name for name in counted if two.has_no_order(name)]:
        text = (
            f"{listed(odd)} may be known, too, and cannot be counted in K: values of that type have no order"
        )
        remarks.append(warning("uncounted-columns", text, *odd))
    return tuple(name for name in counted if name not in odd)


def _numbers_to_compare(
    one: Frame,
    two: Frame,
    key: str,
    unit: str | None,
    columns: Sequence[str] | None,
    looked_at: Any,
    guesses: Sequence[Guess],
) -> tuple[str, ...]:
    """The columns of numbers in both tables that measure something, or all of them."""
    numeric = [
        name
        for name in one.names
        if name in two.names and all(frame.kind(name) in ("integer", "number") for frame in (one, two))
    ]
    frame = only(nw.from_native(looked_at, eager_only=True), numeric)
    own = [guess for guess in guesses if guess.column in numeric]
    return choose_columns(
        frame, columns, not_these=[key, *([unit] if unit else [])], guesses=own or None
    ).columns
