"""Lists and hierarchies whose first line is no header: read whole where that can be seen, else refused for what it is."""

import pytest
from tests.cli.running import shoal

from shoal import InputError, suppress, tabulate
from shoal.tables.files.hierarchies import read_hierarchy

FIRMS = "firm,region,sector,turnover\n" + "".join(
    f"{number},{code},{number % 3},{number % 7 + 5}\n" for number in range(40) for code in (11, 12, 21)
)


@pytest.fixture
def firms(tmp_path):
    path = tmp_path / "firms.csv"
    path.write_text(FIRMS)
    return path


@pytest.mark.parametrize(
    ("lines", "first"),
    [
        ("11,10\n12,10\n21,20\n", ("11", "10")),
        ("n1,N\nn2,N\ns1,S\n", ("n1", "N")),
        ("N,n1\nN,n2\nS,s1\n", ("n1", "N")),
        ("code,parent\nn1,N\n", ("n1", "N")),
        ("district,state\nn1,N\nn2,N\n", ("n1", "N")),
    ],
)
def test_no_code_of_a_hierarchy_is_taken_for_a_name(tmp_path, lines, first):
    path = tmp_path / "regions.csv"
    path.write_text(lines)
    found = read_hierarchy(str(path))
    assert found[first[0]] == first[1]
    assert not {"code", "district", "column1"} & set(found)


def test_a_hierarchy_of_numbers_without_names_serves_a_table(firms, tmp_path):
    tree = tmp_path / "regions.csv"
    tree.write_text("11,10\n12,10\n21,20\n")
    told = shoal(
        *("tabulate", firms, "--dimensions", "region,sector", "--value", "turnover", "--contributor", "firm"),
        *("--hierarchy", f"region={tree}", "-o", tmp_path / "cells.csv"),
    )
    assert told.code == 0, told.err
    assert "\n10,total," in (tmp_path / "cells.csv").read_text()


@pytest.mark.parametrize(
    "lines", ["11,0,u,10.5,12.5\n12,1,u,3.5,2.5\n", "11,1\n12,2\n", "north,0\nsouth,1\n"]
)
def test_a_list_of_cells_without_names_is_refused_for_that(firms, tmp_path, lines):
    path = tmp_path / "list.csv"
    path.write_text(lines)
    for option in ("--apriori", "--sensitive", "--cost", "--previous"):
        told = shoal(
            *("suppress", firms, "--dimensions", "region,sector", "--value", "turnover"),
            *("--contributor", "firm", option, path),
        )
        assert told.code == 2, option
        assert "lacks the column 'region'; the first line of a list names its columns" in told.err
        assert "--header-row" not in told.err
    made = tabulate(firms, dimensions=["region", "sector"], value="turnover", contributor="firm")
    with pytest.raises(InputError, match="the first line of a list names its columns"):
        suppress(made, sensitive=str(path))
