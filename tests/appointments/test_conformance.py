"""Every registered method passes the battery."""

import pytest
from tests.appointments.oracle import best_of_all

from shoal.anonymity.vector import AnonymityVector
from shoal.appointments.methods import METHODS
from shoal.appointments.problem import Problem
from shoal.appointments.verify import verify
from shoal.runtime import conformance


def plain(objective):
    return Problem([4, 4, 5, 2], [4, 2, 4, 3, 2], objective)


def roomy(objective):
    return Problem([7, 5, 3], [6, 6, 6], objective)


def restricted(objective):
    return Problem(
        [3, 2, 4],
        [4, 3, 5],
        objective,
        crowds=[0, 0, 1],
        labels=[0, 1, 1],
        eligible=[[True, True, False], [True, True, True], [False, True, True]],
        pinned=[[0, 1], [2, 0]],
    )


def diverse(objective):
    return Problem([3, 2, 2, 2], [4, 3, 5], objective, crowds=[0, 0, 1, 1], kinds=[0, 1, 0, 1], diversity=2)


def kept_apart(objective):
    """A crowd of two kinds that must sit together and may not."""
    apart = [[True, False], [False, True]]
    return Problem([1, 1], [1, 1], objective, crowds=[0, 0], kinds=[0, 1], diversity=2, eligible=apart)


MAKERS = [
    (lambda make=make, objective=objective: make(objective))
    for objective in ("k", "vector")
    for make in (plain, roomy, restricted, diverse)
]


# One person, one slot, as many seats as people, room to spare, everybody alone, seats nobody can have.
SMALL = [
    ([1], [1]),
    ([1], [5]),
    ([2], [1, 1]),
    ([1, 1], [2]),
    ([1, 1], [1, 1]),
    ([5], [2, 3]),
    ([5, 5], [5, 5]),
    ([4, 5], [3, 3, 3]),
    ([6, 4, 3], [6, 7]),
    ([1, 1, 1, 1], [2, 2]),
    ([3, 3], [1] * 6),
    ([5], [9, 9]),
    ([2, 3], [5, 0]),
]


class Optima(dict):
    """The best there is, by problem; looked for when it is asked for, since every worker reads this file."""

    def __contains__(self, place):
        return place in range(len(MAKERS))

    def __missing__(self, place):
        problem = MAKERS[place]()
        k, cells = best_of_all(problem)
        return k if problem.objective == "k" else AnonymityVector.from_sizes(cells)


def accepts(method, problem):
    return (
        problem.objective in method.objectives
        and (problem.plain or "plain" not in method.traits)
        and (not problem.diverse or "diverse" in method.traits)
    )


SUITE = conformance.Suite(
    registry=METHODS,
    problems=MAKERS,
    verify=verify,
    payload=lambda assignment: (
        assignment.value,
        assignment.bound,
        assignment.matrix.tobytes(),
        assignment.work,
    ),
    refused=[lambda: kept_apart("k"), lambda: kept_apart("vector")],
    accepts=accepts,
    optima=Optima(),
    options={"genetic": {"population": 20}},
    edges=[
        lambda sizes=sizes, seats=seats, objective=objective: Problem(sizes, seats, objective)
        for sizes, seats in SMALL
        for objective in ("k", "vector")
    ],
)


@pytest.mark.parametrize("check", conformance.checks(SUITE), ids=str)
def test_conformance(check):
    check()
