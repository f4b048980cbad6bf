"""Rules for counts: what a whole group has in common, and what nobody has."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.errors import InputError
from shoal.tables.model.rules import parse_rule


def people(counts: list[list[int]]) -> pl.DataFrame:
    rows = [
        {"area": f"a{i}", "job": f"j{j}"}
        for i, line in enumerate(counts)
        for j, n in enumerate(line)
        for _ in range(n)
    ]
    return pl.DataFrame(rows)


COUNTS = [[7, 0, 0], [4, 5, 6], [3, 1, 9]]


def test_all_of_a_row_in_one_category_is_sensitive() -> None:
    made = shoal.tabulate(people(COUNTS), ["area", "job"], rules=["group(1)"])
    assert [made.table.key(int(cell)) for cell in made.sensitive] == [{"area": "a0", "job": "j0"}]
    assert made.by_rule == {"group(1)": 1}
    cell = int(made.sensitive[0])
    assert made.lower[cell] == 1.0 and made.upper[cell] == 0.0
    # The empty cells beside it may be hidden, others stay published.
    assert {str(made.status[made.table.find("a0", job)]) for job in ("j1", "j2")} == {"s"}


def test_a_few_others_are_no_crowd() -> None:
    made = shoal.tabulate(people([[7, 1, 0], [4, 5, 6], [3, 2, 9]]), ["area", "job"], rules=["group(2)"])
    cell = made.table.find("a0", "j0")
    assert made.status[cell] == "u" and made.lower[cell] == 1.0
    assert made.status[made.table.find("a1", "j0")] != "u"


def test_what_nobody_has_is_sensitive() -> None:
    made = shoal.tabulate(people(COUNTS), ["area", "job"], rules=["empty(2)"])
    assert sorted(made.table.key(int(c))["job"] for c in made.sensitive) == ["j1", "j2"]
    assert set(made.upper[made.sensitive]) == {2.0} and set(made.lower[made.sensitive]) == {0.0}


@pytest.mark.parametrize("rule", ["group(1)", "empty(1)"])
def test_suppression_leaves_the_group_uncertain(rule: str) -> None:
    made = shoal.tabulate(people(COUNTS), ["area", "job"], rules=[rule])
    found = shoal.suppress(made)
    assert found.audit.safe
    low, _ = found.audit.bounds(made.table.index[("a0", "j0")] * np.ones(1, dtype=int))
    if rule == "group(1)":
        total = made.table.values[made.table.find("a0", "total")]
        assert low[0] <= 6.0 < total
    else:
        cells = made.sensitive
        assert (found.audit.bounds(cells)[1] >= 1.0).all()


@settings(max_examples=60)
@given(
    st.lists(st.lists(st.integers(0, 4), min_size=3, max_size=3), min_size=2, max_size=3), st.integers(1, 3)
)
def test_group_rule_is_what_it_says(counts: list[list[int]], others: int) -> None:
    if not all(sum(line) for line in counts) or not all(sum(column) for column in zip(*counts, strict=True)):
        return
    made = shoal.tabulate(people(counts), ["area", "job"], rules=[f"group({others})"])
    for cell in range(made.table.cells):
        key = made.table.key(cell)
        own = made.table.values[cell]
        totals = [
            made.table.values[made.table.find(*{**key, name: "total"}.values())]
            for name in key
            if key[name] != "total"
        ]
        wanted = own > 0 and any(total - own < others for total in totals)
        assert (made.status[cell] == "u") == wanted, key


def test_they_are_for_counts_and_need_their_number() -> None:
    assert str(parse_rule("group(2)")) == "group(2)" and str(parse_rule("empty(1)")) == "empty(1)"
    for text in ("group", "group(0)", "empty(1.5)", "group(1,2)"):
        with pytest.raises(InputError):
            parse_rule(text)
    frame = people(COUNTS).with_columns(v=pl.lit(2.0))
    with pytest.raises(InputError, match="are for tables that count records"):
        shoal.tabulate(frame, ["area", "job"], value="v", rules=["group(1)"])
