"""Special uniques against the group-by of all their keys, and how they grow with records and keys.

Ratios are of CPU seconds of this process; the smallest of several runs counts. Two files of ten keys: a survey, in which one
record in six is unique, and one so detailed that four in five are, with ten times as many minimal uniques. Where R with sdcMicro
is installed, its ``suda2`` is timed, too.
"""

import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from shoal.microdata.risk import keys
from shoal.microdata.risk.special_uniques import search

SURVEY = (2, 2, 2, 3, 3, 4, 5, 6, 8, 90)
DETAILED = (2, 3, 4, 5, 6, 8, 10, 15, 25, 80)
MOST_OVER_GROUP_BY = 15.0
MOST_OVER_GROUP_BY_DETAILED = 30.0
#: Four times the records, or four times the sets of keys, may cost so much more.
MOST_GROWTH = 8.0


def run() -> list[dict[str, Any]]:
    keys.warm_up()
    search.warm_up()
    return [*against_group_by(), *growth(), *limited(), *against_sdcmicro()]


def row(name: str, measured: float, limit: float | None, unit: str) -> dict[str, Any]:
    ok = limit is None or measured <= limit
    return {"name": name, "measured": measured, "limit": limit, "unit": unit, "ok": ok}


def people(records: int, kinds: Sequence[int], seed: int = 1) -> np.ndarray:
    """Keys that depend on each other through one thing that is not among them; low values are frequent."""
    rng = np.random.default_rng(seed)
    hidden = rng.beta(1, 2, records)
    values = [0.5 * hidden + 0.5 * rng.beta(1, 3, records) for _ in kinds]
    columns = [np.minimum(one * kind, kind - 1) for one, kind in zip(values, kinds, strict=True)]
    return np.stack(columns, axis=1).astype(np.int64)


def taken(work: Callable[[], Any], turns: int = 3) -> float:
    least = np.inf
    for _ in range(turns):
        began = time.process_time()
        work()
        least = min(least, time.process_time() - began)
    return float(least)


def against_group_by() -> list[dict[str, Any]]:
    rows = []
    files = (("survey", SURVEY, MOST_OVER_GROUP_BY), ("detailed", DETAILED, MOST_OVER_GROUP_BY_DETAILED))
    for name, kinds, limit in files:
        codes = people(100_000, kinds)
        frame = pl.DataFrame(codes, schema=[f"key {place}" for place in range(10)])
        plain = taken(lambda frame=frame: frame.group_by(frame.columns).len(), 6)  # type: ignore[misc]
        ours = taken(lambda codes=codes: search.special_uniques(codes))  # type: ignore[misc]
        found = search.special_uniques(codes)
        where = f"100,000 × 10 keys, {name}"
        rows += [
            row(f"{where}: all sizes / group-by of Polars", ours / plain, limit, "CPU ratio"),
            row("… records with a special unique", found.records, None, "records"),
            row("… minimal uniques", sum(found.by_size.values()), None, "sets"),
        ]
    return rows


def growth() -> list[dict[str, Any]]:
    rows = []
    by_records = {n: taken(lambda n=n: search.special_uniques(people(n, SURVEY))) for n in (25_000, 100_000)}  # type: ignore[misc]
    by_keys = {
        d: taken(lambda d=d: search.special_uniques(people(50_000, DETAILED[:d])))
        for d in (6, 8, 10)  # type: ignore[misc]
    }
    rows.append(
        row("CPU 100,000 / 25,000 records", by_records[100_000] / by_records[25_000], MOST_GROWTH, "ratio")
    )
    for few, many in ((6, 8), (8, 10)):
        rows.append(
            row(f"CPU {many} / {few} keys, detailed", by_keys[many] / by_keys[few], MOST_GROWTH, "ratio")
        )
    return rows


def limited() -> list[dict[str, Any]]:
    """Many keys with a limit beside few keys without one."""
    many, few = people(20_000, DETAILED * 2), people(20_000, DETAILED)
    sets = {3: 1_350, 4: 6_195}
    whole = taken(lambda: search.special_uniques(few)) / 1_023
    return [
        row(
            f"20 keys, at most {size} / 10 keys, all: CPU of a set",
            taken(lambda size=size: search.special_uniques(many, size), 2) / sets[size] / whole,  # type: ignore[misc]
            None,
            "ratio",
        )
        for size in sets
    ]


_SDCMICRO = """
library(sdcMicro)
x <- read.csv(commandArgs(TRUE)[1])
t <- system.time(s <- suda2(x, variables = names(x)))
cat(t[["user.self"]] + t[["sys.self"]], sum(s$score))
"""


def against_sdcmicro() -> list[dict[str, Any]]:
    """The scores of the peer and its time, if it is installed."""
    program = shutil.which("Rscript")
    if program is None:
        print("bench special_uniques: there is no R; sdcMicro is not compared")
        return []
    codes = people(20_000, SURVEY)
    with tempfile.TemporaryDirectory() as folder:
        data, script = Path(folder) / "people.csv", Path(folder) / "suda.R"
        pl.DataFrame(codes + 1).write_csv(data)
        script.write_text(_SDCMICRO)
        done = subprocess.run([program, script, data], check=False, capture_output=True, text=True)
    if done.returncode != 0:
        print("bench special_uniques: sdcMicro is not installed, or failed")
        return []
    seconds, score = map(float, done.stdout.split())
    ours = taken(lambda: search.special_uniques(codes))
    own = search.special_uniques(codes).scores.sum()
    return [
        row("20,000 × 10 keys, survey / sdcMicro", ours / seconds, 1.0, "CPU ratio"),
        row("… sum of scores / sdcMicro", own / score, None, "ratio"),
    ]
