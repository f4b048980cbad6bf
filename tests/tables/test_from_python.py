"""What somebody meets who calls the functions from Python: what is printed, frames of pandas, paths, refusals."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest

import shoal
from shoal.runtime import Budget, Control
from shoal.tables.as_problem import as_table
from shoal.tables.files import jj
from shoal.tables.model.linked import link

RECORDS = pl.DataFrame(
    {
        "a": [*"xyz"] * 12,
        "b": [*"pppqqqrrrsss"] * 3,
        "c": [*"uvvu"] * 9,
        "v": [float(7001 + 37 * i) for i in range(36)],
    }
)


def test_what_is_printed_is_short_and_has_no_value_of_a_cell_or_contributor() -> None:
    made = shoal.tabulate(RECORDS, ["a", "b"], value="v", rules=["frequency(1)"])
    other = shoal.tabulate(RECORDS, ["a", "c"], value="v", rules=["frequency(1)"])
    found = shoal.suppress(made, sensitive=[("x", "p")], cost="unity")
    things = [found, found.audit, found.problem, found.problem.sums, made, made.table, made.contributions]
    confidential = {f"{value:.0f}" for value in [*made.table.values, *RECORDS["v"]]}
    for thing in [*things, link([made, other])]:
        text = repr(thing)
        assert len(text) < 200 and "array" not in text
        assert not any(figure in text for figure in confidential)
    assert "cost=3, bound=3, safe=True" in repr(found)


NINE = {"a": [10, 40, 70], "b": [20, 50, 80], "c": [30, 60, 90]}


@pytest.mark.parametrize("index", [["n", "s", "w"], pd.Index(["n", "s", "w"], name="region")])
def test_an_index_of_pandas_names_the_rows(index) -> None:
    matrix = pd.DataFrame(NINE, index=index)
    cells = pd.DataFrame({"row": ["s"], "column": ["b"]})
    found = shoal.suppress(matrix, sensitive=cells.set_index("row"))
    assert found.problem.table.shape == (3, 3) and found.cost == 70.0
    assert shoal.audit(matrix, found.pattern).safe


def test_an_index_of_numbers_names_the_rows_unless_a_column_does() -> None:
    years = pd.DataFrame(NINE, index=[2001, 2002, 2003])
    assert as_table(years).find("2002", "b") == 5
    named = pd.DataFrame({"r": [*"nsw"], **NINE})
    assert as_table(named).find("s", "b") == 5
    assert as_table(named.iloc[::-1]).find("s", "b") == 5
    assert as_table(named.set_index("r").rename(columns={"b": 7})).find("s", "7") == 5


def test_paths_are_read(tmp_path) -> None:
    RECORDS.write_csv(tmp_path / "records.csv")
    (tmp_path / "tree.hrc").write_text("one\n@x\n@y\ntwo\n@z\n")
    parents = {"one": "", "x": "one", "y": "one", "two": "", "z": "two"}
    for hierarchy in (parents, tmp_path / "tree.hrc", str(tmp_path / "tree.hrc")):
        made = shoal.tabulate(
            tmp_path / "records.csv",
            ["a", "b"],
            value="v",
            hierarchies={"a": hierarchy},
            rules=["frequency(1)"],
        )
        assert made.table.cells == 6 * 5
    problem = shoal.suppress(np.array(list(NINE.values())), sensitive=[("2", "2")]).problem
    (tmp_path / "small.jj").write_text(jj.write(problem))
    found = shoal.suppress(str(tmp_path / "small.jj"))
    assert found.cost == 70.0 and shoal.audit(tmp_path / "small.jj", found.pattern).safe


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: shoal.suppress({"a": 1}, sensitive=[("1", "1")]), "the table must be a frame"),
        (lambda: shoal.suppress("no.jj"), "the file 'no.jj' is not there"),
        (lambda: shoal.suppress(pl.DataFrame(NINE), sensitive=7), "the list of cells must be a frame"),
        (lambda: shoal.tabulate(RECORDS.lazy(), ["a"]), "the data must be a frame"),
        (lambda: shoal.tabulate(RECORDS, 3), "a list of names"),
        (lambda: shoal.tabulate(RECORDS, ["a"], hierarchies={"a": ["x"]}), "{code: parent}"),
    ],
)
def test_what_cannot_be_read_is_refused_in_one_line(call, message) -> None:
    with pytest.raises(shoal.InputError, match=re.escape(message)):
        call()


def test_an_apriori_file_is_no_list_of_sensitive_cells() -> None:
    stated = pl.DataFrame({"row": ["1", "2"], "column": ["1", "2"], "status": ["s", "u"]})
    with pytest.raises(shoal.InputError, match="a-priori"):
        shoal.suppress(np.array(list(NINE.values())), sensitive=stated)


def _stopped_at_once() -> Budget:
    control = Control()
    control.cancel()
    return Budget(control=control)


def test_a_bound_that_proves_nothing_is_unknown_everywhere() -> None:
    seen = []
    found = shoal.suppress(
        np.array([[10, 20, 30], [40, 50, 60], [70, 80, 90]]),
        sensitive=[("2", "2")],
        budget=_stopped_at_once(),
        observer=seen.append,
    )
    assert found.cost > 0 and not found.solution.optimal
    assert found.bound is None and found.gap_percent is None
    assert found.to_dict()["bound"] is None and found.to_dict()["gap_percent"] is None
    assert seen and all(progress.bound is None for progress in seen)
    assert "<dt>gap to the best possible</dt><dd>unknown</dd>" in found.report().html()


def test_a_pattern_that_costs_nothing_is_its_own_bound() -> None:
    free = pl.DataFrame(
        {"row": [*"111222333"], "column": [*"123123123"], "cost": [0.0] * 9},
        schema_overrides={"row": pl.String},
    )
    found = shoal.suppress(
        np.array([[10, 20, 30], [40, 50, 60], [70, 80, 90]]), sensitive=[("2", "2")], cost=free
    )
    assert (found.cost, found.bound, found.gap_percent, found.solution.optimal) == (0.0, 0.0, 0.0, True)


def test_the_value_hidden_is_counted_once_and_alike_everywhere() -> None:
    found = shoal.suppress(np.array([[10, 20, 30], [40, 50, 60], [70, 80, 90]]), sensitive=[("2", "2")])
    hidden = [
        10 * (3 * int(row) + int(column) - 3)
        for row, column, kind in found.pattern.iter_rows()
        if kind != "primary"
    ]
    assert found.value_hidden_percent == pytest.approx(100.0 * sum(hidden) / 450)
    assert found.to_dict()["value_hidden_percent"] == found.value_hidden_percent
    assert f"<dd>{found.value_hidden_percent:.3f} %</dd>" in found.report().html()
