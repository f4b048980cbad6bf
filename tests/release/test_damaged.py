"""Every file of a release counts: one that is lost, cut or changed is found by whoever checks it, and told in words."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from tests.release.examples import example
from tests.release.firms import TURNOVER, turnover
from tests.release.plans import SURVEY, survey

import shoal

_WITH_UNITS = SURVEY.replace('sex = "quasi-identifier"', 'sex = "quasi-identifier"\njob = "unit"').replace(
    'job = "confidential"\n', ""
)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Releases of records, of a table as text, of the same and a workbook, and of appointments."""
    places = {name: tmp_path_factory.mktemp(name) for name in ("records", "table", "book", "appointments")}
    book = TURNOVER.replace(
        '"turnover.csv" = "suppress"', '"turnover.csv" = "suppress"\n"book.xlsx" = "suppress"'
    )
    plans = {
        "records": survey(places["records"]),
        "table": turnover(places["table"], TURNOVER),
        "book": turnover(places["book"], book),
        "appointments": example("screening", places["appointments"]),
    }
    folders = {name: shoal.release(plan, places[name] / "out").folder for name, plan in plans.items()}
    assert all(shoal.verify_release(folder).verified for folder in folders.values())
    return folders


def _lost(place: Path) -> None:
    place.unlink()


def _emptied(place: Path) -> None:
    place.write_bytes(b"")


def _cut(place: Path) -> None:
    content = place.read_bytes()
    place.write_bytes(content[: len(content) // 2])


def _led_astray(place: Path) -> None:
    place.unlink()
    place.symlink_to(place.with_name("nowhere"))


def _found(folder: Path) -> bool:
    try:
        return not shoal.verify_release(folder).verified
    except shoal.InputError:
        return True


@pytest.mark.parametrize("damage", [_lost, _emptied, _cut, _led_astray])
@pytest.mark.parametrize("name", ["records", "table", "book", "appointments"])
def test_a_damaged_file_is_found(
    made: dict[str, Path], tmp_path: Path, name: str, damage: Callable[[Path], None]
):
    # A workbook is read in a process of its own: of that release, only what the others do not have is damaged.
    files = [path for path in sorted(made[name].rglob("*.xlsx" if name == "book" else "*")) if path.is_file()]
    assert files
    unnoticed = []
    for path in files:
        place = path.relative_to(made[name])
        copied = Path(shutil.copytree(made[name], tmp_path / "copied"))
        damage(copied / place)
        if not _found(copied):
            unnoticed.append(place.as_posix())
        shutil.rmtree(copied)
    assert unnoticed == []


def test_appointments_that_were_changed_are_found(made: dict[str, Path], tmp_path: Path):
    """Two people who exchanged their slots: nothing but the file itself tells."""
    copied = Path(shutil.copytree(made["appointments"], tmp_path / "copied"))
    place = copied / "internal" / "appointments.csv"
    people = pl.read_csv(place, infer_schema=False)
    people.with_columns(slot=people["slot"].reverse()).write_csv(place)
    found = shoal.verify_release(copied)
    assert found.failures == ("kept files: 'appointments.csv' is not what was written with the release",)


def test_what_came_later_is_not_in_the_way(made: dict[str, Path], tmp_path: Path):
    copied = Path(shutil.copytree(made["records"], tmp_path / "copied"))
    signed = copied / "internal" / "signed.pdf"
    signed.write_bytes(b"by hand")
    signed.chmod(0o600)
    assert shoal.verify_release(copied).verified


@pytest.mark.parametrize("keys", [["height"], ["age", "sex", "region", "height"], []])
def test_k_over_columns_that_are_not_there_is_not_guaranteed(
    made: dict[str, Path], tmp_path: Path, keys: list[str]
):
    copied = Path(shutil.copytree(made["records"] / "public", tmp_path / "public"))
    place = copied / "manifest.json"
    content = json.loads(place.read_text())
    old = ", ".join(content["outputs"][0]["quasi"])
    content["outputs"][0]["quasi"] = keys
    content["guarantees"] = [text.replace(old, ", ".join(keys)) for text in content["guarantees"]]
    place.write_text(json.dumps(content))
    assert [check.name for check in shoal.verify_release(copied).checks if check.passed is False] == ["k"]


def test_a_record_less_where_people_have_several(tmp_path: Path):
    folder = shoal.release(survey(tmp_path, _WITH_UNITS.replace("k = 4", "k = 2")), tmp_path / "out").folder
    place = folder / "public" / "survey.csv"
    pl.read_csv(place)[:-1].write_csv(place)
    assert {"hash", "record links"} <= {
        check.name for check in shoal.verify_release(folder).checks if check.passed is False
    }
