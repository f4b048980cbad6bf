"""People who are invited to a screening, and the slots of two centres, in a database."""

from pathlib import Path

import numpy as np
import polars as pl

from shoal import sources

PEOPLE = 60


def people(seed: int = 5) -> pl.DataFrame:
    """Women of one town, of a few years of birth and quarters."""
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "person": np.arange(1, PEOPLE + 1),
            "born": rng.choice([1960, 1965, 1970, 1975], PEOPLE),
            "quarter": rng.choice(["harbour", "hill", "market"], PEOPLE),
        }
    )


def slots() -> pl.DataFrame:
    """Six slots of twelve seats at two centres."""
    return pl.DataFrame(
        {
            "slot": [f"S{number}" for number in range(1, 7)],
            "capacity": [12] * 6,
            "centre": ["east", "east", "east", "west", "west", "west"],
        }
    )


if __name__ == "__main__":
    place = f"sqlite:///{Path(__file__).parent.resolve()}/clinic.db"
    sources.write(people(), f"{place}::people", force=True)
    sources.write(slots(), f"{place}::slots", force=True)
