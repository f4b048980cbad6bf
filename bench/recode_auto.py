"""The default method against local recoding by itself: what both lose, and CPU of one against the other in the same run.

Adult with the hierarchies that ARX ships for it, and testdata with keys that are released as they are or blank. Each method
ran once before, so that nothing is compiled while it is timed. The files are read from the folder that SHOAL_DATA names.
"""

import os
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from time import process_time
from typing import Any

from bench.recode_local_recoding import adult
from bench.recode_local_suppression import HOUSEHOLDS, read
from shoal.microdata.recoding.methods import METHODS
from shoal.microdata.recoding.problem import Problem
from shoal.runtime import Budget

MOST_OVER_LOCAL = 2.0


def run() -> list[dict[str, Any]]:
    """The rows of the benchmark; none without the data."""
    return [row for name, problem, most in problems() for row in compared(name, problem, most)]


def problems() -> Iterator[tuple[str, Problem, float | None]]:
    """The files with the largest CPU ratio that is aimed at."""
    for k in (5, 10):
        if (problem := adult(k)) is not None:
            yield f"Adult, 9 keys, k = {k}", problem, MOST_OVER_LOCAL
    path = Path(os.environ.get("SHOAL_DATA", "")) / "casc" / "testdata.csv"
    if path.is_file():
        problem = read(path, ",", HOUSEHOLDS, 3)
        yield "testdata, 7 keys, k = 3", replace(problem, measure="loss"), None


def compared(name: str, problem: Problem, most: float | None) -> list[dict[str, Any]]:
    """Loss of both and the CPU ratio."""
    losses, spent = {}, {}
    for method in ("local", "auto"):
        METHODS[method].solve(problem, budget=Budget(iterations=1))
        began = process_time()
        losses[method] = METHODS[method].solve(problem, threads=1).value
        spent[method] = process_time() - began
    ratio = spent["auto"] / spent["local"]
    return [
        {
            "name": f"{name}: loss of local",
            "measured": losses["local"],
            "limit": None,
            "unit": "",
            "ok": True,
        },
        {
            "name": f"{name}: loss of auto",
            "measured": losses["auto"],
            "limit": losses["local"],
            "unit": "",
            "ok": losses["auto"] <= losses["local"] * (1 + 1e-9),
        },
        {
            "name": f"{name}: CPU of auto / local",
            "measured": ratio,
            "limit": most,
            "unit": "ratio",
            "ok": most is None or ratio <= most,
        },
    ]
