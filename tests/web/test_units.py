"""The unit over REST: one that is not named is proposed, and that each record is one is declared like a column."""

from collections.abc import Iterator

import httpx
import polars as pl
import pytest
from tests.web.serving import finished


@pytest.fixture
def stays(api: httpx.Client) -> Iterator[str]:
    """Stays of patients, each with several."""
    frame = pl.DataFrame(
        {
            "patient_id": [7000 + 13 * (place * 17 % 40) for place in range(120)],
            "age": [31 + place % 3 for place in range(120)],
            "sex": ["f" if place % 2 else "m" for place in range(120)],
        }
    )
    sent = api.post("/api/data", files={"file": ("stays.csv", frame.write_csv().encode())})
    assert finished(api, sent.json()["run"])["state"] == "done"
    yield "stays"
    api.delete("/api/data/stays")


@pytest.mark.xdist_group("web")
@pytest.mark.parametrize("unit", [None, "record", "patient_id"])
@pytest.mark.parametrize("operation", ["anonymity", "recode", "risk"])
def test_a_unit_is_proposed_until_it_is_said(
    api: httpx.Client, stays: str, operation: str, unit: str | None
) -> None:
    data = [stays] if operation == "anonymity" else stays
    request = {"data": data, "quasi": ["age", "sex"], **({} if unit is None else {"unit": unit})}
    sent = api.post(f"/api/jobs/{operation}", json=request)
    assert sent.status_code == 202, sent.text
    done = finished(api, sent.json()["run"])
    assert done["state"] == "done", done
    found = api.get(f"/api/jobs/{done['run']}/result").text
    assert ("looks like the number of a unit" in found) == (unit is None)


@pytest.mark.xdist_group("web")
def test_a_unit_that_is_no_column_is_refused(api: httpx.Client, stays: str) -> None:
    sent = api.post("/api/jobs/recode", json={"data": stays, "quasi": ["age"], "unit": "patient"})
    assert sent.status_code == 422 and "patient_id" in sent.text
