"""Damaged files of tables: whatever is wrong with them, the command says so in one line and leaves with 2 (or 3), never 1."""

import random
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.cli.running import shoal as run

import shoal
from shoal.errors import InputError
from shoal.tables.files import jj

GENERAL = """0
9
0 10 10 s 0 1000000 0 0 0
1 20 20 s 0 1000000 0 0 0
2 30 30 z 0 1000000 0 0 0
3 40 40 s 0 1000000 0 0 0
4 50 50 u 0 1000000 5 5 0
5 90 90 z 0 1000000 0 0 0
6 50 50 z 0 1000000 0 0 0
7 70 70 z 0 1000000 0 0 0
8 120 120 z 0 1000000 0 0 0
6
0 3 : 0 (1) 1 (1) 2 (-1)
0 3 : 3 (1) 4 (1) 5 (-1)
0 3 : 6 (1) 7 (1) 8 (-1)
0 3 : 0 (1) 3 (1) 6 (-1)
0 3 : 1 (1) 4 (1) 7 (-1)
0 3 : 2 (1) 5 (1) 8 (-1)
"""


def test_the_file_as_it_should_be_is_read(tmp_path) -> None:
    (tmp_path / "t.jj").write_text(GENERAL)
    found = run("suppress", tmp_path / "t.jj", "--json")
    assert found.code == 0 and found.json["complementary"] == 3


@pytest.mark.parametrize(
    ("old", "new", "line", "why"),
    [
        ("\n9\n", "\nnine\n", 2, "number of cells"),
        ("\n9\n", "\n-9\n", 2, "number of cells"),
        ("\n9\n", "\n9 9\n", 2, "number of cells"),
        ("\n9\n", "\n10\n", 12, "9 entries"),
        ("\n9\n", "\n8\n", 11, "number of relations"),
        ("1 20 20 s 0", "1 20 20 s", 4, "9 entries"),
        ("1 20 20 s 0", "1 20 20 s 0 0", 4, "9 entries"),
        ("1 20 20 s 0", "x 20 20 s 0", 4, "number"),
        ("1 20 20 s 0", "0 20 20 s 0", 4, "same number"),
        ("1 20 20 s 0", "-1 20 20 s 0", 4, "number"),
        ("1 20 20 s 0", "1 nan 20 s 0", 4, "value"),
        ("1 20 20 s 0", "1 inf 20 s 0", 4, "value"),
        ("1 20 20 s 0", "1 1e308 20 s 0", 4, "value"),
        ("1 20 20 s 0", "1 many 20 s 0", 4, "value"),
        ("1 20 20 s 0", "1 20 nan s 0", 4, "cost"),
        ("1 20 20 s 0", "1 20 -20 s 0", 4, "cost"),
        ("1 20 20 s 0", "1 20 20 q 0", 4, "status"),
        ("1 20 20 s 0", "1 20 20 s nan", 4, "lower bound"),
        ("u 0 1000000 5", "u 0 nan 5", 7, "upper bound"),
        ("u 0 1000000 5", "u 0 1000000 nan", 7, "LPL"),
        ("u 0 1000000 5 5", "u 0 1000000 5 inf", 7, "UPL"),
        ("5 5 0", "5 5 -1", 7, "SPL"),
        ("\n6\n", "\n7\n", 18, "complete"),
        ("\n6\n", "\n5\n", 18, "goes on"),
        ("\n6\n", "\n\n", 13, "number of relations"),
        ("0 3 : 6 (1) 7", "0 4 : 6 (1) 7", 15, "announces"),
        ("0 3 : 6 (1) 7", "0 x : 6 (1) 7", 15, "begin with"),
        ("0 3 : 6 (1) 7", "0 3 6 (1) 7", 15, "begin with"),
        ("0 3 : 6 (1) 7", "0 -3 : 6 (1) 7", 15, "begin with"),
        ("0 3 : 6 (1) 7", "zero 3 : 6 (1) 7", 15, "right-hand side"),
        ("0 3 : 6 (1) 7", "nan 3 : 6 (1) 7", 15, "right-hand side"),
        ("0 3 : 6 (1) 7", "0 3 : 6 (--1) 7", 15, "coefficient"),
        ("0 3 : 6 (1) 7", "0 3 : 6 (nan) 7", 15, "coefficient"),
        ("0 3 : 6 (1) 7", "0 3 : 6 (0) 7", 15, "coefficient"),
        ("0 3 : 6 (1) 7", "0 3 : 6 (1e200) 7", 15, "coefficient"),
        ("0 3 : 6 (1) 7", "0 3 : 6 () 7", 15, "written as"),
        ("0 3 : 6 (1) 7", "0 3 : 66 (1) 7", 15, "not in the file"),
        ("0 3 : 6 (1) 7", "0 3 : 7 (1) 7", 15, "twice"),
        ("0 3 : 6 (1) 7", "0 3 : 6 (1) and 7", 15, "written as"),
        ("0 3 : 6 (1) 7 (1) 8 (-1)", "0 0 :", 15, "announces"),
    ],
)  # fmt: skip
def test_the_line_that_is_wrong_is_named(tmp_path, old, new, line, why) -> None:
    assert GENERAL.count(old) == 1
    (tmp_path / "t.jj").write_text(GENERAL.replace(old, new))
    found = run("suppress", tmp_path / "t.jj")
    assert found.code == 2 and found.out == ""
    assert f"line {line}" in found.err and why in found.err and found.err.count("\n") == 1


def test_comments_are_passed_over_and_counted_as_lines() -> None:
    text = f"# internal\n{GENERAL}# the end\n"
    assert jj.parse(text).problem.table.cells == 9
    with pytest.raises(InputError, match="line 5"):
        jj.parse(text.replace("1 20 20 s", "1 x 20 s"))


def test_damaged_archives_are_refused(tmp_path) -> None:
    import gzip

    whole = gzip.compress(GENERAL.encode(), mtime=0)
    for raw in (whole[:-9], b"no archive", whole[:20] + b"\0\0\0\0" + whole[24:], b""):
        (tmp_path / "t.jj.gz").write_bytes(raw)
        found = run("audit", tmp_path / "t.jj.gz")
        assert found.code == 2 and found.err.count("\n") == 1, raw


# What may stand where something else stood; each is a way of being wrong that was seen in files of people.
_SCRAPS = (
    "", " ", "nan", "inf", "-inf", "1e308", "-1", "0", "7", "x", "\0", "ü", "1e-320", "99999999999999999999", ":", "(", '"',
    ",", "\n", "total", "1,5", "s", "u", "z",
)  # fmt: skip


def mutated(text: str, chance: random.Random) -> str:
    """The text with one to three small damages: parts replaced, doubled, dropped or exchanged."""
    for _ in range(chance.randint(1, 3)):
        kind = chance.randrange(5)
        parts = text.split("\n") if kind < 3 else None
        if parts and len(parts) > 2:
            at, other = chance.randrange(len(parts)), chance.randrange(len(parts))
            if kind == 0:
                del parts[at]
            elif kind == 1:
                parts.insert(at, parts[other])
            else:
                parts[at], parts[other] = parts[other], parts[at]
            text = "\n".join(parts)
        else:
            at = chance.randrange(len(text) + 1)
            long = chance.choice((0, 1, 1, 2, 5))
            text = text[:at] + chance.choice(_SCRAPS) + text[at + long :]
    return text


def check(outcome, what: str) -> None:
    assert outcome.code in (0, 2, 3), f"{what}: {outcome.code} {outcome.err}"
    if outcome.code != 0 and not outcome.out:
        assert outcome.err.startswith("shoal: ") or "\nshoal: " in outcome.err, what
        assert "Traceback" not in outcome.err


@pytest.mark.parametrize("seed", range(60))
def test_damaged_jj_files_never_crash(tmp_path, seed) -> None:
    chance = random.Random(seed)
    text = mutated(GENERAL, chance)
    (tmp_path / "t.jj").write_text(text)
    check(run("suppress", tmp_path / "t.jj", "--method", "general", "--quiet"), repr(text))


@pytest.fixture(scope="module")
def tables(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A matrix with its sensitive cells, and a list of cells with all that lies beside it."""
    folder = tmp_path_factory.mktemp("tables")
    (folder / "matrix.csv").write_text("region,a,b,c\nn,10,20,30\ns,40,50,60\nw,70,80,90\n")
    (folder / "sensitive.csv").write_text("row,column,lower,upper\ns,b,5,5\n")
    (folder / "costs.csv").write_text("row,column,cost\nn,a,1\n")
    (folder / "tree.csv").write_text("code,parent\nn,land\ns,land\nw,\nland,\n")
    (folder / "tree.hrc").write_text("land\n@n\n@s\nw\n")
    values = np.arange(36.0) + 1
    pl.DataFrame({"r": [*"nsw"] * 12, "q": [*"abc"] * 4 * 3, "v": np.round(values * 1.7, 1)}).with_columns(
        q=pl.Series([*"aaabbbccc"] * 4)
    ).write_csv(folder / "records.csv")
    made = run("tabulate", folder / "records.csv", "--dimensions", "r,q", "--value", "v", "--hierarchy",
               f"r={folder / 'tree.csv'}", "--rule", "p-percent(60)", "-o", folder / "cells.csv")  # fmt: skip
    assert made.code == 0, made.err
    return folder


@pytest.mark.parametrize("seed", range(60))
def test_damaged_matrices_and_lists_of_cells_never_crash(tables, tmp_path, seed) -> None:
    chance = random.Random(1000 + seed)
    for place in tables.iterdir():
        (tmp_path / place.name).write_bytes(place.read_bytes())
    name = chance.choice(
        (
            "matrix.csv",
            "sensitive.csv",
            "costs.csv",
            "cells.csv",
            "cells.structure.json",
            "cells.contributions.csv",
        )
    )
    (tmp_path / name).write_text(mutated((tmp_path / name).read_text(), chance))
    if name.startswith("cells"):
        command = ["suppress", tmp_path / "cells.csv"]
    else:
        command = ["suppress", tmp_path / "matrix.csv", "--sensitive", tmp_path / "sensitive.csv", "--cost",
                   tmp_path / "costs.csv"]  # fmt: skip
    found = run(*command, "--method", "general", "--quiet")
    check(found, f"{name}: {(tmp_path / name).read_text()!r}")


@pytest.mark.parametrize("seed", range(30))
def test_damaged_hierarchies_never_crash(tables, tmp_path, seed) -> None:
    chance = random.Random(2000 + seed)
    name = chance.choice(("tree.csv", "tree.hrc"))
    (tmp_path / name).write_text(mutated((tables / name).read_text(), chance))
    found = run("tabulate", tables / "records.csv", "--dimensions", "r,q", "--value", "v", "--hierarchy",
                f"r={tmp_path / name}", "-o", tmp_path / "out.csv")  # fmt: skip
    check(found, f"{name}: {(tmp_path / name).read_text()!r}")


def test_a_code_has_one_parent(tmp_path) -> None:
    (tmp_path / "tree.csv").write_text("code,parent\nn,land\nn,sea\nland,\nsea,\n")
    (tmp_path / "tree.hrc").write_text("land\n@n\nsea\n@n\n")
    records = pl.DataFrame({"r": ["n", "n"], "v": [1.0, 2.0]})
    for name, line in (("tree.csv", "row 2"), ("tree.hrc", "line 4")):
        with pytest.raises(InputError, match=line):
            shoal.tabulate(records, ["r"], value="v", hierarchies={"r": tmp_path / name})


def test_infinity_is_a_bound_that_is_not_there() -> None:
    found = jj.parse(GENERAL.replace("u 0 1000000", "u -inf inf")).problem
    assert np.isneginf(found.low[4]) and np.isposinf(found.high[4])
