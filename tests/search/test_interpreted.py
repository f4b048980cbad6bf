"""What the interpreter makes of a kernel is what its machine code makes of it, to the bit and to the type, or nothing at all."""

import json
import os
import subprocess
import sys

import numpy as np
import pytest
from tests.waiting import GUARD

from shoal.search import interpreted as interpreting
from shoal.search.interpreted import COMPILE, interpreted
from shoal.search.kernels import instruction, kernel
from shoal.search.plain_twins import twin
from shoal.search.randomness import below, next_bits, uniform

# Each call from Python is made twice, first in plain Python on copies; nothing is told of kernels that take too many steps.
BOTH_WAYS = """
import json, sys
from copy import deepcopy
from importlib import import_module
import numpy as np
import shoal.search.machine_code
from shoal.search import interpreted as interpreting, kernels
from shoal.search.interpreted import COMPILE, interpreted
from shoal.search.warm_up import modules

asked, told, unlike = set(), set(), set()
by_machine = kernels.Kernel.__call__

def alike(one, other):
    if isinstance(one, tuple):
        return type(one) is type(other) and len(one) == len(other) and all(map(alike, one, other))
    if isinstance(one, np.ndarray):
        return one.dtype == other.dtype and one.shape == other.shape and (one.tobytes() == other.tobytes())
    if isinstance(one, float):
        return type(one) is type(other) and np.float64(one).tobytes() == np.float64(other).tobytes()
    return type(one) is type(other) and one == other

def both(self, *arguments, **named):
    name = f"{self.__module__}.{self.__name__}"
    asked.add(name)
    if named:
        return by_machine(self, *arguments, **named)
    plainly = deepcopy(arguments)
    self.__dict__.pop("_account", None)
    found = interpreted(self, plainly)
    if found is COMPILE and not alike(plainly, arguments):
        unlike.add(name + " leaves traces")
    result = by_machine(self, *arguments)
    if found is not COMPILE:
        told.add(name)
        if not alike(result, found):
            unlike.add(f"{name} {type(result).__name__} {type(found).__name__}")
        if not alike(arguments, plainly):
            unlike.add(name + " changes")
    return result

# Machine code takes the place of kernels as soon as it is there, and nobody would see their calls.
kernels.Kernel.__call__ = both
real = kernels.Kernel._compiled
def compiled_aside(self):
    names = self.py_func.__globals__
    found = real(self)
    if names.get(self.py_func.__name__) is found:
        names[self.py_func.__name__] = self
    return found
kernels.Kernel._compiled = compiled_aside
exec(sys.argv[1])
print(json.dumps([len(asked), len(told), sorted(unlike)]))
"""
WARM_UPS = """
for name in modules():
    if name.startswith(PREFIXES):
        import_module(name).warm_up()
"""
COMMANDS = """
import polars as pl
import shoal
from shoal.search import Budget
generator = np.random.default_rng(SEED)
for _ in range(2):
    size = int(generator.integers(20, 50))
    people = pl.DataFrame({
        "age": generator.integers(20, 60, size), "sex": generator.choice(["f", "m"], size),
        "region": generator.choice(["a", "b", "c"], size), "x": generator.normal(size=size).round(2),
        "y": generator.lognormal(size=size).round(2), "z": generator.integers(0, 5, size).astype(float),
        "w": generator.integers(1, 9, size),
    })
    shoal.risk(people, quasi=["age", "sex", "region"], sample_weights="w")
    shoal.recode(people, quasi=["age", "sex", "region"], k=3, budget=Budget(iterations=60))
    safe = shoal.microaggregate(people, k=3, columns=["x", "y", "z"], budget=Budget(iterations=60))
    shape = generator.integers(3, 6, 2)
    table = generator.integers(1, 40, shape).astype(float)
    pattern = shoal.suppress(table, sensitive=[("1", "1"), ("2", "2")], protection=0.2)
"""


def both_ways(work: str) -> list[object]:
    done = subprocess.run(
        [sys.executable, "-c", BOTH_WAYS, work], capture_output=True, text=True, timeout=GUARD, check=False
    )
    assert done.returncode == 0, done.stderr
    found: list[object] = json.loads(done.stdout.splitlines()[-1])
    return found


@pytest.mark.parametrize(
    "prefixes",
    [
        ("shoal.tables", "shoal.search", "shoal.anonymity"),
        ("shoal.appointments", "shoal.microdata.risk", "shoal.microdata.measures", "shoal.microdata.p"),
        ("shoal.microdata.micro", "shoal.microdata.grouping", "shoal.microdata.mo"),
        ("shoal.microdata.recoding",),
    ],
    ids=["tables", "people", "groups", "keys"],
)
def test_every_kernel_gives_the_same_either_way(prefixes: tuple[str, ...]) -> None:
    asked, told, unlike = both_ways(f"PREFIXES = {prefixes!r}\n{WARM_UPS}")
    assert unlike == []
    assert isinstance(asked, int) and isinstance(told, int) and asked > 0 and told >= 0.8 * asked


@pytest.mark.parametrize("seed", [1, 2])
def test_whole_commands_give_the_same_either_way(seed: int) -> None:
    _, told, unlike = both_ways(f"SEED = {seed}\n{COMMANDS}")
    assert unlike == [] and isinstance(told, int) and told > 30


@kernel
def count_down(values: np.ndarray, steps: int) -> int:
    for step in range(steps):
        values[step % values.size] -= 1
    return values.sum()


@kernel
def halves(values: np.ndarray) -> float:
    values[0] = 7.0
    return values[1] / values[2]


@kernel
def of_small_words(values: np.ndarray) -> int:
    return values[0] - 1


@kernel
def in_order(values: np.ndarray) -> np.ndarray:
    return np.argsort(values)


@kernel
def added_up(values: np.ndarray) -> float:
    return values.sum()


@kernel
def scaled(values: np.ndarray, by: float) -> float:
    return by * values[0]


@kernel
def shifted(values: np.ndarray, left: int) -> int:
    return values[0] << left


only_machine_code = instruction("nowhere:nothing")


@kernel
def calls_what_only_machines_have(values: np.ndarray) -> float:
    return only_machine_code(values)


def fresh(one: object) -> None:
    one.__dict__.pop("_account", None)


def test_what_takes_too_many_steps_is_put_back_and_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(interpreting, "_FEWEST", 50)
    monkeypatch.setattr(interpreting, "_MOST", 50)
    fresh(count_down)
    values = np.zeros(3, dtype=np.int64)
    assert interpreted(count_down, (values, 10)) == -10
    before = values.copy()
    assert interpreted(count_down, (values, 1000)) is COMPILE
    assert np.array_equal(values, before)
    assert interpreted(count_down, (values, 1)) is COMPILE


def test_numbers_that_cannot_be_divided_or_run_over_are_for_machine_code() -> None:
    values = np.array([1.0, 2.0, 0.0])
    assert interpreted(halves, (values,)) is COMPILE
    assert values[0] == 1.0
    assert interpreted(of_small_words, (np.zeros(1, dtype=np.uint8),)) is COMPILE


def test_the_order_of_equal_values_is_for_machine_code() -> None:
    assert interpreted(in_order, (np.array([3.0, 1.0, 2.0]),)).tolist() == [1, 2, 0]
    assert interpreted(in_order, (np.array([3.0, 1.0, 1.0]),)) is COMPILE


def test_sums_are_those_of_one_after_the_other() -> None:
    values = np.random.default_rng(1).normal(size=1000)
    expected = 0.0
    for value in values.tolist():
        expected += value
    found = interpreted(added_up, (values,))
    assert found == expected and type(found) is float


def test_short_numbers_are_for_machine_code_where_it_makes_them_longer() -> None:
    assert interpreted(scaled, (np.ones(1), 0.3)) == 0.3
    assert interpreted(scaled, (np.ones(1, dtype=np.float32), 0.3)) is COMPILE
    assert interpreted(shifted, (np.ones(1, dtype=np.int64), 40)) == 2**40
    assert interpreted(shifted, (np.ones(1, dtype=np.int32), 40)) is COMPILE


def test_large_arrays_are_for_machine_code() -> None:
    fresh(added_up)
    assert interpreted(added_up, (np.zeros(1 << 20),)) is COMPILE


def test_what_only_machines_have_has_no_twin() -> None:
    assert twin(calls_what_only_machines_have.py_func) is None


def test_random_numbers_are_the_same() -> None:
    for one in (next_bits, uniform):
        state, other = (np.arange(1, 5, dtype=np.uint64) * np.uint64(2**62 + 12345) for _ in range(2))
        with np.errstate(over="ignore"):
            for _ in range(50):
                assert interpreted(one, (state,)) == one.py_func(other)
    assert interpreted(below, (state, 10)) in range(10)


COLD = """
import json, sys
import polars as pl
import shoal
people = pl.DataFrame({"age": [30, 31, 45] * 3, "sex": ["f", "f", "m"] * 3, "w": [2] * 9, "x": list(range(9))})
assert shoal.microaggregate(people, k=3, columns=["x"]).loss > 0
print("numba" in sys.modules)
"""


def test_a_tiny_question_on_a_machine_that_compiled_nothing_loads_no_compiler(tmp_path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", COLD],
        env=os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)},
        capture_output=True,
        text=True,
        timeout=GUARD,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == "False\n"
    assert not list(tmp_path.iterdir())
