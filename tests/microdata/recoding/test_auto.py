"""The method that chooses is never worse than one of those it chooses from, and what it says of them is true."""

from dataclasses import replace

import numpy as np
import pytest
from tests.microdata.recoding.instances import sample

from shoal.errors import Infeasible, InputError
from shoal.microdata.columns.hierarchies.hierarchy import Hierarchy
from shoal.microdata.recoding.local_suppression.bound import least_loss
from shoal.microdata.recoding.local_suppression.solve import solve as blank_values
from shoal.microdata.recoding.methods import METHODS
from shoal.microdata.recoding.problem import Problem
from shoal.microdata.recoding.verify import verify
from shoal.runtime import Budget

AGES = Hierarchy(
    [(str(age), f"{age // 5 * 5} to {age // 5 * 5 + 4}", f"{age // 20 * 20}+") for age in range(20, 80)]
)
SEXES = Hierarchy([("f",), ("m",)])
TOWNS = Hierarchy([(f"{a}{b}", a) for a in "abc" for b in "xyz"])
RACES = Hierarchy([(text,) for text in "pqrs"])


def survey(seed: int) -> Problem:
    """Records of which few values are frequent, with other keys, k and limit each time."""
    rng = np.random.default_rng(seed)
    trees = [AGES, SEXES, TOWNS, RACES][seed % 2 :][: 2 + seed % 3]
    n = 60 + 25 * seed
    columns = []
    for tree in trees:
        shares = np.arange(1, len(tree.rows) + 1) ** -1.0
        columns.append(rng.choice(len(tree.rows), n, p=shares / shares.sum()))
    measure = ("loss", "cells", "entropy")[seed % 3] if seed > 5 else "loss"
    return Problem.of(columns, trees, k=2 + seed % 4, limit=(seed % 3) * n // 50, measure=measure)


@pytest.mark.parametrize("seed", range(12))
def test_it_is_never_worse_than_a_method_by_its_own_default(seed: int) -> None:
    problem = survey(seed)
    chosen = METHODS["auto"].solve(problem)
    verify(problem, chosen)
    for name in ("lattice", "local", "local-suppression"):
        try:
            value = METHODS[name].solve(problem).value
        except Infeasible:
            continue
        assert chosen.value <= value + 1e-9 * max(1.0, value), name


@pytest.mark.parametrize("seed", range(8))
def test_one_level_for_each_key_is_never_worse_than_whole_columns_or_blanks(seed: int) -> None:
    problem = replace(survey(seed), uniform=True)
    chosen = METHODS["auto"].solve(problem)
    verify(problem, chosen)
    for name in ("lattice", "local-suppression"):
        try:
            value = METHODS[name].solve(problem).value
        except Infeasible:
            continue
        assert chosen.value <= value + 1e-9 * max(1.0, value), name
    with pytest.raises(InputError, match="mixed levels"):
        METHODS["local"].solve(problem)


def test_methods_share_a_limited_budget_and_the_reason_says_what_each_got() -> None:
    problem = survey(3)
    chosen = METHODS["auto"].solve(problem, budget=Budget(iterations=200))
    assert chosen.work <= 200
    assert "of 200 steps" in chosen.reason
    timed = METHODS["auto"].solve(problem, budget=Budget(seconds=0.5))
    assert " s)" in timed.reason


@pytest.mark.parametrize("seed", range(30))
def test_no_blanks_fall_below_the_bound_for_which_they_are_passed_over(seed: int) -> None:
    problem = sample(seed, models=False, measures=("loss", "cells")).problem
    try:
        solution = blank_values(problem)
    except Infeasible:
        return
    for enough in (0.0, 0.2, np.inf):
        least = least_loss(problem, enough)
        assert least is None or least <= solution.value + 1e-9


def test_mixed_levels_are_noticed_where_one_is_wanted() -> None:
    problem = survey(5)
    mixed = METHODS["local"].solve(problem)
    with pytest.raises(AssertionError, match="several levels"):
        verify(replace(problem, uniform=True), mixed)
