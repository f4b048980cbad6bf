"""Plans made in one go: at random, by the published greedy rule, by best fit, and the better of the two rules."""

from contextlib import AbstractContextManager

import numpy as np

from shoal.appointments.problem import Problem
from shoal.appointments.solvers.annealing_kernels import more_anonymous, sorted_cells
from shoal.appointments.solvers.fill_kernels import best_fit, complete, largest_slots, probe, wrap_around
from shoal.runtime.kernels import in_plain_python

MOST_DRAWN_EXACTLY = 1_000_000_000

# Up to so many places one pass of a rule is over before compiled kernels would be loaded (measured).
PLAIN_PLACES = 500


def greedy(problem: Problem) -> np.ndarray:
    """The thesis rule on a problem."""
    with _in_plain_python(problem):
        return largest_slots(problem.sizes, problem.capacities, problem.eligible)


def fit(problem: Problem, priority: np.ndarray | None = None) -> np.ndarray:
    """The best-fit rule on a problem; crowds with the most people to seat come first unless told otherwise."""
    if priority is None:
        priority = np.zeros(problem.pinned.shape[0], np.int64)
        np.add.at(priority, problem.crowds, problem.sizes)
    with _in_plain_python(problem):
        return best_fit(
            problem.sizes,
            problem.capacities,
            problem.crowds,
            problem.labels,
            problem.eligible,
            problem.pinned,
            np.asarray(priority, np.int64),
        )


def better_rule(problem: Problem) -> np.ndarray:
    """The better plan of the best-fit and the greedy rule."""
    return best_of(problem, [fit(problem), greedy(problem)])


def best_of(problem: Problem, candidates: list[np.ndarray]) -> np.ndarray:
    """The matrix with the best anonymity vector (which also has the best K); the first of equals."""
    with _in_plain_python(problem):
        best, best_cells = candidates[0], sorted_cells(problem.cells(candidates[0]))
        for candidate in candidates[1:]:
            cells = sorted_cells(problem.cells(candidate))
            if more_anonymous(cells, best_cells):
                best, best_cells = candidate, cells
    return best


def seats(problem: Problem, generator: np.random.Generator) -> np.ndarray:
    """Everybody draws one of the free seats, each with the same chance, rows in a random order."""
    matrix = np.zeros((problem.rows, problem.slots), np.int64)
    room = problem.capacities.copy()
    for row in generator.permutation(problem.rows):
        open_seats = np.where(problem.eligible[row], room, 0)
        total = int(open_seats.sum())
        wanted = min(int(problem.sizes[row]), total)
        if total < MOST_DRAWN_EXACTLY:
            drawn = generator.multivariate_hypergeometric(open_seats, wanted, method="marginals")
        else:
            # Among a billion seats it makes no difference whether a seat can be drawn twice.
            drawn = np.minimum(generator.multinomial(wanted, open_seats / total), open_seats)
        matrix[row] = drawn
        room -= drawn
    with _in_plain_python(problem):
        complete(matrix, problem.sizes, problem.capacities, problem.eligible)
    return matrix


def quick(problem: Problem) -> bool:
    """Whether a rule is done sooner in plain Python than its compiled kernel is loaded."""
    return problem.rows * problem.slots <= PLAIN_PLACES


def _in_plain_python(problem: Problem) -> AbstractContextManager[None]:
    return in_plain_python(where=quick(problem))


def warm_up() -> None:
    """Compile the kernels on a problem that is not solved in plain Python."""
    problem = Problem([1] * PLAIN_PLACES, [PLAIN_PLACES, 1])
    state = np.arange(1, 5, dtype=np.uint64)
    probe(problem.sizes, problem.capacities, problem.eligible, state)
    better_rule(problem)
    wrap_around(problem.sizes, problem.capacities, 1, 1, state)
