"""Steps written down as a plan, a script and commands: each can be run, and gives the same."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from tests.cli.running import shoal as command
from tests.release.plans import people

import shoal
from shoal.release.export import Source, Taken, plan_text, python_script, shell_commands
from shoal.release.plan.reader import parse_plan

STEPS = [
    Taken(
        "coarser one",
        "recode",
        {
            "data": "people",
            "quasi": ["age", "sex"],
            "k": 4,
            "method": "lattice",
            "hierarchies": {"age": "intervals(10,20,40)"},
            "suppress": 0.05,
            "options": {},
            "population": None,
            "seed": 3,
            "time_limit": 60.0,
            "explain": False,
        },
    ),
    Taken(
        "means",
        "microaggregate",
        {
            "data": "coarser one",
            "columns": ["pay"],
            "k": 3,
            "method": "mdav",
            "by": ["region"],
            "drop": ["name"],
        },
    ),
]
SOURCES = {"people": Source("people.csv")}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    people().write_csv(tmp_path / "people.csv")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_a_script_runs(folder: Path):
    script = python_script(SOURCES, STEPS)
    subprocess.run([sys.executable, "-c", script], check=True, cwd=folder)
    coarser = shoal.recode(
        people(),
        ["age", "sex"],
        4,
        method="lattice",
        hierarchies={"age": "intervals(10,20,40)"},
        suppress=0.05,
    )
    assert pl.read_csv("coarser one.csv").equals(coarser.frame)
    assert pl.read_csv("means.csv").columns == ["age", "sex", "region", "job", "pay"]


def test_commands_run(folder: Path):
    for line in shell_commands(SOURCES, STEPS).splitlines():
        import shlex

        assert command(*shlex.split(line)[1:]).code == 0
    assert pl.read_parquet("means.parquet").columns == ["age", "sex", "region", "job", "pay"]


def test_a_plan_is_one(folder: Path):
    named = [
        Taken("coarser", "recode", STEPS[0].settings),
        Taken("means", "microaggregate", {**STEPS[1].settings, "data": "coarser"}),
    ]
    text = plan_text(
        "My survey / 2026", SOURCES, named, {"people": {"age": "quasi-identifier", "sex": "quasi-identifier"}}
    )
    plan = parse_plan(text, folder)
    assert plan.about.name == "My-survey-2026"
    assert [step.inputs for step in plan.steps] == [("people",), ("coarser",)]
    assert [item.file for item in plan.outputs] == ["means.csv"]
    assert "time_limit" not in text and "seed = 3" in text
    done = shoal.release(plan, folder / "out")
    assert (done.folder / "public" / "means.csv").exists()


def test_nothing_to_release():
    with pytest.raises(shoal.InputError, match="none of these steps"):
        plan_text("x", SOURCES, [Taken("k", "anonymity", {"data": ["people"], "quasi": ["age"]})], {})


def test_a_measurement_is_a_command_too():
    step = Taken("k", "anonymity", {"data": ["people"], "quasi": ["age", "sex"]})
    assert shell_commands(SOURCES, [step]) == "shoal anonymity people.csv --quasi age,sex\n"
    assert 'shoal.anonymity(people, quasi=["age", "sex"])' in python_script(SOURCES, [step])


def test_tables_beside_another_are_read_each():
    """Several data in one setting are a list of frames, and of options."""
    places = {name: Source(f"{name}.csv") for name in ("districts", "shown", "squares", "towns")}
    said = {"data": "districts", "beside": ["squares", "towns"], "difference": 5}
    step = Taken("both", "audit", {**said, "pattern": "shown", "hierarchy": {"row": "tree.csv"}})
    script = python_script(places, [step])
    assert "shoal.audit(districts, shown, " in script and "beside=[squares, towns]" in script
    assert 'hierarchies={"row": "tree.csv"}' in script
    assert "--beside squares.csv --beside towns.csv" in shell_commands(places, [step])
    # What only commands read is no call, and said.
    for other in ({"metadata": "t.rda", "pattern": "shown"}, {}):
        text = python_script(places, [Taken("both", "audit", {**said, **other})])
        assert "shoal.audit(" not in text and "# both (audit): " in text


def test_more_than_the_whole_is_written_in_percent():
    """A command takes a change of 5 for a slip; a plan holds what was meant."""
    places = {name: Source(f"{name}.csv") for name in ("now", "shown", "then")}
    said = {"data": "now", "pattern": "shown", "beside": ["then"]}
    for share, written in ((5.0, "500%"), (0.05, "0.05")):
        assert f"--change {written}" in shell_commands(
            places, [Taken("both", "audit", {**said, "change": share})]
        )


def test_what_is_perturbed_has_its_amounts_among_the_options():
    step = Taken("other", "perturb", {"data": "people", "method": "pram", "columns": ["job"], "change": 0.1})
    assert 'options={"change": 0.1}' in python_script(SOURCES, [step])
    assert "--change 0.1" in shell_commands(SOURCES, [step])


_ODD = "${x:-$(touch ran)}"


def test_names_do_not_run(folder: Path):
    """Columns, files and tables are called as others like: nothing of that is a command, or a line of its own."""
    people().rename({"age": _ODD}).write_csv(folder / f"{_ODD}.csv")
    step = Taken("coarser", "recode", {"data": "people", "quasi": [_ODD], "k": 4, "drop": ["name"]})
    (folder / "commands.sh").write_text(shell_commands({"people": Source(f"{_ODD}.csv")}, [step]))
    subprocess.run(["sh", "commands.sh"], cwd=folder, check=False, env={"PATH": "/usr/bin:/bin"})
    assert not (folder / "ran").exists()
    assert shell_commands({"people": Source("people.csv")}, [step]).count(f"'{_ODD}'") == 1


@pytest.mark.parametrize("write", [shell_commands, python_script, lambda *given: plan_text("x", *given, {})])
def test_a_note_is_one_line(write: Callable[..., str]):
    source = Source("${SHOAL_SOURCE}::people\ntouch ran", "SHOAL_SOURCE is an address\rtouch ran")
    text = write({"people": source}, [Taken("coarser", "recode", {"data": "people", "quasi": ["age"]})])
    notes = [line for line in text.splitlines() if line.startswith("#")]
    assert len(notes) == 1 and notes[0].count("touch ran") == 2


def test_a_database_is_named_by_the_environment():
    source = Source("${SHOAL_SOURCE}::two words", "SHOAL_SOURCE is an address")
    text = shell_commands(
        {"people": source}, [Taken("coarser", "recode", {"data": "people", "quasi": ["age"]})]
    )
    assert """shoal recode "${SHOAL_SOURCE}"'::two words' --quasi age""" in text
