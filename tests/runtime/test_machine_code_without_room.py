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


def test_what_was_cut_off_is_compiled_anew(tmp_path: Path) -> None:
    run(tmp_path, "")
    files = [path for path in (tmp_path / "cache").rglob("*.nb?") if path.is_file()]
    assert files
    for path in files:
        path.write_bytes(path.read_bytes()[:50])
    assert run(tmp_path, "") == "[0, 2, 4]\n"
