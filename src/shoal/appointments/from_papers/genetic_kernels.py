"""Kernels of the genetic algorithm on assignment matrices (Moro Lías 2024, chapter 5).

A chromosome is the matrix itself and may break the rules; its key is (slots too full, rows wrong, −K), so that any
plan that obeys the rules is fitter than any that does not.
"""

from typing import NamedTuple

import numpy as np

from shoal.runtime.evolution.keys import fitter
from shoal.runtime.evolution.replacement import DISCARDED, steady_state
from shoal.runtime.evolution.selection import tournament
from shoal.runtime.kernels import kernel
from shoal.runtime.randomness import below, uniform


class Population(NamedTuple):
    """The members with their keys, and the fittest there ever was."""

    members: np.ndarray
    keys: np.ndarray
    best: np.ndarray
    best_key: np.ndarray


class Breeding(NamedTuple):
    """The problem, and how children are made."""

    sizes: np.ndarray
    capacities: np.ndarray
    by_rows: bool
    guided: bool
    chance: float
    repairing: bool


@kernel
def _up_to(state: np.ndarray, most: int) -> int:
    """A whole number, uniform in 0 … most, also for numbers beyond 2³¹."""
    return int(uniform(state) * float(most + 1))


@kernel
def judge(matrix: np.ndarray, sizes: np.ndarray, capacities: np.ndarray, key: np.ndarray) -> None:
    """Write the key of a matrix; K of an empty matrix is 0."""
    rows, slots = matrix.shape
    full, wrong, k = 0, 0, np.int64(0)
    for j in range(slots):
        load = np.int64(0)
        for i in range(rows):
            load += matrix[i, j]
        full += load > capacities[j]
    for i in range(rows):
        seated = np.int64(0)
        for j in range(slots):
            x = matrix[i, j]
            seated += x
            if x > 0 and (k == 0 or x < k):
                k = x
        wrong += seated != sizes[i]
    key[0], key[1], key[2] = full, wrong, -k


@kernel
def first_population(
    members: np.ndarray, keys: np.ndarray, sizes: np.ndarray, capacities: np.ndarray, state: np.ndarray
) -> None:
    """A first population: every entry uniform between nobody and as many as group and slot allow."""
    for member in range(members.shape[0]):
        for i in range(sizes.size):
            for j in range(capacities.size):
                members[member, i, j] = _up_to(state, min(sizes[i], capacities[j]))
        judge(members[member], sizes, capacities, keys[member])


@kernel
def cross(one: np.ndarray, other: np.ndarray, child: np.ndarray, by_rows: bool, state: np.ndarray) -> None:
    """Two cuts; what lies between comes from the other parent.

    By rows every row can be exchanged; by columns the last one never is, as in the published program.
    """
    child[:] = one
    extent = child.shape[0] + 1 if by_rows else child.shape[1]
    p, q = below(state, extent), below(state, extent)
    if p > q:
        p, q = q, p
    for line in range(p, q):
        if by_rows:
            child[line] = other[line]
        else:
            child[:, line] = other[:, line]


@kernel
def mutate(
    matrix: np.ndarray, sizes: np.ndarray, capacities: np.ndarray, guided: bool, state: np.ndarray
) -> None:
    """Change one entry: to anything, or (guided) to nobody 25 %, the whole group 50 %, anything 25 %."""
    i, j = below(state, sizes.size), below(state, capacities.size)
    draw = below(state, 4) if guided else 3
    if draw == 0:
        matrix[i, j] = 0
    elif draw <= 2:
        matrix[i, j] = sizes[i]
    else:
        matrix[i, j] = _up_to(state, min(sizes[i], capacities[j]))


@kernel
def repair(matrix: np.ndarray, sizes: np.ndarray, capacities: np.ndarray, state: np.ndarray) -> None:
    """Put one wrong row right as far as slots have room; no slot becomes too full by it."""
    rows, slots = matrix.shape
    load = np.zeros(slots, np.int64)
    seated = np.zeros(rows, np.int64)
    for i in range(rows):
        for j in range(slots):
            load[j] += matrix[i, j]
            seated[i] += matrix[i, j]
    wrong = 0
    for i in range(rows):
        wrong += seated[i] != sizes[i]
    if wrong == 0:
        return
    pick = below(state, wrong)
    row = 0
    for i in range(rows):
        if seated[i] != sizes[i]:
            if pick == 0:
                row = i
                break
            pick -= 1
    left = sizes[row] - seated[row]
    choice = np.empty(slots, np.int64)
    number = 0
    for j in range(slots):
        if (left > 0 and load[j] < capacities[j]) or (left < 0 and load[j] > 0):
            choice[number] = j
            number += 1
    while left != 0 and number > 0:
        place = below(state, number)
        j = choice[place]
        if left > 0:
            amount = min(left, capacities[j] - load[j])
            matrix[row, j] += amount
            load[j] += amount
            left -= amount
            drop = load[j] >= capacities[j]
        else:
            amount = min(-left, matrix[row, j])
            matrix[row, j] -= amount
            load[j] -= amount
            left += amount
            drop = matrix[row, j] == 0
        if drop:
            number -= 1
            choice[place] = choice[number]


@kernel
def generations(population: Population, breeding: Breeding, number: int, state: np.ndarray) -> None:
    """Some generations of the steady-state algorithm: one child each, in place of the least fit if it is fitter."""
    members, keys = population.members, population.keys
    sizes, capacities = breeding.sizes, breeding.capacities
    child = np.empty_like(members[0])
    key = np.empty(3, np.int64)
    for _ in range(number):
        one = tournament(state, keys, 2)
        other = tournament(state, keys, 2)
        cross(members[one], members[other], child, breeding.by_rows, state)
        if uniform(state) < breeding.chance:
            mutate(child, sizes, capacities, breeding.guided, state)
        if breeding.repairing:
            repair(child, sizes, capacities, state)
        judge(child, sizes, capacities, key)
        if fitter(key, population.best_key):
            population.best_key[:] = key
            population.best[:] = child
        place = steady_state(keys, key)
        if place != DISCARDED:
            members[place] = child
            keys[place] = key
