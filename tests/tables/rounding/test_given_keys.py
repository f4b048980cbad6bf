"""Keys and perturbation tables of others: read as they wrote them, checked, and applied as their tools apply them."""

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.benchmark_data import benchmark_file
from tests.cli.running import shoal as command

import shoal
from shoal.errors import InputError
from shoal.runtime import Budget, Seeds, silent
from shoal.tables.rounding.cell_keys.files import design_frame, read_design, read_text
from shoal.tables.rounding.cell_keys.keys import (
    KEYS,
    are_in_a_row,
    are_shared,
    are_uneven,
    cell_keys,
    keys_in_column,
    perturbed_by,
)
from shoal.tables.rounding.cell_keys.methods import METHODS
from shoal.tables.rounding.cell_keys.posterior import possible_counts
from shoal.tables.rounding.cell_keys.problem import DesignProblem
from shoal.tables.rounding.cell_keys.verify import verify_external

RNG = np.random.default_rng(7)
PEOPLE = pl.DataFrame(
    {
        "id": range(400),
        "area": RNG.choice(["n", "s", "w"], 400),
        "sex": RNG.choice(["f", "m"], 400),
        "rkey": np.round(RNG.random(400), 8),
    }
)
# Two counts of its own; the intervals of 2 are in another order than its changes.
LINES = pl.DataFrame(
    {
        "i": [0, 1, 1, 1, 2, 2, 2, 2, 2],
        "j": [0, 0, 1, 2, 3, 1, 4, 0, 2],
        "p": [1.0, 0.3, 0.4, 0.3, 0.2, 0.2, 0.1, 0.1, 0.4],
        "v": [0, -1, 0, 1, 1, -1, 2, -2, 0],
        "p_int_lb": [0.0, 0.0, 0.3, 0.7, 0.0, 0.2, 0.4, 0.5, 0.6],
        "p_int_ub": [1.0, 0.3, 0.7, 1.0, 0.2, 0.4, 0.5, 0.6, 1.0],
        "type": ["all"] * 9,
    }
)


def as_others_do(lines: pl.DataFrame, count: int, key: Fraction) -> int:
    """The first line of the count, in the order of its intervals, up to whose end the key reaches; the slow twin."""
    row = min(count, max(lines["i"]))
    mine = sorted(
        (upper, change)
        for i, change, upper, chance in lines.select("i", "v", "p_int_ub", "p").rows()
        if i == row and chance > 0
    )
    return next((change for upper, change in mine if key <= Fraction(upper)), mine[-1][1])


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.integers(0, KEYS - 1), max_size=6), min_size=1, max_size=20))
def test_counts_change_by_the_interval_their_key_is_in(cells: list[list[int]]) -> None:
    _, design = read_design(LINES)
    counts = np.array([len(cell) for cell in cells])
    starts = np.concatenate([[0], np.cumsum(counts)])
    keys = np.array([key for cell in cells for key in cell], dtype=np.uint64)
    sums = cell_keys(starts, np.arange(keys.size), keys)
    found = perturbed_by(counts, sums, design)
    for cell, published in zip(cells, found.tolist(), strict=True):
        key = Fraction(sum(cell) % KEYS, KEYS)
        assert published == len(cell) + as_others_do(LINES, len(cell), key)


def test_the_same_keys_give_the_same_counts_in_every_table() -> None:
    wide = shoal.perturb_table(PEOPLE, ["area", "sex"], record_key="rkey", ptable=LINES)
    narrow = shoal.perturb_table(PEOPLE.to_pandas(), ["area"], record_key="rkey", ptable=LINES.to_pandas())
    totals = wide.published.filter(pl.col("sex") == "total").select("area", "value").rows()
    assert totals == narrow.published.select("area", "value").rows()
    # By hand, from the records.
    for area, sex in PEOPLE.select("area", "sex").unique().rows():
        mine = PEOPLE.filter((pl.col("area") == area) & (pl.col("sex") == sex))
        key = sum((Fraction(round(item * 10**8), 10**8) for item in mine["rkey"]), Fraction(0)) % 1
        told = wide.published.filter((pl.col("area") == area) & (pl.col("sex") == sex))["value"][0]
        assert told == mine.height + as_others_do(LINES, mine.height, key)
    assert wide.for_release and wide.secret is None
    told = wide.to_dict()
    assert told["method"] == "given" and told["deviation"] == 2 and told["entropy_bound"] is None
    assert "changes of at most 2" in wide.attacker


def test_what_is_learnt_from_a_given_table_is_measured() -> None:
    rules = ["frequency(150)"]
    found = shoal.perturb_table(PEOPLE, ["area", "sex"], record_key="rkey", ptable=LINES, rules=rules)
    values = found.tabulation.table.values
    assert (
        (found.audit.low <= values[found.audit.cells]) & (values[found.audit.cells] <= found.audit.high)
    ).all()
    assert (found.audit.high - found.audit.low <= 4).all()
    assert found.sure is not None and 0 < found.sure.mean <= found.sure.largest <= 1
    assert "those of the records" in str(found.report().html())


def test_a_designed_table_goes_out_in_that_format_and_comes_back(tmp_path) -> None:
    PEOPLE.write_csv(tmp_path / "people.csv")
    base = [
        "perturb-table",
        tmp_path / "people.csv",
        "--dimensions",
        "area,sex",
        "--record-key",
        "rkey",
        "--json",
    ]
    first = command(
        *base, "-o", tmp_path / "a.csv", "--perturbation-table", tmp_path / "p.csv", "--variance", "3"
    )
    assert first.code == 0, first.err
    lines = pl.read_csv(tmp_path / "p.csv")
    assert lines.columns[:7] == ["i", "j", "p", "v", "p_int_lb", "p_int_ub", "type"]
    again = command(*base, "-o", tmp_path / "b.csv", "--ptable", tmp_path / "p.csv")
    assert again.code == 0, again.err
    assert (tmp_path / "a.csv").read_text() == (tmp_path / "b.csv").read_text()
    one, two = json.loads(first.out), json.loads(again.out)
    assert two["method"] == "given"
    for name in ("changed", "safe", "deviation", "small", "disclosed", "posterior_mean"):
        assert one[name] == pytest.approx(two[name]), name


@settings(max_examples=25, deadline=None)
@given(st.integers(1, 6), st.floats(0.3, 3.0), st.integers(0, 3))
def test_every_design_can_be_written_and_read(deviation: int, variance: float, small: int) -> None:
    if variance > deviation**2 or small > deviation - 1:
        return
    problem = DesignProblem(deviation, variance, small)
    made = METHODS["maximum-entropy"].solve(
        problem, None, budget=Budget(), seeds=Seeds(0), threads=1, observer=silent
    )
    read, design = read_design(design_frame(made))
    verify_external(design)
    assert read.deviation == deviation and read.small == small
    assert np.abs(design.chances - made.chances).max() < 1e-9


def test_chances_that_exceed_one_by_rounding_are_written_as_chances() -> None:
    made = METHODS["maximum-entropy"].solve(
        DesignProblem(1, 0.5, 0), None, budget=Budget(), seeds=Seeds(0), threads=1, observer=silent
    )
    over = replace(made, chances=np.array([[0.0, 1.0, 0.0], [0.4, 0.6000000000000002, 1e-17]]))
    assert np.cumsum(over.chances[1])[1] > 1.0
    lines = design_frame(over)
    assert (lines["p"] >= 0).all() and (lines["p_int_ub"] <= 1).all()


def changed(line: int, **values) -> pl.DataFrame:
    rows = LINES.to_dicts()
    rows[line] |= values
    return pl.DataFrame(rows)


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (changed(1, p=0.5, p_int_ub=0.5), "at the count 1: its chances do not add up to 1"),
        (changed(1, p=0.2, p_int_ub=0.2), "at the count 1: its chances do not add up to 1"),
        (changed(4, j=4), "row 5 of the perturbation table is wrong: j is not i + v"),
        (changed(1, j=-1, v=-2), "row 2 of the perturbation table is wrong: a count would become negative"),
        (changed(6, j=3, v=1), "at the count 2: a change is listed twice"),
        (changed(7, j=5, v=3), "at the count 2: its changes have a bias"),
        (changed(6, p_int_lb=0.45, p_int_ub=0.55), "at the count 2: its intervals overlap"),
        (changed(6, p_int_lb=0.3), "the interval is not as wide as the chance"),
        (changed(1, v=-0.5, j=0.5), "'v' is no whole number"),
        (changed(1, p=float("nan")), "'p' is missing or no number"),
        (LINES.filter(pl.col("i") != 1), "says nothing of the count 1"),
        (LINES.filter(pl.col("i") == 0), "changes no count"),
        (LINES.drop("i"), "column 'i' is not in the perturbation table"),
        (LINES.drop("v", "j"), "column 'v' is not in the perturbation table"),
        (LINES.drop("p", "p_int_lb"), "column 'p' is not in the perturbation table"),
        (LINES.with_columns(type=pl.lit("even")), "is one of several for sums"),
        (LINES.with_columns(p=pl.lit("much")), "column 'p' of the perturbation table is not numeric"),
        (changed(0, j=1, v=1), "at the count 0: empty cells must stay empty"),
    ],
)
def test_what_are_no_chances_is_refused_by_its_line(lines: pl.DataFrame, said: str) -> None:
    with pytest.raises(shoal.InputError) as refused:
        read_design(lines)
    assert said in str(refused.value)


def test_columns_that_follow_from_others_may_be_left_out() -> None:
    ordered = LINES.sort("i", "p_int_ub")
    wanted = read_design(ordered)[1]
    for gone in (["type"], ["j"], ["v"], ["p"], ["p_int_lb"], ["p_int_lb", "p_int_ub"]):
        found = read_design(ordered.drop(gone))[1]
        assert np.allclose(found.chances, wanted.chances)
        for count in range(3):
            assert found.row_intervals(count)[0].tolist() == wanted.row_intervals(count)[0].tolist()
    old = ordered.rename({"p": "p_ij", "p_int_ub": "p_ij_ub"}).drop("p_int_lb")
    assert np.allclose(read_design(old)[1].chances, wanted.chances)


@pytest.mark.parametrize(
    ("name", "deviation", "small"),
    [
        ("cellkey_frequency/20160511_szenario_5a.txt", 5, 2),
        ("cellkey_frequency/tau_testW_ptable.txt", 7, 2),
        ("cellkey_magnitude/ptab_freq.txt", 5, 2),
    ],
)
def test_public_tables_are_read(name: str, deviation: int, small: int) -> None:
    problem, design = read_design(benchmark_file(f"tabular/tauargus/{name}"))
    assert (problem.deviation, problem.small) == (deviation, small)
    verify_external(design)


def test_public_tables_for_sums_are_refused() -> None:
    with pytest.raises(shoal.InputError, match="no whole number"):
        read_design(benchmark_file("tabular/tauargus/cellkey_magnitude/ptab_savings_all.txt"))


def test_text_that_is_no_table_is_refused(tmp_path) -> None:
    for text in ("", "i;j;p;v\n", "i;j;p;v\n0;0;1;0\n1;2\n"):
        (tmp_path / "p.txt").write_text(text)
        with pytest.raises(shoal.InputError, match=r"p\.txt is no perturbation table"):
            read_text(tmp_path / "p.txt")
    with pytest.raises(shoal.InputError, match=r"'nowhere\.txt' is not there"):
        read_text(tmp_path / "nowhere.txt")


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"record_key": "id"}, "column 'id' holds no record keys: 398 records (the first is record 3)"),
        ({"record_key": "sex"}, "column 'sex' is not numeric"),
        ({"record_key": "rk"}, "did you mean 'rkey'"),
        ({"record_key": "rkey", "record": "id"}, "leave out record="),
        ({"record_key": "rkey", "seed": 3}, "leave out record="),
        ({"record": "id", "ptable": LINES, "deviation": 7, "seed": 1}, "leave out deviation="),
    ],
)
def test_what_does_not_go_together_is_refused(said, words) -> None:
    with pytest.raises(shoal.InputError) as refused:
        shoal.perturb_table(PEOPLE, ["area"], **said)
    assert words in str(refused.value)


def test_keys_that_are_missing_or_uneven_are_told() -> None:
    gaps = PEOPLE.to_pandas()
    gaps.loc[4, "rkey"] = np.nan
    with pytest.raises(shoal.InputError, match="column 'rkey' has missing values: see record 5"):
        shoal.perturb_table(gaps, ["area"], record_key="rkey")
    low = shoal.perturb_table(PEOPLE.with_columns(pl.col("rkey") / 3), ["area"], record_key="rkey")
    assert any("not evenly spread" in text for text in low.warnings) and not low.for_release
    even = shoal.perturb_table(PEOPLE, ["area"], record_key="rkey")
    assert not any("not evenly spread" in text for text in even.warnings) and even.for_release
    assert not are_uneven(keys_in_column(np.array([0.1]), "k"))
    assert keys_in_column(np.array([0.0, 1 - 2.0**-53, 1.0]), "k").tolist() == [0, KEYS - 1, 0]


@pytest.mark.parametrize(
    ("keys", "words"),
    [
        (pl.col("rkey").round(1), "most records share their key with others"),
        (pl.col("rkey").first().over(pl.col("id") // 4), "most records share their key"),
        (pl.col("id") / 400, "as far apart as numbers in a row"),
    ],
)
def test_keys_that_nobody_drew_are_told(keys, words) -> None:
    """Rounded ones, those of a group and numbers divided by how many there are: evenly spread, but no chance."""
    found = shoal.perturb_table(PEOPLE.with_columns(rkey=keys), ["sex"], record_key="rkey")
    assert any(words in text for text in found.warnings)


def test_keys_are_no_dimension_and_have_a_name() -> None:
    with pytest.raises(shoal.InputError, match="column 'rkey' is a dimension, and would be published"):
        shoal.perturb_table(PEOPLE, ["area", "rkey"], record_key="rkey")
    with pytest.raises(shoal.InputError, match="column"):
        shoal.perturb_table(PEOPLE, ["area"], record_key="")


def test_keys_by_chance_are_hardly_ever_odd() -> None:
    for size in (1, 2, 3, 10, 1000):
        for _ in range(200):
            drawn = keys_in_column(RNG.random(size), "k")
            assert not are_uneven(drawn) and not are_shared(drawn) and not are_in_a_row(drawn)
    assert are_in_a_row(keys_in_column(np.arange(10) / 10, "k"))


@pytest.mark.parametrize("keys", [pl.lit(0.0), pl.col("rkey") / 10])
def test_nothing_is_written_with_uneven_keys(tmp_path, keys) -> None:
    """A constant key makes the change a function of the count, and keys of a sample drawn by them all fall one way."""
    PEOPLE.with_columns(rkey=keys).write_csv(tmp_path / "people.csv")
    told = command(
        *("perturb-table", tmp_path / "people.csv", "--dimensions", "area", "--record-key", "rkey"),
        *("-o", tmp_path / "c.csv"),
    )
    assert told.code == 3 and "column 'rkey' holds no record keys" in told.err
    assert not (tmp_path / "c.csv").exists()


def table_of_rare_changes(chance: float) -> pl.DataFrame:
    return pl.DataFrame(
        {"i": [0, 1, 1, 1], "v": [0, -1, 0, 1], "p": [1.0, chance, 1.0 - 2.0 * chance, chance]}
    )


def test_changes_that_never_happen_protect_nothing(tmp_path) -> None:
    people = PEOPLE.with_columns(place=pl.col("id") // 2)
    rare = shoal.perturb_table(
        people, ["place"], record_key="rkey", ptable=table_of_rare_changes(1e-7), rules=["frequency(3)"]
    )
    # All counts go out as they are, though any of them could have changed.
    assert (rare.values == rare.tabulation.table.values).all()
    assert not rare.audit.safe and rare.disclosed == rare.tabulation.table.cells
    people.write_csv(tmp_path / "people.csv")
    table_of_rare_changes(1e-7).write_csv(tmp_path / "p.csv")
    told = command(
        *("perturb-table", tmp_path / "people.csv", "--dimensions", "place", "--record-key", "rkey"),
        *("--ptable", tmp_path / "p.csv", "-o", tmp_path / "c.csv"),
    )
    assert told.code == 3 and not (tmp_path / "c.csv").exists()


def test_changes_that_are_rare_are_told() -> None:
    people = PEOPLE.with_columns(place=pl.col("id") // 2)
    hardly, seldom, often = (
        shoal.perturb_table(people, ["place"], record_key="rkey", ptable=table_of_rare_changes(chance))
        for chance in (0.01, 0.04, 0.3)
    )
    assert hardly.audit.safe and not hardly.safe and seldom.safe and often.safe
    assert any("hardly protect it" in text for text in hardly.warnings)
    assert any("hardly protect it" in text for text in seldom.warnings)
    assert not any("hardly protect it" in text for text in often.warnings)


def test_a_figure_that_only_rare_changes_explain_keeps_them() -> None:
    _, design = read_design(
        pl.DataFrame({"i": [0, 2, 2, 2, 1], "v": [0, -2, 0, 2, 0], "p": [1.0, 1e-7, 1.0 - 2e-7, 1e-7, 1.0]})
    )
    low, high = possible_counts(design, np.array([4]), 1e-5)
    assert (low.tolist(), high.tolist()) == ([4.0], [4.0])
    low, high = possible_counts(design, np.array([0]), 1e-5)
    assert (low.tolist(), high.tolist()) == ([0.0], [0.0])
    low, high = possible_counts(design, np.array([4]))
    assert (low.tolist(), high.tolist()) == ([2.0], [6.0])


def test_the_command_refuses_a_secret_beside_keys(tmp_path) -> None:
    PEOPLE.write_csv(tmp_path / "people.csv")
    told = command(
        "perturb-table",
        tmp_path / "people.csv",
        *(
            "--dimensions",
            "area",
            "--record-key",
            "rkey",
            "--secret",
            tmp_path / "s.txt",
            "-o",
            tmp_path / "c.csv",
        ),
    )
    assert told.code == 2 and "leave out --secret" in told.err


def test_pandas_and_paths_are_taken(tmp_path) -> None:
    LINES.write_csv(tmp_path / "p.csv", separator=";")
    (tmp_path / "p.txt").write_text((tmp_path / "p.csv").read_text())
    found = [
        shoal.perturb_table(PEOPLE, ["area"], record_key="rkey", ptable=given).published.rows()
        for given in (
            LINES,
            LINES.to_pandas(),
            pd.DataFrame(LINES.to_dicts()),
            tmp_path / "p.csv",
            str(tmp_path / "p.txt"),
        )
    ]
    assert all(rows == found[0] for rows in found)


def test_records_with_gaps_are_refused_set_aside_or_a_category() -> None:
    gaps = PEOPLE.with_columns(pl.when(pl.col("id") % 50 == 7).then(None).otherwise("area").alias("area"))
    with pytest.raises(shoal.InputError, match="dimension 'area' has missing values: see 8 records"):
        shoal.perturb_table(gaps, ["area", "sex"], record="id", seed=1)
    aside = shoal.perturb_table(gaps, ["area", "sex"], record="id", seed=1, missing="aside")
    there = gaps.drop_nulls("area")
    # Whoever is set aside, the others keep their keys.
    assert aside.published.equals(shoal.perturb_table(there, ["area", "sex"], record="id", seed=1).published)
    assert aside.notes == ("8 records with missing values were set aside",) and aside.records == 392
    category = shoal.perturb_table(gaps, ["area", "sex"], record="id", seed=1, missing="category")
    assert set(category.published["area"]) == {"n", "s", "w", "missing", "total"}
    with pytest.raises(shoal.InputError, match="every record has missing values"):
        shoal.perturb_table(gaps.with_columns(area=None), ["area"], record="id", seed=1, missing="aside")


def test_totals_among_records_are_refused_in_words_that_hold_here() -> None:
    odd = PEOPLE.with_columns(area=pl.when(pl.col("id") < 5).then(pl.lit("Total")).otherwise("area"))
    with pytest.raises(shoal.InputError, match="has a total among its records: see 5 records") as refused:
        shoal.perturb_table(odd, ["area", "sex"], record="id", seed=1)
    assert "source" not in str(refused.value)


def test_a_table_that_leaves_large_counts_as_they_are_is_refused_in_words() -> None:
    lines = pl.DataFrame({"i": [0, 1, 1, 2], "v": [0, -1, 1, 0], "p": [1.0, 0.5, 0.5, 1.0]})
    with pytest.raises(InputError, match="never changes counts of 2 and more"):
        read_design(lines)


def test_a_dimension_that_is_named_twice_is_refused_in_words() -> None:
    with pytest.raises(InputError, match="dimension 'area' is named twice"):
        shoal.perturb_table(PEOPLE, ["area", "area"], record_key="rkey")


def test_counts_that_whole_numbers_alone_give_away_are_counted_where_nothing_is_written(
    tmp_path: Path,
) -> None:
    # Changes of one up or down, and never none: a 2 is 1 or 3, a total of 4 is 3 or 5, and a 0 is 0 or 1.
    chances = {"i": [0, 1, 1], "v": [0, -1, 1], "p": [1.0, 0.5, 0.5]}
    pl.DataFrame(chances).write_csv(tmp_path / "p.csv")
    pl.DataFrame({"a": ["x", "y", "z"], "rkey": [0.64, 0.27, 0.04]}).write_csv(tmp_path / "d.csv")
    told = command(
        *("perturb-table", tmp_path / "d.csv", "--dimensions", "a", "--record-key", "rkey"),
        *("--ptable", tmp_path / "p.csv", "-o", tmp_path / "o.csv"),
    )
    assert told.code == 3 and "2 sensitive counts can be computed too closely" in told.err
