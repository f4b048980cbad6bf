"""Ready-made tables: the same as from their records, totals recognised, what is wrong named."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tables.oracle import optimum

import shoal
from shoal.errors import Infeasible, InputError
from shoal.tables.model.contributions import Aggregates, Contributions
from shoal.tables.model.linked import link
from shoal.tables.model.tabulation import tabulate
from shoal.tables.safety.audit import audit

TREE = {"n1": "north", "n2": "north", "s1": "south", "north": "", "south": ""}


def records(seed: int, size: int = 20) -> pl.DataFrame:
    """Firms of one record each."""
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "region": rng.choice(["n1", "n2", "s1"], size),
            "sector": rng.choice(["a", "b"], size),
            "v": rng.integers(1, 60, size).astype(float),
        }
    )


def aggregated(frame: pl.DataFrame, total: str = "Total", *, empty: bool = False) -> pl.DataFrame:
    """What an office would have made of it, in plain loops: a row for each cell that somebody contributes to."""
    rows = []
    under = {"north": ("n1", "n2"), "south": ("s1",), total: ("n1", "n2", "s1")}
    for region in (total, "north", "south", "n1", "n2", "s1"):
        for kind in (total, "a", "b"):
            own = frame.filter(
                pl.col("region").is_in(under.get(region, (region,))),
                (pl.col("sector") == kind) | pl.lit(kind == total),
            )
            amounts = sorted(own["v"].to_list(), reverse=True)
            if amounts or empty:
                rows.append((region, kind, len(amounts), sum(amounts), *(amounts + [0.0, 0.0])[:2]))
    return pl.DataFrame(rows, schema=["region", "sector", "N", "TOT", "MAX", "MAX2"], orient="row")


def ready(frame: pl.DataFrame, **more: object):
    given_columns = {"value": "TOT", "contributors_column": "N", "largest_columns": ["MAX", "MAX2"]}
    return tabulate(frame, ["region", "sector"], **{"hierarchies": {"region": TREE}, **given_columns, **more})


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**9), st.sampled_from(["Total", "_T", "ALL", "T"]), st.booleans())
def test_it_is_the_table_of_its_records(seed: int, total: str, empty: bool) -> None:
    frame = records(seed)
    rules = ["frequency(3)", "p-percent(10)", "dominance(1,75)"]
    plain = tabulate(frame, ["region", "sector"], value="v", rules=rules, hierarchies={"region": TREE})
    made = ready(aggregated(frame, total, empty=empty), rules=rules, total=total)
    # A file without a row for an empty region or kind has no such code.
    keys = {tuple(made.table.key(cell).values()): cell for cell in range(made.table.cells)}
    for cell in range(plain.table.cells):
        mine = keys[tuple(plain.table.key(cell).values())]
        assert made.table.values[mine] == plain.table.values[cell]
        assert made.contributors[mine] == plain.contributors[cell]
        assert made.status[mine] == plain.status[cell]
        assert made.upper[mine] == pytest.approx(plain.upper[cell])
        assert made.lower[mine] == pytest.approx(plain.lower[cell])
    assert made.aggregated and isinstance(made.contributions, Aggregates)
    assert isinstance(plain.contributions, Contributions)
    # Of firms with one record each nothing is unseen: the same sole contributors, the same sums.
    same = [keys[tuple(plain.table.key(cell).values())] for cell in range(plain.table.cells)]
    back = {mine: cell for cell, mine in enumerate(same)}
    theirs = {tuple(sorted(cells.tolist())) for cells in plain.sole_contributors()}
    own = {tuple(sorted(back[cell] for cell in cells.tolist())) for cells in made.sole_contributors()}
    assert own == theirs


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**9))
def test_exact_agrees_with_brute_force(seed: int) -> None:
    made = ready(aggregated(records(seed, 14)), rules=["frequency(2,30)", "p-percent(20)"])
    problem = made.problem(insiders=False)
    if problem.sensitive.size == 0:
        return
    best = optimum(problem)
    try:
        found = shoal.suppress(made, method="exact", insiders=False)
    except Infeasible:
        assert np.isinf(best)
        return
    assert found.cost == pytest.approx(best) and found.solution.optimal


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**9))
def test_sums_and_insiders_are_those_of_the_records(seed: int) -> None:
    frame = records(seed, 14)
    rules = ["frequency(3)", "p-percent(10)"]
    plain = tabulate(frame, ["region", "sector"], value="v", rules=rules, hierarchies={"region": TREE})
    made = ready(aggregated(frame, empty=True), rules=rules)
    if plain.table.cells != made.table.cells:
        return
    one, two = plain.problem(), made.problem()
    # Who comes first among sole contributors is not promised.
    first, second = (sorted(cells.tolist() for cells in item.conceded if cells.size) for item in (one, two))
    assert first == second
    rng = np.random.default_rng(seed)
    more = rng.permutation(np.flatnonzero(two.candidates))[:4]
    mine, other = audit(one, more), audit(two, more)
    assert len(mine.sums) == len(other.sums) and mine.unsafe.tolist() == other.unsafe.tolist()
    assert {cell for cell, _ in mine.insider} == {cell for cell, _ in other.insider}


def test_totals_are_recognised_or_refused() -> None:
    frame = aggregated(records(1))
    found = tabulate(
        frame, ["region", "sector"], value="TOT", hierarchies={"region": TREE}, rules=["zero(1)"]
    )
    assert found.aggregated and found.table.values.max() == records(1)["v"].sum()
    assert found.table.coordinates()["region"].count("Total") == 3
    twice = pl.concat([frame, frame])
    with pytest.raises(InputError, match="has a total among its records: see 6 records"):
        tabulate(twice, ["region", "sector"], value="TOT")
    with pytest.raises(InputError, match="cell is listed twice"):
        ready(twice)
    only = frame.filter(pl.col("sector") != "Total")
    with pytest.raises(InputError, match=r"dimension 'region' has a total.*source='aggregated'"):
        tabulate(only, ["region", "sector"], value="TOT")
    # An ordinary code that is called like a total: it is one only where no other row of its slice has more.
    letters = pl.DataFrame(
        {"section": ["S", "T", "U"], "sector": ["Total", "Total", "Total"], "v": [5, 1, 2]}
    )
    with pytest.raises(InputError, match="dimension 'sector' has a total"):
        tabulate(letters, ["section", "sector"], value="v")
    counted = tabulate(letters, ["section", "sector"], value="v", source="records")
    assert not counted.aggregated and counted.table.values.max() == 8


def test_totals_that_are_not_there_are_computed() -> None:
    frame = aggregated(records(3))
    leaves = frame.filter(pl.col("region").is_in(["n1", "n2", "s1"]), pl.col("sector") != "Total")
    made, whole = ready(leaves), ready(frame)
    assert sorted(made.table.values) == sorted(whole.table.values)
    assert sorted(made.contributors) == sorted(whole.contributors)
    assert "computed from the parts" in made.notes[0] and not whole.notes
    # A level that the file leaves out is no level of the table.
    flat = frame.filter(~pl.col("region").is_in(["north", "south"]))
    assert ready(flat).table.cells == 4 * 3


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"TOT": 77777.0}, "does not add up"),
        ({"N": 2.5}, "in whole numbers of at least 0, but does not in record"),
        ({"N": 0}, "there is a figure, but no contributor, in record"),
        ({"MAX": -1.0}, "negative contribution in record 5"),
        ({"MAX": 1e9}, "more than the whole cell in record 5"),
        ({"MAX2": 1e9}, "more than the column before it in record 5"),
        ({"TOT": None}, "has missing values: see record 5"),
        ({"region": "mars"}, "not in its hierarchy: see record 5"),
        ({"sector": None}, "has missing values: see record 5"),
    ],
)
def test_what_is_wrong_is_named_by_its_record(change: dict, words: str) -> None:
    frame = aggregated(records(1, 60)).with_columns(pl.col("N").cast(pl.Float64))
    ((name, value),) = change.items()
    cells = frame[name].to_list()
    cells[4] = value
    with pytest.raises(InputError, match=words) as refused:
        ready(frame.with_columns(pl.Series(name, cells)))
    assert "\n" not in str(refused.value) and "mars" not in str(refused.value)


def test_the_first_cells_that_do_not_add_up_are_named_and_a_tolerance_can_be_said() -> None:
    frame = aggregated(records(1, 60))
    off = frame.with_columns(TOT=pl.col("TOT") + pl.when(pl.col("sector") == "a").then(0.4).otherwise(0.0))
    with pytest.raises(
        InputError, match=r"the cell \w+ '\w+', \w+ '\w+' does not add up.*; so do .*relations in all"
    ):
        ready(off)
    assert ready(off, tolerance=2.0).table.cells == ready(off, rounding=1.0).table.cells


def test_rules_say_what_they_need_and_hierarchies_that_are_none_are_refused() -> None:
    frame = aggregated(records(1))
    with pytest.raises(InputError, match="needs the 2 largest contributions"):
        ready(frame, largest_columns=["MAX"], rules=["p-percent(10)"])
    with pytest.raises(InputError, match="needs the number of contributors"):
        ready(frame, contributors_column=None, rules=["frequency(3)"])
    with pytest.raises(InputError, match="goes round in circles at its code number"):
        ready(frame, hierarchies={"region": {**TREE, "north": "south", "south": "north"}})
    with pytest.raises(InputError, match="goes round in circles at its code number 6"):
        # Codes that no row has do not add up to anything either.
        ready(frame, hierarchies={"region": {**TREE, "nowhere": "never", "never": "nowhere"}})
    with pytest.raises(InputError, match="goes round in circles at its code number 2"):
        # The first code lies below the circle, and is not in it.
        ready(frame, hierarchies={"region": {"n1": "north", "north": "south", "south": "north"}})
    with pytest.raises(InputError, match="is in no row of the table"):
        ready(frame, total={"sector": "Everything"})
    with pytest.raises(InputError, match="have no contributors of their own"):
        ready(frame, contributor="MAX")
    assert [str(rule) for rule in ready(frame).rules] == ["frequency(3)", "p-percent(10)"]
    one = ready(frame, largest_columns=["MAX"])
    assert [str(rule) for rule in one.rules] == ["frequency(3)"] and "dominance(1,75)" in one.notes[0]


def test_who_is_alone_in_a_part_is_seen_in_all_that_is_the_same_cell() -> None:
    # Both firms of the region are of legal form L, one of them is small and one large: each knows its part of what L has.
    rows = [("r", "Total", 2, 30.0), ("q", "Total", 9, 90.0), ("Total", "Total", 11, 120.0)]
    sizes = [("r", "s", 1, 10.0), ("r", "l", 1, 20.0), ("q", "s", 5, 40.0), ("q", "l", 4, 50.0)]
    sizes += [("Total", "s", 6, 50.0), ("Total", "l", 5, 70.0)]
    forms = [
        ("r", "L", 2, 30.0),
        ("q", "L", 6, 60.0),
        ("q", "M", 3, 30.0),
        ("Total", "L", 8, 90.0),
        ("Total", "M", 3, 30.0),
    ]
    tables = [
        tabulate(
            pl.DataFrame(rows + more, schema=["region", name, "N", "v"], orient="row"),
            ["region", name],
            value="v",
            contributors_column="N",
            rules=["frequency(3)"],
        )
        for name, more in (("size", sizes), ("form", forms))
    ]
    linked = link(tables)
    whole, same = linked.table.find("r", "total", "total"), linked.table.find("r", "total", "L")
    problem = linked.problem(low=0.0)
    given_to = {(n, cell) for n, cell, _ in linked.contributions.amounts_of(problem.insiders, linked.table)}
    for number in range(len(problem.insiders)):
        assert ((number, whole) in given_to) == ((number, same) in given_to)
    assert any(cell == same for _, cell in given_to)


def test_states_and_levels_of_the_file_hold() -> None:
    frame = aggregated(records(1)).with_columns(state=pl.lit("s"), low=pl.lit(1.0), up=pl.lit(2.0))
    states = frame["state"].to_list()
    states[4], states[5], states[7] = "u", "m", "p"
    frame = frame.with_columns(pl.Series("state", states))
    made = ready(frame, status_column="state", level_columns=["low", "up"])
    assert (made.status == "u").sum() == 1 and made.upper[made.sensitive] == [2.0]
    assert made.hidden.size == 2 and not made.rules
    bare = ready(frame, status_column="state")
    assert bare.upper[bare.sensitive] == pytest.approx(0.2 * bare.table.values[bare.sensitive])
    tight = ready(frame, status_column="state", rules=["manual(5)"])
    assert tight.upper[tight.sensitive] == pytest.approx(0.05 * tight.table.values[tight.sensitive])


@pytest.mark.parametrize("total", [True, False])
def test_one_dimension_is_enough(total: bool) -> None:
    rows = [("n1", 1, 3.0), ("n2", 2, 4.0), ("north", 3, 7.0), ("south", 4, 5.0), ("Total", 7, 12.0)]
    rows = rows[: 5 if total else 2]
    frame = pl.DataFrame(rows, schema=["region", "n", "v"], orient="row").with_columns(top=pl.col("v"))
    made = tabulate(
        frame,
        ["region"],
        value="v",
        contributors_column="n",
        largest_columns=["top"],
        hierarchies={"region": TREE},
        rules=["frequency(2)"],
        source="aggregated",
    )
    figures = dict(zip(made.table.keys["region"].tolist(), made.table.values.tolist(), strict=True))
    assert figures["n1"] == 3.0 and figures["north"] == 7.0 and figures["total"] == (12.0 if total else 7.0)
    assert shoal.suppress(made).cost >= 0
