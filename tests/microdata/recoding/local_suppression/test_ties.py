"""Which of several records with the same keys loses a value says nothing of where they stood."""

from collections import Counter
from pathlib import Path

import polars as pl
from tests.cli.running import shoal as command

import shoal
from shoal.microdata.recoding.result import Recoded
from shoal.runtime.secrets import Secret

PEOPLE = pl.DataFrame({"name": [f"p{i}" for i in range(6)], "age": [31] * 5 + [47], "sex": ["f"] * 6})
HIERARCHIES = {"age": "star", "sex": "star"}


def blanked(frame: pl.DataFrame, secret: Secret, **settings: str) -> tuple[set[str], Recoded]:
    safe = shoal.recode(
        *(frame, ["age", "sex"], 2),
        hierarchies=HIERARCHIES,
        method="local-suppression",
        secret=secret,
        **settings,
    )
    return set(safe.frame.filter(pl.col("age") == "*")["name"]), safe


def test_the_secret_decides_and_not_the_order() -> None:
    found = Counter[frozenset[str]]()
    for seed in range(20):
        secret = Secret.of_seed(seed)
        names, safe = blanked(PEOPLE, secret)
        turned, again = blanked(PEOPLE.reverse(), secret, order="sorted")
        assert names == turned and len(names) == 2 and "p5" in names
        assert (safe.loss, safe.k_release, safe.suppressed_cells) == (
            again.loss,
            again.k_release,
            again.suppressed_cells,
        )
        found[frozenset(names)] += 1
    assert len(found) == 5
    assert len({frozenset(blanked(PEOPLE, Secret.new())[0]) for _ in range(30)}) > 1


def test_a_file_repeats_it(tmp_path: Path) -> None:
    PEOPLE.write_csv(tmp_path / "d.csv")
    words = ["recode", tmp_path / "d.csv", "--quasi", "age,sex", "-k", 2, "--method", "local-suppression"]
    words += ["--hierarchy", "age=star", "--hierarchy", "sex=star", "--secret", tmp_path / "secret.txt"]
    for name in ("one.csv", "two.csv"):
        assert command(*words, "-o", tmp_path / name).code == 0
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "two.csv").read_bytes()
    assert (tmp_path / "secret.txt").stat().st_mode & 0o077 == 0
