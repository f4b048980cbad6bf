"""The annealing kernel: pieces of crowds move between slots, and whoever is in the way moves back.

State is kept in plain arrays between two calls, so a run can be cut into chunks of any size without changing it.
"""

import math
from typing import NamedTuple

import numpy as np

from shoal.runtime.kernels import kernel
from shoal.runtime.randomness import below, uniform

# Columns of the scratch array that is kept between calls.
STEP, BAD, LEVEL, BELOW, AT, AT_BEST, OCCUPIED, FOUND = 0, 1, 2, 3, 4, 5, 6, 7


class Seating(NamedTuple):
    """A plan on the move and what makes a step cheap; ``best`` is the best plan met so far.

    ``occupied`` lists the entries of the matrix that hold somebody, and ``where`` says at which place of the list they are.
    """

    matrix: np.ndarray
    cells: np.ndarray
    room: np.ndarray
    best: np.ndarray
    occupied: np.ndarray
    where: np.ndarray
    memory: np.ndarray
    heat: np.ndarray
    state: np.ndarray
    crowds: np.ndarray
    labels: np.ndarray
    eligible: np.ndarray


class Cooling(NamedTuple):
    """What is aimed at, and how temperatures fall: geometrically from ``hot`` to ``cold`` over ``schedule`` steps.

    With a ``target`` the aim is that no cell is below it, and the search ends there; without, the aim is the anonymity
    vector, and crowds smaller than ``tau`` or so are what counts.
    """

    target: int
    tau: float
    schedule: int
    hot: float
    cold: float


@kernel
def _price(people: int, target: int, tau: float) -> float:
    """What an occupied cell costs: small crowds are dear, and every crowd costs a little."""
    if people == 0:
        return 0.0
    if target > 0:
        if people < target:
            return 0.3 + 0.7 * float(target - people) / float(target)
        return 0.01
    return math.exp(-float(people) / tau) + 0.02


@kernel
def _count(memory: np.ndarray, people: int, target: int, by: int) -> None:
    """Note that there is one cell more (or less) with this many people."""
    if 0 < people < target:
        memory[BAD] += by
    if 0 < people < memory[LEVEL]:
        memory[BELOW] += by
    elif people == memory[LEVEL]:
        memory[AT] += by


@kernel
def _change(seating: Seating, aim: Cooling, crowd: int, label: int, by: int) -> float:
    """Add people to a cell; returns the change in cost and keeps the counts that judge an improvement."""
    before = seating.cells[crowd, label]
    after = before + by
    seating.cells[crowd, label] = after
    _count(seating.memory, before, aim.target, -1)
    _count(seating.memory, after, aim.target, 1)
    return _price(after, aim.target, aim.tau) - _price(before, aim.target, aim.tau)


@kernel
def _seat(seating: Seating, row: int, slot: int, by: int) -> None:
    """Add people to an entry of the matrix and keep the list of occupied entries."""
    matrix, occupied, where, memory = seating.matrix, seating.occupied, seating.where, seating.memory
    entry = row * matrix.shape[1] + slot
    before = matrix[row, slot]
    matrix[row, slot] = before + by
    if before == 0 and by > 0:
        occupied[memory[OCCUPIED]] = entry
        where[entry] = memory[OCCUPIED]
        memory[OCCUPIED] += 1
    elif before > 0 and before + by == 0:
        memory[OCCUPIED] -= 1
        last = occupied[memory[OCCUPIED]]
        occupied[where[entry]] = last
        where[last] = where[entry]
        where[entry] = -1


def sorted_cells(cells: np.ndarray) -> np.ndarray:
    """The sizes of the occupied cells, smallest first."""
    people = cells.ravel()
    return np.sort(people[people > 0])


@kernel
def sorted_in_kernels(cells: np.ndarray) -> np.ndarray:
    """The same for kernels."""
    people = np.empty(cells.size, np.int64)
    size = 0
    for i in range(cells.shape[0]):
        for j in range(cells.shape[1]):
            if cells[i, j] > 0:
                people[size] = cells[i, j]
                size += 1
    # Shell's sort.
    gap = 1
    while gap < size // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for at in range(gap, size):
            value, place = people[at], at
            while place >= gap and people[place - gap] > value:
                people[place] = people[place - gap]
                place -= gap
            people[place] = value
        gap //= 3
    return people[:size].copy()


@kernel
def more_anonymous(first: np.ndarray, second: np.ndarray) -> bool:
    """Whether sorted cell sizes make a lexicographically smaller anonymity vector than others of the same sum."""
    for place in range(min(first.size, second.size)):
        if first[place] != second[place]:
            return first[place] > second[place]
    return False


@kernel
def _measure(best: np.ndarray, cells: np.ndarray, memory: np.ndarray) -> None:
    """Count again how the current cells compare with the smallest size of the best found."""
    level = best[0]
    memory[LEVEL] = level
    memory[BELOW], memory[AT], memory[AT_BEST] = 0, 0, 0
    for i in range(cells.shape[0]):
        for j in range(cells.shape[1]):
            if 0 < cells[i, j] < level:
                memory[BELOW] += 1
            elif cells[i, j] == level:
                memory[AT] += 1
    for people in best:
        if people == level:
            memory[AT_BEST] += 1


@kernel
def _keep_best(seating: Seating) -> None:
    """Write the plan down as the best one."""
    for i in range(seating.matrix.shape[0]):
        for j in range(seating.matrix.shape[1]):
            seating.best[i, j] = seating.matrix[i, j]


@kernel
def cool(seating: Seating, aim: Cooling, steps: int) -> int:
    """Some steps of annealing; ``best`` is overwritten when something better is found. Returns the steps done."""
    matrix, cells, room = seating.matrix, seating.cells, seating.room
    memory, heat, state, target = seating.memory, seating.heat, seating.state, aim.target
    crowds, labels, eligible = seating.crowds, seating.labels, seating.eligible
    rows, slots = matrix.shape
    best_cells = np.empty(0, np.int64)
    if target == 0:
        best_cells = _cells_of_best(seating)
        _measure(best_cells, cells, memory)
    ratio = (aim.cold / aim.hot) ** (1.0 / aim.schedule)
    if memory[STEP] == 0:
        heat[0] = aim.hot
    for done in range(steps):
        if target > 0 and memory[BAD] == 0:
            _keep_best(seating)
            memory[FOUND] = 1
            return done
        memory[STEP] += 1
        heat[0] *= ratio
        entry = seating.occupied[below(state, memory[OCCUPIED])]
        i, j = entry // slots, entry % slots
        crowd = crowds[i]
        x = matrix[i, j]
        t = below(state, slots)
        if uniform(state) < 0.5:
            # Half of the moves go where the crowd already is: pieces grow together.
            for step in range(slots):
                u = t + step
                if u >= slots:
                    u -= slots
                if u != j and cells[crowd, labels[u]] > 0 and eligible[i, u]:
                    t = u
                    break
        if t == j or not eligible[i, t]:
            continue
        free = room[t]
        other, back = -1, np.int64(0)
        amount = x
        draw = below(state, 8)
        if free >= x:
            if draw == 0 and x > 1:
                amount = 1 + np.int64(uniform(state) * float(x - 1))
            elif draw == 1 and target > 0 and x > target:
                amount = x - target
            elif draw == 2 and target > 0:
                lacking = target - cells[crowd, labels[t]]
                if 0 < lacking < x:
                    amount = lacking
        elif draw == 0 and free > 0:
            amount = free
        else:
            start = below(state, rows)
            for step in range(rows):
                e = start + step
                if e >= rows:
                    e -= rows
                if e != i and matrix[e, t] > 0 and eligible[e, j]:
                    other = e
                    break
            if other < 0:
                if free <= 0:
                    continue
                amount = free
            else:
                w = matrix[other, t]
                if draw <= 3:
                    back = w
                    if amount > free + w:
                        amount = free + w
                elif draw <= 5:
                    back = x - free
                    if back > w:
                        back = w
                        amount = free + w
                else:
                    # Exchange equal numbers.
                    amount = min(x, w)
                    back = amount
                if back - amount > room[j]:
                    continue
        if amount <= 0 or amount - back > free:
            continue
        change = _change(seating, aim, crowd, labels[j], -amount)
        change += _change(seating, aim, crowd, labels[t], amount)
        if back > 0:
            change += _change(seating, aim, crowds[other], labels[t], -back)
            change += _change(seating, aim, crowds[other], labels[j], back)
        if change > 0 and uniform(state) >= math.exp(-change / heat[0]):
            _change(seating, aim, crowd, labels[t], -amount)
            _change(seating, aim, crowd, labels[j], amount)
            if back > 0:
                _change(seating, aim, crowds[other], labels[j], -back)
                _change(seating, aim, crowds[other], labels[t], back)
            continue
        _seat(seating, i, j, -amount)
        _seat(seating, i, t, amount)
        if back > 0:
            _seat(seating, other, t, -back)
            _seat(seating, other, j, back)
        room[j] += amount - back
        room[t] += back - amount
        if target == 0 and memory[BELOW] == 0 and memory[AT] <= memory[AT_BEST]:
            current = sorted_in_kernels(cells)
            if more_anonymous(current, best_cells):
                best_cells = current
                _keep_best(seating)
                memory[FOUND] += 1
                _measure(best_cells, cells, memory)
    if target > 0 and memory[BAD] == 0:
        _keep_best(seating)
        memory[FOUND] = 1
    return steps


@kernel
def _cells_of_best(seating: Seating) -> np.ndarray:
    """The sorted cells of the best plan: those of the current one, with the difference applied."""
    cells = seating.cells.copy()
    for i in range(seating.best.shape[0]):
        for j in range(seating.best.shape[1]):
            cells[seating.crowds[i], seating.labels[j]] += seating.best[i, j] - seating.matrix[i, j]
    return sorted_in_kernels(cells)
