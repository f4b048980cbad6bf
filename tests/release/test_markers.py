"""What is confidential or names somebody is in no byte outside the release: not in messages, registers, sweeps, refused runs."""

import json
import tempfile
from pathlib import Path

import polars as pl
import pytest
from tests.cli.running import shoal as command
from tests.release.examples import example

from shoal import sources

#: Parts of values that stand nowhere else: texts, and the digits of numbers.
NAMES, SECRETS, DIGITS = "Zqname", "Zqsecret", 7318204


def marked(name: str, place: Path) -> list[Path]:
    """The data of an example with markers in it; the files that hold it."""
    if name == "survey":
        file = place / "survey.csv"
        frame = pl.read_csv(file)
        frame.with_columns(
            name=pl.format(f"{NAMES}{{}}", pl.int_range(pl.len())),
            diagnosis=pl.format(f"{SECRETS}{{}}", pl.col("diagnosis")),
            income=pl.when(pl.int_range(pl.len()) == 0).then(DIGITS).otherwise("income"),
        ).write_csv(file)
        return [file]
    if name == "business":
        file = place / "firms.csv"
        frame = pl.read_csv(file)
        frame.with_columns(
            firm=pl.format(f"{NAMES}{{}}", pl.int_range(pl.len())),
            turnover=pl.when(pl.int_range(pl.len()) == 0).then(DIGITS).otherwise("turnover"),
        ).write_csv(file)
        return [file]
    base = f"sqlite:///{place}/clinic.db"
    frame = sources.read(f"{base}::people").frame
    people = frame.with_columns(person=pl.format(f"{NAMES}{{}}", pl.col("person")), result=pl.lit(SECRETS))
    sources.write(people, f"{base}::people", force=True)
    return [place / "clinic.db"]


def holding(place: Path, but: list[Path]) -> list[Path]:
    """The files below a folder, but for some, in which a marker is."""
    marks = [NAMES.encode(), SECRETS.encode(), str(DIGITS).encode()]
    every = [path for path in place.rglob("*") if path.is_file()]
    others = [path for path in every if not any(path == item or item in path.parents for item in but)]
    return [path for path in others if any(mark in path.read_bytes() for mark in marks)]


@pytest.mark.parametrize("name", ["survey", "business", "screening"])
def test_markers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str):
    for variable in ("TMPDIR", "HOME", "XDG_CACHE_HOME", "XDG_STATE_HOME"):
        (tmp_path / variable).mkdir()
        monkeypatch.setenv(variable, str(tmp_path / variable))
    monkeypatch.setattr(tempfile, "tempdir", None)
    plan = example(name, tmp_path)
    place = plan.parent
    data = marked(name, place)
    out, other = place / "out", place / "other"
    text = plan.read_text()
    said = [
        command("release", plan, "--dry-run"),
        command("release", plan, "-o", out),
        command("release", plan, "-o", other),
        command("verify", out, "--originals", plan),
        command("verify", out / "public"),
    ]
    assert [item.code for item in said] == [0, 0, {"survey": 2, "business": 0, "screening": 2}[name], 0, 0]
    # A gate that fails, a step that cannot be done, and settings that are wrong.
    last = {"survey": "gates.microaggregate", "business": "gates.suppress", "screening": "gates.assign"}[name]
    # No gate of a table fails that is not known to beforehand; a base that protects nothing is refused while it runs.
    rounded = 'safe = true\n[[steps]]\ndo = "round"\ndata = "tabulate"\nbase = 1'
    gate = {"survey": "k = 500", "business": rounded, "screening": "k = 5000"}[name]
    head, _, rest = text.partition(f"[{last}]\n")
    plan.write_text(f"{head}[{last}]\n{gate}\n" + rest[rest.index("\n") + 1 :])
    said.append(command("release", plan, "-o", place / "no", "--another"))
    assert said[-1].code == 3 and (place / "no.refused" / "report.html").exists()
    wrong = {"survey": ("k = 5\nsample", "k = 100000\nsample"), "business": ('value = "turnover"', 'value = "sector"'),
             "screening": ('quasi = ["born", "quarter"]', 'quasi = ["born", "quarter"]\npinned = "result"')}  # fmt: skip
    plan.write_text(text.replace(*wrong[name]))
    said.append(command("release", plan, "-o", place / "never", "--another"))
    assert said[-1].code in (2, 3), said[-1].err
    plan.write_text(text)
    if name == "survey":
        said.append(command("release", plan, "-o", other, "--another"))
        said.append(command("diff", out, other))
        said.append(command("sweep", plan, "--set", "microaggregate.k=3", "--report", place / "map.html"))
        assert [item.code for item in said[-3:]] == [0, 0, 0]
    # What was finished of a run whose plan is wrong waits to be gone on with, for its owner alone.
    begun = place / ".never.unfinished"
    assert not begun.exists() or begun.stat().st_mode & 0o077 == 0
    assert holding(tmp_path, [*data, out, other, begun / "internal"]) == []
    for item in said:
        assert not any(mark in item.out + item.err for mark in (NAMES, SECRETS, str(DIGITS)))
    # What is published names nobody; what is confidential stands in released records alone.
    assert not any(NAMES.encode() in path.read_bytes() for path in (out / "public").iterdir())
    assert holding(out / "public", [out / "public" / "survey.csv"]) == []
    # Names that were dropped are in no internal byte either; who contributes to a cell, and who sits where, is kept there.
    if name == "survey":
        assert not any(NAMES.encode() in path.read_bytes() for path in out.rglob("*") if path.is_file())
    assert json.loads((out / "public" / "manifest.json").read_text())["outputs"] is not None
