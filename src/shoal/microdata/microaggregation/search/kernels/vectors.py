"""Sums over the coordinates of two or three rows, four at a time, as kernels call them; ``vector_code`` says what they do."""

from shoal.search.kernels import instruction

_CODE = "shoal.microdata.microaggregation.search.kernels.vector_code"

squared_distance = instruction(f"{_CODE}:squared_distance")
towards = instruction(f"{_CODE}:towards")
swap_gain = instruction(f"{_CODE}:swap_gain")
set_mean = instruction(f"{_CODE}:set_mean")
lent = instruction(f"{_CODE}:lent")
