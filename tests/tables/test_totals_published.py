"""Totals that are not sensitive are never hidden where somebody wants that, and where that cannot be, one line says so."""

import itertools

import numpy as np
import polars as pl
import pytest
from tests.cli.running import shoal as command

import shoal
from shoal.errors import Infeasible
from shoal.tables.model.tabulated import Tabulation
from shoal.tables.problem import Problem
from shoal.tables.safety.audit import audit
from shoal.tables.solution import Pattern
from shoal.tables.verify import verify

CELLS = pl.DataFrame(
    {
        "r": [*"nnnsssttt"],
        "q": [*"abc"] * 3,
        "v": [2.0, 50.0, 40.0, 60.0, 70.0, 45.0, 55.0, 80.0, 90.0],
        "n": [1, 5, 5, 6, 7, 5, 5, 8, 9],
    }
)


def table() -> Tabulation:
    """A table of records: five of each cell but one, whose totals cost least to hide."""
    rows = CELLS.select(pl.all().repeat_by("n").explode()).with_columns(pl.col("v") / pl.col("n"))
    return shoal.tabulate(rows, ["r", "q"], value="v", rules=["frequency(3)"])


def cheap_totals() -> pl.DataFrame:
    """Costs that make hiding totals worth while."""
    base = table().table
    totals = [base.key(cell) for cell in np.flatnonzero(~base.internal)]
    return pl.DataFrame(totals).with_columns(cost=pl.lit(0.5))


def cheapest(problem: Problem) -> float:
    """The cost of the cheapest safe set of further cells, by trying all sets of no more than four."""
    cells = np.flatnonzero(problem.candidates)
    best = np.inf
    for size in range(5):
        for some in itertools.combinations(cells, size):
            chosen = np.array(some, dtype=np.int64)
            cost = problem.total_cost(chosen)
            if cost < best and audit(problem, chosen).safe:
                best = cost
    return float(best)


def test_totals_are_hidden_only_as_long_as_nobody_says_otherwise() -> None:
    free = shoal.suppress(table(), cost=cheap_totals())
    published = shoal.suppress(table(), cost=cheap_totals(), keep_totals=True)
    internal = published.problem.table.internal
    assert not internal[free.complementary].all()
    assert internal[published.complementary].all() and published.audit.safe
    assert published.solution.optimal and published.cost > free.cost
    assert published.cost == pytest.approx(cheapest(published.problem))


def test_the_check_refuses_a_hidden_total() -> None:
    free = shoal.suppress(table(), cost=cheap_totals())
    problem = free.problem.with_totals_published()
    with pytest.raises(AssertionError, match="may not be"):
        verify(problem, Pattern(value=free.cost, complementary=free.complementary))


def test_a_sensitive_total_is_hidden_all_the_same() -> None:
    base = table().table
    total = next(base.key(cell) for cell in np.flatnonzero(~base.internal) if "n" in base.key(cell).values())
    found = shoal.suppress(
        table(), sensitive=pl.DataFrame([total]), protection=0.01, keep_totals=False, insiders=False
    )
    assert found.audit.safe
    with pytest.raises(Infeasible, match="try it without keep_totals="):
        # Its column has only the grand total beside it.
        shoal.suppress(
            table(), sensitive=pl.DataFrame([total]), protection=0.01, keep_totals=True, insiders=False
        )


def test_what_cannot_be_is_one_line_that_helps(tmp_path) -> None:
    table_file, cells = tmp_path / "t.csv", tmp_path / "s.csv"
    table_file.write_text("region,a,b\nn,5,0\ns,7,8\nw,9,4\n")
    cells.write_text("row,column\nn,a\ntotal,a\n")
    command_line = ("suppress", table_file, "--sensitive", cells)
    assert command(*command_line, "--json").json["safe"]
    refused = command(*command_line, "--keep-totals")
    assert refused.code == 3 and refused.err.count("\n") == 1, refused.err
    assert refused.err.rstrip().endswith("totals are not hidden: try it without --keep-totals")
