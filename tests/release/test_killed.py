"""Killed at whatever moment, a run leaves a whole release or none, and goes on to the bytes of one that nobody disturbed."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.release.examples import example
from tests.release.plans import survey

PROGRAM = Path(__file__).with_name("killing.py")
WRITING = ("run_step", "write", "finish_step", "keep_only", "protect", "remember", "finish")
EVERY = ", ".join(f"{when} {name}" for name in WRITING for when in ("before", "after"))
#: Reports tell when they were written.
PASSING = ("created", "seconds", "reports")


def _without_time(content: Any) -> Any:
    if isinstance(content, dict):
        return {name: _without_time(item) for name, item in content.items() if name not in PASSING}
    return [_without_time(item) for item in content] if isinstance(content, list) else content


def contents(folder: Path) -> dict[str, Any]:
    """All files of a release that are the same in each run: data to the byte, manifests but for time."""
    found: dict[str, Any] = {}
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or path.suffix in (".html", ".npz"):
            continue
        name = path.relative_to(folder).as_posix()
        found[name] = (
            _without_time(json.loads(path.read_text()))
            if path.name in ("manifest.json", "done.json")
            else path.read_bytes()
        )
    return found


def killed_everywhere(plan: Path, place: Path, names: str) -> int:
    place.mkdir()
    done = subprocess.run(
        [sys.executable, PROGRAM, plan, place, names], check=False, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    moments = json.loads(done.stdout)
    expected = contents(place / "whole")
    for number in moments:
        found = contents(place / f"at-{number}")
        assert found == expected, [name for name in expected if found.get(name) != expected[name]]
    assert not list(place.glob(".*.unfinished"))
    return len(moments)


@pytest.mark.parametrize(("name", "steps"), [("small", 4), ("business", 2), ("screening", 1)])
def test_killed_at_each_step(tmp_path: Path, name: str, steps: int):
    """All that a step writes is there, and nothing says yet that it is finished."""
    plan = survey(tmp_path) if name == "small" else example(name, tmp_path)
    assert killed_everywhere(plan, tmp_path / "runs", "before finish_step") == steps


def test_killed_while_it_is_put_together(tmp_path: Path):
    plan = example("screening", tmp_path)
    assert killed_everywhere(plan, tmp_path / "runs", "after keep_only, after remember") == 2


@pytest.mark.long
@pytest.mark.parametrize("name", ["survey", "business", "screening"])
def test_the_examples_killed_at_every_moment(tmp_path: Path, name: str):
    plan = example(name, tmp_path)
    assert killed_everywhere(plan, tmp_path / "runs", EVERY) > 12
