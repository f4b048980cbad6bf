"""Texts of a release that somebody edited: what is guaranteed, and reports."""

import json
import shutil
from pathlib import Path

import pytest
from tests.release.plans import survey

import shoal


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("made")
    return shoal.release(survey(folder), folder / "out").folder


@pytest.fixture
def copied(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "out"))


def failing(folder: Path) -> set[str]:
    return {check.name for check in shoal.verify_release(folder).checks if check.passed is False}


def test_guarantees_are_those_of_the_figures(copied: Path):
    public = copied / "public"
    assert failing(public) == set() and failing(copied) == set()
    (noted,) = [check for check in shoal.verify_release(public).checks if "cannot be checked" in check.detail]
    assert noted.passed is None and "1 other" in noted.detail
    place = public / "manifest.json"
    content = json.loads(place.read_text())
    assert content["guarantees"][0].startswith("survey.csv: at least 4 records share")
    assert not [text for text in content["guarantees"] if "lost" in text]
    for edited in (
        [text.replace("at least 4 records", "at least 50 records") for text in content["guarantees"]],
        content["guarantees"][1:],
        [*content["guarantees"], content["guarantees"][0].replace("survey", "more")],
    ):
        place.write_text(json.dumps({**content, "guarantees": edited}))
        assert failing(public) == {"guarantees"}


@pytest.mark.parametrize("file", ["report.html", "steps/02-recode/report.html"])
def test_reports_are_those_that_were_written(copied: Path, file: str):
    place = copied / "internal" / file
    text = place.read_text()
    place.write_text(text.replace("</body>", "<p>signed</p></body>"))
    assert failing(copied) == {"reports"}
    place.unlink()
    assert failing(copied) == {"reports"}
