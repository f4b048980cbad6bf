"""The block method on Spark and in slices from disk beside that of one machine: loss, work by size, memory, overhead.

The cluster is two processes on this machine (``local-cluster``). Work is CPU time of all processes of a run, so other programs
are not in it. All sizes run in one session, after runs that have started Java and the workers of Python and let Java compile
what it runs often; of each size the lesser of two runs counts. What a run costs that has next to no data is measured before
and after the sizes by the same call on ``FEW`` records; it stands in a row of its own and is subtracted from the work by size,
and the row with nothing subtracted stands beside. Without Java or PySpark those rows are left out. SHOAL_BENCH_RECORDS lowers
the sizes (``SHOAL_BENCH_RECORDS=200000`` runs 50,000, 100,000 and 200,000), SHOAL_BENCH_MASTER names another cluster, and
SHOAL_BENCH_TOLD=1 prints every run.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import numpy as np
import polars as pl

MOST_LOSS = 1.03
MOST_SPREAD = 1.30
#: Records of a run that is nearly all start-up: some leaves of a thousand and shifted ones, so that no job is left out.
FEW = 4_000
COLUMNS = ["a", "b", "c", "d", "e"]


def run() -> list[dict[str, Any]]:
    largest = int(os.environ.get("SHOAL_BENCH_RECORDS", "2000000"))
    sizes = [largest // 4, largest // 2, largest]
    rows: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        small = min(200_000, largest)
        local = measured("local", place, small)[0]
        stream = measured("stream", place, small)[0]
        rows.append(
            row(f"stream / local, loss, {small:,} records", stream["loss"] / local["loss"], MOST_LOSS)
        )
        rows += stream_rows(place, largest)
        if find_spec("pyspark") is None or (shutil.which("java") is None and "JAVA_HOME" not in os.environ):
            return rows
        # The first three are for Java, which compiles what it has run often.
        runs = measured("spark", place, FEW, small, sizes[0], FEW, *sizes, *sizes, FEW)
        rows.append(
            row(f"spark / local, loss, {small:,} records", runs[1]["loss"] / local["loss"], MOST_LOSS)
        )
        beside = measured("local", place, sizes[1])[0]
        # Work that others on the machine cause only adds: the lesser of two runs is nearer to what the size costs.
        found = [min(pair, key=lambda one: one["cpu"]) for pair in zip(runs[4:7], runs[7:10], strict=True)]
        rows += spark_rows(sizes, found, [runs[3], runs[10]], beside)
    return rows


def spark_rows(
    sizes: list[int], found: list[dict[str, Any]], few: list[dict[str, Any]], beside: dict[str, Any]
) -> list[dict[str, Any]]:
    """Work by size, memory of the driver, and what stands beside it."""
    # Less is subtracted rather than more.
    start = min(one["cpu"] for one in few)
    whole = [one["cpu"] / n for one, n in zip(found, sizes, strict=True)]
    each = [(one["cpu"] - start) / n for one, n in zip(found, sizes, strict=True)]
    memory = [one["driver"] for one in found]
    names, half, most = ", ".join(f"{n:,}" for n in sizes), sizes[1], sizes[-1]
    return [
        row(f"spark, CPU of a run of {FEW:,} records / of {sizes[0]:,}", start / found[0]["cpu"]),
        row(
            f"spark, CPU per record without that, most / least of {names}", max(each) / min(each), MOST_SPREAD
        ),
        row(f"spark, CPU per record with it, most / least of {names}", max(whole) / min(whole)),
        row(f"spark, memory of the driver, {most:,} / {sizes[0]:,}", memory[-1] / memory[0], 1.15),
        row(f"spark / local, loss, {half:,} records", found[1]["loss"] / beside["loss"], MOST_LOSS),
        row(f"spark / local, CPU, {half:,} records", found[1]["cpu"] / beside["cpu"]),
        row(f"spark, bytes shuffled per record, {most:,}", found[-1]["shuffled"] / most, unit="count"),
        row(f"spark, passes over the data, {most:,}", found[-1]["passes"], unit="count"),
    ]


def stream_rows(place: Path, largest: int) -> list[dict[str, Any]]:
    """What runs from disk takes: the memory is that of the whole process, and must stay below what was given."""
    sizes = (largest // 4, largest // 2)
    found = [measured("stream", place, n)[0] for n in sizes]
    cpu = [one["cpu"] / n for one, n in zip(found, sizes, strict=True)]
    names = " / ".join(f"{n:,}" for n in reversed(sizes))
    return [
        row(f"stream, CPU per record, {names}", cpu[1] / cpu[0], MOST_SPREAD),
        row(f"stream, peak memory / memory given (1 GB), {sizes[1]:,}", found[1]["peak"] / 1e9, 1.0),
    ]


def row(name: str, measured_: float, limit: float | None = None, unit: str = "ratio") -> dict[str, Any]:
    return {
        "name": name,
        "measured": measured_,
        "limit": limit,
        "unit": unit,
        "ok": limit is None or measured_ <= limit,
    }


def made(folder: Path, n: int) -> Path:
    """Records with long tails, correlations and whole numbers."""
    path = folder / f"{n}.parquet"
    if not path.exists():
        draw = np.random.default_rng(1)
        base = draw.normal(size=(n, 3))
        columns = [
            np.exp(base[:, 0]),
            base[:, 0] + base[:, 1],
            np.abs(base[:, 2]) ** 1.5,
            2 * base[:, 1] + 0.3 * draw.normal(size=n),
            draw.integers(0, 90, n),
        ]
        frame = pl.DataFrame(dict(zip(COLUMNS, columns, strict=True)))
        frame.with_columns(kept=pl.int_range(pl.len()) % 1_000).write_parquet(path, row_group_size=100_000)
    return path


def measured(engine: str, place: Path, *sizes: int) -> list[dict[str, Any]]:
    """Runs of some sizes, one after the other in a process of their own."""
    paths = [str(made(place, n)) for n in sizes]
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "bench.spark", engine, *paths],
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    found: list[dict[str, Any]] = json.loads(done.stdout.splitlines()[-1])
    if "SHOAL_BENCH_TOLD" in os.environ:
        for n, one in zip(sizes, found, strict=True):
            print(engine, n, json.dumps(one), file=sys.stderr, flush=True)
    return found


def all_runs(engine: str, paths: list[str]) -> list[dict[str, Any]]:
    """What each run took."""
    asked: dict[str, Any] = {"columns": COLUMNS, "quasi": COLUMNS}
    if engine == "spark":
        return on_spark(paths, asked)
    if engine == "local":
        import shoal

        def once(path: str) -> Any:
            return shoal.microaggregate(pl.read_parquet(path), 5, method="blocks", threads=1, **asked)

        shoal.microaggregate(pl.read_parquet(paths[0]).head(2_000), 5, method="blocks", threads=1, **asked)
    else:
        from shoal.stream.microaggregate import microaggregate

        def once(path: str) -> Any:
            result = microaggregate(path, 5, memory=1.0, **asked)
            result.close()
            return result

    found, work = [], Work()
    for path in paths:
        before = work.spent()
        result = once(path)
        found.append({"loss": result.loss, "cpu": work.spent() - before, "peak": high_water()})
    return found


def on_spark(paths: list[str], asked: dict[str, Any]) -> list[dict[str, Any]]:
    from shoal.spark import microaggregate
    from shoal.spark.session import session

    conf = {"spark.sql.shuffle.partitions": "8", "spark.ui.enabled": "true", "spark.ui.port": "0"}
    master = os.environ.get("SHOAL_BENCH_MASTER", "local-cluster[2,1,2048]")
    found, work = [], Work()
    with session(master, conf) as spark:
        runtime = spark._jvm.java.lang.Runtime.getRuntime()
        for path in paths:
            data = spark.read.parquet(path)
            records = data.count()
            options = {"leaf": 1_000} if records <= FEW else {}
            read, shuffled = totals(spark)
            before = work.spent()
            result = microaggregate(data, 5, options=options, **asked)
            spent = work.spent() - before
            result.close()
            read_after, shuffled_after = totals(spark)
            spark._jvm.java.lang.System.gc()
            found.append(
                {
                    "loss": result.loss,
                    "cpu": spent,
                    "driver": high_water() + runtime.totalMemory() - runtime.freeMemory(),
                    "shuffled": shuffled_after - shuffled,
                    "passes": (read_after - read) / records,
                }
            )
    return found


def totals(spark: Any) -> tuple[float, float]:
    """Records read from files and bytes written to shuffles by all stages so far, as Spark itself tells."""
    context = spark.sparkContext
    place = f"{context.uiWebUrl}/api/v1/applications/{context.applicationId}/stages"
    with urlopen(place) as answer:
        stages = json.load(answer)
    return sum(stage["inputRecords"] for stage in stages), sum(stage["shuffleWriteBytes"] for stage in stages)


class Work:
    """CPU seconds of this process and all below it, looked at twice a second.

    A process that has ended counts with what it had when it was last seen: not every parent waits for its children, so what
    the system adds up of those that ended is too little.
    """

    def __init__(self) -> None:
        self._seen: dict[int, float] = {}
        self._lock = threading.Lock()
        threading.Thread(target=self._watch, daemon=True).start()

    def _watch(self) -> None:
        while True:
            self.spent()
            time.sleep(0.5)

    def spent(self) -> float:
        """Until now."""
        children: dict[int, list[int]] = {}
        found: dict[int, float] = {}
        for stat in Path("/proc").glob("[0-9]*/stat"):
            try:
                fields = stat.read_text().rpartition(")")[2].split()
            except OSError:
                continue
            pid = int(stat.parent.name)
            children.setdefault(int(fields[1]), []).append(pid)
            found[pid] = sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")
        waiting = [os.getpid()]
        with self._lock:
            while waiting:
                pid = waiting.pop()
                self._seen[pid] = max(self._seen.get(pid, 0.0), found.get(pid, 0.0))
                waiting += children.get(pid, [])
            return sum(self._seen.values())


def high_water() -> float:
    """The most memory this process has held, in bytes."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return float(next(line.split()[1] for line in lines if line.startswith("VmHWM"))) * 1024


if __name__ == "__main__":
    print(json.dumps(all_runs(sys.argv[1], sys.argv[2:])))
