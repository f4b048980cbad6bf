"""Records of firms, and a plan that makes a protected table of them."""

from pathlib import Path

import numpy as np
import polars as pl

TURNOVER = """\
[release]
name = "turnover"
type = "public"

[sources.firms]
data = "firms.csv"
roles = {firm = "identifier", turnover = "confidential"}

[[steps]]
do = "tabulate"
dimensions = ["region", "sector"]
value = "turnover"
contributor = "firm"
rules = ["frequency(3)", "p-percent(10)"]

[[steps]]
do = "suppress"

[gates.suppress]
safe = true

[outputs]
"turnover.csv" = "suppress"
"""


def firms(records: int = 70, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "firm": [f"Firm{number}" for number in range(records)],
            "region": rng.choice(["north", "south", "east", "west"], records, p=[0.5, 0.25, 0.15, 0.1]),
            "sector": rng.choice(["farms", "mines", "shops", "banks", "rails"], records),
            "turnover": np.round(rng.lognormal(3, 1, records), 1),
        }
    )


def turnover(folder: Path, text: str = TURNOVER) -> Path:
    """The data and the plan, in a folder."""
    firms().write_csv(folder / "firms.csv")
    plan = folder / "turnover.toml"
    plan.write_text(text, encoding="utf-8")
    return plan
