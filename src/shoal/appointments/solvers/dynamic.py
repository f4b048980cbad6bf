"""The best anonymity vector of small crowds by dynamic programming over the seats that are left.

The order of vectors does not change when the same is added to both, so of all ways to reach the same seats only the best
counts. An incumbent cuts off what cannot end better: for up to a hundred people this takes less than a second.
"""

import numpy as np

from shoal.appointments.problem import Problem
from shoal.appointments.solvers.dynamic_kernels import Ahead, Layer, enter, expand
from shoal.runtime import Run

MOST_SEATS, MOST_SLOTS, MOST_STATES, MOST_PEOPLE = 255, 24, 1 << 19, 250


def fits(problem: Problem) -> bool:
    """Whether the dynamic programme can take the problem at all."""
    return bool(
        problem.plain
        and problem.slots <= MOST_SLOTS
        and int(problem.capacities.max()) <= MOST_SEATS
        and int(problem.sizes.max()) <= MOST_SEATS
        and problem.people <= MOST_PEOPLE
    )


def _layer(slots: int, length: int, room: int) -> Layer:
    """A layer without states."""
    return Layer(
        keys=np.zeros((room, slots), np.uint8),
        vectors=np.zeros((room, length), np.uint8),
        parents=np.zeros(room, np.int32),
        pieces=np.zeros((room, slots), np.uint8),
        number=np.zeros(1, np.int64),
        table=np.full(4 * room, -1, np.int32),
    )


def _grown(layer: Layer) -> Layer:
    """The same layer with twice the room."""
    room, number = 2 * layer.keys.shape[0], int(layer.number[0])
    larger = _layer(layer.keys.shape[1], layer.vectors.shape[1], room)
    for new, old in zip(larger[:4], layer[:4], strict=True):
        new[:number] = old[:number]
    larger.number[0] = number
    enter(larger)
    return larger


def improve(problem: Problem, matrix: np.ndarray, run: Run) -> tuple[np.ndarray, bool]:
    """The best assignment and whether it is proved to be; work counts states.

    Only what is strictly better than the given assignment is kept, so finding nothing proves that one.
    """
    order = np.argsort(-problem.sizes, kind="stable")
    sizes = problem.sizes[order]
    length = int(sizes.max())
    incumbent = _counts(problem.cells(matrix)[problem.cells(matrix) > 0], length)
    floor = int(np.flatnonzero(incumbent)[0]) + 1
    layer = _layer(problem.slots, length, 1)
    layer.keys[0] = np.sort(problem.capacities)[::-1]
    layer.number[0] = 1
    layers = [layer]
    for step, size in enumerate(sizes.tolist()):
        rest = sizes[step + 1 :]
        ahead = Ahead(rest, _counts(rest, length), int(rest.sum()), incumbent, floor)
        new = _layer(problem.slots, length, 1024)
        done, number = 0, int(layer.number[0])
        while done < number:
            chunk = run.chunk(512)
            if not chunk:
                return matrix, False
            last = min(number, done + chunk)
            reached = int(expand(layer, new, done, last, size, ahead))
            if reached < 0:
                return matrix, False
            run.spend(reached - done)
            done = reached
            if done < last:
                if new.keys.shape[0] >= MOST_STATES:
                    return matrix, False
                new = _grown(new)
        layer = new
        layers.append(layer)
        if layer.number[0] == 0:
            return matrix, True
    return _trace(problem, order, layers), True


def _counts(sizes: np.ndarray, length: int) -> np.ndarray:
    return np.bincount(sizes, minlength=length + 1)[1:].astype(np.int64)


def _trace(problem: Problem, order: np.ndarray, layers: list[Layer]) -> np.ndarray:
    last = layers[-1]
    vectors = last.vectors[: int(last.number[0])]
    at = min(range(len(vectors)), key=lambda position: vectors[position].tobytes())
    taken = []
    for layer in reversed(layers[1:]):
        taken.append(layer.pieces[at])
        at = int(layer.parents[at])
    left = problem.capacities.copy()
    matrix = np.zeros((problem.rows, problem.slots), np.int64)
    for row, pieces in zip(order, reversed(taken), strict=True):
        places = np.argsort(-left, kind="stable")
        matrix[row, places] = pieces
        left[places] -= pieces
    return matrix


def warm_up() -> None:
    """Compile the kernels on a tiny problem."""
    from shoal.runtime import Budget

    problem = Problem([2, 3], [3, 2, 1], "vector")
    improve(problem, np.array([[1, 1, 0], [2, 0, 1]]), Budget(iterations=100).start())
    enter(_layer(2, 1, 1))
