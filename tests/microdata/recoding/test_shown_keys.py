"""Units of whom every key is blanked count with those left out, whichever method blanks them."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from tests.microdata.recoding.instances import best_by_trying_all, sample

import shoal
from shoal.errors import Infeasible, InputError
from shoal.microdata.columns.hierarchies.hierarchy import Hierarchy
from shoal.microdata.recoding.methods import METHODS
from shoal.microdata.recoding.problem import Problem
from shoal.microdata.recoding.shown_keys import units_not_shown, with_shown_keys
from shoal.microdata.recoding.solution import Recoding
from shoal.microdata.recoding.verify import verify


@pytest.mark.parametrize("seed", range(80))
def test_no_method_blanks_more_units_than_may_be_left_out(seed: int) -> None:
    problem = replace(sample(seed, models=seed % 2 == 0, measures=("loss", "cells")).problem, show_keys=True)
    if problem.histograms and not problem.models:
        return
    for name, method in METHODS.items():
        try:
            recoding = with_shown_keys(problem, method.solve(problem))
        except (Infeasible, InputError):
            continue
        verify(problem, recoding)
        assert units_not_shown(problem, recoding) <= problem.limit, name


@pytest.mark.parametrize("seed", range(60))
def test_whole_columns_are_the_best_that_show_keys(seed: int) -> None:
    problem = replace(sample(seed).problem, show_keys=True)
    best = best_by_trying_all(problem)
    if best is None:
        with pytest.raises(Infeasible):
            METHODS["lattice"].solve(problem)
        return
    recoding = METHODS["lattice"].solve(problem)
    assert recoding.value == pytest.approx(best[0])


def test_blank_records_join_others_or_are_too_many() -> None:
    trees = [Hierarchy([("f",), ("m",)]), Hierarchy([(text,) for text in "abcdef"])]
    columns = [np.array([0, 0, 0, 1, 1, 1]), np.array([0, 0, 1, 2, 3, 4])]
    problem = Problem.of(columns, trees, k=2, show_keys=True)
    tuples = np.arange(problem.records.size)
    levels = np.array([[0, 0], [1, 1], [1, 1], [1, 1], [1, 1]])
    blank = Recoding(
        value=8 / 12, tuples=tuples, records=problem.records, levels=levels, released=np.ones(5, dtype=bool)
    )
    with pytest.raises(AssertionError, match="show no key"):
        verify(problem, blank)
    shown = with_shown_keys(problem, blank)
    verify(problem, shown)
    # Those of one sex are enough; the one of the other joins the class of two.
    assert shown.levels[2:].tolist() == [[0, 1]] * 3 and shown.levels[1].tolist() == [0, 1]
    verify(replace(problem, limit=4), blank)
    two = {"tuples": np.arange(2), "records": np.ones(2, dtype=int), "released": np.ones(2, dtype=bool)}
    nothing = Recoding(value=1.0, levels=np.ones((2, 1), dtype=int), **two)
    with pytest.raises(Infeasible, match="suppress"):
        with_shown_keys(Problem.of([np.array([0, 1])], [trees[0]], k=2, show_keys=True), nothing)


def test_records_that_came_without_any_key_are_counted_apart() -> None:
    data = pl.DataFrame({"a": [None, None, "x", "x", "y", "y"], "b": [None, None, "p", "p", "q", "q"]})
    safe = shoal.recode(data, ["a", "b"], 2, unit="record")
    assert (safe.keyless_records, safe.blank_records, safe.blank_people) == (2, 0, 0)
    assert safe.frame["a"].null_count() == 2


def test_a_unit_counts_once_and_only_if_no_record_of_it_shows_a_key() -> None:
    data = pl.DataFrame({"a": list("xxxxyz"), "u": [1, 2, 3, 4, 4, 5]})
    with pytest.raises(Infeasible, match="suppress"):
        shoal.recode(data, ["a"], 2, unit="u", method="local-suppression", drop=["u"])
    safe = shoal.recode(data, ["a"], 2, unit="u", suppress=0.4, keep_suppressed=True, drop=["u"])
    assert safe.suppressed_people + safe.blank_people <= 2
    assert safe.frame.height == 6
