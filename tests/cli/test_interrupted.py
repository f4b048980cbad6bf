"""Ctrl-C at any moment of a process: exit code 130 and one line. Nothing here waits: an import sends the signal."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import atexit, os, signal, sys

when = sys.argv[1]

class Finder:
    seen = 0

    def find_spec(self, name, path=None, target=None):
        Finder.seen += 1
        if name == when or str(Finder.seen) == when:
            os.kill(os.getpid(), signal.SIGINT)
        return None

if when == "the end":
    atexit.register(os.kill, os.getpid(), signal.SIGINT)
sys.argv = ["shoal", *sys.argv[2:]]
from shoal.cli import start
sys.meta_path.insert(0, Finder())
start.main()
"""


def run(folder: Path, when: str, *extra: str) -> "subprocess.CompletedProcess[str]":
    (folder / "m.csv").write_text("a,b\n1,2\n3,4\n5,6\n7,1\n2,2\n9,9\n")
    words = [
        "microaggregate",
        "m.csv",
        "-k",
        "2",
        "--columns",
        "a,b",
        "--method",
        "mdav",
        "--quiet",
        "-o",
        "safe.csv",
    ]
    command = [sys.executable, "-c", PROGRAM, when, *words, *extra]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


NOTHING = "shoal: interrupted; nothing was written\n"


@pytest.mark.parametrize(
    "when",
    [
        "typer",
        "shoal.cli.tabulate",
        "polars",
        "numba",
        "shoal.microdata.microaggregation.construct.mdav",
        "1",
        "500",
    ],
)
def test_before_anything_is_written(tmp_path, when):
    done = run(tmp_path, when)
    assert done.returncode == 130
    assert done.stderr == NOTHING
    assert done.stdout == ""
    assert [path.name for path in tmp_path.iterdir()] == ["m.csv"]


def test_after_everything_is_written(tmp_path):
    done = run(tmp_path, "rich.table")
    assert done.returncode == 130
    assert done.stderr == "shoal: interrupted after the results were written\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["m.csv", "safe.csv"]


def test_when_the_command_is_done(tmp_path):
    done = run(tmp_path, "the end")
    assert done.returncode == 0, "it is too late to interrupt"
    assert done.stderr == ""


@pytest.mark.parametrize("when", ["typer", "polars"])
def test_with_json(tmp_path, when):
    done = run(tmp_path, when, "--json")
    assert done.returncode == 130
    assert json.loads(done.stdout) == {"error": "interrupted; nothing was written", "kind": "interrupt"}
    assert done.stderr == ""
