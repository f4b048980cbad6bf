"""The best recoding of whole columns is the one that trying all of them finds."""

import numpy as np
import pytest
from tests.microdata.recoding.instances import best_by_trying_all, sample

from shoal.errors import Infeasible
from shoal.microdata.recoding import lattice
from shoal.microdata.recoding.losses import measured_losses
from shoal.microdata.recoding.verify import verify


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
        assert found.optimal, seed
        assert np.isclose(found.value, best[0], rtol=1e-9, atol=1e-9), (seed, found.value, best)
        feasible += 1
        left_out += not found.kept.all()
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
