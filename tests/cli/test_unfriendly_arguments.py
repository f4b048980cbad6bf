"""Arguments nobody means well with: names a terminal would obey, numbers beyond all memory, names too long for a file."""

import re

import polars as pl
import pytest
from tests.cli.running import shoal

from shoal.cli.output import harmless

NAMES = ("\x1b[31mred", "bell\x07", "back\x08", "rtl\u202etxt", "\u2066isolated", "\x9bcsi")


@pytest.mark.parametrize("name", NAMES)
def test_a_terminal_shows_names_and_obeys_none(name, tmp_path):
    path = tmp_path / "people.csv"
    pl.DataFrame({name: [1.5, 2.5, 3.5, 4.5], "x": [1, 2, 5, 7], "sex": [*"ffmm"]}).write_csv(path)
    for arguments in (
        ["anonymity", path, "--quasi", f"no {name}"],
        ["microaggregate", path, "-k", 2, "--columns", name, "--method", "mdav"],
        ["group", path, "-k", 2, "--columns", f"{name},x", "--iterations", 1],
        ["compare", path, path, "--paired-by-position", "--columns", name],
    ):
        told = shoal(*arguments)
        assert harmless(name) in told.out + told.err
        assert name not in told.out + told.err


def test_only_what_a_terminal_obeys_is_escaped():
    for text in ("naïve", "列名", "🐟", "two\nlines", "a b", "e\u0301"):
        assert harmless(text) == text


@pytest.mark.parametrize(
    "arguments",
    [
        ["people", "--population", 10**30],
        ["people", "--max-age", 10**30],
        ["people", "--tables", 2**63],
        ["slots", "--tables", 2**63],
        ["slots", "--number", 10**12],
        ["slots", "--persons", "1" * 40],
        ["slots", "--max-capacity", 10**30],
        ["table", "--rows", 10**9, "--columns", 2],
        ["table", "--rows", -1],
    ],
)
def test_more_than_can_be_made_is_refused_at_once(arguments, tmp_path):
    told = shoal("generate", *arguments, "-o", tmp_path / "out.csv")
    assert told.code == 2 and "must be" in told.err
    assert list(tmp_path.iterdir()) == []


def test_more_tables_than_there_can_be_are_refused_at_once(tmp_path):
    for command in (["anonymity"], ["assign", "--update"]):
        told = shoal(*command, tmp_path / "people.csv", "--quasi", "a", "--tables", 10**9)
        assert told.code == 2 and re.search("tables must be (1 to|at most) 10,000", told.err)


def test_a_name_too_long_for_a_file_is_bad_input(tmp_path):
    for arguments in (
        ["anonymity", "x" * 300 + ".csv", "--quasi", "a"],
        ["generate", "people", "-o", "x" * 300 + ".csv"],
    ):
        told = shoal(*arguments)
        assert told.code == 2 and told.err.count("\n") == 1, told


@pytest.mark.parametrize("place", [".", "", "/"])
def test_a_folder_is_no_place_for_a_table(place):
    told = shoal("generate", "table", "-o", place)
    assert told.code == 2 and told.err.count("\n") == 1, told
