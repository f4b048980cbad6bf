"""Joining a list with a release: whom it finds, counted by a slow twin."""

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.errors import InputError
from shoal.microdata.anonymity.linking import link

rows = st.lists(st.tuples(st.integers(0, 2), st.sampled_from("ab")), max_size=12)


@given(rows, rows)
def test_matches_are_counted(released, listed):
    frames = [
        pl.DataFrame(part, schema={"x": pl.Int64, "y": pl.String}, orient="row")
        for part in (released, listed)
    ]
    found = link(*frames, ["x", "y"])
    fits = [sum(record == person for record in released) for person in listed]
    assert (found.one, found.several, found.none) == (fits.count(1), sum(n > 1 for n in fits), fits.count(0))
    assert found.listed == len(listed)


def test_a_column_that_is_not_there_is_named():
    one = pl.DataFrame({"zip": ["1"]})
    with pytest.raises(InputError, match="in the list"):
        link(one, pl.DataFrame({"postcode": ["1"]}), ["zip"])
