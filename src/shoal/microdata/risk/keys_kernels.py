"""Numbering values and combinations of values, as plain functions on arrays."""

import numpy as np

from shoal.runtime.kernels import kernel

# Knuth's multiplicative hashing: 2⁶⁴ divided by the golden ratio.
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


@kernel
def dense_codes(values: np.ndarray, low: int, span: int, codes: np.ndarray) -> int:
    """Number the values ``low`` … ``low + span − 1`` by size, those that occur alone; returns how many do."""
    seen = np.zeros(span, dtype=np.int32)
    for i in range(values.shape[0]):
        seen[values[i] - low] = 1
    number = 0
    for j in range(span):
        if seen[j]:
            seen[j] = number
            number += 1
    for i in range(values.shape[0]):
        codes[i] = seen[values[i] - low]
    return number


@kernel
def add_digit(packed: np.ndarray, codes: np.ndarray, size: int) -> None:
    """Append one digit of base ``size`` to every number, in place."""
    for i in range(packed.shape[0]):
        packed[i] = packed[i] * size + codes[i]


@kernel
def group_by_table(packed: np.ndarray, cells: int, of_record: np.ndarray, first: np.ndarray) -> int:
    """Number the different values below ``cells`` by first appearance; returns how many there are.

    ``of_record`` gets the number of each record's value, ``first`` the first record of each number.
    """
    table = np.full(cells, -1, dtype=np.int32)
    number = 0
    for i in range(packed.shape[0]):
        own = table[packed[i]]
        if own < 0:
            own = np.int32(number)
            table[packed[i]] = own
            first[number] = i
            number += 1
        of_record[i] = own
    return number


@kernel
def group_by_hash(packed: np.ndarray, bits: int, of_record: np.ndarray, first: np.ndarray) -> int:
    """The same for values of any size: open addressing in a table of 2^bits places, more than there are records."""
    mask = np.int64((1 << bits) - 1)
    shift = np.uint64(64 - bits)
    table = np.full(1 << bits, -1, dtype=np.int32)
    number = 0
    for i in range(packed.shape[0]):
        value = packed[i]
        slot = np.int64((np.uint64(value) * _GOLDEN) >> shift)
        own = table[slot]
        while own >= 0 and packed[first[own]] != value:
            slot = (slot + 1) & mask
            own = table[slot]
        if own < 0:
            own = np.int32(number)
            table[slot] = own
            first[number] = i
            number += 1
        of_record[i] = own
    return number


@kernel
def add_up(of_record: np.ndarray, amounts: np.ndarray, sums: np.ndarray) -> None:
    """Add the amount of each record to the sum of its group."""
    for i in range(of_record.shape[0]):
        sums[of_record[i]] += amounts[i]


@kernel
def add_up_by_class(
    of_record: np.ndarray, class_of: np.ndarray, amounts: np.ndarray, sums: np.ndarray
) -> None:
    """The same where the amount of a record is that of its class."""
    for i in range(of_record.shape[0]):
        sums[of_record[i]] += amounts[class_of[i]]
