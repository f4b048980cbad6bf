"""What is said of intervals that are no wider than their rule asks: how narrow they are, not only that they are safe."""

import numpy as np
import polars as pl
import pytest
from tests.cli.running import shoal as run

import shoal
from shoal.tables.files import jj
from shoal.tables.safety.narrowest import Narrowest
from shoal.web.activities.verdict import verdict

# The cell of one contributor shares rows and columns with tiny ones, which are cheapest to hide.
SUMS = {"n": (4222.04, 0.3, 1200.0), "s": (2.4, 0.3, 930.0), "w": (930.0, 960.0, 990.0)}
RECORDS = pl.DataFrame(
    [
        (region, sector, value / parts)
        for region, values in SUMS.items()
        for sector, value in zip("abc", values, strict=True)
        for parts in [1 if value > 4000 else 3]
        for _ in range(parts)
    ],
    schema=["region", "sector", "v"],
    orient="row",
)
MATRIX = np.array(list(SUMS.values()))


def tabulated() -> object:
    return shoal.tabulate(RECORDS, ["region", "sector"], value="v", rules=["frequency(3,0)"])


def apriori() -> object:
    declared = pl.DataFrame({"region": ["n"], "sector": ["a"], "status": ["sensitive"]})
    return shoal.tabulate(
        RECORDS, ["region", "sector"], value="v", rules=["frequency(1)", "manual(0)"], apriori=declared
    )


def from_jj() -> object:
    posed = shoal.suppress(MATRIX, sensitive=[("1", "1")], protection=0.0).problem
    return jj.parse(jj.write(posed)).problem


@pytest.mark.parametrize("table", [tabulated, apriori, from_jj])
def test_a_cell_that_need_only_not_be_exact_is_said_to_be_nearly_known(table) -> None:
    found = shoal.suppress(table(), insiders=False)
    assert found.audit.safe
    figures = found.to_dict()
    assert figures["narrowest"] == figures["without_range"]
    assert figures["without_range"]["cells"] == 1
    assert figures["without_range"]["width"] == pytest.approx(0.6)
    assert figures["without_range"]["percent"] == pytest.approx(60 / 4222.04)
    said = dict(found.audit.reached_in_words())
    assert said["narrowest interval of a hidden sensitive cell"] == "0.6 wide, 0.014 % of its value"
    assert "No range is asked for" in said["asked only not to be known exactly"]
    assert "0.6 wide, 0.014 % of its value" in found.report().html()
    assert shoal.audit(found.problem, found.pattern).reached() == found.audit.reached()
    assert verdict(found.audit)["reached"] == found.audit.reached_in_words()


@pytest.mark.parametrize("asked", [{"protection": 0.1}, {"protection": 0.0, "sliding": 0.1}])
def test_a_range_that_was_asked_for_is_reached_and_nothing_else_is_said(asked) -> None:
    found = shoal.suppress(MATRIX, sensitive=[("1", "1")], **asked)
    assert found.audit.narrowest_without_range is None and found.to_dict()["without_range"] is None
    assert found.audit.narrowest.percent >= 10.0
    assert [name for name, _ in found.audit.reached_in_words()] == [
        "narrowest interval of a hidden sensitive cell"
    ]


def test_a_tiny_level_of_a_rule_is_told_by_the_width_it_gives() -> None:
    # One firm just above what the rule allows: the level it asks for is next to nothing.
    firms = RECORDS.with_columns(v=pl.when(pl.col("v") > 4000).then(3166.65).otherwise("v")).vstack(
        pl.DataFrame({"region": ["n"], "sector": ["a"], "v": [1055.39]})
    )
    made = shoal.tabulate(firms, ["region", "sector"], value="v", rules=["dominance(1,75)"])
    found = shoal.suppress(made, insiders=False)
    assert found.audit.safe and found.audit.narrowest_without_range is None
    assert 0.0 < found.audit.narrowest.percent < 1.0


def test_levels_that_are_tiny_are_not_called_none() -> None:
    """Who gave levels is told that they are too small, and not to give some."""
    level = [("1", "1", 0.0005, 0.0005)]
    found = shoal.suppress(MATRIX, sensitive=level)
    assert found.audit.safe and found.problem.required_width[0] > 0.001
    assert found.to_dict()["without_range"] is None and found.to_dict()["tiny_range"]["cells"] == 1
    said = dict(found.audit.reached_in_words())
    assert "asked only not to be known exactly" not in said
    assert "give larger ones" in said["asked for next to no range"] and "frequency" not in str(said)
    both = shoal.audit(MATRIX, found.pattern, sensitive=[*level, ("2", "1", 0, 0)]).reached()
    assert both["narrowest"]["cells"] == 2
    assert both["without_range"]["cells"] == both["tiny_range"]["cells"] == 1


@pytest.mark.parametrize("level", [0.0, 0.0005])
def test_cells_that_are_unsafe_are_not_called_protected(level) -> None:
    found = shoal.audit(MATRIX, [("1", "1"), ("1", "2")], sensitive=[("1", "1", level, level)])
    assert not found.safe
    (_, (name, text)) = found.reached_in_words()
    assert "protected" not in name + text
    assert text.startswith("1 sensitive cell, which is unsafe, the narrowest interval 0 wide")
    again = shoal.audit(
        MATRIX,
        [("1", "1"), ("1", "2"), ("2", "2"), ("2", "3"), ("3", "2"), ("3", "3")],
        sensitive=[("1", "1", level, level), ("2", "3", level, level)],
    )
    assert again.reached_in_words()[1][1].startswith("2 sensitive cells, 1 of them unsafe")


def test_cells_that_are_not_hidden_have_no_interval() -> None:
    shown = shoal.audit(MATRIX, [("1", "2"), ("1", "3")], sensitive=[("1", "1")], protection=0.0)
    assert not shown.safe and shown.narrowest is None and shown.reached_in_words() == []


def test_open_intervals_and_empty_cells() -> None:
    assert str(Narrowest.of(np.array([5.0]), np.array([np.inf]))) == "no limit"
    assert Narrowest.of(np.array([5.0]), np.array([np.inf])).to_dict() == {
        "cells": 1,
        "width": None,
        "percent": None,
        "percent_width": None,
    }
    assert str(Narrowest.of(np.array([0.0]), np.array([3.0]))) == "3 wide, its value is 0"
    assert Narrowest.of(np.array([0.0, 8.0]), np.array([3.0, 2.0])).percent == 25.0
    assert Narrowest.of(np.array([0.0, 8.0]), np.array([0.0, 2.0])).width == 0.0
    assert Narrowest.of(np.empty(0), np.empty(0)) is None


def test_the_commands_say_it_beside_safe(tmp_path) -> None:
    RECORDS.write_csv(tmp_path / "records.csv")
    made = run("tabulate", tmp_path / "records.csv", "--dimensions", "region,sector", "--value", "v", "--rule",
               "frequency(3,0)", "-o", tmp_path / "cells.csv")  # fmt: skip
    assert made.code == 0
    found = run("suppress", tmp_path / "cells.csv", "--no-insiders", "-o", tmp_path / "pattern.csv")
    again = run("audit", tmp_path / "cells.csv", tmp_path / "pattern.csv", "--no-insiders")
    for outcome in (found, again):
        text = " ".join(outcome.out.split())
        assert outcome.code == 0
        assert "0.6 wide, 0.014 % of its value" in text and "No range is asked for" in text
    figures = run("audit", tmp_path / "cells.csv", tmp_path / "pattern.csv", "--no-insiders", "--json").json
    assert figures["without_range"]["width"] == pytest.approx(0.6)


def test_the_width_is_the_least_and_the_percentage_may_be_that_of_another_cell() -> None:
    found = Narrowest.of(np.array([400.0, 5.0, 6.0]), np.array([4.0, 3.0, 3.0]))
    assert found is not None and (found.width, found.percent, found.percent_width) == (3.0, 1.0, 4.0)
    assert str(found) == "3 wide; in percent of its value the narrowest is 1 %, 4 wide"
    assert found.to_dict() == {"cells": 3, "width": 3.0, "percent": 1.0, "percent_width": 4.0}
    wide = Narrowest.of(np.array([0.0, 5.0]), np.array([3.0, np.inf]))
    assert (
        wide is not None and str(wide) == "3 wide, its value is 0" and wide.to_dict()["percent_width"] == 3.0
    )
