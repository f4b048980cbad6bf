"""Random instances of the published assignment experiments: group sizes and capacities alone."""

from dataclasses import dataclass

from shoal.errors import InputError
from shoal.runtime.seeds import Seeds

_DRAWN_AT_ONCE = 1024


@dataclass(frozen=True)
class Ranges:
    """From what numbers group sizes and capacities are drawn, both ends included."""

    min_group: int
    max_group: int
    min_capacity: int
    max_capacity: int

    @classmethod
    def unlimited(cls, population: int) -> "Ranges":
        """The ranges when none are given: every draw is below the population."""
        largest = max(1, population - 1)
        return cls(0, largest, 0, largest)


@dataclass(frozen=True)
class Instance:
    """How many people share each combination of quasi-identifiers, and how many each slot can take."""

    groups: tuple[int, ...]
    capacities: tuple[int, ...]


def instance(population: int, ranges: Ranges | None = None, *, seeds: Seeds | None = None) -> Instance:
    """A random instance by the rule of the published experiments (Cabana Ramírez, 2016).

    >>> made = instance(25, Ranges(3, 7, 3, 7), seeds=Seeds(1))
    >>> sum(made.groups), sum(made.capacities) >= 25
    (25, True)
    """
    ranges = ranges or Ranges.unlimited(population)
    seeds = seeds or Seeds()
    return Instance(
        groups(population, ranges.min_group, ranges.max_group, seeds=seeds.child("groups")),
        capacities(population, ranges.min_capacity, ranges.max_capacity, seeds=seeds.child("capacities")),
    )


def groups(population: int, smallest: int, largest: int, *, seeds: Seeds | None = None) -> tuple[int, ...]:
    """Group sizes drawn one after another until they make up the population.

    The last one is cut to fit. There are at most as many groups as people: the last that is possible takes all who
    are left, so it may be larger than ``largest``. With ``smallest = 0`` there are empty groups among them.
    """
    _check(population, smallest, largest)
    drawn = _draw_until(population, smallest, largest, most=population - 1, seeds=seeds or Seeds())
    rest = population - sum(drawn)
    if rest > 0:
        return (*drawn, rest)
    return (*drawn[:-1], drawn[-1] + rest) if drawn else ()


def capacities(
    population: int, smallest: int, largest: int, *, seeds: Seeds | None = None
) -> tuple[int, ...]:
    """Capacities drawn one after another until there is room for the population.

    With ``smallest = 0`` there are useless slots among them.
    """
    _check(population, smallest, largest)
    if largest < 1:
        raise InputError("slots must be able to hold somebody: the largest capacity is 0")
    return _draw_until(population, smallest, largest, most=None, seeds=seeds or Seeds())


def _draw_until(
    total: int, smallest: int, largest: int, *, most: int | None, seeds: Seeds
) -> tuple[int, ...]:
    """Numbers drawn until they add up to a total at least, or until there are enough of them."""
    generator = seeds.generator()
    found: list[int] = []
    so_far = 0
    while so_far < total:
        for number in generator.integers(smallest, largest, _DRAWN_AT_ONCE, endpoint=True).tolist():
            if so_far >= total or (most is not None and len(found) >= most):
                return tuple(found)
            found.append(number)
            so_far += number
    return tuple(found)


def _check(population: int, smallest: int, largest: int) -> None:
    if population < 0:
        raise InputError(f"a population cannot be negative: {population}")
    if not 0 <= smallest <= largest:
        raise InputError(f"a range must go up from 0 or more, not from {smallest} to {largest}")
