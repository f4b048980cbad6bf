"""A survey of persons in households: ages, places and jobs that may be known, an income and a diagnosis that may not."""

from pathlib import Path

import numpy as np
import polars as pl

HOUSEHOLDS = 250
SHARES = [0.35, 0.3, 0.2, 0.15]


def survey(seed: int = 20) -> pl.DataFrame:
    """The persons of some hundreds of households."""
    rng = np.random.default_rng(seed)
    sizes = rng.choice([1, 2, 3, 4], HOUSEHOLDS, p=SHARES)
    household = np.repeat(np.arange(1, HOUSEHOLDS + 1), sizes)
    records = household.size
    region = rng.choice(["north", "south", "east", "west"], HOUSEHOLDS)[household - 1]
    weight = rng.uniform(80, 240, HOUSEHOLDS)[household - 1].round(1)
    age = rng.integers(0, 90, records)
    job = np.where(
        age < 16,
        "none",
        rng.choice(["none", "clerk", "nurse", "smith", "teacher"], records, p=[0.3, 0.3, 0.15, 0.1, 0.15]),
    )
    marital = np.where(
        age < 16, "single", rng.choice(["single", "married", "widowed"], records, p=[0.3, 0.5, 0.2])
    )
    income = np.where(age < 16, 0.0, rng.lognormal(7.6, 0.5, records)).round(2)
    return pl.DataFrame(
        {
            "name": [f"Person {number}" for number in range(1, records + 1)],
            "household": household,
            "weight": weight,
            "region": region,
            "age": age,
            "sex": rng.choice(["f", "m"], records),
            "marital": marital,
            "job": job,
            "income": income,
            "diagnosis": rng.choice(["none", "asthma", "diabetes"], records, p=[0.8, 0.12, 0.08]),
        }
    )


if __name__ == "__main__":
    survey().write_csv(Path(__file__).parent / "survey.csv")
