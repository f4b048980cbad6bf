"""How good an assignment could possibly be: bounds on K that cost nothing, and the vector before any slot is given."""

from typing import Any

import numpy as np

from shoal.appointments.problem import Problem, vector


def largest_k(problem: Problem) -> int:
    """An upper bound on K: no crowd can do better than its fewest pieces, and slots below K would stay empty.

    >>> largest_k(Problem([10], [4, 4, 4]))
    3
    """
    return min(_fewest_pieces(problem), _usable_slots(problem))


def base_vector(problem: Problem) -> Any:
    """The anonymity vector before any slot is known: no assignment can have a better one.

    Splitting a crowd adds a crowd smaller than every crowd it changes, which is worse (Caballero, Sen and Nygård 2017).
    """
    return vector(problem.crowd_sizes[problem.crowd_sizes > 0])


def published_bound(problem: Problem) -> int:
    """The termination value of Moro Lías (2024, Algorithm 4.4): halve the smallest group until a part fits a slot.

    It is *not* an upper bound: of three or more parts the smallest can be larger than a half of a half.

    >>> published_bound(Problem([10], [4, 4, 4]))
    2
    """
    smallest, largest = int(problem.sizes.min()), int(problem.capacities.max())
    while smallest > largest:
        smallest //= 2
    return smallest


def safe_bound(problem: Problem) -> int:
    """The corrected termination value: a group needs at least ⌈size / largest slot⌉ pieces."""
    largest = int(problem.capacities.max())
    return min(size // -(-size // largest) for size in problem.sizes.tolist())


def smallest_pieces(problem: Problem) -> np.ndarray:
    """For each crowd the largest size its smallest piece can have; the size of the crowd if it may stay whole."""
    free = np.zeros(problem.pinned.shape[0], np.int64)
    np.add.at(free, problem.crowds, problem.sizes)
    everywhere = bool(problem.eligible.all())
    common = np.sort(problem.label_capacities)[::-1] if everywhere else None
    found = problem.crowd_sizes.copy()
    for crowd in np.flatnonzero(problem.crowd_sizes):
        people, total = int(free[crowd]), int(problem.crowd_sizes[crowd])
        pinned = problem.pinned[crowd]
        if common is not None and not pinned.any():
            found[crowd] = _pieces(people, common)
            continue
        members = problem.eligible[problem.crowds == crowd] & (problem.capacities > 0)
        seats = np.zeros(pinned.size, np.int64)
        np.add.at(seats, problem.labels, np.where(members.any(axis=0), problem.capacities, 0))
        best = (
            _level(people, pinned[pinned > 0], seats[pinned > 0])
            if pinned.any()
            else _pieces(people, np.sort(seats)[::-1])
        )
        if best < total or not _may_meet(problem, members, pinned):
            best = min(best, total // 2)
        found[crowd] = best
    return found


def _may_meet(problem: Problem, members: np.ndarray, pinned: np.ndarray) -> bool:
    """Whether all rows of a crowd can come to one label, that of its pinned people if there are any."""
    labels = np.flatnonzero(pinned) if pinned.any() else np.arange(pinned.size)
    return len(members) == 0 or any(members[:, problem.labels == label].any(axis=1).all() for label in labels)


def _fewest_pieces(problem: Problem) -> int:
    pieces = smallest_pieces(problem)
    return int(pieces[problem.crowd_sizes > 0].min())


def best_vector(problem: Problem) -> Any:
    """An anonymity vector that no assignment can beat: crowds stay whole, or fall in two where they must be split.

    A crowd whose smallest piece is at most t does no better than one piece of t and one of all others; and since the
    order of vectors does not change when the same is added on both sides, the best of every crowd together are a bound.

    >>> str(best_vector(Problem([10, 3], [4, 4, 4, 4], "vector")))
    '(0, 0, 2, 0, 0, 0, 1)'
    """
    sizes = problem.crowd_sizes
    pieces = smallest_pieces(problem)
    split = pieces < sizes
    return vector(np.concatenate([sizes[~split], pieces[split], (sizes - pieces)[split]]))


def best_value(problem: Problem) -> Any:
    """What no assignment can beat, in the words of the objective: the largest K, or the best vector."""
    return largest_k(problem) if problem.objective == "k" else best_vector(problem)


def _pieces(people: int, seats: np.ndarray) -> int:
    """The largest smallest piece of a crowd over labels with these seats, largest first."""
    covered = 0
    for number, room in enumerate(seats.tolist(), start=1):
        covered += room
        if covered >= people:
            return int(min(people // number, room))
    return 0


def _level(people: int, pinned: np.ndarray, seats: np.ndarray) -> int:
    """How high the lowest pinned cell of a crowd can be raised with this many more people."""
    low, high = int(pinned.min()), int(np.minimum(pinned + np.minimum(seats, people), pinned + people).min())
    while low < high:
        middle = (low + high + 1) // 2
        if int(np.maximum(middle - pinned, 0).sum()) <= people:
            low = middle
        else:
            high = middle - 1
    return low


def _usable_slots(problem: Problem) -> int:
    """The largest K at which the labels that can hold a piece of K have enough seats for everybody."""
    seats = problem.label_capacities
    # Where somebody is pinned, fewer than K newcomers can still make up a crowd of K.
    always = problem.pinned.any(axis=0)
    rooms = np.sort(seats[~always & (seats > 0)])
    lost, slack = 0, problem.slack
    for room in rooms.tolist():
        lost += room
        if lost > slack:
            return int(room)
    return int(problem.crowd_sizes.max())
