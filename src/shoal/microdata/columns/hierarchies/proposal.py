"""Which hierarchy suits a column: a rule with its reason, by the name of the column, its type and the shape of its values."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil
from typing import Any

import narwhals as nw
import numpy as np

from shoal.errors import InputError
from shoal.microdata.columns.hierarchies.as_hierarchy import hierarchy_of, hierarchy_or_rule
from shoal.microdata.columns.hierarchies.cuts import Cuts
from shoal.microdata.columns.hierarchies.date_levels import DateLevels
from shoal.microdata.columns.hierarchies.exact_numbers import number_of
from shoal.microdata.columns.hierarchies.hierarchy import Hierarchy, Values, read_values, text_of
from shoal.microdata.columns.hierarchies.intervals import Intervals, round_widths
from shoal.microdata.columns.hierarchies.order import Order
from shoal.microdata.columns.hierarchies.prefixes import Prefix
from shoal.microdata.columns.hierarchies.quantiles import Quantiles
from shoal.microdata.columns.hierarchies.rule import Rule
from shoal.microdata.columns.hierarchies.star import Star
from shoal.microdata.columns.names import Meaning, meanings, words_of
from shoal.microdata.columns.orders import by_leading_number, ordered_values
from shoal.microdata.columns.roles import Guess
from shoal.microdata.columns.shapes import Shape

#: Ages belong together from here on, and nobody needs to be told from 120 on.
AGES = Intervals(numbers="whole", cover=(0, 119), widths=(5, 10, 20), top=85)

_LARGEST_AGE = 130
_CODE = re.compile(r"[A-Za-z0-9]+(?:[./ -]?[A-Za-z0-9]+)*")
_LONGEST_CODE = 12
_FEWEST_CODES = 8
_RANGE = re.compile(r"\s*\d+\s*(?:[-–+]|to|bis|until|and|or|years?)")
_HOW_MANY = re.compile(r"\b(size|children|persons|members|rooms|hijos|enfants|kinder|grosse|personen)\b")
_POSTCODES = (Meaning.POSTCODE,)
_CODES = (Meaning.CODE, Meaning.BUSINESS, Meaning.PLACE)
_YEARS = (Meaning.YEAR, Meaning.BIRTH, Meaning.TIME)
# Classes of ages have numbers from 0 or 1 on, and there are no more of them.
_LARGEST_CLASS = 15
_FEW_YEARS = 10
# Where one half of the records is so many times wider spread than the other, even widths put nearly all in one class.
_SKEWED = 4


@dataclass(frozen=True, eq=False)
class Proposal:
    """The hierarchy of a column and why it is this one; ``rule`` is how it is told, without values of the data."""

    column: str
    hierarchy: Hierarchy
    rule: str
    reason: str

    @property
    def sizes(self) -> tuple[int, ...]:
        """How many labels there are at each level, from the values to the root."""
        return tuple(map(len, self.hierarchy.labels))


def propose(
    column: nw.Series, guess: Guess, *, source: Any = None, order: Sequence[Any] | None = None
) -> Proposal:
    """The hierarchy of one column: what is given for it, else what suits it; ``order`` are its values if they have one.

    >>> import polars as pl
    >>> from shoal.microdata.columns.roles import guess_roles
    >>> frame = pl.DataFrame({"age": [31, 47, 86, 31]})
    >>> found = propose(nw.from_native(frame["age"], series_only=True), guess_roles(frame)[0])
    >>> found.reason
    'ages: intervals of 5, 10 and 20; 85 and above together'
    >>> found.sizes
    (120, 86, 18, 9, 5, 1)
    """
    name = column.name
    values = read_values(column)
    if source is not None:
        made = hierarchy_or_rule(source, name)
        hierarchy = hierarchy_of(made, values, name)
        return Proposal(name, hierarchy, _rule_text(made, hierarchy), f"as given: {hierarchy.origin}")
    rule, what = suited(column, guess, values, order)
    hierarchy = rule.hierarchy(values, name)
    # What a rule leaves open is decided by then; an order is told without its values.
    return Proposal(name, hierarchy, _rule_text(rule, hierarchy), f"{what}: {hierarchy.origin}")


def _rule_text(source: Rule | Hierarchy, hierarchy: Hierarchy) -> str:
    if isinstance(source, Rule):
        return source.shown if isinstance(source, Order) else str(hierarchy.rule)
    return hierarchy.origin


def suited(
    column: nw.Series, guess: Guess, values: Values, order: Sequence[Any] | None = None
) -> tuple[Rule, str]:
    """A rule for a column, and what the column is in a few words."""
    shape = Shape(column)
    if shape.count == 0:
        return Star(), "empty"
    if order is not None or values.order is not None:
        return _ordered(column, values, order)
    if column.dtype == nw.Boolean:
        return Star(), "yes or no"
    if shape.is_moment:
        return DateLevels(), "dates"
    if shape.is_date_text:
        return _date_texts(values)
    said = meanings(column.name)
    if shape.is_number:
        return _numbers(column.name, guess, shape, values, said)
    if shape.is_text:
        return _texts(column.name, guess, shape, values, said)
    return Star(), "values without an order"


def _ordered(column: nw.Series, values: Values, order: Sequence[Any] | None) -> tuple[Rule, str]:
    if order is None:
        return _of_order(values.order or ()), "in the order of its type"
    present = [value for value in column.drop_nulls().to_list() if value == value]
    found: Sequence[Any] = ordered_values(column, present, list(order) or values.order)
    # Values that are stated and that nobody has belong to the order, too.
    if {text_of(value) for value in found} <= {text_of(value) for value in order}:
        found = order
    return _of_order(found), "ordered"


def _of_order(values: Sequence[Any]) -> Rule:
    return Order.of(values) if len(values) > 1 else Star()


def _date_texts(values: Values) -> tuple[Rule, str]:
    try:
        rule = DateLevels().settled(values)
    except InputError:
        return (
            Star(),
            "dates that do not tell day and month apart (state their form, like dates(month,year,form=%d/%m/%Y))",
        )
    misread = any(
        rule.position(value, text) is None
        for value, text in zip(values.samples, values.texts, strict=True)
        if text is not None
    )
    return (Star(), "dates in several forms") if misread else (rule, "dates")


def _numbers(
    name: str, guess: Guess, shape: Shape, values: Values, meanings: frozenset[Meaning]
) -> tuple[Rule, str]:
    known = [number for number in values.numbers if number is not None]
    if len(known) < len(values.texts) - values.has_missing:
        return Star(), "numbers without an end"
    if Meaning.AGE in meanings and known and min(known) >= 0 and max(known) <= _LARGEST_AGE:
        if not shape.is_whole:
            return replace(AGES, numbers="decimal", cover=None), "ages"
        numbered = _are_classes(shape) and max(known) <= _LARGEST_CLASS
        return (Star(), "classes of ages without an order") if numbered else (AGES, "ages")
    # What is called a code is none of the years it looks like, unless it is called a year, too.
    coded = meanings.intersection((*_POSTCODES, *_CODES)) and not meanings.intersection(_YEARS)
    if shape.is_whole and shape.is_year and not coded:
        if max(known) - min(known) < 20:
            return Intervals(widths=(5, 10)), "years"
        # Ends that few years tell would be the least and the largest of them.
        return (Intervals() if len(known) > _FEW_YEARS else Intervals(widths=(5, 10, 20))), "years"
    if shape.is_whole and (meanings.intersection(_POSTCODES) or shape.is_code_of_one_length):
        return _digits(values), "postcodes" if meanings.intersection(_POSTCODES) else "codes"
    if _HOW_MANY.search(words_of(name)) and known:
        # A mean of counts is no count, but is told in whole steps like one.
        spread = ceil(max(known) - min(known))
        whole = Intervals() if shape.is_whole else Intervals(widths=round_widths(spread, "whole"))
        return whole, "counts"
    if guess.role in ("identifier", "household", "unit", "weight"):
        return Star(), guess.kind
    if _are_classes(shape) or (shape.is_whole and shape.is_few and not guess.averaged):
        return Star(), "numbers of classes (if they have an order, name them as ordinal)"
    if shape.is_whole and meanings.intersection(_CODES):
        few = shape.distinct < _FEWEST_CODES
        return (Star(), "a few codes") if few else (_digits(values), "codes")
    if _is_skewed(values) and _parts_well(values):
        return Quantiles(), "numbers, most of them near one end"
    return Intervals(), "whole numbers" if shape.is_whole else "numbers"


def _parts_well(values: Values) -> bool:
    """Whether equal classes are more than a few: where most have one value, there is little to cut at."""
    rule = Quantiles().settled(values)
    return isinstance(rule, Cuts) and len(rule.levels[0]) >= Quantiles.classes[-1]


def _are_classes(shape: Shape) -> bool:
    return shape.is_class_number or (shape.is_whole and shape.distinct <= 2)


def _digits(values: Values) -> Prefix:
    """Numbers lose the zeros they begin with."""
    lengths = {len(text) for text in values.texts if text is not None}
    return Prefix(zeros=len(lengths) > 1)


def _is_skewed(values: Values) -> bool:
    numbers = np.array([np.nan if number is None else float(number) for number in values.numbers])
    every = numbers[values.codes]
    low, middle, high = np.quantile(every[~np.isnan(every)], [0.05, 0.5, 0.95])
    below, above = sorted((middle - low, high - middle))
    return bool(above > _SKEWED * below and above > 0)


def _texts(
    name: str, guess: Guess, shape: Shape, values: Values, meanings: frozenset[Meaning]
) -> tuple[Rule, str]:
    texts = [text for text in values.texts if text is not None]
    if meanings.intersection(_POSTCODES) or shape.is_postcode_text:
        return Prefix(), "postcodes"
    if guess.role == "identifier":
        return Star(), guess.kind
    if all(number_of(text) is not None and str(number_of(text)) == text.strip() for text in texts):
        whole = all(isinstance(number_of(text), int) for text in texts)
        if Meaning.AGE in meanings and whole and all(0 <= int(text) <= _LARGEST_AGE for text in texts):
            return AGES, "ages"
        if len(texts) > 25:
            return Intervals(), "numbers"
    if len(texts) > 2 and sum(bool(_RANGE.match(text)) for text in texts) > len(texts) / 2:
        ranked = by_leading_number(texts)
        if ranked is not None:
            return Order.of(ranked), "classes in the order of the numbers they begin with"
    if _are_codes(texts):
        return Prefix(), "codes, those that begin alike together"
    return Star(), "texts without an order"


def _are_codes(texts: Sequence[str]) -> bool:
    """Whether short texts with digits fall into classes by how they begin."""
    if len(texts) < _FEWEST_CODES or any(
        len(text) > _LONGEST_CODE or not _CODE.fullmatch(text) for text in texts
    ):
        return False
    if sum(any(sign.isdigit() for sign in text) for text in texts) < 0.8 * len(texts):
        return False
    classes = [len({text[:count] for text in texts}) for count in range(1, max(map(len, texts)))]
    return any(1 < count <= len(texts) / 2 for count in classes)


def propose_all(
    data: "nw.DataFrame[Any]",
    columns: Sequence[str],
    guesses: Sequence[Guess],
    sources: Mapping[str, Any],
    ordinal: Mapping[str, Sequence[Any] | None],
) -> dict[str, Proposal]:
    """The hierarchies of several columns: those that are given, and for the others what suits them."""
    by_name = {guess.column: guess for guess in guesses}
    return {
        name: propose(
            data[name],
            by_name[name],
            source=sources.get(name),
            order=(ordinal[name] or ()) if name in ordinal else None,
        )
        for name in columns
    }
