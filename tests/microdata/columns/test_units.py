"""Whose the records are: columns that may say it are proposed, never taken, and what is declared is counted."""

import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.cli.running import shoal as command

import shoal
from shoal.microdata.columns.units import possible_units, unit_column

PROPOSED = "looks like the number of a unit"


def stays(patients: int = 80, more: int = 160) -> pl.DataFrame:
    """Stays of patients, each of whom comes several times with the same keys."""
    draw = np.random.default_rng(4)
    patient = np.concatenate([np.arange(patients), draw.integers(0, patients, more)])
    draw.shuffle(patient)
    age, sex = draw.integers(30, 80, patients)[patient], draw.choice(["f", "m"], patients)[patient]
    return pl.DataFrame(
        {
            "patient_id": 5000 + 13 * patient,
            "age": age,
            "sex": sex,
            "minutes": draw.integers(100, 300, patient.size),
        }
    )


def told(result: object) -> list[str]:
    return [str(text) for text in result.warnings if PROPOSED in str(text)]  # type: ignore[attr-defined]


OPERATIONS = {
    "anonymity": lambda frame, **given: shoal.anonymity(frame, ["age", "sex"], **given),
    "recode": lambda frame, **given: shoal.recode(frame, ["age", "sex"], k=3, drop=["patient_id"], **given),
    "microaggregate": lambda frame, **given: shoal.microaggregate(
        frame, k=3, columns=["minutes"], quasi=["minutes"], drop=["patient_id"], **given
    ),
    "compare": lambda frame, **given: shoal.compare(
        frame, frame, columns=["minutes"], paired_by_position=True, **given
    ),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_a_column_whose_values_repeat_is_proposed_until_somebody_says_what_is_counted(name: str) -> None:
    run, frame = OPERATIONS[name], stays()
    (text,) = told(run(frame))
    assert "'patient_id'" in text and "unit='patient_id'" in text and "unit='record'" in text
    assert not told(run(frame, unit="record"))
    assert not told(run(frame, unit="patient_id"))


def test_declared_records_count_as_records_do() -> None:
    frame = stays()
    assert shoal.anonymity(frame, ["sex"], unit="record").vector == shoal.anonymity(frame, ["sex"]).vector
    assert shoal.anonymity(frame, ["sex"], unit="patient_id").units == 80


def test_a_column_of_the_name_record_is_that_column() -> None:
    frame = stays().rename({"patient_id": "record"})
    assert shoal.anonymity(frame, ["sex"], unit="record").units == 80
    assert unit_column("record", frame.columns) == "record"


@pytest.mark.parametrize(
    ("column", "proposed"),
    [
        (pl.Series("MRN", [i // 3 * 7 for i in range(90)]), True),
        (pl.Series("Fallnr", [f"F-{i // 2:04}" for i in range(90)]), True),
        (pl.Series("hid", [i // 3 for i in range(90)]), False),
        (pl.Series("surname", [f"Name{i // 3}" for i in range(90)]), False),
        (pl.Series("email", [f"a{i // 3}@example.org" for i in range(90)]), False),
        (pl.Series("patient_id", range(90)), False),
        (pl.Series("age", [30 + i // 3 for i in range(90)]), False),
    ],
)
def test_what_is_proposed_are_repeated_numbers_that_were_given_out(column: pl.Series, proposed: bool) -> None:
    assert (column.name in possible_units(column.to_frame())) == proposed


def test_commands_name_the_column_and_the_remedy(tmp_path: Path) -> None:
    place = tmp_path / "stays.csv"
    stays().write_csv(place)
    asked = ("anonymity", place, "--quasi", "age,sex")
    assert "--unit patient_id" in command(*asked).err and "--unit record" in command(*asked).err
    assert PROPOSED not in command(*asked, "--unit", "record").err
    assert command(*asked, "--unit", "record", "--json").json["k"] == command(*asked, "--json").json["k"]


@pytest.mark.parametrize("answer", [None, "record", "patient_id"])
def test_a_draft_asks_whose_records_these_are_and_runs_with_either_answer(
    tmp_path: Path, answer: str | None
) -> None:
    stays().write_csv(tmp_path / "stays.csv")
    plan = tmp_path / "plan.toml"
    assert command("plan", tmp_path / "stays.csv", "-o", plan).code == 0
    text = plan.read_text()
    assert "Whose records are these? 'patient_id'" in text and text.count('# unit = "patient_id"') == 2
    if answer is not None:
        text = text.replace('# unit = "patient_id"', f'unit = "{answer}"')
        text = text.replace("linkage = 10", "linkage = 100").replace('method = "lattice"', "")
    if answer == "patient_id":
        text = text.replace('"patient_id" = "identifier"', '"patient_id" = "unit"')
    plan.write_text(text.replace("linkage = 10 ", "linkage = 100 "))
    done = shoal.release(plan, tmp_path / "out")
    released = pl.read_csv(done.folder / "public" / "data.csv")
    assert "patient_id" not in released.columns
    promised = json.loads((done.folder / "public" / "manifest.json").read_text())["guarantees"]
    what = "units" if answer == "patient_id" else "records"
    assert f"at least 5 {what} share every combination" in promised[0]
    assert "people" not in " ".join(promised)
    assert any(PROPOSED in str(warning) for warning in done.warnings) == (answer is None)
    assert shoal.verify_release(done.folder).verified


def test_risk_counts_a_unit_once_for_each_of_its_combinations() -> None:
    frame = stays()
    (text,) = told(shoal.risk(frame, ["age", "sex"]))
    assert "unit='patient_id'" in text and not told(shoal.risk(frame, ["age", "sex"], unit="record"))
    found = shoal.risk(frame, ["age", "sex"], unit="patient_id", population=5000)
    once = shoal.risk(
        frame.unique(["patient_id", "age", "sex"]), ["age", "sex"], unit="record", population=5000
    )
    assert (found.units, found.records, once.records) == (80, frame.height, 80)
    assert (found.k, found.uniques, found.pairs) == (once.k, once.uniques, once.pairs)
    assert found.estimates == pytest.approx(once.estimates) and not told(found)
    with pytest.raises(shoal.InputError, match="does not go with unit"):
        shoal.risk(frame, ["age", "sex"], unit="patient_id", special_uniques=True)
