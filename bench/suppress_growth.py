"""How the first safe pattern of ``suppress`` with its bound grows: with the cells, with the sensitive ones, and in memory.

Matrices are generated with their seed; the last row is a public table of 115,182 cells, if SHOAL_DATA names the folder of public
instances. Each case runs in a process of its own, after a small one that loads everything, and is ended as soon as it has both a
safe pattern and a proved bound. CPU is that of the process until then; memory is its peak, verification and audit included.
"""

import json
import os
import resource
import subprocess
import sys
import time
from math import log
from pathlib import Path
from typing import Any

import numpy as np

import shoal
from shoal.runtime import Progress

# What the exponent of the last step may be.
MOST = 2.0
# Cells of a matrix and how many of them are sensitive.
BY_CELLS = ((2_500, 25), (10_000, 100), (40_000, 400))
BY_SENSITIVE = ((10_000, 50), (10_000, 200), (10_000, 800))
PUBLIC = "tabular/jj/tw_ind_size_region.jj.gz"


def run() -> list[dict[str, Any]]:
    rows = []
    for cases, place, what in ((BY_CELLS, 0, "cells"), (BY_SENSITIVE, 1, "sensitive cells")):
        found = [measured(f"{cells},{sensitive}") for cells, sensitive in cases]
        for case, one in zip(cases, found, strict=True):
            rows += told("{:,} cells, {:,} sensitive".format(*case), one)
        for step in (1, 2):
            before, now = cases[step - 1][place], cases[step][place]
            exponent = log(found[step]["cpu"] / found[step - 1]["cpu"]) / log(now / before)
            limit = MOST if step == 2 else None
            name = f"{before:,} to {now:,} {what}: CPU grows as n to the"
            rows.append(row(name, exponent, limit, "exponent"))
    public = Path(os.environ.get("SHOAL_DATA", "")) / PUBLIC
    if public.is_file():
        rows += told(f"public table {public.name.partition('.')[0]}", measured(str(public)))
    return rows


def told(name: str, one: dict[str, float]) -> list[dict[str, Any]]:
    words = f"{name}: cost {one['cost']:,.6g}, bound {one['bound']:,.6g}"
    return [
        row(f"{words}, CPU", one["cpu"], None, "s"),
        row(f"{words}, peak memory", one["memory"], None, "MB"),
    ]


def row(name: str, measured: float, limit: float | None, unit: str) -> dict[str, Any]:
    ok = limit is None or measured <= limit
    return {"name": name, "measured": measured, "limit": limit, "unit": unit, "ok": ok}


def measured(case: str) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, "-m", "bench.suppress_growth", case], capture_output=True, text=True, check=True
    )
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def matrix(cells: int, sensitive: int) -> tuple[np.ndarray, list[tuple[str, str]]]:
    side = round(cells**0.5)
    generator = np.random.default_rng(3)
    values = generator.integers(1, 1000, (side, side)).astype(float)
    chosen = generator.choice(side * side, sensitive, replace=False)
    return values, [(str(cell // side + 1), str(cell % side + 1)) for cell in chosen.tolist()]


def once(case: str) -> None:
    small, few = matrix(100, 4)
    shoal.suppress(small, sensitive=few, protection=0.2, iterations=100)
    budget = shoal.Budget(iterations=10**9)
    began, first = time.process_time(), []

    def until_both(progress: Progress) -> None:
        if progress.value is not None and progress.bound is not None and not first:
            first.append(time.process_time() - began)
            budget.control.cancel()

    if case[0].isdigit():
        cells, sensitive = map(int, case.split(","))
        values, named = matrix(cells, sensitive)
        found = shoal.suppress(
            values, sensitive=named, protection=0.2, budget=budget, observer=until_both, threads=1
        )
    else:
        found = shoal.suppress(case, budget=budget, observer=until_both, threads=1)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"cpu": first[0], "memory": memory, "cost": found.cost, "bound": found.bound}))


if __name__ == "__main__":
    once(sys.argv[1])
