"""Kernels for blanks that match anything: who is compatible with whom, and which blanks can be taken back."""

import numpy as np

from shoal.runtime.kernels import kernel


@kernel
def match(labels: np.ndarray, blank: np.ndarray, one: int, other: int) -> bool:
    """Whether two pieces agree wherever both show something."""
    for column in range(labels.shape[1]):
        if (
            not blank[one, column]
            and not blank[other, column]
            and labels[one, column] != labels[other, column]
        ):
            return False
    return True


@kernel
def matching_people(labels: np.ndarray, blank: np.ndarray, people: np.ndarray) -> np.ndarray:
    """How many people every piece is compatible with, itself among them."""
    size = labels.shape[0]
    found = people.copy()
    for one in range(size):
        for other in range(one):
            if match(labels, blank, one, other):
                found[one] += people[other]
                found[other] += people[one]
    return found


@kernel
def parted(labels: np.ndarray, blank: np.ndarray, one: int, other: int, column: int) -> bool:
    """Whether two pieces match only because one of them is blank in a column that the other shows."""
    if one == other or blank[other, column] or labels[other, column] == labels[one, column]:
        return False
    return match(labels, blank, one, other)


@kernel
def take_back(
    labels: np.ndarray, blank: np.ndarray, people: np.ndarray, order: np.ndarray, k: int
) -> np.ndarray:
    """The blanks that stay when each, in this order, is taken back wherever nobody is left with fewer than k matches."""
    kept = blank.copy()
    size, columns = labels.shape
    counts = matching_people(labels, kept, people)
    for place in order:
        piece, column = place // columns, place % columns
        allowed, own = True, counts[piece]
        for other in range(size):
            if parted(labels, kept, piece, other, column):
                own -= people[other]
                if own < k or counts[other] - people[piece] < k:
                    allowed = False
                    break
        if not allowed:
            continue
        for other in range(size):
            if parted(labels, kept, piece, other, column):
                counts[other] -= people[piece]
        counts[piece] = own
        kept[piece, column] = False
    return kept


def warm_up() -> None:
    """Compile the kernels."""
    labels, blank = np.zeros((2, 1), dtype=np.int64), np.ones((2, 1), dtype=bool)
    take_back(labels, blank, np.ones(2, dtype=np.int64), np.zeros(1, dtype=np.int64), 1)
