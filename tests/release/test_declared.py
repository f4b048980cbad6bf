"""What releases know of an operation is what it declares: the code names none of them, and a new one is found everywhere."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from tests.release.plans import people

from shoal.operations import OPERATIONS
from shoal.release.plan.own_steps import OWN_STEPS

RELEASE = Path(__file__).parents[2] / "src" / "shoal" / "release"
NAMES = {*OPERATIONS, *OWN_STEPS}
#: A gate, a setting of tables and one of records are called like operations.
ALSO = {"risk", "hierarchy"}
#: What reads plans, and what drafts their text.
ABOUT_PLANS = {"plan/reader.py", "plan/draft.py"}


def test_no_operation_is_called_by_its_name() -> None:
    wrong = []
    for path in RELEASE.rglob("*.py"):
        file = path.relative_to(RELEASE).as_posix()
        if file not in ABOUT_PLANS:
            nodes = ast.walk(ast.parse(path.read_text()))
            constants = (node for node in nodes if isinstance(node, ast.Constant))
            wrong += [
                f"{file}:{node.lineno} {node.value}" for node in constants if node.value in NAMES - ALSO
            ]
    assert not wrong


def test_only_names_of_gates_and_settings_are_excepted() -> None:
    """The words in ``ALSO`` never stand where a step is told by its name."""
    for path in RELEASE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Compare) and "do" in ast.unparse(node.left).split("."):
                constants = {item.value for item in ast.walk(node) if isinstance(item, ast.Constant)}
                assert not constants & NAMES, (path, node.lineno)


TOY = '''
"""Blanks columns."""

from dataclasses import dataclass

import polars as pl

from shoal.microdata.columns.products import released_records
from shoal.microdata.columns.record_links import RecordLinks
from shoal.operation import Operation, Rows
from shoal.operation_release import RecordsRelease
from shoal.report.page import Page
from shoal.settings import Columns, Data, Settings, data_argument, setting


class BlankSettings(Settings):
    data: Data = data_argument()
    columns: Columns = setting(..., "Columns to blank.", min_length=1)
    order: str = setting("keep", "Order of the released records.")


@dataclass
class Blanked:
    frame: pl.DataFrame
    record_links: RecordLinks

    def verify(self, back):
        assert back.shape == self.frame.shape


def blank(frame, columns):
    gone = frame.with_columns(pl.lit("x").alias(name) for name in columns)
    return Blanked(gone, RecordLinks.of([True] * frame.height, list(range(frame.height))))


def run(settings, workplace):
    return blank(workplace.records(settings.data).frame, settings.columns)


def figures(result, settings):
    return {"records": result.frame.height, "blanked": result.frame.height * len(settings.columns)}


def facts(result, settings):
    return [("blanked", len(settings.columns))]


def tables(result, settings):
    return []


def page(result, settings):
    return Page("Blanked", "columns")


def assurances(result, settings):
    return None


def recounted(evidence):
    pair = evidence.records()
    shown = sum(int((pair.released[name] == "x").sum()) for name in evidence.settings.columns)
    return {"records": pair.released.height, "blanked": shown}


OPERATION = Operation(
    name="blank",
    title="Blank columns",
    summary="Blank columns.",
    settings=BlankSettings,
    run=run,
    reporter=__name__,
    function=f"{__name__}:blank",
    products=(released_records("the blanked records"),),
    release=RecordsRelease(touches=("columns",), recounts=f"{__name__}:recounted"),
)
'''

FOUND = """
import runpy, sys
from pathlib import Path

from shoal.operations import OPERATIONS

OPERATIONS._paths["blank"] = "toy.operation"

import shoal
from shoal.cli.typer_command import shared_options
from shoal.release.export import Source, Taken, plan_text, python_script, shell_commands

plan = '''
[release]
name = "toy"
[sources.people]
data = "people.csv"
roles = {name = "identifier", sex = "quasi-identifier", job = "confidential"}
[[steps]]
do = "drop"
columns = ["name", "age", "region"]
[[steps]]
do = "blank"
columns = ["job"]
[gates.blank]
k = 5
[outputs]
"safe.csv" = "blank"
'''
Path("plan.toml").write_text(plan)
done = shoal.release("plan.toml", "out")
assert [gate.name for gate in done.gates] == ["k"] and done.gates[0].passed
verified = shoal.verify_release("out", originals=".")
assert verified.verified, verified.failures
assert "2 of step 'blank' are what was stated" in {check.detail for check in verified.checks}
public = Path("out/public/safe.csv")
public.write_text(public.read_text().replace(",x,", ",y,", 1))
assert any("'blanked' of step 'blank'" in text for text in shoal.verify_release("out", originals=".").failures)
for gate in ("safe = true", "loss = 3"):
    try:
        shoal.release(Path("wrong.toml").write_text(plan.replace("k = 5", gate)) and "wrong.toml", "no")
    except shoal.InputError as problem:
        assert "wrong.toml, line" in str(problem)
    else:
        raise AssertionError(gate)

steps = [Taken("gone", "blank", {"data": "people", "columns": ["job"]})]
where = {"people": Source("people.csv")}
assert 'do = "blank"' in plan_text("toy", where, steps, {})
assert shell_commands(where, steps) == "shoal blank people.csv --columns job -o gone.parquet\\n"
assert "gone = shoal.blank(people, columns=[\\"job\\"])" in python_script(where, steps)

from shoal.web.activities import ACTIVITIES

request = ACTIVITIES["blank"].request_model.model_fields
assert list(request) == [item.name for item in OPERATIONS["blank"].fields("workbench")]
assert "columns" in request

manual = runpy.run_path(sys.argv[1])["on_page_markdown"]
assert "Columns to blank." in manual("<!-- options of blank -->\\n<!-- end -->\\n")

from typer.testing import CliRunner
from shoal.cli.program import app

told = CliRunner().invoke(app, ["blank", "people.csv", "--columns", "job", "-o", "blank.csv", "--json"])
assert told.exit_code == 0 and Path("blank.csv").exists(), told
print("found everywhere")
"""


def test_a_new_operation_is_found_everywhere(tmp_path: Path) -> None:
    """Its folder and its line in ``operations.py`` are all it takes."""
    pytest.importorskip("mkdocs")
    (tmp_path / "toy").mkdir()
    (tmp_path / "toy" / "__init__.py").write_text("")
    (tmp_path / "toy" / "operation.py").write_text(TOY)
    (tmp_path / "found.py").write_text(FOUND)
    people().write_csv(tmp_path / "people.csv")
    options = RELEASE.parents[2] / "docs" / "hooks" / "options.py"
    done = subprocess.run(
        [sys.executable, "found.py", str(options)], cwd=tmp_path, capture_output=True, text=True
    )
    assert "found everywhere" in done.stdout, done.stderr[-3000:]
