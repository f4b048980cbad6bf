"""Controlled rounding against all roundings there are, and what it gives away against all tables that are possible."""

from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.cli.running import shoal as run
from tests.tables.rounding.enumeration import all_roundings, best_rounding, possible, small_table

import shoal
from shoal.errors import Infeasible, InputError
from shoal.runtime import conformance
from shoal.runtime.secrets import Secret
from shoal.tables.model.table import Table
from shoal.tables.problem import Problem
from shoal.tables.rounding.cell_identity import identities
from shoal.tables.rounding.controlled_rounding.api import posed
from shoal.tables.rounding.controlled_rounding.attack import seen
from shoal.tables.rounding.controlled_rounding.exact import solve
from shoal.tables.rounding.controlled_rounding.methods import METHODS
from shoal.tables.rounding.controlled_rounding.operation import check_rounded
from shoal.tables.rounding.controlled_rounding.problem import RoundingProblem
from shoal.tables.rounding.controlled_rounding.solution import Rounding
from shoal.tables.rounding.controlled_rounding.verify import verify


def random_problem(seed: int, kind: str, *, sensitive: int = 1) -> RoundingProblem:
    """Small counts, a base, targets by chance, and levels for some cells."""
    rng = np.random.default_rng(seed)
    table = small_table(rng, kind, most=5 if kind == "cube" else 9)
    cells = rng.choice(table.cells, sensitive, replace=False)
    most = {"plane": 4 if table.cells == 9 else 3, "tree": 6, "cube": 2}[kind]
    base = float(rng.integers(2, most + 1))
    protect = Problem.of(
        table,
        cells,
        lower=np.minimum(rng.integers(0, 3, sensitive), table.values[cells]),
        upper=rng.integers(0, 3, sensitive),
        sliding=rng.integers(0, 4, sensitive).astype(float),
        # Sometimes the counts are known to be no larger than a figure, which narrows what is possible.
        high=float(table.values.max() + rng.integers(0, 3)) if rng.random() < 0.4 else None,
        # … or somebody knows some of the cells.
        insiders=(rng.choice(table.cells, int(rng.integers(1, 4)), replace=False),) if seed % 3 else (),
    )
    below = np.floor(table.values / base)
    target = below + (rng.random(table.cells) < table.values / base - below)
    if max(table.values.max(), 1) * 2 < base:
        base = 2.0
    return RoundingProblem(
        protect,
        base,
        target,
        steps=1
        + int(rng.random() < 0.3 and (kind == "tree" or (kind == "plane" and base * table.cells < 20))),
        whole=True,
    )


def agree(seeds: range, kind: str) -> tuple[int, int]:
    """Compare with all roundings; how many problems have one, and for how many it was found by looking from outside."""
    safe = cut = 0
    for seed in seeds:
        try:
            problem = random_problem(seed, kind, sensitive=1 + seed % 2)
        except InputError:
            continue
        best = best_rounding(problem)
        if best is None:
            with pytest.raises(Infeasible):
                solve(problem)
            continue
        found = solve(problem)
        verify(problem, found)
        assert found.optimal and found.bound == pytest.approx(found.value)
        assert found.value == pytest.approx(best), seed
        safe, cut = safe + 1, cut + (found.cuts > 0)
    return safe, cut


@pytest.mark.parametrize(("kind", "cases"), [("plane", 150), ("tree", 200), ("cube", 6)])
def test_the_optimum_is_that_of_all_roundings(kind: str, cases: int) -> None:
    safe, cut = agree(range(cases), kind)
    assert safe > cases // 6 and (cut or kind == "cube")


@pytest.mark.long
@pytest.mark.parametrize(("kind", "cases"), [("plane", 1500), ("tree", 3000), ("cube", 80)])
def test_the_optimum_is_that_of_all_roundings_at_length(kind: str, cases: int) -> None:
    safe, cut = agree(range(1000, 1000 + cases), kind)
    assert safe > cases // 6 and (cut or kind == "cube")


@pytest.mark.parametrize("kind", ["plane", "tree"])
def test_intervals_are_those_of_all_possible_tables(kind: str) -> None:
    compared = 0
    for seed in range(60):
        try:
            problem = random_problem(seed, kind, sensitive=2)
        except InputError:
            continue
        roundings = all_roundings(problem)
        multiples = roundings[seed % len(roundings)].astype(np.int64)
        every = possible(problem, multiples)
        found = seen(problem, multiples, all_cells=True)
        low, high = found.bounds(np.arange(problem.table.cells))
        assert low == pytest.approx(every.min(axis=0)) and high == pytest.approx(every.max(axis=0)), seed
        compared += 1
    assert compared > 40


def test_who_knows_the_method_excludes_no_table_that_the_audit_calls_possible() -> None:
    # Whatever true table is possible, chance may have wished for exactly what is seen; then it is what the search returns.
    looked = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        table = Table.from_matrix(rng.integers(0, 7, (2, 2)).astype(float))
        protect = Problem.of(table, [])
        if table.values.max() < 3:
            continue
        published = solve(posed(protect, 3.0, "random", Secret.of_seed(seed), steps=1, counts=True)).multiples
        every = possible(RoundingProblem(protect, 3.0, published, whole=True), published)
        for true in every[rng.permutation(len(every))[:6]]:
            if true.max() < 2:
                continue
            other = Problem.of(replace(table, values=true), [])
            again = solve(RoundingProblem(other, 3.0, published.astype(float), whole=True))
            assert (again.multiples == published).all()
            looked += 1
    assert looked > 30


def test_a_cell_without_company_is_rounded_without_bias() -> None:
    # The target of each cell alone is what chance makes of it: 1 of 5 goes up once in five times.
    table = Table.from_matrix([[1.0, 4.0], [7.0, 5.0]])
    ups = np.array(
        [
            posed(Problem.of(table, []), 5.0, "random", Secret.of_seed(n), steps=1, counts=True).target
            for n in range(2000)
        ]
    )
    assert ups.mean(axis=0) * 5 == pytest.approx(table.values, abs=0.25)
    assert (ups[:, 4] == 1).all()


def test_one_secret_rounds_a_cell_alike_in_all_tables() -> None:
    one = shoal.tabulate(pl.DataFrame({"a": list("xxyy"), "b": list("pqpq")}), ["a", "b"])
    two = shoal.tabulate(pl.DataFrame({"a": list("xxyy"), "c": list("rsrs")}), ["a", "c"])
    same = [identities(made.table)[made.table.find("x", "total")] for made in (one, two)]
    assert same[0] == same[1]
    assert len({*identities(one.table).tolist(), *identities(two.table).tolist()}) == 15


def cube_without() -> RoundingProblem:
    """A table of three dimensions that has no zero-restricted rounding, found by trying."""
    for seed in range(2000):
        rng = np.random.default_rng(seed)
        table = small_table(rng, "cube", most=4)
        if table.values.max() < 2:
            continue
        problem = RoundingProblem(Problem.of(table, []), 2.0, table.values / 2.0, whole=True)
        if not len(all_roundings(problem)):
            return problem
    raise AssertionError("there is such a table")


def levels() -> RoundingProblem:
    rng = np.random.default_rng(11)
    table = Table.from_matrix(rng.integers(0, 40, (5, 6)).astype(float))
    cells = np.flatnonzero(table.internal)[::7]
    protect = Problem.of(
        table, cells, lower=np.minimum(2.0, table.values[cells]), upper=np.full(cells.size, 2.0)
    )
    return posed(protect, 5.0, "random", Secret.of_seed(3), steps=1, counts=True)


def amounts() -> RoundingProblem:
    rng = np.random.default_rng(12)
    table = Table.from_matrix(rng.uniform(0, 50, (4, 5)))
    protect = Problem.of(table, [table.find("2", "3")], protection=0.2)
    return posed(protect, 7.5, "nearest", Secret.of_seed(3), steps=1, counts=False)


def plain(values: object, base: float, steps: int = 1) -> RoundingProblem:
    table = Table.from_matrix(np.array(values, dtype=float))
    return replace(
        posed(Problem.of(table, []), base, "nearest", Secret.of_seed(0), steps=steps, counts=False)
    )


def no_room() -> RoundingProblem:
    table = Table.from_matrix([[10.0, 20.0], [30.0, 40.0]])
    protect = Problem.of(table, [0], lower=[9.0], upper=[9.0])
    return posed(protect, 5.0, "nearest", Secret.of_seed(0), steps=1, counts=True)


PROBLEMS = [
    lambda: random_problem(3, "plane"),
    lambda: random_problem(4, "tree"),
    lambda: random_problem(5, "cube"),
    levels,
    amounts,
]
SUITE = conformance.Suite(
    METHODS,
    PROBLEMS,
    verify=verify,
    payload=lambda found: (found.value, found.multiples.tolist(), found.bound),
    refused=[no_room],
    optima={place: best for place in (0, 1, 2) if (best := best_rounding(PROBLEMS[place]())) is not None},
    edges=[
        lambda: plain([[0, 0], [0, 1]], 2.0),
        lambda: plain([[5, 10], [15, 20]], 5.0),
        lambda: plain([[0.1, 0.2], [0.3, 0.4]], 0.1),
        lambda: plain([[1, 2, 3], [4, 5, 6]], 4.0, steps=3),
    ],
)


@pytest.mark.parametrize("check", conformance.checks(SUITE), ids=str)
def test_conformance(check: conformance.Check) -> None:
    check()


def test_more_steps_are_taken_only_where_one_is_not_enough() -> None:
    problem = cube_without()
    with pytest.raises(Infeasible, match="less than 1 base"):
        solve(problem)
    found = shoal.round_table(problem.protect, 2, objective="nearest", small_totals=True)
    assert found.problem.steps == 2
    assert any("less than 2 bases away" in text for text in found.warnings)
    with pytest.raises(Infeasible):
        shoal.round_table(problem.protect, 2, steps=1, small_totals=True)


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        (lambda m: m - np.eye(1, m.size, 0, dtype=int)[0], "does not add up"),
        (lambda m: m + 3, "too far"),
        (lambda m: m[:-1], "missing"),
    ],
)
def test_a_wrong_rounding_is_not_confirmed(change: object, wrong: str) -> None:
    problem = plain([[3, 8, 11], [6, 1, 14]], 5.0)
    found = solve(problem)
    with pytest.raises(AssertionError, match=wrong):
        verify(problem, replace(found, multiples=change(found.multiples)))  # type: ignore[operator]
    with pytest.raises(AssertionError, match="costs"):
        verify(problem, replace(found, value=found.value + 1, bound=found.value))


def test_a_rounding_that_gives_a_cell_away_is_not_confirmed() -> None:
    # 4 rounded to 5 can be no more than 9: a level of 6 above is not kept.
    table = Table.from_matrix([[4.0, 6.0], [6.0, 14.0]])
    protect = Problem.of(table, [0], lower=[1.0], upper=[6.0])
    problem = RoundingProblem(protect, 5.0, table.values / 5.0, whole=True)
    wrong = Rounding(value=0.0, multiples=np.array([1, 1, 2, 1, 3, 4, 2, 4, 6]))
    wrong = replace(wrong, value=problem.cost(wrong.multiples))
    with pytest.raises(AssertionError, match="computed too closely"):
        verify(problem, wrong)


def counts_file(folder: Path) -> Path:
    (folder / "t.csv").write_text("area,f,m\nnorth,3,8\nsouth,6,1\n", encoding="utf-8")
    return folder / "t.csv"


def test_the_command_writes_a_table_that_adds_up(tmp_path: Path) -> None:
    place, out = counts_file(tmp_path), tmp_path / "o.csv"
    ran = run(
        "round",
        place,
        "--base",
        "5",
        "-o",
        out,
        "--intervals",
        tmp_path / "i.csv",
        "--secret",
        tmp_path / "s",
        "--json",
    )
    assert ran.code == 0
    assert {"method", "cost", "bound", "optimal", "safe", "changed"} <= set(ran.json)
    frame = pl.read_csv(out)
    body = frame.select(pl.exclude("area")).to_numpy()
    assert (body % 5 == 0).all()
    assert (body[:-1].sum(axis=0) == body[-1]).all() and (body[:, :-1].sum(axis=1) == body[:, -1]).all()
    inside = pl.read_csv(tmp_path / "i.csv")
    assert inside.columns == [
        "row",
        "column",
        "value",
        "published",
        "min",
        "max",
        "required_min",
        "required_max",
        "safe",
        "note",
    ]
    assert (inside["min"] <= inside["value"]).all() and (inside["value"] <= inside["max"]).all()
    again = run(
        "round", place, "--base", "5", "-o", tmp_path / "o2.csv", "--secret", tmp_path / "s", "--json"
    )
    assert again.code == 0 and (tmp_path / "o2.csv").read_bytes() == out.read_bytes()


def test_a_file_that_says_something_else_is_refused() -> None:
    found = shoal.round_table(np.array([[3, 8], [6, 1]]), 5, seed=1)
    check_rounded(found, found.values)
    for more in (5, 1):
        with pytest.raises(AssertionError):
            check_rounded(found, found.values + np.tile([more, 0, 0], 3))


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--base", "100"], 2, "more than twice the largest cell"),
        (["--base", "2.5", "--counts"], 2, "must be a whole number of at least 2"),
        (["--base", "5", "--steps", "0"], 2, "steps"),
        (["--base", "0"], 2, "base"),
        (["--base", "5", "--seed", "1", "--secret", "s.txt"], 2, "do not go together"),
    ],
)
def test_what_cannot_be_is_said_in_a_line(
    arguments: list[str], code: int, words: str, tmp_path: Path
) -> None:
    ran = run("round", counts_file(tmp_path), *arguments)
    assert ran.code == code and words in ran.err and len(ran.err.strip().splitlines()) == 1


def test_small_totals_are_named_by_their_place(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("area,f,m\nnorth,1,1\nsouth,16,30\n", encoding="utf-8")
    told = "the base is larger than the total at the cell row 1, column 'total'"
    ran = run("round", tmp_path / "t.csv", "--base", "5", "-o", tmp_path / "out.csv")
    assert ran.code == 2 and told in ran.err and "--small-totals" in ran.err
    assert len(ran.err.strip().splitlines()) == 1 and not (tmp_path / "out.csv").exists()
    ran = run("round", tmp_path / "t.csv", "--base", "5", "--small-totals", "--json")
    assert ran.code == 0 and any(told in text for text in ran.json["warnings"])
    # Empty totals stay empty whatever the base is, and a total as large as the base has something left.
    (tmp_path / "t.csv").write_text("area,f,m\nnorth,0,0\nsouth,5,30\n", encoding="utf-8")
    assert run("round", tmp_path / "t.csv", "--base", "5").code == 0
    (tmp_path / "t.csv").write_text("area,f,m\na,1,1\nb,3,0\nc,16,30\n", encoding="utf-8")
    ran = run("round", tmp_path / "t.csv", "--base", "5", "--json")
    assert (
        ran.code == 2
        and "larger than 2 totals, the first at the cell row 1, column 'total'" in ran.json["error"]
    )


def test_tables_of_records_keep_their_levels() -> None:
    rng = np.random.default_rng(4)
    firms = pl.DataFrame(
        {
            "region": rng.choice(list("nsew"), 60),
            "sector": rng.choice(list("abc"), 60),
            "v": rng.lognormal(3, 1, 60).round(1),
        }
    )
    made = shoal.tabulate(firms, ["region", "sector"], value="v")
    assert len(made.sensitive)
    found = shoal.round_table(made, 50, seed=2)
    assert found.audit.safe and not found.for_release
    low, high = found.audit.bounds(made.sensitive)
    problem = found.problem.protect
    assert (low <= made.table.values[made.sensitive] - problem.lower + 1e-6).all()
    assert (high >= made.table.values[made.sensitive] + problem.upper - 1e-6).all()
    assert "not for release" in found.report().html()


@pytest.mark.parametrize("objective", ["random", "nearest"])
def test_large_tables_are_rounded_by_a_flow_that_finds_the_same(
    objective: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from shoal.tables.rounding.controlled_rounding import exact

    rng = np.random.default_rng(11)
    for _ in range(12):
        figures = rng.integers(0, 30, rng.integers(2, 7, 2)) / float(rng.choice([1, 4])) + 5.0
        given = {"base": float(rng.choice([2, 3, 5])), "objective": objective, "seed": 3}
        plain = shoal.round_table(figures, **given)
        monkeypatch.setattr(exact, "LARGE", 0)
        quick = shoal.round_table(figures, **given)
        monkeypatch.undo()
        assert quick.cost == pytest.approx(plain.cost, abs=1e-9) and quick.bound == pytest.approx(plain.bound)


@pytest.mark.parametrize(("base", "unit"), [(2.5, 1.0), (0.5, 0.1), (5.0, 1.0)])
def test_how_many_decimals_figures_have_is_known(base: float, unit: float) -> None:
    """A whole 1 that is shown as 2.5 with base 2.5 can be 1 to 4, not 0: nothing further down is taken for possible."""
    inner = np.array([[1.0, 4.0, 9.0], [7.0, 6.0, 2.0], [3.0, 8.0, 6.0]]) * unit
    cell = Table.from_matrix(inner).find("1", "1")
    for seed in range(4):
        found = shoal.round_table(inner, base, sensitive=[("1", "1", unit, unit)], seed=seed)
        shown = found.intervals.row(0, named=True)
        possible = [k * unit for k in range(100) if abs(k * unit - found.values[cell]) < base - 1e-9]
        assert shown["min"] >= min(possible) - 1e-9
        assert shown["max"] <= max(possible) + 1e-9
        assert min(possible) <= 1e-9 and max(possible) >= 2.0 * unit - 1e-9


def test_decimals_that_floating_point_misses_do_not_exclude_the_figure_itself() -> None:
    """17 times 0.1 is a little more than 1.7: a figure shown as 1.8 with the base 0.2 can still be 1.7."""
    values = np.array([1.8, 0.0, 1.4, 0.3, 1.8, 1.7, 3.5])
    relations = [
        [(0, 1.0), (1, 1.0), (4, -1.0)],
        [(2, 1.0), (3, 1.0), (5, -1.0)],
        [(4, 1.0), (5, 1.0), (6, -1.0)],
    ]
    table = Table.from_relations(values, relations, {"cell": np.arange(7).astype(object)})
    protect = Problem.of(table, [5, 2], lower=[0.0, 0.1], upper=[0.1, 0.0], high=3.5)
    found = shoal.round_table(protect, 0.2, objective="nearest")
    assert found.problem.steps == 1 and found.audit.safe
    assert found.values[5] == pytest.approx(1.8)


@pytest.mark.parametrize(
    ("inner", "base"),
    [([[1234567890123, 8], [6, 2345678901238]], 5), ([[40000000000.03, 8.0], [6.0, 2345678901.01]], 0.05)],
)
def test_figures_of_many_digits_are_multiples_to_the_last(inner: list[list[float]], base: float) -> None:
    for seed in range(4):
        found = shoal.round_table(np.array(inner), base, seed=seed)
        exact = [Fraction(repr(value)) for value in found.values.tolist()]
        step = Fraction(repr(float(base)))
        assert all((figure / step).denominator == 1 for figure in exact)
        for place in range(found.problem.table.relations):
            cells, signs = found.problem.table.relation(place), found.problem.table.signs_of(place)
            assert sum(exact[cell] * int(sign) for cell, sign in zip(cells, signs, strict=True)) == 0
        true = [Fraction(repr(value)) for value in found.problem.table.values.tolist()]
        assert max(abs(a - b) for a, b in zip(exact, true, strict=True)) < step
