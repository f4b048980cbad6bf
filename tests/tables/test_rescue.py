"""A pattern that the independent check refuses is neither published nor a riddle: more is hidden, or nothing is written."""

import json

import numpy as np
import pytest
from tests.cli.running import shoal as run

from shoal.cli.main import main
from shoal.errors import InputError
from shoal.tables import checked_search
from shoal.tables.api import suppress
from shoal.tables.from_papers import shortest_path
from shoal.tables.model.table import Table
from shoal.tables.solution import Pattern

NINE = np.array([[10.0, 20.0, 30.0], [40.0, 50.0, 60.0], [70.0, 80.0, 90.0]])


def careless(problem, options, **keywords) -> Pattern:
    """A method that hides nothing and is proud of it."""
    return Pattern(value=0.0, bound=0.0, optimal=True, complementary=np.empty(0, dtype=np.int64))


def test_a_method_that_fails_the_check_is_rescued(monkeypatch) -> None:
    monkeypatch.setattr(shortest_path, "solve", careless)
    found = suppress(NINE, sensitive=[("2", "2")], method="shortest-path")
    assert found.audit.safe and found.complementary.size >= 3
    assert found.bound is None and not found.solution.optimal and found.solution.record["rescued"] == 1.0


@pytest.mark.parametrize("more", [0, 1])
def test_cells_that_are_hidden_in_vain_are_told(monkeypatch, tmp_path, more) -> None:
    """The table is safe all the same: what everybody can work out is not sensitive."""

    def lavish(problem, options, **keywords) -> Pattern:
        hidden = [("n", "a"), ("n", "b"), ("s", "a"), ("w", "c")][: 3 + more]
        cells = np.array([problem.table.find(*cell) for cell in hidden], dtype=np.int64)
        return Pattern(value=problem.total_cost(cells), complementary=cells)

    monkeypatch.setattr(shortest_path, "solve", lavish)
    (tmp_path / "t.csv").write_text("region,a,b,c\nn,10,20,30\ns,40,50,60\nw,70,80,90\n")
    (tmp_path / "s.csv").write_text("row,column\ns,b\n")
    told = run("suppress", tmp_path / "t.csv", "--sensitive", tmp_path / "s.csv", "--method", "shortest-path",
               "--published", tmp_path / "p.csv", "--report", tmp_path / "r.html", "--json")  # fmt: skip
    assert told.code == 0 and told.json["safe"] and told.json["disclosed"] == more
    said = "1 hidden cell that is not sensitive can be worked out exactly"
    assert (said in " ".join(told.json.get("notes", []))) == bool(more)
    assert (said in (tmp_path / "r.html").read_text()) == bool(more)
    assert run("audit", tmp_path / "p.csv").code == (3 if more else 0)


def test_nothing_is_written_if_no_pattern_passes_the_check(monkeypatch, tmp_path, capsys) -> None:
    def refuse(problem, pattern) -> None:
        raise AssertionError("1 requirements are not met")

    monkeypatch.setattr(checked_search, "verify", refuse)
    (tmp_path / "t.csv").write_text("region,a,b,c\nn,10,20,30\ns,40,50,60\nw,70,80,90\n")
    (tmp_path / "s.csv").write_text("row,column\ns,b\n")
    target = tmp_path / "p.csv"
    with pytest.raises(SystemExit) as left:
        main(
            ["suppress", str(tmp_path / "t.csv"), "--sensitive", str(tmp_path / "s.csv"), "-o", str(target)]
            + ["--published", str(tmp_path / "public.csv"), "--json"]
        )
    said = json.loads(capsys.readouterr().out)
    assert left.value.code == 3 and said["kind"] == "infeasible" and "confirms no pattern" in said["error"]
    assert not target.exists() and not (tmp_path / "public.csv").exists()


@pytest.mark.parametrize("unit", [1e-9, 1.0, 1e9])
def test_totals_that_do_not_add_up_are_refused_in_any_unit(unit: float) -> None:
    whole = np.array([[10.0, 20.0, 30.0], [40.0, 50.0, 90.0], [50.0, 70.0, 121.0]])
    with pytest.raises(InputError, match="does not add up"):
        Table.from_matrix(whole * unit, totals=True)
    whole[2, 2] = 120.0
    Table.from_matrix(whole * unit, totals=True)
