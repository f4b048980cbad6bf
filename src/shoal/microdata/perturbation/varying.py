"""Columns that a method can do something with."""

from collections.abc import Sequence

import numpy as np

from shoal.errors import InputError, parameter
from shoal.microdata.perturbation.problem import Problem


def varying_numbers(problem: Problem, name: str) -> np.ndarray:
    """A column as numbers, missing as NaN; an ``InputError`` if all its values are missing, or all the same."""
    values = problem.numbers(name).values
    present = values[~np.isnan(values)]
    if present.size == 0:
        raise InputError(f"column '{name}' has no value at all: nothing in it can change")
    if present.min() == present.max():
        raise InputError(f"column '{name}' has the same value everywhere: nothing in it can change")
    return values


def check_orders(problem: Problem, used: Sequence[str]) -> None:
    """Refuse the order of a column that nobody asks for."""
    for name in problem.orders:
        if name not in used:
            raise InputError(
                f"column '{name}' is named in {parameter('ordinal')}, but not in {parameter('columns')}: it would do nothing"
            )
