"""Counts by cell keys: the same records give the same figure, chances are those that were designed, and no more is learnt."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from tests.cli.running import shoal as run
from tests.tables.rounding.enumeration import boxed, small_table

import shoal
from shoal.errors import InputError
from shoal.runtime import conformance
from shoal.runtime.secrets import Secret
from shoal.tables.model.table import Table
from shoal.tables.problem import Problem
from shoal.tables.rounding.cell_keys import posterior as posterior_module
from shoal.tables.rounding.cell_keys.api import check_counts
from shoal.tables.rounding.cell_keys.design import solve
from shoal.tables.rounding.cell_keys.keys import (
    KEYS,
    cell_keys,
    known_by_column,
    known_by_values,
    perturbed,
    record_keys,
    scattered,
)
from shoal.tables.rounding.cell_keys.methods import METHODS
from shoal.tables.rounding.cell_keys.operation import check_perturbed
from shoal.tables.rounding.cell_keys.posterior import conclusions, posterior, seen_by_others
from shoal.tables.rounding.cell_keys.problem import DesignProblem
from shoal.tables.rounding.cell_keys.solution import PerturbationTable
from shoal.tables.rounding.cell_keys.verify import verify_design

SUITE = conformance.Suite(
    METHODS,
    [DesignProblem, lambda: DesignProblem(3, 1.5, 1), lambda: DesignProblem(4, 12.0)],
    verify=verify_design,
    payload=lambda found: (found.value, found.chances.tolist(), found.bound),
    edges=[
        lambda: DesignProblem(1, 0.5),
        lambda: DesignProblem(1, 1.0),
        lambda: DesignProblem(20, 300.0, 19),
    ],
)


@pytest.mark.parametrize("check", conformance.checks(SUITE), ids=str)
def test_conformance(check: conformance.Check) -> None:
    check()


def designs(count: int) -> list[DesignProblem]:
    rng = np.random.default_rng(count)
    found = []
    for _ in range(count):
        wide = int(rng.integers(1, 12))
        small = int(rng.integers(0, max(1, min(wide, 5))))
        found.append(DesignProblem(wide, float(rng.uniform(0.01, wide**2 * 0.9)), small))
    return found


def test_every_design_holds() -> None:
    for problem in designs(150):
        found = solve(problem)
        verify_design(problem, found)
        assert found.optimal


@pytest.mark.long
def test_thousands_of_designs_hold() -> None:
    for problem in designs(3000):
        verify_design(problem, solve(problem))


@pytest.mark.parametrize("count", [1, 2, 4, 9])
def test_no_chances_have_more_entropy(count: int) -> None:
    # The slow twin: the same programme by a method that knows nothing of its dual.
    problem = DesignProblem(3, 1.2, 1)
    found = solve(problem).chances[min(count, problem.rows - 1)]
    changes = problem.changes(count)
    mine = found[changes + 3]
    limits = [
        {"type": "eq", "fun": lambda p: p.sum() - 1},
        {"type": "eq", "fun": lambda p: p @ changes},
        {"type": "eq", "fun": lambda p: p @ changes**2 - float(mine @ changes**2)},
    ]
    start = np.full(changes.size, 1 / changes.size)
    best = minimize(
        lambda p: float((p * np.log(np.maximum(p, 1e-300))).sum()),
        start,
        bounds=[(1e-12, 1)] * changes.size,
        constraints=limits,
        method="SLSQP",
        options={"maxiter": 500, "ftol": 1e-14},
    )
    assert -best.fun <= float(-(mine * np.log(mine)).sum()) + 1e-6
    assert best.x == pytest.approx(mine, abs=1e-4)


def test_wrong_chances_are_not_confirmed() -> None:
    problem = DesignProblem()
    found = solve(problem)
    for change, words in (((2, 5, 0.1), "add up to 1"), ((0, 5, -0.5), "0 may change")):
        chances = found.chances.copy()
        chances[change[0], change[1]] += change[2]
        with pytest.raises(AssertionError, match=words):
            verify_design(problem, replace(found, chances=chances))
    shifted = found.chances.copy()
    shifted[6, [4, 6]] += [-0.01, 0.01]
    with pytest.raises(AssertionError, match="bias"):
        verify_design(problem, replace(found, chances=shifted))
    with pytest.raises(AssertionError, match="variance"):
        verify_design(DesignProblem(variance=3.0), found)


def people(count: int = 400, seed: int = 1) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "id": np.arange(count),
            "area": rng.choice([f"a{i}" for i in range(8)], count),
            "sex": rng.choice(["f", "m"], count),
            "age": rng.choice(["young", "old"], count),
        }
    )


def test_the_same_records_give_the_same_figure_in_every_table() -> None:
    frame, secret = people(), Secret.new()
    one = shoal.perturb_table(frame, ["area", "sex"], record="id", secret=secret)
    shuffled = frame.sample(fraction=1.0, shuffle=True, seed=3).select("age", "id", "area")
    two = shoal.perturb_table(shuffled, ["age", "area"], record="id", secret=secret)
    for area in frame["area"].unique():
        first = one.values[one.tabulation.table.find(area, "total")]
        assert first == two.values[two.tabulation.table.find("total", area)]
    other = shoal.perturb_table(frame, ["area", "sex"], record="id")
    assert (other.values != one.values).any()


def test_keys_are_those_of_a_plain_sum() -> None:
    rng = np.random.default_rng(3)
    keys = rng.integers(0, KEYS, 50).astype(np.uint64)
    starts, records = np.array([0, 3, 3, 50]), rng.permutation(50)
    wanted = [sum(int(keys[r]) for r in records[a:b]) % KEYS for a, b in ((0, 3), (3, 3), (3, 50))]
    assert cell_keys(starts, records, keys).tolist() == wanted


def test_changes_have_the_chances_of_the_design() -> None:
    problem = DesignProblem(3, 1.5, 1)
    design = solve(problem)
    rng = np.random.default_rng(5)
    for count in (1, 2, 5, 40):
        keys = rng.integers(0, KEYS, 40_000).astype(np.uint64)
        changes = perturbed(np.full(keys.size, count), keys, design.chances) - count
        seen = np.bincount(changes + 3, minlength=7) / keys.size
        assert seen == pytest.approx(design.chances[min(count, problem.rows - 1)], abs=0.015)


def test_changes_of_parts_say_nothing_of_that_of_their_total() -> None:
    """By the sums of keys themselves some changes never go together, which tells true counts to whoever reckons so."""
    design = solve(DesignProblem(1, 0.2, 0))
    rng = np.random.default_rng(6)
    parts = rng.integers(0, KEYS, (2, 60_000)).astype(np.uint64)
    sums = np.stack([*parts, (parts[0] + parts[1]) & np.uint64(KEYS - 1)])
    counts = np.array([30, 40, 70])

    def together(keys: np.ndarray) -> np.ndarray:
        moved = [
            perturbed(np.full(row.size, count), row, design.chances) - count
            for count, row in zip(counts, keys, strict=True)
        ]
        return np.histogramdd(np.array(moved).T, bins=[(-1.5, -0.5, 0.5, 1.5)] * 3)[0] / keys.shape[1]

    apart = design.chances[-1]
    chances = apart[:, None, None] * apart[None, :, None] * apart[None, None, :]
    assert (together(sums) == 0).any()
    secret = Secret.of_seed(8)
    found = together(np.stack([scattered(row, secret) for row in sums]))
    assert found == pytest.approx(chances, abs=0.01)
    # The same records have the same figure wherever they are counted.
    assert (scattered(sums[0][:9], secret) == scattered(sums[0], secret)[:9]).all()


def test_keys_are_uniform_and_depend_on_the_secret() -> None:
    one, two = (record_keys(list(range(4000)), Secret.of_seed(n)) for n in (1, 2))
    assert (one != two).all() and one.max() < KEYS
    assert np.histogram(one / KEYS, 10, (0, 1))[0] == pytest.approx(np.full(10, 400), abs=90)
    assert known_by_values([(1, "a"), (1, "a"), (2, None)]) == [("1", "a", 0), ("1", "a", 1), ("2", "", 0)]


def test_a_wrong_count_is_not_confirmed() -> None:
    frame = people()
    found = shoal.perturb_table(frame, ["area", "sex"], record="id", seed=4)
    import narwhals as nw

    data = nw.from_native(frame, eager_only=True)
    secret = Secret.of_seed(4)
    keys = record_keys([str(n) for n in frame["id"]], secret)
    right = found.values.astype(int)
    check_counts(found.tabulation, data, ["area", "sex"], keys, secret, found.design, right)
    wrong = right.copy()
    wrong[3] += 1
    with pytest.raises(AssertionError, match="cell area '"):
        check_counts(found.tabulation, data, ["area", "sex"], keys, secret, found.design, wrong)
    check_perturbed(found, found.values)
    with pytest.raises(AssertionError):
        check_perturbed(found, found.values + 1)


def keys_of(table: Table, rng: np.random.Generator) -> np.ndarray:
    """Keys of the cells of a table of two dimensions as records make them: none in an empty cell, sums in totals."""
    assert table.shape is not None
    inner = table.values.reshape(table.shape[0] + 1, -1)[:-1, :-1]
    keys = np.where(inner > 0, rng.integers(0, KEYS, inner.shape), 0)
    wide = np.column_stack([keys, keys.sum(axis=1)])
    return (np.vstack([wide, wide.sum(axis=0)]).ravel() % KEYS).astype(np.uint64)


def tables_behind(
    table: Table, attack: Problem, design: PerturbationTable, published: np.ndarray
) -> np.ndarray:
    """All true tables that may be behind these counts: every cell with a chance, and no part with all records of a total that
    shows another figure.
    """
    every = boxed(table, attack.low, attack.high)
    wide = design.deviation
    rows = np.minimum(every.astype(int), design.chances.shape[0] - 1)
    able = design.chances[rows, np.clip(published - every.astype(int) + wide, 0, 2 * wide)] > 1e-5
    left = every[able.all(axis=1)]
    for place in range(table.relations):
        *parts, total = table.relation(place).tolist()
        for part in parts:
            if published[part] != published[total]:
                left = left[left[:, total] > left[:, part]]
    return left


@pytest.mark.parametrize("seed", range(40))
def test_intervals_are_those_of_all_true_tables_that_are_possible(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = Table.from_matrix(rng.integers(0, 4, (2, 2)).astype(float))
    wide = int(rng.integers(1, 3))
    # With the largest variance counts between the furthest changes are excluded, and that excludes more.
    design = solve(DesignProblem(wide, (0.8, wide**2)[seed % 2], 0))
    counts = table.values.astype(np.int64)
    published = perturbed(counts, keys_of(table, rng), design.chances)
    protect = Problem.of(table, [])
    attack = seen_by_others(protect, design, published)
    left = tables_behind(table, attack, design, published)
    found = conclusions(protect, design, published, all_cells=True)
    low, high = found.bounds(np.arange(table.cells))
    assert low == pytest.approx(left.min(axis=0)) and high == pytest.approx(left.max(axis=0))
    assert (low <= counts).all() and (counts <= high).all()


# Of the last four seeds a linear programme ends at a half.
@pytest.mark.parametrize("seed", [*range(6), 13, 23, 48, 53])
def test_intervals_of_three_dimensions_end_at_whole_counts(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = small_table(rng, "cube", most=4)
    design = solve(DesignProblem(1, 0.4))
    counts = table.values.astype(np.int64)
    keys = np.where(counts.reshape(3, 3, 3)[:2, :2, :2] > 0, rng.integers(0, KEYS, (2, 2, 2)), 0)
    for axis in range(3):
        keys = np.concatenate([keys, keys.sum(axis=axis, keepdims=True)], axis=axis)
    published = perturbed(counts, (keys.ravel() % KEYS).astype(np.uint64), design.chances)
    protect = Problem.of(table, [])
    left = tables_behind(table, seen_by_others(protect, design, published), design, published)
    low, high = conclusions(protect, design, published, all_cells=True).bounds(np.arange(table.cells))
    assert low.tolist() == left.min(axis=0).tolist() and high.tolist() == left.max(axis=0).tolist()


def test_known_counts_are_counted_with_what_is_never_published_so(monkeypatch) -> None:
    frame = pl.DataFrame({"id": range(7), "area": ["a"] * 2 + ["b"] * 5})
    found = shoal.perturb_table(frame, ["area"], record="id", deviation=2, variance=4.0, seed=10)
    assert found.values.tolist() == [9.0, 0.0, 7.0]
    # A total of 7 or 11 and a part of 5 or 9: the other is 2, though by itself it might be 1.
    assert found.disclosed == 1 and found.intervals.row(1, named=True)["min"] == 2.0
    monkeypatch.setattr(posterior_module, "_ENDS", 2)
    large = shoal.perturb_table(frame, ["area"], record="id", deviation=2, variance=4.0, seed=10)
    assert large.disclosed is None and not large.safe


def test_who_uses_that_given_keys_add_up_can_exclude_tables_and_the_attacker_is_said_not_to() -> None:
    design = solve(DesignProblem(1, 0.1))
    rng = np.random.default_rng(0)
    seen = {}
    for counts in ((3, 1), (2, 1)):
        keys = rng.integers(0, KEYS, (20_000, 2)).astype(np.uint64)
        parts = np.column_stack(
            [perturbed(np.full(20_000, i), keys[:, n], design.chances) for n, i in enumerate(counts)]
        )
        total = perturbed(np.full(20_000, sum(counts)), keys.sum(axis=1) % KEYS, design.chances)
        seen[counts] = {(int(a), int(b), int(t)) for (a, b), t in zip(parts, total, strict=True)}
    # A 3 would be a 2 only with a key near 1 in both the part and the total, which no key of the other part makes of it.
    assert (3, 1, 4) in seen[3, 1] and (3, 1, 4) not in seen[2, 1]
    row = Table.from_relations([3.0, 1.0, 4.0], [[(0, 1.0), (1, 1.0), (2, -1.0)]], {"cell": np.arange(3)})
    low, high = conclusions(Problem.of(row, []), design, np.array([3, 1, 4]), all_cells=True).bounds(
        np.arange(3)
    )
    assert low[0] == 2 and high[0] == 4
    given = people().with_columns(key=pl.Series(rng.random(400)))
    told = [
        shoal.perturb_table(given, ["area", "sex"], **said).attacker
        for said in ({"record_key": "key"}, {"record": "id", "seed": 1})
    ]
    assert ["does not use that the key of a total is the sum" in text for text in told] == [True, False]


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=80, deadline=None)
def test_safe_is_what_all_true_tables_leave_open(seed: int) -> None:
    rng = np.random.default_rng(seed)
    table = Table.from_matrix(rng.integers(0, 4, (2, int(rng.integers(2, 4)))).astype(float))
    # The largest variance there is leaves only the furthest changes: counts between them are excluded.
    wide = int(rng.integers(1, 3))
    design = solve(
        DesignProblem(wide, float(rng.choice([0.2, 0.8, wide**2])), int(rng.integers(0, min(wide, 2))))
    )
    counts = table.values.astype(np.int64)
    published = perturbed(counts, keys_of(table, rng), design.chances)
    cells = np.flatnonzero((counts > 0) & (counts < 3))
    protect = Problem.of(table, cells, protection=float(rng.choice([0.0, 0.5, 1.0])))
    left = tables_behind(table, seen_by_others(protect, design, published), design, published)
    needs = np.maximum(1.0, protect.lower + protect.upper)
    safe = ((left.max(axis=0) - left.min(axis=0))[cells] >= needs - 1e-6).all()
    assert conclusions(protect, design, published, all_cells=False).safe == safe


def test_an_empty_cell_is_excluded_where_total_and_part_differ() -> None:
    # A 3 and a 0 with a total of 4: were the second cell empty, both figures were those of the same records.
    row = Table.from_relations([3.0, 1.0, 4.0], [[(0, 1.0), (1, 1.0), (2, -1.0)]], {"cell": np.arange(3)})
    design = solve(DesignProblem(1, 0.5))
    seen = np.array([3, 0, 4])
    found = conclusions(Problem.of(row, [1], protection=0.0), design, seen, all_cells=True)
    assert not found.safe
    same = np.array([4, 0, 4])
    assert conclusions(Problem.of(row, [1], protection=0.0), design, same, all_cells=True).safe


def test_certainty_is_that_of_counting_draws() -> None:
    problem = DesignProblem(2, 1.0)
    design = solve(problem)
    counts = np.array([1, 1, 2, 3, 3, 3, 8])
    rng = np.random.default_rng(2)
    seen = 2
    draws = np.array(
        [perturbed(counts, rng.integers(0, KEYS, 7).astype(np.uint64), design.chances) for _ in range(20_000)]
    )
    hits = (draws == seen).sum(axis=0)
    share = hits[counts == 2].sum() / hits.sum()
    published = counts.copy()
    found = posterior(design, counts, published, np.array([2]))
    assert found is not None and found.mean == pytest.approx(share, abs=0.02)


def test_the_command_keeps_its_secret_and_writes_internal_files(tmp_path: Path) -> None:
    people().write_csv(tmp_path / "p.csv")
    given = [
        "perturb-table",
        tmp_path / "p.csv",
        "--dimensions",
        "area,sex",
        "--record",
        "id",
        "--secret",
        tmp_path / "s",
    ]
    more = ["--intervals", tmp_path / "i.csv", "--perturbation-table", tmp_path / "t.csv"]
    ran = run(*given, *more, "-o", tmp_path / "o.csv", "--json")
    assert ran.code == 0 and ran.json["safe"] and ran.json["for_release"]
    assert {"method", "cost", "bound", "optimal", "safe", "changed"} <= set(ran.json)
    assert (tmp_path / "s").stat().st_mode & 0o077 == 0
    assert set(pl.read_csv(tmp_path / "t.csv")["note"]) == {"internal"}
    assert pl.read_csv(tmp_path / "i.csv").columns[-4:] == ["max", "required_width", "safe", "note"]
    again = run(*given, "-o", tmp_path / "o2.csv", "--json")
    assert again.code == 0 and (tmp_path / "o2.csv").read_bytes() == (tmp_path / "o.csv").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--value", "id"], "record keys protect counts"),
        (["--record", "sex"], "does not tell the records apart"),
        (["--variance", "26"], "--variance must be at most 25, the square of --deviation, not 26"),
        (["--small", "5"], "--small must be at most 4, one less than --deviation, not 5"),
        (["--record", "idd"], "did you mean 'id'"),
        (["--seed", "1", "--secret", "s"], "do not go together"),
    ],
)
def test_what_cannot_be_is_said_in_a_line(arguments: list[str], words: str, tmp_path: Path) -> None:
    people(40).write_csv(tmp_path / "p.csv")
    ran = run("perturb-table", tmp_path / "p.csv", "--dimensions", "area,sex", *arguments)
    assert ran.code == 2 and words in ran.err and len(ran.err.strip().splitlines()) == 1


def test_a_table_that_gives_a_count_away_is_refused(tmp_path: Path) -> None:
    # Three cells of one record, published as 0, are at most 1 each; a total published as 4 is at least 3: each is 1.
    # Published as 1 or 2 they are at least 1, and a total published as 2 is at most 3.
    frame = pl.DataFrame({"id": [1, 2, 3], "a": ["x", "y", "z"]})
    asked = {"record": "id", "deviation": 1, "variance": 0.9}
    found = [shoal.perturb_table(frame, ["a"], seed=n, **asked) for n in range(80)]
    unsafe = [n for n, item in enumerate(found) if not item.audit.safe]
    seen = [item.values.tolist() for item in found]
    telling = [n for n, row in enumerate(seen) if row == [4, 0, 0, 0] or (row[0] == 2 and min(row) > 0)]
    assert unsafe == telling != []
    assert found[unsafe[0]].disclosed == 4
    frame.write_csv(tmp_path / "p.csv")
    given = [
        "--dimensions",
        "a",
        "--record",
        "id",
        "--deviation",
        "1",
        "--variance",
        "0.9",
        "--seed",
        unsafe[0],
    ]
    ran = run("perturb-table", tmp_path / "p.csv", *given, "-o", tmp_path / "o.csv")
    assert ran.code == 3 and "can be computed too closely" in ran.err and not (tmp_path / "o.csv").exists()


def test_sums_are_refused_in_python() -> None:
    with pytest.raises(InputError, match="Round, adjust or suppress"):
        shoal.perturb_table(people(), ["area"], value="id")


def test_totals_with_all_records_in_one_cell_are_counted() -> None:
    frame = pl.DataFrame(
        {"id": range(12), "area": ["n"] * 5 + ["s"] * 7, "sex": ["f"] * 5 + ["f"] * 3 + ["m"] * 4}
    )
    found = shoal.perturb_table(frame, ["area", "sex"], record="id", seed=1, variance=1.0, deviation=3)
    place = found.tabulation.table.find
    # North has women only, and men live in the south only.
    assert found.values[place("n", "f")] == found.values[place("n", "total")]
    assert found.values[place("s", "m")] == found.values[place("total", "m")]
    assert any("2 totals have all records in one cell" in text for text in found.warnings)
    mixed = frame.with_columns(sex=pl.Series(["f", "m"] * 6))
    clean = shoal.perturb_table(mixed, ["area", "sex"], record="id", seed=1, variance=1.0, deviation=3)
    assert not any("in one cell" in text for text in clean.warnings)


def test_a_record_keeps_its_key_however_its_number_was_read() -> None:
    assert known_by_column([1, 2, 30], "id") == known_by_column([1.0, 2.0, 30.0], "id") == ["1", "2", "30"]
    assert known_by_column([1.5, 2.0], "id") == ["1.5", "2"]
    with pytest.raises(InputError, match="record 2 has no value"):
        known_by_column([1.0, float("nan")], "id")


@pytest.mark.parametrize("seed", range(8))
def test_of_totals_with_two_parts_group_and_empty_say_the_same(seed) -> None:
    """That one part has all records and that the other is empty is one fact, whichever rule asks for it."""
    rng = np.random.default_rng(seed)
    rows = [("p", "x")] * int(rng.integers(2, 9)) + [("q", "x")] * int(rng.integers(1, 9))
    rows += [("q", "y")] * int(rng.integers(1, 4))
    frame = pl.DataFrame(rows, schema=["a", "b"], orient="row").with_row_index("id")
    found = {
        rule: shoal.perturb_table(frame, ["a", "b"], record="id", rules=[rule], seed=seed)
        for rule in ("group(1)", "empty(1)")
    }
    assert not found["group(1)"].safe and not found["empty(1)"].safe
    table = found["empty(1)"].tabulation.table
    assert table.find("p", "y") in found["empty(1)"].audit.unsafe


def test_an_empty_cell_whose_total_has_others_is_judged_by_the_perturbation_table() -> None:
    rows = [(a, b) for a in "pqr" for b in "xyz" if (a, b) != ("p", "x") for _ in range(6)]
    frame = pl.DataFrame(rows, schema=["a", "b"], orient="row").with_row_index("id")
    found = shoal.perturb_table(frame, ["a", "b"], record="id", rules=["empty(1)"], seed=1)
    assert found.tabulation.sensitive.size == 1 and not found.audit.unsafe.size


def test_no_programme_is_solved_for_groups_that_no_keys_hide(monkeypatch) -> None:
    from shoal.tables.safety import groups

    def never(*given: object, **how: object) -> None:
        raise AssertionError("a programme was solved")

    monkeypatch.setattr(groups._Changes, "furthest", never)
    rows = [("p", "x", "u")] * 5 + [("q", "x", "u")] * 4 + [("q", "y", "v")] * 3
    frame = pl.DataFrame(rows, schema=["a", "b", "c"], orient="row").with_row_index("id")
    found = shoal.perturb_table(frame, ["a", "b", "c"], record="id", rules=["group(1)"], seed=1)
    assert set(found.tabulation.sensitive.tolist()) <= set(found.audit.unsafe.tolist())


def test_of_an_interval_a_width_is_required_and_no_ends() -> None:
    """Where in it the true count lies is chance."""
    found = shoal.perturb_table(people(60), ["area", "sex"], record="id", seed=1, rules=["frequency(5,50)"])
    inside = found.intervals
    assert not {"required_min", "required_max"} & set(inside.columns)
    asked = inside.filter(pl.col("safe").is_not_null())
    assert asked.height == found.audit.problem.sensitive.size == inside["required_width"].count() > 0
    # Half of the count on both sides.
    assert (asked["required_width"] == asked["value"]).all()


def test_it_is_said_where_whole_tables_are_too_many_to_look_at(monkeypatch) -> None:
    def notes() -> str:
        given = {"record": "id", "seed": 1, "rules": ["frequency(5)"]}
        return " ".join(shoal.perturb_table(people(60), ["area", "sex"], **given).notes)

    assert "whole tables" not in notes()
    monkeypatch.setattr("shoal.tables.rounding.cell_keys.warnings.WHOLE_NUMBERS", 5)
    monkeypatch.setattr("shoal.tables.rounding.cell_keys.posterior.WHOLE_NUMBERS", 5)
    assert "more than 5 cells" in notes()
