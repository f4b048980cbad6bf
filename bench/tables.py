"""Cell suppression: cost of ``auto`` against HeurGene on the same tables, gaps, and the audit against linear programmes.

All methods run on the same generated tables in one run; figures are ratios and percentages, never times. ``auto`` gets
60 seconds (120 for the gaps asked for at that limit) of an otherwise quiet machine.
"""

import time
from typing import Any

import numpy as np

from shoal.generate.table import table
from shoal.runtime import Budget, Seeds, silent
from shoal.tables.methods import METHODS
from shoal.tables.problem import Problem
from shoal.tables.safety.attacker import Attacker
from shoal.tables.safety.audit import audit
from shoal.tables.verify import verify

# rows, columns, sensitive, tables, seconds, most cost over HeurGene's mean, most mean gap in percent
PLAN = (
    (100, 100, 50, 3, 120, 0.50, 3.0),
    (100, 100, 100, 3, 60, 0.56, 3.0),
    (100, 100, 300, 3, 60, 0.54, 0.0),
    (400, 250, 1000, 1, 120, 0.58, 4.0),
    (400, 250, 500, 1, 120, 0.58, 10.0),
    (400, 250, 250, 1, 120, 0.58, 2.0),
)
AUDIT_SHARE = 0.01


def run() -> list[dict[str, Any]]:
    METHODS["auto"].solve(
        table(6, 6, 3, Seeds(0)), None, budget=Budget(iterations=5), seeds=Seeds(0), observer=silent
    )
    rows = [audit_against_programmes()]
    for m, n, sensitive, tables, seconds, cost, gap in PLAN:
        rows += quality(m, n, sensitive, tables, seconds, cost, gap)
    return rows


def row(name: str, measured: float, limit: float, unit: str) -> dict[str, Any]:
    return {"name": name, "measured": measured, "limit": limit, "unit": unit, "ok": measured <= limit + 1e-9}


def solve(problem: Problem, method: str, seed: int, seconds: float | None = None) -> Any:
    found = METHODS[method].solve(
        problem, None, budget=Budget(seconds=seconds), seeds=Seeds(seed), observer=silent
    )
    verify(problem, found)
    return found


def quality(
    m: int, n: int, sensitive: int, tables: int, seconds: float, cost: float, gap: float
) -> list[dict[str, Any]]:
    ours, theirs, gaps = [], [], []
    for place in range(tables):
        problem = table(m, n, sensitive, Seeds(0).child("bench", place))
        theirs.append(
            np.mean([solve(problem, "heurgene", seed).value for seed in range(2 if m == 100 else 1)])
        )
        found = solve(problem, "auto", 0, seconds)
        ours.append(found.value)
        gaps.append(100.0 if found.gap_percent is None else found.gap_percent)
    name = f"{m} × {n}, {sensitive} sensitive"
    return [
        row(f"{name}: cost of auto / HeurGene", float(np.mean(ours) / np.mean(theirs)), cost, "ratio"),
        row(f"{name}: mean gap", float(np.mean(gaps)), gap, "percent"),
    ]


def audit_against_programmes() -> dict[str, Any]:
    """All intervals by flows against one linear programme per bound, extrapolated from a sample."""
    problem = table(400, 250, 3000, Seeds(0).child("audit"))
    pattern = solve(problem, "general", 0).complementary
    audit(problem, pattern)
    began = time.process_time()
    found = audit(problem, pattern)
    flows = time.process_time() - began
    sample = found.cells[:: max(1, found.cells.size // 10)][:10]
    began = time.process_time()
    for cell in sample:
        # A fresh programme for every cell: nothing is learnt from the one before.
        Attacker(problem, found.cells).intervals(np.array([cell]))
    programmes = (time.process_time() - began) / sample.size * found.cells.size
    return row(
        "audit of 400 × 250 with 3,000 sensitive: flows / linear programmes",
        flows / programmes,
        AUDIT_SHARE,
        "ratio",
    )
