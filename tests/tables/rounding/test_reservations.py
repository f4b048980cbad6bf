"""A verdict names its attacker: where it hangs on what that attacker does not know, no front end says a plain yes."""

from itertools import product

import numpy as np
import pytest
from tests.cli.running import shoal as run

import shoal
from shoal.tables.model.table import Table
from shoal.tables.problem import Problem
from shoal.tables.rounding.adjustment import report as adjusted
from shoal.tables.rounding.controlled_rounding import report as rounded
from shoal.tables.rounding.controlled_rounding.exact import solve
from shoal.tables.rounding.controlled_rounding.problem import RoundingProblem

TABLE = np.array([[26, 52, 35, 6], [47, 45, 51, 14], [9, 52, 6, 34]])


@pytest.fixture(scope="module")
def doubtful():
    found = shoal.adjust_table(TABLE, sensitive=[("1", "1")], protection=0.3, seed=2)
    assert found.audit.safe and found.doubtful_if_bounded
    return found


def test_an_adjusted_table_is_safe_for_the_attacker_that_is_named(doubtful) -> None:
    known = doubtful.to_dict()
    assert known["safe"] and known["safe_if_limit_known"] is False
    assert "no limit of how far others moved" in known["attacker"]
    line = dict(adjusted._facts(doubtful))["safe"]
    assert line == f"yes, for the attacker below; {known['reservation']}"
    assert line.endswith(
        "NOT if the largest change of the other cells were known, which leaves "
        f"{doubtful.doubtful_if_bounded} sensitive cell{'s' * (doubtful.doubtful_if_bounded > 1)} unsafe"
    )
    assert known["reservation"] in adjusted.of_adjustment(doubtful).inference


def test_command_and_report_say_the_same(tmp_path) -> None:
    rows = [
        ",".join(["row", "1", "2", "3", "4"]),
        *(f"{i},{','.join(map(str, row))}" for i, row in enumerate(TABLE, 1)),
    ]
    (tmp_path / "t.csv").write_text("\n".join(rows))
    (tmp_path / "c.csv").write_text("row,column\n1,1\n")
    common = (
        "adjust",
        tmp_path / "t.csv",
        "--sensitive",
        tmp_path / "c.csv",
        "--protection",
        "30%",
        "--seed",
        2,
    )
    told = run(*common, "--json")
    assert told.json["safe_if_limit_known"] is False
    shown = run(*common, "--report", tmp_path / "r.html")
    words = "which leaves"
    assert words in " ".join(shown.out.split()) and words in (tmp_path / "r.html").read_text()


def test_a_stated_limit_that_is_safe_is_a_plain_yes() -> None:
    found = shoal.adjust_table(TABLE, sensitive=[("1", "1")], protection=0.1, limit=0.9, seed=1)
    if not found.doubtful_if_bounded:
        assert dict(adjusted._facts(found))["safe"] == "yes"
    assert found.to_dict()["safe_if_limit_known"] == (not found.doubtful_if_bounded)


def test_the_nearest_rounding_is_not_judged_for_somebody_who_knows_that() -> None:
    near = shoal.round_table(TABLE, 5, sensitive=[("1", "1", 1.0, 1.0)], objective="nearest", seed=1)
    assert near.to_dict()["safe_if_method_known"] is None and near.to_dict()["safe"]
    assert dict(rounded._facts(near))["safe"].startswith("yes, for the attacker below; not judged if")
    drawn = shoal.round_table(TABLE, 5, sensitive=[("1", "1", 1.0, 1.0)], seed=1)
    assert drawn.to_dict()["safe_if_method_known"] is True and "reservation" not in drawn.to_dict()
    assert dict(rounded._facts(drawn))["safe"] == "yes"


def test_more_steps_are_not_judged_for_somebody_who_knows_the_method_whoever_asked_for_them() -> None:
    asked = shoal.round_table(TABLE, 5, sensitive=[("1", "1", 6.0, 6.0)], steps=2, seed=1)
    told = asked.to_dict()
    assert told["safe"] and told["safe_if_method_known"] is None
    assert told["reservation"].endswith("further than one base only where they must")
    # With two steps the empty table can have come from 2 and 2, which are rounded by chance to 0 or 3, and never from 5 and 0.
    for true, able in (((2.0, 2.0), True), ((5.0, 0.0), False)):
        table = Table.from_relations([*true, sum(true)], [[(0, 1.0), (1, 1.0), (2, -1.0)]], {"cell": CELLS})
        shown = {tuple(solve(problem).multiples.tolist()) for problem in all_wishes(table, 3.0, steps=2)}
        assert ((0, 0, 0) in shown) == able


CELLS = np.array(["a", "b", "total"], dtype=object)


def all_wishes(table: Table, base: float, steps: int) -> list[RoundingProblem]:
    """The problem for everything that chance may wish for."""
    ends = [sorted({np.floor(value / base), np.ceil(value / base)}) for value in table.values.tolist()]
    protect = Problem.of(table, [])
    return [RoundingProblem(protect, base, np.array(wish), steps, whole=True) for wish in product(*ends)]
