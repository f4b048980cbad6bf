"""A grouping as a chromosome, and the operators that make new ones of old.

The encoding is that of Falkenauer's grouping genetic algorithm (Genetic Algorithms and Grouping Problems, 1998): an object
part with the group of each attribute, and a group part that lists the groups, on which crossover works. The operators are
those of GOMM.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from shoal.microdata.grouping.problem import Partition
from shoal.runtime.randomness import below, shuffle

# Names of groups in the written form; more groups than these are written as numbers by nobody but tests.
_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"


@dataclass(frozen=True)
class Chromosome:
    """The group of each attribute, and the groups in the order that crossover sees.

    >>> chromosome = Chromosome.read("ABABA|AB")
    >>> chromosome.objects, chromosome.groups, chromosome.partition
    ((0, 1, 0, 1, 0), (0, 1), (21, 10))
    >>> str(chromosome)
    'ABABA|AB'
    """

    objects: tuple[int, ...]
    groups: tuple[int, ...]

    @classmethod
    def of(cls, objects: Sequence[int]) -> "Chromosome":
        """With groups 0, 1, … in the order in which the attributes meet them."""
        names: dict[int, int] = {}
        renamed = tuple(names.setdefault(group, len(names)) for group in objects)
        return cls(renamed, tuple(range(len(names))))

    @classmethod
    def read(cls, text: str) -> "Chromosome":
        """From the written form, one letter for each group."""
        objects, _, groups = text.partition("|")
        return cls(tuple(map(_LETTERS.index, objects)), tuple(map(_LETTERS.index, groups)))

    def __str__(self) -> str:
        return "".join(_LETTERS[g] for g in self.objects) + "|" + "".join(_LETTERS[g] for g in self.groups)

    @property
    def partition(self) -> Partition:
        """The groups as sets of attributes, whatever they are called."""
        masks: dict[int, int] = {}
        for attribute, group in enumerate(self.objects):
            masks[group] = masks.get(group, 0) | 1 << attribute
        return tuple(masks.values())

    def members(self, group: int) -> list[int]:
        """The attributes of a group."""
        return [attribute for attribute, own in enumerate(self.objects) if own == group]

    def site(self, low: int, high: int) -> tuple[int, ...]:
        """The groups from one place of the group part to another, both included."""
        return self.groups[low : high + 1]


def random_chromosome(state: np.ndarray, attributes: int) -> Chromosome:
    """Each attribute gets one of as many groups as there are attributes."""
    return Chromosome.of([int(below(state, attributes)) for _ in range(attributes)])


def crossed(giver: Chromosome, site: Sequence[int], other: Chromosome) -> Chromosome:
    """The giver's groups of its site, and everything else as the other has it.

    Groups are renamed in the order in which they come in, so that equal names of the parents do not merge.

    >>> one, two = Chromosome.read("ABCAB|ABC"), Chromosome.read("DDDEE|DE")
    >>> str(crossed(one, one.site(1, 2), two)), str(crossed(two, two.site(0, 0), one))
    ('CABDA|ABCD', 'AAABC|ABC')
    """
    names: dict[tuple[bool, int], int] = {(True, group): place for place, group in enumerate(site)}
    objects = []
    for own, others in zip(giver.objects, other.objects, strict=True):
        key = (True, own) if (True, own) in names else (False, others)
        objects.append(names.setdefault(key, len(names)))
    return Chromosome(tuple(objects), tuple(range(len(names))))


def crossover(state: np.ndarray, one: Chromosome, two: Chromosome) -> list[Chromosome]:
    """Two children, each with a stretch of one parent's groups in the other parent."""
    sites = [parent.site(*_stretch(state, len(parent.groups))) for parent in (one, two)]
    return [crossed(one, sites[0], two), crossed(two, sites[1], one)]


def _stretch(state: np.ndarray, length: int) -> tuple[int, int]:
    first, second = int(below(state, length)), int(below(state, length))
    return min(first, second), max(first, second)


def group_create(state: np.ndarray, parent: Chromosome) -> list[Chromosome]:
    """A new group of a random subset, whose size is uniform as well: so that large groups arise in one step."""
    n = len(parent.objects)
    order = np.arange(n)
    shuffle(state, order)
    chosen = order[: 1 + int(below(state, n))].tolist()
    return [created(parent, chosen)]


def created(parent: Chromosome, chosen: Sequence[int]) -> Chromosome:
    """The parent with these attributes in a group of their own."""
    objects = list(parent.objects)
    for attribute in chosen:
        objects[attribute] = max(parent.groups) + 1
    return Chromosome.of(objects)


def group_eliminate(state: np.ndarray, parent: Chromosome) -> list[Chromosome]:
    """One group goes, and its attributes are spread over the others; an only group stays."""
    if len(parent.groups) == 1:
        return [parent]
    gone = parent.groups[int(below(state, len(parent.groups)))]
    left = tuple(group for group in parent.groups if group != gone)
    return [
        Chromosome(
            tuple(left[int(below(state, len(left)))] if g == gone else g for g in parent.objects), left
        )
    ]


def group_split(state: np.ndarray, parent: Chromosome) -> list[Chromosome]:
    """One group falls into two halves; a group of one stays."""
    group = parent.groups[int(below(state, len(parent.groups)))]
    members = np.array(parent.members(group))
    if members.size == 1:
        return [parent]
    shuffle(state, members)
    leaving = set(members[: members.size // 2].tolist())
    new = max(parent.groups) + 1
    objects = tuple(new if attribute in leaving else g for attribute, g in enumerate(parent.objects))
    return [Chromosome(objects, (*parent.groups, new))]


def element_swap(state: np.ndarray, parent: Chromosome) -> list[Chromosome]:
    """Two attributes change places."""
    n = len(parent.objects)
    if n == 1:
        return [parent]
    one = int(below(state, n))
    other = (one + 1 + int(below(state, n - 1))) % n
    objects = list(parent.objects)
    objects[one], objects[other] = objects[other], objects[one]
    return [Chromosome(tuple(objects), parent.groups)]


def element_move(state: np.ndarray, parent: Chromosome) -> list[Chromosome]:
    """One attribute goes to another group; where there is only one, nothing happens."""
    if len(parent.groups) == 1:
        return [parent]
    attribute = int(below(state, len(parent.objects)))
    others = [group for group in parent.groups if group != parent.objects[attribute]]
    objects = list(parent.objects)
    objects[attribute] = others[int(below(state, len(others)))]
    return [Chromosome(tuple(objects), tuple(group for group in parent.groups if group in objects))]
