"""Comparing a release: what utility and attacks cost beside what was there before, and the published figures they repeat.

Costs are CPU seconds of this process, as ratios: the measures beyond the classic ones over the linkage by distance of all records
with plain NumPy (one record beside all, timed on some and scaled up), and the growth from a file to one ten times as large. With
the benchmark data the figures of peers (sdcMicro on a rank-swapped census) stand beside those found.
"""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from shoal.microdata.measures import linkage_kernels
from shoal.microdata.measures.attacks import (
    attribute_inference,
    mahalanobis,
    membership,
    mixed_distance,
    rank_windows,
)
from shoal.microdata.measures.attacks.all_attacks import ATTACKS, attacked
from shoal.microdata.measures.linkage import link_by_distance
from shoal.microdata.measures.mixed import MixedTables
from shoal.microdata.measures.utility import marginals, moment_kernels, tree_kernels
from shoal.microdata.measures.utility.all_utility import UTILITY, measured_utility
from shoal.runtime import Seeds

SIZE, COLUMNS, PROBED = 20_000, 10, 200
#: Everything that is bounded by samples together, over the plain linkage of all records.
MOST_OVER_NUMPY = 0.3
#: CPU of all attacks on ten times as many records, over that on the smaller file.
MOST_GROWTH = 6.0
MOST_LINKAGE_GROWTH = 40.0


def run() -> list[dict[str, Any]]:
    for module in (linkage_kernels, mixed_distance, rank_windows, marginals, moment_kernels, tree_kernels):
        module.warm_up()
    return [*costs(), *published()]


def row(name: str, measured: float, limit: float | None, unit: str, *, ok: bool = True) -> dict[str, Any]:
    return {"name": name, "measured": measured, "limit": limit, "unit": unit, "ok": ok}


def noisy(records: int) -> MixedTables:
    draw = np.random.default_rng(0)
    before = draw.normal(size=(records, COLUMNS))
    return MixedTables.of_numbers(before, before + 0.1 * draw.normal(size=before.shape))


def seconds(work: Callable[[], Any]) -> float:
    begun = time.process_time()
    work()
    return time.process_time() - begun


def plain(tables: MixedTables) -> None:
    for record in tables.before[:PROBED]:
        np.square(tables.after - record).sum(axis=1).argmin()


def costs() -> list[dict[str, Any]]:
    small, large = noisy(SIZE), noisy(10 * SIZE)
    seeds = Seeds(0)
    by_numpy = seconds(lambda: plain(small)) * SIZE / PROBED
    exact = [
        seconds(lambda tables=tables: link_by_distance(tables.before, tables.after))
        for tables in (small, large)
    ]
    rows = [
        row(
            f"{SIZE:,} × {COLUMNS}: exact linkage / NumPy",
            exact[0] / by_numpy,
            0.1,
            "ratio",
            ok=exact[0] < 0.1 * by_numpy,
        )
    ]
    growth = exact[1] / exact[0]
    rows.append(
        row(
            "exact linkage, ten times the records",
            growth,
            MOST_LINKAGE_GROWTH,
            "ratio",
            ok=growth < MOST_LINKAGE_GROWTH,
        )
    )
    total = []
    for tables in (small, large):
        spent = {
            **{
                name: seconds(
                    lambda name=name, tables=tables: measured_utility(
                        tables, [name], made="paired", ways=2, seeds=seeds
                    )
                )
                for name in UTILITY
            },
            **{
                name: seconds(
                    lambda name=name, tables=tables: attacked(
                        tables, [name], scenarios=[tables.columns], seeds=seeds
                    )
                )
                for name in ATTACKS
            },
        }
        total.append(sum(spent.values()))
        rows += [
            row(
                f"{tables.records:,} × {COLUMNS}: {name} / NumPy's linkage of {SIZE:,}",
                cost / by_numpy,
                None,
                "ratio",
            )
            for name, cost in spent.items()
            if name not in ("mixed-linkage", "likelihood")
        ]
    rows.append(
        row(
            "all of them / NumPy's linkage",
            total[0] / by_numpy,
            MOST_OVER_NUMPY,
            "ratio",
            ok=total[0] < MOST_OVER_NUMPY * by_numpy,
        )
    )
    growth = total[1] / total[0]
    rows.append(
        row("all of them, ten times the records", growth, MOST_GROWTH, "ratio", ok=growth < MOST_GROWTH)
    )
    return rows


def published() -> list[dict[str, Any]]:
    folder = Path(os.environ.get("SHOAL_DATA", "data"))
    files = folder / "casc" / "census.csv", folder / "oracles" / "census12_swap5.csv"
    if not all(file.exists() for file in files):
        print(f"bench compare: there is no {files[1]}; set SHOAL_DATA")
        return []
    frame = pl.read_csv(files[0]).drop("PTOTVAL")
    before = frame.to_numpy().astype(float)
    after = pl.read_csv(files[1]).select(frame.columns).to_numpy().astype(float)
    swapped = MixedTables(tuple(frame.columns), before, after)
    seeds = Seeds(0)
    useful = measured_utility(swapped, UTILITY, made="paired", ways=2, seeds=seeds)
    assert useful.pmse and useful.coefficients and useful.eigenvalues and useful.eigenvalues.relative
    first = useful.coefficients.regressions[0]
    figures = [
        ("pMSE two-way", useful.pmse.models[1].pmse, 0.0031562655532275),
        ("eigenvalues, relative", useful.eigenvalues.relative, 6.29406652741584),
        ("overlap of intervals, mean", first.mean, 0.867255949113388),
        ("overlap of intervals, least", first.minimum, 0.715724222228153),
    ]
    rows = [
        row(
            f"census swapped 5 %: {name} / sdcMicro's",
            found / wanted,
            1.0,
            "ratio",
            ok=abs(found / wanted - 1) < 1e-8,
        )
        for name, found, wanted in figures
    ]
    draw = np.random.default_rng(1)
    factor = np.linalg.cholesky(np.cov(before.T)).T
    noise = MixedTables(
        tuple(frame.columns), before, before + np.sqrt(0.1) * (draw.normal(size=before.shape) @ factor)
    )
    low, high = before.min(axis=0), before.max(axis=0)
    distance = link_by_distance(
        (before - low) / (high - low), (noise.after - low) / (high - low)
    ).expected_percent
    rows += [
        _near("swapped 5 %: rank windows", _percent(rank_windows.attack(swapped, seeds=seeds)), 99.95, 0.05),
        _near(
            "swapped 5 %: inference, mean",
            100 * _detail(attribute_inference.attack, swapped, "mean"),
            37.7,
            4,
        ),
        _near("swapped 5 %: inference, worst", _worst(swapped), 61.4, 6),
        _near("swapped 5 %: membership, AUC", 100 * _detail(membership.attack, swapped, "auc"), 84.4, 2),
        _near("correlated noise 10 %: distance", distance, 44.6, 5),
        _near(
            "correlated noise 10 %: Mahalanobis", _percent(mahalanobis.attack(noise, seeds=seeds)), 74.4, 4
        ),
        _near(
            "correlated noise 10 %: inference, mean",
            100 * _detail(attribute_inference.attack, noise, "mean"),
            5.2,
            5,
        ),
        _near(
            "correlated noise 10 %: membership, AUC", 100 * _detail(membership.attack, noise, "auc"), 67.0, 4
        ),
    ]
    return rows


def _near(name: str, found: float, wanted: float, within: float) -> dict[str, Any]:
    return row(f"census {name}", found, wanted, f"% (± {within:g})", ok=abs(found - wanted) <= within)


def _percent(found: Any) -> float:
    return float(found.percent)


def _detail(attack: Callable[..., Any], tables: MixedTables, name: str) -> float:
    return float(np.mean([dict(attack(tables, seeds=Seeds(seed)).details)[name] for seed in range(8)]))


def _worst(tables: MixedTables) -> float:
    """The worst column by its mean over several ways to halve the people: the worst of one is partly luck."""
    found = [
        dict(attribute_inference.attack(tables, seeds=Seeds(seed)).details)["by_column"] for seed in range(8)
    ]
    by_column = [[row["excess"] for row in rows] for rows in found]
    return 100.0 * float(np.mean(by_column, axis=0).max())
