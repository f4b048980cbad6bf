"""What all commands made from operations share: outputs that fit, limits, warnings in time, and when Ctrl-C keeps something."""

import os
import signal
from pathlib import Path

import polars as pl
import pytest
from tests.cli.running import shoal

from shoal import sources
from shoal.cli import workplace
from shoal.errors import InputError
from shoal.microdata.microaggregation.api import microaggregate
from shoal.web.activities import ACTIVITIES

FRAME = pl.DataFrame(
    {name: [float(i * step % 17) for i in range(24)] for name, step in zip("abcd", (1, 3, 5, 7))}
)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    FRAME.with_columns(region=pl.Series(["n", "s"] * 12)).write_csv(tmp_path / "d.csv")
    return tmp_path / "d.csv"


@pytest.mark.parametrize("groups", ["a,b;c,d", "auto"])
def test_several_groups_have_no_one_list_of_labels(data: Path, groups: str) -> None:
    labels, out = data.with_name("labels.txt"), data.with_name("out.csv")
    wanted = ["--groups", groups, "--by", "region", "--labels", labels, "-o", out, "--method", "mdav"]
    found = shoal("microaggregate", data, "-k", 3, *wanted)
    assert found.code == 2 and "--labels holds one partition" in found.err
    assert not labels.exists() and not out.exists()


def test_groups_are_lists_or_auto() -> None:
    with pytest.raises(InputError, match="'ab'"):
        microaggregate(FRAME, 3, groups="ab")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="groups"):
        ACTIVITIES["microaggregate"].check({"data": "d", "groups": "ab"})


def test_a_star_is_one_group_of_every_numeric_column(data: Path) -> None:
    made = shoal("microaggregate", data, "-k", 3, "--groups", "*", "--method", "mdav", "--json").json
    scored = shoal("group", data, "-k", 3, "--groups", "*", "--json").json
    assert made["groups"] == scored["groups"] == [["a", "b", "c", "d"]]


def test_what_a_reader_says_names_parameters_as_everything_does(tmp_path: Path) -> None:
    place = tmp_path / "records.csv"
    place.write_text("yes,no\nyes,no\nno,yes\n")
    said = sources.read(place).warnings
    assert said and "header_row=" in said[0] and "\ue000" not in said[0]
    assert "--header-row 0" in shoal("anonymity", place, "--quasi", "yes").err


def test_ctrl_c_while_reading_keeps_nothing(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read = sources.read

    def slowly(*arguments: object, **keywords: object) -> object:
        found = read(*arguments, **keywords)
        os.kill(os.getpid(), signal.SIGINT)
        return found

    monkeypatch.setattr(sources, "read", slowly)
    out = data.with_name("out.csv")
    # Whatever started the tests may ignore Ctrl-C.
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        found = shoal("microaggregate", data, "-k", 3, "--columns", "a,b", "--method", "mdav", "-o", out)
    finally:
        signal.signal(signal.SIGINT, before)
    assert found.code == 130 and "nothing was written" in found.err and not out.exists()


def test_limits_of_the_workbench_are_not_those_of_the_command_line(data: Path) -> None:
    weighed = shoal(
        "microaggregate", data, "-k", 3, "--columns", "a,b", "--attribute-weights", "a=0,b=1", "--json"
    )
    assert weighed.code == 0
    assert shoal("compare", data, data, "--paired-by-position", "--seed", 2**60, "--json").code == 0
    with pytest.raises(InputError, match="time limit"):
        ACTIVITIES["microaggregate"].check({"data": "d", "time_limit": 1e8})
    with pytest.raises(InputError, match="rules"):
        ACTIVITIES["suppress"].check({"data": "d", "rules": ["frequency(3)"] * 11})


def test_a_hidden_cell_is_marked_where_nobody_chose_a_symbol() -> None:
    assert ACTIVITIES["suppress"].check({"data": "d"})["symbol"] == "x"


def test_the_place_of_the_report_is_told(data: Path) -> None:
    page = data.with_name("report.html")
    told = shoal("anonymity", data, "--quasi", "region", "--report", page, "--json").json
    assert told["report"] == str(page) and page.is_file()


def test_a_warning_is_said_before_the_work_and_once(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shoal("tabulate", data, "--dimensions", "region", "--value", "a", "-o", data.with_name("cells.csv"))
    for beside in data.parent.glob("cells.contributions*"):
        beside.unlink()
    said: list[str] = []
    warn = workplace.CommandLine.warn
    monkeypatch.setattr(
        workplace.CommandLine, "warn", lambda self, text: (said.append(text), warn(self, text))
    )
    told = shoal("suppress", data.with_name("cells.csv"), "--json")
    assert said and told.err.count("warning:") == len(set(told.json["warnings"])) == len(said)


def test_nothing_known_is_a_choice_where_it_means_something(data: Path) -> None:
    slots = data.with_name("slots.csv")
    slots.write_text("slot,capacity\nx,12\ny,12\n")
    wanted = ["assign", data, slots, "--quasi", "region", "--seed", 1, "--json"]
    assert shoal(*wanted, "--known", "").json["k"] >= shoal(*wanted).json["k"]
    refused = shoal("anonymity", data, "--quasi", "")
    assert refused.code == 2 and "--quasi is empty" in refused.err


def test_a_published_table_is_no_pattern(data: Path) -> None:
    cells, public = data.with_name("cells.csv"), data.with_name("public.csv")
    shoal("tabulate", data, "--dimensions", "region", "--value", "a", "-o", cells)
    shoal("suppress", cells, "-o", data.with_name("pattern.csv"), "--published", public)
    for table in (public, cells):
        found = shoal("audit", cells, table)
        assert found.code == 2 and "it is a table and not a list of its hidden cells" in found.err
    assert shoal("audit", cells, data.with_name("pattern.csv")).code == 0


def test_a_ready_made_table_is_no_pattern_of_itself(data: Path) -> None:
    # All of its cells would be hidden, and so it would be safe.
    table = data.with_name("ready.csv")
    table.write_text("region,N,TOT\nx,1,10\ny,5,20\nz,7,30\nTotal,13,60\n")
    how = ["--dimensions", "region", "--contributors-column", "N"]
    for more in ([], ["--value", "TOT"]):
        found = shoal("audit", table, table, *how, *more)
        assert found.code == 2 and "it is a table and not a list of its hidden cells" in found.err
    hidden = data.with_name("hidden.csv")
    hidden.write_text("region,number\nx,1\ny,2\n")
    assert shoal("audit", table, hidden, *how, "--value", "TOT").code in (0, 3)


def test_a_key_that_is_still_there_is_warned_of(data: Path) -> None:
    named = pl.read_csv(data).with_columns(id=pl.int_range(pl.len()))
    named.write_csv(data.with_name("named.csv"))
    told = shoal("compare", data.with_name("named.csv"), data.with_name("named.csv"), "--key", "id", "--json")
    assert any("key 'id' is in the protected data" in text for text in told.json["warnings"])
    assert "warning: the key 'id'" in told.err
