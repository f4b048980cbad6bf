"""K over the declared quasi-identifiers and over all that could be known, and drafts that mind both."""

import datetime
import html
import json
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.cli.running import shoal as command
from tests.release.plans import SURVEY, survey

import shoal
from shoal.release.plan.draft import draft_plan
from shoal.release.verify.public import counted_k


def persons(folder: Path, records: int = 240) -> Path:
    rng = np.random.default_rng(1)
    born = [
        datetime.date(1940, 1, 1) + datetime.timedelta(days=int(day))
        for day in rng.integers(0, 22000, records)
    ]
    frame = pl.DataFrame(
        {
            "name": [f"Person {number}" for number in range(records)],
            "household": np.repeat(np.arange(records // 2), 2),
            "birth_date": born,
            "age": [2026 - day.year for day in born],
            "sex": rng.choice(["f", "m"], records),
            "income": np.round(rng.lognormal(8, 0.5, records), 2),
            "weight": np.round(rng.uniform(50, 200, records), 3),
        }
    )
    frame.write_csv(folder / "people.csv")
    return folder / "people.csv"


@pytest.fixture(scope="module")
def drafted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A draft for people with a time of birth, an age, households and weights."""
    folder = tmp_path_factory.mktemp("drafted")
    text = draft_plan(str(persons(folder)), folder=folder)
    (folder / "plan.toml").write_text(text)
    return folder / "plan.toml"


def test_a_draft_speaks_of_weights_and_of_births_beside_ages(drafted: Path):
    text = drafted.read_text()
    assert "# Column 'weight' goes out as it is" in text
    assert 'name = "births"\ncolumns = ["birth_date"]' in text and 'quasi = ["age", "sex"]' in text
    told = command("release", drafted, "--dry-run", "--json").json
    assert any("'weight' (weight) as it is" in warning for warning in told["warnings"])


def test_the_report_tells_both_ks_and_the_draft_passes_its_gates(drafted: Path):
    done = shoal.release(drafted, drafted.parent / "out")
    report = html.unescape((done.folder / "internal" / "report.html").read_text())
    frame = pl.read_csv(done.folder / "public" / "data.csv")
    ks = [counted_k(frame, keys) for keys in (["age", "sex"], ["age", "sex", "income", "weight"])]
    assert ks[0] >= 5 and ks[1] == 1
    assert (
        f"K of 'data.csv' is {ks[0]} over the declared quasi-identifiers age, sex, and 1 over everything"
        in report
    )
    assert "also income, weight" in report
    guaranteed = json.loads((done.folder / "public" / "manifest.json").read_text())["guarantees"][0]
    assert "the declared quasi-identifiers age, sex; other columns are not counted" in guaranteed
    # A later step drops the households; a needless warning is better than a lost one.
    assert [text for text in done.warnings if "household" in text]


def test_a_household_that_is_released_is_told(tmp_path: Path):
    text = draft_plan(str(persons(tmp_path)), folder=tmp_path)
    kept = text.replace(
        'name = "households"\ncolumns = ["household"]', 'name = "households"\ncolumns = ["income"]'
    )
    kept = kept.replace('columns = ["income"]\nk = 5', 'columns = ["weight"]\nk = 5')
    (tmp_path / "plan.toml").write_text(kept)
    done = shoal.release(tmp_path / "plan.toml", tmp_path / "out")
    assert [text for text in done.warnings if "'household'" in text and "is released" in text]


def test_weights_that_many_share_are_not_told(tmp_path: Path):
    plan = survey(tmp_path, SURVEY.replace('job = "confidential"', 'job = "confidential"\nwave = "weight"'))
    pl.read_csv(tmp_path / "people.csv").with_columns(wave=pl.lit(2.5)).write_csv(tmp_path / "people.csv")
    told = command("release", plan, "--dry-run", "--json").json
    assert told["warnings"] == []


def test_the_report_holds_what_every_report_does(drafted: Path):
    done = shoal.release(drafted, drafted.parent / "again", another=True)
    report = html.unescape((done.folder / "internal" / "report.html").read_text())
    for words in ("What the figures mean", "gate on k", "Information loss", "(default)"):
        assert words.lower() in report.lower(), words
    for step in ("03-recode", "05-microaggregate"):
        assert f"steps/{step}/report.html" in report
        assert (done.folder / "internal" / "steps" / step / "report.html").exists()
