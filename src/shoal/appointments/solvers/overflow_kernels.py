"""The kernel of overflowing slots: pieces never below K are moved, exchanged, cut and shifted until nobody is without a seat.

State is kept in plain arrays between two calls, so a run can be cut into chunks of any size without changing it.
"""

import math
from typing import NamedTuple

import numpy as np

from shoal.runtime.kernels import kernel
from shoal.runtime.randomness import below, uniform

# Columns of the scratch array that is kept between calls.
STEP, OVERFLOW = 0, 1

# Of the eight draws of a step: this many exchange two pieces, move one, and shift people between two pieces of a crowd;
# the others cut a piece in two. What cannot be done is a move.
_EXCHANGES, _MOVES, _SHIFTS = 3, 1, 2

# How many pieces are drawn in the hope for one in a slot that is not exactly full.
_DRAWS = 3


class Crowding(NamedTuple):
    """A plan with slots that may hold too many: ``where`` lists the ``number`` of slots in which a crowd has a piece."""

    matrix: np.ndarray
    where: np.ndarray
    number: np.ndarray
    load: np.ndarray
    capacities: np.ndarray
    memory: np.ndarray
    heat: np.ndarray
    state: np.ndarray


class Relief(NamedTuple):
    """The smallest piece allowed, and temperatures that fall geometrically from ``hot`` to ``cold`` over ``schedule`` steps."""

    k: int
    schedule: int
    hot: float
    cold: float


@kernel
def _too_many(people: int, seats: int) -> int:
    return people - seats if people > seats else 0


@kernel
def _relief(crowding: Crowding, one: int, other: int, amount: int) -> int:
    """By how much the people without a seat become more when so many go from one slot to the other."""
    load, seats = crowding.load, crowding.capacities
    return int(
        _too_many(load[one] - amount, seats[one])
        - _too_many(load[one], seats[one])
        + _too_many(load[other] + amount, seats[other])
        - _too_many(load[other], seats[other])
    )


@kernel
def _fitting(crowding: Crowding, one: int, other: int, low: int, high: int) -> int:
    """How many should go from one slot to the other for one of them, drawn at random, to be full; between low and high."""
    if uniform(crowding.state) < 0.5:
        amount = crowding.load[one] - crowding.capacities[one]
    else:
        amount = crowding.capacities[other] - crowding.load[other]
    return int(min(max(amount, low), high))


@kernel
def _leave(crowding: Crowding, row: int, position: int) -> None:
    """Forget the slot at a place of the list of a crowd."""
    crowding.number[row] -= 1
    crowding.where[row, position] = crowding.where[row, crowding.number[row]]


@kernel
def _enter(crowding: Crowding, row: int, slot: int) -> None:
    """Note a slot in which a crowd has nobody yet."""
    crowding.where[row, crowding.number[row]] = slot
    crowding.number[row] += 1


@kernel
def relieve(crowding: Crowding, aim: Relief, steps: int) -> int:
    """Some steps of annealing on the number of people without a seat, which ends at 0. Returns the steps done."""
    matrix, where, number, load = crowding.matrix, crowding.where, crowding.number, crowding.load
    memory, heat, state, k = crowding.memory, crowding.heat, crowding.state, aim.k
    seats = crowding.capacities
    rows, slots = matrix.shape
    ratio = (aim.cold / aim.hot) ** (1.0 / aim.schedule)
    if memory[STEP] == 0:
        heat[0] = aim.hot
    for done in range(steps):
        if memory[OVERFLOW] == 0:
            return done
        memory[STEP] += 1
        heat[0] *= ratio
        i, place, j = np.int64(0), np.int64(0), np.int64(0)
        for _ in range(_DRAWS):
            i = below(state, rows)
            place = below(state, number[i])
            j = where[i, place]
            if load[j] != seats[j]:
                break
        x = matrix[i, j]
        # The net number of people who go from j to t, and the crowd and place of who comes back.
        amount, t = x, j
        other, back = np.int64(-1), np.int64(-1)
        draw = below(state, 8)
        if draw < _EXCHANGES:
            other = below(state, rows)
            back = below(state, number[other])
            t = where[other, back]
            if other == i or matrix[i, t] > 0 or matrix[other, j] > 0:
                continue
            amount = x - matrix[other, t]
        elif draw >= _EXCHANGES + _MOVES and draw < _EXCHANGES + _MOVES + _SHIFTS and number[i] > 1:
            t = where[i, below(state, number[i])]
            amount = np.int64(_fitting(crowding, j, t, k - matrix[i, t], x - k))
        else:
            t = below(state, slots)
            if draw >= _EXCHANGES + _MOVES and x >= 2 * k and matrix[i, t] == 0:
                amount = np.int64(_fitting(crowding, j, t, k, x - k))
        if t == j:
            continue
        change = _relief(crowding, j, t, amount)
        if change > 0 and uniform(state) >= math.exp(-float(change) / heat[0]):
            continue
        memory[OVERFLOW] += change
        load[j] -= amount
        load[t] += amount
        if other >= 0:
            matrix[i, j], matrix[other, j] = 0, matrix[other, t]
            matrix[i, t], matrix[other, t] = x, 0
            where[i, place], where[other, back] = t, j
            continue
        if amount == x:
            _leave(crowding, i, place)
        if matrix[i, t] == 0:
            _enter(crowding, i, t)
        matrix[i, j] -= amount
        matrix[i, t] += amount
    return steps
