"""Which columns of the two tables are compared, and which of them as numbers and which as categories."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import narwhals as nw

from shoal.errors import InputError, parameter, unknown
from shoal.exact_names import only
from shoal.microdata.columns.column_choice import choose_columns
from shoal.microdata.columns.roles import KNOWABLE, Guess, guess_roles, with_roles
from shoal.microdata.measures.pairing import key_values, texts
from shoal.remarks import Remark, note
from shoal.sources.not_numbers import faults_in_numbers, why_not_numeric


@dataclass(frozen=True)
class ComparedColumns:
    """The columns in order, and those of them that are compared as categories."""

    names: tuple[str, ...]
    categories: tuple[str, ...] = ()
    remarks: tuple[Remark, ...] = ()

    @property
    def numbers(self) -> tuple[str, ...]:
        """The columns compared as numbers."""
        return tuple(name for name in self.names if name not in self.categories)


def compared_columns(
    before: nw.DataFrame,
    after: nw.DataFrame,
    requested: Sequence[str] | None,
    categories: Sequence[str] | None,
    key: str | None,
) -> ComparedColumns:
    """The columns asked for; ``["*"]`` is every numeric one.

    By default they are those that measure something, and categories that were changed. A column is one of numbers if it is in
    both tables and not named among the ``categories``.

    >>> import polars as pl
    >>> old = nw.from_native(pl.DataFrame({"income": [9.5, 7.0, 7.0, 1.0], "town": ["a", "b", "b", "c"]}))
    >>> new = nw.from_native(pl.DataFrame({"income": [8.2, 8.2, 4.0, 4.0], "town": ["a", "b", None, "c"]}))
    >>> compared_columns(old, new, None, None, None).categories
    ('town',)
    """
    for frame, which in ((before, "original"), (after, "protected")):
        for column in (*(requested or ()), *(categories or ())):
            if column != "*" and column not in frame.columns:
                raise unknown("column", column, frame.columns, where=f"in the {which} data")
        if key is not None:
            key_values(frame, key, which)
    numeric = _numeric_in_both(before, after)
    if requested is not None and list(requested) != ["*"]:
        names = choose_columns(before, requested).columns
        remarks: tuple[Remark, ...] = ()
    else:
        names = _chosen(before, after, requested, categories or (), key)
        remarks = () if requested is not None else (_chosen_columns("comparing", names),)
    if stray := [column for column in categories or () if column not in names]:
        raise InputError(
            f"column '{stray[0]}' of {parameter('categories')} is not among those of {parameter('columns')}"
        )
    as_categories = tuple(name for name in names if name not in numeric or name in (categories or ()))
    for name in as_categories:
        for frame, which in ((before, "original"), (after, "protected")):
            if frame.schema[name].is_nested():
                raise InputError(f"column '{name}' of the {which} data holds lists or records; leave it out")
    guessed = [name for name in as_categories if name not in (categories or ())]
    for name in guessed:
        if before.schema[name] == nw.String and faults_in_numbers(before[name].to_list()):
            raise InputError(
                f"column '{name}' of the original data is not numeric: {why_not_numeric(before[name])}; correct it, or name it "
                f"in {parameter('categories')} if its values are codes"
            )
    if guessed and requested is not None:
        remarks = (_chosen_columns("compared as categories:", guessed),)
    elif guessed:
        changed = _chosen_columns("compared as categories, since the release changed them:", guessed)
        remarks = (*remarks, changed)
    return ComparedColumns(names, as_categories, remarks)


def _chosen_columns(how: str, names: Sequence[str]) -> Remark:
    return note("compared-columns", f"{how} {', '.join(names)}", *names)


def with_exchanged(
    before: nw.DataFrame,
    after: nw.DataFrame,
    compared: ComparedColumns,
    roles: Mapping[str, str],
    but: Sequence[str | None],
) -> ComparedColumns:
    """The columns that are compared, and further ones of which record i of both tables, the same one, shows something else.

    Values that were only exchanged, like the regions of households, look unchanged until records are paired; so do codes.
    """
    named = {guess.column for guess in with_roles(guess_roles(before), roles) if guess.role == "identifier"}
    there, numeric = set(after.columns), _numeric_in_both(before, after)
    found = []
    for name in before.columns:
        if name not in there or name in (*compared.names, *but) or name in named:
            continue
        if before.schema[name].is_nested() or after.schema[name].is_nested():
            continue
        old = texts(before[name])
        if name in numeric and _nearly_all_different(old):
            continue
        if old != texts(after[name]):
            found.append(name)
    if not found:
        return compared
    names = tuple(name for name in before.columns if name in (*compared.names, *found))
    exchanged = _chosen_columns("compared as well, as categories, since the release changed them:", found)
    return replace(
        compared,
        names=names,
        categories=(*compared.categories, *found),
        remarks=(*compared.remarks, exchanged),
    )


@dataclass(frozen=True)
class Beside:
    """What is released beside the columns compared: what could be ``known`` of somebody, and all ``others``.

    ``numbers`` are those of both that are attacked as numbers, ``confidential`` all columns that an intruder
    wants to learn.
    """

    known: tuple[str, ...] = ()
    others: tuple[str, ...] = ()
    numbers: frozenset[str] = frozenset()
    confidential: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """All of them."""
        return (*self.known, *self.others)


def beside(
    before: nw.DataFrame,
    after: nw.DataFrame,
    compared: Sequence[str],
    guesses: Sequence[Guess],
    but: Sequence[str | None],
    quasi: Sequence[str] = (),
) -> Beside:
    """What both tables have beside the columns compared, by the roles of the columns; ``quasi`` are known in any case.

    >>> import polars as pl
    >>> data = nw.from_native(pl.DataFrame({"sex": ["f", "m"], "income": [9.5, 7.0], "diagnosis": ["a", "b"]}))
    >>> found = beside(data, data, ["sex"], guess_roles(data), ())
    >>> found.known, found.others
    (('income',), ('diagnosis',))
    """
    kinds, new_kinds, numeric = before.schema, after.schema, _numeric_in_both(before, after)
    taken = {*compared, *but}
    confidential = tuple(guess.column for guess in guesses if guess.role == "confidential")
    known: list[str] = []
    others: list[str] = []
    numbers: set[str] = set()
    for guess in guesses:
        name = guess.column
        if name in taken or guess.role == "unit" or name not in kinds or name not in new_kinds:
            continue
        if kinds[name].is_nested() or new_kinds[name].is_nested():
            continue
        (known if guess.role in KNOWABLE or name in quasi else others).append(name)
        amounts = guess.averaged or name in confidential
        if name in numeric and (amounts or _nearly_all_different(texts(before[name]))):
            numbers.add(name)
    return Beside(tuple(known), tuple(others), frozenset(numbers), confidential)


def _nearly_all_different(values: Sequence[str | None]) -> bool:
    """Numbers of which nearly all differ are no codes."""
    return len(set(values)) > len(values) / 2


def _numeric_in_both(before: nw.DataFrame, after: nw.DataFrame) -> set[str]:
    there = after.schema
    return {
        name
        for name, kind in before.schema.items()
        if kind.is_numeric() and name in there and there[name].is_numeric()
    }


def _chosen(
    before: nw.DataFrame,
    after: nw.DataFrame,
    requested: Sequence[str] | None,
    categories: Sequence[str],
    key: str | None,
) -> tuple[str, ...]:
    numeric = _numeric_in_both(before, after)
    shared = [column for column in before.columns if column in set(after.columns) and column != key]
    others = [column for column in shared if column in categories]
    if requested is None:
        others += [column for column in shared if column not in numeric and column not in others]
        named = {guess.column for guess in guess_roles(before) if guess.role == "identifier"}
        others = [
            column
            for column in others
            if column in categories or (column not in named and _changed(before, after, column))
        ]
    if not numeric - {key}:
        if not others:
            raise InputError(
                "the two tables have no numeric column in common, and no other that was changed; "
                f"name those to compare with {parameter('columns')}"
            )
        return tuple(others)
    not_these = [*others, *([key] if key else [])]
    with_numbers = [column for column in before.columns if column in numeric or column == key]
    if not set(with_numbers) - set(not_these):
        return tuple(others)
    try:
        found = choose_columns(only(before, with_numbers), requested, not_these=not_these).columns
    except InputError:
        if not others:
            raise
        found = ()
    return tuple(column for column in before.columns if column in found or column in others)


def _changed(before: nw.DataFrame, after: nw.DataFrame, column: str) -> bool:
    """Whether a release shows what the original does not have, or more often; that needs no pairing."""
    if any(frame.schema[column].is_nested() for frame in (before, after)):
        return False
    return not Counter(texts(after[column])) <= Counter(texts(before[column]))
