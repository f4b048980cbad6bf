"""What somebody meets who calls the functions from Python: what is printed, frames of pandas, paths, refusals."""

import polars as pl

import shoal
from shoal.tables.linked import link

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
    assert "cost 3, bound 3, safe" in repr(found)
