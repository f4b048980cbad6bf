"""Joining a list of names with data: whom it finds, counted by a slow twin."""

from pathlib import Path

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.cli.running import shoal as command

import shoal
from shoal.errors import InputError
from shoal.microdata.risk.linking import link

rows = st.lists(
    st.tuples(st.none() | st.integers(0, 2), st.none() | st.sampled_from("ab")), min_size=1, max_size=12
)
SCHEMA = {"x": pl.Int64, "y": pl.String}


def agree(one, two, null: str) -> bool:
    if null == "wildcard":
        return all(a == b or None in (a, b) for a, b in zip(one, two, strict=True))
    return one == two and None not in one


@pytest.mark.parametrize("null", ["own", "wildcard"])
@given(rows, rows)
def test_matches_are_counted(null, released, listed) -> None:
    frames = [pl.DataFrame(part, schema=SCHEMA, orient="row") for part in (released, listed)]
    linked = link(*frames, ["x", "y"], null=null)
    fits = [sum(agree(record, entry, null) for record in released) for entry in listed]
    rivals = [sum(other == entry or agree(other, entry, null) for other in listed) for entry in listed]
    assert (linked.one, linked.several, linked.none) == (
        fits.count(1),
        sum(n > 1 for n in fits),
        fits.count(0),
    )
    assert linked.listed == len(listed)
    pairs = list(zip(fits, rivals, strict=True))
    assert linked.reidentified == pairs.count((1, 1))
    assert linked.expected_matches == pytest.approx(sum(1 / max(pair) for pair in pairs if pair[0]))


def test_a_column_that_is_not_there_or_of_another_type_is_named() -> None:
    one = pl.DataFrame({"zip": ["1"]})
    with pytest.raises(InputError, match="in the list"):
        link(one, pl.DataFrame({"postcode": ["1"]}), ["zip"])
    with pytest.raises(InputError, match="type in the data and in the list"):
        link(one, pl.DataFrame({"zip": [[1]]}), ["zip"])


DATA = "age,sex,ill\n31,f,yes\n31,f,no\n40,m,no\n52,f,yes\n60,m,no\n60,f,no\n"
# Two fit two records, two the same one, one fits one, and one none.
LIST = "name,age,sex\nAnn,31,f\nBea,31,f\nCarl,40,m\nCurt,40,m\nDora,52,f\nEd,99,m\n"


@pytest.fixture
def files(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data.csv").write_text(DATA)
    (tmp_path / "list.csv").write_text(LIST)


def test_a_list_is_linked_to_the_data_before_and_after(files) -> None:
    before = command("risk", "data.csv", "--quasi", "age,sex", "--list", "list.csv", "--json").json["list"]
    assert before == {
        "listed": 6,
        "reidentified": 1,
        "one_record": 3,
        "several_records": 2,
        "no_record": 1,
        "expected_matches": 3.0,
    }
    released = shoal.risk(pl.read_csv("data.csv").drop("sex"), ["age"], listed=pl.read_csv("list.csv"))
    assert released.linkage is not None and released.linkage.reidentified == 1
    coarse = [
        pl.read_csv(name).filter(pl.col("age") < 99).with_columns(pl.col("age") // 50)
        for name in ("data.csv", "list.csv")
    ]
    after = shoal.risk(coarse[0], ["age", "sex"], listed=coarse[1]).linkage
    assert after is not None and after.reidentified == 0 < after.expected_matches


def test_the_list_is_said_everywhere_and_counts_for_the_gate(files) -> None:
    asked = ("risk", "data.csv", "--quasi", "age,sex", "--list", "list.csv", "--respondents", "unknown")
    shown = command(*asked, "--population", "6000000", "--report", "r.html")
    assert "re-identified by the list" in shown.out and "Ann" not in shown.out
    assert "re-identified by the list" in Path("r.html").read_text()
    refused = command(*asked, "--population", "6000000", "--require-reidentifications", "2.9")
    assert refused.code == 3 and "(the list)" in refused.err
    assert command("risk", "data.csv", "--quasi", "age,ill", "--list", "list.csv").code == 2


def test_a_list_that_is_written_otherwise_is_refused() -> None:
    data = pl.DataFrame({"sex": ["man", "woman", "man", None], "age": [30, 40, 50, 60]})
    with pytest.raises(InputError, match="no value of 'sex' on the list occurs in the data"):
        shoal.risk(data, quasi=["sex", "age"], listed=pl.DataFrame({"sex": ["m", "f"], "age": [30, 40]}))
    alike = shoal.risk(
        data, quasi=["sex", "age"], listed=pl.DataFrame({"sex": ["man", None], "age": [30, 40]})
    )
    assert alike.linkage is not None
    assert alike.linkage.none == 1
