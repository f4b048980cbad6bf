import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import shoal
from shoal.microdata.microaggregation.exposure import dominated_groups, expected_links, groups_without_range

tables = st.lists(st.tuples(st.integers(0, 30), st.integers(0, 4)), min_size=1, max_size=40)


@given(tables, st.sampled_from([1.0, 10.0, 50.0]))
def test_groups_are_flagged_as_a_plain_count_would(rows, percent):
    values = np.array([float(row[0]) for row in rows])
    labels = np.unique([row[1] for row in rows], return_inverse=True)[1]
    flat, fires = groups_without_range(values, labels), dominated_groups(values, labels, percent)
    for group in range(labels.max() + 1):
        members = sorted(values[labels == group].tolist(), reverse=True)
        assert flat[group] == (len(set(members)) == 1)
        rest = sum(members[2:])
        assert fires[group] == (members[0] > 0 and rest < percent / 100 * members[0])


def test_negative_values_never_fire():
    assert not dominated_groups(np.array([-5.0, 100.0, 1.0]), np.array([0, 0, 0])).any()


def test_expected_links_are_those_of_a_slow_count():
    draw = np.random.default_rng(3)
    frame = pl.DataFrame({"a": draw.normal(size=40), "b": draw.normal(size=40)})
    result = shoal.microaggregate(frame, 3, columns=["a", "b"], method="mdav", order="sorted")
    links = dict(expected_links(result))
    x = np.column_stack([frame[name] for name in ("a", "b")])
    x = (x - x.mean(axis=0)) / x.std(axis=0, ddof=1)
    y = np.array([x[result.labels == group].mean(axis=0) for group in result.labels])
    total = 0.0
    for i in range(40):
        distances = np.square(y - x[i]).sum(axis=1)
        near = np.isclose(distances, distances.min(), atol=1e-10)
        total += near[i] / near.sum()
    assert links["a, b"] == pytest.approx(total)
