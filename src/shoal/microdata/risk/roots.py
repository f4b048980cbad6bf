"""Roots of a function of one number, and the two functions next to log Γ: SciPy would take longer to load than all of it."""

import math
from collections.abc import Callable

# From here on a series of a few terms has all digits.
_SERIES_FROM = 12.0
_MOST_STEPS = 2_000


def root(function: Callable[[float], float], low: float, high: float, *, digits: float = 1e-14) -> float:
    """Where a function changes its sign between two numbers, to a share ``digits`` of its size; Chandrupatla's method.

    T. R. Chandrupatla, A new hybrid quadratic/bisection algorithm for finding the zero of a nonlinear function without using
    derivatives, Advances in Engineering Software 28(3), 1997.

    >>> round(root(lambda x: x * x - 2.0, 0.0, 2.0), 12)
    1.414213562373
    """
    near, far, before = low, high, high
    at_near, at_far = function(low), function(high)
    at_before, share = at_far, 0.5
    if at_near == 0.0 or at_far == 0.0:
        return low if at_near == 0.0 else high
    if (at_near > 0.0) == (at_far > 0.0):
        raise ValueError("the function has the same sign at both ends")
    for _ in range(_MOST_STEPS):
        x = near + share * (far - near)
        value = function(x)
        if (value > 0.0) == (at_near > 0.0):
            before, at_before = near, at_near
        else:
            before, at_before, far, at_far = far, at_far, near, at_near
        near, at_near = x, value
        best = near if abs(at_near) < abs(at_far) else far
        room = abs(far - near)
        least = digits * abs(best)
        if room <= least or value == 0.0 or near + 0.5 * (far - near) in (near, far):
            return best
        # A parabola through three places where it can be trusted, the middle otherwise.
        along, across = (near - far) / (before - far), (at_near - at_far) / (at_before - at_far)
        if across**2 < along and (1.0 - across) ** 2 < 1.0 - along:
            share = at_near / (at_far - at_near) * at_before / (at_far - at_before)
            share += (
                (before - near)
                / (far - near)
                * at_near
                / (at_before - at_near)
                * at_far
                / (at_before - at_far)
            )
        else:
            share = 0.5
        edge = 0.5 * least / room
        share = min(1.0 - edge, max(edge, share))
    return best


def digamma(x: float) -> float:
    """The slope of log Γ for a positive number.

    >>> round(digamma(1.0), 12)
    -0.577215664902
    """
    total = 0.0
    while x < _SERIES_FROM:
        total -= 1.0 / x
        x += 1.0
    inverse = 1.0 / (x * x)
    series = inverse * (
        1 / 12
        - inverse
        * (1 / 120 - inverse * (1 / 252 - inverse * (1 / 240 - inverse * (1 / 132 - inverse * 691 / 32760))))
    )
    return total + math.log(x) - 0.5 / x - series


def trigamma(x: float) -> float:
    """The slope of ``digamma`` for a positive number.

    >>> round(trigamma(1.0) - math.pi**2 / 6, 12)
    0.0
    """
    total = 0.0
    while x < _SERIES_FROM:
        total += 1.0 / (x * x)
        x += 1.0
    inverse = 1.0 / (x * x)
    series = (
        inverse
        / x
        * (
            1 / 6
            - inverse
            * (1 / 30 - inverse * (1 / 42 - inverse * (1 / 30 - inverse * (5 / 66 - inverse * 691 / 2730))))
        )
    )
    return total + 1.0 / x + 0.5 * inverse + series
