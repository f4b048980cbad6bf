"""Controlled tabular adjustment against all adjustments there are, and what it gives away against all possible tables."""

import re
from dataclasses import replace
from itertools import count, product
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from scipy.optimize import linprog
from tests.cli.running import shoal as run
from tests.tables.oracle import cube, hierarchy, random_plane
from tests.tables.rounding.enumeration import boxed, small_table

import shoal
from shoal.errors import Infeasible, InputError
from shoal.runtime import Budget, conformance
from shoal.tables.model.table import Table
from shoal.tables.problem import Problem
from shoal.tables.rounding.adjustment import directions as directions_module
from shoal.tables.rounding.adjustment import exact, flips
from shoal.tables.rounding.adjustment.attack import along, conclusions, possible, reached, too_well_known
from shoal.tables.rounding.adjustment.directions import Directions
from shoal.tables.rounding.adjustment.exact import solve
from shoal.tables.rounding.adjustment.feasible_directions import feasible_directions
from shoal.tables.rounding.adjustment.last_decimals import whole_units
from shoal.tables.rounding.adjustment.methods import METHODS
from shoal.tables.rounding.adjustment.operation import check_adjusted
from shoal.tables.rounding.adjustment.problem import AdjustmentProblem
from shoal.tables.rounding.adjustment.solution import Adjustment
from shoal.tables.rounding.adjustment.twins import twins
from shoal.tables.rounding.adjustment.verify import verify
from shoal.tables.rounding.adjustment.witnesses import Possible
from shoal.tables.rounding.whole_programmes import answer

# No cell of the small tables below moves further, so that all can be tried.
FAR = 4


def random_problem(seed: int, kind: str, most: int = 2) -> AdjustmentProblem:
    """Small counts with a few sensitive cells, known to lie within a few of what they are."""
    rng = np.random.default_rng(seed)
    table = small_table(rng, kind, most=7)
    if not (table.values > 0).any():
        raise InputError("empty")
    count = int(rng.integers(1, most + 1))
    cells = rng.choice(
        np.flatnonzero(table.values > 0), min(count, int((table.values > 0).sum())), replace=False
    )
    values = table.values
    protect = Problem.of(
        table,
        cells,
        lower=np.minimum(rng.integers(0, 3, cells.size), values[cells]),
        upper=rng.integers(0, 3, cells.size),
        low=np.maximum(values - FAR, 0.0),
        high=values + FAR,
    )
    return AdjustmentProblem.of(
        protect,
        further=1.0 + 0.5 * rng.random(cells.size),
        relative=bool(rng.random() < 0.5),
        keep_totals=bool(rng.random() < 0.2),
        limit=0.5 if rng.random() < 0.2 else None,
    )


def furthest(problem: AdjustmentProblem, change: np.ndarray, cell: int) -> tuple[float, float]:
    """How far a cell could be below and above its true figure by all others: two linear programmes."""
    fall, rise = possible(problem, change)
    fall[cell], rise[cell] = problem.protect.down[cell], problem.protect.up[cell]
    bounds = [(-low, None if np.isinf(high) else high) for low, high in zip(fall, rise, strict=True)]
    goal = np.zeros(fall.size)
    goal[cell] = 1.0
    ends = []
    for sign in (1.0, -1.0):
        matrix = problem.table.matrix
        found = linprog(sign * goal, A_eq=matrix, b_eq=np.zeros(matrix.shape[0]), bounds=bounds)
        ends.append(np.inf if found.status == 3 else abs(found.fun))
    return ends[0], ends[1]


@pytest.mark.parametrize("seed", range(40))
def test_flows_conclude_what_linear_programmes_do(seed: int) -> None:
    rng = np.random.default_rng(seed)
    protect = random_plane(rng, 4, 5, 3)
    limit = 0.6 if seed % 2 else None
    problem = AdjustmentProblem.of(
        protect,
        further=1.0 + rng.random(protect.sensitive.size),
        relative=True,
        keep_totals=False,
        limit=limit,
    )
    assert problem.table.network is not None
    # Any change of the figures will do: what it costs, and whether it adds up, is not asked here.
    change = np.rint(rng.normal(0.0, 0.2, problem.table.cells) * problem.table.values)
    change[protect.sensitive] = np.where(rng.random(protect.sensitive.size) < 0.5, 1.0, -1.0) * (
        1.5 * np.maximum(protect.lower, protect.upper)
    )
    found, line = conclusions(problem, change), along(problem, change)
    levels = zip(protect.sensitive.tolist(), protect.lower, protect.upper, strict=True)
    for place, (cell, lower, upper) in enumerate(levels):
        below, above = furthest(problem, change, cell)
        wanted = reached(float(change[cell]), float(lower), float(upper), below, above)
        wanted = max(wanted[0], line[0][place]), max(wanted[1], line[1][place])
        assert np.allclose((found.fall[place], found.rise[place]), wanted, rtol=1e-7, atol=1e-7)
    assert np.isin(found.unsafe, protect.sensitive).all()


def all_adjustments(problem: AdjustmentProblem) -> np.ndarray:
    """Every table of whole numbers that is an adjustment, one in each row."""
    values, protect = problem.table.values, problem.protect
    low, high = protect.low.copy(), protect.high.copy()
    if problem.limit is not None:
        others = ~protect.is_sensitive
        low[others] = np.maximum(low, values - problem.limit * values)[others]
        high[others] = np.minimum(high, values + problem.limit * values)[others]
    low[~problem.movable] = high[~problem.movable] = values[~problem.movable]
    every = boxed(problem.table, np.ceil(low - 1e-9), np.floor(high + 1e-9))
    for cell, up, down in zip(protect.sensitive, problem.up, problem.down, strict=True):
        moved = every[:, cell] - values[cell]
        every = every[(moved >= up) | (-moved >= down)]
    return every


def possible_tables(problem: AdjustmentProblem, seen: np.ndarray) -> np.ndarray:
    """Every true table of whole numbers for somebody who sees these figures and knows how they were made, but for the secret."""
    protect, values = problem.protect, problem.table.values
    low, high = protect.low.copy(), protect.high.copy()
    others = ~protect.is_sensitive
    if problem.limit is not None:
        low[others] = np.maximum(low, seen / (1 + problem.limit))[others]
        high[others] = np.minimum(high, seen / (1 - problem.limit))[others]
    known = ~problem.movable | ((seen == 0) & others)
    low[known] = high[known] = values[known]
    every = boxed(problem.table, np.ceil(low - 1e-9), np.floor(high + 1e-9))
    for cell, lower, upper in zip(protect.sensitive, protect.lower, protect.upper, strict=True):
        every = every[(every[:, cell] <= seen[cell] - upper) | (every[:, cell] >= seen[cell] + lower)]
    return every


def agree(seeds: range, kind: str) -> tuple[int, int]:
    """Compare with all adjustments; how many problems have one, and how many of these are proved to be the cheapest."""
    found = proved = 0
    for seed in seeds:
        try:
            problem = random_problem(seed, kind)
        except (InputError, Infeasible):
            continue
        every = all_adjustments(problem)
        costs = np.array([problem.cost(row - problem.table.values) for row in every])
        try:
            adjustment = solve(problem)
        except Infeasible:
            # Then every direction gives something away, or there is nothing at all.
            for row in every[np.argsort(costs)[:3]]:
                assert conclusions(problem, row - problem.table.values).unsafe.size or not directions_best(
                    problem, every, costs, row
                )
            continue
        verify(problem, adjustment)
        # The cheapest of all is found unless the directions of all cheaper ones give something away.
        for row in every[costs < adjustment.value - 1e-9]:
            if directions_best(problem, every, costs, row):
                assert conclusions(problem, row - problem.table.values).unsafe.size, seed
        # No safe one costs less than the bound, whether or not it is the cheapest in its directions.
        for row in every[costs < adjustment.bound - 1e-6]:
            assert conclusions(problem, row - problem.table.values).unsafe.size, seed
        seen = problem.table.values + adjustment.change
        left = possible_tables(problem, np.rint(seen))
        audit = conclusions(problem, adjustment.change)
        for place, cell in enumerate(problem.protect.sensitive):
            value = problem.table.values[cell]
            assert left[:, cell].min() <= value - np.floor(audit.fall[place] + 1e-9), seed
            assert left[:, cell].max() >= value + np.floor(audit.rise[place] + 1e-9), seed
            assert left[:, cell].min() <= value - problem.protect.lower[place]
            assert left[:, cell].max() >= value + problem.protect.upper[place]
        found, proved = found + 1, proved + adjustment.optimal
    return found, proved


def directions_best(
    problem: AdjustmentProblem, every: np.ndarray, costs: np.ndarray, row: np.ndarray
) -> bool:
    """Whether this is the only cheapest adjustment in its directions."""
    cells = problem.protect.sensitive
    same = (
        (every[:, cells] > problem.table.values[cells]) == (row[cells] > problem.table.values[cells])
    ).all(axis=1)
    mine = problem.cost(row - problem.table.values)
    return bool((costs[same] >= mine - 1e-9).all() and (costs[same] <= mine + 1e-9).sum() == 1)


@pytest.mark.parametrize(("kind", "cases"), [("plane", 25), ("tree", 120)])
def test_the_optimum_is_that_of_all_adjustments(kind: str, cases: int) -> None:
    found, proved = agree(range(cases), kind)
    assert found > cases // 4 and proved > found // 2


@pytest.mark.long
@pytest.mark.parametrize(("kind", "cases"), [("plane", 600), ("tree", 2500)])
def test_the_optimum_is_that_of_all_adjustments_at_length(kind: str, cases: int) -> None:
    found, proved = agree(range(1000, 1000 + cases), kind)
    assert found > cases // 4 and proved > found // 2


def promises_kept(seeds: range, kind: str) -> tuple[int, int]:
    """Hold conclusions of many sensitive cells against all true tables; how many were safe and how many not."""
    safe = unsafe = 0
    for seed in seeds:
        try:
            problem = random_problem(seed, kind, most=5)
        except (InputError, Infeasible):
            continue
        if problem.table.cells > 9:
            continue
        every = all_adjustments(problem)
        rng = np.random.default_rng(seed)
        for row in every[rng.permutation(len(every))[:5]]:
            told = conclusions(problem, row - problem.table.values)
            left = possible_tables(problem, row)
            for place, cell in enumerate(problem.protect.sensitive):
                value = problem.table.values[cell]
                assert left[:, cell].min() <= value - np.floor(told.fall[place] + 1e-9), seed
                assert left[:, cell].max() >= value + np.floor(told.rise[place] + 1e-9), seed
            found = set(too_well_known(problem, row - problem.table.values).tolist())
            assert found == set(told.unsafe.tolist()), seed
            safe, unsafe = safe + (not found), unsafe + bool(found)
    return safe, unsafe


@pytest.mark.parametrize("kind", ["plane", "tree"])
def test_nobody_is_more_certain_than_conclusions_say(kind: str) -> None:
    safe, unsafe = promises_kept(range(60), kind)
    assert safe > 20 and unsafe > 20


@pytest.mark.long
@pytest.mark.parametrize("kind", ["plane", "tree"])
def test_nobody_is_more_certain_than_conclusions_say_at_length(kind: str) -> None:
    safe, unsafe = promises_kept(range(3000, 5000), kind)
    assert safe > 500 and unsafe > 500


def with_many_digits(problem: Problem) -> Problem:
    """The same in figures of ten digits and more, four of them decimals."""
    inner, sign = problem.table.internal, problem.table.matrix
    values = np.zeros(problem.table.cells)
    values[inner] = np.round(problem.table.values[inner] * 98_765.4321, 4)
    for _ in range(problem.table.relations):
        for relation in range(problem.table.relations):
            cells, signs = problem.table.relation(relation), problem.table.signs_of(relation)
            total = cells[signs < 0]
            values[total] = np.round(values[cells[signs > 0]].sum(), 4)
    assert np.abs(sign @ values).max() < 1e-4
    table = replace(problem.table, values=values)
    ratio = values[problem.sensitive] / problem.table.values[problem.sensitive]
    return Problem.of(table, problem.sensitive, lower=problem.lower * ratio, upper=problem.upper * ratio)


@pytest.mark.parametrize("digits", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_directions_are_chosen_as_by_trying_all(seed: int, digits: bool) -> None:
    rng = np.random.default_rng(seed)
    plane = random_plane(rng, 4, 4, 4)
    problem = AdjustmentProblem.of(with_many_digits(plane) if digits else plane, further=1.0 + rng.random(4))
    directions = Directions.of(problem)
    assert directions.fine == (problem.unit is not None and not digits)
    costs = []
    for rises in product((False, True), repeat=4):
        change = directions.change(np.array(rises))
        if change is not None and not conclusions(problem, change).unsafe.size:
            costs.append(problem.cost(change))
    found = solve(problem)
    verify(problem, found)
    assert found.optimal and found.value == pytest.approx(min(costs), rel=1e-6)


def test_cells_that_move_only_together_go_the_same_way_and_are_no_secret_to_each_other() -> None:
    """The first row is one cell and its total: whether both rose or both fell is not known, though each tells of the other."""
    table = Table.from_matrix([[50.0, 0.0, 0.0], [30.0, 70.0, 80.0], [20.0, 90.0, 40.0]])
    cells = [table.find("1", "1"), table.find("1", "total"), table.find("2", "2")]
    protect = Problem.of(table, cells, protection=0.2)
    assert [places.tolist() for places in twins(protect, table.values != 0)] == [[0, 1], [2]]
    problem = AdjustmentProblem.of(protect, further=1.2)
    directions = Directions.of(problem)
    turned = feasible_directions(directions, np.array([True, False, True]), np.random.default_rng(0), 20)
    assert turned is not None and turned[0] == turned[1]
    for method in METHODS:
        found = METHODS[method].solve(problem)
        verify(problem, found)
        assert not too_well_known(problem, found.change).size
        # Somebody holds it possible that the row is above what is published, and that it is below.
        told = conclusions(problem, found.change)
        assert (told.fall[:2] >= 10).all() and (told.rise[:2] >= 10).all()


def test_bounds_that_leave_no_doubt_are_told_before_anything_is_tried() -> None:
    """A figure known to be within a half of itself cannot be moved by a third and stay uncertain by a third."""
    table = Table.from_matrix([[30.0, 80.0, 75.0], [60.0, 90.0, 95.0], [70.0, 40.0, 50.0]])
    known = {"low": 0.5 * table.values, "high": 1.5 * table.values}
    with pytest.raises(Infeasible, match="can neither rise nor fall as far as it must and stay uncertain"):
        AdjustmentProblem.of(Problem.of(table, [0], protection=0.33, **known))
    problem = AdjustmentProblem.of(Problem.of(table, [0], protection=0.15, **known))
    assert problem.can_rise.all() and problem.can_fall.all()


def test_a_table_that_does_not_show_what_was_asked_is_no_witness() -> None:
    """Cells that move alike are asked for together: what the last of them was asked for is not what the first shows."""
    table = Table.from_matrix([[50.0, 0.0, 0.0], [30.0, 70.0, 80.0], [20.0, 90.0, 40.0]])
    cells = [table.find("1", "1"), table.find("1", "total")]
    protect = Problem.of(table, cells, lower=[20.0, 5.0], upper=[20.0, 5.0], high=table.values + 24.0)
    problem = AdjustmentProblem.of(protect)
    found = Possible(problem, solve(problem).change)
    spans = [(20.0, 24.0), (5.0, 10.0)]
    assert found._witness(cells, spans, np.empty(0, dtype=np.int64), 5.0) is None
    shown = found._witness(cells, [(-30.0, -20.0), (-30.0, -5.0)], np.empty(0, dtype=np.int64), 5.0)
    assert shown is None or (shown[cells] <= -20.0 + 1e-6).all()


def small(values: object, *cells: tuple[str, str], **more: object) -> AdjustmentProblem:
    table = Table.from_matrix(np.array(values, dtype=float))
    return AdjustmentProblem.of(Problem.of(table, [table.find(*cell) for cell in cells]), **more)  # type: ignore[arg-type]


def alone() -> AdjustmentProblem:
    """All other cells of the row are empty, and totals are kept: nothing can move."""
    return small([[5, 0, 0], [0, 7, 8], [0, 9, 4]], ("1", "1"), keep_totals=True)


PROBLEMS = [
    lambda: AdjustmentProblem.of(random_plane(np.random.default_rng(1), 5, 5, 3)),
    lambda: AdjustmentProblem.of(cube(np.random.default_rng(3)), further=1.3),
    lambda: AdjustmentProblem.of(hierarchy(np.random.default_rng(4)), relative=False),
    lambda: small([[10, 20, 30], [40, 50, 60]], ("1", "1"), ("2", "3"), limit=0.4),
]
SUITE = conformance.Suite(
    METHODS,
    PROBLEMS,
    verify=verify,
    payload=lambda found: (found.value, found.change.tolist(), found.bound),
    refused=[alone],
    edges=[
        lambda: small([[1, 2], [3, 4]], ("1", "1")),
        lambda: small([[0.1, 0.2], [0.3, 0.4]], ("1", "1"), ("2", "2")),
        lambda: small([[5, 5], [5, 5]], ("1", "1"), ("1", "2"), ("2", "1"), ("2", "2")),
    ],
)


@pytest.mark.parametrize("check", conformance.checks(SUITE), ids=str)
def test_conformance(check: conformance.Check) -> None:
    check()


def test_a_wrong_adjustment_is_not_confirmed() -> None:
    problem = small([[10, 20, 30], [40, 50, 60]], ("1", "1"), further=1.0)
    found = solve(problem)
    verify(problem, found)
    with pytest.raises(AssertionError, match="too near"):
        verify(problem, replace(found, change=np.zeros(12), value=0.0, bound=None, optimal=False))
    one = np.zeros(12)
    one[0] = 1.0
    with pytest.raises(AssertionError, match="add up"):
        verify(problem, replace(found, change=found.change + one))
    with pytest.raises(AssertionError, match="costs"):
        verify(problem, replace(found, value=found.value + 1.0))


def test_the_command_writes_a_table_that_adds_up(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("area,a,b\nnorth,30,80\nsouth,60,10\n", encoding="utf-8")
    (tmp_path / "s.csv").write_text("row,column\nnorth,a\n", encoding="utf-8")
    given = ["adjust", tmp_path / "t.csv", "--sensitive", tmp_path / "s.csv", "--protection", "0.2"]
    ran = run(
        *given,
        "-o",
        tmp_path / "o.csv",
        "--intervals",
        tmp_path / "i.csv",
        "--secret",
        tmp_path / "k",
        "--json",
    )
    assert ran.code == 0 and ran.json["safe"]
    assert {"method", "cost", "bound", "optimal", "safe", "changed"} <= set(ran.json)
    frame = pl.read_csv(tmp_path / "o.csv")
    body = frame.select(pl.exclude("area")).to_numpy()
    assert abs(body[0, 0] - 30) >= 6
    assert (body[:-1].sum(axis=0) == body[-1]).all() and (body[:, :-1].sum(axis=1) == body[:, -1]).all()
    again = run(*given, "-o", tmp_path / "o2.csv", "--secret", tmp_path / "k", "--json")
    assert again.code == 0 and (tmp_path / "o2.csv").read_bytes() == (tmp_path / "o.csv").read_bytes()


def test_too_many_cells_are_refused_before_anything_is_tried() -> None:
    with pytest.raises(
        InputError, match="the table has 1,002,001 cells, and at most 400,000 are adjusted together"
    ):
        shoal.adjust_table(np.ones((1000, 1000)), sensitive=[("1", "1")])


def test_a_file_that_says_something_else_is_refused() -> None:
    found = shoal.adjust_table(np.array([[30, 80], [60, 10]]), sensitive=[("1", "1")], seed=1)
    check_adjusted(found, found.values)
    with pytest.raises(AssertionError):
        check_adjusted(found, found.values + np.tile([1, 0, 0], 3))


def test_tables_of_records_keep_decimals_and_add_up() -> None:
    rng = np.random.default_rng(4)
    firms = pl.DataFrame(
        {
            "region": rng.choice(list("nsew"), 80),
            "sector": rng.choice(list("abc"), 80),
            "v": rng.lognormal(3, 1, 80).round(1),
        }
    )
    made = shoal.tabulate(firms, ["region", "sector"], value="v")
    found = shoal.adjust_table(made, seed=2)
    assert found.audit.safe and found.bound is not None
    assert (np.abs(found.values - np.round(found.values, 1)) < 1e-9).all()
    assert np.abs(made.table.matrix @ found.values).max() < 1e-6
    moved = np.abs(found.values - made.table.values)[made.sensitive]
    problem = found.problem.protect
    assert (moved >= np.minimum(problem.lower, problem.upper) - 1e-9).all()
    assert "not for release" in found.report().html()


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        ([], 2, "say which cells are sensitive"),
        (["--sensitive", "s.csv", "--limit", "2"], 2, "limit"),
        (["--sensitive", "s.csv", "--high", "31", "--low", "29"], 2, "bound"),
        (
            ["--sensitive", "s.csv", "--keep-totals", "--limit", "0.001"],
            3,
            "try a larger --limit or totals that move",
        ),
    ],
)
def test_what_cannot_be_is_said_in_a_line(
    arguments: list[str], code: int, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("area,a,b\nnorth,30,80\nsouth,60,10\n", encoding="utf-8")
    Path("s.csv").write_text("row,column\nnorth,a\n", encoding="utf-8")
    ran = run("adjust", "t.csv", *arguments)
    assert ran.code == code and words in ran.err and len(ran.err.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"limit": 0.001}, "may be one: try a larger limit=, figures with fewer decimals, or shoal round"),
        ({"keep_totals": True}, "try totals that move (without keep_totals=), figures with fewer decimals"),
    ],
)
def test_what_may_help_is_told_of_figures_with_many_digits_too(asked: dict[str, Any], words: str) -> None:
    figures = np.array([[300000.1234, 800.5678], [600.4321, 100.8765]])
    with pytest.raises(Infeasible, match=re.escape(words)):
        shoal.adjust_table(figures, sensitive=[("1", "1")], seed=1, **asked)


def test_counts_that_are_none_are_named_with_their_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("t.csv").write_text("area,a,b\nnorth,30,80\nsouth,60.5,10\n", encoding="utf-8")
    Path("s.csv").write_text("row,column\nnorth,a\n", encoding="utf-8")
    ran = run("adjust", "t.csv", "--sensitive", "s.csv", "--counts")
    assert ran.code == 2 and "60.5" not in ran.err
    assert (
        "the cell row 2, column 'a' is no whole number, so these are no counts; leave out --counts" in ran.err
    )


def count_problem(seed: int, kind: str) -> AdjustmentProblem:
    """Counts with sensitive cells and people who know some of the others."""
    rng = np.random.default_rng(seed)
    plain = random_problem(seed, kind)
    protect, cells = plain.protect, plain.table.cells
    insiders = tuple(rng.choice(cells, int(rng.integers(1, 3)), replace=False) for _ in range(2))
    protect = replace(protect, insiders=insiders if rng.random() < 0.7 else ())
    return AdjustmentProblem.of(
        protect, further=1.0 + 0.5 * rng.random(protect.sensitive.size), limit=plain.limit, whole=True
    )


def leaves_enough(problem: AdjustmentProblem, seen: np.ndarray, *, same_side: bool) -> bool:
    """By all true tables; with ``same_side`` only those in which the other sensitive cells were moved the way they were."""
    protect, values = problem.protect, problem.table.values
    every = possible_tables(problem, seen)
    levels = list(zip(protect.sensitive, protect.lower, protect.upper, protect.required_width, strict=True))
    for known in (np.empty(0, dtype=int), *protect.insiders):
        left = every[(every[:, known] == values[known]).all(axis=1)]
        for cell, lower, upper, width in levels:
            if cell in known:
                continue
            mine = left
            for other, low, high, _ in levels:
                if same_side and other != cell:
                    on_side = seen[other] > values[other]
                    apart = seen[other] - mine[:, other]
                    mine = mine[apart >= high] if on_side else mine[-apart >= low]
            least, most = mine[:, cell].min(), mine[:, cell].max()
            if least > values[cell] - lower or most < values[cell] + upper or most - least < width:
                return False
    return True


def confirmed_as_by_trying_all(seeds: range, kind: str) -> tuple[int, int]:
    """Hold the check against all true tables, for adjustments good and bad; how many of each there were."""
    good = bad = 0
    for seed in seeds:
        try:
            problem = count_problem(seed, kind)
        except (InputError, Infeasible):
            continue
        if problem.table.cells > 9:
            continue
        every = all_adjustments(problem)
        rng = np.random.default_rng(seed)
        for row in every[rng.permutation(len(every))[:4]]:
            change = row - problem.table.values
            given = Adjustment(value=problem.cost(change), bound=None, optimal=False, change=change)
            try:
                verify(problem, given)
                confirmed = True
            except AssertionError as error:
                assert "too closely" in str(error), (seed, str(error))
                confirmed = False
            # There may be more true tables than the check looks at, never fewer.
            assert not confirmed or leaves_enough(problem, row, same_side=False), seed
            assert confirmed or not leaves_enough(problem, row, same_side=True), seed
            good, bad = good + confirmed, bad + (not confirmed)
    return good, bad


@pytest.mark.parametrize("kind", ["plane", "tree"])
def test_the_check_confirms_what_leaves_enough_true_tables(kind: str) -> None:
    good, bad = confirmed_as_by_trying_all(range(40), kind)
    assert good > 10 and bad > 10


@pytest.mark.long
@pytest.mark.parametrize("kind", ["plane", "tree"])
def test_the_check_confirms_what_leaves_enough_true_tables_at_length(kind: str) -> None:
    good, bad = confirmed_as_by_trying_all(range(5000, 6500), kind)
    assert good > 300 and bad > 300


@pytest.mark.parametrize("seed", range(6))
def test_whole_figures_are_known_to_be_whole(seed: int) -> None:
    """A figure of 1 with a level of 0.3 that is shown as 0 was 1 or more: it must be able to be 0 as well, or 2."""
    rng = np.random.default_rng(seed)
    values = rng.integers(1, 60, (3, 3)).astype(float)
    values[0, 0] = 1.0
    found = shoal.adjust_table(values, sensitive=[("1", "1"), ("2", "2")], protection=0.3, seed=seed)
    problem = found.problem
    levels = problem.protect.upper, problem.protect.lower
    assert all((level == np.rint(level)).all() and (level >= 1.0).all() for level in levels)
    moved = np.abs(found.values - problem.table.values)[problem.protect.sensitive]
    assert (moved >= np.ceil(0.3 * problem.table.values[problem.protect.sensitive])).all()


def test_a_time_limit_ends_looking_for_other_adjustments(monkeypatch) -> None:
    table = Table.from_matrix([[10.0, 20.0, 30.0], [40.0, 50.0, 60.0], [70.0, 80.0, 90.0]])
    problem = AdjustmentProblem.of(Problem.of(table, [0, 5], protection=0.1))
    looked = []

    def always_known(problem, change, watch):
        looked.append(change)
        return problem.protect.sensitive[:1]

    monkeypatch.setattr("shoal.tables.rounding.adjustment.exact.too_well_known", always_known)
    with pytest.raises(Infeasible, match="from every adjustment that was found"):
        solve(problem)
    # Two cells rise or fall: four adjustments, and one that leaves room on both sides.
    assert len(looked) == 5
    looked.clear()
    ticks = count(0.0, 10.0)
    with pytest.raises(Infeasible, match="time was over before others were tried"):
        solve(problem, budget=Budget(seconds=5.0, clock=lambda: next(ticks)))
    assert len(looked) == 2
    # Whoever ended it knows why there is nothing.
    looked.clear()
    budget = Budget()
    monkeypatch.setattr(
        "shoal.tables.rounding.adjustment.exact.too_well_known",
        lambda problem, change, watch: (budget.control.cancel(), problem.protect.sensitive[:1])[1],
    )
    with pytest.raises(KeyboardInterrupt):
        solve(problem, budget=budget)


def test_nothing_is_called_impossible_that_has_too_many_digits_to_tell() -> None:
    """The solver called tables impossible of which a half of every figure would do."""
    figures = np.array([[1234567.1234, 2.0, 3.0], [40.0, 5000000.0005, 6.0], [70.0, 8.0, 90.0]])
    table = Table.from_matrix(figures)
    problem = AdjustmentProblem.of(Problem.of(table, [0, 5], protection=0.1))
    none = np.empty(0, dtype=np.int64)
    told = [
        flips.why(one, none, Budget().start())
        for one in (problem, AdjustmentProblem.of(Problem.of(Table.from_matrix(figures.round()), [0, 5])))
    ]
    assert "there may be one" in told[0] and "there may be one" not in told[1]
    # What is not proved is not said to be so.
    assert "was found that moves" in told[1] and "may be too little" in told[1]
    assert "no adjustment moves" in flips.why(
        AdjustmentProblem.of(Problem.of(Table.from_matrix(figures.round()), [0, 5])),
        none,
        Budget().start(),
        proved=True,
    )


def large_figures(seed: int) -> AdjustmentProblem:
    """Figures of ten digits of which a few units are asked, so that shares of them are very small."""
    rng = np.random.default_rng(seed)
    table = Table.from_matrix(rng.integers(10**8, 10**10, (4, 4)).astype(float))
    cells = rng.choice(np.flatnonzero(table.internal), 5, replace=False)
    lower, upper = rng.integers(1, 20, (2, 5)).astype(float)
    bounds = {"low": np.maximum(table.values - 30.0, 0.0), "high": table.values + 30.0}
    return AdjustmentProblem.of(Problem.of(table, cells, lower=lower, upper=upper, **bounds))


def test_what_is_proved_does_not_hang_on_how_small_costs_are() -> None:
    """Costs of a few billionths were called proved whatever the bound said."""
    verdicts = set()
    for seed in (1, 4, 6, 17):
        problem = large_figures(seed)
        one, two = (flips.solve(replace(problem, weight=by * problem.weight)) for by in (1.0, 1e9))
        assert one.bound is not None and two.bound is not None
        assert one.optimal == two.optimal and 1e9 * one.bound == pytest.approx(two.bound, rel=1e-6)
        verdicts.add(one.optimal)
    assert verdicts == {True, False}


def test_a_dearer_change_than_an_unsafe_one_is_not_proved_however_small_costs_are(monkeypatch) -> None:
    problem = large_figures(1)
    cheapest = solve(problem)
    unsafe = iter([problem.protect.sensitive[:1]])
    monkeypatch.setattr(exact, "too_well_known", lambda *given: next(unsafe, too_well_known(*given)))
    found = solve(problem)
    assert found.value > cheapest.value * (1.0 + 1e-3)
    assert found.bound == pytest.approx(cheapest.value, rel=1e-6) and not found.optimal


def test_coarse_units_prove_no_more_than_the_bound_says() -> None:
    """Programmes that count in large shares of a figure take for nothing what a few of the last decimal cost."""
    figures = [
        [6028.0599, 2307576.1627, 321248.8533],
        [0.0, 649732.6384, 17597.9606],
        [628848.5972, 177208.8759, 769698618.1969],
        [1570781.4375, 493979.3379, 0.0],
        [262870.7816, 121201.4669, 0.0],
    ]
    table = Table.from_matrix(np.array(figures))
    cells = np.array([11, 12, 15])
    upper = 0.05 * table.values[cells]
    problem = AdjustmentProblem.of(Problem.of(table, cells, lower=np.zeros(3), upper=upper))
    assert not Directions.of(problem).fine
    for method in (solve, flips.solve):
        found = method(problem)
        # Whole units cost a little more than shares of them do.
        assert found.bound is not None and found.bound < found.value * (1.0 - 1e-6) and not found.optimal


def test_one_of_the_last_decimal_is_enough_beside_many_digits() -> None:
    """The difference of two such figures is off by more than the check forgave, and a good adjustment was refused."""
    table = Table.from_matrix(np.array([[7430694.9313, 8392364.8287], [1051162.9421, 6430001.7003]]))
    for cell in np.flatnonzero(table.internal).tolist():
        problem = AdjustmentProblem.of(Problem.of(table, [cell], lower=[0.0], upper=[0.0]))
        found = solve(problem)
        verify(problem, found)
        assert np.abs(found.change).max() == pytest.approx(1e-4)


def test_directions_without_whole_units_found_prove_nothing(monkeypatch) -> None:
    """Where units are coarse, the cheapest directions may have an adjustment that bringing it to whole units missed."""
    rng = np.random.default_rng(3)
    problem = AdjustmentProblem.of(with_many_digits(random_plane(rng, 4, 4, 4)), further=1.0 + rng.random(4))
    first = solve(problem)
    assert not Directions.of(problem).fine and first.optimal
    # The same with all directions turned costs as much.
    missed = iter([True, True])
    monkeypatch.setattr(
        directions_module,
        "whole_units",
        lambda *given, **named: None if next(missed, False) else whole_units(*given, **named),
    )
    found = solve(problem)
    assert found.value > first.value * (1.0 + 1e-6)
    assert found.bound is not None and found.bound <= first.value * (1.0 + 1e-6) and not found.optimal


@pytest.mark.parametrize(("by", "together"), [(1.0, True), (1000.0, False)])
def test_wide_changes_are_made_whole_after_directions_are_chosen(
    monkeypatch, by: float, together: bool
) -> None:
    """A solver stayed for minutes in the first node of a programme of wide whole numbers, which no limit of work ends."""
    protect = cube(np.random.default_rng(5), 3, 3)
    table = replace(protect.table, values=by * np.rint(protect.table.values))
    problem = AdjustmentProblem.of(Problem.of(table, protect.sensitive, protection=0.1))
    asked = []
    monkeypatch.setattr(
        exact,
        "answer",
        lambda model, *given, **more: asked.append(model.whole) or answer(model, *given, **more),
    )
    found = solve(problem)
    verify(problem, found)
    assert Directions.of(problem).fine and table.network is None
    assert all(whole.all() == together and whole.any() for whole in asked)
    assert (found.change == np.rint(found.change)).all() and found.optimal
