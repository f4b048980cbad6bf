"""Sums over the coordinates of two or three rows, four at a time, as kernels call them; ``vector_code`` says what they do."""

from typing import Any

from shoal.search.kernels import instruction

_HERE = "shoal.microdata.microaggregation.search.kernels"


def _both(name: str) -> Any:
    return instruction(f"{_HERE}.vector_code:{name}", f"{_HERE}.vector_sums:{name}")


squared_distance = _both("squared_distance")
towards = _both("towards")
swap_gain = _both("swap_gain")
set_mean = _both("set_mean")
lent = _both("lent")
