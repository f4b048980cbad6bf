"""What a user states about cells is taken at its word: what is hidden, what is sensitive, and by how much."""

import json

import numpy as np
import polars as pl
import pytest

from shoal.cli.main import main
from shoal.errors import InputError
from shoal.tables.api import audit, suppress
from shoal.tables.as_problem import as_problem
from shoal.tables.files import jj
from shoal.tables.files.publishing import interval_frame
from shoal.tables.model.table import Table
from shoal.tables.model.tabulation import tabulate
from shoal.tables.problem import Problem

NINE = np.array([[10.0, 20.0, 30.0], [40.0, 50.0, 60.0], [70.0, 80.0, 90.0]])
MATRIX = "region,a,b,c\nn,10,20,30\ns,40,50,60\nw,70,80,90\n"


def run(capsys, *arguments: object) -> tuple[int, dict]:
    with pytest.raises(SystemExit) as left:
        main([*map(str, arguments), "--json"])
    return int(left.value.code or 0), json.loads(capsys.readouterr().out)


def tabulated():
    records = pl.DataFrame(
        {"a": list("xxyyzz"), "b": list("pqpqpq"), "v": [10.0, 20.0, 30.0, 40.0, 50.0, 60.0]}
    )
    waived = pl.DataFrame({"a": ["x"], "b": ["p"], "status": ["u"], "lower": [3.0], "upper": [3.0]})
    return tabulate(records, ["a", "b"], value="v", rules=["frequency(1)"], apriori=waived)


def test_a_sensitive_cell_that_the_pattern_shows_is_unsafe(tmp_path, capsys) -> None:
    three = [("1", "1"), ("1", "2"), ("2", "1")]
    found = audit(NINE, three, sensitive=[("2", "2")])
    cell = found.problem.table.find("2", "2")
    assert not found.safe and found.published == (cell,) and found.unsafe.tolist() == [cell]
    assert found.cells.size == 3 and found.smallest_margin == -10.0
    assert interval_frame(found).select("min", "max", "safe").row(0) == (50.0, 50.0, False)
    assert audit(NINE, [*three, ("2", "2")], sensitive=[("2", "2")]).safe
    (tmp_path / "t.csv").write_text(MATRIX)
    (tmp_path / "s.csv").write_text("row,column\ns,b\n")
    (tmp_path / "p.csv").write_text(
        "row,column,kind\nn,a,complementary\nn,b,complementary\ns,a,complementary\n"
    )
    code, said = run(
        capsys, "audit", tmp_path / "t.csv", tmp_path / "p.csv", "--sensitive", tmp_path / "s.csv"
    )
    assert code == 3 and not said["safe"] and said["published"] == [{"row": "s", "column": "b"}]


def test_every_cell_keeps_its_own_levels() -> None:
    mixed = as_problem(NINE, sensitive=[("1", "1"), ("2", "2", 30, 30)])
    assert mixed.upper.tolist() == [1.0, 30.0] and mixed.lower.tolist() == [1.0, 30.0]
    for wrong in ([("2", "2", 30)], [("2",)], [("2", "2", 1, 2, 3)]):
        with pytest.raises(InputError, match="row, column"):
            as_problem(NINE, sensitive=wrong)
    priced = as_problem(NINE, sensitive=[("1", "1")], cost=[("2", "2", 7)])
    assert priced.cost[priced.table.find("2", "2")] == 7.0


def test_of_two_levels_for_a_cell_the_larger_holds(tmp_path, capsys) -> None:
    made = tabulated()
    problem = as_problem(made, sensitive=[("x", "p", 1, 8), ("y", "q", 2, 2)])
    assert problem.lower.tolist() == [3.0, 2.0] and problem.upper.tolist() == [8.0, 2.0]
    made.frame.write_csv(tmp_path / "cells.csv")
    (tmp_path / "s.csv").write_text("a,b,lower,upper\nx,p,1,8\n")
    with pytest.raises(SystemExit) as left:
        main(["suppress", str(tmp_path / "cells.csv"), "--sensitive", str(tmp_path / "s.csv")])
    assert not left.value.code and "the larger levels hold" in capsys.readouterr().err


def test_protection_is_the_least_for_every_cell_and_refused_where_a_file_has_all_levels(
    tmp_path, capsys
) -> None:
    made = tabulated()
    assert suppress(made, protection=0.5).problem.upper.tolist() == [5.0]
    assert suppress(made, protection=0.1).problem.upper.tolist() == [3.0]
    both = as_problem(made, sensitive=[("y", "q")], protection=0.5)
    assert both.upper.tolist() == [5.0, 20.0] and both.lower.tolist() == [5.0, 20.0]
    with pytest.raises(InputError, match="levels of their own"):
        suppress(made.problem(), protection=0.5)
    target = tmp_path / "t.jj"
    target.write_text(jj.write(made.problem()))
    for command in ("suppress", "audit"):
        code, said = run(capsys, command, target, "--protection", "0.5")
        assert code == 2 and "leave out --protection" in said["error"]


def numbered(first: int) -> str:
    """A table with hidden cells as jj text whose numbers do not start at 0."""
    table = Table.from_matrix(NINE)
    problem = Problem.of(table, [table.find("2", "2")])
    square = np.array([table.find(*key) for key in (("1", "1"), ("1", "2"), ("2", "1"))])
    relabelled = Table(
        table.values,
        table.starts,
        table.members,
        table.signs,
        {"cell": np.arange(first, first + table.cells)[::-1].astype(object)},
    )
    return jj.write(problem.with_changes(table=relabelled), square)


def test_jj_keeps_its_numbers(tmp_path, capsys) -> None:
    text = numbered(100)
    contents = jj.parse(text)
    again = jj.write(contents.problem, contents.hidden)
    assert text.splitlines()[2].startswith("115 10 ") and again == text
    (tmp_path / "t.jj").write_text(text)
    code, said = run(capsys, "audit", tmp_path / "t.jj")
    assert code == 0 and said["safe"] and said["hidden"] == 4 and not said["disclosed"]
    with pytest.raises(InputError, match="same number"):
        jj.parse(text.replace("114 20 ", "115 20 "))


def test_further_sensitive_cells_of_a_jj_file_are_audited(tmp_path, capsys) -> None:
    (tmp_path / "t.jj").write_text(numbered(100))
    (tmp_path / "s.csv").write_text("cell,lower,upper\n107,5,5\n115,5,50\n")
    code, said = run(capsys, "audit", tmp_path / "t.jj", "--sensitive", tmp_path / "s.csv")
    assert code == 3 and said["sensitive"] == 3 and said["published"] == [{"cell": 107}]
    assert said["unsafe"] == [{"cell": 115}, {"cell": 107}]


def test_a_jj_pattern_belongs_to_the_matrix_it_was_made_of(tmp_path, capsys) -> None:
    (tmp_path / "t.csv").write_text(MATRIX)
    (tmp_path / "s.csv").write_text("row,column\ns,b\n")
    given = (tmp_path / "t.csv", "--sensitive", tmp_path / "s.csv")
    assert run(capsys, "suppress", *given, "-o", tmp_path / "p.jj")[0] == 0
    code, said = run(capsys, "audit", given[0], tmp_path / "p.jj", *given[1:])
    assert code == 0 and said["hidden"] == 4


@pytest.mark.parametrize(("option", "amount"), [("--low", "9"), ("--sliding", "1.5")])
def test_what_the_attacker_knows_acts_on_jj(tmp_path, capsys, option: str, amount: str) -> None:
    (tmp_path / "t.jj").write_text(numbered(0))
    assert run(capsys, "audit", tmp_path / "t.jj")[0] == 0
    code, said = run(capsys, "audit", tmp_path / "t.jj", option, amount)
    assert code == 3 and said["unsafe"] == [{"cell": 10}]
