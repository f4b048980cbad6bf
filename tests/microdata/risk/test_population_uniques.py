"""Estimates of population uniques: against sums in exact arithmetic, a search over a grid, and published answers."""

import math
from fractions import Fraction
from itertools import pairwise

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.benchmark_data import benchmark_file

from shoal.microdata.risk.population_uniques import Pitman, fit_pitman, log_gamma_ratio, zayatz

SIZES = st.lists(st.integers(1, 9), min_size=2, max_size=30)


def zayatz_by_counting(sizes: list[int], population: int) -> float:
    """Of the classes of a population, spread as in the sample, the share of uniques among those with one record drawn."""
    n = sum(sizes)

    def drawn_once(size: int) -> Fraction:
        return Fraction(size * math.comb(population - size, n - 1), math.comb(population, n))

    weighed = sum((drawn_once(size) for size in sizes), Fraction(0))
    alone = sizes.count(1)
    return float(Fraction(population, n) * alone * alone * drawn_once(1) / weighed)


@given(SIZES, st.integers(0, 500))
@settings(max_examples=200, deadline=None)
def test_zayatz_in_exact_arithmetic(sizes: list[int], more: int) -> None:
    population = sum(sizes) + 1 + more
    expected = zayatz_by_counting(sizes, population) if 1 in sizes else 0.0
    assert zayatz(np.array(sizes), population) == pytest.approx(expected, rel=1e-12)


def test_zayatz_of_a_large_population_keeps_its_digits() -> None:
    sizes, population = [1, 1, 1, 2, 3, 40], 300_000_000
    assert zayatz(np.array(sizes), population) == pytest.approx(
        zayatz_by_counting(sizes, population), rel=1e-13
    )


def log_likelihood(sizes: list[int], theta: float, alpha: float) -> float:
    total = sum(math.log(theta + i * alpha) for i in range(1, len(sizes)))
    total -= sum(math.log(theta + i) for i in range(1, sum(sizes)))
    return total + sum(math.log(i - alpha) for size in sizes for i in range(1, size))


@given(SIZES)
@settings(max_examples=150, deadline=None)
def test_no_other_parameters_are_more_likely(sizes: list[int]) -> None:
    fitted = fit_pitman(np.array(sizes))
    if fitted is None:
        return
    best = log_likelihood(sizes, fitted.theta, fitted.alpha)
    for alpha in (0.0, 0.05, 0.2, 0.4, 0.6, 0.8, 0.95, fitted.alpha):
        for rate in np.geomspace(1e-3, 1e4, 40):
            assert log_likelihood(sizes, float(rate) - alpha, alpha) <= best + 1e-9


def test_what_cannot_be_fitted() -> None:
    assert fit_pitman(np.array([1, 1, 1])) is None
    assert fit_pitman(np.array([7])) is None
    assert fit_pitman(np.array([2, 1])) is not None


def test_the_boundary_is_ewens() -> None:
    fitted = fit_pitman(np.array([5, 3, 2, 4]))
    assert fitted is not None and fitted.alpha == 0.0
    assert sum(fitted.theta / (fitted.theta + i) for i in range(14)) == pytest.approx(4, rel=1e-12)


@given(st.floats(0.01, 1e5), st.floats(0.0, 0.99), st.integers(2, 2000))
@settings(max_examples=100, deadline=None)
def test_the_expectation_is_its_product(theta: float, alpha: float, population: int) -> None:
    factors = [math.log1p((alpha - 1.0) / (theta + i)) for i in range(1, population)]
    expected = population * math.exp(math.fsum(factors))
    assert Pitman(theta, alpha).expected_uniques(population) == pytest.approx(expected, rel=1e-11)


def test_log_gamma_ratio_of_neighbours() -> None:
    for x in (0.3, 5.0, 29.9, 30.0, 1e4, 1e15):
        halves = log_gamma_ratio(x, 0.5) + log_gamma_ratio(x + 0.5, 0.5)
        assert halves == pytest.approx(math.log(x), rel=1e-13, abs=1e-14)
    steps = [log_gamma_ratio(7.0, step) for step in (0.0, 0.25, 0.5, 1.0)]
    assert steps[0] == 0.0 and all(a < b for a, b in pairwise(steps))


def test_answers_of_arx() -> None:
    answers = {row["name"]: row for row in pl.read_csv(benchmark_file("oracles/popuniq.csv")).to_dicts()}
    survey = pl.read_csv(benchmark_file("casc/testdata.csv"))
    keys = ["urbrur", "roof", "walls", "water", "electcon", "relat", "sex"]
    sizes = survey.group_by(keys).len()["len"].to_numpy().astype(np.int64)
    row = answers["testdata7"]
    assert (sizes.size, int((sizes == 1).sum())) == (row["classes"], row["c1"])
    assert zayatz(sizes, row["N"]) == pytest.approx(row["zayatz"], rel=1e-12)
    fitted = fit_pitman(sizes)
    assert fitted is not None
    assert (fitted.theta, fitted.alpha) == pytest.approx((row["theta"], row["alpha"]), rel=1e-12)
    # The peer's own expectation has ten digits.
    assert fitted.expected_uniques(row["N"]) == pytest.approx(row["pitman_exact"], rel=1e-9)
