"""Correlations before and after, each pair of columns over the records that have both values."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.microdata.measures.before_after import correlations


@given(st.integers(0, 10**6), st.booleans())
def test_every_pair_is_correlated_over_its_own_records(seed, weighted):
    draw = np.random.default_rng(seed)
    table = draw.normal(size=(30, 4)) + draw.normal(size=(30, 1))
    table[draw.random(table.shape) < 0.3] = np.nan
    weights = draw.uniform(0.5, 2.0, 30) if weighted else None
    found = correlations(table, weights)
    for i in range(4):
        for j in range(4):
            both = ~np.isnan(table[:, i]) & ~np.isnan(table[:, j])
            if both.sum() < 2:
                assert np.isnan(found[i, j])
                continue
            x, y = table[both, i], table[both, j]
            share = np.ones(both.sum()) if weights is None else weights[both]
            x, y = x - np.average(x, weights=share), y - np.average(y, weights=share)
            expected = (share * x * y).sum() / np.sqrt((share * x * x).sum() * (share * y * y).sum())
            assert found[i, j] == pytest.approx(expected)


def test_where_no_value_is_missing_nothing_changes():
    table = np.random.default_rng(1).normal(size=(50, 3))
    assert correlations(table) == pytest.approx(np.corrcoef(table.T))
