"""A random generator for compiled code whose state is an ordinary array.

xoshiro256++ of Blackman and Vigna (Scrambled linear pseudorandom number generators, ACM TOMS 47(4), 2021).
The state comes from ``Seeds.state()``, is passed along explicitly and can be kept between two calls of a
kernel, so that a search can be cut into chunks of any size without changing its course.
"""

import numpy as np

from shoal.runtime.kernels import kernel


@kernel(inline="always")
def next_bits(state: np.ndarray) -> np.uint64:
    """The next 64 random bits."""
    s0, s1, s2, s3 = state[0], state[1], state[2], state[3]
    total = s0 + s3
    result = ((total << np.uint64(23)) | (total >> np.uint64(41))) + s0
    t = s1 << np.uint64(17)
    s2 ^= s0
    s3 ^= s1
    s1 ^= s2
    s0 ^= s3
    s2 ^= t
    s3 = (s3 << np.uint64(45)) | (s3 >> np.uint64(19))
    state[0], state[1], state[2], state[3] = s0, s1, s2, s3
    return result


@kernel
def uniform(state: np.ndarray) -> float:
    """A real number, uniform in [0, 1)."""
    return float(next_bits(state) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@kernel
def below(state: np.ndarray, n: int) -> np.int64:
    """A whole number, uniform in 0 … n−1; n at most 2³¹.

    Multiplies instead of dividing; the bias is below n/2³², far under what any search could notice.
    """
    return np.int64(((next_bits(state) >> np.uint64(32)) * np.uint64(n)) >> np.uint64(32))


@kernel
def shuffle(state: np.ndarray, items: np.ndarray) -> None:
    """Put the items of a one-dimensional array into a uniformly random order."""
    for i in range(items.shape[0] - 1, 0, -1):
        j = below(state, i + 1)
        items[i], items[j] = items[j], items[i]
