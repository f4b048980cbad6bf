"""Every figure of an internal manifest is counted again with the originals, or listed as one that is not."""

import copy
import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from tests.cli.running import shoal as command
from tests.release.examples import example
from tests.release.firms import TURNOVER, firms
from tests.release.plans import SURVEY, people
from tests.release.test_changed_tables import ADJUST, COUNTS, ROUND
from tests.release.test_verify import LINKED

import shoal
from shoal.release.release_reader import OpenedRelease, open_release
from shoal.release.verify.figures import leaves, step_checks, unnumbered

HEAD = '[release]\nname = "x"\n[sources.people]\ndata = "people.csv"\n'
ROLES = '[sources.people.roles]\nname = "identifier"\nage = "quasi-identifier"\nsex = "quasi-identifier"\n'
LOCAL = f"""{HEAD}{ROLES}
[[steps]]
do = "recode"
quasi = ["age", "sex", "region"]
k = 3
suppress = 0.05
method = "local-suppression"
confidential = ["job"]
hierarchies = {{age = "intervals(10,20,40)"}}
[outputs]
"safe.csv" = "recode"
"""
LEFT_OUT = LOCAL.replace('"local-suppression"', '"lattice"').replace('["job"]', '["job"]\nunit = "household"')
STARRED = LOCAL.replace('"local-suppression"', '"lattice"\nkeep_suppressed = true\nmeasure = "entropy"')
DECLARED = LOCAL.replace('["job"]', '["job"]\nunit = "record"')
STRATA = LOCAL.replace('["age", "sex", "region"]', '["age", "sex"]\nby = ["region"]')
NOISE = f"""{HEAD}{ROLES}
[[steps]]
do = "perturb"
method = "noise"
columns = ["pay"]
[[steps]]
do = "recode"
quasi = ["age", "sex"]
k = 3
[outputs]
"safe.csv" = "recode"
"""
MEANS = f"""{HEAD}{ROLES}
[[steps]]
do = "microaggregate"
columns = ["pay", "age"]
k = 3
unit = "household"
quasi = ["pay", "age", "sex"]
attribute_weights = {{pay = 2.0}}
drop = ["name", "household"]
[outputs]
"safe.csv" = "microaggregate"
"""
RECORDS = {
    "survey": SURVEY,
    "local": LOCAL,
    "left out": LEFT_OUT,
    "starred": STARRED,
    "strata": STRATA,
    "declared": DECLARED,
    "noise": NOISE,
    "means": MEANS,
}
TABLES = {
    "suppress": TURNOVER,
    "linked": LINKED,
    "round": ROUND,
    "adjust": ADJUST,
    "perturb-table": COUNTS,
}


@pytest.fixture(scope="module", params=[*RECORDS, *TABLES, "assign"])
def opened(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> OpenedRelease:
    folder = tmp_path_factory.mktemp("made")
    plan = folder / "plan.toml"
    if request.param in RECORDS:
        frame = people().with_columns(household=np.arange(200) // 2)
        frame.write_csv(folder / "people.csv")
        plan.write_text(RECORDS[request.param])
    elif request.param in TABLES:
        sizes = pl.Series("size", ["small", "medium", "large", "small", "medium"] * 28)
        firms(140).with_columns(sizes).write_csv(folder / "firms.csv")
        plan.write_text(TABLES[request.param])
    else:
        plan = example("screening", folder)
    return open_release(shoal.release(plan, folder / "out").folder, plan.parent)


def edited(opened: OpenedRelease, step: str, name: str, value: Any) -> OpenedRelease:
    inside = copy.deepcopy(dict(opened.inside or {}))
    put(next(item["figures"] for item in inside["steps"] if item["name"] == step), name, value)
    return replace(opened, inside=inside)


def put(figures: Any, name: str, value: Any) -> None:
    *way, last = name.split(".") if name not in figures else [name]
    for part in way:
        figures = figures[int(part)] if isinstance(figures, list) else figures[part]
    figures[int(last) if isinstance(figures, list) else last] = value


def another(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value + max(1, abs(value))
    return "another" if value != [] and value != {} else ["another"]


def test_every_figure_is_counted_again_or_listed(opened: OpenedRelease):
    assert opened.plan is not None
    unnoticed, count = [], 0
    for step in opened.plan.steps:
        checks = list(step_checks(opened, step))
        assert not [check.detail for check in checks if check.passed is False]
        listed = next(check.detail for check in checks if check.name == "not recomputed").partition(": ")[2]
        for name, value in leaves(opened.figures(step.name)):
            if unnumbered(name) in listed.split(", "):
                continue
            count += 1
            wrong = edited(opened, step.name, name, another(value))
            named = [name, name.partition(".")[0]]
            found = [check.detail for check in step_checks(wrong, step) if check.passed is False]
            if not any(own in text for text in found for own in named):
                unnoticed.append((step.name, name))
    assert unnoticed == [] and count


SAID = [
    ("recode", "loss", 0.01),
    ("recode", "k_release", 99),
    ("recode", "suppressed_cells", 7),
    ("recode", "maximum_risk", 0.001),
    ("recode", "bound", 0.9),
    ("microaggregate", "sse", 0.1),
    ("microaggregate", "optimal", True),
    ("microaggregate", "verified", False),
]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("survey")
    people().write_csv(folder / "people.csv")
    (folder / "plan.toml").write_text(SURVEY)
    shoal.release(folder / "plan.toml", folder / "out")
    return folder


@pytest.fixture
def copied(made: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(made, tmp_path / "copied"))


@pytest.mark.parametrize(("step", "name", "value"), SAID)
def test_an_edited_figure_is_named(copied: Path, step: str, name: str, value: Any):
    place = copied / "out" / "internal" / "manifest.json"
    content = json.loads(place.read_text())
    next(item["figures"] for item in content["steps"] if item["name"] == step)[name] = value
    place.write_text(json.dumps(content))
    found = command("verify", copied / "out", "--originals", copied)
    assert found.code == 3 and f"'{name}' " in found.err, found


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (
            lambda content: content["inputs"]["people"].update(records=7),
            "'records' of source 'people' is 200, and 7",
        ),
        (lambda content: content.update(intruders=["neighbour"]), "the intruders are not the same"),
        (lambda content: content.update(created="2020-01-01"), "the date is not the same"),
    ],
)
def test_what_else_a_manifest_states(copied: Path, change: Callable[[dict[str, Any]], object], words: str):
    place = copied / "out" / "internal" / "manifest.json"
    content = json.loads(place.read_text())
    change(content)
    place.write_text(json.dumps(content))
    found = command("verify", copied / "out", "--originals", copied)
    assert found.code == 3 and words in found.err, found


def test_what_is_not_counted_again_is_listed(made: Path):
    found = shoal.verify_release(made / "out", originals=made)
    listed = [check.detail for check in found.checks if check.name == "not recomputed"]
    assert found.verified and len(listed) == 4
    assert {"bound", "optimal", "stopped_by"} <= set(listed[1].split(", "))


def test_what_could_not_be_checked_is_counted_in_the_verdict(made: Path):
    for folder, more, least in (("out", (), 1), ("out", ("--originals", made), 2), ("out/public", (), 1)):
        found = command("verify", made / folder, *more, "--json")
        left = found.json["unchecked"]
        assert found.json["verified"] and left >= least
        told = command("verify", made / folder, *more, "--quiet")
        assert told.code == 0
        assert told.out == f"verified, except {left} statement{'s' * (left > 1)} that could not be checked\n"
