"""What gates know: every column that is released and could be known, changed or not."""

import numpy as np
import polars as pl
import pytest

from shoal.release.gates.judge import Released, linked, worst_linkage


@pytest.mark.parametrize(("role", "least", "most"), [("measurement", 99, 100), ("confidential", 0, 10)])
def test_a_column_that_nobody_changed_links_unless_nobody_can_know_it(role: str, least: float, most: float):
    draw = np.random.default_rng(0)
    original = pl.DataFrame(
        {
            "roof": draw.choice(["tin", "tile", "straw"], 200),
            "water": draw.choice(["well", "tap"], 200),
            "spent": draw.lognormal(8, 1, 200).round(2),
        }
    )
    frame = original.with_columns(roof=original["roof"].shuffle(1), water=original["water"].shuffle(2))
    roles = {"roof": "quasi-identifier", "water": "quasi-identifier", "spent": role}
    _, percent = worst_linkage(linked(Released(original, frame, np.arange(200), roles)))
    assert least <= percent <= most
