"""Microaggregation of many records, and how much its lower bound says.

Times are CPU times of the whole process, so threads gain nothing here; the least of several runs counts. Memory
is the peak of a process of its own. The bound is compared with the lowest losses seen on the reference files, which
are read from the folder that SHOAL_DATA names; without it those rows are left out.
"""

import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from shoal.microdata.microaggregation.bounds import lower_bounds
from shoal.microdata.microaggregation.bounds.column_generation import column_generation_bound
from shoal.microdata.microaggregation.construct import mdav, univariate
from shoal.microdata.microaggregation.problem import Problem
from shoal.microdata.microaggregation.search import blocks

MOST_LOSS_OVER_MDAV = 0.96
MOST_TIME_OVER_MDAV = 0.3
MOST_GROWTH = 35.0
MOST_GIGABYTES = 2.0
LEAST_BOUND = 0.76
# The lowest losses seen, published (Bierman 2020) or by our own search.
BEST = {
    "tarragona": {3: 14.46, 4: 17.10, 5: 20.17, 6: 23.50, 10: 30.14},
    "census": {3: 4.66, 4: 6.09, 5: 7.35, 6: 8.33, 10: 11.46},
    "eia": {3: 0.3614, 4: 0.511, 5: 0.750, 6: 0.9398, 10: 1.847},
}


def run() -> list[dict[str, Any]]:
    for module in (blocks, lower_bounds, mdav):
        module.warm_up()
    rows = []
    fifty = 0.0
    for n in (20_000, 50_000):
        problem = mixture(n)
        ours, spent = least_time(lambda problem=problem: blocks.solve(problem), 3)
        classic, whole = least_time(lambda problem=problem: mdav.solve(problem), 3)
        assert ours.sizes.min() >= problem.k
        rows.append(
            at_most(f"blocks / mdav, loss, n = {n:,}", ours.value / classic.value, MOST_LOSS_OVER_MDAV)
        )
        rows.append(at_most(f"blocks / mdav, time, n = {n:,}", spent / whole, MOST_TIME_OVER_MDAV))
        bound = lower_bounds.lower_bound(problem)
        rows.append(at_least(f"bound / loss of blocks, n = {n:,}", bound / ours.value, 0.4))
        fifty = spent
    problem = mixture(1_000_000)
    ours, spent = least_time(lambda: blocks.solve(problem), 3)
    rows.append(at_most("blocks, time, n = 1,000,000 / 50,000", spent / fifty, MOST_GROWTH))
    rows.append(at_least("blocks, smallest group of 1,000,000 records", float(ours.sizes.min()), 5, "count"))
    rows.append(
        at_most("blocks, peak memory for 1,000,000 × 10 in GB", peak_gigabytes(), MOST_GIGABYTES, "count")
    )
    small, large = (column(n) for n in (100_000, 1_000_000))
    _, little = least_time(lambda: univariate.optimal_labels(small, 5), 3)
    _, much = least_time(lambda: univariate.optimal_labels(large, 5), 2)
    rows.append(at_most("univariate, time, n = 1,000,000 / 100,000", much / little, 20.0))
    rows.extend(bound_rows())
    return rows


def bound_rows() -> list[dict[str, Any]]:
    folder = os.environ.get("SHOAL_DATA")
    if not folder:
        return []
    rows = []
    for name, cases in BEST.items():
        table = np.genfromtxt(
            Path(folder) / "casc" / f"{name.replace('eia', 'eia_11num')}.csv", delimiter=","
        )[1:]
        for k, best in cases.items():
            # Of the eleven columns of EIA the first is a number that names the utility.
            problem = Problem.standardised(table[:, 1:] if name == "eia" else table, k)
            bound = problem.percent(lower_bounds.lower_bound(problem))
            rows.append(at_least(f"bound / best loss seen, {name} {k}", bound / best, LEAST_BOUND))
            assert bound <= best
            if k == 3 and name != "eia":
                tight = problem.percent(column_generation_bound(problem))
                rows.append(at_least(f"tight bound / best loss seen, {name} {k}", tight / best, 0.95))
                assert tight <= best
    return rows


def at_most(name: str, measured: float, limit: float, unit: str = "ratio") -> dict[str, Any]:
    return {"name": name, "measured": measured, "limit": limit, "unit": unit, "ok": bool(measured <= limit)}


def at_least(name: str, measured: float, limit: float, unit: str = "ratio") -> dict[str, Any]:
    ok = bool(measured >= limit)
    return {"name": f"{name} (at least)", "measured": measured, "limit": limit, "unit": unit, "ok": ok}


def least_time(work: Callable[[], Any], times: int) -> tuple[Any, float]:
    least = np.inf
    for _ in range(times):
        began = time.process_time()
        result = work()
        least = min(least, time.process_time() - began)
    return result, least


def mixture(n: int, d: int = 10, k: int = 5) -> Problem:
    """Twenty correlated components of different width, every other one lognormal."""
    generator = np.random.default_rng(0)
    which = generator.integers(0, 20, n)
    values = np.empty((n, d))
    for component in range(20):
        mine = which == component
        turn = generator.normal(size=(d, d)) * generator.uniform(0.1, 1.0, size=d)
        drawn = generator.normal(size=(int(mine.sum()), d)) @ turn.T + 4 * generator.normal(size=d)
        values[mine] = np.exp(drawn / 4) if component % 2 else drawn
    return Problem.standardised(values, k)


def column(n: int) -> np.ndarray:
    return np.random.default_rng(0).normal(size=n)


def peak_gigabytes() -> float:
    """Of a process that does nothing but draw a million records and microaggregate them."""
    done = subprocess.run(
        [sys.executable, "-c", "from bench.microaggregation_scale import peak_here; print(peak_here())"],
        capture_output=True,
        check=True,
        text=True,
    )
    return float(done.stdout)


def peak_here() -> float:
    blocks.solve(mixture(1_000_000), threads=2)
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1 << 20)
