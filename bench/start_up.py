"""What a whole command costs on a tiny input, beside loading NumPy and Polars: both in processes of their own, in turns.

CPU seconds of the fastest of several turns, so that the speed of the machine drops out of the ratio. Everything has its
bytecode at hand, as after an installation, and the machine code of kernels. Rows that say "nothing compiled" are of a machine
without it, once each, and only inform, as do rows without a limit.
"""

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

# The most a command may cost; a row without a limit only informs.
MOST: dict[str, float] = {"anonymity": 3.0, "assign": 3.0, "suppress": 5.0, "microaggregate": 5.0}
TURNS = 5
# Asked where no machine code was kept.
COLD = {
    "anonymity, 100 records": "anonymity people100.csv --quasi a,b",
    "risk, 100 records": "risk people100.csv --quasi a,b --population 9000",
    "suppress, 25 cells": "suppress table5.csv --sensitive sensitive5.csv",
    "round, 25 cells": "round table5.csv --base 5 --sensitive sensitive5.csv",
    "microaggregate, one column": "microaggregate numbers.csv -k 5 --columns x",
    "recode, 100 records": "recode people100.csv --quasi a,b -k 3",
}


def run() -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder))
        commands = {
            "anonymity, 100 records": "anonymity people100.csv --quasi a,b",
            "anonymity, 3,000 records": "anonymity people3000.csv --quasi a,b",
            "assign, four groups": "assign --group-sizes 28,72,44,56 --capacities 100,100,50",
            "assign, eight groups": "assign --group-sizes 60,40,55,45,70,30,51,49 --capacities 100,100,100,100",
            "assign, three groups that need a search": (
                "assign --group-sizes 102,200,298 --capacities 100,100,100,100,200"
            ),
            "suppress, 25 cells": "suppress table5.csv --sensitive sensitive5.csv",
            "suppress, 121 cells": "suppress table11.csv --sensitive sensitive11.csv",
            "suppress, 196 cells": "suppress table14.csv --sensitive sensitive14.csv",
            "microaggregate, 1,000 records": "microaggregate numbers.csv -k 5",
            "microaggregate without bound": "microaggregate numbers.csv -k 5 --no-bound",
            "recode, 100 records": "recode people100.csv --quasi a,b -k 3",
        }
        plain = [sys.executable, "-c", "import numpy, polars"]
        works = {name: shoal(command) for name, command in commands.items()}
        best = dict.fromkeys(("", *works), float("inf"))
        for _ in range(TURNS):
            for name, arguments in {"": plain, **works}.items():
                best[name] = min(best[name], cpu(arguments, folder))
        cold = {}
        for name, command in COLD.items():
            with tempfile.TemporaryDirectory() as nothing:
                cold[name] = cpu(shoal(command), folder, NUMBA_CACHE_DIR=nothing)
    return [
        {
            "name": f"{name} / importing numpy and polars",
            "measured": best[name] / best[""],
            "limit": limit,
            "unit": "ratio of CPU",
            "ok": limit is None or best[name] / best[""] <= limit,
        }
        for name, command in commands.items()
        for limit in [MOST.get(command.split()[0])]
    ] + [
        {
            "name": f"{name}, nothing compiled / importing numpy and polars",
            "measured": seconds / best[""],
            "limit": None,
            "unit": "ratio of CPU",
            "ok": True,
        }
        for name, seconds in cold.items()
    ]


def shoal(command: str) -> list[str]:
    return [sys.executable, "-m", "shoal.cli.start", *command.split(), "--json"]


def cpu(arguments: list[str], folder: str, **more: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    bytecode = {"PYTHONPYCACHEPREFIX": str(Path(folder) / "bytecode"), "PYTHONDONTWRITEBYTECODE": ""}
    subprocess.run(arguments, cwd=folder, check=True, capture_output=True, env=os.environ | bytecode | more)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def write(folder: Path) -> None:
    generator = np.random.default_rng(1)
    for number in (100, 3000):
        people = generator.integers(0, number // 20, (number, 2))
        lines = "".join(f"{one},{other}\n" for one, other in people)
        (folder / f"people{number}.csv").write_text("a,b\n" + lines)
    numbers = generator.normal(size=(1000, 3)).round(4)
    (folder / "numbers.csv").write_text("x,y,z\n" + "".join(f"{x},{y},{z}\n" for x, y, z in numbers))
    for size in (5, 11, 14):
        inner = generator.integers(1, 100, (size - 1, size - 1))
        whole = np.block([[inner, inner.sum(1)[:, None]], [inner.sum(0)[None, :], inner.sum()[None, None]]])
        lines = ["," + ",".join([*(f"c{column}" for column in range(size - 1)), "total"])]
        for row, values in enumerate(whole):
            name = f"r{row}" if row < size - 1 else "total"
            lines.append(name + "," + ",".join(map(str, values)))
        (folder / f"table{size}.csv").write_text("\n".join(lines) + "\n")
        chosen = generator.choice((size - 1) ** 2, max(1, size * size // 15), replace=False)
        cells = (divmod(int(place), size - 1) for place in chosen)
        (folder / f"sensitive{size}.csv").write_text(
            "row,column\n" + "".join(f"r{row},c{column}\n" for row, column in cells)
        )
