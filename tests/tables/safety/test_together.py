"""What published tables give away together: linked ones as one system, those of two periods, against brute force."""

from itertools import product

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from tests.cli.running import shoal as run

import shoal
from shoal.errors import InputError
from shoal.tables.files.public_files import public_part, read_public
from shoal.tables.model.linked import link
from shoal.tables.model.tabulation import tabulate
from shoal.tables.public_table import PublicTable
from shoal.tables.safety.judging import Shown, is_point, required_of
from shoal.tables.safety.together import tables_together


def records(seed: int, size: int = 40) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "a": rng.choice(["x", "y", "z"], size),
            "b": rng.choice(["p", "q", "r"], size),
            "c": rng.choice(["u", "v"], size),
            "v": rng.integers(1, 90, size).astype(float),
        }
    )


def slow_interval(tables, hidden, key) -> tuple[float, float]:
    """The least and the most a cell can be, by linear programmes over the cells of both tables."""
    keys = {}
    for table in tables:
        for cell in range(table.table.cells):
            own = table.table.key(cell)
            wide = tuple(own.get(name, "total") for name in "abc")
            keys.setdefault(wide, float(table.table.values[cell]))
    place = {wide: n for n, wide in enumerate(keys)}
    rows = []
    for table in tables:
        for number in range(table.table.relations):
            row = np.zeros(len(keys))
            members, signs = table.table.relation(number), table.table.signs_of(number)
            for cell, sign in zip(members.tolist(), signs, strict=True):
                own = table.table.key(cell)
                row[place[tuple(own.get(name, "total") for name in "abc")]] += sign
            rows.append(row)
    bounds = [(0, None) if wide in hidden else (value, value) for wide, value in keys.items()]
    goal = np.zeros(len(keys))
    goal[place[key]] = 1.0
    ends = [
        linprog(sign * goal, A_eq=np.array(rows), b_eq=np.zeros(len(rows)), bounds=bounds) for sign in (1, -1)
    ]
    assert all(end.status in (0, 3) for end in ends)
    return ends[0].fun, np.inf if ends[1].status == 3 else -ends[1].fun


@settings(max_examples=12, deadline=None)
@given(st.integers(0, 10**6))
def test_linked_tables_are_one_system(seed: int) -> None:
    frame = records(seed, 25)
    one, two = (tabulate(frame, ["a", other], value="v", rules=["frequency(3,10)"]) for other in "bc")
    rng = np.random.default_rng(seed)
    masks = []
    for made in (one, two):
        mask = (rng.random(made.table.cells) < 0.35) | (made.status == "u")
        masks.append(mask & (made.table.values > 0))
    shown = [
        Shown(public_part(made.table, mask), required_of(made.problem(), made.table.dimensions))
        for made, mask in zip((one, two), masks, strict=True)
    ]
    found = tables_together(*shown)
    # A cell that one of them shows is known; the others by linear programmes of their own.
    seen = {}
    for made, mask in zip((one, two), masks, strict=True):
        for cell in range(made.table.cells):
            wide = tuple(made.table.key(cell).get(name, "total") for name in "abc")
            seen[wide] = seen.get(wide, False) or not mask[cell]
    hidden = {wide for wide, known in seen.items() if not known}
    narrow = 0
    for made in (one, two):
        problem = made.problem()
        for cell, lower, upper in zip(problem.sensitive, problem.lower, problem.upper, strict=True):
            wide = tuple(made.table.key(int(cell)).get(name, "total") for name in "abc")
            low, high = slow_interval((one, two), hidden, wide)
            value = made.table.values[cell]
            slack = 1e-6 * max(1.0, value)
            narrow += low > value - lower + slack or high < value + upper - slack or high - low <= 1e-6 * high
    assert found.figures["too_narrow"] == narrow and found.discloses == (narrow > 0)


def test_audit_takes_what_is_published_beside_a_table() -> None:
    frame = records(7)
    one, two = (tabulate(frame, ["a", other], value="v", rules=["frequency(6)"]) for other in "bc")
    first = shoal.suppress(one, insiders=False)
    alone = shoal.audit(one, first.pattern, insiders=False)
    assert alone.safe and not alone.together
    # The same table without a hidden cell: everything is known.
    bare = one.frame.select("a", "b", "value")
    given_away = shoal.audit(one, first.pattern, insiders=False, beside=bare)
    assert not given_away.safe and given_away.together[0].discloses
    assert given_away.together[0].figures["too_narrow"] >= one.sensitive.size
    # Both protected as one system, then published apart: nothing more is known.
    both = shoal.suppress(link([one, two]), insiders=False)
    mask = both.problem.hidden_mask(both.complementary)
    keys = {tuple(both.problem.table.key(int(cell)).values()) for cell in np.flatnonzero(mask)}
    pattern = [key[:2] for key in keys if key[2] == "total"]
    other = two.frame.select("a", "c", "value").with_columns(
        pl.struct("a", "c", "value")
        .map_elements(
            lambda row: None if (row["a"], "total", row["c"]) in keys else row["value"],
            return_dtype=pl.Float64,
        )
        .alias("value")
    )
    good = shoal.audit(one, pattern, insiders=False, beside=[other])
    assert good.safe and good.together[0].discloses is False


def test_two_periods_by_command_and_of_published_files_alone(tmp_path) -> None:
    frame = records(3, 60)
    later = frame.with_columns(v=pl.col("v") * 1.01)
    for name, own in (("last", frame), ("this", later)):
        own.write_csv(tmp_path / f"{name}.csv")
    how = ("--dimensions", "a,b", "--value", "v", "--rule", "frequency(6)", "--no-insiders")
    first = run(
        "suppress",
        tmp_path / "last.csv",
        *how,
        "--rule",
        "p-percent(60)",
        "--published",
        tmp_path / "out-last.csv",
    )
    second = run(
        "suppress", tmp_path / "this.csv", *how, "-o", tmp_path / "p.csv", "--published", tmp_path / "out.csv"
    )
    assert first.code == second.code == 0, first.err + second.err
    audit = (
        "audit",
        tmp_path / "this.csv",
        tmp_path / "p.csv",
        *how,
        "--beside",
        tmp_path / "out-last.csv",
        "--json",
    )
    unknown = run(*audit)
    # What cannot be judged is not safe.
    assert unknown.code == 3 and unknown.json["together"][0]["discloses"] is None
    assert unknown.json["together"][0]["crossed"] >= 0
    tight = run(*audit, "--change", 0.02)
    crossed = tight.json["together"][0]["crossed"]
    assert tight.code == (3 if tight.json["together"][0]["discloses"] else 0)
    shown = pl.read_csv(tmp_path / "last.csv")
    assert crossed >= 0 and shown.height == 60
    # A last period that showed everything tells everything that changed little.
    tabulate(frame, ["a", "b"], value="v").frame.select("a", "b", "value").write_csv(tmp_path / "all.csv")
    open_ = run("audit", tmp_path / "this.csv", tmp_path / "p.csv", *how, "--beside", tmp_path / "all.csv", "--change",
                0.02, "--json")  # fmt: skip
    assert open_.code == 3 and open_.json["together"][0]["too_narrow"] >= open_.json["sensitive"] > 0
    assert open_.json["unsafe"] == [] and len(open_.json["together"][0]["cells"]) > 0
    # Somebody who has nothing but two published tables.
    public = run("audit", tmp_path / "out.csv", "--beside", tmp_path / "out.csv", "--json")
    assert public.code == 0 and public.json["together"][0]["discloses"] is False
    same = tabulate(later, ["a", "b"], value="v").frame.select("a", "b", "value")
    same.write_csv(tmp_path / "same.csv")
    both = run("audit", tmp_path / "out.csv", "--beside", tmp_path / "same.csv")
    assert both.code == 3 and "together with same.csv" in both.out and "gives cells away" in both.out


def test_other_forms_and_names_of_totals_are_read() -> None:
    rows = {"A": ["x", "y", "Total"], "B": ["p", "p", "p"], "value": [1.0, None, 3.0]}
    assert read_public(pl.DataFrame(rows), "t").hidden == (("y", "p"),)
    sdmx = pl.DataFrame(
        {
            "DATAFLOW": ["f"] * 3,
            "A": ["x", "y", "_T"],
            "OBS_VALUE": ["1", "", "3"],
            "CONF_STATUS": list("FCF"),
        }
    )
    assert read_public(sdmx, "t").intervals() == {("y",): pytest.approx((2.0, 2.0))}
    matrix = pl.DataFrame(
        {"r": ["a", "b", "ALL"], "x": [1, 3, 4], "y": [2, None, None], "All": [3, None, None]}
    )
    assert len(read_public(matrix, "t").hidden) == 4
    wrong = pl.DataFrame({"A": ["x", "y", "Total"], "value": [1.0, 2.0, 4.0]})
    with pytest.raises(InputError, match="totals of 't' do not add up, the first at the cell A 'Total';"):
        read_public(wrong, "t")
    assert read_public(wrong, "t", slack=0.5).hidden == ()


def checked_beside_changed(seed: int) -> bool:
    """A table with hidden cells beside a changed one of other dimensions, and both turned round; whether anything was found."""
    frame = records(seed, 25)
    one, two = (tabulate(frame, ["a", other], value="v", rules=["frequency(3,10)"]) for other in "bc")
    rng = np.random.default_rng(seed)
    mask = ((rng.random(one.table.cells) < 0.3) | (one.status == "u")) & (one.table.values > 0)
    away = float(rng.choice([2.0, 20.0, 60.0]))
    # Figures that were changed by no more than that, not below 0.
    moved = np.maximum(np.round(two.table.values + rng.uniform(-away, away, two.table.cells)), 0.0)
    moved = np.clip(moved, two.table.values - away, two.table.values + away)
    plain = public_part(two.table, np.zeros(two.table.cells, dtype=bool))
    seen = PublicTable(plain.dimensions, dict(zip(plain.cells, moved.tolist(), strict=True)), plain.relations)
    shown = [
        Shown(public_part(one.table, mask), required_of(one.problem(), one.table.dimensions)),
        Shown(seen.changed(away), required_of(two.problem(), two.table.dimensions)),
    ]
    found = tables_together(*shown)
    assert tables_together(*shown[::-1]).figures == found.figures
    place: dict[tuple[str, ...], int] = {}
    bounds: list[tuple[float, float]] = []
    rows = []
    for made, ends in (
        (one, [(0.0, np.inf) if gone else (v, v) for gone, v in zip(mask, one.table.values, strict=True)]),
        (two, [(max(v - away, 0.0), v + away) for v in moved.tolist()]),
    ):
        own = []
        for cell, (low, high) in enumerate(ends):
            wide = tuple(made.table.key(cell).get(name, "total") for name in "abc")
            if wide not in place:
                place[wide] = len(bounds)
                bounds.append((0.0, np.inf))
            before = bounds[place[wide]]
            bounds[place[wide]] = max(low, before[0]), min(high, before[1])
            own.append(place[wide])
        for number in range(made.table.relations):
            row = np.zeros(60)
            for cell, sign in zip(
                made.table.relation(number).tolist(), made.table.signs_of(number), strict=True
            ):
                row[own[cell]] += sign
            rows.append(row)
    matrix = np.array(rows)[:, : len(bounds)]
    limits = [(low, None if np.isinf(high) else high) for low, high in bounds]
    narrow = 0
    for made in (one, two):
        problem = made.problem()
        for cell, lower, upper in zip(problem.sensitive, problem.lower, problem.upper, strict=True):
            goal = np.zeros(len(bounds))
            goal[place[tuple(made.table.key(int(cell)).get(name, "total") for name in "abc")]] = 1.0
            least, most = (
                linprog(sign * goal, A_eq=matrix, b_eq=np.zeros(len(rows)), bounds=limits)
                for sign in (1.0, -1.0)
            )
            assert least.status == 0 and most.status in (0, 3)
            low, high = least.fun, np.inf if most.status == 3 else -most.fun
            value = made.table.values[cell]
            slack = 1e-6 * max(1.0, value)
            narrow += low > value - lower + slack or high < value + upper - slack or high - low <= 1e-6 * high
    assert found.figures["too_narrow"] == narrow and found.discloses == (narrow > 0)
    return narrow > 0


def test_changed_tables_are_one_system_with_others() -> None:
    found = [checked_beside_changed(seed) for seed in range(30)]
    assert any(found) and not all(found)


@pytest.mark.long
def test_changed_tables_are_one_system_with_others_at_length() -> None:
    assert sum(checked_beside_changed(seed) for seed in range(1000, 2500)) > 100


def test_a_cell_of_both_tables_that_becomes_known_is_one_cell() -> None:
    frame = pl.DataFrame({"row": ["r", "s"], "a": [1.0, 8.0], "b": [8.0, 3.0], "c": [5.0, 2.0]})
    pattern = [("r", "a", "primary"), *((row, column, "complementary") for row, column in ("rb", "sa", "sb"))]
    # At most 1 away: the last cell is 3 at most, so the one above it 8 at least, and the first 1 at most, and at least.
    rounded = pl.DataFrame(
        {
            "row": ["r", "s", "total"],
            "a": [2.0, 8.0, 10.0],
            "b": [8.0, 2.0, 10.0],
            "c": [4.0, 2.0, 6.0],
            "total": [14.0, 12.0, 26.0],
        }
    )
    found = shoal.audit(
        frame, pattern, sensitive=[("r", "a", 0.0, 0.0)], beside=rounded, within=1.0, counts=True
    ).together[0]
    assert found.discloses and found.figures == {"exact": 4, "too_narrow": 1}


def test_the_command_takes_how_far_figures_beside_it_are_off(tmp_path) -> None:
    (tmp_path / "t.csv").write_text(
        "row,a,b,c,total\nr,10,20,30,60\ns,50,15,22,87\nu,17,38,19,74\ntotal,77,73,71,221\n"
    )
    (tmp_path / "p.csv").write_text(
        "row,column,kind\nr,a,primary\nr,b,complementary\ns,a,complementary\ns,b,complementary\n"
    )
    (tmp_path / "s.csv").write_text("row,column,lower,upper\nr,a,5,5\n")
    # The same table in multiples of 5, each less than 5 away: alone it leaves of the cell 6 to 14.
    (tmp_path / "rounded.csv").write_text(
        "row,a,b,c,total\nr,10,20,30,60\ns,50,15,20,85\nu,15,40,20,75\ntotal,75,75,70,220\n"
    )
    how = ("audit", tmp_path / "t.csv", tmp_path / "p.csv", "--sensitive", tmp_path / "s.csv")
    alone = run(*how, "--json")
    assert alone.code == 0 and alone.json["safe"]
    found = run(*how, "--beside", tmp_path / "rounded.csv", "--within", 4, "--json")
    assert found.code == 3 and found.json["together"][0]["too_narrow"] == 1
    assert found.json["together"][0]["cells"] == [{"row": "r", "column": "a"}]
    wide = run(*how, "--beside", tmp_path / "rounded.csv", "--within", 5, "--json")
    assert wide.code == 0 and wide.json["together"][0]["discloses"] is False
    # As they are, the figures differ, so that they would be of another period.
    period = run(*how, "--beside", tmp_path / "rounded.csv", "--json").json["together"][0]
    assert period["discloses"] is None and "if they were rounded or perturbed" in period["detail"]
    far = run(*how, "--beside", tmp_path / "rounded.csv", "--within", 1, "--json")
    assert (
        far.json["together"][0]["discloses"] is None
        and "of different data" in far.json["together"][0]["detail"]
    )
    wrong = run(*how, "--beside", tmp_path / "rounded.csv", "--within", 4, "--change", 0.1)
    assert wrong.code == 2 and "--within is for changed figures of the same data" in wrong.err
    nothing = run(*how, "--within", 4)
    assert nothing.code == 2 and "--beside" in nothing.err


@pytest.mark.parametrize("large", [1e3, 1e6, 1e9])
def test_a_small_figure_beside_large_ones_is_known_all_the_same(large) -> None:
    # What sums are off by in their last digits must not be taken for protection of a cell of 1.
    table = pl.DataFrame({"a": ["x", "y", "total"], "value": [None, large + 2.0, large + 3.0]})
    found = read_public(table, "a table").intervals()
    assert found is not None
    assert is_point(found["x",])


@pytest.mark.parametrize("grand", [True, False])
def test_a_subtotal_of_one_table_is_the_sum_of_parts_of_another(grand) -> None:
    """Of d1 the other table shows 70 children, and this one 40 of them: 30 are left for the hidden cell."""
    columns = {"0-9": [30, 50, 60], "10-19": [40, 45, 50], "20-39": [60, 70, 80], "40+": [80, 90, 70]}
    ages = pl.DataFrame({"row": ["d1", "d2", "d3"], **columns})
    hidden = [(row, column) for row in ("d1", "d2") for column in ("0-9", "20-39")]
    tree = {"0-9": "child", "10-19": "child", "20-39": "adult", "40+": "adult"}
    cells = [
        (row, column, figure)
        for row, child, adult in (("d1", 70, 140), ("d2", 95, 160), ("d3", 110, 150))
        for column, figure in [("child", child), ("adult", adult), ("Total", child + adult)][: 2 + grand]
    ]
    cells += [("d3", column, figures[2]) for column, figures in columns.items()]
    other = pl.DataFrame(cells, schema=["row", "column", "value"], orient="row")
    asked = {"sensitive": [("d1", "0-9")], "beside": [other]}
    found = shoal.audit(ages, hidden, **asked, hierarchies={"column": tree})
    assert not found.safe and found.together[0].discloses
    assert ("d1", "0-9") in found.together[0].cells
    # Levels that nobody shows are skipped.
    deeper = {
        **{code: f"{code} years" for code in columns},
        **{f"{code} years": up for code, up in tree.items()},
    }
    assert not shoal.audit(ages, hidden, **asked, hierarchies={"column": deeper}).safe
    # With other hierarchies the second table does not add up.
    with pytest.raises(InputError, match="do not add up"):
        shoal.audit(ages, hidden, **asked, hierarchies={"column": {**tree, "10-19": "adult"}})


def in_a_circle(rows: list[tuple[str, str, str, float]]) -> tuple[pl.DataFrame, list[pl.DataFrame]]:
    """Records of three dimensions, and what is published of a by c and of b by c."""
    frame = pl.DataFrame(rows, schema=["a", "b", "c", "v"], orient="row")
    beside = []
    for own in ("a", "c"), ("b", "c"):
        # By chance a code may be the sum of the others.
        made = tabulate(frame, list(own), value="v", rules=["frequency(1)"], source="records")
        beside.append(made.frame.select(*own, pl.col("value").cast(pl.Float64)))
    return frame, beside


def test_three_tables_in_a_circle_tell_what_no_two_of_them_do() -> None:
    # All of a0 is in c0 and all of b1 in c1: nothing is in a0 and b1, and with the totals the other three are known.
    rows = [
        ("a0", "b0", "c0", 5.0),
        ("a1", "b0", "c0", 2.0),
        ("a1", "b1", "c1", 6.0),
        ("a1", "b0", "c1", 4.0),
    ]
    frame, beside = in_a_circle(rows)
    made = tabulate(
        frame, ["a", "b"], value="v", rules=["frequency(1)"], zeros="suppressible", source="records"
    )
    pattern = [(a, b) for a in ("a0", "a1") for b in ("b0", "b1")]
    how = {"sensitive": [("a1", "b0", 0.0, 1.0)], "insiders": False}
    one, two, both = shoal.audit(made, pattern, beside=beside, **how).together
    assert not one.discloses and not two.discloses
    assert both.discloses and both.figures["too_narrow"] == 1
    changed = shoal.audit(made, pattern, beside=beside, within=0.1, **how).together
    assert [item.figures["too_narrow"] for item in changed] == [0, 0, 1]


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 10_000))
def test_three_tables_are_judged_by_all_cells_there_may_be(seed: int) -> None:
    rng = np.random.default_rng(seed)
    codes = [[f"{name}{n}" for n in range(size)] for name, size in (("a", 2), ("b", 3), ("c", 2))]
    rows = [(*key, float(rng.choice([0.0, 1.0, 4.0, 9.0]))) for key in product(*codes)]
    frame, beside = in_a_circle(rows)
    made = tabulate(
        frame, ["a", "b"], value="v", rules=["frequency(1)"], zeros="suppressible", source="records"
    )
    table = made.table
    pattern = [key for key in product(*codes[:2]) if rng.random() < 0.8] or [("a0", "b0")]
    level = float(rng.choice([0.5, 1.0, 2.0]))
    found = shoal.audit(
        made, pattern, sensitive=[(*pattern[0], 0.0, level)], insiders=False, beside=beside
    ).together[-1]
    shown = [(key, table.values[cell]) for key, cell in table.index.items() if key not in pattern]
    equal = [([key[0] in (r[0], "total") and key[1] in (r[1], "total") for r in rows], v) for key, v in shown]
    for place, own in enumerate(beside):
        for first, second, v in own.rows():
            equal.append(([first in (r[place], "total") and second in (r[2], "total") for r in rows], v))
    goal = np.array([r[:2] == pattern[0] for r in rows], dtype=float)
    most = linprog(-goal, A_eq=np.array([row for row, _ in equal], dtype=float), b_eq=[v for _, v in equal])
    value = float(table.values[table.find(*pattern[0])])
    least = linprog(goal, A_eq=np.array([row for row, _ in equal], dtype=float), b_eq=[v for _, v in equal])
    narrow = -most.fun < value + level - 1e-6 or -most.fun - least.fun < 1e-6
    assert found.figures["too_narrow"] == int(narrow)


def test_a_matrix_with_several_marks_in_a_hidden_column_is_a_published_table() -> None:
    marks = pl.DataFrame(
        {"region": ["n", "s", "Total"], "a": ["x", "c", "<9"], "b": [1.0, 2.0, 3.0], "Total": ["x", "x", "9"]}
    )
    assert len(read_public(marks, "m.csv").hidden) == 5
    words = marks.with_columns(a=pl.Series(["north", "south", "north"]))
    with pytest.raises(InputError, match="no published table: column 'a' has codes"):
        read_public(words, "m.csv")


@pytest.mark.parametrize("figure", ["n", "total"])
def test_a_list_of_cells_with_other_names_is_no_crosstab(tmp_path, figure) -> None:
    rows = "A,m,10,p A,f,1,u A,Total,11,p B,m,20,p B,f,30,p B,Total,50,p Total,m,30,p Total,f,31,p Total,Total,61,p"
    (tmp_path / "list.csv").write_text("\n".join([f"region,sex,{figure},state", *rows.split()]))
    found = run("audit", tmp_path / "list.csv", "--counts")
    assert found.code == 2, found.out
    assert "no crosstab: column 'state' has different texts and no figure at all" in found.err
    assert "'value'" in found.err and "--dimensions" in found.err
