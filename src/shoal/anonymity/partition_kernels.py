"""Counts of integer partitions modulo a number below 2⁵², as plain functions on arrays.

Write P_i(m) for the number of partitions of m into parts of at least i. Every recurrence here only adds and subtracts, so
it may run modulo several coprime numbers and be joined by the Chinese remainder theorem.
"""

import numpy as np

from shoal.runtime.kernels import kernel


@kernel
def partition_numbers(modulus: int, out: np.ndarray) -> None:
    """Fill ``out`` with p(0), p(1), … by Euler's pentagonal numbers."""
    out[0] = 1
    for m in range(1, out.shape[0]):
        total = np.int64(0)
        k = 1
        near = 1
        while near <= m:
            pair = out[m - near]
            far = near + k
            if far <= m:
                pair += out[m - far]
            if k & 1:
                total += pair
            else:
                total -= pair
            k += 1
            near += 3 * k - 2
        # The alternating sum of at most √(2m/3) terms of 52 bits fits a word, so one division is enough.
        out[m] = total % modulus


@kernel
def drop_part(modulus: int, part: int, counts: np.ndarray, out: np.ndarray) -> None:
    """From P_part(0…) to P_(part+1)(0…): leave out the partitions that have a part of this size."""
    size = min(part, counts.shape[0])
    for m in range(size):
        out[m] = counts[m]
    whole, rest, left = counts[size:], counts[: counts.shape[0] - size], out[size:]
    # Two separate arrays, so that the compiler may work on several entries at once.
    for m in range(left.shape[0]):
        value = whole[m] - rest[m]
        left[m] = value + modulus if value < 0 else value


@kernel
def add_part(modulus: int, part: int, counts: np.ndarray) -> None:
    """From partitions into parts below ``part`` to partitions into parts up to ``part``, in place."""
    for m in range(part, counts.shape[0]):
        value = counts[m] + counts[m - part] - modulus
        counts[m] = value + modulus if value < 0 else value


@kernel
def many_small_parts(
    modulus: int,
    counts: np.ndarray,
    spare: np.ndarray,
    parts: np.ndarray,
    totals: np.ndarray,
    reach: np.ndarray,
    out: np.ndarray,
) -> None:
    """Answer the questions P_parts[j](totals[j]), asked by rising part, from p(0…) in ``counts``.

    ``reach[j]`` is the largest total asked for from the j-th question on: nothing above it is kept up to date.
    """
    part = 1
    for j in range(parts.shape[0]):
        size = reach[j] + 1
        while part < parts[j]:
            drop_part(modulus, part, counts[:size], spare[:size])
            counts, spare = spare, counts
            part += 1
        out[j] = counts[totals[j]]


@kernel
def few_large_parts(
    modulus: int, counts: np.ndarray, parts: np.ndarray, totals: np.ndarray, out: np.ndarray
) -> None:
    """Answer the questions P_parts[j](totals[j]) by the number of parts, which is small when parts are large.

    Taking ``part`` away from each of t parts leaves a partition into at most t parts, that is, one whose
    conjugate has parts of at most t.
    """
    counts[:] = 0
    counts[0] = 1
    for j in range(parts.shape[0]):
        out[j] = 1 if totals[j] == 0 else 0
    number = 1
    while True:
        reach = -1
        for j in range(parts.shape[0]):
            reach = max(reach, totals[j] - number * parts[j])
        if reach < 0:
            return
        add_part(modulus, number, counts[: reach + 1])
        for j in range(parts.shape[0]):
            rest = totals[j] - number * parts[j]
            if rest >= 0:
                out[j] = (out[j] + counts[rest]) % modulus
        number += 1


@kernel
def table_of_few_parts(modulus: int, starts: np.ndarray, counts: np.ndarray, out: np.ndarray) -> None:
    """Keep the partitions into at most 1, 2, 3, … parts side by side; ``starts`` says where each begins."""
    counts[:] = 0
    counts[0] = 1
    for number in range(1, starts.shape[0]):
        size = starts[number] - starts[number - 1]
        add_part(modulus, number, counts[:size])
        out[starts[number - 1] : starts[number]] = counts[:size]


@kernel
def signed_sums(
    modulus: int, terms: np.ndarray, signs: np.ndarray, owners: np.ndarray, out: np.ndarray
) -> None:
    """Add each term with its sign to the sum of its owner."""
    for j in range(terms.shape[0]):
        out[owners[j]] = (out[owners[j]] + signs[j] * terms[j]) % modulus
