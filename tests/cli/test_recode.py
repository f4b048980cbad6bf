"""``shoal recode`` on the command line: fields, exit codes, files."""

import stat
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.cli.running import shoal

FIELDS = {
    *(
        "method",
        "k",
        "k_release",
        "records",
        "suppressed_records",
        "suppressed_cells",
        "loss",
        "bound",
        "optimal",
    ),
    *("levels", "nodes", "stopped_by", "seconds"),
}


@pytest.fixture
def data(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    frame = pl.DataFrame(
        {
            "age": rng.integers(20, 80, 200),
            "sex": rng.choice(["f", "m"], 200),
            "town": rng.choice(["aa", "ab", "ba"], 200),
            "illness": rng.choice(["x", "y", "z"], 200),
        }
    )
    frame.write_csv(tmp_path / "d.csv")
    return tmp_path / "d.csv"


def test_the_fields_of_the_contract_are_there(data: Path) -> None:
    out = data.with_name("safe.csv")
    found = shoal(
        "recode", data, "--quasi", "age,sex,town", "-k", 4, "--suppress", "0.05", "--json", "-o", out
    )
    assert found.code == 0 and set(found.json) >= FIELDS
    released = pl.read_csv(out)
    assert released.group_by("age", "sex", "town").len()["len"].min() == found.json["k_release"] >= 4
    assert released.height == found.json["records"]


def test_mapping_links_and_report_are_written(data: Path) -> None:
    names = {option: data.with_name(option) for option in ("mapping", "record-links", "report")}
    options = [part for option, place in names.items() for part in (f"--{option}", place)]
    wanted = ["--method", "lattice", "--explain", "-o", data.with_name("safe.csv")]
    assert shoal("recode", data, "--quasi", "age,sex", "-k", 4, *wanted, *options).code == 0
    for option in ("mapping", "record-links"):
        assert stat.S_IMODE(names[option].stat().st_mode) == 0o600
    assert "Why this recoding" in names["report"].read_text(encoding="utf-8")
    again = shoal(
        "recode",
        data,
        "--quasi",
        "age,sex",
        "-k",
        4,
        "--apply",
        names["mapping"],
        "--json",
        "-o",
        data.with_name("2.csv"),
    )
    assert again.code == 0
    assert data.with_name("2.csv").read_text() == data.with_name("safe.csv").read_text()


def test_a_gate_that_is_not_met_leaves_nothing(data: Path) -> None:
    out = data.with_name("safe.csv")
    found = shoal(
        "recode", data, "--quasi", "age,sex", "-k", 4, "--method", "lattice", "--levels", "age=0", "-o", out
    )
    assert found.code == 3 and "%" in found.err and not out.exists()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--model", "distinct(3)"], "no confidential column"),
        (["--hierarchy", "age=nowhere.csv"], "nowhere.csv"),
        (["--quasi", "agee"], "did you mean 'age'"),
        (["--levels", "age=1.5"], "--levels"),
        (["-k", "201"], "only 200 records"),
        (["--suppress", "2"], "--suppress"),
        (["--method", "latice"], "did you mean 'lattice'"),
        (["-suppress", "0.1"], "No such option: -suppress; did you mean --suppress?"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(data: Path, options: list[str], words: str) -> None:
    given = {"--quasi": "age,sex", "-k": "4", options[0]: options[1]}
    found = shoal("recode", data, *(part for option in given.items() for part in option))
    assert found.code == 2 and words in found.err


def test_models_and_hierarchy_files(data: Path) -> None:
    towns = data.with_name("towns.csv")
    towns.write_text("aa;a;*\nab;a;*\nba;b;*\n")
    wanted = ["--hierarchy", f"town={towns}", "--confidential", "illness", "--model", "distinct(2)", "--json"]
    found = shoal("recode", data, "--quasi", "age,sex,town", "-k", 3, "--suppress", "0.1", *wanted)
    assert found.code == 0
    assert found.json["models"] == [
        {"model": "distinct(2)", "column": "illness", "worst": found.json["models"][0]["worst"]}
    ]
    assert found.json["models"][0]["worst"] >= 2
    assert found.json["rules"]["town"] == "file towns.csv"


def test_the_methods_are_listed_without_data_or_keys(data: Path) -> None:
    found = shoal("recode", "--method", "list")
    assert found.code == 0 and "local-suppression" in found.out
    missing = shoal("recode", data)
    assert missing.code == 2 and "--quasi must be given" in missing.err


def test_models_beside_the_population_and_of_the_average_are_told(data: Path) -> None:
    wanted = ["--model", "k-map(3)", "--model", "average-risk(0.2)", "--population-file", data, "--json"]
    found = shoal(
        "recode", data, "--quasi", "age,sex", "-k", 2, "--method", "lattice", "--suppress", "0.2", *wanted
    )
    told = {one["model"]: one["worst"] for one in found.json["models"]}
    assert told["k-map(3)"] >= 3
    assert told["average-risk(0.2)"] == pytest.approx(found.json["average_risk"])


def test_levels_by_hand_are_not_called_the_best(data: Path) -> None:
    found = shoal(
        "recode", data, "--quasi", "age,sex", "-k", 2, "--method", "lattice", "--levels", "age=5", "--json"
    )
    assert found.json["optimal"] is False and found.json["bound"] is None


def test_what_holds_by_wildcards_only_is_refused_until_it_is_accepted(tmp_path: Path) -> None:
    rng = np.random.default_rng(3)
    people = pl.DataFrame({key: rng.choice(list("xyz"), 60) for key in "abcd"})
    people.write_csv(tmp_path / "d.csv")
    out = tmp_path / "safe.csv"
    words = ["recode", tmp_path / "d.csv", "--quasi", "a,b,c,d", "-k", 3, "--method", "local-suppression"]
    words += ["--null", "wildcard", "-o", out]
    refused = shoal(*words)
    assert refused.code == 3 and not out.exists()
    assert "--accept-wildcard" in refused.err
    page = tmp_path / "report.html"
    found = shoal(*words, "--accept-wildcard", "--json", "--report", page)
    assert found.code == 0 and out.exists()
    assert found.json["accept_wildcard"] and found.json["k_strict"] < 3 <= found.json["k_release"]
    assert "k holds by wildcards only" in page.read_text(encoding="utf-8")
    # The same gate stands before what somebody else blanked.
    released = pl.read_csv(out, infer_schema=False).with_columns(pl.all().replace("*", None))
    released.write_csv(tmp_path / "gaps.csv")
    measured = [
        "anonymity",
        tmp_path / "gaps.csv",
        "--quasi",
        "a,b,c,d",
        "--null",
        "wildcard",
        "--require-k",
        3,
    ]
    assert shoal(*measured).code == 3
    assert shoal(*measured, "--accept-wildcard", "--json").json["k_strict"] < 3
    risk = ["risk", tmp_path / "gaps.csv", "--quasi", "a,b,c,d", "--null", "wildcard", "--require-risk", 1]
    assert (shoal(*risk).code, shoal(*risk, "--accept-wildcard").code) == (3, 0)


def test_records_with_every_key_blank_are_counted(tmp_path: Path) -> None:
    people = pl.DataFrame({"age": [31, 31, 31, 47, 62], "sex": ["f", "f", "f", "m", "f"], "pay": range(5)})
    people.write_csv(tmp_path / "d.csv")
    words = ["recode", tmp_path / "d.csv", "--quasi", "age,sex", "-k", 2, "-o", tmp_path / "safe.csv"]
    page = tmp_path / "report.html"
    words += ["--method", "local-suppression"]
    refused = shoal(*words)
    assert refused.code == 3 and "--suppress" in refused.err and not (tmp_path / "safe.csv").exists()
    starred = ["--suppress", 0.4, "--keep-suppressed"]
    found = shoal(*words, *starred, "--json", "--report", page).json
    released = pl.read_csv(tmp_path / "safe.csv", infer_schema=False)
    blank = released.filter((pl.col("age") == "*") & (pl.col("sex") == "*")).height
    assert found["blank_records"] == blank == 2
    assert found["blank_people"] + found["suppressed_people"] == 2
    assert "records with every key blank" in page.read_text(encoding="utf-8")
    words = [
        "recode",
        tmp_path / "d.csv",
        "--quasi",
        "age,sex",
        "-k",
        2,
        "--keep-suppressed",
        "--suppress",
        0.5,
    ]
    told = shoal(*words, "--method", "lattice", "--levels", "age=0,sex=0")
    assert "records with every key blank" in told.out and "2 of those released" in told.out


@pytest.mark.parametrize("method", ["auto", "local", "local-suppression"])
def test_a_mapping_that_may_not_exist_is_refused_before_the_data_are_read(data: Path, method: str) -> None:
    data.write_bytes(b"\xff\xfe no data")
    words = ["recode", data, "--quasi", "age,sex", "-k", 4, "-o", data.with_name("safe.csv")]
    found = shoal(*words, "--mapping", data.with_name("m.json"), "--method", method)
    assert found.code == 2 and "--method lattice" in found.err


def test_closeness_names_its_reference_and_anonymity_can_take_the_same(tmp_path: Path) -> None:
    shares = [("m", "x", 20), ("m", "y", 20), ("f", "x", 8), ("f", "y", 2), ("u", "x", 4)]
    rows = [(sex, ill) for sex, ill, number in shares for _ in range(number)]
    original, out = tmp_path / "d.csv", tmp_path / "safe.csv"
    pl.DataFrame(rows, schema=["sex", "ill"], orient="row").write_csv(original)
    models = ["--quasi", "sex", "--confidential", "ill", "--model", "closeness(0.22)"]
    words = [
        "-k",
        5,
        "--suppress",
        0.1,
        "--method",
        "lattice",
        "--hierarchy",
        "sex=star",
        "-o",
        out,
        "--json",
    ]
    found = shoal("recode", original, *models, *words).json
    assert found["suppressed_records"] == 4
    assert found["models"][0]["reference"] == "all 54 records of the data, 4 records left out included"
    assert any("released records alone it does not" in text for text in found["warnings"])
    alone = shoal("anonymity", out, *models, "--require-models", "--json")
    assert alone.code == 3 and alone.json["models"][0]["reference"] == "all 50 records of this table"
    same = shoal("anonymity", out, *models, "--require-models", "--reference", original, "--json")
    assert same.code == 0
    assert same.json["models"][0]["worst"] == pytest.approx(found["models"][0]["worst"])
    lacking = tmp_path / "lacking.csv"
    pl.DataFrame({"sex": ["m"], "ill": ["x"]}).write_csv(lacking)
    assert shoal("anonymity", out, *models, "--reference", lacking).code == 2
