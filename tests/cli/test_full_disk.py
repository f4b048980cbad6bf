"""A disk that is full, for real: one line and exit code 2, whatever is written."""

import resource
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.cli.running import shoal


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    draw = np.random.default_rng(1)
    people = pl.DataFrame(
        {"id": range(2_000), "sex": draw.choice(["f", "m"], 2_000), "x": draw.normal(size=2_000)}
    )
    people.write_csv(tmp_path / "people.csv")
    (tmp_path / "slots.csv").write_text(
        "slot,capacity,centre,start,end\n1,4000,A,2026-03-02T09:00:00,2026-03-02T10:00:00\n"
    )
    made = ["generate", "table", "--rows", 40, "--columns", 20, "--sensitive", 1]
    assert shoal(*made, "-o", tmp_path / "table.csv").code == 0
    return tmp_path


def run(folder: Path, arguments: str, **options: object) -> "subprocess.CompletedProcess[str]":
    # Compiled modules would be cut off, too, and stay so.
    command = [sys.executable, "-B", "-m", "shoal", *arguments.split()]
    return subprocess.run(command, cwd=folder, stderr=subprocess.PIPE, text=True, check=False, **options)  # type: ignore[call-overload,no-any-return]


def limited() -> None:
    """No file may grow beyond this: the system refuses in the middle, as a full disk does."""
    resource.setrlimit(resource.RLIMIT_FSIZE, (5_000, 5_000))


@pytest.mark.parametrize(
    "arguments",
    [
        "microaggregate people.csv -k 5 --columns x --method mdav -o out.csv",
        "microaggregate people.csv -k 5 --columns x --method mdav -o sqlite:///out.db::t",
        "anonymity people.csv --quasi sex --report out.html",
        "suppress table.csv --sensitive table.sensitive.csv --method hypercube -o out.jj",
        "assign people.csv slots.csv --quasi sex --method greedy --calendar out",
    ],
)
def test_in_the_middle_of_an_output(folder, arguments, tmp_path_factory):
    # Kernels are compiled and kept before, or else it is they that find no room.
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "folder"
    assert run(shutil.copytree(folder, elsewhere), arguments, stdout=subprocess.PIPE).returncode == 0
    before = sorted(path.name for path in folder.iterdir())
    done = run(folder, f"{arguments} --quiet", stdout=subprocess.PIPE, preexec_fn=limited)
    assert done.returncode == 2, done.stderr
    (line,) = [text for text in done.stderr.splitlines() if not text.startswith("warning: ")]
    assert line.startswith("shoal: ") and "cannot be written: " in line
    assert "larger than a file may be" in line or "disk" in line
    assert sorted(path.name for path in folder.iterdir()) == before


@pytest.mark.parametrize("extra", ["", " --json"])
def test_on_standard_output(folder, extra):
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    with Path("/dev/full").open("w") as full:
        done = run(folder, f"anonymity people.csv --quasi sex{extra}", stdout=full)
    assert done.returncode == 2
    assert done.stderr == "shoal: the disk is full; nothing was written\n"
