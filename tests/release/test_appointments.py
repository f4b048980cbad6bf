"""Appointments in a plan: slots are read as the manual lets people name them, and seats that are taken are not given again."""

from pathlib import Path

import polars as pl
import pytest

import shoal

_PLAN = """\
[release]
name = "screening"
[sources.people]
data = "people.csv"
roles = {born = "quasi-identifier"}
[sources.slots]
data = "slots.csv"
[[steps]]
do = "assign"
people = "people"
slots = "slots"
quasi = ["born"]
[gates.assign]
k = 2
[internal]
"appointments.csv" = "assign"
"""


def _screening(folder: Path, text: str = _PLAN) -> Path:
    pl.DataFrame({"born": [1970, 1970, 1980, 1980, 1990, 1990, 1990, 1990]}).write_csv(folder / "people.csv")
    pl.DataFrame(
        {"RESOURCE": ["a", "b", "c"], "CAPACITY": [4, 4, 4], "booked": [0, 1, 2], "centre": ["x", "x", "y"]}
    ).write_csv(folder / "slots.csv")
    plan = folder / "plan.toml"
    plan.write_text(text, encoding="utf-8")
    return plan


@pytest.mark.parametrize(
    ("known", "seen"),
    [
        ("", ["RESOURCE"]),
        ('known = ["centre"]\n', ["centre"]),
        ('known = ["RESOURCE", "centre"]\n', ["RESOURCE"]),
        ("known = []\n", []),
    ],
)
def test_slots_may_be_called_resources(tmp_path: Path, known: str, seen: list[str]):
    text = _PLAN.replace('quasi = ["born"]\n', f'quasi = ["born"]\n{known}')
    done = shoal.release(_screening(tmp_path, text), tmp_path / "out")
    seated = pl.read_csv(done.folder / "internal" / "appointments.csv")
    assert done.gates[0].value == seated.group_by("born", *seen).len()["len"].min()
    assert shoal.verify_release(done.folder, originals=tmp_path).verified


def test_a_booked_seat_is_no_seat(tmp_path: Path):
    """Somebody gives a slot as many people as it has seats, though some are taken."""
    done = shoal.release(_screening(tmp_path), tmp_path / "out")
    place = next(done.folder.glob("internal/steps/01-assign/release.parquet"))
    pl.read_parquet(place).with_columns(RESOURCE=pl.Series(["a"] * 4 + ["b"] * 4)).write_parquet(place)
    found = shoal.verify_release(done.folder, originals=tmp_path)
    assert "seats: 1 slots of step 'assign' have more people than seats" in found.failures


def test_two_columns_that_could_name_a_slot_are_refused(tmp_path: Path):
    plan = _screening(tmp_path)
    people = pl.read_csv(tmp_path / "people.csv").with_columns(slot=pl.lit("none"))
    people.write_csv(tmp_path / "people.csv")
    with pytest.raises(shoal.InputError, match="2 columns could name the slots"):
        shoal.release(plan, tmp_path / "out")
