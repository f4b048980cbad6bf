"""Tables with changed figures: how near to the best possible rounding and adjustment are, and what they cost the reader.

Everything runs on generated tables in one run; figures are gaps, ratios and shares, never times.
"""

import os
from pathlib import Path
from typing import Any

import numpy as np

import shoal
from shoal.errors import Infeasible
from shoal.runtime import Budget, Seeds
from shoal.runtime.secrets import Secret
from shoal.tables.files import jj
from shoal.tables.model.table import Table
from shoal.tables.problem import Problem
from shoal.tables.rounding.adjustment import exact, flips
from shoal.tables.rounding.adjustment.problem import AdjustmentProblem
from shoal.tables.rounding.adjustment.verify import verify as verify_adjustment
from shoal.tables.rounding.cell_keys.design import solve as design
from shoal.tables.rounding.cell_keys.problem import DesignProblem
from shoal.tables.rounding.cell_keys.verify import verify_design
from shoal.tables.rounding.controlled_rounding.api import posed
from shoal.tables.rounding.controlled_rounding.exact import solve as round_exactly
from shoal.tables.rounding.controlled_rounding.verify import verify as verify_rounding

# Public tables of up to so many cells, and those of them whose best adjustment is not proved.
_PUBLIC = 4000
_GAPS = {"abs_example": 1.0, "rtau_turnover_act_nuts_size": 30.0, "rtau_turnover_act_size": 1.0}


def run() -> list[dict[str, Any]]:
    return [*rounding(), *adjustment(), *public_tables_adjusted(), chances()]


def row(name: str, measured: float, limit: float, unit: str) -> dict[str, Any]:
    return {"name": name, "measured": measured, "limit": limit, "unit": unit, "ok": measured <= limit + 1e-9}


def counts(rows: int, columns: int, sensitive: int) -> Problem:
    """Counts of which a few small ones need an interval."""
    rng = Seeds(0).child("counts", rows, columns).generator()
    table = Table.from_matrix(rng.poisson(rng.gamma(1.0, 12.0, (rows, columns))).astype(float))
    cells = rng.choice(np.flatnonzero(table.internal & (table.values > 0)), sensitive, replace=False)
    return Problem.of(table, cells, lower=np.minimum(2.0, table.values[cells]), upper=np.full(sensitive, 2.0))


def rounding() -> list[dict[str, Any]]:
    found = []
    for rows, columns, sensitive in ((50, 50, 60), (150, 100, 200)):
        problem = posed(
            counts(rows, columns, sensitive), 5.0, "random", Secret.of_seed(1), steps=1, counts=True
        )
        solution = round_exactly(problem)
        verify_rounding(problem, solution)
        name = f"round {rows} × {columns}, {sensitive} sensitive"
        gap = 100.0 * (solution.value - solution.bound) / max(solution.value, 1e-9)
        change = np.abs(solution.multiples * 5.0 - problem.table.values)
        found.append(row(f"{name}: gap", gap, 0.0, "percent"))
        found.append(row(f"{name}: mean change / base", float(change.mean()) / 5.0, 0.5, "ratio"))
    return found


def adjustment() -> list[dict[str, Any]]:
    rng = Seeds(0).child("adjustment").generator()
    table = Table.from_matrix(rng.lognormal(4, 1, (20, 15)).round(1))
    cells = rng.choice(np.flatnonzero(table.internal), 12, replace=False)
    problem = AdjustmentProblem.of(Problem.of(table, cells), further=1.0 + 0.5 * rng.random(12))
    best, quick = exact.solve(problem), flips.solve(problem, budget=Budget(iterations=200))
    for found in (best, quick):
        verify_adjustment(problem, found)
    gap = 100.0 if best.bound is None else 100.0 * (best.value - best.bound) / best.value
    return [
        row("adjust 20 × 15, 12 sensitive: gap of exact", gap, 0.0, "percent"),
        row("adjust 20 × 15, 12 sensitive: cost of flips / exact", quick.value / best.value, 1.25, "ratio"),
    ]


def public_tables_adjusted() -> list[dict[str, Any]]:
    """The public files of up to 4,000 cells with the usual work; without ``SHOAL_DATA`` they are left out."""
    place = os.environ.get("SHOAL_DATA")
    if not place:
        return []
    found, refused, files = [], 0, sorted((Path(place) / "tabular" / "jj").glob("*.jj"))
    for path in files:
        protect = jj.read(path).problem
        if protect.table.cells > _PUBLIC:
            continue
        try:
            made = shoal.adjust_table(protect, seed=1)
        except Infeasible:
            refused += 1
            continue
        cost, bound = made.solution.value, made.solution.bound or 0.0
        limit = _GAPS.get(path.stem, 0.1)
        found.append(row(f"adjust {path.stem}: gap", 100.0 * (cost - bound) / cost, limit, "percent"))
    return [*found, row(f"adjust: refused of {len(found) + refused} public tables", refused, 2, "tables")]


def chances() -> dict[str, Any]:
    worst = 0.0
    for deviation, variance, small in ((5, 2.0, 0), (5, 2.0, 2), (10, 4.0, 2), (20, 30.0, 4)):
        problem = DesignProblem(deviation, variance, small)
        found = design(problem)
        verify_design(problem, found)
        worst = max(worst, 100.0 * (found.bound - found.value) / found.value)
    return row("perturbation tables: gap of the entropy", worst, 1e-4, "percent")
