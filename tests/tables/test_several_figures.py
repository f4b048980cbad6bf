"""Several figures of the same records: a pattern for each or one for all, shadows, and missing values."""

from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cli.running import shoal as run
from tests.tables.oracle import optimum

import shoal
from shoal.errors import Infeasible, InputError
from shoal.runtime import Budget, Seeds, silent
from shoal.runtime.control import Control
from shoal.tables import common_pattern
from shoal.tables.common_pattern import tied
from shoal.tables.methods import METHODS
from shoal.tables.model.figures import cells_of_all
from shoal.tables.model.tabulation import tabulate
from shoal.tables.verify import unprotected, verify


def records(seed: int, size: int = 24) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "firm": np.arange(size),
            "a": rng.choice(["x", "y", "z"], size),
            "b": rng.choice(["p", "q", "r"], size),
            "v": rng.lognormal(3, 1, size).round(1),
            "w": rng.lognormal(2, 1.2, size).round(1),
        }
    )


def made(seed: int, **more: object):
    return tabulate(
        records(seed), ["a", "b"], value="v", further_values=["w"], contributor="firm",
        **{"rules": ["frequency(2)", "p-percent(15)"], **more},
    )  # fmt: skip


def cheapest(problem) -> float:
    """Every choice of cells to hide in all figures, by the independent check alone."""
    groups = cells_of_all(problem.table)
    forced = problem.is_sensitive[groups].any(axis=0)
    free = np.flatnonzero(problem.candidates[groups].any(axis=0) & ~forced)
    price = problem.cost[groups].sum(axis=0)
    anyway = float(problem.cost[np.setdiff1d(groups[:, forced].ravel(), problem.sensitive)].sum())
    best = np.inf
    for size in range(free.size + 1):
        for chosen in combinations(free.tolist(), size):
            cost = float(price[list(chosen)].sum())
            if cost >= best - 1e-9:
                continue
            cells = groups[:, sorted([*np.flatnonzero(forced), *chosen])].ravel()
            if not unprotected(problem, np.setdiff1d(cells, problem.sensitive)):
                best = cost
    return best + anyway


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10**6))
def test_a_common_pattern_is_the_cheapest_there_is(seed: int) -> None:
    table = made(seed)
    problem = tied(table.problem(insiders=False))
    if problem.sensitive.size == 0:
        return
    groups = cells_of_all(problem.table)
    if (problem.candidates[groups].any(axis=0)).sum() > 9:
        # All totals published: fewer cells to choose from.
        inside = problem.table.internal
        problem = problem.with_changes(candidates=problem.candidates & inside)
    try:
        found = shoal.suppress(problem, common=True, method="general")
    except Infeasible:
        assert np.isinf(cheapest(problem))
        return
    assert found.solution.optimal and found.cost == pytest.approx(cheapest(problem))
    hidden = found.problem.hidden_mask(found.complementary)[groups]
    assert (hidden.all(axis=0) == hidden.any(axis=0)).all()
    verify(found.problem, found.solution)


def test_a_common_pattern_is_not_made_smaller_when_its_time_is_over(monkeypatch) -> None:
    """Not even its proof begins, and what was found for each figure alone is returned as one pattern."""
    problem = tied(made(3).problem(insiders=False))
    control = Control()

    def search(own):
        found = METHODS["general"].solve(
            own, None, budget=Budget(), seeds=Seeds(0), threads=1, observer=silent
        )
        control.cancel()
        return found

    monkeypatch.setattr(common_pattern, "solve_within", lambda *rest: pytest.fail("a programme was solved"))
    found = common_pattern.solve_common(problem, search, Budget(control=control).start())
    hidden = problem.hidden_mask(found.complementary)[cells_of_all(problem.table)]
    assert (hidden.all(axis=0) == hidden.any(axis=0)).all()
    assert found.stopped_by == "interrupt" or found.optimal
    verify(problem, found)


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10**6))
def test_a_pattern_for_each_is_that_of_each_alone(seed: int) -> None:
    table = made(seed)
    costs = []
    for value in ("v", "w"):
        alone = tabulate(records(seed), ["a", "b"], value=value, contributor="firm", rules=table.rules)
        costs.append(optimum(alone.problem(insiders=False)))
    try:
        found = shoal.suppress(table, insiders=False, method="exact")
    except Infeasible:
        assert np.isinf(sum(costs))
        return
    assert found.cost == pytest.approx(sum(costs))
    together = shoal.suppress(table, insiders=False, common=True)
    assert together.cost >= found.cost - 1e-6 and together.bound is not None


def test_a_shadow_makes_a_cell_sensitive_in_all_figures() -> None:
    for seed in range(6):
        plain, dark = made(seed), made(seed, shadow=True)
        one, two = (table.status.reshape(2, -1) == "u" for table in (plain, dark))
        assert (two == one.any(axis=0)).all() and (two.sum() >= one.sum())
        new = dark.status.ravel() != plain.status.ravel()
        assert np.allclose(dark.upper[new], 0.2 * dark.table.values[new])
    # Whoever is alone in a cell knows it in both figures.
    for cells in made(3).sole_contributors():
        half = made(3).table.cells // 2
        assert {cell % half for cell in cells} == {cell for cell in cells.tolist() if cell < half}


def test_commands_and_lists_of_cells_keep_the_figures(tmp_path) -> None:
    records(5, 60).write_csv(tmp_path / "r.csv")
    how = (
        "--dimensions",
        "a,b",
        "--value",
        "v",
        "--further-value",
        "w",
        "--contributor",
        "firm",
        "--rule",
        "p-percent(30)",
    )
    assert run("tabulate", tmp_path / "r.csv", *how, "--shadow", "-o", tmp_path / "cells.csv").code == 0
    listed = run("suppress", tmp_path / "cells.csv", "--common", "--json")
    direct = run("suppress", tmp_path / "r.csv", *how, "--shadow", "--common", "--json", "--published",
                 tmp_path / "out.xlsx", "--rows", "a", "--columns", "b")  # fmt: skip
    assert listed.code == direct.code == 0, direct.err
    assert listed.json["cost"] == pytest.approx(direct.json["cost"])
    assert listed.json["primary"] == direct.json["primary"] > 0
    import fastexcel

    assert fastexcel.read_excel(tmp_path / "out.xlsx").sheet_names == ["Contents", "v", "w"]
    # Figures are tables of their own, also where nobody says what goes down and across.
    plain = run("suppress", tmp_path / "r.csv", *how, "--published", tmp_path / "plain.xlsx")
    assert plain.code == 0, plain.err
    assert fastexcel.read_excel(tmp_path / "plain.xlsx").sheet_names == ["Contents", "v", "w"]


def test_what_makes_no_sense_is_refused() -> None:
    frame = records(1)
    for settings_, words in (
        ({"further_values": ["w"]}, "several figures"),
        ({"value": "v", "shadow": True}, "several figures"),
        ({"value": "v", "further_values": ["v"]}, "named twice"),
        ({"value": "v", "further_values": ["u"]}, "column 'u' is not in the data"),
    ):
        with pytest.raises(InputError, match=words):
            tabulate(frame, ["a", "b"], **settings_)
    with pytest.raises(InputError, match="common pattern is for tables of several figures"):
        shoal.suppress(tabulate(frame, ["a", "b"], value="v", rules=["p-percent(30)"]), common=True)
    with pytest.raises(InputError, match="'figure'"):
        renamed = frame.rename({"a": "figure"})
        tabulate(renamed, ["figure", "b"], value="v", further_values=["w"])


def test_missing_values_are_refused_set_aside_or_a_category() -> None:
    frame = records(2).with_columns(
        a=pl.when(pl.col("firm") == 3).then(None).otherwise("a"),
        firm=pl.when(pl.col("firm") == 5).then(None).otherwise("firm"),
        v=pl.when(pl.col("firm") == 7).then(None).otherwise("v"),
    )
    for name, record in (("a", 4), ("v", 8), ("firm", 6)):
        whole = records(2).with_columns(frame[name])
        with pytest.raises(InputError, match=f"'{name}' has missing values: see record {record}"):
            tabulate(whole, ["a", "b"], value="v", contributor="firm")
    aside = tabulate(frame, ["a", "b"], value="v", contributor="firm", missing="aside")
    kept = frame.drop_nulls()
    assert aside.table.values.max() == pytest.approx(kept["v"].sum()) and "3 records" in aside.notes[0]
    own = tabulate(frame, ["a", "b"], value="v", contributor="firm", missing="category")
    assert "missing" in own.trees["a"].codes and "1 record " in own.notes[0]
    assert own.table.values.max() == pytest.approx(frame["v"].sum())
    assert own.contributors.max() == 23
    tree = {"x": "first", "y": "first", "z": "", "first": ""}
    deep = tabulate(frame, ["a", "b"], value="v", missing="category", hierarchies={"a": tree})
    assert deep.trees["a"].codes.count("missing") == 1
