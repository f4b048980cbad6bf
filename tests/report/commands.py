"""One small run of every command that writes a report, on data made here."""

from pathlib import Path

import numpy as np
import polars as pl


def prepare(folder: Path) -> None:
    """Data for all of them: a survey with a release of it, firms with a table of them, people with slots."""
    random, size = np.random.default_rng(7), 120
    survey = pl.DataFrame(
        {
            "age": random.integers(20, 30, size),
            "sex": random.choice(["f", "m"], size),
            "region": random.choice(["north", "south"], size),
            "income": np.round(np.exp(random.normal(10, 0.5, size)), 2),
            "wealth": np.round(np.exp(random.normal(11, 1, size)), 2),
            "rent": np.round(random.normal(700, 90, size), 1),
        }
    )
    survey.write_csv(folder / "my survey.csv")
    moved = survey.with_columns(pl.col("income", "wealth", "rent") * 1.05)
    moved.write_csv(folder / "safe.csv")
    (folder / "table.csv").write_text("row,a,b,c\nn,20,50,10\ns,8,19,22\ne,17,32,12\n")
    (folder / "cells.csv").write_text("row,column\ns,b\n")
    (folder / "pattern.csv").write_text(
        "row,column,kind\ns,b,primary\ns,c,complementary\nn,b,complementary\nn,c,complementary\n"
    )
    pl.DataFrame(
        {
            "firm": range(60),
            "region": [f"r{n % 3}" for n in range(60)],
            "sector": [f"s{n % 4}" for n in range(60)],
            "turnover": [float((n * 37) % 91 + 1) for n in range(60)],
        }
    ).write_csv(folder / "firms.csv")
    pl.DataFrame({"ID": range(12), "zip": ["a", "b"] * 6}).write_csv(folder / "people.csv")
    pl.DataFrame({"slot": ["x", "y"], "capacity": [6, 6]}).write_csv(folder / "slots.csv")


#: Each command with what it reads.
COMMANDS: dict[str, tuple[list[str], list[str]]] = {
    "anonymity": (["my survey.csv", "--quasi", "age,sex", "--confidential", "region"], ["my survey.csv"]),
    "recode": (
        ["my survey.csv", "--quasi", "age,sex", "-k", "3", "--confidential", "region"],
        ["my survey.csv"],
    ),
    "microaggregate": (
        ["my survey.csv", "-k", "3", "--columns", "income,wealth", "--method", "mdav", "-o", "out.csv"],
        ["my survey.csv"],
    ),
    "perturb": (
        [
            "my survey.csv",
            "--method",
            "pram",
            "--columns",
            "region",
            "--secret",
            "secret.txt",
            "-o",
            "out.csv",
        ],
        ["my survey.csv"],
    ),
    "risk": (["my survey.csv", "--quasi", "age,sex", "--population", "9000"], ["my survey.csv"]),
    "compare": (
        ["my survey.csv", "safe.csv", "--paired-by-position", "--columns", "income,wealth,rent"],
        ["my survey.csv", "safe.csv"],
    ),
    "group": (
        ["my survey.csv", "-k", "5", "--columns", "income,wealth,rent", "--method", "exact"],
        ["my survey.csv"],
    ),
    "tabulate": (
        [
            "firms.csv",
            "--dimensions",
            "region,sector",
            "--value",
            "turnover",
            "--contributor",
            "firm",
            "-o",
            "list.csv",
        ],
        ["firms.csv"],
    ),
    "suppress": (["table.csv", "--sensitive", "cells.csv", "-o", "out.csv"], ["table.csv", "cells.csv"]),
    "audit": (
        ["table.csv", "pattern.csv", "--sensitive", "cells.csv"],
        ["table.csv", "pattern.csv", "cells.csv"],
    ),
    "round": (
        ["table.csv", "--base", "5", "--sensitive", "cells.csv", "-o", "out.csv"],
        ["table.csv", "cells.csv"],
    ),
    "adjust": (["table.csv", "--sensitive", "cells.csv", "-o", "out.csv"], ["table.csv", "cells.csv"]),
    "perturb-table": (["my survey.csv", "--dimensions", "sex,region", "-o", "out.csv"], ["my survey.csv"]),
    "assign": (["people.csv", "slots.csv", "--quasi", "zip", "-o", "out.csv"], ["people.csv", "slots.csv"]),
}
