"""Files of hierarchies: what is read, and what is refused in one line that names the place."""

from pathlib import Path

import numpy as np
import pytest
from tests.benchmark_data import benchmark_file

from shoal import InputError
from shoal.microdata.columns.hierarchies.as_hierarchy import hierarchy_or_rule
from shoal.microdata.columns.hierarchies.files import hierarchy_text, parse_hierarchy, read_hierarchy
from shoal.microdata.columns.hierarchies.hierarchy import Hierarchy, coded
from shoal.microdata.columns.hierarchies.rule import values_of

ROWS = (("31", "30-39", "*"), ("38", "30-39", "*"), ("47", "40-49", "*"))
TEXT = "31;30-39;*\n38;30-39;*\n47;40-49;*"


@pytest.mark.parametrize(
    "content",
    [
        TEXT.encode(),
        TEXT.encode() + b"\n",
        TEXT.encode() + b"\n\n\n",
        b"\xef\xbb\xbf" + TEXT.encode(),
        TEXT.replace("\n", "\r\n").encode(),
        TEXT.encode("utf-16"),
        TEXT.replace(";", ",").encode(),
        TEXT.replace(";", "\t").encode(),
        TEXT.replace("31;30-39;*", '"31";"30-39";"*"').encode(),
        b"31;30-39\n38;30-39\n47;40-49\n",
    ],
    ids=[
        "plain",
        "last line end",
        "blank lines",
        "mark",
        "windows",
        "utf-16",
        "commas",
        "tabs",
        "quotes",
        "no root",
    ],
)
def test_all_ways_to_write_it_are_read(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "age.csv").write_bytes(content)
    found = read_hierarchy(tmp_path / "age.csv")
    assert found.rows == ROWS
    assert found.origin == "file age.csv"


def test_letters_of_windows_are_read(tmp_path: Path) -> None:
    (tmp_path / "city.csv").write_bytes("Köln;Rhein;*\nMünchen;Isar;*\n".encode("cp1252"))
    assert read_hierarchy(tmp_path / "city.csv").leaves == ("Köln", "München")


def test_commas_within_labels_are_no_separators() -> None:
    assert parse_hierarchy("0.5;[0.5, 1.0)\n1.5;[1.5, 2.0)", "file").labels[1] == ("[0.5, 1.0)", "[1.5, 2.0)")


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "the hierarchy in file a.csv: it is empty"),
        (b"\n\n", "the hierarchy in file a.csv: it is empty"),
        (b"zq1;x;*\nzq2;*\n", "the hierarchy in file a.csv: row 2 has 2 labels, but row 1 has 3"),
        (b"zq1;x;*\nzq1;y;*\n", "the hierarchy in file a.csv: row 2 is about the same value as row 1"),
        (
            b"zq1;x;a;*\nzq2;x;b;*\n",
            "the hierarchy in file a.csv: the label of row 2 at level 1 has two parents at level 2: another in row 1",
        ),
        ("zqä;zqö\nzqü;".encode() + b"\xc3;x", "the hierarchy 'a.csv' is no text at line 2; save it in UTF-8"),
        (b"zq1;x\nzq\x00;y", "the hierarchy 'a.csv' is no text at line 2; save it in UTF-8"),
        (b"code,parent\nzq1,zq2\nzq2,zq1\n", "the hierarchy in file a.csv: it goes round in circles at line 2"),
        (b"code,parent\nzq1,\nzq2,zq3\nzq3,zq2\n", "the hierarchy in file a.csv: it goes round in circles at line 3"),
        (b"code,parent\nzq1,zq2\nzq2,zq3\nzq3,zq2\n", "the hierarchy in file a.csv: it goes round in circles at line 3"),
        (b"code,parent\nzq1,zq2\nzq1,zq3\n", "the hierarchy in file a.csv: line 3 gives the code of line 2 a second parent"),
        (b"code,parent\n,zq3\n", "the hierarchy in file a.csv: line 2 has no code"),
        (b"code,parent\n", "the hierarchy in file a.csv: it is empty"),
        (b"code,parent\nzq1,a,b\n", "the hierarchy in file a.csv: line 2 has 3 fields, not a code and its parent"),
    ],
)  # fmt: skip
def test_a_bad_file_is_refused_in_one_line_that_names_the_place(
    tmp_path: Path, content: bytes, problem: str
) -> None:
    (tmp_path / "a.csv").write_bytes(content)
    with pytest.raises(InputError) as found:
        read_hierarchy(tmp_path / "a.csv")
    assert str(found.value) == problem
    assert "zq" not in str(found.value)


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (
            "a\n@@b\n",
            "the hierarchy in file a.hrc: the code of line 2 is more than one level below the one before",
        ),
        ("a\n@b\nc\n\n@b\n", "the hierarchy in file a.hrc: the code of line 5 was there in line 2"),
        ("\n", "the hierarchy in file a.hrc: it is empty"),
    ],
)
def test_a_bad_hrc_file_is_refused(tmp_path: Path, content: str, problem: str) -> None:
    (tmp_path / "a.hrc").write_text(content)
    with pytest.raises(InputError) as found:
        read_hierarchy(tmp_path / "a.hrc")
    assert str(found.value) == problem


def test_files_that_are_not_there_or_no_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"absent\.csv' is not there"):
        read_hierarchy(tmp_path / "absent.csv")
    with pytest.raises(InputError, match="is a folder, not a file"):
        read_hierarchy(tmp_path)
    with pytest.raises(
        InputError, match=r"column 'age': there is no file 'interval', and no such rule; rules are: intervals"
    ):
        hierarchy_or_rule("interval", "age")


def test_codes_of_different_depth_stay_themselves_on_the_levels_between(tmp_path: Path) -> None:
    (tmp_path / "nace.hrc").write_text("A\n@A1\n@@A11\n@@A12\n@A2\nB\n")
    rows = read_hierarchy(tmp_path / "nace.hrc").rows
    assert set(rows) == {
        ("A11", "A1", "A", "*"),
        ("A12", "A1", "A", "*"),
        ("A2", "A2", "A", "*"),
        ("B", "B", "B", "*"),
    }
    (tmp_path / "nace.csv").write_text("code,parent\nA11,A1\nA12,A1\nA1,A\nA2,A\nA,\nB,\n")
    assert set(read_hierarchy(tmp_path / "nace.csv").rows) == set(rows)


def test_a_value_that_is_not_in_the_hierarchy_is_named_by_its_record() -> None:
    ages = Hierarchy(ROWS, "file age.csv")
    with pytest.raises(InputError) as found:
        coded(values_of(["31", "zq", "47", "zq", "zw"]), ages, "age")
    assert str(found.value) == (
        "2 values are not in the hierarchy of column 'age' (file age.csv): 3 records (the first is record 2)"
    )
    assert coded(values_of(["47", "31", "47"]), ages, "age").tolist() == [2, 0, 2]


def test_a_missing_value_is_written_as_arx_does() -> None:
    made = Hierarchy(ROWS).with_missing()
    text = hierarchy_text(made)
    assert text.endswith("NULL;NULL;*\n")
    assert parse_hierarchy(text, "file").rows == made.rows


@pytest.mark.parametrize(
    "given",
    [
        [["31", "30-39", "*"], ["38", "30-39", "*"], [47, "40-49", "*"]],
        {"31": "30-39", "38": "30-39", "47": "40-49", "30-39": "", "40-49": None},
        Hierarchy(ROWS),
    ],
    ids=["rows", "parents", "hierarchy"],
)
def test_hierarchies_in_python_are_rows_parents_frames_and_themselves(given: object) -> None:
    found = hierarchy_or_rule(given, "age")
    assert isinstance(found, Hierarchy) and found.rows == ROWS


@pytest.mark.parametrize("library", ["polars", "pandas"])
def test_frames_hold_levels_or_parents(library: str) -> None:
    module = pytest.importorskip(library)
    levels = dict(zip(("value", "ten", "all"), zip(*ROWS, strict=True), strict=True))
    parents = {
        "code": ["31", "38", "47", "30-39", "40-49"],
        "parent": ["30-39", "30-39", "40-49", None, None],
    }
    for columns in (levels, parents):
        found = hierarchy_or_rule(
            module.DataFrame({name: list(items) for name, items in columns.items()}), "age"
        )
        assert isinstance(found, Hierarchy) and found.rows == ROWS


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ([], "column 'age': its hierarchy: it is empty"),
        (["31"], "column 'age': a hierarchy given by its rows needs a list for each value"),
        ([["a", "b"], ["c"]], "column 'age': its hierarchy: row 2 has 1 labels, but row 1 has 2"),
        ({"a": "b", "b": "a"}, "column 'age': it goes round in circles at line 1"),
        (3, "column 'age': the data must be a pandas, Polars or Arrow frame"),
        (b"x", "column 'age': the data must be a pandas, Polars or Arrow frame"),
        ("intervals(x)", "column 'age': the hierarchy: the rule 'intervals' needs numbers, not 'x'"),
    ],
)
def test_what_is_no_hierarchy_is_refused(given: object, problem: str) -> None:
    with pytest.raises(InputError) as found:
        hierarchy_or_rule(given, "age")
    assert str(found.value).startswith(problem)


@pytest.mark.parametrize("column", ["age", "education", "native-country", "occupation", "salary-class"])
def test_files_of_arx_are_read_and_written_again(column: str) -> None:
    path = benchmark_file(f"adult/adult_hierarchy_{column}.csv")
    made = read_hierarchy(path)
    lines = path.read_text(encoding="utf-8-sig").split()
    assert sorted(hierarchy_text(made).split()) == sorted(lines)
    assert np.all(np.diff(made.nodes[1:], axis=1) >= 0)


@pytest.mark.parametrize(
    "text",
    ["code,parent\nSIN,SIN\nMAR,EVER\nDIV,EVER\n", "code,parent\nSIN,\nMAR,EVER\nDIV,EVER\nEVER,EVER\n"],
)
def test_a_code_at_the_top_may_be_its_own_parent(text: str):
    found = parse_hierarchy(text, "file a.csv")
    assert set(found.rows) == {("SIN", "SIN", "*"), ("MAR", "EVER", "*"), ("DIV", "EVER", "*")}
