"""Compilation: cached on disk, announced once, never stale; and nothing heavy is imported without need."""

import ast
import inspect
import os
import shutil
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest
from tests.waiting import GUARD

import shoal
from shoal.runtime.kernels import Kernel, is_source_of_kernels
from shoal.runtime.warm_up import modules

LOW = """
from shoal.runtime.kernels import kernel

STEP = {constant}

@kernel
def step(x):
    return x + {added}
"""

HIGH = """
from shoal import low
from shoal.low import STEP, step
from shoal.runtime.compilation import on_first_compilation
from shoal.runtime.kernels import kernel

@kernel
def twice(x):
    return step(step(x)) + STEP

@kernel(inline="always")
def thrice(x):
    return low.step(twice(x)) * low.STEP

on_first_compilation(lambda: print("compiling"))
print(int(twice(5)), int(thrice(5)))
"""


@pytest.fixture
def program(tmp_path):
    """A package of this name with the machinery and two modules with kernels of its own."""
    package = tmp_path / "shoal"
    shutil.copytree(
        Path(shoal.__file__).parent / "runtime",
        package / "runtime",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    for name in ("__init__.py", "_version.py", "errors.py", "import_paths.py", "numbers.py"):
        shutil.copy(Path(shoal.__file__).parent / name, package)
    (package / "high.py").write_text(HIGH)

    def run(*, added=1, constant=1):
        (package / "low.py").write_text(LOW.format(added=added, constant=constant))
        done = subprocess.run(
            [sys.executable, "-B", "-m", "shoal.high"],
            cwd=tmp_path,
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


USERS_OWN = """
import numba
from numba import njit
from shoal.runtime.randomness import below
import numpy as np

below(np.arange(1, 5, dtype=np.uint64), 3)

@njit(cache=True)
def own(x):
    return x + 1

assert own(1) == 2
assert numba.config.CACHE_DIR == ""
"""


def test_functions_of_the_user_are_cached_where_they_were(tmp_path):
    (tmp_path / "own.py").write_text(USERS_OWN)
    environment = {name: value for name, value in os.environ.items() if name != "NUMBA_CACHE_DIR"}
    subprocess.run([sys.executable, "own.py"], cwd=tmp_path, env=environment, check=True, timeout=GUARD)
    assert list((tmp_path / "__pycache__").glob("own.own-*.nbi"))


def test_constants_of_kernels_are_in_files_with_kernels():
    """The name of the folder with machine code covers these files alone."""
    found = set()
    for name in modules():
        for item in vars(import_module(name)).values():
            if isinstance(item, Kernel):
                source = Path(inspect.getfile(item.py_func))
                assert is_source_of_kernels(source.read_bytes())
                found |= {(source, constant) for constant in imported_constants(item.py_func, source)}
    assert not [
        (source.name, constant)
        for source, (constant, origin) in found
        if not is_source_of_kernels(origin.read_bytes())
    ]


def imported_constants(function, source):
    """The numbers and texts that a function uses and its file imports, each with the file it comes from."""
    used = {name for name in function.__code__.co_names if name in function.__globals__}
    plain = {
        name for name in used if isinstance(function.__globals__[name], bool | int | float | str | tuple)
    }
    for statement in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        if isinstance(statement, ast.ImportFrom) and statement.module.startswith("shoal"):
            for alias in statement.names:
                if (alias.asname or alias.name) in plain:
                    yield alias.name, Path(import_module(statement.module).__file__)


@pytest.mark.parametrize(
    "module",
    ["shoal.runtime", "shoal.runtime.kernels", "shoal.runtime.conformance", "shoal.runtime.interrupt"],
)
def test_importing_the_contract_imports_nothing_heavy(module):
    heavy = "{'numpy', 'numba', 'scipy', 'polars', 'pydantic', 'ortools', 'highspy', 'sqlalchemy', 'altair'}"
    code = f"import sys, {module}; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=GUARD
    )
    assert done.stdout == "[]\n"
