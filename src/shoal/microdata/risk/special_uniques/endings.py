"""The lowest keys of every row as one small number: sets of them are looked at all at once."""

import numpy as np

from shoal.microdata.risk.special_uniques.minimal_uniques_kernels import Endings

# So many endings are bits of four words.
_MOST_ENDINGS = 256


def endings_of(columns: np.ndarray, kinds: np.ndarray) -> Endings:
    """The endings of rows, over as many of the first keys as have few enough combinations of values.

    >>> found = endings_of(np.array([[0, 1, -1], [2, 0, 1]]), np.array([2, 3]))
    >>> found.keys, found.number, found.of_row.tolist()
    (2, 9, [6, 1, 5])
    """
    gaps = (columns < 0).any(axis=1)
    digits = kinds + gaps
    keys, number = 0, 1
    while keys < digits.size and number * int(digits[keys]) <= _MOST_ENDINGS:
        number *= int(digits[keys])
        keys += 1
    of_row, factor = np.zeros(columns.shape[1], dtype=np.int32), 1
    values = np.zeros((keys, number), dtype=np.int64)
    for key in range(keys):
        # A missing value is the last one.
        own = np.where(columns[key] < 0, kinds[key], columns[key]).astype(np.int32)
        of_row += factor * own
        values[key] = np.arange(number) // factor % digits[key]
        factor *= int(digits[key])
    return Endings(keys, number, of_row, _alike(values, kinds))


def _alike(values: np.ndarray, kinds: np.ndarray) -> np.ndarray:
    """For each set of the lowest keys and each ending the bits of those with the same values there."""
    keys, number = values.shape
    words = (number + 63) // 64
    found = np.zeros((1 << keys, number, words), dtype=np.uint64)
    for chosen in range(1 << keys):
        same = np.ones((number, number), dtype=bool)
        for key in range(keys):
            if chosen >> key & 1:
                known = values[key] < kinds[key]
                same &= (values[key][:, None] == values[key][None, :]) & known[:, None] & known[None, :]
        bits = np.zeros((number, words * 64), dtype=np.uint8)
        bits[:, :number] = same
        found[chosen] = np.packbits(bits, axis=1, bitorder="little").view("<u8")
    return found
