"""Checking what a user asked for, before any work starts."""

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import narwhals as nw
import numpy as np

from shoal.errors import InputError, parameter, unknown
from shoal.exact_names import refuse_patterns
from shoal.microdata.columns.attributes import Attribute, read_attribute
from shoal.numbers import counted, number, whole
from shoal.remarks import Remark, note

Missing = Literal["refuse", "aside", "impute", "value"]


def as_names(names: str | Sequence[str]) -> list[str]:
    """Names of columns; a text alone is one name, not the letters of it.

    >>> as_names("age"), as_names(("age", "sex"))
    (['age'], ['age', 'sex'])
    """
    return [names] if isinstance(names, str) else list(names)


def check_k(k: Any) -> None:
    """An ``InputError`` unless k is a whole number from 2 on."""
    whole(k, "k", least=2)


def check_choice(name: str, value: str, allowed: Sequence[str]) -> None:
    """An ``InputError`` unless the value is one of those allowed."""
    if value not in allowed:
        raise unknown(name, str(value), allowed)


def read_frame(frame: Any) -> "nw.DataFrame[Any]":
    """The frame as Narwhals sees it; an ``InputError`` if it is none, or its columns cannot be told by name."""
    try:
        data = nw.from_native(frame, eager_only=True)
        names = data.columns
    except nw.exceptions.DuplicateError:
        raise InputError("the data has several columns of one name; give each a name of its own") from None
    except TypeError:
        kind = type(frame).__name__
        raise InputError(f"the data must be a pandas, Polars or Arrow frame in memory, not {kind}") from None
    if not all(isinstance(name, str) for name in names):
        raise InputError("the names of columns must be texts; rename those that are numbers")
    refuse_patterns(names, "the data")
    return data


def with_one_zero(data: "nw.DataFrame[Any]", names: Sequence[str]) -> "nw.DataFrame[Any]":
    """Numbers of columns that stay as they are, with one zero and one way to be missing: K counts them as one, so nobody
    may be told apart by which it was.

    >>> import polars as pl
    >>> frame = nw.from_native(pl.DataFrame({"x": [-0.0, 0.0, float("nan"), None]}))
    >>> with_one_zero(frame, ["x"])["x"].to_list()
    [0.0, 0.0, None, None]
    """
    return data.with_columns(*(_with_one_zero(data[name]) for name in names if data[name].dtype.is_float()))


def _with_one_zero(column: nw.Series) -> nw.Series:
    # Under a name that no engine takes for a pattern; adding nothing would be optimised away.
    own, value = column.alias("value").to_frame(), nw.col("value")
    plain = own.with_columns(
        nw.when(value == 0).then(0.0).otherwise(value).cast(column.dtype).alias("value")
    )["value"]
    if not column.implementation.is_pandas_like():  # pandas has one way to be missing
        plain = plain.fill_nan(None)
    return plain.alias(column.name)


def check_quasi(quasi: Sequence[str], unit: str | None, drop: Sequence[str]) -> None:
    """An ``InputError`` for quasi-identifiers over which K of the release cannot be counted."""
    for place, name in enumerate(quasi):
        if name in quasi[:place]:
            raise InputError(f"column '{name}' is named twice among the quasi-identifiers")
        if name in drop:
            raise InputError(f"column '{name}' is dropped, so it is no quasi-identifier of the release")
        if name == unit:
            raise InputError(f"column '{name}' cannot be a quasi-identifier and the unit column at once")


def check_names(data: nw.DataFrame, names: Sequence[str | None], where: str = "in the data") -> None:
    """An ``InputError`` with a suggestion for the first column that is not there."""
    for name in names:
        if name is not None and name not in data.columns:
            raise unknown("column", name, data.columns, where=where)


def records_to_keep(attributes: Mapping[str, Attribute], missing: Missing) -> tuple[np.ndarray, list[Remark]]:
    """Which records take part, and what to say about missing values."""
    gaps = {name: attribute.missing for name, attribute in attributes.items() if attribute.missing.any()}
    n = next(iter(attributes.values())).values.size
    keep = np.ones(n, dtype=bool)
    if not gaps:
        return keep, []
    if missing == "value":
        text = "a missing value is a value of its own: a group without values for the most part gets none"
        return keep, [note("missing-values", text, *gaps)]
    any_gap = np.logical_or.reduce(list(gaps.values()))
    columns = ", ".join(f"{name} ({int(gap.sum())})" for name, gap in gaps.items())
    if missing == "refuse":
        have = counted(int(any_gap.sum()), "record has", "records have")
        raise InputError(
            f"{have} missing values, in {columns}; choose {parameter('missing', 'aside')} (not released) or "
            f"{parameter('missing', 'impute')} (filled with the mean of the group)"
        )
    if missing == "aside":
        one, many = "record with missing values is", "records with missing values are"
        text = f"{counted(int(any_gap.sum()), one, many)} set aside and not released"
        return ~any_gap, [note("missing-values", text, *gaps)]
    return keep, [
        note("imputed-values", f"missing values are filled with the mean of the group: {columns}", *gaps)
    ]


def read_sample_weights(data: nw.DataFrame, name: str | None) -> np.ndarray | None:
    """How much of the population each record stands for; ``None`` if nobody said."""
    if name is None:
        return None
    attribute = read_attribute(data, name)
    if attribute.missing.any() or (attribute.values < 0).any():
        raise InputError(f"the sample weights in '{name}' must be numbers of 0 or more, without gaps")
    # Only their ratios count. Divided by a power of two they keep every digit, and no product with a value overflows.
    exponent = np.frexp(attribute.values.max(initial=0.0))[1]
    return np.ldexp(attribute.values, -exponent)


def read_attribute_weights(names: Sequence[str], chosen: Mapping[str, float] | None) -> dict[str, float]:
    """The weight of each column in the distance; 1 where none is given."""
    weights = dict.fromkeys(names, 1.0)
    for name, weight in (chosen or {}).items():
        if name not in weights:
            raise unknown("column", name, names, where="among the protected columns")
        weights[name] = number(weight, f"the weight of column '{name}'", least=0.0)
    if not any(weights.values()):
        raise InputError("the weights of the columns are all 0, so no distance is left to group by")
    return weights


def read_strata(data: nw.DataFrame, by: Sequence[str], k: int, keep: np.ndarray) -> list[np.ndarray]:
    """The records of each stratum, in the order in which they appear; an ``InputError`` if some are fewer than k.

    The data are the records to ``keep``; an error numbers them as they came.
    """
    if not by:
        return [np.arange(len(data))]
    found: dict[tuple[str | None, ...], list[int]] = {}
    for row, key in enumerate(zip(*[_texts(data[name]) for name in by], strict=True)):
        found.setdefault(key, []).append(row)
    small = [members for members in found.values() if len(members) < k]
    if small:
        raise InputError(
            f"{len(small)} of {len(found)} strata by {', '.join(by)} have fewer than k = {k} records, the smallest "
            f"{min(map(len, small))}; the first of them is that of record {np.flatnonzero(keep)[small[0][0]] + 1}"
        )
    return [np.array(members) for members in found.values()]


def read_owners(data: nw.DataFrame, unit: str) -> np.ndarray:
    """Whose record each is, numbered as they appear; all records that do not say are somebody's together.

    >>> import polars as pl
    >>> read_owners(nw.from_native(pl.DataFrame({"patient": ["b", "a", None, "b", None]})), "patient").tolist()
    [0, 1, 2, 0, 2]
    """
    numbers: dict[str | None, int] = {}
    return np.array([numbers.setdefault(text, len(numbers)) for text in _texts(data[unit])], dtype=np.int64)


def _texts(column: nw.Series) -> list[str | None]:
    items = zip(column.to_list(), column.is_null().to_list(), strict=True)
    return [None if gone else str(item) for item, gone in items]


def start_labels(start: Any, keep: np.ndarray, groups: int) -> np.ndarray:
    """Labels to begin from, for the records that take part."""
    if groups > 1:
        raise InputError(
            f"a start is a partition for one group of columns; it cannot be used with several {parameter('groups')}"
        )
    labels = np.asarray(start)
    if labels.ndim != 1 or labels.size not in (keep.size, int(keep.sum())):
        raise InputError(
            f"the start has {labels.size} labels, but there are {counted(int(keep.sum()), 'record')}"
        )
    if not np.issubdtype(labels.dtype, np.integer):
        raise InputError("the start must be one whole number per record")
    return labels[keep] if labels.size == keep.size else labels
