"""Counts are whole numbers also where a published table is all that anybody has."""

from itertools import product

import numpy as np
import polars as pl
import pytest
from tests.cli.running import shoal as run

import shoal
from shoal.errors import InputError

# The only way in which a 3 × 3 × 3 table with all of its sums can change in these cells: some by two at a time.
WAY = [-1, 0, 1, 2, 0, -2, -1, 0, 1, 1, -1, 0, -1, 0, 1, 0, 1, -1, 0, 1, -1, -1, 0, 1, 1, -1, 0]


def published(values: np.ndarray) -> pl.DataFrame:
    """All sums of a cube, and its cells but for those that can change."""
    cube = values.reshape(3, 3, 3)
    for axis in range(3):
        cube = np.concatenate([cube, cube.sum(axis, keepdims=True)], axis)
    hidden = np.pad(np.array(WAY).reshape(3, 3, 3) != 0, (0, 1))
    rows = [
        (*("123"[place] if place < 3 else "Total" for place in key), None if hidden[key] else cube[key])
        for key in product(range(4), repeat=3)
    ]
    return pl.DataFrame(rows, schema=["a", "b", "c", "value"], orient="row")


def test_cells_that_can_be_only_one_whole_number_are_given_away() -> None:
    way, verdicts = np.array(WAY), set()
    for seed in range(20):
        rng = np.random.default_rng(seed)
        values = np.where(way == 0, rng.integers(0, 9, 27), rng.integers(1, 3, 27)).astype(float)
        others = [t for t in (-2, -1, 1, 2) if (values + t * way >= 0).all()]
        with pytest.warns(UserWarning):
            found, plain = shoal.audit(published(values), counts=True), shoal.audit(published(values))
        # In fractions all of them can change.
        assert plain.safe and not plain.disclosed.size and not found.disclosed.size
        assert found.safe == bool(others)
        assert len(found.integer) == (0 if others else found.cells.size)
        verdicts.add(found.safe)
    assert verdicts == {True, False}


def test_the_command_says_so(tmp_path) -> None:
    published(np.ones(27)).write_csv(tmp_path / "t.csv")
    told = run("audit", tmp_path / "t.csv", "--counts", "--json", "-o", tmp_path / "i.csv")
    assert told.code == 3 and len(told.json["integer"]) == 18 and told.json["disclosed"] == []
    assert run("audit", tmp_path / "t.csv").code == 0


def test_figures_that_are_no_counts_are_refused_by_their_codes(tmp_path) -> None:
    (tmp_path / "t.csv").write_text("region,a,b\nn,12.75,20\ns,30,40\n")
    (tmp_path / "s.csv").write_text("row,column\nn,b\n")
    shown = "region,sector,value\nn,a,\nn,b,\nn,Total,44.25\ns,a,\ns,b,\ns,Total,60\nTotal,a,50\nTotal,b,\nTotal,Total,\n"
    (tmp_path / "shown.csv").write_text(shown)
    for command in (
        ["suppress", tmp_path / "t.csv", "--sensitive", tmp_path / "s.csv"],
        ["audit", tmp_path / "t.csv", tmp_path / "s.csv", "--sensitive", tmp_path / "s.csv"],
        ["round", tmp_path / "t.csv", "--sensitive", tmp_path / "s.csv", "--base", "5"],
    ):
        told = run(*command, "--counts")
        assert told.code == 2 and "row 1, column 'a' is no whole number" in told.err, command
        assert "leave out --counts" in told.err and "12.75" not in told.err
    told = run("audit", tmp_path / "shown.csv", "--counts")
    assert told.code == 2 and "region 'n', sector 'Total' is no whole number" in told.err
    assert "44.25" not in told.err


def test_published_figures_that_no_whole_numbers_fit_are_refused() -> None:
    """A sum of hidden cells that are at least one and a half each."""
    frame = pl.DataFrame({"a": ["x", "y", "Total"], "value": [None, None, 3.0]})
    with pytest.raises(InputError, match="no whole numbers were found"):
        shoal.audit(frame, counts=True, low=1.2)


def test_a_table_that_hides_nothing_is_refused_alone_and_judged_beside_others(tmp_path) -> None:
    (tmp_path / "t.csv").write_text("a,value\nx,1\ny,2\ntotal,3\n")
    alone = run("audit", tmp_path / "t.csv", "--counts")
    assert alone.code == 2 and "the table itself hides none" in alone.err
    (tmp_path / "o.csv").write_text("a,value\nx,\ny,\ntotal,3\n")
    both = run("audit", tmp_path / "t.csv", "--counts", "--beside", tmp_path / "o.csv", "--json")
    assert both.code == 3 and both.json["together"][0]["exact"] == 2, both.err
