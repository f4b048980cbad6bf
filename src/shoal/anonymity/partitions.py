"""How many anonymity vectors there are, and the place of one among them, in exact integers and without enumeration.

The vectors of a population N are the partitions of N. The place of one follows from P_i(m), the number of
partitions of m into parts of at least i, by the forward recurrence P_(i+1)(m) = P_i(m) − P_i(m−i) from Euler's
partition numbers; large parts are counted by their number instead, since only few of them fit. So a rank costs
O(N√N) additions of numbers of O(√N) bits, whatever the vector. The additions run modulo prime numbers of 52 bits and are
joined by the Chinese remainder theorem.
"""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import lru_cache
from itertools import islice
from typing import TYPE_CHECKING

from shoal.errors import InputError
from shoal.runtime.kernels import in_plain_python

if TYPE_CHECKING:
    import numpy as np

# Above this an alternating sum of the pentagonal recurrence could leave 64 bits (and the rank would take hours).
LARGEST_POPULATION = 6_000_000
# One entry of the tables by number of parts costs about this many steps of the forward recurrence (measured).
_TABLE_COST = 2.5
# Up to this population the interpreter is done before the compiled kernels would be loaded (measured).
_PLAIN_POPULATION = 2_000
# How many numbers a table by number of parts may hold when a rank is turned back into a vector (64 MB).
_TABLE_ENTRIES = 8_000_000

Pairs = Sequence[tuple[int, int]]


@lru_cache(maxsize=256)
def partition_count(population: int) -> int:
    """The number of partitions p(N), which is the number of anonymity vectors of N people.

    >>> partition_count(4), partition_count(100)
    (5, 190569292)
    """
    _check_population(population)
    system = _system_for(population)
    with in_plain_python(where=population <= _PLAIN_POPULATION):
        return system.join(_partition_numbers(modulus, population)[-1] for modulus in system.moduli)


def hardy_ramanujan(population: int) -> Decimal:
    """The asymptotic estimate of p(N) by Hardy and Ramanujan (1918), for N of at least 1.

    >>> f"{hardy_ramanujan(1000):.4e}"
    '2.4402e+31'
    """
    if population < 1:
        raise InputError(f"the estimate needs a population of at least 1, not {population}")
    exponent = Decimal(math.pi) * (Decimal(2 * population) / 3).sqrt()
    return exponent.exp() / (4 * population * Decimal(3).sqrt())


def ranks(population: int, vectors: Sequence[Pairs]) -> list[int]:
    """The places, counted from 0 at the worst, of vectors of one population given as (size, count) by rising size.

    All vectors share one pass.

    >>> ranks(4, [[(1, 4)], [(1, 2), (2, 1)], [(2, 2)], [(4, 1)]])
    [0, 1, 3, 4]
    """
    import numpy as np

    from shoal.anonymity import partition_kernels

    _check_population(population)
    questions = sorted(
        question for owner, pairs in enumerate(vectors) for question in _questions(population, pairs, owner)
    )
    parts, totals, owners, signs = np.array(questions, dtype=np.int64).reshape(-1, 4).T.copy()
    small = _number_of_small(parts, totals)
    reach = np.maximum.accumulate(totals[:small][::-1])[::-1].copy()
    terms = np.empty(len(parts), dtype=np.int64)
    sums = np.zeros(len(vectors), dtype=np.int64)

    system = _system_for(population)
    residues = []
    with in_plain_python(where=population <= _PLAIN_POPULATION):
        for modulus in system.moduli:
            if small:
                counts = _partition_numbers(modulus, int(reach[0]))
                partition_kernels.many_small_parts(
                    modulus,
                    counts,
                    np.empty_like(counts),
                    parts[:small],
                    totals[:small],
                    reach,
                    terms[:small],
                )
            if small < len(parts):
                counts = np.empty(int(totals[small:].max()) + 1, dtype=np.int64)
                partition_kernels.few_large_parts(
                    modulus, counts, parts[small:], totals[small:], terms[small:]
                )
            sums[:] = 0
            partition_kernels.signed_sums(modulus, terms, signs, owners, sums)
            residues.append(sums.tolist())
    return [system.join(column) for column in zip(*residues)]


def _questions(population: int, pairs: Pairs, owner: int) -> Iterator[tuple[int, int, int, int]]:
    """What must be known for one rank: (part, total, owner, sign) for a signed sum of P_part(total).

    A vector is worse if it has more classes at the first size where two differ. With ``rest`` people left, those that
    have a class of a size this one skips, from ``first`` to below ``size``, number P_first(rest) − P_size(rest); those
    that have more than ``count`` classes of the next size number P_size(rest − (count + 1)·size).
    """
    rest, first = population, 1
    for size, count in pairs:
        if size > first:
            yield first, rest, owner, 1
            yield size, rest, owner, -1
        more = rest - (count + 1) * size
        if more >= 0:
            yield size, more, owner, 1
        rest -= count * size
        first = size + 1


def _number_of_small(parts: "np.ndarray", totals: "np.ndarray") -> int:
    """How many of the questions, sorted by part, are better answered by the forward recurrence."""
    import numpy as np

    if not len(parts):
        return 0
    largest = np.maximum.accumulate(totals).astype(float)
    forward = np.concatenate([[0.0], parts * largest])
    largest_left = np.maximum.accumulate(totals[::-1])[::-1].astype(float)
    by_number = np.concatenate([_TABLE_COST * largest_left**2 / (2.0 * parts), [0.0]])
    # P_1 is the partition number itself, which only the first way knows cheaply.
    by_number[: int(np.searchsorted(parts, 1, side="right"))] = math.inf
    return int(np.argmin(forward + by_number))


def unrank(population: int, rank: int) -> list[tuple[int, int]]:
    """The vector at a place, as (size, count) by rising size.

    >>> [unrank(4, rank) for rank in range(5)]
    [[(1, 4)], [(1, 2), (2, 1)], [(1, 1), (3, 1)], [(2, 2)], [(4, 1)]]
    """
    import numpy as np

    from shoal.anonymity import partition_kernels

    _check_population(population)
    system = _system_for(population)
    counts = np.array([_partition_numbers(modulus, population) for modulus in system.moduli])
    spare = np.empty_like(counts)
    number = system.join(counts[:, population])
    if not 0 <= rank < number:
        raise InputError(
            f"a population of {population:,} has {_shown(number)} vectors, so its ranks end at {_shown(number - 1)}; "
            f"{_shown(rank)} is not one of them"
        )

    def with_at_least(count: int) -> int:
        left = rest - count * part
        return system.join(counts[:, left]) if left >= 0 else 0

    def is_reached(count: int) -> bool:
        return with_at_least(count) > rank

    # Of ``number`` vectors of ``rest`` people in classes of at least ``part``, the one at place ``rank`` is wanted.
    pairs: list[tuple[int, int]] = []
    part, rest = 1, population
    while rest:
        if rank == number - 1:
            return [*pairs, (rest, 1)]
        system = _system(_moduli_needed(number.bit_length()))
        counts, spare = counts[: len(system.moduli)], spare[: len(system.moduli)]
        entries = rest * rest / (2 * part)
        if entries * len(system.moduli) <= _TABLE_ENTRIES and _TABLE_COST * entries <= part * population:
            return pairs + _unrank_large(system, part, rest, rank, number)

        count = _last(is_reached, rest // part)
        rank -= with_at_least(count + 1)
        if count:
            pairs.append((part, count))
            rest -= count * part
        for row, modulus in enumerate(system.moduli):
            partition_kernels.drop_part(modulus, part, counts[row, : rest + 1], spare[row, : rest + 1])
        counts, spare = spare, counts
        part += 1
        number = system.join(counts[:, rest])
    return pairs


def _unrank_large(system: "_System", part: int, rest: int, rank: int, number: int) -> list[tuple[int, int]]:
    """The rest of a vector whose classes are so large that there are few of them."""
    import numpy as np

    from shoal.anonymity import partition_kernels

    lengths = [rest - parts * part + 1 for parts in range(1, rest // part + 1)]
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    table = np.empty((len(system.moduli), int(starts[-1])), dtype=np.int64)
    spare = np.empty(rest + 1, dtype=np.int64)
    for row, modulus in enumerate(system.moduli):
        partition_kernels.table_of_few_parts(modulus, starts, spare, table[row])

    def at_least(part: int, total: int) -> int:
        if total <= 0:
            return 1 if total == 0 else 0
        parts = np.arange(1, total // part + 1)
        residues = table[:, starts[parts - 1] + total - parts * part]
        return system.join(sum(row.tolist()) for row in residues)

    def is_skipped(step: int) -> bool:
        return number - at_least(part + step, rest) <= rank

    def is_reached(count: int) -> bool:
        return at_least(part, rest - count * part) > rank

    pairs = []
    while rest:
        # Vectors whose smallest class is smaller come first: go to the size at which the wanted one begins.
        steps = _last(is_skipped, rest - part)
        rank -= number - at_least(part + steps, rest)
        part += steps
        count = _last(is_reached, rest // part)
        rank -= at_least(part, rest - (count + 1) * part)
        pairs.append((part, count))
        rest -= count * part
        part += 1
        number = at_least(part, rest)
    return pairs


def _last(holds: Callable[[int], bool], largest: int) -> int:
    """The last of 0 … largest for which something holds that holds at 0 and, once lost, stays lost."""
    low, step = 0, 1
    while low + step <= largest and holds(low + step):
        low += step
        step *= 2
    while step:
        if low + step <= largest and holds(low + step):
            low += step
        step //= 2
    return low


@dataclass(frozen=True)
class _System:
    """Prime moduli, and what joins residues into the number below their product."""

    moduli: tuple[int, ...]
    weights: tuple[int, ...]
    product: int

    def join(self, residues: Iterable[int]) -> int:
        return sum(int(residue) * weight for residue, weight in zip(residues, self.weights)) % self.product


@lru_cache(maxsize=64)
def _system(size: int) -> _System:
    moduli = tuple(islice(_primes_below(2**52), size))
    product = math.prod(moduli)
    weights = tuple(product // modulus * pow(product // modulus, -1, modulus) for modulus in moduli)
    return _System(moduli, weights, product)


def _system_for(population: int) -> _System:
    # p(N) < exp(π√(2N/3)) for every N (Apostol, Introduction to Analytic Number Theory, 1976, §14.7).
    return _system(_moduli_needed(int(math.pi * math.sqrt(2 * population / 3) / math.log(2)) + 2))


def _moduli_needed(bits: int) -> int:
    # The first few thousand primes below 2⁵² all exceed 2^51.999.
    return max(1, math.ceil(bits / 51.999))


def _primes_below(number: int) -> Iterator[int]:
    return (candidate for candidate in range(number - 1, 1, -2) if _is_prime(candidate))


def _is_prime(number: int) -> bool:
    """The test of Miller and Rabin; these bases decide every number below 3.3·10²⁴ (Sorenson and Webster, 2017)."""
    bases = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41)
    if number < 2 or any(number % base == 0 for base in bases):
        return number in bases
    twos = ((number - 1) & -(number - 1)).bit_length() - 1
    odd = (number - 1) >> twos
    return all(
        pow(base, odd, number) == 1
        or any(pow(base, odd << step, number) == number - 1 for step in range(twos))
        for base in bases
    )


def _partition_numbers(modulus: int, population: int) -> "np.ndarray":
    import numpy as np

    from shoal.anonymity import partition_kernels

    counts = np.empty(population + 1, dtype=np.int64)
    partition_kernels.partition_numbers(modulus, counts)
    return counts


def _check_population(population: int) -> None:
    if population < 0:
        raise InputError(f"a population cannot be negative: {population}")
    if population > LARGEST_POPULATION:
        raise InputError(
            f"exact ranks are computed up to a population of {LARGEST_POPULATION:,}, not {population:,}"
        )


def _shown(number: int) -> str:
    return f"{number:,}" if abs(number) < 10**15 else f"{Decimal(number):.3e}"


def warm_up() -> None:
    """Compile the kernels."""
    population = _PLAIN_POPULATION + 1
    number = partition_count(population)
    ranks(population, [unrank(population, number // 2), unrank(population, number - 2)])
