"""Reading of wide text files: the time a column takes in a file of 10,000 columns against one of 100, and against Polars.

And K of a million records from a file, against Polars' own reading and grouping: all at once (``read_csv``, ``group_by``), and
in the lazy form, which reads no more than the grouping needs. All sides take turns in one run, and the fastest of several
counts, so that the speed of the machine drops out.
"""

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl

from bench.anonymity import frames
from shoal import sources
from shoal.microdata.anonymity.api import anonymity

MOST_OVER_NARROW = 2.0
MOST_OVER_POLARS = 3.0
MOST_FROM = {"csv": 1.5, "parquet": 1.2}
MOST_FROM_LAZY = {"csv": 2.2, "parquet": 1.8}
RECORDS = 200
TURNS = 3


def run() -> list[dict[str, Any]]:
    with tempfile.TemporaryDirectory() as folder:
        narrow = write(Path(folder) / "narrow.csv", 100)
        wide = write(Path(folder) / "wide.csv", 10_000)
        of_narrow, of_wide, of_polars = fastest(
            lambda: [sources.read(narrow) for _ in range(5)],
            lambda: sources.read(wide),
            lambda: pl.read_csv(wide, try_parse_dates=True),
        )
    growth = (of_wide / 10_000) / (of_narrow / 500)
    return [
        row("time a column, 10,000 columns / 100 columns, 200 records", growth, MOST_OVER_NARROW),
        row("reading 10,000 columns / polars.read_csv", of_wide / of_polars, MOST_OVER_POLARS),
        *k_of_a_million(),
    ]


def k_of_a_million() -> list[dict[str, Any]]:
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for name, frame in frames(1_000_000).items():
            names = frame.columns
            for kind, eager, lazy in (
                ("csv", pl.read_csv, pl.scan_csv),
                ("parquet", pl.read_parquet, pl.scan_parquet),
            ):
                path = Path(folder) / f"million.{kind}"
                getattr(frame, f"write_{kind}")(path)
                ours, at_once, lazily = fastest(
                    lambda path=path, names=names: anonymity(sources.read(path).frame, names).k,
                    lambda path=path, names=names, read=eager: read(path).group_by(names).len(),
                    lambda path=path, names=names, scan=lazy: scan(path).group_by(names).len().collect(),
                )
                of = f"K of 1,000,000 × 5, {name}, {kind}"
                rows += [
                    row(f"{of} / Polars' read and group-by", ours / at_once, MOST_FROM[kind]),
                    row(f"{of} / Polars' lazy form", ours / lazily, MOST_FROM_LAZY[kind]),
                ]
    return rows


def row(name: str, measured: float, limit: float) -> dict[str, Any]:
    return {"name": name, "measured": measured, "limit": limit, "unit": "ratio", "ok": measured <= limit}


def write(path: Path, columns: int) -> Path:
    """Whole numbers, fractions, words and dates in turn."""
    lines = [",".join(f"column{number}" for number in range(columns))]
    for record in range(RECORDS):
        kinds = (
            str(record * 7 % 101),
            f"{record * 3 % 89}.25",
            "xyz"[record % 3],
            f"{record % 28 + 1:02}/12/2024",
        )
        lines.append(",".join(kinds[number % 4] for number in range(columns)))
    path.write_text("\n".join(lines) + "\n")
    return path


def fastest(*works: Callable[[], Any]) -> list[float]:
    best = [float("inf")] * len(works)
    for _ in range(TURNS):
        for place, work in enumerate(works):
            start = time.process_time()
            work()
            best[place] = min(best[place], time.process_time() - start)
    return best
