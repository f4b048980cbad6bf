"""How messages name a cell: by the codes of its dimensions, of a matrix by the number of its row; never by its figure."""

import pytest
from tests.cli.running import shoal as run

RECORDS = "region,sector,v\nnorth,zqcode,31.25\nsouth,zqcode,-47.5\nsouth,q,500\nnorth,q,90\n"
MATRIX = "who,a,b\nZqalice,31.25,2\nZqbob,-47.5,4\n"


@pytest.mark.parametrize(
    "command",
    [
        ["suppress", "--rule", "frequency(2)"],
        ["round", "--base", "5", "--rule", "frequency(2)"],
        ["adjust", "--rule", "frequency(2)"],
    ],
)
def test_cells_of_dimensions_are_named_by_their_codes(tmp_path, command) -> None:
    (tmp_path / "records.csv").write_text(RECORDS)
    name, *more = command
    found = run(name, tmp_path / "records.csv", "--dimensions", "region,sector", "--value", "v", *more)
    assert (
        found.code == 2 and "the cell region '" in found.err and "sector 'zqcode' is negative" in found.err
    ), found.err
    assert "47.5" not in found.err and "31.25" not in found.err


@pytest.mark.parametrize("command", [["suppress"], ["round", "--base", "5"], ["adjust"]])
def test_cells_of_a_matrix_are_named_by_the_number_of_their_row(tmp_path, command) -> None:
    (tmp_path / "matrix.csv").write_text(MATRIX)
    (tmp_path / "sensitive.csv").write_text("row,column\nZqalice,a\n")
    name, *more = command
    found = run(name, tmp_path / "matrix.csv", "--sensitive", tmp_path / "sensitive.csv", *more)
    assert found.code == 2 and "the cell row 2, column 'a'" in found.err, found.err
    assert "Zq" not in found.err and "47.5" not in found.err
