import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from tests.microdata.measures.tables import REAL, SMALL, pairs

from shoal.microdata.measures.information_loss import information_loss, squared_error_percent


def mean_of(terms):
    usable = [a / b for a, b in terms if b != 0]
    return (sum(usable) / len(usable) if usable else 0.0, len(usable), len(terms) - len(usable))


def covariance(one, other):
    if len(set(one)) == 1 or len(set(other)) == 1 or len(one) < 2:
        return 0.0
    a, b = math.fsum(one) / len(one), math.fsum(other) / len(other)
    return math.fsum((x - a) * (y - b) for x, y in zip(one, other)) / (len(one) - 1)


def by_definition(before, after):
    """Every measure in plain loops; returns (value, terms, skipped) by name."""
    rows, columns = before.shape
    x = [before[:, j].tolist() for j in range(columns)]
    y = [after[:, j].tolist() for j in range(columns)]
    deviation = [math.sqrt(covariance(c, c)) for c in x]
    cells = [(i, j) for i in range(rows) for j in range(columns)]
    both = [(i, j) for i in range(columns) for j in range(i, columns)]
    found = {
        "il1": mean_of([(abs(x[j][i] - y[j][i]), abs(x[j][i])) for i, j in cells]),
        "il1s": mean_of([(abs(x[j][i] - y[j][i]), math.sqrt(2) * deviation[j]) for i, j in cells]),
        "il2": mean_of([(abs(math.fsum(a) - math.fsum(b)), abs(math.fsum(a))) for a, b in zip(x, y)]),
        "il3": mean_of(
            [
                (abs(covariance(x[i], x[j]) - covariance(y[i], y[j])), abs(covariance(x[i], x[j])))
                for i, j in both
            ]
        ),
        "il4": mean_of([(abs(covariance(a, a) - covariance(b, b)), covariance(a, a)) for a, b in zip(x, y)]),
    }
    changes, skipped = [], 0
    for i, j in combinations(range(columns), 2):
        if deviation[i] * deviation[j] == 0:
            skipped += 1
            continue
        spread = math.sqrt(covariance(y[i], y[i]) * covariance(y[j], y[j]))
        now = covariance(y[i], y[j]) / spread if spread else 0.0
        changes.append(abs(covariance(x[i], x[j]) / (deviation[i] * deviation[j]) - now))
    found["il5"] = (sum(changes) / len(changes) if changes else 0.0, len(changes), skipped)
    return found


def is_delicate(before, rows):
    """Whether some sum is so close to 0 that rounding decides whether its ratio counts."""
    columns = before.shape[1]
    for i in range(columns):
        for j in range(i, columns):
            own = abs(covariance(before[:, i].tolist(), before[:, j].tolist()))
            if 0 < own < 1e-9 or (own == 0 and i != j):
                return True
    return bool((np.abs(before.sum(axis=0)) < 1e-9).any())


@settings(deadline=None)
@given(pairs(SMALL))
def test_each_measure_is_as_defined(tables):
    before, after = tables
    measured = information_loss(before, after)
    for name, (value, terms, skipped) in by_definition(before, after).items():
        if name in ("il2", "il3") and is_delicate(before, len(before)):
            continue
        part = getattr(measured, name)
        assert part.value == pytest.approx(value, rel=1e-9, abs=1e-9), name
        assert (part.terms, part.skipped) == (terms, skipped), name


@settings(deadline=None)
@given(pairs(REAL, least=1))
def test_every_figure_is_a_number(tables):
    measured = information_loss(*tables)
    figures = [measured.il, measured.sse_percent] + [
        value for column in measured.by_column for value in vars(column).values()
    ]
    assert np.isfinite(figures).all() and min(figures) >= 0


@settings(deadline=None)
@given(pairs(SMALL))
def test_nothing_changed_means_no_loss(tables):
    before, _ = tables
    assert information_loss(before, before).il == 0 and squared_error_percent(before, before) == 0


@settings(deadline=None)
@given(pairs(SMALL))
def test_squared_error_of_columns_adds_up(tables):
    before, after = tables
    measured = information_loss(before, after)
    varying = [j for j in range(before.shape[1]) if len(set(before[:, j])) > 1]
    shares = [measured.by_column[j].sse_percent for j in varying]
    assert measured.sse_percent == pytest.approx(sum(shares) / len(varying) if varying else 0.0)


def test_huge_and_tiny_values_stay_finite():
    before = np.array([[1e300, 1e-300], [-1e300, 2e-300], [5e299, 0.0]])
    measured = information_loss(before, before * 1.5)
    assert measured.il1.value == pytest.approx(0.5) and np.isfinite(measured.il)


@pytest.mark.parametrize("shift", [0.0, 0.1, 1e6])
@pytest.mark.parametrize("scale", [1.0, 0.1, 1e-200, 1e200])
def test_a_covariance_or_mean_that_is_zero_up_to_rounding_is_no_denominator(shift, scale):
    # A full factorial: the columns do not vary together, and without a shift their means are 0.
    levels = np.array([-0.7, -0.3, 0.1, 0.9])
    levels = levels - levels.mean()
    before = np.array([(a, b) for a in levels for b in levels for _ in range(25)])
    before = (before + shift) * scale
    after = before + 0.01 * scale * np.random.default_rng(1).normal(size=before.shape)
    loss = information_loss(before, after)
    assert loss.il3.value < 1 and loss.il3.skipped == 1 and loss.il3.terms == 2
    assert loss.il2.value < 1 and loss.il2.skipped == (2 if shift == 0 else 0)
    assert loss.il < 100


def test_a_covariance_that_is_small_but_known_counts():
    draw = np.random.default_rng(5)
    x = draw.normal(size=2000)
    before = np.column_stack([x, 1e-6 * x + draw.normal(size=2000)])
    before[:, 1] -= before[:, 1].mean()
    loss = information_loss(before, before * [1.0, 1.1])
    assert (loss.il3.terms, loss.il3.skipped) == (3, 0)
