"""Lists and structures that are released as they are: whoever knows one finds the record, so K counts them."""

from pathlib import Path

import polars as pl
import pytest

import shoal
from shoal.stream.microaggregate import microaggregate


@pytest.mark.parametrize("at_once", [None, 7])
def test_nested_columns_count_in_k(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_once: int | None
) -> None:
    if at_once is not None:
        from shoal.stream.memory import Room

        small = Room(slice=11, leaf=20, part=13, classes=at_once)
        monkeypatch.setattr("shoal.stream.microaggregate.room_for", lambda *asked: small)
    people = pl.DataFrame(
        {
            "income": [float(number % 20) for number in range(40)],
            "visits": [[number % 3, None][: 1 + number % 2] for number in range(40)],
            "home": [{"town": "ab"[number % 2], "rooms": number % 5} for number in range(40)],
        }
    )
    people.write_parquet(tmp_path / "people.parquet")
    found = microaggregate(str(tmp_path / "people.parquet"), 4, columns=["income"])
    after = found.frame.collect()
    here = shoal.anonymity(after, ["income", "visits", "home"])
    assert found.quasi == ("income", "visits", "home")
    assert found.k_release == here.k == 1 and found.k_protected >= 4
    assert dict(found.anonymity.people) == dict(here.people)
    assert any("'visits' and 'home' may be known, too" in warning for warning in found.warnings)
    assert "K of the release" in found.report().html()
    found.close()
    corrected = microaggregate(
        str(tmp_path / "people.parquet"), 4, columns=["income"], roles={"visits": "other", "home": "other"}
    )
    assert corrected.quasi == ("income",) and corrected.warnings == ()
    corrected.close()
