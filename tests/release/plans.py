"""A survey that is small, and a plan for it."""

from pathlib import Path

import numpy as np
import polars as pl

#: What must be found nowhere but in the released files: a name, and a value that is confidential.
MARKER = "Zqmarker"

SURVEY = """\
[release]
name = "survey"

[sources.people]
data = "people.csv"

[sources.people.roles]
name = "identifier"
age = "quasi-identifier"
sex = "quasi-identifier"
region = "quasi-identifier"
job = "confidential"
pay = "measurement"

[[steps]]
do = "drop"
columns = ["name"]

[[steps]]
do = "recode"
quasi = ["age", "sex", "region"]
k = 4
method = "lattice"
hierarchies = {age = "intervals(10,20,40)"}

[[steps]]
do = "perturb"
method = "pram"
columns = ["job"]
options = {change = 0.2}

[[steps]]
do = "microaggregate"
columns = ["pay"]
k = 4
method = "mdav"

[gates.recode]
k = 4
loss = 90

[gates.microaggregate]
k = 4
reidentifications = 60

[outputs]
"survey.csv" = "microaggregate"
"matrices.json" = "perturb.published_matrices"
"""


def people(records: int = 200, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "name": [f"{MARKER}{number}" for number in range(records)],
            "age": rng.integers(18, 80, records),
            "sex": rng.choice(["f", "m"], records),
            "region": rng.choice(["north", "south"], records),
            "job": rng.choice(["clerk", "nurse", "smith"], records),
            "pay": np.round(rng.lognormal(8, 0.5, records), 2),
        }
    )


def survey(folder: Path, text: str = SURVEY) -> Path:
    """The data and the plan, in a folder."""
    people().write_csv(folder / "people.csv")
    plan = folder / "plan.toml"
    plan.write_text(text, encoding="utf-8")
    return plan
