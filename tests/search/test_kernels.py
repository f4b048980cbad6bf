"""Compilation: cached on disk, announced once, never stale; and nothing heavy is imported without need."""

import os
import subprocess
import sys

import pytest
from tests.waiting import GUARD

LOW = """
from shoal.search.kernels import kernel

STEP = {constant}

@kernel
def step(x):
    return x + {added}
"""

HIGH = """
from shoal.search import interpreted
interpreted._MOST = 0
import low
from low import STEP, step
from shoal.search.compilation import on_first_compilation
from shoal.search.kernels import kernel

@kernel
def twice(x):
    return step(step(x)) + STEP

@kernel(inline="always")
def thrice(x):
    return low.step(twice(x)) * low.STEP

if __name__ == "__main__":
    on_first_compilation(lambda: print("compiling"))
    print(int(twice(5)), int(thrice(5)))
"""


@pytest.fixture
def program(tmp_path):
    (tmp_path / "high.py").write_text(HIGH)

    def run(*, added=1, constant=1):
        (tmp_path / "low.py").write_text(LOW.format(added=added, constant=constant))
        environment = os.environ | {
            "NUMBA_CACHE_DIR": str(tmp_path / "cache"),
            "PYTHONDONTWRITEBYTECODE": "1",
        }
        done = subprocess.run(
            [sys.executable, "high.py"],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=GUARD,
            check=True,
        )
        return done.stdout.split("\n")[:-1]

    return run


def test_compilation_is_announced_once_and_only_when_true(program):
    assert program() == ["compiling", "8 9"]
    assert program() == ["8 9"]


def test_a_change_in_another_file_is_noticed(program):
    program()
    assert program(added=10) == ["compiling", "26 36"]
    assert program(added=10) == ["26 36"]
    assert program(added=10, constant=100) == ["compiling", "125 13500"]


PLAIN = """
import sys
from shoal.search import interpreted
interpreted._MOST = 0
from shoal.search import kernels
from shoal.search.kernels import in_plain_python, kernel

@kernel
def inner(x):
    return x + 1

@kernel
def outer(x):
    return inner(inner(x))

with in_plain_python(where=False):
    pass
with in_plain_python():
    assert outer(1) == 3 and "numba" not in sys.modules
    kernels._patience.get().left = 0.0
    assert outer(1) == 3 and "numba" in sys.modules
with in_plain_python():
    assert kernels._patience.get() is None
assert outer.nopython_signatures and inner.py_func(1) == 2
"""


def test_plain_python_is_used_until_loading_would_have_been_quicker(tmp_path):
    (tmp_path / "plain.py").write_text(PLAIN)
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    done = subprocess.run(
        [sys.executable, "plain.py"],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=GUARD,
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    "module", ["shoal.search", "shoal.search.kernels", "shoal.search.conformance", "shoal.search.interrupt"]
)
def test_importing_the_contract_imports_nothing_heavy(module):
    heavy = "{'numpy', 'numba', 'scipy', 'polars', 'pydantic', 'ortools', 'highspy', 'sqlalchemy', 'altair'}"
    code = f"import sys, {module}; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=GUARD
    )
    assert done.stdout == "[]\n"
