"""Where machine code cannot be kept, it is used all the same: a disk that is full, a file that was cut off, no place at all."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.waiting import GUARD

PROGRAM = """
import resource, signal, sys
import numpy as np
from shoal.runtime.kernels import kernel

@kernel
def doubled(values):
    return values * 2

if sys.argv[1] == "full":
    # The system refuses in the middle of a file, as a full disk does.
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, 100))
if sys.argv[1] == "nowhere":
    from shoal.runtime import kernels
    kernels.folders = lambda: []
print(doubled(np.arange(3)).tolist())
"""


def run(folder: Path, how: str) -> str:
    (folder / "program.py").write_text(PROGRAM)
    done = subprocess.run(
        [sys.executable, "-B", "program.py", how],
        cwd=folder,
        env=os.environ | {"NUMBA_CACHE_DIR": str(folder / "cache")},
        capture_output=True,
        text=True,
        timeout=GUARD,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


@pytest.mark.parametrize("how", ["full", "nowhere"])
def test_a_kernel_runs_that_cannot_be_kept(tmp_path: Path, how: str) -> None:
    assert run(tmp_path, how) == "[0, 2, 4]\n"
    assert run(tmp_path, "") == "[0, 2, 4]\n"


DAMAGE = {
    "cut off early": lambda content: content[:50],
    "cut off in the middle": lambda content: content[: len(content) // 2],
    "empty": lambda content: b"",
    "never written": lambda content: bytes(len(content)),
    "of another kind": lambda content: b"(i__main__\nnothing_like_it\n." + content,
    "with another number": lambda content: b"I12x\n." + content,
    "another thing": lambda content: b"N." + content,
}


@pytest.mark.parametrize("ending", ["nbi", "nbc"])
@pytest.mark.parametrize("kind", DAMAGE)
def test_what_is_damaged_is_compiled_anew(tmp_path: Path, kind: str, ending: str) -> None:
    run(tmp_path, "")
    files = [path for path in (tmp_path / "cache").rglob(f"*.{ending}") if path.is_file()]
    assert files
    for path in files:
        path.write_bytes(DAMAGE[kind](path.read_bytes()))
    assert run(tmp_path, "") == "[0, 2, 4]\n"
