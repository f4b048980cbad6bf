"""Drawing the categories that are seen."""

import numpy as np

from shoal.runtime.kernels import kernel
from shoal.runtime.secret_kernels import uniform


@kernel
def drawn(
    key: np.ndarray, identities: np.ndarray, members: np.ndarray, rows: np.ndarray, upto: np.ndarray
) -> np.ndarray:
    """For each member a column of its row: the first whose cumulated chance ``upto`` is above a number drawn for it."""
    found = np.empty(members.size, dtype=np.int64)
    size = upto.shape[1]
    for item in range(members.size):
        chance = uniform(key, identities[members[item]], np.uint64(0))
        row = rows[item]
        low, high = 0, size - 1
        while low < high:
            middle = (low + high) // 2
            if chance < upto[row, middle]:
                high = middle
            else:
                low = middle + 1
        found[item] = low
    return found


def warm_up() -> None:
    """Compile the kernel."""
    zero = np.zeros(1, dtype=np.int64)
    drawn(np.zeros(2, dtype=np.uint64), np.zeros(1, dtype=np.uint64), zero, zero, np.ones((1, 1)))
