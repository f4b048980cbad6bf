"""Tables with and without their totals, alone and beside others, against linear programmes over records of all dimensions."""

from itertools import product

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import linprog
from tests.cli.running import shoal as run

import shoal

CODES = {"region": ("n1", "n2", "s"), "size": ("small", "large", "tiny"), "sex": ("f", "m")}
TREE = {"n1": "n", "n2": "n", "s": ""}
NEAR = 1e-6


def frame_of(dimensions, cells) -> pl.DataFrame:
    names = {name: [key[place] for key in cells] for place, name in enumerate(dimensions)}
    return pl.DataFrame({**names, "value": pl.Series(list(cells.values()), dtype=pl.Float64)})


def inside(dimensions, key) -> np.ndarray:
    """Which of the finest cells, of all dimensions, a published one counts."""
    known = dict(zip(dimensions, key, strict=True))
    return np.array(
        [
            all(
                known.get(name, "total") in ("total", code, TREE.get(code))
                for name, code in zip(CODES, cell, strict=True)
            )
            for cell in product(*CODES.values())
        ],
        dtype=float,
    )


def published(rng: np.random.Generator, finest: np.ndarray, dimensions):
    """A table that prints some of its totals, and hides some of its cells."""
    printed = [name for name in dimensions if rng.random() < 0.4]
    subtotal = ["n"] if rng.random() < 0.4 else []
    codes = [
        (*CODES[name], *(subtotal if name == "region" else []), *(["total"] if name in printed else []))
        for name in dimensions
    ]
    cells: dict[tuple[str, ...], float | None] = {}
    for key in product(*codes):
        # Of totals some margins are printed, others are not.
        if (key.count("total") or "n" in key) and rng.random() < 0.3:
            continue
        cells[key] = None if rng.random() < 0.3 else float(inside(dimensions, key) @ finest)
    return cells


def known_exactly(tables, dimensions, key) -> bool:
    """Whether all figures of the finest cells that fit the tables have the same sum here."""
    rows = [
        (inside(own, cell), value)
        for own, cells in tables
        for cell, value in cells.items()
        if value is not None
    ]
    goal = inside(dimensions, key)
    system = (
        {"A_eq": np.array([row for row, _ in rows]), "b_eq": [value for _, value in rows]} if rows else {}
    )
    ends = [linprog(sign * goal, **system, bounds=(0, None)) for sign in (1, -1)]
    assert all(end.status in (0, 3) for end in ends)
    return ends[1].status == 0 and -ends[1].fun - ends[0].fun < NEAR


def check_pair(seed: int) -> int:
    """Audit two tables of one population; how many cells are known by both that neither gives away alone."""
    rng = np.random.default_rng(seed)
    finest = rng.integers(0, 9, 18).astype(float)
    choices = [
        ("region", "size"),
        ("size", "region"),
        ("region",),
        ("region", "sex"),
        ("sex", "region", "size"),
    ]
    first, second = (choices[number] for number in rng.integers(0, len(choices), 2))
    one, two = (published(rng, finest, own) for own in (first, second))
    expected = 0
    for own, cells, other in ((first, one, (second, two)), (second, two, (first, one))):
        for key, value in cells.items():
            if value is None and known_exactly([(own, cells), other], own, key):
                expected += not known_exactly([(own, cells)], own, key)
    trees = {"region": TREE, "size": dict.fromkeys(CODES["size"], "")}
    named = {name: tree for name, tree in trees.items() if name in first + second}
    found = shoal.audit(frame_of(first, one), beside=frame_of(second, two), hierarchies=named)
    alone = [key for key, value in one.items() if value is None and known_exactly([(first, one)], first, key)]
    (together,) = found.together
    seen = len(found.disclosed), together.discloses, together.figures["exact"]
    assert seen == (len(alone), expected > 0, expected), (first, one, second, two, together.detail)
    return expected


@pytest.mark.filterwarnings("ignore::UserWarning")
@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6))
def test_what_two_tables_give_away_with_or_without_totals(seed: int) -> None:
    check_pair(seed)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore::UserWarning")
def test_what_two_tables_give_away_at_length() -> None:
    assert sum(check_pair(seed) > 0 for seed in range(1_000)) > 100


REGION_BY_SIZE = "region,size,value\nn,small,4000\nn,large,318\nn,tiny,\ns,small,100\ns,large,50\ns,tiny,7\n"


@pytest.mark.parametrize("more", ["", "total,4477\n"])
def test_a_second_table_gives_away_what_one_without_totals_hides(tmp_path, more) -> None:
    (tmp_path / "one.csv").write_text(REGION_BY_SIZE)
    (tmp_path / "two.csv").write_text(f"region,value\nn,4320\ns,157\n{more}")
    alone = run("audit", tmp_path / "one.csv")
    assert alone.code == 2 and "name what else was published with --beside" in alone.err
    for files in (("one.csv", "two.csv"), ("two.csv", "one.csv")):
        found = run("audit", tmp_path / files[0], "--beside", tmp_path / files[1], "--json")
        assert found.code == 3, found.err
        assert found.json["together"][0]["exact"] == 1 and found.json["together"][0]["discloses"]
    # Figures of other data are told apart, and not judged.
    (tmp_path / "other.csv").write_text("region,value\nn,4320\ns,158\n")
    other = run("audit", tmp_path / "one.csv", "--beside", tmp_path / "other.csv", "--json")
    assert other.code == 3 and other.json["together"][0]["discloses"] is None
    assert "are not the totals that the other shows" in other.json["together"][0]["detail"]


def test_a_table_may_print_totals_of_rows_alone(tmp_path) -> None:
    (tmp_path / "list.csv").write_text(REGION_BY_SIZE + "n,total,4320\ns,total,157\ntotal,total,4477\n")
    found = run("audit", tmp_path / "list.csv", "--json")
    assert found.code == 3 and len(found.json["disclosed"]) == 1, found.err
    # What is printed is the sum of what is below it, two steps further down.
    (tmp_path / "grand.csv").write_text(REGION_BY_SIZE + "total,total,4477\n")
    assert len(run("audit", tmp_path / "grand.csv", "--json").json["disclosed"]) == 1
    (tmp_path / "matrix.csv").write_text("region,small,large,total\nn,3,,5\ns,4,6,10\n")
    found = run("audit", tmp_path / "matrix.csv", "--json")
    assert found.code == 3 and len(found.json["disclosed"]) == 1, found.err
    (tmp_path / "wrong.csv").write_text(REGION_BY_SIZE + "s,total,158\n")
    assert (
        "do not add up, the first at the cell region 's', size 'total'"
        in run("audit", tmp_path / "wrong.csv").err
    )


@pytest.mark.filterwarnings("ignore:what is sensitive")
def test_codes_that_one_table_does_not_have_are_not_summed() -> None:
    # Of the regions the first has only some: its sum over regions is no total of the second.
    one = pl.DataFrame(
        {"region": ["n", "n", "s", "s"], "size": ["a", "b"] * 2, "value": [1.0, None, 3.0, 4.0]}
    )
    two = pl.DataFrame({"region": ["n", "s", "w", "total"], "value": [3.0, 7.0, 5.0, 15.0]})
    with pytest.warns(UserWarning, match="known as its total"):
        found = shoal.audit(one, beside=two)
    assert found.together[0].discloses and found.together[0].figures["exact"] == 1


@pytest.mark.filterwarnings("ignore:what is sensitive")
def test_several_tables_without_totals_tell_more_together() -> None:
    """Neither of two tables gives the hidden cell away to the third; all three do."""
    one = pl.DataFrame({"a": ["x", "x", "y", "y"], "b": ["p", "q"] * 2, "value": [1.0, None, 3.0, None]})
    two = pl.DataFrame({"a": ["x", "y"], "c": ["u", "u"], "value": [None, 7.0]})
    three = pl.DataFrame({"c": ["u"], "value": [10.0]})
    with pytest.warns(UserWarning, match="known as its total"):
        found = shoal.audit(one, beside=[two, three])
    assert [item.figures.get("exact") for item in found.together] == [1, None, 2]


ONE = "b,value\np,\nq,\nr,\n"
TWO = """b,a,value
p,n1,13
p,n2,9
p,s1,4
p,s2,
p,n,
p,s,9
q,n1,7
q,n2,
q,s1,
q,s2,8
q,n,17
q,s,
r,n1,
r,n2,4
r,s1,3
r,s2,
r,n,
r,s,13
"""


def test_nothing_is_concluded_from_sums_that_may_count_subtotals_twice(tmp_path) -> None:
    (tmp_path / "one.csv").write_text(ONE)
    (tmp_path / "two.csv").write_text(TWO)
    (tmp_path / "tree.csv").write_text("n1,n\nn2,n\ns1,s\ns2,s\nn,\ns,\n")
    files = (tmp_path / "one.csv", "--beside", tmp_path / "two.csv", "--json")
    found = run("audit", *files)
    (together,) = found.json["together"]
    assert found.code == 3 and together["discloses"] is None, found.err
    assert "codes of 'a', and" in together["detail"] and "--hierarchy" in together["detail"]
    (tmp_path / "three.csv").write_text("b,sex,value\np,f,\nq,f,\nr,f,\np,m,1\nq,m,2\nr,m,3\n")
    three = run("audit", *files, "--beside", tmp_path / "three.csv")
    assert [item["discloses"] for item in three.json["together"]] == [None, False, None], three.err
    named = run("audit", *files, "--hierarchy", f"a={tmp_path / 'tree.csv'}")
    assert (
        named.code == 3 and named.json["together"][0]["discloses"] and named.json["together"][0]["exact"] == 1
    )


@pytest.mark.parametrize(("shown", "discloses"), [({("p",): 10.0}, False), ({}, None)])
def test_one_total_that_is_shown_confirms_that_no_subtotal_is_among_the_codes(shown, discloses) -> None:
    cells = {("p", "x"): 1.0, ("p", "y"): 2.0, ("p", "z"): 7.0, **dict.fromkeys(product("q", "xyz"))}
    one = frame_of(("b", "a"), cells)
    two = frame_of(("b",), {**shown, ("q",): 5.0})
    with pytest.warns(UserWarning):
        assert shoal.audit(one, beside=two).together[0].discloses is discloses
