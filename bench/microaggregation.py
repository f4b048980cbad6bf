"""Microaggregation: how much ILSMC saves against ILSM, and the losses of ``ils`` beside the published ones.

``run`` gives rows ``{"name", "measured", "limit", "unit", "ok"}``. Ratios of times are of CPU time of one thread in the
same minute; a ratio must reach its limit, a count or a loss must not exceed it. The published figures are of Bierman,
Improvements to Iterated Local Search for Microaggregation, Nova Southeastern University (2020), Tables 5, 6 and 7.
"""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from shoal.microdata.microaggregation.from_papers import iterated
from shoal.microdata.microaggregation.problem import Problem
from shoal.microdata.microaggregation.search import ils
from shoal.runtime import Budget, Seeds

SIZES = (3, 4, 5, 6, 10)
FASTER = {
    "tarragona": (14.1, 11.7, 9.7, 8.0, 4.6),
    "census": (25.8, 18.0, 13.4, 11.1, 6.2),
    "eia": (228.1, 131.0, 82.3, 58.2, 30.2),
}
AVERAGE = {
    "tarragona": (14.55, 17.15, 20.19, 23.58, 30.22),
    "census": (4.81, 6.20, 7.44, 8.41, 11.53),
    "eia": (0.37, 0.52, 0.81, 0.96, 1.86),
}
BEST = {
    "tarragona": (14.48, 17.10, 20.17, 23.50, 30.14),
    "census": (4.77, 6.12, 7.37, 8.33, 11.46),
    "eia": (0.36, 0.51, 0.76, 0.94, 1.85),
}
FILES = {"tarragona": "tarragona.csv", "census": "census.csv", "eia": "eia_11num.csv"}


def table(name: str) -> np.ndarray | None:
    """The columns of one benchmark file (the last ten of EIA); ``None`` where it is missing."""
    path = Path(os.environ.get("SHOAL_DATA", "")) / "casc" / FILES[name]
    if not path.is_file():
        return None
    return np.genfromtxt(path, delimiter=",", skip_header=1)[:, -13 if name != "eia" else -10 :]


def row(name: str, measured: float, limit: float, unit: str, *, at_least: bool = False) -> dict[str, Any]:
    ok = measured >= limit if at_least else measured <= limit
    return {"name": name, "measured": round(float(measured), 4), "limit": limit, "unit": unit, "ok": bool(ok)}


def speed(name: str, k: int, published: float) -> list[dict[str, Any]]:
    """ILSMC against ILSM: seconds and pairs for each iteration, both from the same local optimum."""
    problem = Problem.standardised(table(name), k)
    start = iterated.ilsmc(problem, budget=Budget(iterations=100)).labels
    few, many = (40, 1000) if name == "eia" else (150, 1000)

    def costs(method: Callable[..., Any], iterations: int) -> tuple[float, float]:
        # What comes before the first iteration is measured by a run of one and taken away.
        spent = []
        for count in (1, iterations + 1):
            began = time.process_time()
            found = method(problem, budget=Budget(iterations=count), start=start)
            spent.append((time.process_time() - began, found.statistics.pairs))
        (zero, none), (seconds, pairs) = spent
        return (seconds - zero) / iterations, (pairs - none) / iterations

    slow, all_pairs = costs(iterated.ilsm, few)
    fast, changed = costs(iterated.ilsmc, many)
    case = f"{name} {k}"
    return [
        row(f"ilsm / ilsmc, time per iteration, {case}", slow / fast, published, "ratio", at_least=True),
        row(f"pairs that ilsmc tests of those of ilsm, {case}", changed / all_pairs, 1 / 4, "ratio"),
    ]


def quality(name: str, k: int, average: float, best: float) -> list[dict[str, Any]]:
    """The best loss of ``ils`` over five seeds with its default work, beside the published average and best."""
    problem = Problem.standardised(table(name), k)
    loss = min(ils.solve(problem, seeds=Seeds(seed), threads=2).loss_percent for seed in range(5))
    case = f"{name} {k}"
    return [
        row(f"loss of ils / published average, {case}", loss / average, 1.0, "ratio"),
        # What a search of a minute must reach; this one takes about a second.
        {
            **row(f"loss of ils / best published, {case}", loss / best, 1.0, "ratio"),
            "limit": None,
            "ok": True,
        },
    ]


def run() -> list[dict[str, Any]]:
    """All rows for the benchmark files there are; rows on the best published loss inform, the others must hold."""
    iterated.warm_up()
    ils.warm_up()
    rows: list[dict[str, Any]] = []
    for name in FILES:
        if table(name) is None:
            continue
        for place, k in enumerate(SIZES):
            rows += speed(name, k, FASTER[name][place])
            rows += quality(name, k, AVERAGE[name][place], BEST[name][place])
    return rows


if __name__ == "__main__":
    for line in run():
        print(
            f"{'ok  ' if line['ok'] else 'MISS'} {line['name']}: {line['measured']} (limit {line['limit']})"
        )
