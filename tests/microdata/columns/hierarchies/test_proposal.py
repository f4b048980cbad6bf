"""Which hierarchy is proposed for a column, and what a user may give in its place."""

import json
import stat
from datetime import date, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from tests.cli.running import shoal as command

import shoal
from shoal.microdata.columns.hierarchies.hierarchy import Hierarchy, coded, read_values

DRAW = np.random.default_rng(7)
N = 400


def _codes(*starts: str) -> list[str]:
    return [f"{start}{DRAW.integers(0, 10)}{DRAW.integers(0, 10)}" for start in DRAW.choice(starts, N)]


COLUMNS: dict[str, tuple[Any, str, str]] = {
    "age": (DRAW.integers(17, 91, N), "intervals(5,10,20,top=85,numbers=whole,cover=0..119)", "ages: "),
    "alter": (DRAW.integers(0, 99, N).astype(float), "intervals(5,10,20,top=85,numbers=whole,cover=0..119)", "ages: "),
    "edad": ([str(age) for age in DRAW.integers(17, 91, N)], "intervals(5,10,20,top=85,", "ages: "),
    "age_group": (DRAW.choice(["5-9", "10-14", "15-19", "20+"], N), "order", "classes in the order of the numbers"),
    "birth_year": (DRAW.integers(1935, 2006, N), "intervals(5,10,20,bottom=1940,top=200", "years: "),
    "survey_year": (DRAW.integers(2019, 2025, N), "intervals(5,10,numbers=whole,cover=2010..2029)", "years: "),
    "zip": (_codes("101", "102", "20"), "prefix(", "postcodes: "),
    "postcode": (DRAW.integers(1000, 99999, N), "prefix(4,3,2,1,length=5,zeros=yes)", "postcodes: "),
    "nace": (_codes("A", "B", "C"), "prefix(2,1,length=3)", "codes, those that begin alike together"),
    "born": ([date(1950 + n % 60, 1 + n % 12, 1 + n % 28) for n in range(N)],
             "dates(month,quarter,year,decade,bottom=1960", "dates: "),
    "seen": ([datetime(2024, 1 + n % 12, 1, n % 24) for n in range(N)], "dates(day,month,quarter,year,decade)", "dates: "),
    "day": ([f"{1 + n % 28:02}/{1 + n % 12:02}/2024" for n in range(N)],
            "dates(month,quarter,year,decade,form=%d/%m/%Y)", "dates: "),
    "height": (DRAW.normal(170, 9, N).round(1), "intervals(2,10,20,bottom=15", "numbers: "),
    "income": (DRAW.lognormal(9, 1.2, N).round(), "cuts(", "numbers, most of them near one end"),
    "household_size": (DRAW.choice([1, 1, 2, 2, 3, 4, 5, 9], N), "intervals(2,4", "counts: "),
    "sex": (DRAW.choice(["f", "m"], N), "star", "texts without an order"),
    "region": (DRAW.integers(1, 6, N), "star", "numbers of classes"),
    "married": (DRAW.choice([True, False], N), "star", "yes or no"),
    "city": (DRAW.choice(["Bonn", "Köln", "Trier"], N), "star", "texts without an order"),
    "surname": ([f"Name {chr(97 + n % 26)}{n}" for n in range(N)], "star", "a name"),
    "nothing": ([None] * N, "star", "empty"),
}  # fmt: skip


@pytest.mark.parametrize("name", COLUMNS)
def test_what_is_proposed(name: str) -> None:
    values, rule, reason = COLUMNS[name]
    frame = pl.DataFrame({name: list(values)})
    found = shoal.propose_hierarchies(frame, [name])
    told = found.to_dict()["hierarchies"][0]
    assert told["rule"].startswith(rule)
    assert told["reason"].startswith(reason)
    assert told["labels"] == [len(labels) for labels in found[name].labels]
    import narwhals as nw

    leaves = coded(read_values(nw.from_native(frame)[name]), found[name], name)
    assert leaves.size == N


def test_an_order_of_the_type_or_stated_is_used_and_its_values_are_not_told() -> None:
    levels = ["none", "primary", "secondary", "higher"]
    values = ["none", "higher", "primary", None]
    frames = [
        pl.DataFrame({"edu": pl.Series(values, dtype=pl.Enum(levels))}),
        pd.DataFrame({"edu": pd.Categorical(values, categories=levels, ordered=True)}),
    ]
    stated = [{"edu": levels}, "edu=none<primary<secondary<higher"]
    made = [shoal.propose_hierarchies(frame, ["edu"]) for frame in frames]
    made += [
        shoal.propose_hierarchies(pl.DataFrame({"edu": values}), ["edu"], ordinal=order) for order in stated
    ]
    for found in made:
        assert found["edu"].labels[1] == ("none to primary", "secondary to higher", None)
        assert found.rules["edu"] == "order(none<primary<secondary<higher)"
        assert "primary" not in json.dumps(found.to_dict()) + str(found.report().html()) + repr(found)


def test_an_ordinal_column_of_numbers_is_merged_by_its_numbers() -> None:
    found = shoal.propose_hierarchies(pl.DataFrame({"edu": [3, 1, 2, 1] * 20}), ["edu"], ordinal=["edu"])
    assert found["edu"].rows == (("1", "1 to 2", "*"), ("2", "1 to 2", "*"), ("3", "3", "*"))


def test_what_is_given_stands_in_the_place_of_what_suits(tmp_path: Path) -> None:
    frame = pl.DataFrame({"age": [31, 47], "city": ["Bonn", "Trier"], "sex": ["f", None]})
    (tmp_path / "city.csv").write_text("Bonn;north;*\nTrier;south;*\n")
    found = shoal.propose_hierarchies(
        frame,
        ["age", "city", "sex"],
        hierarchies={"age": "intervals(10)", "city": tmp_path / "city.csv", "sex": [["f", "*"], ["m", "*"]]},
    )
    assert found["age"].labels[1] == ("30-39", "40-49")
    assert found["city"].labels[1] == ("north", "south")
    assert found["sex"].leaves == ("f", "m", None)
    assert found.reasons == {
        "age": "as given: intervals of 10",
        "city": "as given: file city.csv",
        "sex": "as given: as given",
    }
    again = shoal.propose_hierarchies(frame, list(found), hierarchies=found)
    assert [again[name].rows for name in again] == [found[name].rows for name in found]


def test_without_columns_those_that_could_be_known_are_taken() -> None:
    frame = pl.DataFrame({"id": range(40), "age": [31, 47] * 20, "income": [x * 1.5 for x in range(40)]})
    assert list(shoal.propose_hierarchies(frame)) == ["age"]
    assert list(shoal.propose_hierarchies(frame, hierarchies={"income": "intervals"})) == ["age", "income"]


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        ({"columns": ["agee"]}, "column 'agee' is not in the data; did you mean 'age'?"),
        ({"columns": ["age", "age"]}, "column 'age' is named twice"),
        ({"columns": []}, "no column looks like something"),
        ({"columns": ["age"], "hierarchies": {"agee": "star"}}, "column 'agee' is not in the data"),
        ({"columns": ["age"], "hierarchies": {"income": "star"}}, "column 'income' is not among the columns"),
        ({"columns": ["age"], "ordinal": ["income"]}, "column 'income' is not among the columns"),
        (
            {"columns": ["age"], "hierarchies": {"age": "dates"}},
            "column 'age': record 1 cannot be placed by 'dates",
        ),
    ],
)
def test_wrong_arguments_are_refused(arguments: dict[str, Any], problem: str) -> None:
    frame = pl.DataFrame({"age": [31, 2047], "income": [1.5, 2.5]})
    with pytest.raises(shoal.InputError) as found:
        shoal.propose_hierarchies(frame, **arguments)
    assert str(found.value).startswith(problem)


def test_nothing_is_refused_in_words() -> None:
    with pytest.raises(shoal.InputError, match="there are no records"):
        shoal.propose_hierarchies(pl.DataFrame({"age": []}), ["age"])
    with pytest.raises(shoal.InputError, match="column 'a' holds lists or records"):
        shoal.propose_hierarchies(pl.DataFrame({"a": [[1], [2]]}), ["a"])
    found = shoal.propose_hierarchies(pl.DataFrame({"a": ["", None, "x"]}), ["a"])
    with pytest.raises(shoal.InputError, match="column 'a' has an empty text or the word NULL"):
        found.files()


@pytest.fixture
def survey(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    frame = pl.DataFrame(
        {
            "age": DRAW.integers(17, 91, 60),
            "zip/code": DRAW.choice(["10115", "10117", "20095"], 60),
            "day": [f"{1 + n % 28:02}.{1 + n % 12:02}.2024" for n in range(60)],
            "edu": DRAW.choice(["zqlow", "zqmid", "zqhigh"], 60),
        }
    )
    frame.write_csv("survey.csv")
    return tmp_path


def test_the_command_writes_files_that_are_read_as_hierarchies(survey: Path) -> None:
    order = "edu=zqlow<zqmid<zqhigh"
    told = command(
        "hierarchy",
        "survey.csv",
        "--columns",
        "age,zip/code,day,edu",
        "--ordinal",
        order,
        "-o",
        "h",
        "--json",
    )
    assert told.code == 0, told.err
    figures = json.loads(told.out)
    assert [item["column"] for item in figures["hierarchies"]] == ["age", "zip/code", "day", "edu"]
    assert "zq" not in told.out + told.err
    assert sorted(path.name for path in Path("h").iterdir()) == [
        "age.csv",
        "day.csv",
        "edu.csv",
        "rules.txt",
        "zip_code.csv",
    ]
    assert {stat.S_IMODE(path.stat().st_mode) for path in Path("h").iterdir()} == {0o600}
    assert "order(zqlow<zqmid<zqhigh)" in Path("h/rules.txt").read_text()
    given = [f"{item['column']}=h/{item['column'].replace('/', '_')}.csv" for item in figures["hierarchies"]]
    options = [part for text in given for part in ("--hierarchy", text)]
    again = command("hierarchy", "survey.csv", *options, "--columns", "age,zip/code,day,edu", "--json")
    assert again.code == 0, again.err
    for before, after in zip(figures["hierarchies"], json.loads(again.out)["hierarchies"], strict=True):
        assert before["labels"] == after["labels"]
    refused = command("hierarchy", "survey.csv", "--columns", "age", "-o", "h")
    assert refused.code == 2 and "exists already" in refused.err


def test_rules_of_the_file_build_the_same_again(survey: Path) -> None:
    assert command("hierarchy", "survey.csv", "--columns", "age,zip/code,day", "-o", "h").code == 0
    rules = [line for line in Path("h/rules.txt").read_text().splitlines() if not line.startswith("#")]
    options = [part for text in rules for part in ("--hierarchy", text)]
    assert (
        command("hierarchy", "survey.csv", "--columns", "age,zip/code,day", *options, "-o", "again").code == 0
    )
    for path in Path("h").iterdir():
        assert (Path("again") / path.name).read_bytes() == path.read_bytes()


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("age=intervals(5,12)", "column 'age': the hierarchy: the widths of 'intervals' must be multiples"),
        ("age=h.csv", "column 'age': the hierarchy 'h.csv' is not there"),
        ("age", "--hierarchy needs COLUMN=FILE or COLUMN=RULE, not 'age'"),
        (
            "edu=intervals(5)",
            "column 'edu': 60 records (the first is record 1) cannot be placed by 'intervals(5",
        ),
    ],
)
def test_the_command_refuses_in_one_line(survey: Path, text: str, problem: str) -> None:
    told = command("hierarchy", "survey.csv", "--columns", "age,edu", "--hierarchy", text)
    assert told.code == 2
    assert told.err.splitlines()[-1].startswith(f"shoal: {problem}")


def test_a_hierarchy_is_found_again_in_a_frame_without_a_header() -> None:
    from shoal.microdata.columns.hierarchies.as_hierarchy import from_frame

    read = pl.read_csv(b"31,30-39,*\n38,30-39,*\n47,40-49,*\n")
    assert from_frame(read).rows == (("31", "30-39", "*"), ("38", "30-39", "*"), ("47", "40-49", "*"))
    assert isinstance(from_frame(read), Hierarchy)


def test_where_most_have_one_value_the_others_say_how_wide_classes_are() -> None:
    losses = [0] * 380 + list(range(1000, 3000, 100))
    found = shoal.propose_hierarchies(pl.DataFrame({"capital_loss": losses}), ["capital_loss"])
    assert found.rules["capital_loss"] == "intervals(100,500,1000,bottom=100,top=2000,numbers=whole)"
    assert found["capital_loss"].labels[2][:2] == ("<100", "1000-1099")


def test_a_few_numbers_that_are_codes_are_not_cut() -> None:
    found = shoal.propose_hierarchies(
        pl.DataFrame({"walls": [2, 3, 9, 3] * 50, "key": [11, 12, 13, 20] * 50})
    )
    assert found.rules == {"walls": "star", "key": "star"}


def test_hierarchies_that_are_no_mapping_are_refused() -> None:
    with pytest.raises(shoal.InputError, match="hierarchies= must say for columns what they have"):
        shoal.propose_hierarchies(pl.DataFrame({"age": [1]}), ["age"], hierarchies="age=star")  # type: ignore[arg-type]


def test_what_a_file_of_spss_calls_ordinal_is_merged_by_neighbours(tmp_path: Path) -> None:
    pyreadstat = pytest.importorskip("pyreadstat")
    frame = pd.DataFrame({"edu": [1.0, 2, 3, 4] * 20, "sex": [1.0, 2] * 40})
    pyreadstat.write_sav(frame, tmp_path / "s.sav", variable_measure={"edu": "ordinal", "sex": "nominal"})
    for more in ([], ["--columns", "edu,sex"]):
        told = command("hierarchy", tmp_path / "s.sav", *more, "--json")
        figures = json.loads(told.out)["hierarchies"]
        assert [item["rule"] for item in figures] == ["order", "star"]


@pytest.mark.parametrize(
    ("name", "values", "rule", "reason"),
    [
        ("age", [30, 31], "intervals(5,10,20,top=85,", "ages: "),
        ("age", [30, 31, 32] * 100, "intervals(5,10,20,top=85,", "ages: "),
        ("age", [1, 2, 3, 4] * 100, "star", "classes of ages without an order"),
        ("zip", list(range(2010, 2031)), "prefix(", "postcodes: "),
        ("municipality", list(range(2010, 2031)), "prefix(", "codes: "),
        ("year", [2020, 2021], "intervals(5,10,", "years: "),
        ("year", [2010, 2030], "intervals(5,10,20,numbers", "years: "),
        ("year_code", list(range(1990, 2031)) * 3, "intervals(", "years: "),
        ("x", list(range(1990, 2031)) * 3, "intervals(", "years: "),
    ],
)
def test_the_name_of_a_column_counts_where_values_are_few_or_look_like_something_else(
    name: str, values: list[int], rule: str, reason: str
) -> None:
    told = shoal.propose_hierarchies(pl.DataFrame({name: values}), [name]).to_dict()["hierarchies"][0]
    assert told["rule"].startswith(rule)
    assert told["reason"].startswith(reason)


def test_no_label_comes_from_the_largest_value() -> None:
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(
        {
            "age": rng.choice([17.5, 22, 27, 32, 37, 42], 2000, p=[0.02, 0.28, 0.3, 0.17, 0.1, 0.13]),
            "children": rng.choice([0, 1, 2, 3, 4, 5.5], 2000),
            "score": rng.choice(np.arange(0, 101, 5), 2000),
        }
    )
    found = {one.column: one for one in shoal.propose_hierarchies(frame).proposals}
    for name, proposal in found.items():
        largest = frame[name].max()
        ends = {f">={largest:g}", f"<{frame[name].min():g}"}
        assert not ends & {label for level in proposal.hierarchy.labels for label in level}, proposal.rule
