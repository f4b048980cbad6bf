"""Every public instance: cost, bound, gap and CPU of the general heuristic and of ``auto``, and whether all is safe.

CPU is given as a multiple of one reference linear programme solved in the same run: all cells of a fixed
three-dimensional table moved at once. Safety is decided by ``verify``, which shares no code with the methods. The folder of
instances is named by SHOAL_DATA; ``SHOAL_BENCH_SECONDS`` is the CPU time ``auto`` gets for each
(default 60), so that other work on the machine changes little, ``SHOAL_BENCH_INSTANCES`` a list of those wanted.
"""

import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from shoal.runtime import Budget, Seeds, silent
from shoal.tables.files import jj
from shoal.tables.methods import METHODS
from shoal.tables.problem import Problem
from shoal.tables.solution import Pattern
from shoal.tables.verify import verify
from shoal.tables.warm_up import warm_up

# Most CPU of the general heuristic with its check, in reference programmes, and most gap of auto in percent.
LIMITS = {
    "abs_example": (2.0, 11),
    "example_2D": (0.5, 0),
    "rtau_turnover_act_cj": (0.5, 0),
    "rtau_turnover_act_nuts_size": (15.0, 6),
    "rtau_turnover_act_size": (0.5, 0),
    "rtau_turnover_nuts_cj": (0.5, 0),
    "rtau_turnover_nuts_size": (0.5, 0),
    "small": (0.5, 0),
    "ssb_z3_freq": (2.0, 0),
    "sumit_fully_suppressed": (0.5, 0),
    "sumit_partially_suppressed": (0.5, 0),
    "sumit_test": (0.5, 0),
    "synth2d_50x50_3pct": (0.5, 0.7),
    "targus": (0.5, 0),
    "tw_ind_region": (10.0, 0),
    "tw_ind_size": (0.5, 0),
    "tw_ind_size_region": (60.0, 33),
    "tw_size_region": (0.5, 0),
}

# The largest table gets this many times the seconds of the others: its first pattern alone takes more than half of them.
LARGEST, TIMES = "tw_ind_size_region", 5


def run() -> list[dict[str, Any]]:
    folder = os.environ.get("SHOAL_DATA")
    if not folder:
        print("SHOAL_DATA is not set; no public instances to protect", file=sys.stderr)
        return []
    chosen = os.environ.get("SHOAL_BENCH_INSTANCES", ",".join(LIMITS)).split(",")
    seconds = float(os.environ.get("SHOAL_BENCH_SECONDS", "60"))
    warm_up()
    unit = reference()
    rows = []
    for name in chosen:
        found = sorted((Path(folder) / "tabular" / "jj").glob(f"{name}.jj*"))
        if not found:
            print(f"{name}.jj is missing", file=sys.stderr)
            continue
        problem = jj.read(found[0]).problem
        _ = problem.table.network
        rows += instance(name, problem, unit, seconds * (TIMES if name == LARGEST else 1))
    return rows


def instance(name: str, problem: Problem, unit: float, seconds: float) -> list[dict[str, Any]]:
    cpu, gap = LIMITS[name]
    first, took, safe = protect(problem, "general", Budget())
    best, _, safe_too = protect(problem, "auto", Budget(seconds=seconds, clock=time.process_time))
    bound = best.bound if best.bound is not None else 0.0
    return [
        row(f"{name}: unsafe patterns", (not safe) + (not safe_too), 0, "count"),
        row(f"{name}: CPU of general and its check", took / unit, cpu, "reference programmes"),
        row(f"{name}: cost of general", first.value, None, "cost"),
        row(f"{name}: cost of auto", best.value, first.value, "cost"),
        row(f"{name}: bound of auto", bound, best.value, "cost"),
        row(f"{name}: gap of auto", 100.0 if best.gap_percent is None else best.gap_percent, gap, "percent"),
    ]


def protect(problem: Problem, method: str, budget: Budget) -> tuple[Pattern, float, bool]:
    """The pattern, the CPU seconds it and its check took, and whether the check holds."""
    began = time.process_time()
    found: Pattern = METHODS[method].solve(problem, None, budget=budget, seeds=Seeds(0), observer=silent)
    safe = True
    try:
        verify(problem, found)
    except AssertionError:
        safe = False
    return found, time.process_time() - began, safe


def reference() -> float:
    """CPU seconds of one linear programme over a fixed cube of 20 × 20 × 20 cells without totals."""
    from scipy.optimize import linprog
    from scipy.sparse import eye, kron, vstack

    size = 20
    one, line = eye(size), np.ones((1, size))
    sums = [kron(kron(line, one), one), kron(kron(one, line), one), kron(kron(one, one), line)]
    matrix = vstack(sums, format="csr")
    goal = np.random.default_rng(0).uniform(-1.0, 1.0, size**3)
    took = []
    for _ in range(3):
        began = time.process_time()
        linprog(goal, A_eq=matrix, b_eq=np.zeros(matrix.shape[0]), bounds=(-1.0, 1.0), method="highs-ds")
        took.append(time.process_time() - began)
    return min(took)


def row(name: str, measured: float, limit: float | None, unit: str) -> dict[str, Any]:
    ok = limit is None or measured <= limit + 1e-6 * max(1.0, abs(limit))
    return {"name": name, "measured": float(measured), "limit": limit, "unit": unit, "ok": ok}
