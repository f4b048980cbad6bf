"""``shoal risk`` on the command line: figures, gates, the file of risks, and what is shown of anybody."""

from pathlib import Path

import polars as pl
import pytest
from tests.cli.running import shoal

SURVEY = pl.DataFrame(
    {
        "age": [31, 31, 47, 52, 52, 60] * 4 + [77],
        "sex": [*"ffmffm"] * 4 + ["x"],
        "town": [*"abcabc"] * 4 + ["zulu"],
        "w": [50.0, 50.0, 80.0, 20.0, 20.0, 10.0] * 4 + [30.0],
        "h": [*range(12)] * 2 + [99],
    }
)


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.chdir(tmp_path)
    SURVEY.write_csv("survey.csv")
    return "survey.csv"


KEYS = ["--quasi", "age,sex,town"]
WEIGHTS = ["--sample-weights", "w"]


def test_the_figures_of_the_contract(data: str) -> None:
    found = shoal("risk", data, *KEYS, *WEIGHTS, "--household", "h", "--json").json
    wanted = (
        "records uniques pairs expected_persons expected_households largest_risk population_uniques loglinear"
    )
    assert set(wanted.split()) <= set(found)
    assert (found["records"], found["uniques"], found["pairs"]) == (25, 1, 0)
    assert set(found["population_uniques"]) == {"zayatz", "pitman"}
    assert set(found["loglinear"]) == {"main", "two_way"}
    assert {"tau1", "tau2"} <= set(found["loglinear"]["main"])
    assert found["expected_persons"] >= found["expected_reidentifications"] > found["expected_households"] > 0
    assert found["respondents_known"]["largest_risk"] == 1.0
    assert found["riskiest"][0]["record"] == 25
    assert set(found["worth"]) == {
        *("latent_classes", "individual", "sample", "zayatz", "pitman", "main", "two_way")
    }
    for name, source in (("prosecutor", "sample"), ("journalist", "latent classes")):
        own = found[name]
        assert own["source"] == source and own["largest_risk"] <= own["largest_risk_interval"][1] <= 1.0
        low, high = own["expected_matches_interval"]
        assert low <= own["expected_matches"] <= high
    assert found["prosecutor"]["largest_risk"] == 1.0
    first = found["riskiest"][0]
    assert first["risk_interval"][0] <= first["risk"] <= first["risk_interval"][1]
    alone = shoal("risk", data, *KEYS, *WEIGHTS, "--json").json
    assert alone["expected_households"] is None
    assert alone["expected_persons"] == alone["expected_reidentifications"]


def test_gates_judge_by_the_upper_end_of_the_interval(data: str) -> None:
    figures = shoal("risk", data, *KEYS, *WEIGHTS, "--json").json["estimates"]
    unknown = {name: value for name, value in figures.items() if name != "respondents known"}
    (worst,) = unknown.values()
    hidden = [*KEYS, *WEIGHTS, "--respondents", "unknown"]
    assert shoal("risk", data, *hidden, "--require-reidentifications", worst * 1.001).code == 0
    refused = shoal(
        "risk", data, *hidden, "--require-reidentifications", worst * 0.999, "--risks", "risks.csv"
    )
    assert refused.code == 3 and "correct matches are expected" in refused.err
    assert not Path("risks.csv").exists()
    known = shoal("risk", data, *KEYS, *WEIGHTS, "--require-reidentifications", worst * 1.001)
    assert known.code == 3 and "respondents known" in known.err and "--respondents unknown" in known.err


def test_the_gate_of_the_largest_risk(data: str) -> None:
    hidden = [*KEYS, *WEIGHTS, "--respondents", "unknown"]
    largest = shoal("risk", data, *hidden, "--json").json["journalist"]["largest_risk_interval"][1]
    assert shoal("risk", data, *hidden, "--require-risk", largest).code == 0
    assert shoal("risk", data, *hidden, "--require-risk", largest * 0.99).code == 3
    assert shoal("risk", data, *KEYS, *WEIGHTS, "--require-risk", "0.9").code == 3
    SURVEY.with_columns(h=pl.Series([*range(24), 0])).write_csv("together.csv")
    hidden += ["--household", "h"]
    together = shoal("risk", "together.csv", *hidden, "--require-risk", largest)
    own = shoal("risk", "together.csv", *hidden, "--json").json["journalist"]
    joint = own["largest_household_risk_interval"][1]
    assert joint > own["largest_risk"] and together.code == (3 if joint > largest else 0)
    refused = shoal("risk", "together.csv", *hidden, "--require-risk", joint * 0.99)
    assert refused.code == 3 and f"largest risk may be {joint:.6g}" in refused.err


def test_a_refusal_advises_only_what_would_let_it_pass(data: str) -> None:
    whole = shoal("risk", data, *KEYS, "--require-risk", "0.5")
    assert whole.code == 3 and "--respondents" not in whole.err
    strict = shoal("risk", data, *KEYS, *WEIGHTS, "--require-risk", "0.5", "--require-reidentifications", "0")
    assert strict.code == 3 and "--respondents" not in strict.err
    many = ["--population", "100000"]
    highest = shoal("risk", data, *KEYS, *many, "--json").json["journalist"]["largest_risk_interval"][1]
    assert highest < 0.999
    passing = shoal("risk", data, *KEYS, *many, "--require-risk", highest * 1.001)
    assert passing.code == 3 and "--respondents unknown" in passing.err


def test_the_file_of_risks_holds_every_record(data: str) -> None:
    assert shoal("risk", data, *KEYS, *WEIGHTS, "--household", "h", "--risks", "risks.csv").code == 0
    found = pl.read_csv("risks.csv")
    assert found.columns == [
        "record",
        "sample_count",
        "population_count",
        "risk",
        "risk_low",
        "risk_high",
        "individual_risk",
        "household_risk",
        "note",
    ]
    assert found["record"].to_list() == list(range(1, 26))
    assert found["sample_count"].to_list() == [4] * 24 + [1]
    assert found["population_count"].to_list() == [4 * weight for weight in SURVEY["w"][:24]] + [30.0]
    assert (found["household_risk"] >= found["individual_risk"] * (1 - 1e-12)).all()


def test_values_are_shown_on_request_alone(data: str) -> None:
    plain = shoal("risk", data, *KEYS, *WEIGHTS, "--report", "plain.html")
    shown = shoal("risk", data, *KEYS, *WEIGHTS, "--show-values", "--report", "shown.html")
    assert "zulu" not in plain.out and "zulu" in shown.out
    assert "zulu" not in Path("shown.html").read_text()
    refused = shoal("risk", data, *KEYS, "--show-values", "--riskiest", "0")
    assert refused.code == 2 and "--riskiest" in refused.err


def test_a_population_file_is_counted(data: str) -> None:
    pl.concat([SURVEY] * 3).write_csv("people.csv")
    found = shoal("risk", data, *KEYS, "--population-file", "people.csv", "--json").json
    assert found["basis"] == "population" and found["population"] == 75
    assert found["expected_persons"] == pytest.approx(25 / 3 * 7 / 25)
    assert found["population_uniques"] == {"counted": 0.0}
    assert shoal("risk", "people.csv", *KEYS, "--population-file", data).code == 2
    assert "--population " in shoal("risk", data, *KEYS, "--population", "9").err
