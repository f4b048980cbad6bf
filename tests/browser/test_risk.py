"""Risk: who of a sample is at risk, what is required as red or green, and values that stay on the server until asked for."""

import numpy as np
import polars as pl
import pytest
from tests.browser.visitor import Visitor

import shoal

pytestmark = pytest.mark.xdist_group("browser")
KEYS = ["region", "age", "sex"]


@pytest.fixture
def families(visitor: Visitor) -> pl.DataFrame:
    """A sample of persons in households, in the workspace already."""
    rng = np.random.default_rng(21)
    frame = pl.DataFrame(
        {
            "household_id": [place // 3 + 100 for place in range(300)],
            "region": [("zqnorth", "zqsouth")[place % 2] for place in range(300)],
            "age": rng.integers(20, 60, 300),
            "sex": rng.choice(["zqf", "zqm"], 300),
            "weight": rng.uniform(5, 60, 300).round(1),
        }
    )
    visitor.have("families", frame.write_csv().encode())
    return frame


def test_a_sample_is_measured_required_and_looked_at(visitor: Visitor, families: pl.DataFrame) -> None:
    visitor.complaints()
    visitor.open("/risk?data=families")
    visitor.press("A sample")
    visitor.see("Each record stands for a part of a population")
    # What weight and household are is proposed by their roles.
    assert "weight" in visitor.field("Sample weights").text
    assert "household_id" in visitor.field("Household").text
    visitor.unfold("Result")
    visitor.fill("Largest risk allowed", "1.5")
    visitor.see("should be 1 or less")
    visitor.press("Measure risk")
    visitor.see("Largest risk allowed: should be 1 or less")
    assert not visitor.all("[data-test=state]")
    visitor.fill("Largest risk allowed", "1")
    visitor.fill("Most expected re-identifications", "2")
    visitor.press("Measure risk")
    visitor.state("not passed")
    visitor.see("For whom", "How the risk is spread", "What each key adds", "usually too low")
    gates = [item.text.partition("\n")[2] or item.text for item in visitor.all("[data-test=gate]")]
    assert "Not passed. Most expected re-identifications: 2" in gates[0]
    assert "Passed. Largest risk allowed: 1; found: 1." in gates[1]
    found = shoal.risk(families, KEYS, sample_weights="weight", household="household_id")
    visitor.see(f"{found.uniques:,}\nrecords alone with their keys")
    assert len(visitor.all("[role=img] canvas")) == 2
    # Positions first; the values are sent when they are asked for.
    first = found.riskiest[0].record
    visitor.see("The riskiest records", str(first))
    assert "zqnorth" not in visitor.driver.page_source
    visitor.click(visitor.labelled("div[@role='switch']", "Show values"))
    row = families[first - 1].select(KEYS).rows()[0]
    visitor.until(lambda: visitor.all(".shoal-table td") and row[0] in visitor.text, "the values")
    assert str(row[1]) in visitor.text and row[2] in visitor.text
    visitor.whole("risk-sample")
    # The form shows what ran; with less required it is green.
    visitor.fill("Most expected re-identifications", "100000")
    visitor.press("Measure risk")
    visitor.state("done")
    visitor.until(
        lambda: [item.text.count("Not passed") for item in visitor.all("[data-test=gate]")] == [0, 0], "green"
    )
    visitor.one("[data-file='risks.csv']")
    # The other way to measure goes on with the same data, and with models.
    visitor.press("K and models")
    visitor.see("Everybody is in the table")
    visitor.unfold("Confidential values and models")
    visitor.choose("Confidential columns", "weight")
    visitor.fill("Models", "distinct(2), entropy(1.5)")
    visitor.press("Measure risk")
    visitor.see("Anonymity vector", "classes that fail", "Records in the smallest crowds")
    visitor.whole("risk-models")
    assert not visitor.complaints()
