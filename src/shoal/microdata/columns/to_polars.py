"""Numbers on their way into a frame of Polars."""

from typing import Any

import numpy as np

# Below so many a list is made in less time than ``numpy.ma`` is loaded in, which Polars does to take an array.
_FEW = 5_000


def for_frame(numbers: np.ndarray) -> Any:
    """The numbers as a frame takes them with the least work: few as a list, many as they are.

    >>> for_frame(np.array([1.5, 2.5])), type(for_frame(np.zeros(9_000))).__name__
    ([1.5, 2.5], 'ndarray')
    """
    return numbers.tolist() if numbers.size < _FEW else numbers
