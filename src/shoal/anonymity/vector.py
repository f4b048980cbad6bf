"""The anonymity vector: how many classes there are of each size."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, total_ordering
from operator import index
from typing import Any

from shoal.errors import InputError

_LONGEST_SHOWN_IN_FULL = 24
_MOST_SIZES_SHOWN = 8


@total_ordering
@dataclass(frozen=True, init=False, repr=False)
class AnonymityVector:
    """The number of classes of size 1, 2, 3, …: finer than K, and totally ordered (Cabana Ramírez, 2016).

    Built from the counts in order of size, or from a mapping of size to count. Trailing zeros do not matter. A **smaller**
    vector is better: at the first size where two differ it has fewer classes, so fewer people in small crowds. The order is
    meant for vectors of one population. Only sizes that occur are kept, so a billion people are no burden.

    >>> base, random = AnonymityVector((0, 1, 0, 2, 1)), AnonymityVector((9, 3))
    >>> base < random, base.k, random.k, base.population
    (True, 2, 1, 15)
    >>> base[4], base[99], list(base)
    (2, 0, [0, 1, 0, 2, 1])
    """

    pairs: tuple[tuple[int, int], ...]

    def __init__(self, counts: Iterable[int] | Mapping[int, int] = ()) -> None:
        if isinstance(counts, AnonymityVector):
            object.__setattr__(self, "pairs", counts.pairs)
            return
        if isinstance(counts, str | bytes) or not isinstance(counts, Iterable):
            raise InputError(f"an anonymity vector is made of counts, not of {type(counts).__name__}")
        items = counts.items() if isinstance(counts, Mapping) else enumerate(counts, start=1)
        whole = [
            (_whole(size, "a class size"), _whole(count, "a number of classes")) for size, count in items
        ]
        for size, count in whole:
            if size < 1:
                raise InputError(f"class sizes begin at 1, not {size}")
            if count < 0:
                raise InputError(f"the number of classes of size {size} cannot be negative: {count}")
        object.__setattr__(self, "pairs", tuple(sorted(pair for pair in whole if pair[1])))

    @classmethod
    def from_sizes(cls, sizes: Iterable[int]) -> "AnonymityVector":
        """The vector of classes with these sizes; a size of 0 is no class. Takes arrays of any shape, too.

        >>> AnonymityVector.from_sizes([4, 4, 5, 2, 0])
        AnonymityVector((0, 1, 0, 2, 1))
        """
        flat = sizes.ravel().tolist() if hasattr(sizes, "ravel") else sizes
        counts = Counter(flat)
        counts.pop(0, None)
        return cls(counts)

    @classmethod
    def from_rank(cls, population: int, rank: int) -> "AnonymityVector":
        """The vector at a place among all of its population, counted from 0 at the worst.

        >>> [str(AnonymityVector.from_rank(4, rank)) for rank in range(5)]
        ['(4)', '(2, 1)', '(1, 0, 1)', '(0, 2)', '(0, 0, 0, 1)']
        """
        from shoal.anonymity.partitions import unrank

        rank = _whole(rank, "a rank")
        vector = cls(dict(unrank(_whole(population, "a population"), rank)))
        vector.__dict__["rank"] = rank
        return vector

    def __len__(self) -> int:
        """The largest class size that occurs."""
        return self.pairs[-1][0] if self.pairs else 0

    def __bool__(self) -> bool:
        return bool(self.pairs)

    def __getitem__(self, size: int) -> int:
        """The number of classes of a size; sizes begin at 1 and never end."""
        if index(size) < 1:
            raise IndexError(f"class sizes begin at 1, not {size}")
        return self._counts.get(index(size), 0)

    def __iter__(self) -> Iterator[int]:
        """The counts from size 1 to the largest."""
        counts = self._counts
        return (counts.get(size, 0) for size in range(1, len(self) + 1))

    def __lt__(self, other: object) -> bool:
        if not isinstance(other, AnonymityVector):
            return NotImplemented
        return self._key < other._key

    @cached_property
    def _counts(self) -> dict[int, int]:
        return dict(self.pairs)

    @cached_property
    def _key(self) -> tuple[tuple[int, int], ...]:
        # Lexicographic without the zeros: a smaller first size is a larger vector, and a vector that ends is smaller.
        return tuple((-size, count) for size, count in self.pairs)

    def items(self) -> Iterator[tuple[int, int]]:
        """The sizes that occur with their number of classes, by rising size."""
        return iter(self.pairs)

    def to_dict(self) -> dict[int, int]:
        """Size → number of classes, for the sizes that occur, rising."""
        return dict(self.pairs)

    @cached_property
    def population(self) -> int:
        """The number of people."""
        return sum(size * count for size, count in self.pairs)

    @cached_property
    def classes(self) -> int:
        """The number of classes."""
        return sum(count for _, count in self.pairs)

    @property
    def k(self) -> int:
        """The size of the smallest class; 0 when there is nobody."""
        return self.pairs[0][0] if self.pairs else 0

    @property
    def people(self) -> dict[int, int]:
        """Size → number of people in classes of that size, for the sizes that occur.

        >>> AnonymityVector((9, 3)).people
        {1: 9, 2: 6}
        """
        return {size: size * count for size, count in self.pairs}

    def below(self, size: int) -> int:
        """The number of people in classes smaller than a size.

        >>> AnonymityVector((2, 3, 2, 4)).below(3)
        8
        """
        return sum(people for own, people in self.people.items() if own < size)

    @property
    def weighted_mean_size(self) -> float:
        """The mean size of a person's class: each size weighted by the people in it; 0 when there is nobody.

        >>> AnonymityVector((2, 0, 2)).weighted_mean_size
        2.5
        """
        people = self.population
        return sum(size * size * count for size, count in self.pairs) / people if people else 0.0

    @property
    def maximum_risk(self) -> float:
        """The highest chance to be singled out, 1/K; 0 when there is nobody."""
        return 1 / self.k if self.k else 0.0

    @property
    def average_risk(self) -> float:
        """The mean chance to be singled out, classes/people; 0 when there is nobody."""
        return self.classes / self.population if self.population else 0.0

    @cached_property
    def rank(self) -> int:
        """The exact place among all vectors of this population, counted from 0 at the worst: higher is better.

        >>> AnonymityVector((2, 3, 2, 4)).rank
        3157
        """
        from shoal.anonymity.partitions import ranks

        return ranks(self.population, [self.pairs])[0]

    @property
    def vectors(self) -> int:
        """How many vectors this population has: the ranks are 0 … vectors − 1.

        >>> AnonymityVector((2, 3, 2, 4)).vectors
        5604
        """
        from shoal.anonymity.partitions import partition_count

        return partition_count(self.population)

    def difference(self, other: "AnonymityVector") -> int:
        """How many places this vector stands above another: positive when this one is better.

        >>> AnonymityVector((0, 2)).difference(AnonymityVector((2, 1)))
        2
        """
        own, others = ranks([self, other])
        return own - others

    def distance(self, other: "AnonymityVector") -> int:
        """How many places lie between two vectors, whichever is better."""
        return abs(self.difference(other))

    def improvement(self, over: "AnonymityVector", base: "AnonymityVector") -> float:
        """What this vector gains over another, as a share of the rank of the base vector.

        The rank weighs the smallest classes overwhelmingly, so for large classes it says little: show K beside it.

        >>> random, base = AnonymityVector((24, 3)), AnonymityVector((2, 3, 2, 4))
        >>> round(AnonymityVector((9, 4, 3, 1)).improvement(random, base), 4)
        0.2008
        """
        own, others, bases = ranks([self, over, base])
        if bases == 0:
            raise InputError(
                "the improvement is not defined: in the base everybody is alone already, so its rank is 0"
            )
        return (own - others) / bases

    def improvement_counted_from_one(self, over: "AnonymityVector", base: "AnonymityVector") -> float:
        """The improvement with ranks counted from 1, so that it is defined for every base.

        The published experiments of Cabana Ramírez (2016) divide by the base's rank counted from 1; for
        populations of 25 and more the two hardly differ.
        """
        own, others, bases = ranks([self, over, base])
        return (own - others) / (bases + 1)

    def __str__(self) -> str:
        if len(self) <= _LONGEST_SHOWN_IN_FULL:
            return "(" + ", ".join(map(str, self)) + ")"
        shown = [f"{size}: {count}" for size, count in self.pairs]
        if len(shown) > _MOST_SIZES_SHOWN:
            shown[_MOST_SIZES_SHOWN - 1 : -1] = ["…"]
        return "{" + ", ".join(shown) + "}"

    def __repr__(self) -> str:
        if len(self) <= _LONGEST_SHOWN_IN_FULL:
            return f"AnonymityVector({tuple(self)})"
        return f"AnonymityVector({self})"


def ranks(vectors: Sequence[AnonymityVector]) -> list[int]:
    """The ranks of several vectors of one population, in one pass.

    >>> ranks([AnonymityVector((4,)), AnonymityVector((0, 2)), AnonymityVector((0, 0, 0, 1))])
    [0, 3, 4]
    """
    from shoal.anonymity import partitions

    populations = sorted({vector.population for vector in vectors})
    if len(populations) > 1:
        raise InputError(
            f"ranks compare vectors of one population, but these have {populations[0]:,} and {populations[-1]:,} people"
        )
    unknown = [vector for vector in vectors if "rank" not in vector.__dict__]
    if unknown:
        found = partitions.ranks(populations[0], [vector.pairs for vector in unknown])
        for vector, rank in zip(unknown, found):
            vector.__dict__["rank"] = rank
    return [vector.rank for vector in vectors]


def _whole(value: Any, what: str) -> int:
    try:
        return index(value)
    except TypeError:
        raise InputError(f"{what} must be a whole number, not {type(value).__name__}") from None
