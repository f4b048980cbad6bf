"""How many plans are best: every matrix of a given K counted, one group after the other (Moro Lías 2024, appendix E)."""

from collections.abc import Iterator, Sequence
from functools import cache
from math import comb


def count_plans(groups: Sequence[int], capacities: Sequence[int], k: int) -> int:
    """The number of matrices that seat everybody with no piece below k.

    >>> count_plans([12, 20, 28], [10, 10, 10, 10, 20], 8), count_plans([20, 20, 20], [10, 20, 20, 10], 10)
    (6, 33)
    """

    @cache
    def from_group(group: int, left: tuple[int, ...]) -> int:
        if group == len(groups):
            return 1
        return sum(from_group(group + 1, rest) for rest in _seated(groups[group], left, k))

    return from_group(0, tuple(capacities))


def count_assignments(groups: Sequence[int], capacities: Sequence[int], k: int) -> int:
    """How many ways there are to give everybody a slot, people told apart, such that no crowd is below k.

    >>> count_assignments([4, 4, 5, 2], [4, 2, 4, 3, 2], 1) // 10**6, count_assignments([2, 1], [2, 1], 1)
    (94, 3)
    """

    @cache
    def from_group(group: int, left: tuple[int, ...]) -> int:
        if group == len(groups):
            return 1
        total = 0
        for rest in _seated(groups[group], left, k):
            ways, people = 1, groups[group]
            for before, after in zip(left, rest, strict=True):
                # Which of those who have no slot yet come here.
                ways *= comb(people, before - after)
                people -= before - after
            total += ways * from_group(group + 1, rest)
        return total

    return from_group(0, tuple(capacities))


def _seated(people: int, left: tuple[int, ...], k: int) -> Iterator[tuple[int, ...]]:
    """The seats left after every way to seat a group with no piece below k."""
    if not left:
        if people == 0:
            yield ()
        return
    first, others = left[0], left[1:]
    # Whatever the other rooms cannot take must go here.
    least = people - sum(others)
    for here in (0, *range(k, min(people, first) + 1)):
        if here >= least and (people - here == 0 or people - here >= k):
            for rest in _seated(people - here, others, k):
                yield (first - here, *rest)
