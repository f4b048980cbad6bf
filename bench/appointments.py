"""Appointments: the share of instances proved, and K against what is published, by counts of work and not by seconds.

Families: narrow and wide group sizes over capacities with some slack, and the generator of the published screening
experiments. A limit of units of work stands for the time limit of ten seconds; the real time of the slowest class is printed
beside it as a remark only.
"""

import json
import os
import time
from pathlib import Path
from typing import Any

import numpy as np

from shoal.appointments.api import assign_sizes
from shoal.appointments.results import Plan
from shoal.appointments.solvers.filling import greedy
from shoal.generate.families import FAMILIES, family
from shoal.generate.instances import Ranges, instance
from shoal.runtime import Seeds

SEEDS = int(os.environ.get("SHOAL_BENCH_SEEDS", "10"))
SECONDS = 10.0


def run() -> list[dict[str, Any]]:
    return [*thesis_families(), *wide(), *narrow(), *tight(), *vectors(), *real_case()]


def row(name: str, measured: float, limit: float | None, unit: str) -> dict[str, Any]:
    return {
        "name": name,
        "measured": measured,
        "limit": limit,
        "unit": unit,
        "ok": limit is None or measured >= limit,
    }


def drawn(
    groups: int, rooms: int, low: int, high: int, slack: float, seed: int
) -> tuple[list[int], list[int]]:
    """Group sizes uniform in a range; capacities in proportion to weights between 0.5 and 1.5."""
    generator = np.random.default_rng([seed, groups, rooms])
    sizes = generator.integers(low, high, groups, endpoint=True)
    total = int(np.ceil(sizes.sum() * slack))
    weights = generator.uniform(0.5, 1.5, rooms)
    seats = np.floor(weights / weights.sum() * total).astype(int)
    seats[: total - seats.sum()] += 1
    return sizes.tolist(), seats.tolist()


def thesis_families() -> list[dict[str, Any]]:
    proved, work = [], []
    for name in FAMILIES:
        for size in (10, 100, 10_000, 10**6, 10**9):
            one = family(name, size)
            plan = assign_sizes(one.groups, one.capacities)
            proved.append(plan.optimal and (one.best is None or plan.k == one.best))
            work.append(plan.assignment.work)
    return [
        row("published families, X = 10 … 10⁹: proved", float(np.mean(proved)), 1.0, "share"),
        row("published families: most units of work", float(max(work)), None, "units"),
    ]


def wide() -> list[dict[str, Any]]:
    """Sizes 5 … 200: the fill that wraps around meets the simple bound, and no solver is run."""
    rows = []
    for groups, rooms in ((50, 30), (100, 50), (200, 100), (1000, 300)):
        for slack in (1.0, 1.05, 1.2):
            plans = [
                assign_sizes(*drawn(groups, rooms, 5, 200, slack, seed), iterations=200)
                for seed in range(SEEDS)
            ]
            share = float(np.mean([plan.optimal for plan in plans]))
            rows.append(
                row(
                    f"wide sizes, {groups} × {rooms}, {100 * slack - 100:.0f} % slack: proved by a fill",
                    share,
                    0.95,
                    "share",
                )
            )
    return rows


def narrow() -> list[dict[str, Any]]:
    """Sizes 60 … 119 in ten seconds: the hard class."""
    limits: dict[tuple[int, int, float], tuple[float | None, float | None]] = {
        (10, 10, 1.0): (0.75, None),
        (10, 10, 1.05): (0.75, None),
        (10, 10, 1.2): (1.0, None),
        (20, 20, 1.0): (0.5, 38.75),
        (20, 20, 1.05): (0.75, None),
        (20, 20, 1.2): (0.5, None),
        (50, 30, 1.0): (0.5, 42.75),
        (50, 30, 1.05): (0.75, None),
        (50, 30, 1.2): (1.0, None),
    }
    rows = []
    for (groups, rooms, slack), (share, mean) in limits.items():
        plans = timed(drawn(groups, rooms, 60, 119, slack, seed) for seed in range(min(SEEDS, 4)))
        case = f"narrow sizes, {groups} × {rooms}, {100 * slack - 100:.0f} % slack"
        rows.append(row(f"{case}: proved", float(np.mean([plan.optimal for plan in plans])), share, "share"))
        rows.append(row(f"{case}: mean K", float(np.mean([plan.k for plan in plans])), mean, "K"))
        rows.append(row(f"{case}: mean bound", float(np.mean([plan.k_bound for plan in plans])), None, "K"))
    return rows


def tight() -> list[dict[str, Any]]:
    """Without a seat to spare, by work: slots that overflow and are relieved close in on the bound."""
    rows = []
    for groups, rooms, units, limit in ((50, 30, 30_000, 0.98), (100, 50, 10_000, None)):
        plans = [
            assign_sizes(*drawn(groups, rooms, 60, 119, 1.0, seed), iterations=units)
            for seed in range(min(SEEDS, 4))
        ]
        share = float(np.mean([plan.k for plan in plans]) / np.mean([plan.k_bound for plan in plans]))
        case = f"narrow sizes, {groups} × {rooms}, 0 % slack, {units:,} units"
        rows.append(row(f"{case}: mean K / mean bound", share, limit, "ratio"))
    return rows


def timed(instances: Any, objective: str = "k") -> list[Plan]:
    return [assign_sizes(*one, objective=objective, time_limit=SECONDS) for one in instances]


def screened(population: int, ranges: Ranges, seed: int) -> tuple[list[int], list[int]]:
    """An instance by the generator of the published screening experiments."""
    made = instance(population, ranges, seeds=Seeds(seed).child("bench"))
    return [size for size in made.groups if size], [size for size in made.capacities if size]


def vectors() -> list[dict[str, Any]]:
    """Whole vectors proved, and the mean of the best K against that of the published rule."""
    rows = []
    for population, ranges, share, seeds in [
        (25, Ranges(3, 7, 3, 7), 1.0, 10 * SEEDS),
        (50, Ranges(5, 8, 5, 8), 1.0, 10 * SEEDS),
        (100, Ranges(0, 30, 10, 20), 0.9, 2 * SEEDS),
        (1000, Ranges(0, 300, 100, 200), 0.8, 2 * SEEDS),
    ]:
        plans = timed((screened(population, ranges, seed) for seed in range(seeds)), "vector")
        proved = float(np.mean([plan.optimal for plan in plans]))
        rows.append(row(f"vectors, N = {population:,}: proved", proved, share, "share"))
    for population, ranges in [
        (100, Ranges(0, 30, 10, 20)),
        (1000, Ranges(0, 300, 100, 200)),
        (10_000, Ranges(0, 1000, 500, 1000)),
    ]:
        # Smallest crowds vary a great deal from instance to instance: many instances, little work for each.
        plans = [assign_sizes(*screened(population, ranges, seed), iterations=1000) for seed in range(100)]
        rule = [int((matrix := greedy(plan.problem))[matrix > 0].min()) for plan in plans]
        ratio = float(np.mean([plan.k for plan in plans]) / np.mean(rule))
        rows.append(row(f"K, N = {population:,}: mean / published rule", ratio, 1.5, "ratio"))
        rows.append(
            row(
                f"K, N = {population:,}: proved",
                float(np.mean([plan.optimal for plan in plans])),
                0.9,
                "share",
            )
        )
    return rows


def real_case() -> list[dict[str, Any]]:
    place = Path(os.environ.get("SHOAL_DATA", "")) / "appointments" / "norway_1992-01-15.json"
    if not os.environ.get("SHOAL_DATA") or not place.exists():
        return []
    data = json.loads(place.read_text(encoding="utf-8"))
    began = time.perf_counter()
    plan = assign_sizes(data["group_sizes"], [data["slot_capacity"]] * data["slots"], objective="vector")
    print(f"the real case took {time.perf_counter() - began:.2f} s")
    unique = sum(size == 1 for size in data["actual_class_sizes"])
    return [
        row(
            "real case, 4,541 women: unique as given / unique in the plan",
            unique / plan.vector[1],
            9.0,
            "ratio",
        ),
        row("real case: proved", float(plan.optimal), 1.0, "share"),
    ]
