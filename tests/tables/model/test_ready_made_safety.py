"""Ready-made tables: nothing that the file tells of contributors, states and totals is lost or counted twice."""

from contextlib import suppress
from pathlib import Path

import polars as pl
import pytest

import shoal
from shoal.cli.main import main
from shoal.errors import InputError

ROWS, COLUMNS = ["r1", "r2", "r3"], ["c1", "c2", "c3"]
INNER = {("r1", "c1"): (50, 50, 0, 1), ("r2", "c2"): (60, 60, 0, 1), ("r1", "c2"): (100, 30, 30, 4)}
INNER |= {("r2", "c1"): (110, 30, 30, 4)}
FULL = {(row, column): INNER.get((row, column), (1000, 300, 300, 4)) for row in ROWS for column in COLUMNS}


@pytest.fixture
def two_alone() -> pl.DataFrame:
    """Two cells of one contributor lie diagonally: in a rectangle of four each firm computes the other."""
    lines = []
    for row in [*ROWS, "Total"]:
        for column in [*COLUMNS, "Total"]:
            mine = [FULL[key] for key in FULL if row in (key[0], "Total") and column in (key[1], "Total")]
            tops = sorted((amount for item in mine for amount in item[1:3]), reverse=True)
            total, count = sum(item[0] for item in mine), sum(item[3] for item in mine)
            lines.append((row, column, total, *tops[:2], count, "u" if count == 1 else "s"))
    return pl.DataFrame(lines, schema=["R", "C", "TOT", "MAX", "MAX2", "N", "ST"], orient="row")


def test_a_cell_that_is_its_largest_contribution_has_one_contributor(two_alone) -> None:
    settings = {"value": "TOT", "largest_columns": ["MAX", "MAX2"], "rules": ["p-percent(10)"]}
    told = shoal.tabulate(two_alone, ["R", "C"], contributors_column="N", **settings)
    seen = shoal.tabulate(two_alone, ["R", "C"], **settings)
    assert len(seen.sole_contributors()) == len(told.sole_contributors()) == 2
    assert shoal.suppress(seen).cost == shoal.suppress(told).cost


def test_insiders_survive_a_list_of_cells_without_rules(two_alone, tmp_path: Path) -> None:
    source, cells = tmp_path / "st.csv", tmp_path / "cells.csv"
    two_alone.write_csv(source)
    columns = ["--dimensions", "R,C", "--value", "TOT", "--contributors-column", "N", "--status-column", "ST"]
    for arguments in (
        ["suppress", str(source), *columns, "-o", str(tmp_path / "direct.csv")],
        ["tabulate", str(source), *columns, "-o", str(cells)],
        ["suppress", str(cells), "-o", str(tmp_path / "by_file.csv")],
    ):
        with suppress(SystemExit):
            main(arguments)
    direct, by_file = (pl.read_csv(tmp_path / name) for name in ("direct.csv", "by_file.csv"))
    assert sorted(direct.rows()) == sorted(by_file.rows())
    assert direct.height == 6


@pytest.mark.parametrize("total", ["T", "Gesamt", "0"])
def test_totals_among_records_are_found_by_their_sums(total: str) -> None:
    lines = []
    for year in (2020, 2021):
        for act in ("A", "B", "C"):
            parts = [(f"s{size}", 10.0 * ord(act) + 7.0 * size + year) for size in (1, 2, 3)]
            lines += [(year, act, size, amount) for size, amount in parts]
            lines.append((year, act, total, sum(amount for _, amount in parts)))
    rows = pl.DataFrame(lines, schema=["YEAR", "ACT", "SIZE", "TOT"], orient="row")
    with pytest.raises(InputError, match="'SIZE' has a total among its records"):
        shoal.tabulate(rows, ["ACT", "SIZE"], value="TOT")
    shoal.tabulate(rows, ["ACT", "SIZE"], value="TOT", source="records")
    without = rows.filter(pl.col("SIZE") != total)
    assert shoal.tabulate(without, ["ACT", "SIZE"], value="TOT").table.cells == 16


def test_states_that_overrule_a_rule_or_hide_already_are_told(two_alone) -> None:
    states = two_alone.with_columns(
        ST=pl.when((pl.col("R") == "r1") & (pl.col("C") == "c1")).then(pl.lit("p")).otherwise(pl.lit("s"))
    )
    states[1, "ST"] = "m"
    made = shoal.tabulate(
        states,
        ["R", "C"],
        value="TOT",
        contributors_column="N",
        status_column="ST",
        rules=["frequency(3)"],
    )
    assert any("1 cell that a rule calls sensitive: published" in note for note in made.notes)
    assert any("1 cell is marked as hidden already" in note for note in made.notes)
