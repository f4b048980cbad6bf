"""What a whole command costs on a tiny input, beside loading NumPy and Polars: both in processes of their own, in turns.

CPU seconds of the fastest of several turns, so that the speed of the machine drops out of the ratio. Everything has its
bytecode at hand, as after an installation, and the machine code of kernels that was kept. Some rows have limits of their own:
the proof for 121 cells and the search over 1,000 records are work beyond loading.
"""

import os
import resource
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

MOST = 2.5
MOST_WORK = 3.0
TURNS = 5


def run() -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        write(Path(folder))
        commands = {
            "anonymity, 100 records": ("anonymity people.csv --quasi a,b", MOST),
            "assign, four groups": ("assign --group-sizes 28,72,44,56 --capacities 100,100,50", MOST),
            "assign, eight groups": (
                "assign --group-sizes 60,40,55,45,70,30,51,49 --capacities 100,100,100,100",
                MOST,
            ),
            "suppress, 25 cells": ("suppress table5.csv --sensitive sensitive5.csv", MOST),
            "suppress, 121 cells": ("suppress table11.csv --sensitive sensitive11.csv", MOST_WORK),
            "microaggregate, 1,000 records": ("microaggregate numbers.csv -k 5", MOST_WORK),
            "microaggregate without bound": ("microaggregate numbers.csv -k 5 --no-bound", MOST_WORK),
        }
        plain = [sys.executable, "-c", "import numpy, polars"]
        works = {name: shoal(command) for name, (command, _) in commands.items()}
        best = dict.fromkeys(("", *works), float("inf"))
        for _ in range(TURNS):
            for name, arguments in {"": plain, **works}.items():
                best[name] = min(best[name], cpu(arguments, folder))
    return [
        {
            "name": f"{name} / importing numpy and polars",
            "measured": best[name] / best[""],
            "limit": limit,
            "unit": "ratio of CPU",
            "ok": best[name] / best[""] <= limit,
        }
        for name, (_, limit) in commands.items()
    ]


def shoal(command: str) -> list[str]:
    return [sys.executable, "-m", "shoal.cli.start", *command.split(), "--json"]


def cpu(arguments: list[str], folder: str) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    bytecode = {"PYTHONPYCACHEPREFIX": str(Path(folder) / "bytecode"), "PYTHONDONTWRITEBYTECODE": ""}
    subprocess.run(arguments, cwd=folder, check=True, capture_output=True, env=os.environ | bytecode)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def write(folder: Path) -> None:
    generator = np.random.default_rng(1)
    people = generator.integers(0, 5, (100, 2))
    (folder / "people.csv").write_text("a,b\n" + "".join(f"{one},{other}\n" for one, other in people))
    numbers = generator.normal(size=(1000, 3)).round(4)
    (folder / "numbers.csv").write_text("x,y,z\n" + "".join(f"{x},{y},{z}\n" for x, y, z in numbers))
    for size in (5, 11):
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
