"""Random numbers that are a function of a key and of what they are for, for compiled code.

SipHash-2-4 (J.-P. Aumasson and D. J. Bernstein, SipHash: a fast short-input PRF, INDOCRYPT 2012) of two words: who is meant (a
record's identity), and a counter. Without the 128 bits of the key the numbers cannot be told from chance, and with them they
do not depend on the order in which they are drawn. A key serves one kind of draw: each place of ``Secret.draws`` has its own.
"""

import numpy as np

from shoal.runtime.kernels import kernel

_2_PI = 2.0 * np.pi


@kernel(inline="always")
def _turned(word: np.uint64, left: int) -> np.uint64:
    return (word << np.uint64(left)) | (word >> np.uint64(64 - left))


@kernel
def bits(key: np.ndarray, who: np.uint64, count: np.uint64) -> np.uint64:
    """64 random bits for somebody and a counter."""
    v0 = key[0] ^ np.uint64(0x736F6D6570736575)
    v1 = key[1] ^ np.uint64(0x646F72616E646F6D)
    v2 = key[0] ^ np.uint64(0x6C7967656E657261)
    v3 = key[1] ^ np.uint64(0x7465646279746573)
    for block in range(4):
        # Two words of the message, then its length in bytes, then the end with its four rounds.
        word = np.uint64(0)
        rounds = 2
        if block == 0:
            word = np.uint64(who)
        elif block == 1:
            word = np.uint64(count)
        elif block == 2:
            word = np.uint64(16) << np.uint64(56)
        else:
            v2 ^= np.uint64(0xFF)
            rounds = 4
        v3 ^= word
        for _ in range(rounds):
            v0 += v1
            v1 = _turned(v1, 13) ^ v0
            v0 = _turned(v0, 32)
            v2 += v3
            v3 = _turned(v3, 16) ^ v2
            v0 += v3
            v3 = _turned(v3, 21) ^ v0
            v2 += v1
            v1 = _turned(v1, 17) ^ v2
            v2 = _turned(v2, 32)
        v0 ^= word
    return v0 ^ v1 ^ v2 ^ v3


@kernel
def uniform(key: np.ndarray, who: np.uint64, count: np.uint64) -> float:
    """A real number, uniform in [0, 1)."""
    return float(bits(key, who, count) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@kernel
def below(key: np.ndarray, who: np.uint64, count: np.uint64, n: int) -> np.int64:
    """A whole number, uniform in 0 … n−1 but for a bias below n/2⁵³."""
    return np.int64(uniform(key, who, count) * n)


@kernel
def normal(key: np.ndarray, who: np.uint64, count: np.uint64) -> float:
    """A standard normal number (G. E. P. Box and M. E. Muller, 1958); each counter uses up two uniform ones."""
    twice = np.uint64(count) << np.uint64(1)
    # 1 − u lies in (0, 1], so that its logarithm is finite.
    radius = np.sqrt(-2.0 * np.log(1.0 - uniform(key, who, twice)))
    return radius * np.cos(_2_PI * uniform(key, who, twice | np.uint64(1)))


@kernel
def uniforms(key: np.ndarray, who: np.ndarray, count: int) -> np.ndarray:
    """A uniform number for each of many."""
    found = np.empty(who.size)
    for item in range(who.size):
        found[item] = uniform(key, who[item], np.uint64(count))
    return found


@kernel
def normals(key: np.ndarray, who: np.ndarray, count: int) -> np.ndarray:
    """A standard normal number for each of many."""
    found = np.empty(who.size)
    for item in range(who.size):
        found[item] = normal(key, who[item], np.uint64(count))
    return found


@kernel
def chained(key: np.ndarray, hashes: np.ndarray, words: np.ndarray) -> np.ndarray:
    """The hashes of sequences that are one word longer."""
    found = np.empty(hashes.size, dtype=np.uint64)
    for item in range(hashes.size):
        found[item] = bits(key, hashes[item], words[item])
    return found


def warm_up() -> None:
    """Compile the kernels."""
    key, who = np.zeros(2, dtype=np.uint64), np.zeros(1, dtype=np.uint64)
    uniforms(key, who, 0)
    normals(key, who, 0)
    below(key, who[0], who[0], 1)
    chained(key, who, who)
