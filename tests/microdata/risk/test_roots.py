"""Roots and the slopes of log Γ, against SciPy's."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import digamma as scipy_digamma
from scipy.special import polygamma

from shoal.microdata.risk.roots import digamma, root, trigamma

SHAPES = (
    lambda x: x,
    math.expm1,
    math.atan,
    lambda x: x**3,
    lambda x: x + 10.0 * x**5,
    lambda x: math.copysign(abs(x) ** 0.2, x),
)


@given(
    st.sampled_from(SHAPES),
    st.floats(-50.0, 50.0),
    st.floats(1e-9, 60.0),
    st.floats(1e-9, 60.0),
    st.booleans(),
)
def test_a_root_is_where_the_sign_changes(shape, place, below, above, falling) -> None:
    def function(x: float) -> float:
        value = float(shape(x - place))
        return -value if falling else value

    low, high = place - below, place + above
    if function(low) == 0.0 or function(high) == 0.0 or not low < place < high:
        return
    found = root(function, low, high)
    # As near as numbers are: a flat function is 0 in a neighbourhood.
    assert abs(found - place) <= 2e-14 * abs(place) or function(found) == 0.0


def test_an_end_may_be_the_root_and_there_must_be_one() -> None:
    assert root(lambda x: x, 0.0, 1.0) == 0.0 and root(lambda x: x - 1.0, 0.0, 1.0) == 1.0
    with pytest.raises(ValueError, match="same sign"):
        root(lambda x: x + 2.0, 0.0, 1.0)


@given(st.floats(1e-3, 1e12))
def test_slopes_of_log_gamma(x) -> None:
    assert digamma(x) == pytest.approx(float(scipy_digamma(x)), rel=1e-13, abs=1e-14)
    assert trigamma(x) == pytest.approx(float(polygamma(1, x)), rel=1e-13)
