"""Shares may be typed in percent; where too large a share would make tables look safe, plain numbers above 1 are refused."""

import numpy as np
import polars as pl
import pytest
from tests.cli.running import shoal as run

import shoal


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("row,a,b,c\nx,10,20,30\ny,40,50,60\nz,70,80,90\n")
    (tmp_path / "cells.csv").write_text("row,column\ny,b\n")
    (tmp_path / "last.csv").write_text(
        "row,a,b,c,total\nx,10,20,30,60\ny,41,51,60,152\nz,70,80,90,240\ntotal,121,151,180,452\n"
    )
    return path


def test_percent_and_share_are_the_same(table) -> None:
    common = ("suppress", table, "--sensitive", table.with_name("cells.csv"), "--json", "--protection")
    found = [run(*common, text).json for text in ("0.4", "40%", "40 %", ".4", "4e-1")]
    assert len({(item["cost"], item["smallest_margin_percent"]) for item in found}) == 1
    assert run(*common, "5").json["error"].endswith("it is a share: 0.05 is 5 percent")
    assert run(*common, "-5%").json["error"].startswith("--protection must be at least 0")
    assert (
        run(*common, "many").json["error"]
        == "--protection must be a number or percent (0.05 or 5%), not 'many'"
    )
    limit = run("adjust", table, "--sensitive", table.with_name("cells.csv"), "--limit", "30", "--json")
    assert limit.json["error"].endswith("it is a share: 0.05 is 5 percent")


def test_a_change_of_more_than_the_whole_is_written_in_percent(table) -> None:
    pattern = table.with_name("pattern.csv")
    assert (
        run("suppress", table, "--sensitive", table.with_name("cells.csv"), "-o", pattern, "--json").code == 0
    )
    common = ("audit", table, pattern, "--beside", table.with_name("last.csv"), "--json", "--change")
    refused = run(*common, "5")
    words = "--change is a share: write 5% (or 0.05) for 5 percent, and 500% if 5 times as much is meant"
    assert refused.code == 2 and refused.json["error"] == words
    assert run(*common, "5%").json["together"] == run(*common, "0.05").json["together"]
    assert run(*common, "500%").code in (0, 3)
    plain = run("diff", "a", "b", "--change", "5", "--json")
    assert plain.code == 2 and plain.json["error"] == words
    assert "--change" not in run("diff", "a", "b", "--change", "5%", "--json").json["error"]


def test_python_warns_of_a_change_of_more_than_the_whole() -> None:
    matrix = np.array([[10, 20, 30], [40, 50, 60], [70, 80, 90]])
    pattern = shoal.suppress(matrix, sensitive=[("2", "2")]).pattern
    last = pl.DataFrame({"row": ["1", "total"], "1": [1, 1], "total": [1, 1]})
    with pytest.warns(UserWarning, match="change= is a share: 0.05 is 5 percent, and 5 is 500 percent"):
        shoal.audit(matrix, pattern, beside=last, change=5)
