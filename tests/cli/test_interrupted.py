"""Ctrl-C at any moment of a process: exit code 130 and one line. Nothing here waits: an import sends the signal."""

import json
import os
import signal
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

import shoal

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
        "pydantic",
        "shoal.cli.operation",
        "polars",
        "narwhals",
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


@pytest.mark.parametrize("when", ["pydantic", "polars"])
def test_with_json(tmp_path, when):
    done = run(tmp_path, when, "--json")
    assert done.returncode == 130
    assert json.loads(done.stdout) == {"error": "interrupted; nothing was written", "kind": "interrupt"}
    assert done.stderr == ""


# Python runs this when it starts, before it looks for the package. What happens until the package is found is not ours.
FIRST = """
import os, signal, sys

class Finder:
    left = None

    def find_spec(self, name, path=None, target=None):
        if name == "shoal":
            Finder.left = int(os.environ["WHICH_IMPORT"])
        elif Finder.left is not None:
            Finder.left -= 1
            if Finder.left == 0:
                os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Finder())
"""


def start(folder: Path, way: str, which: int, *words: str) -> "subprocess.CompletedProcess[str]":
    """The command as people start it, interrupted when the package and so many modules more were asked for."""
    (folder / "sitecustomize.py").write_text(FIRST)
    command = ["-m", "shoal"]
    if way == "script":
        project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())
        module, function = project["project"]["scripts"]["shoal"].split(":")
        command = [str(folder / "shoal")]
        Path(command[0]).write_text(f"import sys\nfrom {module} import {function}\nsys.exit({function}())\n")
    source = str(Path(shoal.__file__).parents[1])
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join([str(folder), source]),
        "WHICH_IMPORT": str(which),
    }
    return subprocess.run(
        [sys.executable, *command, *words],
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=listening,
    )


def listening() -> None:
    """Whatever started the tests may ignore Ctrl-C, as shells do for what runs in the background; a user's shell does not."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


@pytest.mark.parametrize("way", ["module", "script"])
def test_from_the_first_module_on(tmp_path, way):
    for which in (*range(1, 16), 40, 80):
        done = start(tmp_path, way, which, "--version")
        assert (done.returncode, done.stdout, done.stderr) == (130, "", NOTHING), which
    done = start(tmp_path, way, 1, "--version", "--json")
    assert (done.returncode, json.loads(done.stdout)["kind"], done.stderr) == (130, "interrupt", "")
    assert start(tmp_path, way, 10**9, "--version").returncode == 0


def test_a_library_leaves_ctrl_c_to_the_program(tmp_path):
    program = tmp_path / "shoal"
    program.write_text(
        "import signal\nbefore = signal.getsignal(signal.SIGINT)\nimport shoal\nshoal.anonymity\n"
        "assert signal.getsignal(signal.SIGINT) is before is signal.default_int_handler\n"
    )
    subprocess.run([sys.executable, program], check=True, preexec_fn=listening)
