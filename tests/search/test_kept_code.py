"""Machine code that was kept does what Numba's does, without Numba, and is made anew when anything it depends on changes."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from tests.waiting import GUARD

from shoal.search import object_files
from shoal.search.kept_code import _held

CALLED = """
from typing import NamedTuple

import numpy as np

from shoal.search.kernels import kernel

FACTOR = {factor}

class Pair(NamedTuple):
    values: np.ndarray
    weight: float

@kernel(error_model="numpy")
def scaled(pair, n, backwards):
    scratch = np.zeros(n)
    for i in range(n):
        scratch[n - 1 - i if backwards else i] = pair.values[i] * pair.weight * FACTOR
    total = 0.0
    for i in range(n):
        total += np.sqrt(scratch[i]) * (i + 1)
        pair.values[i] = scratch[i]
    return total

@kernel
def parts(table, whole):
    return table[1, 0] + whole, table.shape[1], table[0, 0] > 0

@kernel
def listed(x):
    return np.arange(x)

@kernel
def divided(x, y):
    return x // y
"""

PROGRAM = """
from shoal.search import interpreted
interpreted._MOST = 0
import json, sys
import numpy as np
import platform
import called
from called import Pair, divided, listed, parts, scaled

# Where object files are loaded without the compiler that made them.
OURS = sys.platform == "linux" and platform.machine() == "x86_64"
values = np.arange(1.0, 6.0)
results = [scaled(Pair(values, 2.0), 5, True), values.tolist()]
results.append(scaled(Pair(np.arange(4.0), 1.5), np.int64(4), np.bool_(False)))
table = np.arange(6.0).reshape(2, 3)
readonly = table.copy()
readonly.setflags(write=False)
for one in (table, readonly, table[:, ::2], np.asfortranarray(table)):
    results.append(parts(one, 7))
assert scaled.py_func and all(type(x) in (float, int, bool) for x in results[-1])
results.append(divided(7, -2))
loaded = "numba" in sys.modules
assert loaded or "llvmlite" not in sys.modules or not OURS
try:
    divided(1, 0)
    failed = "nothing"
except ZeroDivisionError:
    failed = "division"
except AssertionError:
    failed = "status"
results.append(listed(3).tolist())
assert "numba" in sys.modules
print(json.dumps([results, loaded, failed]))
"""


def run(folder, *, factor=3, **environment):
    (folder / "program.py").write_text(PROGRAM)
    (folder / "called.py").write_text(CALLED.format(factor=factor))
    done = subprocess.run(
        [sys.executable, "program.py"],
        cwd=folder,
        env=os.environ | {"NUMBA_CACHE_DIR": str(folder / "cache"), **environment},
        capture_output=True,
        text=True,
        timeout=GUARD,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_same_with_and_without_numba_and_never_stale(tmp_path):
    first, loaded, failed = run(tmp_path)
    assert loaded and failed == "division"
    again, loaded, failed = run(tmp_path)
    assert again == first
    # Without Numba nobody knows what was raised, only that something was.
    assert not loaded and failed == "status"
    values = [30.0, 24.0, 18.0, 12.0, 6.0]
    assert first[1] == values
    assert first[0] == pytest.approx(sum(value**0.5 * (place + 1) for place, value in enumerate(values)))
    assert first[3] == [10.0, 3, False] and first[-2:] == [-4, [0, 1, 2]]
    files = {path: path.stat().st_size for path in (tmp_path / "cache").glob("*.kept")}
    kept = sorted((path.name.split(".")[1].split("-")[0], size > 10) for path, size in files.items())
    # Of a kernel that returns an array it is kept that there is nothing to keep.
    assert kept == [("divided", True), ("listed", False), *[("parts", True)] * 4, ("scaled", True)]
    # What changes code is left to Numba.
    assert run(tmp_path, NUMBA_OPT="1") == [first, True, "division"]
    # A constant that changes is noticed, and nothing stale stays.
    changed, loaded, _ = run(tmp_path, factor=12)
    assert loaded and changed[0] == pytest.approx(2 * first[0])
    assert run(tmp_path, factor=12) == [changed, False, "status"]
    assert len(list((tmp_path / "cache").glob("*.kept"))) == 7


CHANGED = """
from shoal.search import interpreted
interpreted._MOST = 0
import numpy as np
from typing import NamedTuple
from shoal.search.kernels import kernel
from shoal.search import kept_code

class State(NamedTuple):
    values: np.ndarray
    empty: np.ndarray

@kernel
def total(state, column):
    found = 0.0
    for i in range(state.values.shape[0]):
        found += state.values[i] * column[i]
    return found + state.empty.shape[0]

ones = np.ones(3)
for size in range(1, 30):
    state = State(np.arange(float(size)), np.empty(0))
    assert [total(state, np.full(size, 2.0)) for _ in range(3)] == 3 * [size * (size - 1.0)]
    # The same tuple with other values in it.
    state.values[:] = 1.0
    assert total(state, np.ones(size)) == size
    readonly = np.ones(2 * size)[::2]
    readonly.setflags(write=False)
    assert total(state, readonly) == size
assert len(kept_code._tuples) <= kept_code._FEW
large = State(np.zeros(200_000), np.empty(0))
assert total(large, large.values) == 0.0
assert not any(found.whole is large for found in kept_code._tuples.values())
"""


def test_tuples_that_were_taken_apart_are_told_apart(tmp_path):
    (tmp_path / "changed.py").write_text(CHANGED)
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "changed.py"],
            cwd=tmp_path,
            env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")},
            capture_output=True,
            text=True,
            timeout=GUARD,
        )
        assert done.returncode == 0, done.stderr


def test_other_files_are_left_to_the_compiler(tmp_path):
    run(tmp_path)
    code = next((tmp_path / "cache").glob("*scaled*.kept")).read_bytes().partition(b"\n")[2]
    assert object_files.address(b"", "kernel") is None
    assert object_files.address(code, "another name") is None
    if code.startswith(b"\x7fELF"):
        other = bytearray(code)
        other[18:20] = (183).to_bytes(2, "little")  # the processors of telephones
        assert object_files.address(bytes(other), "kernel") is None
        for end in range(0, len(code), 7):
            assert object_files.address(code[:end], "another name") is None


def test_a_part_of_a_large_array_is_not_held():
    large = np.zeros(1_000_000)
    assert _held((large[:10], (large[:10],))) == 2 * large.nbytes
    assert _held((np.zeros(10), 3, (2.0, np.zeros(5)))) == 120


MANY = """
from shoal.search import interpreted
interpreted._MOST = 0
import sys
from shoal.search import kernels
from shoal.search.kernels import kernel

@kernel
def more(x):
    return x + 1

kernels._FEW_CALLS = 3
assert [more(x) for x in range(3)] == [1, 2, 3]
before = "numba" in sys.modules
assert more(3) == 4 and "numba" in sys.modules
print(before)
"""


def test_numba_is_loaded_for_many_calls(tmp_path):
    (tmp_path / "many.py").write_text(MANY)

    def before():
        environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
        command = [sys.executable, "many.py"]
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=GUARD
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    assert [before(), before()] == ["True\n", "False\n"]


MACHINE = """
from shoal.search import interpreted
interpreted._MOST = 0
import os, sys
from shoal.search import kept_code

named = os.environ["MACHINE"]
kept_code.processor = lambda: named
from many import more

more(1)
print("numba" in sys.modules)
"""


def test_machines_that_share_a_place_keep_their_own_and_only_a_few(tmp_path):
    (tmp_path / "machine.py").write_text(MACHINE)
    source = tmp_path / "many.py"

    def compiled(machine, number=1):
        source.write_text(
            f"from shoal.search.kernels import kernel\n\n@kernel\ndef more(x):\n    return x + {number}\n"
        )
        environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache"), "MACHINE": machine}
        command = [sys.executable, "machine.py"]
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=GUARD
        )
        assert done.returncode == 0, done.stderr
        return done.stdout == "True\n"

    def kept():
        return len(list((tmp_path / "cache").glob("*.kept")))

    assert compiled("old") and compiled("new") and kept() == 2
    # Neither took the other's away.
    assert not compiled("old") and not compiled("new")
    # What one machine makes anew takes the place of its own, not of the other's.
    assert compiled("new", 22) and kept() == 2 and not compiled("old", 1)
    assert compiled("third") and compiled("fourth") and kept() == 4
    assert compiled("fifth") and kept() == 4
    # The one that was written first is gone.
    assert not compiled("fifth") and compiled("old")
