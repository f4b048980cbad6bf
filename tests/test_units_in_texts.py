"""Every operation on records, run without a unit: no sentence of it speaks of people."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.cli.running import shoal as command

import shoal
from shoal.microdata.measures.attacks.all_attacks import ATTACKS
from shoal.operations import OPERATIONS

_PEOPLE = re.compile(r"\b(people|persons?)\b", re.IGNORECASE)
# What a column may count is asked with the nouns of units.
_ASKED = "unit (person, household, firm, episode)"

# Commands on records, with further arguments; {data} is the file, {safe} a release of it.
COMMANDS = {
    "anonymity": "{data} --quasi age,sex,town --confidential illness --model distinct(2)",
    "anonymity with units": "{data} --quasi age,sex,town --unit visit_id",
    "risk": "{data} --quasi age,sex,town --population 9000 --special-uniques",
    "recode": "{data} --quasi age,sex,town -k 3 --suppress 0.1 --method lattice --explain --confidential illness -o {out}",
    "recode locally": "{data} --quasi age,sex,town -k 3 --model average-risk(0.2) -o {out}",
    "microaggregate": "{data} -k 3 --columns income,rent --drop visit_id --groups income;rent -o {out}",
    "perturb": "{data} --method pram --columns illness -o {out}",
    "compare": "{data} {safe} --paired-by-position --columns income,rent,town --attacks {attacks} "
    "--utility pmse,marginals,classification",
    "group": "{data} -k 3 --columns income,rent,age --method exact",
    "hierarchy": "{data} --columns age",
}


@pytest.fixture(name="files")
def _files(tmp_path: Path) -> dict[str, Path]:
    draw = np.random.default_rng(7)
    n = 120
    frame = pl.DataFrame(
        {
            "visit_id": 4000 + draw.permutation(np.arange(n) // 2) * 7,
            "age": draw.integers(20, 70, n),
            "sex": draw.choice(["f", "m"], n),
            "town": draw.choice(["a", "b", "c"], n),
            "illness": draw.choice(["flu", "gout", "none"], n),
            "income": draw.lognormal(8, 1, n).round(2),
            "rent": draw.lognormal(6, 1, n).round(2),
        }
    )
    safe = frame.with_columns(pl.col("income", "rent").round(0), town=pl.col("town").reverse())
    found = {"data": tmp_path / "records.csv", "safe": tmp_path / "safe.csv", "out": tmp_path / "out.csv"}
    frame.write_csv(found["data"])
    safe.write_csv(found["safe"])
    return found


def sentences(value: Any) -> Iterator[str]:
    """All texts among figures; the names of figures are no sentences."""
    if isinstance(value, dict):
        for item in value.values():
            yield from sentences(item)
    elif isinstance(value, list):
        for item in value:
            yield from sentences(item)
    elif isinstance(value, str):
        yield value


def speaks_of_people(text: str) -> list[str]:
    plain = re.sub(r"<(style|script)[^>]*>.*?</\1>", " ", text, flags=re.DOTALL)
    plain = re.sub(r"<[^>]+>", " ", plain).replace(_ASKED, "unit")
    # Keys of figures stand in the glossary beside their words.
    plain = re.sub(r"\b\w+_(people|persons)\b|\bpeople\.csv\b|\bfailing_people\b", " ", plain)
    return [plain[max(0, at.start() - 60) : at.end() + 30] for at in _PEOPLE.finditer(plain)]


@pytest.mark.parametrize("name", COMMANDS)
def test_no_sentence_speaks_of_people_where_no_unit_is_named(name: str, files: dict[str, Path]) -> None:
    report = files["out"].with_name("report.html")
    operation = name.split()[0]
    arguments = [part.format(**files, attacks=",".join(ATTACKS)) for part in COMMANDS[name].split()]
    with_report = ["--report", report] if "--report" in command(operation, "--help").out else []
    seen = command(operation, *arguments, *with_report)
    assert seen.code == 0, seen.err
    told = command(operation, *arguments, "--json", "--force" if "-o" in arguments else "--quiet")
    assert told.code == 0, told.err
    for text in (seen.out, seen.err, *sentences(told.json)):
        assert not speaks_of_people(" ".join(text.split()))
    if with_report:
        assert not speaks_of_people(report.read_text())


@pytest.mark.parametrize("name", [name for name in OPERATIONS if name != "assign"])
def test_no_help_speaks_of_people(name: str) -> None:
    assert not speaks_of_people(" ".join(command(name, "--help").out.split()))


def test_neither_plans_nor_releases_speak_of_people(tmp_path: Path, files: dict[str, Path]) -> None:
    plan = tmp_path / "plan.toml"
    assert command("plan", files["data"], "-o", plan).code == 0
    text = plan.read_text()
    assert not speaks_of_people(" ".join(text.replace("#", " ").split()))
    plan.write_text(re.sub(r"(linkage|reidentifications) = \d+", r"\1 = 100", text))
    seen = command("release", plan, "-o", tmp_path / "out")
    assert seen.code == 0, seen.err
    checked = command("verify", tmp_path / "out", "--originals", tmp_path)
    again = command("release", plan, "-o", tmp_path / "again", "--another")
    beside = command("diff", tmp_path / "out", tmp_path / "again")
    swept = command("sweep", plan, "--set", "recode.k=3,5")
    for one in (seen, checked, again, beside, swept):
        assert not speaks_of_people(" ".join((one.out + one.err).split()))
    inside, outside = tmp_path / "out" / "internal", tmp_path / "out" / "public"
    for place in (inside, outside):
        for told in sentences(json.loads((place / "manifest.json").read_text())):
            assert not speaks_of_people(told)
    for page in inside.rglob("*.html"):
        assert not speaks_of_people(page.read_text()), page.name


def test_sentences_of_a_unit_name_its_column(files: dict[str, Path]) -> None:
    frame = pl.read_csv(files["data"])
    page = shoal.anonymity(frame, ["sex", "town"], unit="visit_id").report().html()
    assert "units of 'visit_id'" in page or "units of &#x27;visit_id&#x27;" in page
    assert not speaks_of_people(page)
