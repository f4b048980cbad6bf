"""The examples: their data is made, their plans run from end to end, and what they promise is there."""

import json
from pathlib import Path

import polars as pl
import pytest
from tests.release.examples import example

import shoal


@pytest.fixture(name="example")
def _example(tmp_path: Path, request: pytest.FixtureRequest) -> Path:
    return example(request.param, tmp_path).parent


def manifest(folder: Path) -> dict:
    return json.loads((folder / "public" / "manifest.json").read_text())


@pytest.mark.parametrize("example", ["survey"], indirect=True)
def test_a_survey_of_persons(example: Path):
    done = shoal.release(example / "plan.toml", example / "released")
    released = pl.read_csv(done.folder / "public" / "survey.csv")
    assert {"name", "household"}.isdisjoint(released.columns)
    assert shoal.anonymity(released, ["region", "age", "sex", "marital"]).k >= 5
    assert {gate.name for gate in done.gates} == {"k", "loss", "reidentifications"}
    # Two gates ask for K of what is one file; what the step on the way lost is guaranteed of no file.
    assert [text.partition(":")[0] for text in manifest(done.folder)["guarantees"]] == [
        "survey.csv",
        "survey.csv",
    ]
    again = shoal.release(example / "plan.toml", example / "again", repeat=done.folder)
    for file in ("survey.csv", "matrices.json"):
        assert (again.folder / "public" / file).read_bytes() == (done.folder / "public" / file).read_bytes()


@pytest.mark.parametrize("example", ["business"], indirect=True)
def test_turnover_of_firms(example: Path):
    done = shoal.release(example / "plan.toml", example / "released")
    table = pl.read_csv(done.folder / "public" / "turnover.csv", infer_schema=False)
    assert "x" in set(table["value"])
    assert [(gate.name, gate.value) for gate in done.gates] == [("safe", True)]
    again = shoal.release(example / "plan.toml", example / "again", repeat=done.folder)
    for file in ("turnover.csv", "turnover.xlsx"):
        assert (again.folder / "public" / file).read_bytes() == (done.folder / "public" / file).read_bytes()
    # Who contributes what is inside, and not outside.
    firms = pl.read_csv(example / "firms.csv")["firm"].to_list()
    for path in (done.folder / "public").iterdir():
        assert not any(firm.encode() in path.read_bytes() for firm in firms)
    assert (done.folder / "internal" / "pattern.csv").exists()


@pytest.mark.parametrize("example", ["screening"], indirect=True)
def test_a_screening_programme(example: Path):
    done = shoal.release(example / "plan.toml", example / "released")
    plan = pl.read_csv(done.folder / "internal" / "appointments.csv")
    assert plan.height == 60
    assert plan.group_by("slot").len()["len"].max() <= 12
    assert [path.name for path in (done.folder / "public").iterdir()] == ["manifest.json"]
    (gate,) = done.gates
    assert gate.name == "k" and gate.value == min(plan.group_by("born", "quarter", "slot").len()["len"]) >= 2
    found = shoal.verify_release(done.folder, originals=example)
    assert found.verified and {"people", "seats"} <= {check.name for check in found.checks}
    assert [(item.name, item.value) for item in found.gates] == [("k", gate.value)]
    # Somebody who is moved into a full slot is missed, and one who is alone there as well.
    place = next(done.folder.glob("internal/steps/01-*/release.parquet"))
    moved = pl.read_parquet(place)
    full = moved["slot"].value_counts().sort("count")["slot"][-1]
    moved.with_columns(slot=pl.lit(full)).write_parquet(place)
    assert {"seats"} <= {
        check.name
        for check in shoal.verify_release(done.folder, originals=example).checks
        if check.passed is False
    }
    one_moved = pl.concat([moved.head(1).with_columns(slot=pl.lit("S9")), moved.slice(1)])
    one_moved.write_parquet(place)
    assert any("gate 'k'" in line for line in shoal.verify_release(done.folder).failures)
    # Who sits where comes from the secret: another release seats people differently, its repetition does not.
    again = shoal.release(example / "plan.toml", example / "again", repeat=done.folder)
    assert (again.folder / "internal" / "appointments.csv").read_bytes() == (
        done.folder / "internal" / "appointments.csv"
    ).read_bytes()
