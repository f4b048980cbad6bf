"""Numbers for values and for combinations: against a dictionary."""

import datetime as dt

import narwhals as nw
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal import InputError
from shoal.microdata.risk import keys_kernels
from shoal.microdata.risk.keys import code_columns, code_values, group

COLUMNS = {
    "whole": pl.Series([5, -3, 5, None, 7]),
    "far apart": pl.Series([5, 2**60, 5, None, -(2**60)]),
    "unsigned": pl.Series([2**64 - 1, 0, 2**64 - 1, None, 3], dtype=pl.UInt64),
    "small": pl.Series([1, 255, 1, None, 0], dtype=pl.UInt8),
    "texts": pl.Series(["a", "", "a", None, "b"]),
    "floats": pl.Series([0.5, float("nan"), 0.5, None, -1.0]),
    "yes or no": pl.Series([True, False, True, None, False]),
    "dates": pl.Series([dt.date(2020, 1, 1), None, dt.date(1900, 1, 1)]),
    "categories": pl.Series(["x", "y", "x", None, "z"], dtype=pl.Categorical),
    "complete": pl.Series(["q", "r", "q"]),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_equal_values_have_equal_numbers(name: str) -> None:
    column = COLUMNS[name]
    frame = nw.from_native(pl.DataFrame({"c": column}))
    (codes,), coded = code_columns([frame], "c")
    values = [None if value != value else value for value in column.to_list()]
    numbers = dict(zip(values, codes.tolist(), strict=True))
    assert [numbers[value] for value in values] == codes.tolist()
    assert sorted(numbers.values()) == list(range(coded.size))
    assert coded.missing == numbers.get(None, -1)
    assert coded.values == len(set(values) - {None})


def test_pandas_columns_of_mixed_values() -> None:
    frame = nw.from_native(pd.DataFrame({"c": [1, "1", None, 1, float("nan")]}))
    (codes,), coded = code_columns([frame], "c")
    assert codes.tolist() == [0, 1, 2, 0, 2] and coded.missing == 2


def test_two_frames_are_numbered_alike() -> None:
    sample = nw.from_native(pl.DataFrame({"c": ["b", None]}))
    people = nw.from_native(pl.DataFrame({"c": ["a", "b", None]}))
    (own, others), coded = code_columns([sample, people], "c")
    assert own.tolist() == others[1:].tolist() and coded.size == 3
    with pytest.raises(InputError, match="not of the same type"):
        code_columns([sample, nw.from_native(pl.DataFrame({"c": [[1], [2], [3]]}))], "c")


def test_what_cannot_be_compared_is_refused() -> None:
    for values in ([[1], [2]], [{"a": 1}, {"a": 2}]):
        with pytest.raises(InputError, match="cannot be compared"):
            code_columns([nw.from_native(pl.DataFrame({"c": values}))], "c")
        with pytest.raises(InputError, match="cannot be compared"):
            code_columns([nw.from_native(pd.DataFrame({"c": values}))], "c")


def test_nothing_but_gaps() -> None:
    coded = code_values(pl.Series([None, None], dtype=pl.Int64), "c")
    assert (coded.codes.tolist(), coded.size, coded.missing, coded.values) == ([0, 0], 1, 0, 0)


@given(
    st.integers(1, 4).flatmap(lambda width: st.lists(st.tuples(*[st.integers(0, 3)] * width), min_size=1)),
    st.sampled_from([4, 2**20, 2**31]),
)
@settings(max_examples=200, deadline=None)
def test_groups_by_a_dictionary(rows: list[tuple[int, ...]], size: int) -> None:
    columns = [np.array(column, dtype=np.int32) for column in zip(*rows, strict=True)]
    found = group(columns, [size] * len(columns))
    first: dict[tuple[int, ...], int] = {}
    for place, row in enumerate(rows):
        first.setdefault(row, place)
    assert found.first.tolist() == list(first.values())
    assert found.of_record.tolist() == [list(first).index(row) for row in rows]
    assert found.sums(np.ones(len(rows))).tolist() == [rows.count(row) for row in first]


@given(st.lists(st.integers(0, 2**62), min_size=1, max_size=300))
@settings(max_examples=100, deadline=None)
def test_hashing_finds_its_place_in_a_full_table(values: list[int]) -> None:
    packed = np.array(values, dtype=np.int64)
    of_record, first = np.empty(packed.size, dtype=np.int32), np.empty(packed.size, dtype=np.int32)
    bits = int(packed.size).bit_length()
    number = keys_kernels.group_by_hash(packed, bits, of_record, first)
    assert number == len(set(values))
    assert packed[first[of_record]].tolist() == values
