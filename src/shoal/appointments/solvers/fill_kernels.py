"""Kernels that seat everybody in one go: at random, greedily, best fit, and wrapped around the slots."""

import numpy as np

from shoal.runtime.kernels import kernel
from shoal.runtime.randomness import below, shuffle


@kernel
def complete(matrix: np.ndarray, sizes: np.ndarray, capacities: np.ndarray, eligible: np.ndarray) -> int:
    """Seat who is not seated yet, moving others along augmenting paths where needed; returns how many stay without.

    The matrix is changed in place. Ford and Fulkerson's argument: if a path of moves to a free seat exists, it is found.
    """
    rows, slots = matrix.shape
    room = capacities.copy()
    for j in range(slots):
        for i in range(rows):
            room[j] -= matrix[i, j]
    came_from = np.empty(slots, np.int64)
    moved_row = np.empty(slots, np.int64)
    queue = np.empty(slots, np.int64)
    missing = np.int64(0)
    for i in range(rows):
        left = sizes[i]
        for j in range(slots):
            left -= matrix[i, j]
        while left > 0:
            came_from[:] = -2
            head, tail, free = 0, 0, -1
            for j in range(slots):
                if eligible[i, j]:
                    came_from[j] = -1
                    moved_row[j] = i
                    queue[tail] = j
                    tail += 1
            while head < tail and free < 0:
                j = queue[head]
                head += 1
                if room[j] > 0:
                    free = j
                    break
                for r in range(rows):
                    if matrix[r, j] == 0:
                        continue
                    for t in range(slots):
                        if came_from[t] == -2 and eligible[r, t]:
                            came_from[t] = j
                            moved_row[t] = r
                            queue[tail] = t
                            tail += 1
            if free < 0:
                break
            amount = min(left, room[free])
            j = free
            while came_from[j] >= 0:
                amount = min(amount, matrix[moved_row[j], came_from[j]])
                j = came_from[j]
            room[free] -= amount
            j = free
            while True:
                matrix[moved_row[j], j] += amount
                if came_from[j] < 0:
                    break
                matrix[moved_row[j], came_from[j]] -= amount
                j = came_from[j]
            left -= amount
        missing += left
    return int(missing)


@kernel
def probe(sizes: np.ndarray, capacities: np.ndarray, eligible: np.ndarray, state: np.ndarray) -> np.ndarray:
    """Each person in turn draws a slot; if it is full (or not for them), the next one with a seat is taken."""
    rows, slots = sizes.size, capacities.size
    matrix = np.zeros((rows, slots), np.int64)
    room = capacities.copy()
    for i in range(rows):
        for _ in range(sizes[i]):
            first = below(state, slots)
            for step in range(slots):
                j = first + step
                if j >= slots:
                    j -= slots
                if room[j] > 0 and eligible[i, j]:
                    matrix[i, j] += 1
                    room[j] -= 1
                    break
    complete(matrix, sizes, capacities, eligible)
    return matrix


@kernel
def largest_slots(sizes: np.ndarray, capacities: np.ndarray, eligible: np.ndarray) -> np.ndarray:
    """The greedy rule of Cabana Ramírez (2016): the largest group first, over as few of the largest slots as hold it.

    Of the slots chosen the smallest are used up, and what is left goes to the largest of them. Ties go to the first.
    """
    rows, slots = sizes.size, capacities.size
    matrix = np.zeros((rows, slots), np.int64)
    room = capacities.copy()
    order = np.argsort(-sizes, kind="mergesort")
    chosen = np.empty(slots, np.bool_)
    for i in order:
        left = sizes[i]
        chosen[:] = False
        covered = np.int64(0)
        while covered < left:
            best = -1
            for j in range(slots):
                if not chosen[j] and eligible[i, j] and room[j] > 0 and (best < 0 or room[j] > room[best]):
                    best = j
            if best < 0:
                break
            chosen[best] = True
            covered += room[best]
        while left > 0:
            least, most = -1, -1
            for j in range(slots):
                if chosen[j] and room[j] > 0:
                    if least < 0 or room[j] < room[least]:
                        least = j
                    if most < 0 or room[j] > room[most]:
                        most = j
            if least < 0:
                break
            if room[least] <= left:
                matrix[i, least] += room[least]
                left -= room[least]
                room[least] = 0
            else:
                matrix[i, most] += left
                room[most] -= left
                left = 0
    complete(matrix, sizes, capacities, eligible)
    return matrix


@kernel
def _tightest(allowed: np.ndarray, here: np.ndarray, room: np.ndarray) -> int:
    """Of these slots the allowed one with the fewest seats left, but some; −1 if there is none."""
    best = -1
    for j in here:
        if allowed[j] and room[j] > 0 and (best < 0 or room[j] < room[best]):
            best = j
    return best


@kernel
def _seats_for(
    mine: np.ndarray,
    left: np.ndarray,
    here: np.ndarray,
    room: np.ndarray,
    eligible: np.ndarray,
    space: np.ndarray,
) -> int:
    """How many people of the rows these slots can take when the fullest are used first; ``space`` is scratch."""
    for j in here:
        space[j] = room[j]
    seated = np.int64(0)
    for i in mine:
        need = left[i]
        while need > 0:
            j = _tightest(eligible[i], here, space)
            if j < 0:
                break
            taken = min(need, space[j])
            space[j] -= taken
            need -= taken
            seated += taken
    return int(seated)


@kernel
def best_fit(
    sizes: np.ndarray,
    capacities: np.ndarray,
    crowds: np.ndarray,
    labels: np.ndarray,
    eligible: np.ndarray,
    pinned: np.ndarray,
    priority: np.ndarray,
) -> np.ndarray:
    """Crowds by priority: the tightest label that takes what is left of one, or all of the largest, and so on.

    Labels where the crowd has pinned people come first. ``priority`` orders the crowds, largest first.
    """
    rows, slots = sizes.size, capacities.size
    number_of_crowds, number_of_labels = pinned.shape
    matrix = np.zeros((rows, slots), np.int64)
    room = capacities.copy()
    scratch = np.zeros(slots, np.int64)
    left = sizes.copy()
    choices = np.zeros(rows, np.int64)
    for i in range(rows):
        for j in range(slots):
            choices[i] += eligible[i, j]
    # Rows by crowd, the choosiest first, and slots by label: where each begins in these lists.
    members = np.argsort(choices, kind="mergesort")
    members = members[np.argsort(crowds[members], kind="mergesort")]
    places = np.argsort(labels, kind="mergesort")
    crowd_begins = np.searchsorted(crowds[members], np.arange(number_of_crowds + 1))
    label_begins = np.searchsorted(labels[places], np.arange(number_of_labels + 1))
    space = np.zeros(number_of_labels, np.int64)
    for j in range(slots):
        space[labels[j]] += room[j]
    for crowd in np.argsort(-priority, kind="mergesort"):
        mine = members[crowd_begins[crowd] : crowd_begins[crowd + 1]]
        while True:
            need = np.int64(0)
            for i in mine:
                need += left[i]
            if need == 0:
                break
            best, best_seats, best_pinned = -1, 0, False
            for label in range(number_of_labels):
                if space[label] == 0:
                    continue
                here = places[label_begins[label] : label_begins[label + 1]]
                can = _seats_for(mine, left, here, room, eligible, scratch)
                if can == 0:
                    continue
                known = pinned[crowd, label] > 0
                if best >= 0:
                    whole, best_whole = can == need, best_seats == need
                    if best_whole and not whole:
                        continue
                    if whole and best_whole:
                        if best_pinned and not known:
                            continue
                        if best_pinned == known and space[label] >= space[best]:
                            continue
                    if not whole and not best_whole and can <= best_seats:
                        continue
                best, best_seats, best_pinned = label, can, known
            if best < 0:
                break
            here = places[label_begins[best] : label_begins[best + 1]]
            for i in mine:
                while left[i] > 0:
                    j = _tightest(eligible[i], here, room)
                    if j < 0:
                        break
                    taken = min(left[i], room[j])
                    matrix[i, j] += taken
                    room[j] -= taken
                    left[i] -= taken
                    space[best] -= taken
    complete(matrix, sizes, capacities, eligible)
    return matrix


def wrap_around(
    sizes: np.ndarray, capacities: np.ndarray, k: int, trials: int, state: np.ndarray
) -> tuple[int, np.ndarray]:
    """Fill the slots in a random order, cutting a group only where a slot ends, so that no piece is below k.

    The wrap-around rule of McNaughton (Scheduling with deadlines and loss functions, 1959) with pieces of at least k.
    Returns the trial that succeeded (from 1; 0 for none) and its matrix.
    """
    matrix = np.zeros((sizes.size, capacities.size), np.int64)
    return _wrap_around(sizes, capacities, k, trials, state, matrix), matrix


@kernel
def _wrap_around(
    sizes: np.ndarray, capacities: np.ndarray, k: int, trials: int, state: np.ndarray, matrix: np.ndarray
) -> int:
    # Machine code of kernels that return no arrays, and that cannot fail, is kept.
    groups, slots = sizes.size, capacities.size
    slack = capacities.sum() - sizes.sum()
    order = np.arange(slots)
    queue = np.arange(groups)
    left = np.empty(groups, np.int64)
    for trial in range(1, trials + 1):
        shuffle(state, order)
        shuffle(state, queue)
        matrix[:] = 0
        for i in range(groups):
            left[i] = sizes[i]
        waiting = groups  # the first ``waiting`` entries of queue are whole groups
        carried = np.int64(-1)
        spare = slack
        for j in order:
            if spare < 0:
                break
            r = capacities[j]
            if carried >= 0:
                x = left[carried]
                if x <= r:
                    if x < r and r - x < k and spare < r - x:
                        # Seats that would be lost cannot be: cut again if both parts stay large enough.
                        spare = np.int64(-1)
                        break
                    matrix[carried, j] = x
                    left[carried] = 0
                    carried = np.int64(-1)
                    r -= x
                else:
                    used = np.int64(0)
                    if r >= k and x - r >= k:
                        used = r
                    elif x >= 2 * k and x - k <= r:
                        used = x - k
                    matrix[carried, j] = used
                    left[carried] -= used
                    spare -= r - used
                    continue
            while r >= k and waiting > 0:
                pick, cut = -1, False
                for place in range(waiting):
                    x = left[queue[place]]
                    if x == r:
                        pick, cut = place, False
                        break
                    if pick < 0:
                        if x <= r - k:
                            pick, cut = place, False
                        elif x > r and x - r >= k:
                            pick, cut = place, True
                if pick < 0:
                    break
                i = queue[pick]
                waiting -= 1
                queue[pick], queue[waiting] = queue[waiting], queue[pick]
                used = r if cut else left[i]
                matrix[i, j] = used
                left[i] -= used
                r -= used
                if cut:
                    carried = i
            if r == 0:
                continue
            # No group ends exactly here: lose as few seats as possible, by a whole group or by a cut leaving k.
            best, best_used, best_cut = -1, np.int64(0), False
            if carried < 0:
                for place in range(waiting):
                    x = left[queue[place]]
                    if x <= r and x > best_used:
                        best, best_used, best_cut = place, x, False
                    elif x >= 2 * k and x - k <= r and x - k > best_used:
                        best, best_used, best_cut = place, x - k, True
            if best >= 0:
                i = queue[best]
                waiting -= 1
                queue[best], queue[waiting] = queue[waiting], queue[best]
                matrix[i, j] = best_used
                left[i] -= best_used
                r -= best_used
                if best_cut:
                    carried = i
            spare -= r
        if spare >= 0 and carried < 0 and waiting == 0:
            return trial
    return 0
