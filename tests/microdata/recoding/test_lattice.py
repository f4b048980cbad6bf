"""The best recoding of whole columns is the one that trying all of them finds."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from tests.benchmark_data import benchmark_file
from tests.microdata.recoding.instances import best_by_trying_all, sample

from shoal.errors import Infeasible
from shoal.microdata.columns.hierarchies.hierarchy import Hierarchy
from shoal.microdata.models.model import AverageRisk, ValueModel
from shoal.microdata.recoding import lattice
from shoal.microdata.recoding.all_losses import measured_losses
from shoal.microdata.recoding.api import recode
from shoal.microdata.recoding.problem import Problem
from shoal.microdata.recoding.result import Recoded
from shoal.microdata.recoding.verify import verify
from shoal.runtime import Budget


@pytest.mark.parametrize(
    "block", [0, 1, 2, *[pytest.param(block, marks=pytest.mark.long) for block in range(3, 50)]]
)
def test_the_optimum_is_that_of_trying_all(block: int) -> None:
    feasible = left_out = 0
    for seed in range(block * 200, (block + 1) * 200):
        problem = sample(seed).problem
        best = best_by_trying_all(problem)
        if best is None:
            with pytest.raises(Infeasible):
                lattice.solve(problem)
            continue
        found = lattice.solve(problem)
        verify(problem, found)
        assert found.bound <= best[0] * (1 + 1e-9) + 1e-9, (seed, found.bound, best)
        # What those left out share together is no sum: there the search says when it does not know.
        values = problem.keep_suppressed and any(isinstance(model, ValueModel) for model in problem.models)
        assert found.optimal or values, seed
        if found.optimal:
            assert np.isclose(found.value, best[0], rtol=1e-9, atol=1e-9), (seed, found.value, best)
        feasible += 1
        left_out += not found.released.all()
    assert feasible > 80
    assert left_out > 10


def test_all_measures_agree_with_the_one_that_was_minimised() -> None:
    compared = 0
    for seed in range(150):
        problem = sample(seed).problem
        try:
            found = lattice.solve(problem)
        except Infeasible:
            continue
        assert np.isclose(
            measured_losses(problem, found)[problem.measure], found.value, rtol=1e-9, atol=1e-9
        ), seed
        compared += 1
    assert compared > 70


def test_others_are_left_out_where_the_average_risk_asks_for_it() -> None:
    ages = Hierarchy([("31", "30-39"), ("38", "30-39"), ("47", "40-49"), ("48", "40-49")])
    people = np.repeat([0, 1, 2, 3], [8, 1, 8, 1])
    problem = Problem.of([people], [ages], k=1, limit=2, models=(AverageRisk(0.15),))
    found = lattice.solve(problem)
    # Two of 18 people left out keep the ages of all others.
    assert (found.uniform, found.optimal) == ((0,), True)
    assert found.records[~found.released].tolist() == [1, 1]
    none = lattice.solve(replace(problem, limit=1))
    assert none.uniform == (1,)


def test_those_left_out_are_a_class_that_others_may_have_to_join() -> None:
    ages = Hierarchy([("31", "30-39"), ("38", "30-39"), ("47", "40-49"), ("48", "40-49")])
    people = np.repeat([0, 1, 2, 3], [9, 1, 3, 9])
    problem = Problem.of([people], [ages], k=3, limit=4, keep_suppressed=True)
    found = lattice.solve(problem)
    assert (found.uniform, found.optimal) == ((0,), True)
    assert int(found.records[~found.released].sum()) == 4


def test_a_limit_on_the_average_loses_no_more_on_adult_than_with_a_k_beside_it() -> None:
    keys = [
        "sex",
        "age",
        "race",
        "marital-status",
        "education",
        "native-country",
        "workclass",
        "occupation",
        "salary-class",
    ]
    data = pl.read_csv(benchmark_file("adult/adult.csv"), separator=";")
    hierarchies = {key: benchmark_file(f"adult/adult_hierarchy_{key}.csv") for key in keys}

    def loss(measure: str, k: int, models: tuple[str, ...], steps: int) -> Recoded:
        return recode(
            *(data, keys, k),
            hierarchies=hierarchies,
            models=models,
            suppress=0.04,
            measure=measure,
            method="lattice",
            budget=Budget(iterations=steps),
        )

    averaged = loss("loss", 1, ("average-risk(0.01)",), 10_000)
    assert averaged.optimal
    assert averaged.loss <= loss("loss", 8, (), 10_000).loss
    assert loss("entropy", 1, ("average-risk(0.01)",), 1_500).loss < 323_323
