"""Numbers exactly as they are written: values read as whole numbers or decimal fractions, and multiples of a width."""

import re
from decimal import Context, Decimal
from typing import Any

import numpy as np

Number = int | Decimal

_NUMBER = re.compile(r"\s*[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d{1,3})?\s*")
# Quotients have no more digits than the largest numbers there are.
EXACT = Context(prec=700)


def number_of(value: Any) -> Number | None:
    """The number that a value is, exactly as it is written; ``None`` if it is none.

    >>> number_of(0.1), number_of("20"), number_of("x"), number_of(True)
    (Decimal('0.1'), 20, None, None)
    """
    if isinstance(value, bool | np.bool_):
        return None
    if isinstance(value, int | np.integer):
        return int(value)
    if isinstance(value, float | np.floating):
        value = repr(float(value))
    if isinstance(value, Decimal):
        return whole_or(value) if value.is_finite() else None
    if isinstance(value, str) and _NUMBER.fullmatch(value):
        return whole_or(Decimal(value.strip()))
    return None


def whole_or(number: Decimal) -> Number:
    """A whole number as such."""
    return int(number) if number == number.to_integral_value() else number


def cell_of(number: Number, width: Number) -> int:
    """Which multiple of a width is at or below a number.

    >>> cell_of(-3, 5), cell_of(Decimal("0.3"), Decimal("0.1"))
    (-1, 3)
    """
    if isinstance(number, int) and isinstance(width, int):
        return number // width
    exact, step = Decimal(number), Decimal(width)
    many = int(EXACT.divide_int(exact, step))
    # The quotient of decimals goes towards zero.
    return many - 1 if exact < 0 and EXACT.multiply(many, step) != exact else many


def floor_to(number: Number, width: Number) -> Number:
    """The multiple of a width at or below a number.

    >>> floor_to(-3, 5), floor_to(Decimal("0.37"), Decimal("0.1"))
    (-5, Decimal('0.3'))
    """
    return times(cell_of(number, width), width)


def ceil_to(number: Number, width: Number) -> Number:
    """The multiple of a width at or above a number."""
    # A decimal is negated without being rounded.
    negative = -number if isinstance(number, int) else number.copy_negate()
    return times(-cell_of(negative, width), width)


def times(many: int, width: Number) -> Number:
    """So many times a width, exactly."""
    return many * width if isinstance(width, int) else EXACT.multiply(many, width)
