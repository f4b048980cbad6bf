"""Hardness made visible: partition problems turned into seating problems, with certificates in both directions.

Partition → Equipartition → seating with K (Moro Lías 2024, chapter 3), with the guards the printed reduction lacks: a multiset
of odd size or odd sum has no equipartition, but its unguarded image may have a seating.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from shoal.errors import InputError


@dataclass(frozen=True)
class Question:
    """Whether the groups can be seated in the rooms with no piece below ``k``.

    ``shift`` turns a number of the multiset into its group size; ``None`` where the answer is no from the start.
    """

    groups: tuple[int, ...]
    capacities: tuple[int, int]
    k: int
    shift: int | None = None


NO = Question((3, 3), (4, 2), 3)


def partition_to_equipartition(numbers: Sequence[int], padding: int = 1) -> list[int]:
    """A multiset that has an equipartition exactly if the given one has a partition.

    >>> partition_to_equipartition([1, 2, 3, 3, 3])
    [2, 3, 4, 4, 4, 1, 1, 1, 1, 1]
    """
    numbers = _positive(numbers)
    if padding < 1:
        raise InputError(f"the padding must be at least 1, not {padding}")
    return [number + padding for number in numbers] + [padding] * len(numbers)


def equipartition_to_seating(numbers: Sequence[int]) -> Question:
    """A seating problem whose answer is yes exactly if the multiset has an equipartition.

    >>> equipartition_to_seating([1, 2, 3, 4])
    Question(groups=(5, 6, 7, 8), capacities=(13, 13), k=5, shift=4)
    >>> equipartition_to_seating([1, 1, 4]) is NO
    True
    """
    numbers = _positive(numbers)
    if len(numbers) % 2 or sum(numbers) % 2:
        return NO
    k = sum(numbers) // 2
    shift = k - min(numbers)
    groups = tuple(number + shift for number in numbers)
    half = sum(groups) // 2
    return Question(groups, (half, half), k, shift)


def partition_to_seating(numbers: Sequence[int], padding: int = 1) -> Question:
    """A seating problem whose answer is yes exactly if the multiset can be parted into halves of equal sum.

    >>> partition_to_seating([1, 1, 4]).groups
    (7, 7, 10, 6, 6, 6)
    """
    return equipartition_to_seating(partition_to_equipartition(numbers, padding))


def seating_of(question: Question, one: Sequence[int], other: Sequence[int]) -> list[list[int]]:
    """The seating that an equipartition (two lists of numbers) stands for: side one in the first room.

    >>> seating_of(equipartition_to_seating([1, 2, 3, 4]), [1, 4], [2, 3])
    [[5, 0], [0, 6], [0, 7], [8, 0]]
    """
    if question.shift is None:
        raise InputError("this question has no certificate")
    waiting = [number + question.shift for number in one]
    matrix = []
    for size in question.groups:
        if size in waiting:
            waiting.remove(size)
            matrix.append([size, 0])
        else:
            matrix.append([0, size])
    if waiting or sorted(number + question.shift for number in [*one, *other]) != sorted(question.groups):
        raise InputError("the two sides are not the numbers of the question")
    return matrix


def equipartition_of(question: Question, matrix: Sequence[Sequence[int]]) -> tuple[list[int], list[int]]:
    """The equipartition that a seating with no split group stands for.

    >>> equipartition_of(equipartition_to_seating([1, 2, 3, 4]), [[5, 0], [0, 6], [0, 7], [8, 0]])
    ([1, 4], [2, 3])
    """
    if question.shift is None:
        raise InputError("this question has no certificate")
    sides: tuple[list[int], list[int]] = ([], [])
    for size, row in zip(question.groups, matrix, strict=True):
        if sorted(row) != [0, size]:
            raise InputError("a group is split, so this is no certificate")
        sides[0 if row[0] else 1].append(size - question.shift)
    return sides


def pad(
    numbers: Sequence[int], one: Sequence[int], other: Sequence[int], padding: int = 1
) -> tuple[list[int], list[int]]:
    """The equipartition that a partition of the numbers stands for.

    >>> pad([1, 2, 3], [1, 2], [3])
    ([2, 3, 1], [4, 1, 1])
    """
    if sorted([*one, *other]) != sorted(numbers):
        raise InputError("the two sides are not the numbers of the question")
    first, second = (
        [number + padding for number in side] + [padding] * (len(numbers) - len(side))
        for side in (one, other)
    )
    return first, second


def unpad(one: Sequence[int], other: Sequence[int], padding: int = 1) -> tuple[list[int], list[int]]:
    """The partition that an equipartition of the padded numbers stands for.

    >>> unpad([2, 3, 1], [4, 1, 1])
    ([1, 2], [3])
    """
    return (
        [number - padding for number in one if number != padding],
        [number - padding for number in other if number != padding],
    )


@dataclass(frozen=True)
class Answer:
    """Whether a plan with the K asked for exists: yes, no, or unknown; and for a yes the two halves of the numbers."""

    k_required: int
    yes: bool | None
    halves: tuple[list[int], list[int]] | None = None

    def __str__(self) -> str:
        asked = f"a plan with K {self.k_required}"
        if self.yes is None:
            return f"unknown: no {asked[2:]} was found, and none is ruled out"
        return f"yes, there is {asked}" if self.yes else f"no, there is no {asked[2:]}: proved"


def answer(
    name: str,
    numbers: Sequence[int],
    padding: int,
    k_required: int,
    k: int,
    k_bound: int,
    matrix: Sequence[Sequence[int]],
) -> Answer:
    """What a plan says of the question it was made for: it holds K people or more, or no plan can.

    >>> question = equipartition_to_seating([1, 2, 3, 4])
    >>> answer("equipartition", [1, 2, 3, 4], 1, 5, 5, 5, [[5, 0], [0, 6], [0, 7], [8, 0]]).halves
    ([1, 4], [2, 3])
    >>> str(answer("equipartition", [1, 1, 4], 1, 3, 2, 2, [[2, 1], [2, 1]]))
    'no, there is no plan with K 3: proved'
    """
    if k < k_required:
        return Answer(k_required, yes=False if k_bound < k_required else None)
    if name == "partition":
        question = partition_to_seating(numbers, padding)
        return Answer(k_required, yes=True, halves=unpad(*equipartition_of(question, matrix), padding))
    if name == "equipartition":
        return Answer(
            k_required, yes=True, halves=equipartition_of(equipartition_to_seating(numbers), matrix)
        )
    return Answer(k_required, yes=True)


def _positive(numbers: Sequence[int]) -> list[int]:
    found = [int(number) for number in numbers]
    if not found or min(found) < 1:
        raise InputError("the numbers of a partition problem must be 1 or more, and there must be some")
    return found
