"""Numbers nobody can compute with, in every numeric option of every command: refused in one line before anything happens."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import polars as pl
import pytest
import typer
from tests.cli.running import shoal

from shoal.cli.program import app
from shoal.operations import OPERATIONS

# What makes each command run on little data; options under test come after it.
_COMMANDS = {
    "anonymity": ["records.csv", "--quasi", "a,b"],
    "risk": ["records.csv", "--quasi", "a,b"],
    "microaggregate": ["records.csv", "--columns", "x,y", "--method", "mdav"],
    "compare": ["records.csv", "records.csv", "--columns", "x,y", "--paired-by-position"],
    "group": ["records.csv", "-k", "3", "--columns", "x,y", "--iterations", "1"],
    "hierarchy": ["records.csv", "--columns", "a,x"],
    "assign": ["--group-sizes", "4,4", "--capacities", "4,4"],
    "tabulate": ["records.csv", "--dimensions", "a,b", "--value", "x"],
    "suppress": ["matrix.csv", "--sensitive", "sensitive.csv"],
    "audit": ["matrix.csv", "pattern.csv", "--sensitive", "sensitive.csv"],
    "recode": ["records.csv", "--quasi", "a,b", "-o", "out.csv"],
    "perturb": ["records.csv", "--method", "pram", "--columns", "a", "-o", "out.csv"],
    "round": ["matrix.csv", "--base", "5", "-o", "out.csv"],
    "adjust": ["matrix.csv", "--sensitive", "sensitive.csv", "-o", "out.csv"],
    "perturb-table": ["records.csv", "--dimensions", "a,b", "-o", "out.csv"],
    "sweep": ["plan.toml", "--set", "k=3,5"],
    "study": ["gomm"],
    "serve": ["--no-browser"],
    "people": ["-o", "out.csv"],
    "slots": ["-o", "out.csv"],
    "table": ["-o", "out.csv"],
    "instance": ["f4", "-o", "out.csv"],
}


def _commands(group: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    for name in group.list_commands(None):
        command = group.get_command(None, name)
        if hasattr(command, "list_commands"):
            yield from _commands(command, (*path, name))
        else:
            yield (*path, name), command


def _numeric() -> Iterator[tuple[tuple[str, ...], str, type]]:
    """Every option that takes a number: the command, the option's long name, and int or float."""
    for path, command in _commands(typer.main.get_command(app)):
        for parameter in command.params:
            name = max(parameter.opts, key=len)
            annotation = parameter.type_descriptor.annotation
            kinds = {annotation, *get_args(annotation)} & {int, float}
            if kinds and name.startswith("--"):
                yield path, name, kinds.pop()


def _of_operations() -> Iterator[tuple[tuple[str, ...], str, type]]:
    """The same of the commands that are made from operations."""
    kinds: dict[str, type] = {"whole": int, "number": float}
    for name, operation in OPERATIONS.items():
        for item in operation.fields("command"):
            if item.kind in kinds:
                yield (name,), item.option, kinds[item.kind]


NUMERIC = sorted({*_numeric(), *_of_operations()}, key=str)
INFINITE = {"--low", "--high"}


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    pl.DataFrame(
        {
            "a": [*"nsw"] * 8,
            "b": [*"pq"] * 12,
            "x": [1.5 * i for i in range(24)],
            "y": [i * 7 % 11 for i in range(24)],
        }
    ).write_csv("records.csv")
    Path("matrix.csv").write_text("region,a,b,c\nn,10,20,30\ns,40,50,60\nw,70,80,90\n")
    Path("sensitive.csv").write_text("row,column,lower,upper\ns,b,5,5\n")
    Path("pattern.csv").write_text("row,column\ns,b\ns,c\nn,b\nn,c\n")
    return tmp_path


def test_the_options_are_found() -> None:
    found = {(path[-1], name) for path, name, _ in NUMERIC}
    assert {
        ("suppress", "--high"),
        ("compare", "--max-risk"),
        ("assign", "--time-limit"),
        ("people", "--seed"),
    } <= found
    assert len(found) > 50
    assert {path[-1] for path, _, _ in NUMERIC} <= set(_COMMANDS)


@pytest.mark.parametrize(("path", "option", "kind"), NUMERIC, ids=str)
def test_numbers_that_are_none_are_refused(files, path, option, kind) -> None:
    for text in ("nan", "inf", "-inf", "1e308") if kind is float else ("nan", "inf", "1.5", "9" * 30):
        if text.endswith("inf") and option in INFINITE:
            continue
        found = shoal(*path, *_COMMANDS[path[-1]], f"{option}={text}")
        assert found.code == 2, f"{text}: {found}"
        assert found.out == "" and found.err.count("\n") == 1 and option in found.err
        assert not Path("out.csv").exists()


@pytest.mark.parametrize("text", ["0", "-1", "nan", "inf", "1e30"])
def test_a_time_limit_is_a_positive_number_of_seconds(files, text) -> None:
    found = shoal("suppress", *_COMMANDS["suppress"], "--time-limit", text)
    assert found.code == 2 and "time" in found.err


@pytest.mark.parametrize(
    "options",
    [
        ["--iterations", "-1"], ["--iterations", "9999999999999999"], ["--seed", "-1"], ["--threads", "0"],
        ["--threads", "-3"], ["--threads", "100000"], ["--option", "nodes=nan"],
    ],
)  # fmt: skip
def test_budget_seed_and_threads_have_limits(files, options) -> None:
    for command in ("suppress", "microaggregate", "group", "assign"):
        found = shoal(command, *_COMMANDS[command], *options)
        assert found.code == 2 and found.err.count("\n") == 1, (command, found)


@pytest.mark.parametrize("text", ["inf", "-inf"])
def test_infinity_is_a_bound_that_is_not_there(files, text) -> None:
    option = "--high" if text == "inf" else "--low"
    plain = shoal("suppress", *_COMMANDS["suppress"], "--json").json
    found = shoal("suppress", *_COMMANDS["suppress"], option, text, "--json")
    assert found.code == 0 and found.json["cost"] <= plain["cost"]


@pytest.mark.parametrize(
    "rule", ["p-percent(nan)", "p-percent(1e308)", "dominance(1,inf)", "frequency(1e300)", "pq(nan,80)"]
)
def test_rules_take_numbers(files, rule) -> None:
    found = shoal("tabulate", *_COMMANDS["tabulate"], "--rule", rule, "-o", "out.csv")
    assert found.code == 2 and found.err.count("\n") == 1 and not Path("out.csv").exists()


@pytest.mark.parametrize(
    ("command", "option"),
    [
        ("compare", "--widths=nan"), ("compare", "--widths=1,inf"), ("compare", "--widths=1e308"),
        ("microaggregate", "--attribute-weights=x=nan"), ("microaggregate", "--attribute-weights=x=inf"),
        ("microaggregate", "--attribute-weights=x=1e308"), ("assign", "--group-sizes=4,nan"),
        ("assign", "--capacities=4,99999999999999999999"),
    ],
)  # fmt: skip
def test_numbers_within_texts_are_checked_too(files, command, option) -> None:
    found = shoal(command, *_COMMANDS[command], option)
    assert found.code == 2 and found.err.count("\n") == 1


@pytest.mark.parametrize("figure", ["nan", "inf", "1e308", "-1e308"])
@pytest.mark.parametrize(
    ("name", "text", "command"),
    [
        ("matrix.csv", "region,a,b,c\nn,10,20,30\ns,40,{},60\nw,70,80,90\n", "suppress"),
        ("sensitive.csv", "row,column,lower,upper\ns,b,{},5\n", "suppress"),
        ("records.csv", "a,b,x,y\nn,p,{},1\nn,q,2,3\ns,p,3,4\ns,q,5,7\nn,p,8,9\ns,q,7,2\n", "tabulate"),
        ("records.csv", "a,b,x,y\nn,p,{},1\nn,q,2,3\ns,p,3,4\ns,q,5,7\nn,p,8,9\ns,q,7,2\n", "microaggregate"),
    ],
)  # fmt: skip
def test_figures_of_files_are_checked(files, name, text, command, figure) -> None:
    if (name, figure) == ("sensitive.csv", "nan"):
        pytest.skip("what other software writes for a level that is not given")
    (files / name).write_text(text.format(figure))
    found = shoal(command, *_COMMANDS[command], *(["-k", "2"] if command == "microaggregate" else []))
    assert found.code == 2 and found.err.count("\n") == 1, found
