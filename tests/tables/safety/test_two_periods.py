"""Two tables beside each other: two periods as one system, names that do not meet, and what else everybody knows."""

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from tests.cli.running import shoal as run

import shoal
from shoal.tables.files.public_files import public_part, read_public
from shoal.tables.model.tabulation import tabulate
from shoal.tables.public_table import PublicTable, _Programme
from shoal.tables.safety.judging import Shown
from shoal.tables.safety.two_periods import around, intervals_of_periods


def period(seed: int, change: float) -> tuple[np.ndarray, np.ndarray]:
    """Figures of two periods, none of which changed by more than a share."""
    rng = np.random.default_rng(seed)
    last = rng.uniform(1, 60, (3, 3)).round(2)
    now = last * rng.uniform(1 / (1 + change), 1 + change, last.shape)
    return last, now


def listed(values: np.ndarray, hidden: frozenset[tuple[int, int]] = frozenset()) -> pl.DataFrame:
    """A published table with totals; numbers 0 to 2 are codes, 3 is the total."""
    full = np.zeros((4, 4))
    full[:3, :3] = values
    full[3, :3], full[:3, 3], full[3, 3] = values.sum(0), values.sum(1), values.sum()
    rows = [
        (
            "total" if i == 3 else f"r{i}",
            "total" if j == 3 else f"c{j}",
            None if (i, j) in hidden else full[i, j],
        )
        for i in range(4)
        for j in range(4)
    ]
    return pl.DataFrame(rows, schema=["a", "b", "value"], orient="row")


def slow_intervals(tables, hidden, change):
    """By a linear programme over all 32 cells of both."""
    place = {(t, i, j): 16 * t + 4 * i + j for t in range(2) for i in range(4) for j in range(4)}
    equal, less = [], []
    for t in range(2):
        for line in range(4):
            for across in (True, False):
                row = np.zeros(32)
                for other in range(4):
                    cell = (t, line, other) if across else (t, other, line)
                    row[place[cell]] = -1.0 if other == 3 else 1.0
                equal.append(row)
    bounds = [(0.0, None)] * 32
    for (t, i, j), number in place.items():
        if (i, j) not in hidden[t]:
            value = tables[t].filter((pl.col("a") == _code("r", i)) & (pl.col("b") == _code("c", j)))[
                "value"
            ][0]
            bounds[number] = (value, value)
    for i in range(4):
        for j in range(4):
            one, two = (i, j) in hidden[0], (i, j) in hidden[1]
            for t, mine, other in ((0, one, two), (1, two, one)):
                number, there = place[t, i, j], place[1 - t, i, j]
                if mine and other:
                    row = np.zeros(32)
                    row[number], row[there] = 1.0, -(1 + change)
                    less.append(row)
                elif mine:
                    shown = bounds[there][0]
                    bounds[number] = (shown / (1 + change), shown * (1 + change))
    found = {}
    for t in range(2):
        for i, j in hidden[t]:
            goal = np.zeros(32)
            goal[place[t, i, j]] = 1.0
            ends = [
                linprog(
                    sign * goal,
                    A_eq=np.array(equal),
                    b_eq=np.zeros(len(equal)),
                    A_ub=np.array(less) if less else None,
                    b_ub=np.zeros(len(less)) if less else None,
                    bounds=bounds,
                    options={"primal_feasibility_tolerance": 1e-10},
                )
                for sign in (1, -1)
            ]
            assert all(end.status == 0 for end in ends)
            found[t, _code("r", i), _code("c", j)] = ends[0].fun, -ends[1].fun
    return found


def _code(letter: str, number: int) -> str:
    return "total" if number == 3 else f"{letter}{number}"


cells = st.frozensets(st.tuples(st.integers(0, 2), st.integers(0, 2)), min_size=3, max_size=7)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 10_000), change=st.sampled_from([0.02, 0.1, 0.5]), hidden=st.tuples(cells, cells))
def test_two_periods_are_one_system(seed, change, hidden) -> None:
    tables = [listed(values, gone) for values, gone in zip(period(seed, change), hidden, strict=True)]
    public = [read_public(table, "a table") for table in tables]
    found = intervals_of_periods((Shown(public[0]), Shown(public[1])), public, change)
    assert found is not None
    exact = slow_intervals(tables, hidden, change)
    for (t, *key), (low, high) in exact.items():
        # Sums may differ in their last digits, and a tie by a share c makes 1/c times as much of it.
        assert found[t][tuple(key)] == pytest.approx((low, high), rel=1e-8 / change, abs=1e-8 / change)


def test_cells_that_both_hide_tell_of_each_other() -> None:
    last, _ = period(1, 0.05)
    own = {(0, 0), (0, 1), (1, 0), (1, 1)}
    other = {(0, 0), (0, 2), (2, 0), (2, 2)}
    public = [read_public(listed(last, frozenset(gone)), "a table") for gone in (own, other)]
    tied = intervals_of_periods((Shown(public[0]), Shown(public[1])), public, 0.02)
    alone = public[0].intervals()
    assert tied is not None and alone is not None
    width = {key: high - low for key, (low, high) in alone.items()}
    assert all(tied[0][key][1] - tied[0][key][0] < width[key] for key in alone)


def table(values=((10.0, 20.0, 30.0), (40.0, 50.0, 60.0), (70.0, 80.0, 90.0))) -> pl.DataFrame:
    return listed(np.array(values))


def records(values=((10.0, 20.0, 30.0), (40.0, 50.0, 60.0), (70.0, 80.0, 90.0))) -> pl.DataFrame:
    rows = [(f"r{i}", f"c{j}", value) for i, row in enumerate(values) for j, value in enumerate(row)]
    return pl.DataFrame(rows, schema=["a", "b", "v"], orient="row")


PATTERN = [("r0", "c0"), ("r0", "c1"), ("r1", "c0"), ("r1", "c1")]


def audited(beside, **more):
    made = tabulate(records(), ["a", "b"], value="v", rules=["frequency(1)"])
    return shoal.audit(
        made, PATTERN, **{"sensitive": [("r0", "c0")], "insiders": False, "beside": beside, **more}
    )


def test_figures_that_moved_further_than_assumed_are_said() -> None:
    moved = table(((10.0, 20.0, 300.0), (40.0, 50.0, 60.0), (70.0, 80.0, 90.0)))
    found = audited(moved, change=0.05)
    assert not found.safe and found.together[0].discloses is None
    assert "changed by more than was assumed" in found.together[0].detail


@pytest.mark.parametrize(
    ("other", "words"),
    [
        (table().rename({"a": "A", "b": "B"}), "no dimension in common (a, b and A, B)"),
        (
            table().with_columns(pl.col("b").str.to_uppercase().replace("TOTAL", "total")),
            "no code of dimension 'b'",
        ),
    ],
)
def test_names_that_do_not_meet_are_not_called_safe(other, words) -> None:
    found = audited(other)
    assert not found.safe and found.together[0].discloses is None and words in found.together[0].detail
    # Nothing was found because nothing was looked at.
    assert "known exactly" not in found.together[0].detail and "exact" not in found.together[0].figures
    assert audited(table()).together[0].discloses


def test_the_period_of_all_figures_is_no_dimension() -> None:
    found = audited(table().rename({"value": "OBS_VALUE"}).with_columns(TIME_PERIOD=pl.lit("2024")))
    assert found.together[0].discloses


def test_bounds_and_widths_that_are_known_or_asked_for_count_beside_others_too() -> None:
    shown = listed(np.array(records()["v"]).reshape(3, 3), frozenset({(0, 0), (0, 1), (1, 0), (1, 1)}))
    assert audited(shown).safe
    assert audited(shown, sliding=0.5).together[0].discloses is False
    # Beside it (0, 0) lies within 30, so a width of 4 times 10 is not there.
    assert audited(shown, sliding=4.0).together[0].figures["too_narrow"] == 1
    assert audited(shown, low=9.0, protection=0.5).together[0].figures["too_narrow"] == 1
    small = shown.with_columns(pl.col("value") * 1e-7)
    made = tabulate(records().with_columns(pl.col("v") * 1e-7), ["a", "b"], value="v", rules=["frequency(1)"])
    how = {"sensitive": [("r0", "c0")], "insiders": False, "protection": 1.0, "low": 9e-7}
    assert shoal.audit(made, PATTERN, beside=small, **how).together[0].figures["too_narrow"] == 1


def test_whole_numbers_leave_less_than_intervals_do() -> None:
    last = listed(np.array([[15.0, 29.0, 30.0], [40.0, 50.0, 60.0], [70.0, 80.0, 90.0]]))
    now = np.array([[15.0, 30.0, 30.0], [41.0, 50.0, 60.0], [70.0, 80.0, 90.0]])
    made = tabulate(records(now.tolist()), ["a", "b"], value="v", rules=["frequency(1)"])
    how = {"sensitive": [("r0", "c0")], "insiders": False, "protection": 0.0, "beside": last, "change": 0.03}
    assert shoal.audit(made, PATTERN, **how).together[0].figures["exact"] == 0
    found = shoal.audit(made, PATTERN, counts=True, **how).together[0]
    # Between 14.55 and 15.45 there is one whole number.
    assert found.discloses and ("r0", "c0") in found.cells


def test_the_command_says_what_does_not_meet(tmp_path) -> None:
    records().write_csv(tmp_path / "records.csv")
    how = ("--dimensions", "a,b", "--value", "v", "--rule", "frequency(1)", "--no-insiders")
    pl.DataFrame(PATTERN, schema=["a", "b"], orient="row").write_csv(tmp_path / "pattern.csv")
    table().rename({"a": "A", "b": "B"}).write_csv(tmp_path / "other.csv")
    found = run(
        "audit", tmp_path / "records.csv", tmp_path / "pattern.csv", *how, "--beside", tmp_path / "other.csv"
    )
    assert found.code == 3 and "cannot be judged: they have no dimension in common" in found.out


def test_what_everybody_sees_of_a_table_has_its_cells() -> None:
    made = tabulate(records(), ["a", "b"], value="v", rules=["frequency(1)"])
    assert len(public_part(made.table, np.zeros(made.table.cells, dtype=bool)).cells) == 16


def test_hidden_cells_are_tied_in_the_order_of_the_table(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another order of the rows is another result in its last digits, and would differ from run to run."""
    cells = {(f"area {number}",): None for number in range(12)}
    table = PublicTable(("area",), {("total",): 10.0, **cells}, ())
    tied = []

    def narrowed(own: PublicTable, *given: Any, ties: Any = (), **more: Any) -> None:
        tied.extend(tie.cell[0] for tie in ties if tie.cell[1] == "0")

    monkeypatch.setattr(PublicTable, "intervals", narrowed)
    assert intervals_of_periods((Shown(table), Shown(table)), (table, table), 0.1) is None
    assert tied == [key[0] for key in cells]


def test_a_figure_that_changed_little_is_near_by_its_own_share_too() -> None:
    # Last period shows 12; by at most a share of either, half of it, this one is at least 8 and not 6.
    last = listed(np.array([[12.0, 20.0, 30.0], [40.0, 50.0, 60.0], [70.0, 80.0, 90.0]]))
    asked = {"sensitive": [("r0", "c0", 3.0, 1.0)], "change": 0.5}
    assert audited(last, **asked).together[0].figures["too_narrow"] == 1
    assert audited(last, **{**asked, "sensitive": [("r0", "c0", 2.0, 1.0)]}).together[0].discloses is False


def test_a_change_is_counted_from_the_smaller_figure() -> None:
    # From 30 to 45 is half of the one and a third of the other.
    last = table(((10.0, 20.0, 45.0), (40.0, 50.0, 60.0), (70.0, 80.0, 90.0)))
    assert audited(last, change=0.4).together[0].discloses is None
    assert audited(last, change=0.5).together[0].discloses is not None


def test_rounded_figures_of_another_period_are_off_by_as_much() -> None:
    assert around(6.0, 0.5, 0.5) == pytest.approx((5.5 / 1.5, 9.75))
    assert around(0.0, 0.5, 0.5) == pytest.approx((-0.75, 0.75))


def test_levels_far_below_their_figure_must_be_reached() -> None:
    big = np.array([[1e6, 2e6, 3e6], [4e6, 5e6, 6e6], [7e6, 8e6, 9e6]])
    made = tabulate(records(big.tolist()), ["a", "b"], value="v", rules=["frequency(1)"])
    beside = listed(big * 1.000001)
    how = {"insiders": False, "beside": beside, "change": 1.5e-6}
    narrow = shoal.audit(made, PATTERN, sensitive=[("r0", "c0", 0.9, 0.9)], **how).together[0]
    # Between 999999.5 and 1000002.5: half of one below is left, which is no 0.9.
    assert narrow.figures["too_narrow"] == 1
    assert not shoal.audit(made, PATTERN, sensitive=[("r0", "c0", 0.4, 0.9)], **how).together[0].discloses


def test_whole_numbers_count_where_levels_ask_for_more_than_another_figure() -> None:
    last = listed(np.array([[15.0, 29.0, 30.0], [40.0, 50.0, 60.0], [70.0, 80.0, 90.0]]))
    now = np.array([[15.0, 30.0, 30.0], [41.0, 50.0, 60.0], [70.0, 80.0, 90.0]])
    made = tabulate(records(now.tolist()), ["a", "b"], value="v", rules=["frequency(1)"])
    how = {"sensitive": [("r0", "c0", 1.3, 1.3)], "insiders": False, "beside": last, "change": 0.1}
    # From 13.64 to 16.5, but of whole numbers from 14 to 16.
    assert shoal.audit(made, PATTERN, **how).together[0].figures["too_narrow"] == 0
    assert shoal.audit(made, PATTERN, counts=True, **how).together[0].figures["too_narrow"] == 1


def test_a_cell_that_only_the_other_period_gives_away_is_not_called_safe_in_the_file(tmp_path: Path) -> None:
    texts = {
        "now.csv": """REG,SEC,TOT,N,MAX
A,x,100,10,20
A,y,50,2,30
A,z,70,8,20
A,Total,220,20,30
B,x,80,9,15
B,y,60,7,20
B,z,40,6,19
B,Total,180,22,20
C,x,30,5,10
C,y,90,11,20
C,z,55,6,14
C,Total,175,22,20
Total,x,210,24,20
Total,y,200,20,30
Total,z,165,20,20
Total,Total,575,64,30
""",
        "pattern.csv": """REG,SEC,kind,note
A,y,primary,internal
A,z,complementary,internal
B,y,complementary,internal
B,z,complementary,internal
""",
        "last.csv": """REG,SEC,value
A,x,
A,y,
A,z,71
B,x,79
B,y,60
B,z,40
C,x,
C,y,
C,z,54
A,Total,220
B,Total,179
C,Total,176
Total,x,207
Total,y,203
Total,z,165
Total,Total,575
""",
    }
    for name, text in texts.items():
        (tmp_path / name).write_text(text)
    places = [tmp_path / name for name in texts]
    how = ("--dimensions", "REG,SEC", "--value", "TOT", "--contributors-column", "N", "--change", 0.05)
    out = tmp_path / "intervals.csv"
    found = run("audit", *places[:2], *how, "--beside", places[2], "-o", out, "--json")
    assert found.code == 3 and found.json["unsafe"] == []
    (closer,) = found.json["together"][0]["cells"]
    told = pl.read_csv(out).filter(pl.col("kind") == "primary")
    assert told.select("REG", "SEC").row(0, named=True) == closer and told["safe"].to_list() == [False]


@pytest.mark.parametrize(("lost", "ends"), [(1, (0.0, 6.0)), (99, None)])
def test_a_solver_that_loses_its_way_leaves_no_cell_without_an_end(monkeypatch, lost, ends) -> None:
    """It starts anew, and if that is in vain nothing is said of the tables: a cell without an end would be called safe."""
    frame = pl.DataFrame({"a": ["x", "y", "z", "total"], "value": [None, None, 4.0, 10.0]})
    table = read_public(frame, "a table")
    own, asked = _Programme._ended, []

    def ended(self) -> str:
        asked.append(own(self))
        return "Infeasible" if 1 < len(asked) <= 1 + lost else asked[-1]

    monkeypatch.setattr(_Programme, "_ended", ended)
    found = table.intervals()
    assert (found is None) if ends is None else (found[("x",)] == pytest.approx(ends))
