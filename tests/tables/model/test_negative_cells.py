"""Sensitive cells below 0 are protected on both sides like any other."""

import numpy as np
import polars as pl
import pytest
from tests.tables.oracle import interval

import shoal


@pytest.fixture
def losses() -> "shoal.tables.model.tabulated.Tabulation":
    rows = {
        "a": ["x", "x", "x", "x", "y", "y", "y", "y", "z", "z", "z", "z"],
        "b": ["p", "q", "q", "q"] * 3,
        "v": [-100.0, 5, 6, 7, 30, -8, 9, 10, -20, 21, -22, 23],
    }
    once = pl.DataFrame(rows)
    again = once.with_columns(v=pl.col("v") + 3).filter(~((pl.col("a") == "x") & (pl.col("b") == "p")))
    return shoal.tabulate(pl.concat([once, again]), ["a", "b"], value="v", rules=["frequency(2,20)"])


def test_a_loss_may_be_larger_too(losses) -> None:
    cell = losses.table.find("x", "p")
    assert (losses.lower[cell], losses.upper[cell]) == (20.0, 20.0)
    found = shoal.suppress(losses, low=-1000.0)
    hidden = found.problem.hidden_mask(found.complementary)
    low, high = interval(found.problem, hidden, cell)
    assert low <= -120.0 and high >= -80.0
    assert found.intervals.filter(pl.col("b") == "p")["required_min"][0] == -120.0


@pytest.mark.parametrize("seed", range(4))
def test_an_adjusted_loss_is_out_of_its_interval(losses, seed: int) -> None:
    made = shoal.adjust_table(losses, low=-np.inf, seed=seed)
    shown = made.intervals.filter((pl.col("a") == "x") & (pl.col("b") == "p"))
    assert abs(shown["published"][0] + 100.0) >= 20.0
    assert shown["required_min"][0] == -120.0


def test_declared_and_stated_losses_have_both_levels(losses) -> None:
    declared = pl.DataFrame({"a": ["y"], "b": ["q"], "status": ["u"]})
    other = pl.DataFrame({"a": ["x", "x", "y", "y"], "b": ["p", "q"] * 2, "v": [-50.0, 4.0, 3.0, 2.0]})
    made = shoal.tabulate(other, ["a", "b"], value="v", rules=["manual(20)"], apriori=declared)
    assert made.lower[made.table.find("y", "q")] == pytest.approx(0.4)
    declared = pl.DataFrame({"a": ["x"], "b": ["p"], "status": ["u"]})
    made = shoal.tabulate(other, ["a", "b"], value="v", rules=["manual(20)"], apriori=declared)
    assert made.lower[made.table.find("x", "p")] == 10.0
