"""Anonymity against what it is made of: Polars' own grouping, and the partition number by the same recurrence.

The rank of a vector is compared with p(N) as ``shoal.anonymity.partitions`` computes it: Euler's recurrence for p(0), …, p(N)
modulo as many primes of 52 bits as p(N) needs, joined by the Chinese remainder theorem; nothing is cached on either side.
Both sides take turns, and the fastest of several runs counts.
"""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl

from shoal.anonymity import partitions
from shoal.microdata.anonymity.api import anonymity

MOST_OVER_POLARS = 2.5
MOST_OVER_PARTITION_NUMBER = 3.0


def run() -> list[dict[str, Any]]:
    partitions.warm_up()
    rows = [
        row(f"anonymity of 1,000,000 × 5, {name} / group_by().len()", over_polars(frame), MOST_OVER_POLARS)
        for name, frame in frames(1_000_000).items()
    ]
    population = 10_000
    for name, vector in vectors(population).items():
        measured = over_partition_number(population, vector)
        rows.append(row(f"rank of {name} of 10,000 / p(10,000)", measured, MOST_OVER_PARTITION_NUMBER))
    return rows


def row(name: str, measured: float, limit: float) -> dict[str, Any]:
    return {"name": name, "measured": measured, "limit": limit, "unit": "ratio", "ok": measured <= limit}


def frames(records: int) -> dict[str, pl.DataFrame]:
    generator = np.random.default_rng(0)

    def words(number: int) -> pl.Series:
        return pl.Series([f"value {place}" for place in range(number)]).gather(
            generator.integers(0, number, records)
        )

    many = pl.DataFrame(
        {
            "zip": generator.integers(28_000, 28_100, records),
            "age": generator.integers(0, 100, records),
            "sex": words(2),
            "education": words(8),
            "income": generator.integers(0, 12, records) * 0.5,
        }
    )
    few = many.with_columns(pl.col("zip") // 20, pl.col("age") // 10)
    return {"780,000 classes": many, "9,600 classes": few}


def vectors(population: int) -> dict[str, list[tuple[int, int]]]:
    """An ordinary one, the one of a population with large classes, and one as awkward as possible."""
    number = partitions.partition_count(population)
    # Where the two ways of counting meet, with almost everybody still to be counted.
    middle = int(1.1 * population**0.5)
    return {
        "the middle vector": partitions.unrank(population, number // 2),
        "few large classes": [(1, 1), (population // 4, 1), (population - population // 4 - 1, 1)],
        "an awkward vector": [(1, 1), (middle, 1), (population - middle - 1, 1)],
    }


def over_polars(frame: pl.DataFrame) -> float:
    # The lazy form is the faster one of Polars, so the stricter measure.
    plan = frame.lazy().group_by(frame.columns).len()
    return ratio(lambda: anonymity(frame, frame.columns), plan.collect, 7)


def over_partition_number(population: int, vector: list[tuple[int, int]]) -> float:
    uncached = partitions.partition_count.__wrapped__
    return ratio(lambda: partitions.ranks(population, [vector]), lambda: uncached(population), 40)


def ratio(ours: Callable[[], Any], theirs: Callable[[], Any], repeats: int) -> float:
    ours()
    theirs()
    pairs = [(seconds(ours), seconds(theirs)) for _ in range(repeats)]
    return min(pair[0] for pair in pairs) / min(pair[1] for pair in pairs)


def seconds(work: Callable[[], Any]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began
