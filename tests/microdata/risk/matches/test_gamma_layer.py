"""The gamma layer: kernels beside sums of terms, its peak, and what it becomes without scatter."""

import math

import numpy as np
import pytest
from tests.microdata.risk.matches import plain

from shoal.microdata.risk.matches import gamma_layer_kernels as kernels
from shoal.microdata.risk.matches.gamma_layer import POISSON, Means, Scatter, _quadrature

FRACTION = 0.1


def some_means(seed: int = 0) -> Means:
    """Counts that scatter about their means as the layer says."""
    rng = np.random.default_rng(seed)
    means = np.exp(rng.normal(-2.0, 1.5, 4000))
    shapes = math.exp(0.5) * (means / FRACTION) ** 0.4
    counts = rng.poisson(rng.gamma(shapes, means / shapes))
    there = counts > 0
    return Means(
        counts[there], means[there], FRACTION, np.full(int(there.sum()), FRACTION), means, np.ones(means.size)
    )


@pytest.mark.parametrize(("alpha", "power"), [(0.5, 0.4), (-3.0, 0.9), (4.0, 0.1)])
def test_the_posterior_is_a_sum_over_cells(alpha: float, power: float) -> None:
    means = some_means()
    cells = list(zip(means.counts.tolist(), means.means.tolist(), strict=True))
    expected = plain.log_posterior(alpha, power, FRACTION, cells, means.all_means.tolist())
    logs = np.log(means.means), np.ones(len(cells)), np.log(means.all_means), means.all_numbers
    exact = kernels.log_posterior(alpha, power, math.log(FRACTION), means.counts, *logs)
    assert exact == pytest.approx(expected, rel=1e-9)
    # Cells that are nearly alike are put together.
    assert means.log_posterior(alpha, power) == pytest.approx(expected, rel=1e-4)


def test_the_peak_is_where_the_posterior_is_largest_and_near_the_truth() -> None:
    means = some_means()
    peak = means.scatter()
    assert peak.alpha == pytest.approx(0.5, abs=0.3) and peak.power == pytest.approx(0.4, abs=0.15)
    highest = means.log_posterior(peak.alpha, peak.power)
    rng = np.random.default_rng(2)
    for _ in range(200):
        alpha, power = peak.alpha + rng.normal(0, 0.5), float(np.clip(peak.power + rng.normal(0, 0.2), 0, 1))
        assert means.log_posterior(alpha, power) <= highest + 1e-3
    for up, down in means.spread_about(peak):
        for side in (up, down):
            drop = highest - means.log_posterior(side.alpha, side.power)
            assert drop == pytest.approx(0.5, abs=0.25)


@pytest.mark.parametrize("count", [1, 2, 3, 7, 40])
@pytest.mark.parametrize("shape", [1e-6, 0.05, 0.7, 3.0, 40.0])
@pytest.mark.parametrize("odds", [1e-6, 0.02, 0.5, 0.97, 4.0, 60.0])
def test_moments_are_sums_over_all_populations(count: int, shape: float, odds: float) -> None:
    given = count, shape, odds
    assert kernels.expected_inverse(*given, *_quadrature()) == pytest.approx(
        plain.moment(*given, 1), rel=1e-7
    )
    # Of a single record the logarithm has no end at t = 0, and three digits are enough for an interval.
    digits = 1e-3 if count == 1 else 1e-6
    assert kernels.expected_square(*given, *_quadrature()) == pytest.approx(
        plain.moment(*given, 2), rel=digits
    )


def test_risks_of_cells_are_those_moments() -> None:
    means = some_means(1)
    risks = means.risks(Scatter(0.3, 0.6))
    variances = means.variances(Scatter(0.3, 0.6), risks.expected)
    for i in range(0, means.counts.size, 97):
        shape = math.exp(0.3) * (means.means[i] / FRACTION) ** 0.6
        odds = (1 - FRACTION) / FRACTION / (shape / means.means[i] + 1)
        given = int(means.counts[i]), shape, odds
        first, second = plain.moment(*given, 1), plain.moment(*given, 2)
        assert risks.expected[i] == pytest.approx(first, rel=1e-8)
        assert variances[i] == pytest.approx(second - first**2, rel=2e-3, abs=1e-12)
        alone = (1 + odds) ** -(shape + 1) if means.counts[i] == 1 else 0.0
        assert risks.unique[i] == pytest.approx(alone)


def test_without_scatter_it_is_poisson() -> None:
    means = some_means(2)
    poisson, near = means.risks(POISSON), means.risks(Scatter(20.0, 0.0))
    assert near.expected == pytest.approx(poisson.expected, rel=1e-5)
    assert near.unique == pytest.approx(poisson.unique, rel=1e-5)
