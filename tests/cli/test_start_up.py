"""Small questions load little: the packages that each command may load for an input that fits on a page."""

import json
import subprocess
import sys

import pytest
from tests.waiting import GUARD

PACKAGES = """
numpy numba polars pandas pyarrow narwhals scipy scipy.linalg scipy.sparse sqlalchemy altair ortools highspy pyscipopt
typer rich llvmlite numpy.ma email.message
shoal.cli.program shoal.cli.generate shoal.microdata.grouping.api shoal.microdata.models.model
""".split()  # noqa: SIM905
FILES = {
    "people.csv": "zip,age,sex\n"
    + "".join(f"{number % 7},{number % 5 + 30},{'fm'[number % 2]}\n" for number in range(100)),
    "numbers.csv": "x,y,z\n"
    + "".join(f"{number * 37 % 101},{number * number % 97},{number % 89}\n" for number in range(1000)),
    "table.csv": ",a,b,c,total\nx,10,20,30,60\ny,40,50,60,150\nz,70,80,90,240\ntotal,120,150,180,450\n",
    "sensitive.csv": "row,column\ny,b\n",
    "table.jj": "0\n9\n"
    + "".join(
        f"{cell} {value} {value} {'u' if cell == 0 else 's' if cell in (1, 3, 4) else 'z'} 0 1000 {level} {level} 0\n"
        for cell, (value, level) in enumerate(
            [(10, 2), (20, 0), (30, 0), (40, 0), (50, 0), (90, 0), (50, 0), (70, 0), (120, 0)]
        )
    )
    + "6\n"
    + "".join(
        f"0 3 : {total} (-1) {one} (1) {two} (1)\n"
        for one, two, total in [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8)]
    ),
}
COMMAND = {"typer", "shoal.cli.program"}
# Polars looks at versions of what is installed.
FRAMES = COMMAND | {"numpy", "polars", "narwhals", "email.message"}
KERNELS = {"numpy", "numba", "llvmlite", "scipy", "scipy.linalg", "numpy.ma", "email.message"}

CASES = [
    ("anonymity people.csv --quasi zip,age,sex", FRAMES | KERNELS),
    ("assign --group-sizes 28,72,44,56 --capacities 100,100,50", COMMAND | KERNELS),
    ("assign --group-sizes 60,40,55,45,70,30,51,49 --capacities 100,100,100,100", COMMAND | KERNELS),
    ("suppress table.csv --sensitive sensitive.csv", FRAMES | KERNELS | {"highspy"}),
    ("suppress table.jj", COMMAND | KERNELS | {"highspy"}),
    ("suppress table.jj -o pattern.jj --force", COMMAND | KERNELS | {"highspy"}),
    ("microaggregate people.csv -k 5 --columns age", FRAMES | KERNELS),
    ("microaggregate numbers.csv -k 5", FRAMES | KERNELS),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("small")
    for name, text in FILES.items():
        (path / name).write_text(text)
    return path


@pytest.mark.parametrize(("command", "allowed"), CASES, ids=[command for command, _ in CASES])
def test_a_command_loads_no_more_than_it_needs(folder, command, allowed):
    assert packages_loaded(folder, command) <= allowed


def packages_loaded(folder, command):
    code = f"""
import json, sys
from shoal.cli.start import main
sys.argv = ["shoal", *{command.split()!r}, "--json"]
try:
    main()
except SystemExit as over:
    assert not over.code, over.code
print(json.dumps([name for name in {PACKAGES!r} if name in sys.modules]))
"""
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, timeout=GUARD, check=False
    )
    assert done.returncode == 0, done.stderr
    return set(json.loads(done.stdout.splitlines()[-1]))
