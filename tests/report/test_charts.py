"""The charts themselves: straight lines, steps, logarithmic axes, and labels as people write them."""

import re

import pytest

from shoal.report import charts


def labels(svg: str) -> list[str]:
    return re.findall(r">([^<>]+)</text>", svg)


def paths(svg: str) -> list[str]:
    """The lines drawn in colour."""
    return re.findall(r'<path[^>]* d="([^"]+)"[^>]*stroke="#1f6f8b"', svg)


def test_years_and_postcodes_have_no_thousands_separators_and_large_counts_do() -> None:
    shown = labels(
        charts.lines({"a": [(1960.0, 28000.0), (2020.0, 28010.0)]}, x="year", y="postcode", steps=False)
    )
    assert "1980" in shown and "28004" in shown and not any("," in label for label in shown)
    shown = labels(charts.lines({"a": [(0.0, 0.0), (1.0, 2e6)]}, x="x", y="y"))
    assert "1,000,000" in shown


def test_a_line_is_straight_unless_its_values_are_steps() -> None:
    points = {"a": [(0.0, 0.0), (1.0, 5.0), (2.0, 6.0)]}
    (steps,), (straight,) = (paths(charts.lines(points, x="x", y="y", steps=way)) for way in (True, False))
    # A step goes across and then up: two pieces for each point but the first.
    assert len(re.findall("L", steps)) > len(re.findall("L", straight)) == 2


@pytest.mark.parametrize("log", ["x", "y", "xy"])
def test_a_logarithmic_axis_names_powers_of_ten_and_leaves_out_what_it_cannot_show(log) -> None:
    points = [(0.0, 0.0), (1.0, 1.0), (1000.0, 1000.0), (100_000.0, 100_000.0)]
    svg = charts.lines({"a": points}, x="x", y="y", steps=False, log=log)
    assert {"10", "1000", "100,000"} <= set(labels(svg)) and "NaN" not in svg
    (line,) = paths(svg)
    assert len(re.findall("L", line)) == 2


def test_every_series_has_a_label_and_the_first_ten_a_colour_of_their_own() -> None:
    series = {f"method number {i}": [(0.0, float(i)), (1.0, i + 1.0)] for i in range(10)}
    svg = charts.lines(series, x="x", y="y", steps=False)
    assert all(name in labels(svg) for name in series)
    assert len(set(re.findall(r'stroke="(#[0-9a-f]{6})"', svg)) & set(charts._PALETTE)) == 10
