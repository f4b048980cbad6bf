"""Who may import whom: the contracts of pyproject.toml hold, and breaking one is seen."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).resolve().parents[1]
COMMAND = "from importlinter.cli import lint_imports_command; lint_imports_command()"


def contracts(tree: Path) -> tuple[int, str]:
    """The exit code of import-linter on a tree and what it said."""
    done = subprocess.run(
        [sys.executable, "-c", COMMAND, "--no-cache", "--config", "pyproject.toml"],
        cwd=tree,
        env={**os.environ, "PYTHONPATH": str(tree / "src"), "COLUMNS": "200"},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.returncode, done.stdout + done.stderr


def test_the_contracts_hold() -> None:
    code, said = contracts(HERE)
    assert code == 0, said
    assert "0 broken" in said


@pytest.fixture(scope="module")
def copied(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tree beside the real one, to break it in."""
    tree = tmp_path_factory.mktemp("tree")
    shutil.copytree(
        HERE / "src" / "shoal", tree / "src" / "shoal", ignore=shutil.ignore_patterns("__pycache__")
    )
    shutil.copy(HERE / "pyproject.toml", tree)
    return tree


INDEPENDENT = "A check imports no solver, and nothing that makes a release"

BROKEN = [
    ("appointments/verify", "shoal.appointments.solvers.fill_kernels", INDEPENDENT),
    ("microdata/microaggregation/verify", "shoal.microdata.microaggregation.release", INDEPENDENT),
    ("microdata/microaggregation/verify", "shoal.microdata.microaggregation.construct.mdav", INDEPENDENT),
    ("microdata/grouping/verify", "shoal.microdata.microaggregation.construct.mdav", INDEPENDENT),
    ("microdata/grouping/verify", "shoal.microdata.grouping.evaluator", INDEPENDENT),
    ("tables/verify", "shoal.tables.safety.audit", INDEPENDENT),
    ("tables/verify", "shoal.tables.heuristic.certificates", INDEPENDENT),
    ("release/verify/api", "shoal.release.run.running", INDEPENDENT),
    ("release/verify/inside", "shoal.release.run.step", INDEPENDENT),
    ("release/verify/inside", "shoal.tables.safety.audit", INDEPENDENT),
    # By way of another module is no better.
    ("appointments/problem", "shoal.appointments.solvers.fill_kernels", INDEPENDENT),
    ("appointments/verify", "shoal.tables.problem", "know nothing of each other"),
]


@pytest.mark.parametrize(("module", "imports", "contract"), BROKEN)
def test_a_planted_import_is_refused(copied: Path, module: str, imports: str, contract: str) -> None:
    file = copied / "src" / "shoal" / f"{module}.py"
    kept = file.read_text(encoding="utf-8")
    try:
        # Within a function it counts as much.
        file.write_text(f"{kept}\n\ndef _borrow() -> None:\n    import {imports}\n", encoding="utf-8")
        code, said = contracts(copied)
    finally:
        file.write_text(kept, encoding="utf-8")
    assert code == 1, said
    broken = [line for line in said.splitlines() if " BROKEN" in line]
    assert any(contract in line for line in broken), said
    assert f"shoal.{module.replace('/', '.')} -> {imports}" in said
