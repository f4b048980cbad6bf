"""Every registered method of cell suppression passes the battery."""

import numpy as np
import pytest
from tests.tables.oracle import cube, hierarchy, optimum, random_plane

from shoal.errors import ShoalError
from shoal.runtime import Method, conformance
from shoal.tables.methods import METHODS
from shoal.tables.model.table import Table
from shoal.tables.problem import Problem
from shoal.tables.verify import verify


def zero_levels() -> Problem:
    """Cells that only must not be points, and a sliding width beside."""
    rng = np.random.default_rng(5)
    table = Table.from_matrix(rng.integers(0, 30, (5, 6)).astype(float) + 1)
    cells = [table.find("1", "2"), table.find("4", "5"), table.find("3", "3")]
    return Problem.of(table, cells, lower=[0.0, 0.0, 1.0], upper=[0.0, 0.0, 0.0], sliding=[0.0, 3.0, 0.0])


def insiders() -> Problem:
    """A problem in which two contributors know a cell each."""
    rng = np.random.default_rng(8)
    table = Table.from_matrix(rng.integers(1, 60, (5, 5)).astype(float))
    one, two = table.find("1", "1"), table.find("1", "2")
    return Problem.of(table, [one, two], insiders=(np.array([one]), np.array([two])))


PROBLEMS = [
    lambda: random_plane(np.random.default_rng(1), 5, 5, 2),
    lambda: random_plane(np.random.default_rng(2), 6, 5, 3, protection=0.3),
    zero_levels,
    insiders,
    lambda: cube(np.random.default_rng(3)),
    lambda: hierarchy(np.random.default_rng(4)),
]


def small(values: object, *cells: tuple[str, str], protection: float = 0.1) -> Problem:
    """A small table and its sensitive cells."""
    table = Table.from_matrix(np.array(values, dtype=float))
    return Problem.of(table, [table.find(*cell) for cell in cells], protection=protection)


# Nothing to protect, nothing but equal cells, a single way to protect, all cells sensitive, zeros, fractions.
EDGES = [
    lambda: small([[1, 2], [3, 4]]),
    lambda: small([[1, 2], [3, 4]], ("1", "1")),
    lambda: small([[1, 2], [3, 4]], ("1", "1"), ("1", "2"), ("2", "1"), ("2", "2")),
    lambda: small([[5, 5], [5, 5]], ("2", "1"), protection=0.0),
    lambda: small([[0.1, 0.2], [0.3, 0.4]], ("1", "1"), protection=0.5),
    lambda: small([[1, 2, 3], [4, 5, 6]], ("1", "1"), ("2", "2")),
    lambda: small([[1, 0, 3], [4, 5, 0], [0, 8, 9]], ("1", "1")),
    lambda: small(np.full((3, 3), 7), ("1", "1"), ("2", "2"), ("3", "3")),
    lambda: small(np.arange(10).reshape(5, 2) + 1, ("3", "2")),
]


def unprotectable() -> Problem:
    table = Table.from_matrix([[5.0, 0.0, 0.0], [0.0, 7.0, 8.0], [0.0, 9.0, 4.0]])
    return Problem.of(table, [table.find("1", "1")], candidates=table.internal & (table.values > 0))


def accepts(method: Method, problem: Problem) -> bool:
    if "two-dimensional" in method.traits:
        return problem.table.shape is not None
    if "network" in method.traits:
        return problem.table.network is not None
    return True


class Optima(dict[int, float]):
    """The least costs, each worked out when it is asked for: every worker reads this file, and one runs it."""

    def __contains__(self, place: object) -> bool:
        return place in range(len(PROBLEMS))

    def __missing__(self, place: int) -> float:
        return self.setdefault(place, optimum(PROBLEMS[place]()))


SUITE = conformance.Suite(
    METHODS,
    PROBLEMS,
    verify=verify,
    payload=lambda pattern: (pattern.value, pattern.complementary.tolist(), pattern.bound),
    refused=[unprotectable],
    accepts=accepts,
    optima=Optima(),
    edges=EDGES,
    options={"heurgene": {"patience": 20}, "gensup": {"patience": 10}},
)


@pytest.mark.parametrize("check", conformance.checks(SUITE), ids=str)
def test_conformance(check: conformance.Check) -> None:
    check()


def test_what_is_no_problem_is_refused_when_it_is_made() -> None:
    with pytest.raises(ShoalError, match="at least two of each"):
        random_plane(np.random.default_rng(1), 1, 5, 2)
    with pytest.raises(ShoalError, match="protection, a share of the value"):
        random_plane(np.random.default_rng(1), 5, 5, 2, protection=1.5)
    with pytest.raises(ShoalError, match="is negative"):
        Problem.of(Table.from_matrix([[1.0, -2.0], [3.0, 4.0]]), [0])
