"""How work and memory grow: every operation at three sizes, each in a process of its own.

A row is the exponent by which CPU time grows from one size to the next: 1 is linear, 2 is square. In each process the
smallest size runs first, so that nothing is loaded or compiled in what is measured. Beside it stands the peak memory of each
process. Data are generated, so that everybody sees the same; ``docs/performance.md`` tells what came out.
"""

import json
import resource
import subprocess
import sys
from collections.abc import Callable
from math import log
from typing import Any

import numpy as np
import polars as pl

# What the exponent of the last step may be; n log n is about 1.1 here.
MOST_LINEAR = 1.35
MOST_SQUARE = 2.3


def people(size: int) -> pl.DataFrame:
    generator = np.random.default_rng(1)
    return pl.DataFrame(
        {
            "zip": generator.integers(28_000, 28_050, size),
            "age": generator.integers(0, 100, size),
            "sex": generator.choice(["f", "m"], size),
            "illness": generator.choice(["flu", "gout", "none"], size),
        }
    )


def firms(size: int, columns: int = 6) -> pl.DataFrame:
    generator = np.random.default_rng(2)
    common = generator.normal(size=(size, 2)) @ generator.normal(size=(2, columns))
    values = np.exp(common / 2 + generator.normal(size=(size, columns)) / 3)
    return pl.DataFrame(values.round(4), schema=[f"x{place}" for place in range(columns)])


def anonymity(size: int) -> None:
    import shoal

    _ = shoal.anonymity(people(size), quasi=["zip", "age", "sex"]).k


def risk(size: int) -> None:
    import shoal

    shoal.risk(people(size), quasi=["zip", "age", "sex"])


def recode(size: int) -> None:
    import shoal

    shoal.recode(
        people(size).select("zip", "age", "sex"),
        ["zip", "age", "sex"],
        k=5,
        hierarchies={"zip": "intervals(10,50)", "age": "intervals(5,20)", "sex": "star"},
    )


def microaggregate(size: int) -> None:
    import shoal

    shoal.microaggregate(firms(size), k=5)


def group(size: int) -> None:
    import shoal

    shoal.group_attributes(firms(size), k=10, method="gomm", options={"population": 20, "generations": 5})


def perturb(size: int) -> None:
    import shoal

    shoal.perturb(firms(size), columns=["x0", "x1"], method="noise")


def compare(size: int) -> None:
    import shoal

    before = firms(size)
    after = before.with_columns(pl.all() * 1.01)
    shoal.compare(before, after, paired_by_position=True)


def tabulate(size: int) -> None:
    import shoal

    shoal.tabulate(people(size), ["zip", "sex"], value="age")


def suppress(size: int) -> None:
    import shoal

    side = int(size**0.5)
    generator = np.random.default_rng(3)
    table = generator.integers(1, 1000, (side, side)).astype(float)
    cells = generator.choice(side * side, max(1, side * side // 20), replace=False)
    sensitive = [(str(cell // side + 1), str(cell % side + 1)) for cell in cells.tolist()]
    shoal.suppress(table, sensitive=sensitive, protection=0.2, iterations=2000)


def numbers_in(size: int, sensitive: int) -> tuple[np.ndarray, list[tuple[str, str]]]:
    side = int(size**0.5)
    generator = np.random.default_rng(5)
    table = generator.integers(1, 1000, (side, side)).astype(float)
    cells = generator.choice(side * side, sensitive, replace=False)
    return table, [(str(cell // side + 1), str(cell % side + 1)) for cell in cells.tolist()]


def audit(size: int) -> None:
    import shoal

    table, hidden = numbers_in(size, size // 10)
    shoal.audit(table, hidden, sensitive=hidden[: size // 100])


def round_table(size: int) -> None:
    import shoal

    shoal.round_table(numbers_in(size, 1)[0], base=5, seed=1, iterations=20)


def adjust_table(size: int) -> None:
    import shoal

    table, sensitive = numbers_in(size, 10)
    shoal.adjust_table(table, sensitive=sensitive, seed=1, iterations=20)


def perturb_table(size: int) -> None:
    import shoal

    shoal.perturb_table(people(size), ["zip", "sex"], seed=1)


def assign(size: int) -> None:
    from shoal.appointments.api import assign_sizes

    generator = np.random.default_rng(4)
    groups = generator.integers(5, 200, size).tolist()
    seats = -(-int(sum(groups) * 1.05) // (size // 2))
    assign_sizes(groups, [seats] * (size // 2), iterations=200)


# The sizes, what they count, and the most that the exponent of the last step may be.
OPERATIONS: dict[Callable[[int], None], tuple[tuple[int, int, int], str, float]] = {
    anonymity: ((100_000, 400_000, 1_600_000), "records", MOST_LINEAR),
    risk: ((10_000, 40_000, 160_000), "records", MOST_LINEAR),
    recode: ((10_000, 40_000, 160_000), "records", MOST_LINEAR),
    microaggregate: ((2_000, 8_000, 32_000), "records", MOST_LINEAR),
    group: ((1_000, 2_000, 4_000), "records", MOST_SQUARE),
    perturb: ((10_000, 40_000, 160_000), "records", MOST_LINEAR),
    compare: ((2_000, 8_000, 32_000), "records", MOST_SQUARE),
    tabulate: ((40_000, 160_000, 640_000), "records", MOST_LINEAR),
    suppress: ((225, 900, 3_600), "cells", MOST_SQUARE),
    audit: ((900, 3_600, 14_400), "cells", MOST_SQUARE),
    round_table: ((900, 3_600, 14_400), "cells", MOST_SQUARE),
    adjust_table: ((900, 3_600, 14_400), "cells", MOST_SQUARE),
    perturb_table: ((40_000, 160_000, 640_000), "records", MOST_LINEAR),
    assign: ((50, 200, 800), "groups", MOST_SQUARE),
}


def run() -> list[dict[str, Any]]:
    return [row for work in OPERATIONS for row in grown(work)]


def grown(work: Callable[[int], None]) -> list[dict[str, Any]]:
    sizes, of, limit = OPERATIONS[work]
    found = [measured(work.__name__, size) for size in sizes]
    rows = []
    for (before, earlier), (size, now) in zip(
        zip(sizes, found, strict=True), list(zip(sizes, found, strict=True))[1:], strict=False
    ):
        times = size / before
        exponent = log(max(now["cpu"], 1e-3) / max(earlier["cpu"], 1e-3)) / log(times)
        last = size == sizes[-1]
        rows.append(
            {
                "name": f"{work.__name__}, {before:,} to {size:,} {of}: CPU grows as n to the",
                "measured": exponent,
                "limit": limit if last else None,
                "unit": "exponent",
                "ok": exponent <= limit or not last,
            }
        )
    memory = " / ".join(f"{one['memory']:.0f}" for one in found)
    rows.append(
        {
            "name": f"{work.__name__}, peak memory at {' / '.join(f'{size:,}' for size in sizes)} {of}: {memory}",
            "measured": found[-1]["memory"],
            "limit": None,
            "unit": "MB",
            "ok": True,
        }
    )
    return rows


def measured(name: str, size: int) -> dict[str, float]:
    """CPU seconds of the second of two runs, for which everything is loaded, and peak memory, in a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "bench.operations", name, str(size)],
        capture_output=True,
        text=True,
        check=True,
    )
    found: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return found


def once(name: str, size: int) -> None:
    import time

    (work,) = (one for one in OPERATIONS if one.__name__ == name)
    smallest = OPERATIONS[work][0][0]
    work(smallest)
    began = time.process_time()
    work(size)
    spent = time.process_time() - began
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"cpu": spent, "memory": memory}))


if __name__ == "__main__":
    once(sys.argv[1], int(sys.argv[2]))
