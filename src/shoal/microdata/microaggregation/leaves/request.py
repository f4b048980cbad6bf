"""What is asked of records in many places, checked against their columns before any of them is moved."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, get_args

import narwhals as nw

from shoal.errors import InputError, parameter, unknown
from shoal.microdata.columns.column_choice import choose_columns
from shoal.microdata.columns.inputs import (
    Missing,
    as_names,
    check_choice,
    check_k,
    check_quasi,
    read_attribute_weights,
)
from shoal.microdata.columns.roles import Guess, guess_with_nested, knowable, with_roles
from shoal.microdata.columns.units import unit_column, unit_remarks
from shoal.microdata.microaggregation.aggregate import Aggregate
from shoal.microdata.microaggregation.leaves.leaf_search import LeafOptions, LeafTask
from shoal.microdata.microaggregation.leaves.methods import METHODS
from shoal.microdata.microaggregation.remarks import MEDIAN_TELLS
from shoal.microdata.microaggregation.search.blocks import default_rounds
from shoal.numbers import whole
from shoal.remarks import Remark, note
from shoal.runtime import Seeds

#: From so many records it is guessed what the columns are.
LOOKED_AT = 5_000
#: Rounds in shifted leaves: after these nearly nothing is left of the borders.
_SECOND_ROUNDS = 3


@dataclass(frozen=True, eq=False)
class Request:
    """Columns and how to protect them."""

    k: int
    columns: tuple[str, ...]
    kinds: tuple[str, ...]
    weights: tuple[float, ...]
    by: tuple[str, ...]
    drop: tuple[str, ...]
    quasi: tuple[str, ...]
    quasi_guessed: bool
    unit: str | None
    missing: Missing
    aggregate: Aggregate
    largest: int | None
    options: LeafOptions
    iterations: int | None
    seed: int
    guesses: tuple[Guess, ...]
    looked_at: nw.DataFrame
    remarks: tuple[Remark, ...]
    unit_remarks: tuple[Remark, ...] = ()

    def unchanged(self, names: Sequence[str]) -> list[str]:
        """The columns that are released as they are."""
        return [name for name in names if name not in {*self.columns, *self.drop}]

    def may_be_rare(self) -> list[str]:
        """The columns of which it matters how many records share a value: dates and exact numbers."""
        return [
            guess.column for guess in self.guesses if guess.kind == "a date" or guess.role == "measurement"
        ]

    def carried(self, names: Sequence[str]) -> list[str]:
        """All that goes with a record beside the numbers: what is kept, its stratum, and whose it is."""
        return list(dict.fromkeys([*self.unchanged(names), *self.by, *([self.unit] if self.unit else [])]))

    @property
    def most(self) -> int:
        """The most records in a leaf."""
        return 2 * self.options.leaf

    def rounds(self, records: int) -> tuple[int, int]:
        """How many rounds each leaf does, and then each shifted leaf."""
        first = default_rounds(records) if self.iterations is None else self.iterations
        return first, min(first, _SECOND_ROUNDS)

    def tasks(self, records: int) -> tuple[LeafTask, LeafTask]:
        """The work in a leaf, and in a shifted one."""
        first, second = (
            LeafTask(self.k, self.largest, self.options, rounds, self.seed) for rounds in self.rounds(records)
        )
        return first, second

    def in_words(self) -> tuple[tuple[str, Any], ...]:
        """The settings for a report."""
        return (
            ("k", self.k),
            ("method", "blocks"),
            ("options of the method", ", ".join(f"{name} = {value}" for name, value in self.options)),
            ("aggregate", self.aggregate),
            ("strata", ", ".join(self.by) or None),
            ("columns dropped", ", ".join(self.drop) or None),
            ("missing values", self.missing),
            (
                "K of the release counted over",
                "all that could be known" if self.quasi_guessed else "the columns named",
            ),
            ("unit counted in K, and in every group", self.unit or "record"),
            ("a missing value in K", "is a value of its own"),
            ("order", "by what is released"),
            ("largest group", self.largest),
            ("seed", self.seed),
        )


def read_request(
    names: Sequence[str],
    kind: Callable[[str], str | None],
    type_in_words: Callable[[str], str],
    look: Callable[[], Any],
    *,
    k: int,
    columns: Sequence[str] | None,
    method: str,
    options: Mapping[str, Any] | None,
    aggregate: Aggregate,
    by: Sequence[str],
    missing: Missing,
    attribute_weights: Mapping[str, float] | None,
    largest: int | None,
    drop: Sequence[str],
    quasi: Sequence[str] | None,
    roles: Mapping[str, str] | None,
    unit: str | None,
    iterations: int | None,
    seed: int | None,
) -> Request:
    """Check what was asked for; ``kind`` says what a column holds if it can be averaged, ``look`` gives some records."""
    check_choice("aggregate", aggregate, get_args(Aggregate))
    check_choice("missing", missing, get_args(Missing))
    if missing in ("impute", "value"):
        raise InputError(
            f"{parameter('missing', missing)} needs all records in one place; choose {parameter('missing', 'aside')}"
        )
    chosen_options = METHODS[method].configure(options)
    assert isinstance(chosen_options, LeafOptions)
    by, drop = as_names(by), as_names(drop)
    declared, unit = unit, unit_column(unit, names)
    quasi = None if quasi is None else as_names(quasi)
    for name in (*by, *drop, *(quasi or ()), unit, *(columns or ())):
        if name is not None and name not in names and name != "*":
            raise unknown("column", name, names, where="in the data")
    check_k(k)
    if largest is not None:
        whole(largest, "the largest group", least=2 * k - 1)
        if unit is not None:
            raise InputError(
                f"groups of too few units are joined, so {parameter('largest')} cannot be held with {parameter('unit')}"
            )
    if chosen_options.leaf < 2 * k:
        raise InputError(f"a leaf must hold at least 2k = {2 * k} records; make option leaf larger")
    looked_at = look()
    of_units = unit_remarks(looked_at, declared, but=(*(columns or ()), *by, *(quasi or ())))
    guesses = with_roles(guess_with_nested(names, looked_at), roles or {})
    frame = nw.from_native(looked_at, eager_only=True)
    remarks: list[Remark] = []
    if columns is None or list(columns) == ["*"]:
        choice = choose_columns(
            frame,
            columns,
            not_these=[*by, *drop, *([unit] if unit else [])],
            guesses=guesses,
        )
        columns = choice.columns
        text = f"{choice.sentence()} (by the look of {LOOKED_AT:,} records at most)"
        remarks.append(note("chosen-columns", text, *columns))
    columns = as_names(columns)
    _check_columns(columns, by, drop, unit, kind, type_in_words)
    check_quasi(quasi or (), unit, drop)
    known = [name for name in knowable(guesses) if name not in {*columns, *drop, unit}]
    weights = read_attribute_weights(columns, attribute_weights)
    if aggregate == "median":
        remarks.append(MEDIAN_TELLS)
    return Request(
        k=k,
        columns=tuple(columns),
        kinds=tuple(str(kind(name)) for name in columns),
        weights=tuple(weights[name] for name in columns),
        by=tuple(by),
        drop=tuple(drop),
        quasi=tuple([*columns, *known] if quasi is None else quasi or columns),
        quasi_guessed=quasi is None,
        unit=unit,
        missing=missing,
        aggregate=aggregate,
        largest=largest,
        options=chosen_options,
        iterations=iterations,
        seed=Seeds(seed).integer() >> 1,
        guesses=guesses,
        looked_at=frame,
        remarks=tuple(remarks),
        unit_remarks=tuple(of_units),
    )


def _check_columns(
    columns: Sequence[str],
    by: Sequence[str],
    drop: Sequence[str],
    unit: str | None,
    kind: Callable[[str], str | None],
    type_in_words: Callable[[str], str],
) -> None:
    if not columns:
        raise InputError("name at least one column to protect")
    for place, name in enumerate(columns):
        if name in columns[:place]:
            raise InputError(f"column '{name}' is named twice")
        for role, others in (("strata", by), ("columns to drop", drop)):
            if name in others:
                raise InputError(f"column '{name}' is to be protected, so it cannot be among the {role}")
        if name == unit:
            raise InputError(f"column '{name}' is to be protected, so it cannot say whose records these are")
        if kind(name) is None:
            raise InputError(
                f"column '{name}' is of type {type_in_words(name)}, which cannot be averaged; leave it out of "
                f"{parameter('columns')}"
            )
