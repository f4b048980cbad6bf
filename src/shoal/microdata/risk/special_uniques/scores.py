"""What minimal uniques say of a record: its score, and the chance that somebody who matches it is right."""

import numpy as np

# The share of the population that is assumed to be in the sample: sdcMicro's usual one.
SAMPLED = 0.01


def weights_by_size(keys: int, largest: int) -> np.ndarray:
    """What a minimal unique of each size adds to the score: in how many ways it grows to sets of the largest size, in order.

    Without a limit these are factorials of the keys that are not needed.

    >>> weights_by_size(4, 4).tolist(), weights_by_size(4, 2).tolist()
    ([0.0, 6.0, 2.0, 1.0, 1.0], [0.0, 3.0, 1.0])
    """
    weights = np.zeros(largest + 1)
    weights[largest] = 1.0
    for size in range(largest - 1, 0, -1):
        weights[size] = weights[size + 1] * (keys - size)
    return weights


def chances_of_a_match(scores: np.ndarray, pairs: int, keys: int, sampled: float = SAMPLED) -> np.ndarray:
    """DIS-SUDA: the chance that a unique match with a record is right, spread over records by their scores.

    ``pairs`` records share all keys with one other. M. J. Elliot, Integrating file and record level disclosure risk assessment,
    2002; the exponent is that of the published program. Where there are no pairs, every record with a score has 1.
    """
    chances = np.zeros(scores.size)
    own = scores > 0
    if not own.any():
        return chances
    # With very many keys the exponent would turn round who is more at risk.
    power = max(0.05, 1.0 + (8 - keys) / 20)
    # Divided by the largest, so that no power of a large score overflows.
    scaled = scores[own] / scores.max()
    spread = scaled**power * (scaled**-power).sum()
    chances[own] = 1.0 / (1.0 + pairs * (1.0 - sampled) / (sampled * spread))
    return chances
