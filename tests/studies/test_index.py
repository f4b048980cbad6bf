"""The page of all studies lists what the works have; what it says repeats them exists."""

import re
from pathlib import Path

import pytest
from tests.studies.samples import SAMPLES
from typer.main import get_command

from shoal import studies
from shoal.cli.program import app
from shoal.operations import OPERATIONS

PAGE = Path(__file__).parents[2] / "docs" / "studies" / "index.md"
ROWS = [
    [cell.strip() for cell in line.strip("|").split("|")]
    for line in PAGE.read_text(encoding="utf-8").partition("## Every table")[2].splitlines()
    if line.startswith("| ") and not line.startswith("| work")
]
COMMANDS = sorted(set(re.findall(r"`shoal ([^`]*)`", " ".join(row[2] for row in ROWS))))


@pytest.mark.parametrize("text", COMMANDS)
def test_a_command_that_repeats_something_exists(text: str) -> None:
    name, *more = text.split()
    command = get_command(app).get_command(None, name)
    assert command is not None
    if hasattr(command, "commands"):
        assert set(more) <= set(command.commands)
        return
    flags = {flag for item in command.params for flag in item.opts}
    assert {word for word in more if word.startswith("--")} <= flags
    if name == "study":
        assert more[0] in studies.STUDIES
    if "--method" in more:
        registry = OPERATIONS[name].registry
        assert registry is not None and more[more.index("--method") + 1] in registry


def test_every_row_names_a_command_or_says_why_there_is_none() -> None:
    assert len(ROWS) >= 25
    for _, what, by in ROWS:
        assert what and ("`shoal " in by or by.startswith("nothing")), what


def test_every_study_is_in_the_table_and_its_claims_are_computed() -> None:
    listed = {command.split()[1] for command in COMMANDS if command.startswith("study ")}
    assert listed == set(studies.STUDIES)
    assert listed == set(SAMPLES)
