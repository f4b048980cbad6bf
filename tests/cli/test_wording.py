"""Messages say what a newcomer needs: which file, how many, and what was set aside."""

import polars as pl
import pytest
from tests.cli.running import shoal

from shoal import InputError, sources
from shoal.sources.address import parse


@pytest.fixture
def gaps(tmp_path):
    path = tmp_path / "gaps.csv"
    path.write_text("x,y\n" + "1,\n" * 20 + "2,3\n4,5\n")
    return path


def test_too_few_records_says_how_many_were_set_aside(gaps):
    told = shoal("microaggregate", gaps, "-k", 5, "--columns", "x,y", "--missing", "aside")
    assert told.code == 2
    assert "k is 5, but there are only 2 records; 20 others with missing values are set aside" in told.err


def test_one_record_is_one_record(tmp_path):
    path = tmp_path / "one.csv"
    path.write_text("x,y\n1,\n" + "".join(f"{n},{n * n}\n" for n in range(12)))
    told = shoal("microaggregate", path, "-k", 3, "--columns", "x,y")
    assert told.code == 2 and "1 record has missing values" in told.err
    told = shoal("microaggregate", path, "-k", 3, "--columns", "x,y", "--missing", "aside")
    assert "1 record with missing values is set aside and not released" in told.err
    told = shoal("group", path, "-k", 3, "--columns", "x,y", "--iterations", 3)
    assert "note: 1 record with missing values is left out of the search" in told.err
    path.write_text("x,y\n1\n")
    assert "has 1 field, its header has 2" in shoal("group", path, "-k", 3).err


@pytest.mark.parametrize("place", ["out.xlsx::", "out.xlsx::answers", "out.csv::answers"])
def test_a_sheet_of_an_output_is_left_out(place, gaps, tmp_path):
    told = shoal("microaggregate", gaps, "-k", 2, "--columns", "x", "-o", tmp_path / place)
    assert told.code == 2
    assert f"leave out ::{place.partition('::')[2]}" in told.err and "SHEET" not in told.err
    assert not list(tmp_path.glob("out*"))


def test_a_device_is_said_to_be_one(gaps):
    told = shoal("microaggregate", gaps, "-k", 2, "--columns", "x", "-o", "/dev/null")
    assert told.code == 2
    assert "'/dev/null' is a device or a pipe, not a file" in told.err and "ending" not in told.err
    with pytest.raises(InputError, match="device"):
        parse("/dev/null")


def test_notes_on_reading_are_notes_and_name_their_file(tmp_path):
    before, after = tmp_path / "before.csv", tmp_path / "after.csv"
    for path in (before, after):
        path.write_text("a;x\n" + "".join(f"v{n % 2};{n % 5}\n" for n in range(20)))
    told = shoal("compare", before, after, "--columns", "x", "--paired-by-position")
    lines = [line for line in told.err.splitlines() if "guessed" in line]
    assert lines == [f"note: {path}: separator ';' (guessed)" for path in (before, after)]
    for command in (
        ["microaggregate", before, "-k", 2, "--columns", "x"],
        ["anonymity", before, "--quasi", "a"],
        ["tabulate", before, "--dimensions", "a", "-o", tmp_path / "table.csv"],
    ):
        told = shoal(*command)
        assert "note: separator ';' (guessed)" in told.err.splitlines(), told.err
        assert "guessed" not in shoal(*command, "--quiet").err


def test_rounding_is_no_change_of_a_mean(tmp_path):
    path, out = tmp_path / "data.csv", tmp_path / "safe.csv"
    frame = pl.DataFrame(
        {"x": [0.1 * n for n in range(40)], "y": [((n * 7) % 40 - 19.5) / 3 for n in range(40)]}
    )
    sources.write(frame, path)
    told = shoal("microaggregate", path, "-k", 3, "--columns", "x,y", "-o", out, "--json")
    assert told.code == 0
    told = shoal("compare", path, out, "--columns", "x,y", "--paired-by-position", "--json")
    text = shoal("compare", path, out, "--columns", "x,y", "--paired-by-position").out
    assert [column["il2"] for column in told.json["attributes"]] == [0.0, 0.0]
    assert "e-1" not in text
