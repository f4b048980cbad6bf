"""Rules and their protection levels, tables from records, and protection against those who contribute."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.errors import InputError
from shoal.tables.api import suppress
from shoal.tables.as_problem import as_problem
from shoal.tables.model.contributions import Contributions
from shoal.tables.model.known_sums import SumRule
from shoal.tables.model.linked import link
from shoal.tables.model.rules import Dominance, Manual, MinimumFrequency, PPercent, Zero, parse_rule
from shoal.tables.model.tabulation import tabulate
from shoal.tables.safety.audit import audit


def cell(made, *key: str) -> int:
    return made.table.find(*key)


FIRMS = pl.DataFrame(
    {
        "region": ["n", "n", "n", "s", "s", "s", "s", "w", "w", "w", "w"],
        "sector": ["a", "a", "b", "a", "a", "a", "b", "b", "b", "b", "a"],
        "firm": [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11],
        "turnover": [90.0, 8.0, 40.0, 30.0, 28.0, 25.0, 20.0, 10.0, 9.0, 8.5, 60.0],
    }
)


def slow_level(rule: str, x: list[float]) -> float | None:
    """The formulas of the handbook, cell by cell."""
    x = sorted(x, reverse=True)
    total = sum(x)
    if rule == "frequency":
        return 0.2 * total if 0 < len(x) < 3 else None
    if rule == "dominance":
        top = sum(x[:2])
        return 100 / 80 * top - total if top > 0.8 * total else None
    coalition, ratio = {"p-percent": (1, 0.15), "coalition": (2, 0.15), "pq": (1, 20 / 80)}[rule]
    rest = total - sum(x[: 1 + coalition])
    return ratio * x[0] - rest if rest < ratio * x[0] else None


TEXTS = {
    "frequency": "frequency(3)",
    "dominance": "dominance(2,80)",
    "p-percent": "p-percent(15)",
    "coalition": "p-percent(15,2)",
    "pq": "pq(20,80)",
}


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(list(TEXTS)), st.integers(0, 10**9))
def test_levels_follow_the_handbook(rule: str, seed: int) -> None:
    rng = np.random.default_rng(seed)
    n = int(rng.integers(4, 25))
    frame = pl.DataFrame(
        {
            "a": [str(i) for i in rng.integers(0, 3, n)],
            "b": [str(i) for i in rng.integers(0, 3, n)],
            "firm": rng.integers(0, n, n),
            "v": rng.lognormal(3, 1.5, n).round(3),
        }
    )
    made = tabulate(frame, ["a", "b"], value="v", contributor="firm", rules=[TEXTS[rule]])
    for a in made.trees["a"].codes:
        for b in made.trees["b"].codes:
            inside = frame.filter(
                (pl.lit(a) == "total") | (pl.col("a") == a), (pl.lit(b) == "total") | (pl.col("b") == b)
            )
            amounts = inside.group_by("firm").agg(pl.col("v").sum())["v"].to_list()
            expected = slow_level(rule, amounts) if amounts else None
            at = cell(made, a, b)
            assert made.table.values[at] == pytest.approx(sum(amounts))
            assert made.contributors[at] == len(amounts)
            if expected is not None and expected < 1e-9 and rule != "frequency":
                continue
            assert (made.status[at] == "u") == (expected is not None)
            if expected is not None:
                assert made.upper[at] == pytest.approx(expected, abs=1e-9)
                assert made.lower[at] == pytest.approx(min(expected, sum(amounts)), abs=1e-9)


def test_rules_are_read_from_text() -> None:
    assert parse_rule("frequency(5)") == MinimumFrequency(5)
    assert parse_rule("dominance: 2, 85") == Dominance(2, 85.0)
    assert parse_rule("p-percent(10)") == PPercent(10.0)
    assert parse_rule("frequency(3)") == parse_rule("frequency(3,20)") == MinimumFrequency(3, 20.0)
    assert str(parse_rule("frequency(3,0)")) == "frequency(3,0)"
    assert parse_rule("zero(5)") == Zero(5.0) and parse_rule("manual(15)") == Manual(15.0)
    for bad in (
        *("dominanze(1,75)", "dominance(1)", "pq(80,20)", "frequency(x)", "p-percent(-1)", "?"),
        *("frequency", "dominance", "p-percent", "pq", "zero", "manual", "frequency()", "zero()"),
        *("frequency(3,-1)", "frequency(3,20,1)", "zero(-1)", "zero(1,2)", "manual(nan)"),
        *("frequency(2.5)", "dominance(1.5,75)", "p-percent(10,1.5)", "p-percent(nan)", "p-percent(inf)"),
    ):
        with pytest.raises(InputError):
            parse_rule(bad)


def test_holdings_count_as_one_and_weights_enter_the_total_only() -> None:
    frame = FIRMS.with_columns(group=pl.Series(["h", "h", *[""] * 9]), w=pl.Series([2.0] * 11))
    plain = tabulate(
        frame, ["region", "sector"], value="turnover", contributor="firm", rules=["frequency(2)"]
    )
    held = tabulate(
        frame,
        ["region", "sector"],
        value="turnover",
        contributor="firm",
        holding="group",
        rules=["frequency(2)"],
    )
    at = cell(plain, "n", "a")
    assert plain.status[at] == "s" and held.status[at] == "u"
    weighted = tabulate(frame, ["region", "sector"], value="turnover", weight="w", rules=["p-percent(10)"])
    assert weighted.table.values[at] == pytest.approx(2 * 98.0)
    # 196 − 90 − 8 is far above 10 % of 90; unweighted the cell is sensitive.
    assert weighted.status[at] == "s"
    assert tabulate(frame, ["region", "sector"], value="turnover", rules=["p-percent(10)"]).status[at] == "u"


def test_public_weights_are_subtracted_weighted() -> None:
    frame = FIRMS.with_columns(w=pl.Series([2.0] * 11))
    made = tabulate(
        frame,
        ["region", "sector"],
        value="turnover",
        weight="w",
        weights_public=True,
        rules=["p-percent(10)"],
    )
    # 196 − 180 − 16 = 0 is below 10 % of 180.
    at = cell(made, "n", "a")
    assert made.status[at] == "u" and made.upper[at] == pytest.approx(18.0)
    assert made.contributors[at] == 2


def test_records_without_a_holding_or_a_contributor() -> None:
    frame = FIRMS.with_columns(group=pl.Series([None] * 9 + ["h", "h"]))
    alone = tabulate(frame, ["region", "sector"], value="turnover", holding="group", rules=["frequency(2)"])
    assert alone.contributors[0] == 10
    with pytest.raises(InputError, match="every record needs its contributor"):
        tabulate(frame, ["region", "sector"], value="turnover", contributor="group")
    with pytest.raises(InputError, match="negative weights"):
        tabulate(frame.with_columns(w=pl.lit(-1.0)), ["region", "sector"], value="turnover", weight="w")


def test_a_rule_that_is_just_met_is_not_broken_by_floating_point() -> None:
    # 1.1 + 0.22 + 0.11: the rest is exactly 10 % of the largest, whatever else is in the table.
    frame = pl.DataFrame(
        {"a": ["x"] * 3 + ["y"] * 2, "b": ["p"] * 3 + ["q"] * 2, "v": [1.1, 0.22, 0.11, 7e9, 3e9]}
    )
    made = tabulate(frame, ["a", "b"], value="v", rules=["p-percent(10)"])
    assert made.status[cell(made, "x", "p")] == "s"
    half = tabulate(frame, ["a", "b"], value="v", rules=["dominance(1,70)"])
    assert half.status[cell(half, "y", "q")] == "s"


def test_what_hiding_costs_may_be_a_column() -> None:
    frame = FIRMS.with_columns(jobs=pl.Series(range(1, 12)))
    made = tabulate(frame, ["region", "sector"], value="turnover", cost="jobs")
    assert made.cost[cell(made, "n", "a")] == 3 and made.cost[0] == 66
    with pytest.raises(InputError, match="did you mean 'value'"):
        tabulate(frame, ["region", "sector"], value="turnover", cost="valu")


def test_a_waived_total_may_be_known_as_a_sum() -> None:
    # Firm 1 rules the north; it agreed to the total of its region being published.
    frame = pl.DataFrame(
        {
            "region": [*"nnn", *"sss" * 3, *"www" * 3],
            "sector": [*"abc"] * 7,
            "firm": [1, 2, 3, *range(4, 22)],
            "v": [900.0, 5.0, 4.0, *[50.0, 60.0, 70.0] * 6],
        }
    )
    total = pl.DataFrame({"region": ["n"], "sector": ["total"], "status": ["published"]})
    rules = ["frequency(2)", "p-percent(10)"]
    made = tabulate(frame, ["region", "sector"], value="v", contributor="firm", rules=rules, apriori=total)
    assert made.waived == (cell(made, "n", "total"),) and made.status[made.waived[0]] == "z"
    parts = np.array([cell(made, "n", sector) for sector in "abc"])
    assert not SumRule(made.contributions, made.rules)(parts)
    sums = made.problem().sums
    assert sums(parts) and not sums(parts[:2])


def test_hierarchies_give_subtotals_and_stay_networks() -> None:
    tree = {"n": "north", "w": "north", "north": "", "s": ""}
    made = tabulate(
        FIRMS, ["region", "sector"], value="turnover", hierarchies={"region": tree}, rules=["frequency(2)"]
    )
    assert made.table.values[cell(made, "north", "total")] == pytest.approx(90 + 8 + 40 + 10 + 9 + 8.5 + 60)
    made.table.check()
    assert made.table.network is not None
    with pytest.raises(InputError, match="not in its hierarchy"):
        tabulate(FIRMS, ["region", "sector"], hierarchies={"region": {"n": ""}})
    with pytest.raises(InputError, match="circles"):
        tabulate(FIRMS, ["region", "sector"], hierarchies={"region": {"n": "x", "x": "n", "s": "", "w": ""}})


def test_the_apriori_file_is_obeyed() -> None:
    apriori = pl.DataFrame(
        {
            "region": ["n", "s", "w"],
            "sector": ["a", "a", "b"],
            "status": ["s", "u", "z"],
            "upper": [None, 7.0, None],
            "cost": [123.0, None, None],
        }
    )
    made = tabulate(FIRMS, ["region", "sector"], value="turnover", rules=["p-percent(10)"], apriori=apriori)
    assert made.status[cell(made, "n", "a")] == "s" and made.cost[cell(made, "n", "a")] == 123.0
    assert made.status[cell(made, "s", "a")] == "u" and made.upper[cell(made, "s", "a")] == 7.0
    assert made.status[cell(made, "w", "b")] == "z"


def test_what_cannot_be_tabulated_is_refused() -> None:
    negative = FIRMS.with_columns(turnover=-pl.col("turnover"))
    with pytest.raises(InputError, match="negative contributions"):
        tabulate(negative, ["region", "sector"], value="turnover")
    assert tabulate(negative, ["region", "sector"], value="turnover", rules=["frequency(2)"]).sensitive.size
    for wrong in (["region", "region"], ["status", "sector"]):
        with pytest.raises(InputError, match=r"twice|cannot be called"):
            tabulate(FIRMS.rename({"region": "status"}).with_columns(region="sector"), wrong)
    with pytest.raises(InputError, match="did you mean 'region'"):
        tabulate(FIRMS, ["regoin", "sector"])
    with pytest.raises(InputError, match="missing values"):
        tabulate(FIRMS.with_columns(region=pl.lit(None)), ["region", "sector"])


def many_firms(seed: int, n: int = 60) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "a": [f"a{i}" for i in rng.integers(0, 5, n)],
            "b": [f"b{i}" for i in rng.integers(0, 4, n)],
            "firm": rng.integers(0, n, n),
            "v": rng.lognormal(4, 1, n).round(1),
        }
    )


@pytest.mark.parametrize("seed", range(4))
def test_patterns_of_records_withstand_insiders_and_sums(seed: int) -> None:
    made = tabulate(many_firms(seed), ["a", "b"], value="v", contributor="firm")
    problem = made.problem()
    assert problem.insiders and problem.sums is not None
    found = suppress(made, iterations=400)
    assert found.audit.safe
    # Every sum that a row or column gives away, computed here from the records themselves, passes the rules.
    hidden = problem.hidden_mask(found.complementary)
    records = many_firms(seed)
    for name, other in (("a", "b"), ("b", "a")):
        for code in made.trees[name].codes[1:]:
            inner = [c for c in made.trees[other].codes[1:] if hidden[made.table.find(*_key(name, code, c))]]
            if not inner or hidden[made.table.find(*_key(name, code, "total"))]:
                continue
            inside = records.filter(pl.col(name) == code, pl.col(other).is_in(inner))
            amounts = sorted(inside.group_by("firm").agg(pl.col("v").sum())["v"].to_list(), reverse=True)
            assert len(amounts) >= 3
            assert sum(amounts) - sum(amounts[:2]) >= 0.1 * amounts[0] - 1e-9
    outsider = suppress(made, insiders=False, iterations=400)
    assert outsider.cost <= found.cost + 1e-6


def _key(name: str, code: str, other: str) -> tuple[str, str]:
    return (code, other) if name == "a" else (other, code)


def test_counts_get_an_integer_check() -> None:
    # Three dimensions: no network, so whole numbers can exclude what a linear programme allows.
    rng = np.random.default_rng(1)
    frame = pl.DataFrame({name: [str(i) for i in rng.integers(0, 3, 120)] for name in "xyz"})
    made = tabulate(frame, ["x", "y", "z"], rules=["frequency(3)"])
    assert made.counts and made.table.network is None
    found = suppress(made, insiders=False, iterations=100)
    assert found.audit.safe and found.audit.integer == ()
    assert audit(found.problem, found.complementary).safe


def test_linked_tables_are_one_system() -> None:
    rng = np.random.default_rng(5)
    n = 250
    frame = pl.DataFrame(
        {
            **{name: [f"{name}{i}" for i in rng.integers(0, 4, n)] for name in "abc"},
            "firm": rng.integers(0, n, n),
            "v": rng.lognormal(3, 1, n).round(1),
        }
    )
    one, two = (
        tabulate(frame, ["a", other], value="v", contributor="firm", rules=["frequency(13)"])
        for other in "bc"
    )
    both = link([one, two])
    both.table.check()
    assert both.table.dimensions == ("a", "b", "c") and both.table.cells == 25 + 25 - 5
    assert both.sensitive.size >= max(one.sensitive.size, two.sensitive.size) > 0
    found = suppress(both, insiders=False, method="general")
    hidden = found.problem.hidden_mask(found.complementary)
    # What is hidden in both protects each table by itself.
    for made, other in ((one, "b"), (two, "c")):
        cells = [
            made.table.find(str(a), str(x))
            for a, x, gone in zip(both.table.keys["a"], both.table.keys[other], hidden, strict=True)
            if gone
        ]
        mine = made.problem(insiders=False)
        inside = np.setdiff1d(np.unique(cells), mine.sensitive)
        assert audit(mine, inside).unsafe.size == 0
    wrong = tabulate(frame.head(200), ["a", "c"], value="v", contributor="firm", rules=["frequency(13)"])
    with pytest.raises(InputError, match="disagree"):
        link([one, wrong])


@pytest.mark.parametrize(
    "rule", [Dominance(2, 100 / 3), PPercent(12.3456789), PPercent(1 / 3, 2), PPercent(10.0, 1, 80.25)]
)
def test_a_rule_is_read_back_from_its_text_digit_by_digit(rule) -> None:
    assert parse_rule(str(rule)) == rule
    with pytest.raises(InputError, match="frequency"):
        parse_rule("frequency(2.5)")


def test_the_limit_of_dominance_is_not_passed_by_rounding() -> None:
    cells = Contributions(
        np.array([0, 2, 4]),
        np.array([0, 1, 0, 1]),
        np.array([63.0, 27.0, 63.1, 26.9]),
        np.array([90.0, 90.0]),
    )
    assert np.isnan(Dominance(1, 70.0).level(cells)).tolist() == [True, False]


def test_missing_entries_of_pandas_frames_are_missing() -> None:
    pd = pytest.importorskip("pandas")
    firms = {
        "a": ["x", "x", "x", "y", "y", "y"],
        "v": [10.0, 10.0, 10.0, 5.0, 6.0, 7.0],
        "f": ["f1", "f2", "f3", "f4", "f5", "f6"],
        "h": ["H", None, None, None, None, None],
    }
    prior = {"a": ["x", "y"], "status": ["u", None], "lower": [1.0, None], "cost": [None, 3.0]}
    made = [
        tabulate(
            frame(firms),
            ["a"],
            value="v",
            contributor="f",
            holding="h",
            rules=["frequency(2)"],
            apriori=frame(prior),
        ).frame
        for frame in (pd.DataFrame, pl.DataFrame)
    ]
    assert made[0].equals(made[1]) and made[0]["contributors"].to_list() == [6, 3, 3]
    sensitive = {"row": ["1", "2"], "column": ["1", "2"], "lower": [1.0, None], "upper": [None, 2.0]}
    problem = as_problem(
        np.arange(1.0, 10.0).reshape(3, 3), sensitive=pd.DataFrame(sensitive), protection=0.2
    )
    assert problem.lower.tolist() == [1.0, 1.0] and problem.upper.tolist() == [0.2, 2.0]


def test_records_are_named_as_they_stand_where_others_were_set_aside() -> None:
    frame = pl.DataFrame({"a": [None, "x", "y", "z"], "v": [1.0, 2.0, 3.0, -4.0], "w": [1.0, 1.0, -1.0, 1.0]})
    with pytest.raises(InputError, match="negative weights: see record 3"):
        tabulate(frame, ["a"], value="v", weight="w", missing="aside", rules=["frequency(3)"])
    with pytest.raises(InputError, match="see record 4"):
        tabulate(frame, ["a"], value="v", missing="aside", rules=["p-percent(10)"])
    with pytest.raises(InputError, match="not in its hierarchy: see record 3"):
        tabulate(frame, ["a"], missing="aside", hierarchies={"a": {"x": "", "z": ""}})


@pytest.mark.parametrize(
    "text", ["p(10", "p(1", "frequency(3", "dominance(1,85", "p(10,)", "p(10))", "p)10(", "p 10"]
)
def test_a_rule_that_is_cut_off_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        parse_rule(text)


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("treshold(3)", "frequency"),
        ("threshold 3", "frequency"),
        ("freqency(3)", "frequency"),
        ("p%(10)", "p-percent"),
        ("prior-posterior(10,80)", "pq"),
        ("n,k(1,75)", "dominance"),
    ],
)
def test_a_rule_that_is_none_is_told_with_the_one_that_is_meant(text, meant) -> None:
    with pytest.raises(InputError, match=f"is not a rule; did you mean '{meant}'\\? Write {meant}\\("):
        parse_rule(text)


def test_a_rule_that_is_cut_off_is_told_how_it_is_written() -> None:
    with pytest.raises(InputError, match=r"rule 'frequency\(3': write it as frequency\(3\)"):
        parse_rule("frequency(3")
    assert parse_rule("p_percent(10)") == parse_rule("p-percent(10)")


def test_what_is_no_rule_at_all_is_refused() -> None:
    frame = pl.DataFrame({"a": ["x", "y"], "v": [1.0, 2.0]})
    with pytest.raises(InputError, match=r"a rule is a text like 'frequency\(3\)', not int"):
        tabulate(frame, ["a"], value="v", rules=[3])
