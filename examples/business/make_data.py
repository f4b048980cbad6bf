"""Firms with their turnover: a few large ones in each sector, and sectors that are rare in a region."""

from pathlib import Path

import numpy as np
import polars as pl

REGIONS = ["north", "south", "east", "west"]
SECTORS = ["food", "metal", "paper", "textile", "energy"]


def firms(seed: int = 3) -> pl.DataFrame:
    """Some hundreds of firms."""
    rng = np.random.default_rng(seed)
    number = 320
    return pl.DataFrame(
        {
            "firm": [f"F{place:04d}" for place in range(1, number + 1)],
            "region": rng.choice(REGIONS, number, p=[0.4, 0.3, 0.2, 0.1]),
            "sector": rng.choice(SECTORS, number, p=[0.3, 0.25, 0.2, 0.17, 0.08]),
            "turnover": rng.lognormal(4, 1.4, number).round().astype(int) + 1,
        }
    )


if __name__ == "__main__":
    firms().write_csv(Path(__file__).parent / "firms.csv")
