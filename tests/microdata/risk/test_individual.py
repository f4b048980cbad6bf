"""Individual risk to thirteen digits against arithmetic with many more."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.microdata.risk.brute_force import by_definition, by_recurrence, by_series, exact_risk

from shoal.microdata.risk.individual import expected_reidentifications, individual_risk

COUNTS = [*range(1, 46), 60, 149, 150, 151, 1000, 20_000]
RATIOS = [1 + 1e-12, 1.001, 1.5, 1.999, 2.0, 2.001, 3.0, 10.0, 333.3, 1e5, 1e9, 1e14]


def relative_error(count: int, population: float) -> float:
    reference = exact_risk(count, Fraction(population))
    return abs(float(individual_risk(np.array([count]), np.array([population]))[0]) / float(reference) - 1)


@pytest.mark.parametrize("ratio", RATIOS)
def test_thirteen_digits(ratio: float) -> None:
    assert max(relative_error(count, ratio * count) for count in COUNTS) < 1e-13


@given(st.integers(1, 500), st.floats(1.0, 1e12, exclude_min=True))
@settings(max_examples=300, deadline=None)
def test_thirteen_digits_anywhere(count: int, ratio: float) -> None:
    assert relative_error(count, ratio * count) < 1e-13


def test_the_two_ways_of_the_reference_agree() -> None:
    for count, ratio in ((1, 7), (3, 2), (30, 5), (45, 3)):
        population = Fraction(count * ratio)
        difference = by_recurrence(count, population, 200) - by_series(count, population, 200)
        assert abs(difference) < 10**-150


def test_the_reference_is_the_expectation_it_is_named_after() -> None:
    for count, population in ((1, Fraction(3)), (2, Fraction(5)), (7, Fraction(9))):
        expected = by_definition(count, population, 400)
        assert abs(float(expected) / float(exact_risk(count, population)) - 1) < 1e-14


def test_weights_below_one_are_no_less_than_a_person() -> None:
    found = individual_risk(np.array([1, 4, 200]), np.array([0.2, 4.0, 150.0]))
    assert found.tolist() == [1.0, 0.25, 1 / 200]


def test_the_sum_counts_every_record() -> None:
    counts, populations, records = np.array([1, 5]), np.array([40.0, 90.0]), np.array([1, 3])
    assert expected_reidentifications(counts, populations, records) == pytest.approx(
        float(individual_risk(counts, populations) @ records), rel=1e-15
    )
