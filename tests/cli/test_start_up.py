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
# Polars looks at versions of what is installed.
FRAMES = {"numpy", "polars", "narwhals", "email.message"}

CASES = [
    ("anonymity people.csv --quasi zip,age,sex", FRAMES),
    ("assign --group-sizes 28,72,44,56 --capacities 100,100,50", {"numpy"}),
    ("assign --group-sizes 60,40,55,45,70,30,51,49 --capacities 100,100,100,100", {"numpy"}),
    ("suppress table.csv --sensitive sensitive.csv", FRAMES | {"highspy"}),
    ("suppress table.jj", {"numpy", "highspy"}),
    ("suppress table.jj -o pattern.jj --force", {"numpy", "highspy"}),
    ("microaggregate people.csv -k 5 --columns age", FRAMES | {"numpy.ma"}),
    ("microaggregate numbers.csv -k 5", FRAMES),
    ("microaggregate numbers.csv -k 3", FRAMES),
]


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    path = tmp_path_factory.mktemp("small")
    for name, text in FILES.items():
        (path / name).write_text(text)
    return path


@pytest.mark.parametrize(("command", "allowed"), CASES, ids=[command for command, _ in CASES])
def test_a_command_loads_no_more_than_it_needs(folder, command, allowed):
    # The first time on a machine kernels are compiled.
    for _ in range(2):
        loaded = packages_loaded(folder, command)
        if "numba" not in loaded:
            break
    assert loaded <= allowed


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


@pytest.mark.parametrize("more", [[], ["--header-row", "+1"]], ids=["plainly", "by the library"])
def test_garbage_is_looked_for_once_the_command_itself_begins(folder, more):
    code = """
import gc, sys
from shoal.cli import checked, plain_arguments, start
seen = []
def watched(module, name):
    function = getattr(module, name)
    setattr(module, name, lambda *given: (seen.append(gc.isenabled()), function(*given))[1])
watched(checked, "_check")
watched(plain_arguments, "plain")
sys.argv = ["shoal", "anonymity", "people.csv", "--quasi", "zip", "--json", *{more!r}]
try:
    start.main()
except SystemExit as over:
    assert not over.code, over.code
assert seen and not any(seen)
assert gc.isenabled() and gc.get_freeze_count() > 0
assert ("shoal.cli.program" in sys.modules) == bool({more!r})
""".replace("{more!r}", repr(more))
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, timeout=GUARD, check=False
    )
    assert done.returncode == 0, done.stderr


PLAIN_OR_COMPILED = """
import json, sys
import numpy as np
import polars as pl
import shoal
from shoal.appointments.auto import wrap_up
from shoal.appointments.problem import Problem
from shoal.appointments.solvers import filling
from shoal.search import Budget, Seeds, kernels

plain = sys.argv[1] == "plain"
kernels._WORTH = 1e9
if not plain:
    import shoal.search.machine_code
results = []
generator = np.random.default_rng(5)
for seed in range(25):
    shape = generator.integers(2, 7, 2)
    table = generator.integers(0, 30, shape).astype(float)
    row, column = generator.integers(0, shape)
    table[row, column] += 5
    try:
        pattern = shoal.suppress(table, sensitive=[(str(row + 1), str(column + 1))], protection=0.2)
        results.append([pattern.cost, pattern.bound, pattern.solution.complementary.tolist()])
    except shoal.Infeasible:
        results.append(None)
    people = pl.DataFrame({"a": generator.integers(0, 9, 60), "b": generator.integers(0, 5, 60)})
    results.append(str(shoal.anonymity(people, quasi=["a", "b"]).rank))
    sizes = generator.integers(1, 12, generator.integers(2, 6))
    seats = generator.multinomial(sizes.sum() + generator.integers(0, 4), np.ones(4) / 4)
    problem = Problem(sizes, seats)
    rule = filling.better_rule(problem)
    wrapped = wrap_up(problem, rule, 6, Budget(iterations=2).start(direction=problem.direction), Seeds(seed))
    results.append([rule.tolist(), wrapped.tolist()])
assert plain == ("shoal.search.machine_code" not in sys.modules)
print(json.dumps(results))
"""


def test_plain_python_and_machine_code_give_the_same():
    def results(kind):
        done = subprocess.run(
            [sys.executable, "-c", PLAIN_OR_COMPILED, kind], capture_output=True, text=True, timeout=GUARD
        )
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    plain, compiled = results("plain"), results("compiled")
    assert len(plain) == 75
    assert plain == compiled
