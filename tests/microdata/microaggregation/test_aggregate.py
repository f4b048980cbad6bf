import math
import statistics

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from shoal.microdata.microaggregation.aggregate import aggregate_groups, ordinal_medians

numbers = st.one_of(st.floats(-1e9, 1e9), st.just(math.nan))
tables = st.lists(st.tuples(numbers, st.integers(0, 4), st.integers(0, 9)), min_size=1, max_size=40)


def columns(rows):
    values = np.array([row[0] for row in rows])
    labels = np.unique([row[1] for row in rows], return_inverse=True)[1]
    weights = np.array([float(row[2]) for row in rows])
    return values, labels, weights


@given(tables)
def test_means_and_medians_are_those_of_the_members(rows):
    values, labels, _ = columns(rows)
    means = aggregate_groups(values, labels, "mean")
    medians = aggregate_groups(values, labels, "median")
    rounded = aggregate_groups(values, labels, "rounded-mean")
    for group in range(labels.max() + 1):
        members = [
            v
            for v, g in zip(values.tolist(), labels.tolist(), strict=True)
            if g == group and not math.isnan(v)
        ]
        if not members:
            assert math.isnan(means[group]) and math.isnan(medians[group]) and math.isnan(rounded[group])
            continue
        scale = max(1.0, max(abs(v) for v in members))
        assert abs(means[group] - math.fsum(members) / len(members)) <= 1e-12 * scale
        assert abs(medians[group] - statistics.median(members)) <= 1e-12 * scale
        assert rounded[group] == np.rint(means[group])
        if len(set(members)) == 1:
            assert means[group] == members[0], "equal values must stay exactly equal"


@given(tables)
def test_weighted_means_and_medians(rows):
    values, labels, weights = columns(rows)
    means = aggregate_groups(values, labels, "mean", weights)
    medians = aggregate_groups(values, labels, "median", weights)
    for group in range(labels.max() + 1):
        members = [
            (v, w)
            for v, g, w in zip(values.tolist(), labels.tolist(), weights.tolist(), strict=True)
            if g == group and not math.isnan(v)
        ]
        total = sum(w for _, w in members)
        if not members:
            assert math.isnan(means[group])
        elif total == 0:
            assert abs(means[group] - math.fsum(v for v, _ in members) / len(members)) <= 1e-6
        else:
            scale = max(1.0, max(abs(v) for v, _ in members))
            assert abs(means[group] - math.fsum(v * w for v, w in members) / total) <= 1e-11 * scale
            repeated = sorted(v for v, w in members for _ in range(int(w)))
            middle = {repeated[(len(repeated) - 1) // 2], repeated[len(repeated) // 2]}
            assert medians[group] in middle


@given(st.lists(st.tuples(st.integers(-1, 5), st.integers(0, 3)), min_size=1, max_size=30))
def test_the_middle_category_is_the_lower_middle_of_the_members(rows):
    positions = np.array([row[0] for row in rows])
    labels = np.unique([row[1] for row in rows], return_inverse=True)[1]
    middles = ordinal_medians(positions, labels)
    for group in range(labels.max() + 1):
        members = sorted(
            p for p, g in zip(positions.tolist(), labels.tolist(), strict=True) if g == group and p >= 0
        )
        if members:
            assert middles[group] == members[(len(members) - 1) // 2]
        else:
            assert math.isnan(middles[group])
