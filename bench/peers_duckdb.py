"""What ``--engine stream`` asks of Polars, asked of DuckDB: sums, classes, records sorted by leaf, leaves taken up and written.

Both get as much memory in a process of their own (``GIVEN``; of DuckDB's, what Python and Shoal need themselves is left free).
Figures are CPU time and peak memory of DuckDB over those of Polars. DuckDB need not be installed; without it there are no rows.
SHOAL_BENCH_RECORDS lowers the number of records.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from bench.spark import Work, high_water, row
from shoal.microdata.microaggregation.leaves.split_tree import Sample, SplitTree

GIVEN = 1.0
COLUMNS = ["a", "b", "c", "d", "e"]
KEYS = ["c", "e", "kept"]
STEPS = ("sums", "classes", "route", "take")
_LEAF = 40_000


def run() -> list[dict[str, Any]]:
    if find_spec("duckdb") is None:
        return []
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        made(Path(folder), int(os.environ.get("SHOAL_BENCH_RECORDS", "5000000")))
        for step in STEPS:
            ours, theirs = (measured(engine, step, folder) for engine in ("polars", "duckdb"))
            assert ours["answer"] == theirs["answer"], (step, ours, theirs)
            rows.append(row(f"{step}: CPU, DuckDB / Polars", theirs["cpu"] / ours["cpu"]))
            rows.append(row(f"{step}: peak memory, DuckDB / Polars", theirs["peak"] / ours["peak"]))
            for engine, found in (("Polars", ours), ("DuckDB", theirs)):
                share = found["peak"] / 1e9 / GIVEN
                rows.append(row(f"{step}: peak memory of {engine} / given", share))
    return rows


def made(folder: Path, n: int) -> None:
    """Numbers with long tails, a column that is kept and a text, in ten files."""
    draw = np.random.default_rng(1)
    (folder / "data").mkdir()
    for part in range(10):
        base = draw.normal(size=(n // 10, 3))
        frame = pl.DataFrame(
            {
                "a": np.exp(base[:, 0]),
                "b": base[:, 0] + base[:, 1],
                "c": np.round(np.abs(base[:, 2]) ** 1.5, 2),
                "d": 2 * base[:, 1] + 0.3 * draw.normal(size=n // 10),
                "e": draw.integers(0, 90, n // 10).astype(float),
            }
        )
        frame = frame.with_columns(
            kept=pl.int_range(pl.len()) % 1_000,
            text=pl.int_range(pl.len()).hash().cast(pl.String).str.pad_end(60, "x"),
        )
        frame.write_parquet(folder / "data" / f"{part}.parquet", row_group_size=100_000)


def measured(engine: str, step: str, folder: str) -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "bench.peers_duckdb", engine, step, folder],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def tree(folder: Path) -> SplitTree:
    """Splits such as those of a release."""
    points = pl.read_parquet(folder / "data" / "0.parquet", columns=COLUMNS, n_rows=50_000).to_numpy()
    records = int(pl.scan_parquet(str(folder / "data" / "*.parquet")).select(pl.len()).collect().item())
    return SplitTree.unsplit().split({0: (Sample(points, np.ones(len(points))), records)}, _LEAF)


def by_polars(step: str, folder: Path) -> Any:
    from shoal.stream.classes import count_classes
    from shoal.stream.memory import room_for, row_bytes
    from shoal.stream.records import Source
    from shoal.stream.spill import Spill

    source = Source(str(folder / "data"))
    room = room_for(GIVEN, row_bytes(source.plan.head(10_000).collect()), len(COLUMNS), _LEAF)
    if step == "sums":
        largest = np.full(len(COLUMNS), -np.inf)
        for frame in source.slices(room.slice, *(pl.col(name) for name in COLUMNS)):
            values = frame.to_numpy()
            largest = np.maximum(largest, values.max(axis=0))
            values.min(axis=0), values.sum(axis=0), values.T @ values
        return largest.tolist()
    if step == "classes":
        return count_classes(source.plan, KEYS, source.records, room.classes).classes
    splits, spill = tree(folder), Spill(folder / "spill")
    for frame in source.slices(room.slice):
        spill.put(frame, splits.route(frame.select(COLUMNS).to_numpy()).astype(np.int64))
    if step == "take":
        (folder / "out").mkdir()
        for number in spill.numbers:
            spill.take(number).sort("a").write_parquet(folder / "out" / f"{number}.parquet")
    leaves = len(spill.numbers)
    spill.remove()
    return leaves


def by_duckdb(step: str, folder: Path) -> Any:
    import duckdb
    import pyarrow as pa

    from shoal.stream.memory import BASE

    connection = duckdb.connect()
    for setting in (
        f"memory_limit='{GIVEN - BASE / 1e9:.2f}GB'",
        f"temp_directory='{folder / 'temporary'}'",
        "preserve_insertion_order=false",
    ):
        connection.execute(f"SET {setting}")
    source = f"read_parquet('{folder}/data/*.parquet')"
    if step == "sums":
        asked = [f"max({name})" for name in COLUMNS]
        asked += [f"min({name}), sum({name})" for name in COLUMNS]
        asked += [f"sum({one} * {other})" for i, one in enumerate(COLUMNS) for other in COLUMNS[: i + 1]]
        found = connection.execute(f"SELECT {', '.join(asked)} FROM {source}").fetchone()
        return list(found[: len(COLUMNS)])
    if step == "classes":
        keys = ", ".join(KEYS)
        classes = f"SELECT count(*) AS size FROM {source} GROUP BY {keys}"
        sizes = connection.execute(f"SELECT size, count(*) FROM ({classes}) GROUP BY size").fetchall()
        return sum(number for _, number in sizes)
    splits, place = tree(folder), folder / "sorted.parquet"

    # DuckDB counts the parameters of what it is given.
    def leaf(a: Any, b: Any, c: Any, d: Any, e: Any) -> Any:
        return pa.array(splits.route(np.column_stack([one.to_numpy() for one in (a, b, c, d, e)])))

    connection.create_function("leaf", leaf, ["DOUBLE"] * len(COLUMNS), "INTEGER", type="arrow")
    routed = f"SELECT *, leaf({', '.join(COLUMNS)}) AS leaf FROM {source} ORDER BY leaf"
    written = "(FORMAT parquet, COMPRESSION lz4_raw, ROW_GROUP_SIZE 8192)"
    connection.execute(f"COPY ({routed}) TO '{place}' {written}")
    leaves = [item for (item,) in connection.execute(f"SELECT DISTINCT leaf FROM '{place}'").fetchall()]
    if step == "take":
        (folder / "out").mkdir()
        for number in leaves:
            own = f"SELECT * EXCLUDE (leaf) FROM '{place}' WHERE leaf = {number} ORDER BY a"
            connection.execute(f"COPY ({own}) TO '{folder}/out/{number}.parquet' (FORMAT parquet)")
    place.unlink()
    shutil.rmtree(folder / "temporary", ignore_errors=True)
    return len(leaves)


if __name__ == "__main__":
    work = Work()
    before = work.spent()
    answer = (by_polars if sys.argv[1] == "polars" else by_duckdb)(sys.argv[2], Path(sys.argv[3]))
    shutil.rmtree(Path(sys.argv[3], "out"), ignore_errors=True)
    print(json.dumps({"answer": answer, "cpu": work.spent() - before, "peak": high_water()}))
