"""Search and bound together end within 1.2 of a time limit, whatever the command and however large its input.

Every command runs as a process of its own, on input that is drawn here, and tells by its ``phases`` how long search and
bound took; reading, verification and writing are no part of them. A first run on a small input compiles what is not
compiled yet. Seconds are shown beside the ratios, which alone are judged.
"""

import json
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

MOST = 1.2


def run() -> list[dict[str, Any]]:
    rows = []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        for small, large, seconds, words in commands(folder):
            if small is not None:
                phases(small, 1.0)
            spent = phases(large, seconds)
            total = spent.get("search", 0.0) + spent.get("bound", 0.0)
            name = f"{large[0]}, {words}, limit {seconds:g} s"
            ratio = total / seconds
            about = {"name": f"{name}: (search + bound) / limit", "measured": ratio, "limit": MOST}
            rows.append({**about, "unit": "ratio", "ok": ratio <= MOST})
            for stage, measured in spent.items():
                rows.append(
                    {"name": f"  {stage}", "measured": measured, "limit": None, "unit": "s", "ok": True}
                )
    return rows


def commands(folder: Path) -> list[tuple[list[str] | None, list[str], float, str]]:
    """A small run, a large one, its limit in seconds, and its size in words."""
    generator = np.random.default_rng(0)

    def numbers(n: int) -> str:
        values = np.exp(generator.normal(size=(n, 4))) @ generator.normal(size=(4, 10))
        values += 0.3 * generator.normal(size=values.shape)
        name = folder / f"numbers{n}.parquet"
        pl.DataFrame(values, schema=[f"c{column}" for column in range(10)]).write_parquet(name)
        return str(name)

    def categories(n: int) -> str:
        sizes = {"region": 40, "age": 90, "sex": 2, "job": 30}
        name = folder / f"categories{n}.parquet"
        pl.DataFrame({key: generator.integers(0, size, n) for key, size in sizes.items()}).write_parquet(name)
        return str(name)

    def survey(n: int) -> list[str]:
        # Coarse keys, whose combinations a model of two-way effects can be fitted to, and so many that sets of them are many.
        sizes = [2, 2, 2, 2, 2, 2, 2, 2, 2, 2, 3, 3, 4, 5]
        name = folder / f"survey{n}.parquet"
        frame = pl.DataFrame(
            {f"key{place}": generator.integers(0, size, n) for place, size in enumerate(sizes)}
        )
        frame.write_parquet(name)
        return [
            str(name),
            "--quasi",
            ",".join(frame.columns),
            "--population",
            f"{20 * n}",
            "--special-uniques",
        ]

    def table(side: int, sensitive: int) -> list[str]:
        values = generator.integers(0, 1000, (side, side)) * (generator.random((side, side)) > 0.3)
        names = [f"c{column}" for column in range(side)]
        frame = pl.DataFrame(values, schema=names).insert_column(
            0, pl.Series("row", [f"r{row}" for row in range(side)])
        )
        matrix, cells = folder / f"table{side}.csv", folder / f"cells{side}.csv"
        frame.write_csv(matrix)
        small = np.argwhere((values > 0) & (values < 60))
        chosen = small[generator.choice(len(small), min(sensitive, len(small)), replace=False)]
        pl.DataFrame(
            {"row": [f"r{row}" for row, _ in chosen], "column": [f"c{column}" for _, column in chosen]}
        ).write_csv(cells)
        return [str(matrix), "--sensitive", str(cells)]

    def release(n: int) -> list[str]:
        # Large enough changes that a nearest record is not found at once.
        before = numbers(n)
        moved = pl.read_parquet(before).with_columns(pl.all() + 0.1 * pl.Series(generator.normal(size=n)))
        after = folder / f"release{n}.parquet"
        moved.write_parquet(after)
        return [before, str(after), "--paired-by-position"]

    def hidden(side: int, share: float) -> list[str]:
        matrix, _, cells = table(side, 2 * side)
        drawn = np.argwhere(generator.random((side, side)) < share)
        named = [(f"r{row}", f"c{column}") for row, column in drawn]
        named = list(dict.fromkeys([*named, *pl.read_csv(cells).rows()]))
        pattern = folder / f"pattern{side}.csv"
        pl.DataFrame(named, schema=["row", "column"], orient="row").write_csv(pattern)
        return [matrix, str(pattern), "--sensitive", cells]

    def cube(side: int) -> list[str]:
        # No network, so that every interval is two linear programmes.
        places = np.argwhere(np.ones((side, side, side)))
        codes = {name: [f"{name}{place}" for place in places[:, axis]] for axis, name in enumerate("abc")}
        cells = pl.DataFrame({**codes, "value": generator.integers(1, 1000, len(places))})
        every, pattern, sensitive = (folder / f"{name}{side}.csv" for name in ("cube", "of", "in"))
        cells.write_csv(every)
        some = cells.drop("value").sample(fraction=0.3, seed=1)
        some.write_csv(pattern)
        some.head(side).write_csv(sensitive)
        made = ["--dimensions", "a,b,c", "--value", "value"]
        return [str(every), str(pattern), "--sensitive", str(sensitive), *made]

    def slots(people: int) -> str:
        name = folder / f"slots{people}.csv"
        number = max(2, people // 200)
        pl.DataFrame({"slot": range(number), "capacity": [people // number + 1] * number}).write_csv(name)
        return str(name)

    keys = ["--quasi", "region,age,sex,job", "-k", "5"]
    tiny, large, huge = table(12, 6), table(100, 200), table(1000, 2000)
    return [
        (
            ["microaggregate", numbers(8_000), "-k", "5"],
            ["microaggregate", numbers(1_000_000), "-k", "5"],
            20.0,
            "1,000,000 × 10",
        ),
        (["suppress", *tiny], ["suppress", *large], 5.0, "10,000 cells"),
        (["suppress", *tiny], ["suppress", *huge], 60.0, "1,000,000 cells"),
        (
            ["recode", categories(2_000), *keys],
            ["recode", categories(1_000_000), *keys],
            30.0,
            "1,000,000 records",
        ),
        (["risk", *survey(500)], ["risk", *survey(1_000_000)], 5.0, "1,000,000 × 14 keys"),
        (["group", numbers(300), "-k", "5"], ["group", numbers(20_000), "-k", "5"], 10.0, "20,000 × 10"),
        (
            ["assign", categories(300), slots(300), "--quasi", "region,sex"],
            ["assign", categories(20_000), slots(20_000), "--quasi", "region,sex"],
            10.0,
            "20,000 people",
        ),
        (
            ["round", tiny[0], "--base", "5"],
            ["round", large[0], "--base", "5"],
            10.0,
            "10,000 cells",
        ),
        (["adjust", *tiny], ["adjust", *large], 10.0, "10,000 cells"),
        (["compare", *release(500)], ["compare", *release(1_000_000)], 30.0, "1,000,000 × 10"),
        (["audit", *hidden(12, 0.3)], ["audit", *hidden(1000, 0.1)], 20.0, "1,000,000 cells"),
        (["audit", *cube(4)], ["audit", *cube(22)], 10.0, "10,648 cells of three dimensions"),
    ]


def phases(command: list[str], seconds: float) -> dict[str, float]:
    """Seconds by stage of one run."""
    done = subprocess.run(
        [sys.executable, "-m", "shoal.cli.start", *command, "--time-limit", f"{seconds:g}", "--json"],
        capture_output=True,
        text=True,
        check=False,
    )
    told = json.loads(done.stdout)
    if "phases" not in told:
        raise RuntimeError(f"{command[0]}: {told.get('error', done.stderr[-300:])}")
    return dict(told["phases"])
