"""The register of releases: a second one of the same records must be meant, and a repetition need not be."""

import json
import stat
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.release.plans import SURVEY, people, survey

import shoal
from shoal.release.register.register import REGISTER, Entry, Register, Traces, content_digest

PLAIN = """\
[release]
name = "plain"
[sources.people]
data = "people.csv"
roles = {name = "identifier", age = "quasi-identifier"}
[[steps]]
do = "drop"
columns = ["name", "pay"]
[outputs]
"people.csv" = "drop"
"""


def test_a_second_release_must_be_meant(tmp_path: Path):
    plan = survey(tmp_path)
    first = shoal.release(plan, tmp_path / "first")
    place = tmp_path / REGISTER
    assert stat.S_IMODE(place.stat().st_mode) == 0o600
    with pytest.raises(shoal.InputError, match=r"released before, in 'first' .* with another secret"):
        shoal.release(plan, tmp_path / "second")
    plan.write_text(SURVEY.replace("change = 0.2", "change = 0.3"))
    with pytest.raises(shoal.InputError, match=r"no repetition of 'first' .* the settings are others"):
        shoal.release(plan, tmp_path / "second", repeat=first.folder)
    assert sorted(path.name for path in tmp_path.iterdir() if "second" in path.name) == []
    shoal.release(plan, tmp_path / "second", another=True)
    assert [entry.folder for entry in Register(place).entries()] == ["first", "second"]
    plan.write_text(SURVEY)
    # A repetition is one, whatever else was released of the same people.
    third = shoal.release(plan, tmp_path / "third", repeat=first.folder)
    assert not [text for text in third.warnings if "repetition" in text]
    for file in ("survey.csv", "matrices.json"):
        assert (third.folder / "public" / file).read_bytes() == (first.folder / "public" / file).read_bytes()


def test_a_repetition_and_other_records_need_no_confirmation(tmp_path: Path):
    plan = survey(tmp_path, PLAIN)
    first = shoal.release(plan, tmp_path / "first")
    shoal.release(plan, tmp_path / "again", repeat=first.folder)
    # Nothing in this plan is drawn, so that another secret gives the same.
    shoal.release(plan, tmp_path / "fresh")
    people(seed=1).write_csv(tmp_path / "people.csv")
    plan.write_text(PLAIN.replace(', "pay"', ""))
    shoal.release(plan, tmp_path / "other")
    assert len(Register(tmp_path / REGISTER).entries()) == 4


def test_records_are_known_in_another_order_and_format(tmp_path: Path):
    plan = survey(tmp_path, PLAIN)
    shoal.release(plan, tmp_path / "first")
    frame = pl.read_csv(tmp_path / "people.csv")
    frame.reverse().select(reversed(frame.columns)).write_parquet(tmp_path / "people.parquet")
    plan.write_text(PLAIN.replace('"people.csv"\nroles', '"people.parquet"\nroles').replace(', "pay"', ""))
    with pytest.raises(shoal.InputError, match="released before, in 'first'"):
        shoal.release(plan, tmp_path / "second")


def test_nothing_in_it_can_be_guessed(tmp_path: Path):
    plan = survey(tmp_path)
    done = shoal.release(plan, tmp_path / "out")
    text = (tmp_path / REGISTER).read_text()
    secret = (done.folder / "internal" / "secret.txt").read_text().split()[2]
    digest = content_digest(pl.read_csv(tmp_path / "people.csv"))
    assert secret not in text and digest not in text
    assert set(json.loads(text)) == {"note", "key", "releases"}


def test_a_damaged_one_is_refused(tmp_path: Path):
    plan = survey(tmp_path, PLAIN)
    (tmp_path / REGISTER).write_text('{"releases": [{"folder": 1}]}')
    with pytest.raises(shoal.InputError, match=r"register of releases .* cannot be read"):
        shoal.release(plan, tmp_path / "out")


texts = st.text("abc", max_size=3)
traces = st.builds(Traces, st.frozensets(texts, min_size=1, max_size=3), texts, texts)


@given(traces, traces)
def test_entries_know_what_they_are_of(one: Traces, two: Traces):
    entry = Entry.of(one, "a", "now")
    assert entry.has_records_of(two) == bool(one.inputs & two.inputs)
    assert entry.is_like(two) == ((one.settings, one.secret) == (two.settings, two.secret))
