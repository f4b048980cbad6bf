"""The annealing kernel: pieces of crowds move between slots, and whoever is in the way moves back.

State is kept in plain arrays between two calls, so a run can be cut into chunks of any size without changing it.
"""

import math

import numpy as np

from shoal.search.kernels import kernel
from shoal.search.randomness import below, uniform

# Columns of the scratch array that is kept between calls.
STEP, BAD, LEVEL, BELOW, AT, AT_BEST, OCCUPIED, FOUND = 0, 1, 2, 3, 4, 5, 6, 7


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
def _change(
    cells: np.ndarray, crowd: int, label: int, by: int, target: int, tau: float, memory: np.ndarray
) -> float:
    """Add people to a cell; returns the change in cost and keeps the counts that judge an improvement."""
    before = cells[crowd, label]
    after = before + by
    cells[crowd, label] = after
    level = memory[LEVEL]
    if 0 < before < target:
        memory[BAD] -= 1
    if 0 < after < target:
        memory[BAD] += 1
    if 0 < before < level:
        memory[BELOW] -= 1
    elif before == level:
        memory[AT] -= 1
    if 0 < after < level:
        memory[BELOW] += 1
    elif after == level:
        memory[AT] += 1
    return _price(after, target, tau) - _price(before, target, tau)


@kernel
def _place(
    matrix: np.ndarray,
    row: int,
    slot: int,
    by: int,
    occupied: np.ndarray,
    where: np.ndarray,
    memory: np.ndarray,
) -> None:
    """Add people to an entry of the matrix and keep the list of occupied entries."""
    slots = matrix.shape[1]
    entry = row * slots + slot
    before = matrix[row, slot]
    matrix[row, slot] = before + by
    if before == 0 and by > 0:
        occupied[memory[OCCUPIED]] = entry
        where[entry] = memory[OCCUPIED]
        memory[OCCUPIED] += 1
    elif before > 0 and before + by == 0:
        last = occupied[memory[OCCUPIED] - 1]
        place = where[entry]
        occupied[place] = last
        where[last] = place
        where[entry] = -1
        memory[OCCUPIED] -= 1


@kernel
def sorted_cells(cells: np.ndarray) -> np.ndarray:
    """The sizes of the occupied cells, smallest first."""
    found = np.empty(cells.size, np.int64)
    number = 0
    for crowd in range(cells.shape[0]):
        for label in range(cells.shape[1]):
            if cells[crowd, label] > 0:
                found[number] = cells[crowd, label]
                number += 1
    return np.sort(found[:number])


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
    memory[BELOW] = 0
    memory[AT] = 0
    memory[AT_BEST] = 0
    for size in best:
        if size == level:
            memory[AT_BEST] += 1
    for crowd in range(cells.shape[0]):
        for label in range(cells.shape[1]):
            people = cells[crowd, label]
            if 0 < people < level:
                memory[BELOW] += 1
            elif people == level:
                memory[AT] += 1


@kernel
def cool(
    matrix: np.ndarray,
    cells: np.ndarray,
    room: np.ndarray,
    crowds: np.ndarray,
    labels: np.ndarray,
    eligible: np.ndarray,
    best: np.ndarray,
    memory: np.ndarray,
    occupied: np.ndarray,
    where: np.ndarray,
    heat: np.ndarray,
    state: np.ndarray,
    target: int,
    tau: float,
    steps: int,
    schedule: int,
    hot: float,
    cold: float,
) -> int:
    """Some steps of annealing; ``best`` is overwritten when something better is found. Returns the steps done.

    With a ``target`` the aim is that no cell is below it, and the search ends there; without, the aim is the anonymity
    vector. Temperatures fall geometrically from ``hot`` to ``cold`` over ``schedule`` steps.
    """
    rows, slots = matrix.shape
    best_cells = np.empty(0, np.int64)
    if target == 0:
        best_cells = _cells_of(best, cells, matrix, crowds, labels)
        _measure(best_cells, cells, memory)
    ratio = (cold / hot) ** (1.0 / schedule)
    if memory[STEP] == 0:
        heat[0] = hot
    for done in range(steps):
        if target > 0 and memory[BAD] == 0:
            best[:] = matrix
            memory[FOUND] = 1
            return done
        memory[STEP] += 1
        heat[0] *= ratio
        entry = occupied[below(state, memory[OCCUPIED])]
        i, j = entry // slots, entry % slots
        crowd = crowds[i]
        x = matrix[i, j]
        t = below(state, slots)
        if next_half(state):
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
        change = _change(cells, crowd, labels[j], -amount, target, tau, memory)
        change += _change(cells, crowd, labels[t], amount, target, tau, memory)
        if back > 0:
            change += _change(cells, crowds[other], labels[t], -back, target, tau, memory)
            change += _change(cells, crowds[other], labels[j], back, target, tau, memory)
        if change > 0 and uniform(state) >= math.exp(-change / heat[0]):
            _change(cells, crowd, labels[t], -amount, target, tau, memory)
            _change(cells, crowd, labels[j], amount, target, tau, memory)
            if back > 0:
                _change(cells, crowds[other], labels[j], -back, target, tau, memory)
                _change(cells, crowds[other], labels[t], back, target, tau, memory)
            continue
        _place(matrix, i, j, -amount, occupied, where, memory)
        _place(matrix, i, t, amount, occupied, where, memory)
        if back > 0:
            _place(matrix, other, t, -back, occupied, where, memory)
            _place(matrix, other, j, back, occupied, where, memory)
        room[j] += amount - back
        room[t] += back - amount
        if target == 0 and memory[BELOW] == 0 and memory[AT] <= memory[AT_BEST]:
            current = sorted_cells(cells)
            if more_anonymous(current, best_cells):
                best_cells = current
                best[:] = matrix
                memory[FOUND] += 1
                _measure(best_cells, cells, memory)
    if target > 0 and memory[BAD] == 0:
        best[:] = matrix
        memory[FOUND] = 1
    return steps


@kernel
def next_half(state: np.ndarray) -> bool:
    """Heads or tails."""
    return uniform(state) < 0.5


@kernel
def _cells_of(
    best: np.ndarray, cells: np.ndarray, matrix: np.ndarray, crowds: np.ndarray, labels: np.ndarray
) -> np.ndarray:
    """The sorted cells of another matrix: those of the current one, with the difference applied."""
    other = cells.copy()
    for i in range(best.shape[0]):
        for j in range(best.shape[1]):
            other[crowds[i], labels[j]] += best[i, j] - matrix[i, j]
    return sorted_cells(other)
