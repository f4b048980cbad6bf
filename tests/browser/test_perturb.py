"""Perturb: the form asks for what the method takes; the release, its promises, its secret and its comparison."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.browser.visitor import Visitor

pytestmark = pytest.mark.xdist_group("browser")


@pytest.fixture
def dwellers(visitor: Visitor) -> pl.DataFrame:
    """Persons in households in towns, in the workspace already."""
    rng = np.random.default_rng(22)
    frame = pl.DataFrame(
        {
            "person_id": range(7000, 7240),
            "household_id": [place // 2 + 100 for place in range(240)],
            "region": [("north", "south")[place // 2 % 2] for place in range(240)],
            "age": rng.integers(0, 90, 240),
            "marital": rng.choice(["single", "married", "widowed"], 240),
            "income": rng.lognormal(8, 0.5, 240).round(1),
        }
    ).with_columns(marital=pl.when(pl.col("age") < 15).then(pl.lit("single")).otherwise("marital"))
    visitor.have("dwellers", frame.write_csv().encode())
    return frame


def test_a_method_is_asked_for_what_it_takes_and_keeps_its_promises(
    visitor: Visitor, dwellers: pl.DataFrame, downloads: Path
) -> None:
    visitor.complaints()
    visitor.open("/perturb?data=dwellers")
    visitor.see("Columns to change", "Share of values to change")
    visitor.choose("Method", "record-swap")
    visitor.see("Regions, coarsest first", "Least share of households to swap")
    assert "Columns to change" not in visitor.text and "Share of values to change" not in visitor.text
    assert "household_id" in visitor.field("Household").text
    visitor.choose("Method", "noise")
    visitor.see("Size of the noise")
    assert "income" in visitor.field("Columns to change").text and "Household" not in visitor.text
    visitor.fill("Size of the noise", "0")
    visitor.see("should be above 0")
    visitor.choose("Method", "pram")
    visitor.choose("Columns to change", "marital")
    visitor.fill("Share of values to change", "1")
    visitor.see("should be below 1")
    visitor.fill("Share of values to change", "0.3")
    visitor.unfold("Records and values")
    visitor.fill("Combinations that cannot be", "age=0..14,marital=married|widowed")
    visitor.press("Perturb")
    visitor.state("done")
    visitor.see("What holds", "Values that differ now", "4 of 4 hold", "a secret", "Removed: person_id.")
    visitor.whole("perturb")
    for name in ("release.csv", "secret.txt", "matrices.json", "published-matrices.json", "record-links.csv"):
        visitor.one(f"[data-file='{name}']")
    visitor.click(lambda: visitor.one("[data-file='release.csv']"))
    visitor.until((downloads / "release.csv").exists, what="the download")
    released = pl.read_csv(downloads / "release.csv")
    assert set(released.filter(pl.col("age") < 15)["marital"]) == {"single"}
    assert 0 < (released["marital"] != dwellers["marital"]).sum() < 140
    # A seed in place of the secret is for studies.
    visitor.unfold("Randomness")
    visitor.fill("Seed", "1")
    visitor.press("Perturb")
    visitor.see("not for release: the randomness comes from a seed")
    visitor.press("Compare with the original")
    visitor.until(lambda: "/compare" in visitor.driver.current_url, "the page of comparisons")
    visitor.see("of the values differ")
    ticked = [item.get_attribute("aria-checked") for item in visitor.all("[role=checkbox]")]
    assert ticked.count("true") == 1
    visitor.press("Compare")
    visitor.state("done")
    visitor.see("Attacks", "the intruder knows")
    assert not visitor.complaints()
