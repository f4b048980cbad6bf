"""The keys of every record as small numbers, and the classes of records that share them all."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

from shoal.errors import InputError
from shoal.microdata.risk import keys_kernels

# Whole numbers that lie closer than this are numbered through a table, others through a join.
_LEAST_SPAN = 1024
# A table of so many places for each record is quicker than hashing.
_TABLE_PLACES = 8
_LARGEST_PACKED = 2**62


@dataclass(frozen=True, eq=False)
class Coded:
    """One column as numbers from 0 on; a missing value has the number ``missing`` (−1 if there is none)."""

    codes: np.ndarray
    size: int
    missing: int = -1

    @property
    def values(self) -> int:
        """How many different values there are, the missing one left out."""
        return self.size - (self.missing >= 0)


@dataclass(frozen=True, eq=False)
class Groups:
    """Records that are equal: the group ``of_record``, and the ``first`` record of each group."""

    of_record: np.ndarray
    first: np.ndarray

    @property
    def number(self) -> int:
        """How many groups there are."""
        return int(self.first.size)

    def sums(self, amounts: np.ndarray) -> np.ndarray:
        """The sum of an amount over each group, of the type of the amounts."""
        sums = np.zeros(self.number, dtype=amounts.dtype)
        keys_kernels.add_up(self.of_record, amounts, sums)
        return sums


def code_columns(
    frames: Sequence["nw.DataFrame[Any]"], name: str, other: str = "the population"
) -> tuple[list[np.ndarray], Coded]:
    """A column that several frames have, numbered alike in all: the numbers of each frame, and of all in a row.

    >>> frame = nw.from_native(pl.DataFrame({"sex": ["f", "m", None, "f"]}))
    >>> parts, coded = code_columns([frame], "sex")
    >>> coded.size, coded.values, bool(parts[0][0] == parts[0][3])
    (3, 2, True)
    """
    coded = code_values(_in_a_row(frames, name, other), name)
    ends = np.cumsum([len(frame) for frame in frames])[:-1]
    return np.split(coded.codes, ends), coded


def _in_a_row(frames: Sequence["nw.DataFrame[Any]"], name: str, other: str) -> pl.Series:
    """The column of all frames one after the other, as Polars holds it; null for what is missing."""
    if all(frame.implementation.is_pandas_like() for frame in frames):
        # Pandas knows how to compare what one of its columns holds.
        import pandas as pd

        columns = [frame.to_pandas()[name] for frame in frames]
        native = columns[0] if len(columns) == 1 else pd.concat(columns, ignore_index=True)
        try:
            codes, _ = native.factorize()
        except TypeError:
            raise InputError(f"column '{name}' holds values that cannot be compared, such as lists") from None
        numbers = pl.Series(name, codes)
        return numbers.set(numbers < 0, None) if (codes < 0).any() else numbers
    try:
        whole = pl.concat(
            [frame.get_column(name).to_polars().to_frame() for frame in frames], how="vertical_relaxed"
        )[name]
    except (pl.exceptions.PolarsError, TypeError, ValueError):
        raise InputError(f"column '{name}' is not of the same type in the data and in {other}") from None
    if whole.dtype == pl.Object or whole.dtype.is_nested():
        raise InputError(f"column '{name}' holds values that cannot be compared, such as lists")
    return whole.fill_nan(None) if whole.dtype.is_float() else whole


def code_values(column: pl.Series, name: str) -> Coded:
    """Number the values of one column.

    >>> coded = code_values(pl.Series([1990, None, 1985]), "born")
    >>> coded.codes.tolist(), coded.size, coded.missing
    ([1, 2, 0], 3, 2)
    """
    gaps = column.null_count()
    if gaps == len(column):
        return Coded(np.zeros(len(column), dtype=np.int32), 1, 0)
    codes = np.empty(len(column), dtype=np.int32)
    small = _whole_numbers(column)
    if small is None:
        small = _joined(column)
    values, low, high = small
    # Polars lends some arrays and gives others away; machine code is made for each kind by itself.
    values.flags.writeable = False
    size = int(keys_kernels.dense_codes(values, low, high - low + 1, codes))
    if not gaps:
        return Coded(codes, size)
    # Missing values were filled with one that occurs, so no number is wasted on them.
    codes[column.is_null().to_numpy()] = size
    return Coded(codes, size + 1, size)


def _whole_numbers(column: pl.Series) -> tuple[np.ndarray, int, int] | None:
    """Whole numbers that lie close together, with the least and the largest; gaps are filled with the least."""
    kind = column.dtype
    if kind == pl.Boolean:
        column = column.cast(pl.Int8)
    elif kind.is_temporal() or kind in (pl.Categorical, pl.Enum):
        column = column.to_physical()
    elif not kind.is_integer():
        return None
    low, high = column.min(), column.max()
    assert isinstance(low, int) and isinstance(high, int)
    if high - low >= max(_LEAST_SPAN, 2 * len(column)) or abs(low) >= 2**62 or abs(high) >= 2**62:
        return None
    if column.null_count():
        column = column.fill_null(low)
    return column.cast(pl.Int64).to_numpy(), low, high


def _joined(column: pl.Series) -> tuple[np.ndarray, int, int]:
    """Other values, numbered by their first appearance; gaps get the first number."""
    frame = column.to_frame("value")
    try:
        different = frame.unique(maintain_order=True).drop_nulls().with_row_index("number")
        numbers = frame.join(different, on="value", how="left", maintain_order="left")["number"]
    except pl.exceptions.PolarsError:
        # Not chained: the text may quote values of the data.
        raise InputError(f"column '{column.name}' holds values that cannot be compared") from None
    return numbers.fill_null(0).cast(pl.Int64).to_numpy(), 0, different.height - 1


def group(columns: Sequence[np.ndarray], sizes: Sequence[int]) -> Groups:
    """The groups of records that are equal in all columns, numbered by first appearance.

    >>> groups = group([np.array([0, 1, 0]), np.array([2, 2, 2])], [2, 3])
    >>> groups.of_record.tolist(), groups.first.tolist()
    ([0, 1, 0], [0, 1])
    """
    records = columns[0].size
    packed, cells = np.zeros(records, dtype=np.int64), 1
    for codes, size in zip(columns, sizes, strict=True):
        if cells * size >= _LARGEST_PACKED:
            # As many numbers as there are groups so far leave room for further columns.
            groups = _numbered(packed, cells)
            packed, cells = groups.of_record.astype(np.int64), groups.number
        keys_kernels.add_digit(packed, codes, size)
        cells *= size
    return _numbered(packed, cells)


def _numbered(packed: np.ndarray, cells: int) -> Groups:
    of_record = np.empty(packed.size, dtype=np.int32)
    first = np.empty(packed.size, dtype=np.int32)
    if cells <= max(_LEAST_SPAN, _TABLE_PLACES * packed.size):
        number = keys_kernels.group_by_table(packed, cells, of_record, first)
    else:
        bits = max(4, int(packed.size).bit_length() + 1)
        number = keys_kernels.group_by_hash(packed, bits, of_record, first)
    return Groups(of_record, first[:number].copy())


def warm_up() -> None:
    """Compile the kernels."""
    codes = code_values(pl.Series([3, 1, None]), "any").codes
    group([codes, codes], [3, 3]).sums(np.ones(3))
    group([codes] * 3, [2**30, 2**30, 2**30]).sums(np.ones(3, dtype=np.int64))
