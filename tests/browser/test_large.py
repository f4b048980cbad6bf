"""A file of a million records, loaded, assessed and microaggregated from the page."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.browser.visitor import Visitor

import shoal

pytestmark = [pytest.mark.xdist_group("browser"), pytest.mark.long]


def test_a_million_records(visitor: Visitor, tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    count = 1_000_000
    staff = random.integers(1, 500, count)
    frame = pl.DataFrame(
        {
            "region": random.integers(1, 18, count),
            "size": random.integers(1, 9, count),
            "turnover": np.round(staff * random.lognormal(4, 0.5, count), 2),
            "wages": np.round(staff * random.lognormal(3, 0.3, count), 2),
        }
    )
    frame.write_csv(tmp_path / "million.csv")
    visitor.open("/data")
    visitor.upload(tmp_path / "million.csv")
    visitor.see("Columns of million", "1,000,000 records")
    visitor.open("/risk?data=million")
    visitor.choose(
        "Quasi-identifiers", *([] if "region" in visitor.field("Quasi-identifiers").text else ["region"])
    )
    visitor.press("Measure risk")
    visitor.state("done")
    visitor.see("1,000,000")
    visitor.open("/records?data=million")
    visitor.press("Protect")
    visitor.state("running")
    # The page stays responsive while the search runs.
    visitor.open("/reports")
    visitor.see("million: k = 5")
    visitor.press("Show")
    visitor.state("done")
    visitor.see("1,000,000", "K of the release")
    visitor.whole("million")
    runs = sorted(visitor.served.folder.glob("runs/*/release.parquet"), key=lambda path: path.stat().st_mtime)
    released = pl.read_parquet(runs[-1])
    assert released.height == count
    assert shoal.anonymity(released, ["turnover", "wages"]).k >= 5
