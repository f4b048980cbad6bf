"""What is compared: the records of two tables that belong together, column by column, and what an intruder may know of them."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import narwhals as nw
import numpy as np

from shoal.errors import InputError, parameter, unknown
from shoal.exact_names import only
from shoal.microdata.anonymity.api import count_classes
from shoal.microdata.columns.attributes import read_attribute
from shoal.microdata.columns.released_as_is import listed
from shoal.microdata.columns.roles import Guess, guess_roles, knowable, with_roles
from shoal.microdata.columns.units import unit_column, unit_remarks
from shoal.microdata.measures.categories import CategoryPair, pair_categories
from shoal.microdata.measures.compared_columns import (
    Beside,
    ComparedColumns,
    beside,
    compared_columns,
    with_exchanged,
)
from shoal.microdata.measures.mixed import MixedTables
from shoal.microdata.measures.pairing import Pairing, Way, texts
from shoal.remarks import Remark, danger, note, warning

# A larger share of records that cannot be compared is warned of.
_MANY = 0.1


@dataclass(frozen=True, eq=False)
class Problem:
    """Two tables whose records are paired.

    ``released`` is the whole protected table, ``paired`` are the records that belong together, ``rows`` those of them with a
    value in every number, and ``tables`` what is compared of these. K is counted over ``quasi``, by distinct ``unit``.
    """

    released: nw.DataFrame = field(repr=False)
    paired: tuple[nw.DataFrame, nw.DataFrame] = field(repr=False)
    rows: np.ndarray = field(repr=False)
    compared: ComparedColumns
    beside: Beside
    tables: MixedTables
    quasi: tuple[str, ...]
    unit: str | None
    pairing: Way
    remarks: tuple[Remark, ...]

    @property
    def left_out(self) -> int:
        """How many records have a missing value."""
        return len(self.paired[0]) - int(self.rows.size)

    @cached_property
    def attackable(self) -> MixedTables:
        """What is compared, with what is released beside it."""
        return _with(self.tables, *self.paired, self.rows, self.beside)

    def k(self, columns: Sequence[str]) -> int:
        """K of the whole protected table over some columns."""
        return count_classes(self.released.to_native(), list(columns), unit=self.unit).k

    @property
    def attackable_columns(self) -> dict[str, int]:
        """How many columns of numbers and categories an intruder may know, and how many others can be inferred."""
        numbers = len(self.compared.numbers) + sum(name in self.beside.numbers for name in self.beside.known)
        return {
            "numbers": numbers,
            "categories": len(self.knowable) - numbers,
            "unknown": len(self.beside.others),
        }

    @property
    def knowable(self) -> tuple[str, ...]:
        """The columns an intruder may know."""
        return (*self.compared.names, *self.beside.known)


def read_problem(
    before: nw.DataFrame,
    after: nw.DataFrame,
    pairing: Pairing,
    *,
    columns: Sequence[str] | None,
    categories: Sequence[str] | None,
    quasi: Sequence[str] | None,
    roles: Mapping[str, str],
    unit: str | None,
) -> Problem:
    """Pair the records, and choose the columns; an ``InputError`` for what the tables do not have."""
    key, counted_unit = pairing.key, unit_column(unit, after.columns)
    compared = compared_columns(before, after, columns, categories, key)
    for column in [*(quasi or ()), *([counted_unit] if counted_unit else [])]:
        if column not in after.columns:
            raise unknown("column", column, after.columns, where="in the protected data")
    first, second, of_pairs = pairing.pair(before, after, compared.names)
    old, new = before[first.tolist()], after[second.tolist()]
    not_these = (key, counted_unit)
    if columns is None:
        compared = with_exchanged(old, new, compared, roles, not_these)
    guesses = _guesses(before, after, roles)
    # What is released and could be known helps an intruder, changed or not, and what is released can be inferred.
    around = beside(before, after, compared.names, guesses, not_these, quasi or ())
    counted = tuple(quasi) if quasi else counted_in_k(guesses, after.columns, compared.names, not_these)
    rows, tables = _complete(old, new, compared, counted_unit)
    return Problem(
        released=after,
        paired=(old, new),
        rows=rows,
        compared=compared,
        beside=around,
        tables=tables,
        quasi=counted,
        unit=counted_unit,
        pairing=pairing.way,
        remarks=(
            *compared.remarks,
            *of_pairs,
            *remarks_on_key(key, counted),
            *unit_remarks(old, unit, but=(key, *(quasi or ()), *(columns or ()))),
            *_remarks_on_gaps(len(old) - rows.size, len(old)),
        ),
    )


def counted_in_k(
    guesses: Sequence[Guess], released: Collection[str], compared: Sequence[str], but: Sequence[str | None]
) -> tuple[str, ...]:
    """The columns over which K is counted when nobody says: those compared, and others of the release that could be known.

    >>> guesses = [Guess("sex", "quasi-identifier", "", ""), Guess("pay", "measurement", "", "")]
    >>> counted_in_k(guesses, ["pay", "sex"], ["pay"], ["person"])
    ('pay', 'sex')
    """
    there, taken = set(released), {*compared, *but}
    return (*compared, *(name for name in knowable(guesses) if name in there and name not in taken))


def remarks_on_key(key: str | None, counted: Sequence[str]) -> list[Remark]:
    """That whoever knows the key finds the record.

    >>> remarks_on_key("person", ["person", "age"]), remarks_on_key(None, ["age"])
    ([], [])
    """
    if key is None or key in counted:
        return []
    text = (
        f"the key '{key}' is in the protected data and does not count in K; if it is released, whoever knows it finds the "
        "record"
    )
    return [danger("released-key", text, key)]


def known_sets(known: Sequence[Sequence[str]] | None, names: Sequence[str]) -> tuple[tuple[str, ...], ...]:
    """The sets of columns an intruder knows, if any are named."""
    for scenario in known or ():
        if not scenario:
            raise InputError("an intruder who knows no column links nobody; name at least one")
        for column in scenario:
            if column not in names:
                raise unknown("column", column, names, where="among those that both tables have")
    return tuple(tuple(dict.fromkeys(scenario)) for scenario in known or ())


def remarks_on_knowledge(
    problem: Problem,
    columns: Sequence[str] | None,
    known: Sequence[Sequence[str]],
    attacks: Sequence[str],
    left_out: Sequence[str],
) -> list[Remark]:
    """What an intruder knows beside the columns compared, and in what the risks are of less than he may know and try.

    ``known`` are the sets of columns that somebody named, ``left_out`` the attacks that somebody left out.
    """
    more, remarks = problem.beside, []
    if more.known and attacks and not known:
        text = f"the intruder of further attacks also knows {', '.join(more.known)}"
        remarks.append(note("known-columns", text, *more.known))
    if more.others and attacks:
        text = f"values are inferred of {', '.join(more.others)}, too, which the intruder does not know"
        remarks.append(note("inferred-columns", text, *more.others))
    if columns is not None and more.columns:
        also = f"; attacks look at {listed(more.columns)}, too" if attacks else ""
        text = (
            "loss, interval disclosure, and linkage by distance and by agreement are of the columns compared alone "
            f"({parameter('columns')}), not of all that is released{also}"
        )
        remarks.append(restriction(text, *more.columns))
    if known and not any(set(problem.knowable) <= set(scenario) for scenario in known):
        further = [name for name in problem.knowable if not any(name in scenario for scenario in known)]
        also = f"; {listed(further)} could be known, too" if further else ""
        text = f"an intruder knows only one set of {parameter('known')} at a time{also}; who knows more may find more"
        remarks.append(restriction(text, *further))
    if left_out:
        text = f"attacks that were not tried ({parameter('attacks')}): {', '.join(left_out)}"
        remarks.append(restriction(text))
    return remarks


#: The kind of remarks that say in what the risks are of less than an intruder may know and try.
RESTRICTION = "restricted-risk"


def restriction(text: str, *columns: str) -> Remark:
    """A remark that risks are of less than an intruder may know and try."""
    return warning(RESTRICTION, text, *columns)


def _guesses(before: nw.DataFrame, after: nw.DataFrame, roles: Mapping[str, str]) -> tuple[Guess, ...]:
    """The roles of all columns: what a column was before protection says more of it than what it has become."""
    here = set(before.columns)
    new = [column for column in after.columns if column not in here]
    return (*with_roles(guess_roles(before), roles), *guess_roles(only(after, new)))


def _complete(
    before: nw.DataFrame, after: nw.DataFrame, compared: ComparedColumns, unit: str | None
) -> tuple[np.ndarray, MixedTables]:
    """The records that have a value in every column of numbers, and what is compared of them."""
    numbers = [
        np.column_stack(
            [np.zeros((len(frame), 0)), *(_numbers(frame, column) for column in compared.numbers)]
        )
        for frame in (before, after)
    ]
    rows = np.flatnonzero(~(np.isnan(numbers[0]) | np.isnan(numbers[1])).any(axis=1))
    if rows.size == 0:
        raise InputError("there is no record with a value in every column to compare")
    x, y = (table[rows] for table in numbers)
    pairs = tuple(_pair(before, after, column, rows) for column in compared.categories)
    people = None if unit is None else _people(before if unit in before.columns else after, unit, rows)
    return rows, MixedTables(compared.numbers, x, y, pairs, people)


def _remarks_on_gaps(left_out: int, records: int) -> list[Remark]:
    if not left_out:
        return []
    text = f"{left_out} records have a missing value in the columns compared and are left out"
    # What is not looked at has no risk in any figure.
    if left_out <= _MANY * records:
        return [note("missing-values", text)]
    text += ": nothing is said of their risk; fewer columns would leave more of them"
    return [warning("missing-values", text)]


def _with(
    tables: MixedTables, before: nw.DataFrame, after: nw.DataFrame, rows: np.ndarray, more: Beside
) -> MixedTables:
    """The records compared, with what is released of them beside."""
    numbers = {name: _amounts(before, after, name) for name in more.columns if name in more.numbers}
    amounts = {name: pair[:, rows] for name, pair in numbers.items() if pair is not None}
    none = np.zeros((2, rows.size, 0))
    old, new = np.concatenate([none, *(pair[:, :, None] for pair in amounts.values())], axis=2)
    pairs = [_pair(before, after, name, rows) for name in more.columns if name not in amounts]
    every = tables.beside(list(amounts), old, new, pairs)
    first = tuple(name for name in more.confidential if name in every.columns)
    return replace(every, unknown=more.others, first=first)


def _amounts(before: nw.DataFrame, after: nw.DataFrame, column: str) -> np.ndarray | None:
    """A column of numbers of both tables; a missing value is the mean, so that no record is left out for it.

    ``None`` where values are too large, or infinite: nobody asked to compute with this column.
    """
    try:
        pair = np.array([_numbers(frame, column) for frame in (before, after)])
    except InputError:
        return None
    known = pair[0][~np.isnan(pair[0])]
    return np.where(np.isnan(pair), known.mean() if known.size else 0.0, pair)


def _numbers(frame: nw.DataFrame, column: str) -> np.ndarray:
    return read_attribute(frame, column).values


def _pair(before: nw.DataFrame, after: nw.DataFrame, column: str, rows: np.ndarray) -> CategoryPair:
    old, new = texts(before[column]), texts(after[column])
    return pair_categories(column, [old[row] for row in rows], [new[row] for row in rows])


def _people(frame: nw.DataFrame, unit: str, rows: np.ndarray) -> np.ndarray:
    """The number of the unit of each record."""
    units = texts(frame[unit])
    numbers = {value: number for number, value in enumerate(dict.fromkeys(units))}
    return np.array([numbers[units[row]] for row in rows], dtype=np.int64)
