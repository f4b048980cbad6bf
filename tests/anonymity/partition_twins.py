"""Slow, obvious counterparts of the partition kernels, in Python integers."""

from collections.abc import Iterator
from functools import cache

Pairs = tuple[tuple[int, int], ...]


def vectors(population: int, smallest: int = 1) -> Iterator[Pairs]:
    """Every vector of a population as (size, count), from the worst to the best."""
    if population == 0:
        yield ()
        return
    for count in range(population // smallest, -1, -1):
        rest = population - count * smallest
        if rest == 0 or rest > smallest:
            own = ((smallest, count),) if count else ()
            yield from (own + others for others in vectors(rest, smallest + 1))


@cache
def at_least(part: int, total: int) -> int:
    """The number of partitions of a total into parts of at least this size."""
    if total <= 0:
        return 1 if total == 0 else 0
    return sum(at_least(first, total - first) for first in range(part, total + 1))


def rank_by_sums(population: int, pairs: Pairs) -> int:
    """The rank as a sum over all sizes, each term from one column of big integers (no telescoping, no moduli)."""
    counts = dict(pairs)
    rests, rest = {}, population
    for size in range(1, population + 1):
        rests[size] = rest - (counts.get(size, 0) + 1) * size
        rest -= counts.get(size, 0) * size
    column = [1] + [0] * population
    rank = 0
    for size in range(population, 0, -1):
        for total in range(size, population + 1):
            column[total] += column[total - size]
        if rests[size] >= 0:
            rank += column[rests[size]]
    return rank
