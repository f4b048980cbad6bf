"""Combinations that cannot be (structural zeros): a widow of six years. What is perturbed must not show one."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np

from shoal.errors import InputError, first_record, parameter, unknown
from shoal.microdata.columns.hierarchies.hierarchy import read_values

_NUMBER = r"-?\d+(?:\.\d+)?"
_RANGE = re.compile(rf"\s*({_NUMBER})\s*\.\.\s*({_NUMBER})\s*")


@dataclass(frozen=True)
class Condition:
    """What one column holds: one of some values (as texts), or a number within limits, both included."""

    column: str
    values: frozenset[str] = frozenset()
    low: float | None = None
    high: float | None = None

    def allows(self, texts: Sequence[str | None]) -> np.ndarray:
        """Which of the values of the column meet it."""
        if self.low is None or self.high is None:
            return np.array([text in self.values for text in texts], dtype=bool)
        return np.array([self._within(text) for text in texts], dtype=bool)

    def _within(self, text: str | None) -> bool:
        try:
            return text is not None and self.low <= float(text) <= self.high  # type: ignore[operator]
        except ValueError:
            return False


@dataclass(frozen=True)
class Forbidden:
    """Conditions on two or more columns that never hold together.

    >>> read_forbidden(["age=0..14, marital=widowed|divorced"])[0].columns
    ('age', 'marital')
    """

    conditions: tuple[Condition, ...]

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns it is about."""
        return tuple(condition.column for condition in self.conditions)

    def without(self, column: str, data: "nw.DataFrame[Any]") -> np.ndarray:
        """Which records meet all conditions but that on a column."""
        found = np.ones(len(data), dtype=bool)
        for condition in self.conditions:
            if condition.column != column:
                values = read_values(data[condition.column])
                found &= condition.allows(values.texts)[values.codes]
        return found

    def on(self, column: str) -> Condition:
        """The condition on a column."""
        return next(condition for condition in self.conditions if condition.column == column)


def read_forbidden(rules: Sequence[str | Mapping[str, Any]]) -> tuple[Forbidden, ...]:
    """Rules as texts, or as mappings of columns to a value, several values, or a pair of limits in a tuple."""
    return tuple(Forbidden(_of_text(rule) if isinstance(rule, str) else _of_mapping(rule)) for rule in rules)


def _of_text(rule: str) -> tuple[Condition, ...]:
    conditions = []
    for part in rule.split(","):
        column, equals, wanted = part.partition("=")
        if not equals or not column.strip() or not wanted.strip():
            raise InputError(
                f"{parameter('forbid')} needs COLUMN=VALUE|VALUE or COLUMN=LOW..HIGH for each column"
            )
        limits = _RANGE.fullmatch(wanted)
        if limits:
            conditions.append(
                Condition(column.strip(), low=float(limits.group(1)), high=float(limits.group(2)))
            )
        else:
            values = frozenset(value.strip() for value in wanted.split("|"))
            conditions.append(Condition(column.strip(), values))
    return _several(conditions)


def _of_mapping(rule: Mapping[str, Any]) -> tuple[Condition, ...]:
    conditions = []
    for column, wanted in rule.items():
        if isinstance(wanted, tuple) and len(wanted) == 2:
            conditions.append(Condition(column, low=float(wanted[0]), high=float(wanted[1])))
        else:
            many = wanted if isinstance(wanted, list | set | frozenset) else [wanted]
            conditions.append(Condition(column, frozenset(str(value) for value in many)))
    return _several(conditions)


def _several(conditions: Sequence[Condition]) -> tuple[Condition, ...]:
    names = [condition.column for condition in conditions]
    if len(names) < 2 or len(set(names)) < len(names):
        raise InputError(f"{parameter('forbid')} is about two or more columns, each named once")
    return tuple(conditions)


def check_forbidden(rules: Sequence[Forbidden], data: "nw.DataFrame[Any]", columns: Sequence[str]) -> None:
    """Refuse rules about columns that are not there or not perturbed, or that some record breaks already."""
    for rule in rules:
        for condition in rule.conditions:
            if condition.column not in data.columns:
                raise unknown("column", condition.column, data.columns, where="in the data")
            values = read_values(data[condition.column])
            if not condition.allows(values.texts).any():
                raise InputError(
                    f"no record meets the condition on column '{condition.column}' in {parameter('forbid')}: is it spelt as in "
                    "the data?"
                )
        if not set(rule.columns) & set(columns):
            raise InputError(
                f"{parameter('forbid')} names none of the columns that are perturbed: {', '.join(rule.columns)}"
            )
        broken = broken_records(rule, data)
        if broken.size:
            raise InputError(
                f"{parameter('forbid')} rules out what is in the data: {first_record(broken)}; correct the rule or the records"
            )


def broken_records(rule: Forbidden, data: "nw.DataFrame[Any]") -> np.ndarray:
    """The records that are forbidden combinations."""
    return np.flatnonzero(rule.without("", data))
