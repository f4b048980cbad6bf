"""Small tables for tests, with the zeros, ties and constant columns that real ones have."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

SMALL = st.integers(-3, 3).map(float)
REAL = st.floats(-1e6, 1e6, allow_nan=False, width=32).map(float)


def pairs(values=SMALL, least=2, most=14, columns=4):
    """An original and a protected table of the same shape."""
    shape = st.tuples(st.integers(least, most), st.integers(1, columns))
    return shape.flatmap(
        lambda size: st.tuples(
            hnp.arrays(np.float64, size, elements=values), hnp.arrays(np.float64, size, elements=values)
        )
    )
