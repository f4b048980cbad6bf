"""The battery that every method passes, on small problems that have a solution."""

import numpy as np
import pytest
from tests.microdata.recoding.local_suppression.brute_force import check, least_loss, random_problem

from shoal.microdata.columns.hierarchies.hierarchy import Hierarchy
from shoal.microdata.recoding.local_suppression.solve import solve
from shoal.microdata.recoding.methods import METHODS
from shoal.microdata.recoding.problem import Problem
from shoal.runtime import Budget, Registry, conformance


def medium() -> Problem:
    rng = np.random.default_rng(4)
    hierarchies = [Hierarchy([(f"{value}",) for value in range(5)])] * 4
    problem = Problem.of([rng.integers(0, 5, 150) for _ in range(4)], hierarchies, k=3, limit=3)
    solve(problem, budget=Budget(iterations=0))
    return problem


def small(seed: int) -> Problem:
    problem = random_problem(seed)
    # Hierarchies remember what was asked of them, which is no change of the problem.
    solve(problem, budget=Budget(iterations=0))
    return problem


SMALL = [seed for seed in range(30) if np.isfinite(least_loss(random_problem(seed)))][:10]
SUITE = conformance.Suite(
    registry=Registry("local suppression", [METHODS["local-suppression"]]),
    problems=[*(lambda seed=seed: small(seed) for seed in SMALL), medium],
    verify=check,
    payload=lambda found: (
        found.value,
        found.levels.tolist(),
        found.records.tolist(),
        found.released.tolist(),
    ),
    refused=[
        lambda: Problem.of([np.array([0, 0, 1])], [Hierarchy([("f",), ("m",)])], k=2, highest=(0,)),
        lambda: Problem.of([np.array([0, 0, 1])], [Hierarchy([("f",), ("m",)])], k=2, measure="class-size"),
    ],
    edges=[lambda seed=seed: small(seed) for seed in SMALL],
)


@pytest.mark.parametrize("one", conformance.checks(SUITE), ids=str)
def test_conformance(one):
    one()
