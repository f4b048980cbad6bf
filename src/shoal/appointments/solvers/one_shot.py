"""The whole anonymity vector in one constraint model: crowds of every size are counted, and weights put the small ones first.

The weights grow with every size, so that a crowd of one size outweighs all larger ones together; they end at 64 bits, and with
them the populations for which there is such a model. It is here to be compared with the search level by level.
"""

from typing import Any

import numpy as np

from shoal.appointments.problem import Problem
from shoal.appointments.solvers import cp_sat
from shoal.appointments.solvers.constraint import SeatModel
from shoal.appointments.solvers.method import SearchResult
from shoal.errors import InputError
from shoal.runtime import Run, Seeds

_LARGEST = 2**62


def solve(problem: Problem, matrix: np.ndarray, base: Any, run: Run, seeds: Seeds) -> SearchResult:
    """Let the solver find and prove the best vector at once, beginning with a plan."""
    model = SeatModel(problem)
    counted: dict[int, list[Any]] = {}
    for (crowd, label), (amount, used, largest) in model.cells.items():
        choices = []
        for size in range(max(1, int(problem.pinned[crowd, label])), largest + 1):
            here = model.model.new_bool_var("")
            model.model.add(amount == size).only_enforce_if(here)
            counted.setdefault(size, []).append(here)
            choices.append(here)
        model.model.add(sum(choices) == (1 if used is True else used))
    people = int(problem.crowd_sizes.sum())
    weights = _weights({size: min(len(here), people // size) for size, here in counted.items()})
    model.model.minimize(sum(weights[size] * sum(here) for size, here in counted.items()))
    model.hint(matrix)
    answer, solver = cp_sat.run_model(model.model, run, seeds)
    if answer is not cp_sat.Answer.SOLVED:
        return SearchResult(matrix, base)
    found = model.matrix(solver)
    if problem.value(found) <= problem.value(matrix):
        matrix = found
    return SearchResult(matrix, problem.value(matrix) if cp_sat.is_proved(solver) else base)


def _weights(most: dict[int, int]) -> dict[int, int]:
    """For each size a weight above all that crowds of larger sizes can weigh together; ``most`` is how many there may be.

    >>> _weights({1: 3, 2: 1, 5: 1})
    {5: 1, 2: 2, 1: 4}
    """
    weights: dict[int, int] = {}
    heavier = 1
    for size in sorted(most, reverse=True):
        weights[size] = heavier
        heavier *= most[size] + 1
    if heavier >= _LARGEST:
        raise InputError(
            "there are too many people for one model of the whole vector; leave option model at 'levels'"
        )
    return weights
