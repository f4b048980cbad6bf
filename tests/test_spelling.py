"""Errors and remarks name parameters; Python, the command line, pages and reports each spell them in their own way."""

import ast
import re
from pathlib import Path

import polars as pl
import pytest
from tests.cli.running import shoal as command

import shoal
from shoal.errors import InputError, Message, as_option, as_words, parameter, spelled, spelled_throughout
from shoal.web.spelling import field_names

ROOT = Path(shoal.__file__).parent
OPTION = re.compile(r"(?<![\w-])--[a-z]")
# Front ends, and what only speaks of commands.
APART = ("cli", "web", "studies")
GAPS = pl.DataFrame({"income": [1.0, 2.0, None, 4.0, 5.0, 6.0]})


def test_each_front_end_has_its_own_words(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="choose missing='aside'") as refused:
        shoal.microaggregate(GAPS, 2, columns=["income"])
    assert "'Records with gaps: are set aside, not released'" in spelled(
        refused.value, field_names("microaggregate")
    )
    GAPS.write_csv(tmp_path / "gaps.csv")
    ran = command("microaggregate", tmp_path / "gaps.csv", "-k", "2", "--columns", "income")
    assert "choose --missing aside" in ran.err


def test_remarks_of_a_result_are_spelled_too(tmp_path: Path) -> None:
    frame = pl.DataFrame({"income": [float(number) for number in range(9)]})
    found = shoal.microaggregate(frame, 3, columns=["income"])
    note = next(text for text in found.notes if "original order" in text)
    assert "order='sorted' removes that" in note
    assert "'order: sorted' removes that" in found.report().html().replace("&#x27;", "'").replace(
        "&#39;", "'"
    )
    frame.write_csv(tmp_path / "frame.csv")
    ran = command("microaggregate", tmp_path / "frame.csv", "-k", "3", "--json")
    assert any("--order sorted removes that" in text for text in ran.json["notes"])


def test_a_flag_of_its_own_is_what_the_command_says(tmp_path: Path) -> None:
    GAPS.write_csv(tmp_path / "gaps.csv")
    ran = command("microaggregate", tmp_path / "gaps.csv", "--option", "streams")
    assert "--option needs NAME=VALUE" in ran.err


def test_texts_of_the_data_are_left_alone() -> None:
    text = Message("column '{columns}' and --columns and columns= stay as they are")
    assert spelled(text, as_option) == str(text) == spelled(text, as_words)
    figures = {"notes": [Message(parameter("quasi"))], "k": 5, "rows": [[1, "a"]]}
    assert spelled_throughout(figures, as_option) == {"notes": ["--quasi"], "k": 5, "rows": [[1, "a"]]}


def test_an_error_that_is_passed_on_keeps_its_parameters() -> None:
    error = InputError(f"needs {parameter('key')}").about("tabla3")
    assert str(error) == "tabla3: needs key="
    assert spelled(InputError(error), as_option) == "tabla3: needs --key"


def domain_sources() -> list[Path]:
    return [path for path in sorted(ROOT.rglob("*.py")) if path.relative_to(ROOT).parts[0] not in APART]


@pytest.mark.parametrize("path", domain_sources(), ids=lambda path: str(path.relative_to(ROOT)))
def test_no_message_outside_of_the_command_line_names_an_option(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    documented = {
        node.body[0].value
        for node in ast.walk(tree)
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
        and node.body
        and isinstance(node.body[0], ast.Expr)
    }
    said = [
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in documented
    ]
    # A flag that a setting declares is a name and no message, and examples of commands are commands.
    assert [text for text in said if OPTION.search(text) and " " in text and "shoal " not in text] == []
