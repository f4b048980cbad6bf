"""Every registered method of recoding passes the battery."""

from dataclasses import replace

import numpy as np
import pytest
from tests.microdata.recoding.instances import sample

from shoal.microdata.columns.hierarchies.hierarchy import Hierarchy
from shoal.microdata.models.model import DistinctDiversity, KMap, PopulationModel
from shoal.microdata.recoding.methods import METHODS
from shoal.microdata.recoding.problem import Problem
from shoal.microdata.recoding.verify import verify
from shoal.runtime import Method, conformance

RNG = np.random.default_rng(4)
AGES = Hierarchy([(str(age), f"{age // 10}0s", f"{age // 20}+") for age in range(20, 60)])
SEXES = Hierarchy([("f",), ("m",)])
TOWNS = Hierarchy([(town, town[0]) for town in ("aa", "ab", "ba", "bb", "bc")])


def people(n: int, k: int, **settings: object) -> Problem:
    rng = np.random.default_rng(n)
    columns = [rng.integers(0, len(tree.rows), n) for tree in (AGES, SEXES, TOWNS)]
    return Problem.of(columns, [AGES, SEXES, TOWNS], k=k, **settings)


def plain(seed: int) -> Problem:
    return sample(seed, models=False, measures=("loss", "cells")).problem


PROBLEMS = [
    lambda: people(60, 3),
    lambda: people(60, 3, measure="cells"),
    lambda: people(80, 5, limit=8),
    lambda: people(40, 2, weights=np.array([2.0, 1.0, 0.5])),
    lambda: people(9, 3),
    lambda: replace(people(50, 3), lowest=(1, 0, 0)),
    # Nothing needs to change.
    lambda: Problem.of([np.zeros(6, dtype=int)], [SEXES], k=3),
]
EDGES = [*(lambda seed=seed: _feasible(seed) for seed in range(25))]


def _feasible(seed: int) -> Problem:
    """Any small problem that whole columns can solve: nothing is restricted, so that all may be blanked."""
    problem = plain(seed)
    return replace(
        problem, lowest=(0,) * len(problem.hierarchies), highest=problem.heights, keep_suppressed=False
    )


def diverse() -> Problem:
    rng = np.random.default_rng(9)
    columns = [rng.integers(0, len(tree.rows), 50) for tree in (AGES, SEXES)]
    from shoal.microdata.models.model import ConfidentialColumn

    codes = rng.integers(0, 3, 50).astype(np.int32)
    column = ConfidentialColumn("c", np.bincount(codes) / 50)
    return Problem.of(
        columns,
        [AGES, SEXES],
        k=3,
        limit=10,
        confidential={"c": (codes, column)},
        models=(DistinctDiversity("c", 2),),
    )


def with_population() -> Problem:
    everybody = [RNG.integers(0, len(tree.rows), 300) for tree in (AGES, SEXES)]
    return Problem.of(
        [column[:60] for column in everybody],
        [AGES, SEXES],
        k=2,
        limit=20,
        population=everybody,
        models=(KMap(4),),
    )


def accepts(method: Method, problem: Problem) -> bool:
    asked = any(isinstance(model, PopulationModel) for model in problem.models)
    return not asked or method.name == "auto" or "uniform" in method.traits


SUITE = conformance.Suite(
    registry=METHODS,
    problems=[*PROBLEMS, diverse, with_population],
    verify=verify,
    payload=lambda found: (
        found.tuples.tolist(),
        found.records.tolist(),
        found.levels.tolist(),
        found.released.tolist(),
    ),
    accepts=accepts,
    edges=EDGES,
)


@pytest.mark.parametrize("check", conformance.checks(SUITE), ids=str)
def test_conformance(check: conformance.Check) -> None:
    check()
