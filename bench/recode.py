"""Recoding of whole columns: against trying all levels with Polars, and how it grows.

The plain way groups the records at every level vector with Polars and leaves out what fails; it is timed on some of the
12,960 recodings of Adult, taken at random, and scaled up. Both sides are measured in CPU seconds of this process, in turns.
Published values of the optimum (ARX on the same file, k = 5) stand beside those found.
"""

import os
import time
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

from shoal.microdata.columns.hierarchies.files import read_hierarchy
from shoal.microdata.columns.hierarchies.hierarchy import Hierarchy, coded, read_values
from shoal.microdata.recoding import class_kernels, lattice
from shoal.microdata.recoding.problem import Problem

MOST_OVER_POLARS = 0.05
SAMPLED = 40
#: The optima of ARX for Adult, k = 5, by measure: at most 0, 5 and 100 % of the people left out.
PUBLISHED = {
    "loss": (0.63554384670, 0.26963466279, 0.22770032326),
    "entropy": (407289.5389, 264341.9383, 249855.1087),
    "discernibility": (33627534.0, 7220555.0, 7220555.0),
    "class-size": (628.375, 28.808023, 16.321429),
}
SHARES = (0.0, 0.05, 1.0)


def run() -> list[dict[str, Any]]:
    class_kernels.warm_up()
    folder = Path(os.environ.get("SHOAL_DATA", "data")) / "adult"
    if not (folder / "adult.csv").exists():
        print(f"bench recode: there is no {folder / 'adult.csv'}; set SHOAL_DATA")
        return growth()
    frame = pl.read_csv(folder / "adult.csv", separator=";")
    hierarchies = [read_hierarchy(folder / f"adult_hierarchy_{name}.csv") for name in frame.columns]
    columns = [
        coded(read_values(nw.from_native(frame[name], series_only=True)), hierarchy, name)
        for name, hierarchy in zip(frame.columns, hierarchies, strict=True)
    ]
    return [*optima(columns, hierarchies), *against_polars(columns, hierarchies), *growth()]


def row(name: str, measured: float, limit: float | None, unit: str, *, ok: bool = True) -> dict[str, Any]:
    return {"name": name, "measured": measured, "limit": limit, "unit": unit, "ok": ok}


def optima(columns: list[np.ndarray], hierarchies: list[Hierarchy]) -> list[dict[str, Any]]:
    rows = []
    n = columns[0].size
    for measure, values in PUBLISHED.items():
        for share, published in zip(SHARES, values, strict=True):
            problem = Problem.of(columns, hierarchies, k=5, limit=int(share * n), measure=measure)
            found = lattice.solve(problem)
            same = found.optimal and abs(found.value / published - 1) < 1e-7
            rows.append(
                row(
                    f"Adult, {measure}, {share:.0%} left out: optimum / ARX's",
                    found.value / published,
                    1.0,
                    "ratio",
                    ok=same,
                )
            )
            rows.append(
                row(
                    f"Adult, {measure}, {share:.0%} left out: boxes",
                    found.work,
                    None,
                    f"of {problem.nodes:,}",
                )
            )
    return rows


def against_polars(columns: list[np.ndarray], hierarchies: list[Hierarchy]) -> list[dict[str, Any]]:
    problem = Problem.of(columns, hierarchies, k=5)
    rng = np.random.default_rng(0)
    frame = pl.DataFrame({str(place): column for place, column in enumerate(columns)})
    plain = 0.0
    for _ in range(SAMPLED):
        levels = [int(rng.integers(0, hierarchy.height + 1)) for hierarchy in hierarchies]
        began = time.process_time()
        recoded = frame.select(
            pl.Series(str(place), hierarchy.nodes[level][column])
            for place, (hierarchy, level, column) in enumerate(zip(hierarchies, levels, columns, strict=True))
        )
        sizes = recoded.group_by(pl.all()).len()
        sizes.filter(pl.col("len") < 5)["len"].sum()
        plain += time.process_time() - began
    plain *= problem.nodes / SAMPLED
    rows = []
    for share in SHARES:
        began = time.process_time()
        lattice.solve(Problem.of(columns, hierarchies, k=5, limit=int(share * columns[0].size)))
        ratio = (time.process_time() - began) / plain
        rows.append(
            row(
                f"Adult, {share:.0%} left out / every level with Polars",
                ratio,
                MOST_OVER_POLARS,
                "CPU ratio",
                ok=ratio <= MOST_OVER_POLARS,
            )
        )
    return rows


def growth() -> list[dict[str, Any]]:
    """Eight keys of random people: how the CPU grows with the records, counted into tuples once."""
    rows = []
    taken = {}
    rng = np.random.default_rng(1)
    hierarchy = Hierarchy([(str(v), f"{v // 2}", f"{v // 4}a", f"{v // 8}b") for v in range(16)])
    for records in (10_000, 100_000, 1_000_000):
        columns = [np.minimum(rng.geometric(0.6, records), 16).astype(np.int32) - 1 for _ in range(8)]
        began = time.process_time()
        problem = Problem.of(columns, [hierarchy] * 8, k=5, limit=records // 20)
        found = lattice.solve(problem)
        taken[records] = time.process_time() - began
        rows.append(
            row(
                f"{records:,} × 8: tuples for each record",
                problem.records.size / records,
                None,
                "ratio",
            )
        )
        rows.append(
            row(f"{records:,} × 8: boxes", found.work, None, f"of {problem.nodes:,}", ok=found.optimal)
        )
    for small, large in ((10_000, 100_000), (100_000, 1_000_000)):
        ratio = taken[large] / taken[small]
        rows.append(row(f"CPU {large:,} / {small:,} records", ratio, 30.0, "ratio", ok=ratio <= 30.0))
    return rows
