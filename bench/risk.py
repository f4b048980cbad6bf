"""Risk of samples: against the group-by it cannot do without, how it grows, and estimates beside the truth.

Ratios are of CPU seconds of this process, measured in turns; the smallest of several runs counts. The estimates are made of
samples drawn from populations that are known, so that re-identifications can be counted: generated people whose keys depend on
each other, and Adult where ``SHOAL_DATA`` has it. Where R with sdcMicro is installed, its counts and risks are timed, too.
"""

import os
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

import shoal
from shoal.microdata.risk import counts, households, individual, keys, loglinear, population_uniques

MOST_OVER_GROUP_BY = 2.0
#: Ten times the records may cost so much more.
MOST_GROWTH = 20.0
KEYS = ("age", "sex", "region", "education", "marital", "occupation")
DRAWS = 20
FRACTIONS = (0.02, 0.1, 0.3)


def run() -> list[dict[str, Any]]:
    for module in (keys, counts, households, individual, population_uniques, loglinear):
        module.warm_up()
    return [*against_group_by(), *growth(), *missing_values(), *against_sdcmicro(), *known_populations()]


def row(name: str, measured: float, limit: float | None, unit: str, *, ok: bool = True) -> dict[str, Any]:
    return {"name": name, "measured": measured, "limit": limit, "unit": unit, "ok": ok}


def people(records: int, seed: int = 0) -> pl.DataFrame:
    """People whose keys depend on each other, in households, with weights."""
    rng = np.random.default_rng(seed)
    age = np.minimum(rng.gamma(4.0, 11.0, records), 94).astype(np.int64)
    sex = rng.integers(0, 2, records)
    region = np.minimum(rng.geometric(0.15, records), 20)
    education = np.clip(rng.normal(4 - np.abs(age - 40) / 25, 1.5, records), 0, 7).astype(np.int64)
    marital = np.clip(rng.normal(age / 25, 0.8, records), 0, 4).astype(np.int64)
    occupation = np.clip(rng.normal(5 * education + 3 * sex, 4.0, records), 0, 39).astype(np.int64)
    return pl.DataFrame(
        {
            "age": age,
            "sex": sex,
            "region": region,
            "education": education,
            "marital": marital,
            "occupation": occupation,
            "weight": rng.gamma(3.0, 20.0, records) + 1,
            "household": np.arange(records) // 3,
        }
    )


def cpu(work: Callable[[], Any]) -> float:
    began = time.process_time()
    work()
    return time.process_time() - began


def measured(frame: pl.DataFrame, weights: str | None = "weight", **more: Any) -> Any:
    return shoal.risk(frame, KEYS, sample_weights=weights, household="household", **more)


def against_group_by() -> list[dict[str, Any]]:
    """Counts, households and what each key adds; with weights the estimates, whose CPU is judged by ``risk_truth``."""
    frame = people(1_000_000)
    coarser = frame.with_columns(pl.col("age") // 10)
    name = "1,000,000 × 6 keys, households"
    files = (
        (name, frame, None, MOST_OVER_GROUP_BY),
        (f"{name}, weights, estimates", frame, "weight", None),
        (f"{name}, weights, estimates, two-way model", coarser, "weight", None),
    )
    rows = []
    for what, data, weights, limit in files:
        plain, ours = [], []
        for _ in range(4 if weights is None else 1):
            plain.append(cpu(lambda data=data: data.group_by(KEYS).agg(pl.len(), pl.col("weight").sum())))  # type: ignore[misc]
            ours.append(cpu(lambda data=data, weights=weights: measured(data, weights)))  # type: ignore[misc]
        ratio = min(ours) / min(plain)
        ok = limit is None or ratio <= limit
        rows.append(row(f"{what} / group-by of Polars", ratio, limit, "CPU ratio", ok=ok))
    return rows


def growth() -> list[dict[str, Any]]:
    taken = {}
    for records in (10_000, 100_000, 1_000_000):
        frame = people(records)
        taken[records] = min(cpu(lambda frame=frame: measured(frame)) for _ in range(3))  # type: ignore[misc]
    rows = []
    for small, large in ((10_000, 100_000), (100_000, 1_000_000)):
        ratio = taken[large] / taken[small]
        rows.append(
            row(f"CPU {large:,} / {small:,} records", ratio, MOST_GROWTH, "ratio", ok=ratio <= MOST_GROWTH)
        )
    return rows


def missing_values() -> list[dict[str, Any]]:
    """Missing values that match anything, as many records and keys as a survey has."""
    frame = people(5_000).with_columns(
        pl.when(pl.Series(np.random.default_rng(place).random(5_000) >= 0.05)).then(pl.col(name)).alias(name)
        for place, name in enumerate(KEYS)
    )
    rows = []
    for null in ("own", "wildcard"):
        took = min(cpu(lambda null=null: measured(frame, null=null)) for _ in range(2))  # type: ignore[misc]
        rows.append(took)
    return [row("5,000 × 6 keys, 5 % missing: wildcard / own value", rows[1] / rows[0], None, "CPU ratio")]


_SDCMICRO = """
library(sdcMicro)
x <- read.csv(commandArgs(TRUE)[1])
t <- system.time({
  f <- freqCalc(x, keyVars = 1:6, w = 7)
  r <- indivRisk(f)
})
cat(t[["user.self"]] + t[["sys.self"]])
"""


def against_sdcmicro() -> list[dict[str, Any]]:
    """The counts and risks of the peer, if it is installed."""
    program = shutil.which("Rscript")
    if program is None:
        print("bench risk: there is no R; sdcMicro is not compared")
        return []
    frame = people(200_000)
    with tempfile.TemporaryDirectory() as folder:
        data, script = Path(folder) / "people.csv", Path(folder) / "risk.R"
        frame.write_csv(data)
        script.write_text(_SDCMICRO)
        done = subprocess.run([program, script, data], check=False, capture_output=True, text=True)
    if done.returncode != 0:
        print("bench risk: sdcMicro is not installed, or failed")
        return []
    ours = min(cpu(lambda: shoal.risk(frame, KEYS, sample_weights="weight")) for _ in range(3))
    return [row("200,000 × 6 keys, weights / sdcMicro", ours / float(done.stdout), 1.0, "CPU ratio")]


def known_populations() -> list[dict[str, Any]]:
    """Samples of known populations: what each estimate says beside what is counted."""
    everybody = {"generated people": people(60_000).select("age", "sex", "region", "education", "marital")}
    adult = Path(os.environ.get("SHOAL_DATA", "data")) / "adult" / "adult.csv"
    if adult.exists():
        columns = ["sex", "age", "race", "marital-status", "education"]
        everybody["Adult"] = pl.read_csv(adult, separator=";").select(columns)
    rows, held = [], np.zeros(3)
    for name, population in everybody.items():
        for fraction in FRACTIONS:
            lines, own = estimates_beside_truth(name, population, fraction)
            rows += lines
            held += own
    draws = DRAWS * len(FRACTIONS) * len(everybody)
    names = ("τ₁", "τ₂", "the re-identifications")
    return rows + [
        row(
            f"All: the models hold {what} between them",
            own,
            draws / 2,
            f"of {draws} draws",
            ok=2 * own > draws,
        )
        for what, own in zip(names, held.tolist(), strict=True)
    ]


def estimates_beside_truth(
    name: str, population: pl.DataFrame, fraction: float
) -> tuple[list[dict[str, Any]], np.ndarray]:
    """Means over the draws, and in how many the two log-linear models hold the truth between them."""
    columns = population.columns
    everywhere = population.with_columns(pl.len().over(columns).alias("F"))
    total = float((everywhere["F"] == 1).sum())
    truth, main, two_way, others = [], [], [], []
    for draw in range(DRAWS):
        sample = everywhere.sample(fraction=fraction, seed=draw)
        alone = sample.filter(pl.len().over(columns) == 1)
        truth.append(
            [(alone["F"] == 1).sum(), (1 / alone["F"]).sum(), (1 / sample["F"]).sum()]  # type: ignore[list-item]
        )
        found = shoal.risk(sample.select(columns), columns, population=population.height)
        for model, into in (("main", main), ("two_way", two_way)):
            one = found.loglinear[model]
            into.append([one.tau1, one.tau2, one.reidentifications])
        others.append([found.expected_persons, *found.population_uniques.values()])
    held = ((np.minimum(main, two_way) <= truth) & (truth <= np.maximum(main, two_way))).sum(axis=0)
    counted, by_main, by_two_way = (np.mean(values, axis=0) for values in (truth, main, two_way))
    own, zayatz, pitman = np.mean(others, axis=0)
    where = f"{name}, fraction {fraction:g}"
    rows = [
        row(f"{where}: re-identifications, counted", counted[2], None, "records"),
        row("… individual risk / counted", own / counted[2], None, "ratio"),
        row("… log-linear, main effects / counted", by_main[2] / counted[2], None, "ratio"),
        row("… log-linear, two-way / counted", by_two_way[2] / counted[2], None, "ratio"),
        row("… τ₂, main effects / counted", by_main[1] / counted[1], None, "ratio"),
        row("… τ₂, two-way / counted", by_two_way[1] / counted[1], None, "ratio"),
        row("… Zayatz / population uniques", zayatz / total, None, "ratio"),
        row("… Pitman / population uniques", pitman / total, None, "ratio"),
        row("… the models hold τ₂ between them", held[1], None, f"of {DRAWS} draws"),
    ]
    return rows, held
