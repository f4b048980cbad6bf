"""Sums of decimals come out as decimals, and nothing else is touched."""

import warnings
from decimal import Decimal

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cli.running import shoal as command

from shoal import InputError
from shoal.tables.api import suppress
from shoal.tables.model.decimals import exact_sums, places, units
from shoal.tables.model.table import Table
from shoal.tables.model.tabulation import tabulate


@settings(max_examples=80, deadline=None)
@given(st.lists(st.integers(-(10**9), 10**9), min_size=1, max_size=60), st.integers(0, 6))
def test_sums_are_those_of_exact_arithmetic(numbers: list[int], count: int) -> None:
    texts = [str(Decimal(unit).scaleb(-count)) for unit in numbers]
    values = np.array([float(text) for text in texts])
    assert places(values) <= count
    exact = float(sum(map(Decimal, texts)))
    whole, scale = units(values)
    assert whole.sum() / scale == exact and (whole / scale == values).all()
    noise = values.size * 2.3e-16 * np.abs(values).sum()
    if noise < 0.2 * 10.0**-count:
        assert exact_sums(np.array([values.sum()]), values)[0] == exact


@settings(max_examples=80, deadline=None)
@given(st.lists(st.floats(-1e9, 1e9, allow_subnormal=False), min_size=1, max_size=40))
def test_nothing_changes_by_more_than_noise(values: list[float]) -> None:
    array = np.array(values)
    plain = array.sum()
    whole, scale = units(array)
    assert abs(whole.sum() / scale - plain) <= 1e-9 * np.abs(array).sum()
    assert abs(exact_sums(np.array([plain]), array)[0] - plain) <= 1e-9 * np.abs(array).sum()


def test_sums_that_floating_point_cannot_settle_are_left_alone() -> None:
    parts = np.array([0.1] * 10 + [1e15])
    assert units(parts)[0] is parts
    sums = np.array([parts.sum()])
    assert exact_sums(sums, parts) is sums
    thirds = np.full(7, 1 / 3)
    sums = np.array([thirds.sum()])
    assert exact_sums(sums, thirds) is sums


@pytest.mark.parametrize("weight", [None, "w"])
def test_published_tables_of_records_show_decimals(weight: str | None) -> None:
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(
        {
            "a": [f"a{i}" for i in rng.integers(0, 4, 500)],
            "b": [f"b{i}" for i in rng.integers(0, 4, 500)],
            "v": rng.lognormal(5, 2, 500).round(1),
            "w": rng.choice([1.0, 1.5, 2.25], 500),
        }
    )
    made = tabulate(frame, ["a", "b"], value="v", weight=weight)
    most = 1 if weight is None else 3
    for column in (made.table.values, made.contributions.amount):
        assert all(Decimal(repr(float(x))).as_tuple().exponent >= -most for x in column)
    rows = made.table.values.reshape(5, 5)
    exact = [[Decimal(repr(float(x))) for x in row] for row in rows]
    assert all(sum(row[1:]) == row[0] for row in exact)
    assert all(sum(column[1:]) == column[0] for column in zip(*exact, strict=True))
    odd = tabulate(frame.with_columns(w=pl.Series(rng.random(500))), ["a", "b"], value="v", weight="w")
    odd.table.check()


def test_many_records_do_not_bring_the_noise_back() -> None:
    cents = np.random.default_rng(1).integers(1, 10**8, 100_000)
    frame = pl.DataFrame({"a": ["x", "y"] * 50_000, "b": ["p"] * 50_000 + ["q"] * 50_000, "v": cents / 100})
    made = tabulate(frame, ["a", "b"], value="v", rules=["frequency(2)"])
    assert made.table.values[0] == int(cents.sum()) / 100


def test_totals_and_costs_of_a_matrix_are_decimals() -> None:
    matrix = [[10.1, 20.2, 30.3], [40.4, 50.5, 60.6], [70.7, 80.8, 90.9]]
    assert Table.from_matrix(matrix).values[-1] == 454.5
    found = suppress(np.array(matrix), sensitive=[("2", "2")])
    assert found.cost == found.bound == 70.7


@pytest.mark.parametrize("large", [1.7e308, -1.7e308])
def test_values_too_large_to_compute_with_are_refused_in_one_line(large, tmp_path):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(InputError):
            Table.from_matrix([[large, 2.0], [3.0, 4.0]])
        with pytest.raises(InputError):
            Table.from_relations([large, 1.0], [[(0, -1.0), (1, 1.0)]], {"cell": np.array(["a", "b"])})
    (tmp_path / "records.csv").write_text(f"area,sector,value\na,x,{large}\na,y,2\nb,x,3\nb,y,4\n")
    (tmp_path / "table.csv").write_text(f"area,x,y\na,{large},2\nb,3,4\n")
    (tmp_path / "cells.csv").write_text("row,column\na,y\n")
    (tmp_path / "table.jj").write_text(
        f"0\n3\n0 {large} 1 u -1e9 1e9 1 1 0\n1 2 1 s 0 9 0 0 0\n2 2 1 s 0 9 0 0 0\n1\n0 3 : 0 (-1) 1 (1) 2 (1)\n"
    )
    for asked in (
        ["tabulate", tmp_path / "records.csv", "--dimensions", "area,sector", "--value", "value"],
        ["suppress", tmp_path / "table.csv", "--sensitive", tmp_path / "cells.csv"],
        ["suppress", tmp_path / "table.jj"],
    ):
        told = command(*asked, "--json")
        assert told.code == 2 and told.json["kind"] == "input", told
        assert "Warning" not in told.err
