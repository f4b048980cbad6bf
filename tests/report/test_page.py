import re
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal import InputError
from shoal.report import charts
from shoal.report.bins import Bin, histogram, merge_small
from shoal.report.page import Page


def test_everything_is_escaped():
    page = Page("<script>alert(1)</script>", "a & b")
    page.section("<b>")
    page.text("<i>")
    page.warning("<u>")
    page.note("<s>")
    page.facts([("<name>", "<value>")])
    page.table(["<head>"], [["<cell>"]])
    inner = page.html().split("<body>")[1]
    assert not re.search(r"<(script|b|i|u|s|name|value|head|cell)>", inner)
    assert "&lt;script&gt;" in inner


def test_a_page_needs_nothing_from_outside():
    page = Page("title")
    page.chart(charts.bars(["a", "b"], [1, 2], x="x", y="y"), "a chart")
    html = page.html()
    links = [url for url in re.findall(r'(?:src|href)="([^"]+)"', html) if not url.startswith("#")]
    assert links == []
    assert "<script" not in html and "@import" not in html


def test_a_page_is_written_whole_and_not_over_another(tmp_path):
    page = Page("title")
    page.write(tmp_path / "report.html")
    with pytest.raises(InputError, match="exists"):
        page.write(tmp_path / "report.html")
    page.write(tmp_path / "report.html", force=True)
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == page.html()


def test_charts_hold_no_values_for_screen_readers_or_scripts():
    secret = 123456.789
    drawn = [
        charts.bars(["one"], [secret], x="x", y="y"),
        charts.lying_bars(["one"], [secret], x="x"),
        charts.lines({"a": [(0.0, secret), (1.0, 2.0)]}, x="x", y="y"),
        charts.points([("m", secret, 1.0)], x="x", y="y"),
        charts.densities({"a": [Bin(0.0, secret, 12)]}, x="x"),
        charts.grouped_bars(["g"], {"s": [secret]}, x="x", y="y"),
    ]
    for svg in drawn:
        assert svg.startswith("<svg")
        assert "123456" not in svg and "123,456" not in svg
        assert "aria-label" not in svg and "<script" not in svg


@given(st.lists(st.integers(0, 40), max_size=30), st.integers(1, 15))
def test_no_bin_is_smaller_than_allowed_and_nothing_is_counted_twice(counts, smallest):
    bins = [Bin(place, place, count) for place, count in enumerate(counts)]
    merged = merge_small(bins, smallest)
    assert all(b.count >= smallest for b in merged)
    total = sum(counts)
    assert sum(b.count for b in merged) == (total if total >= smallest else 0)
    for before, after in pairwise(merged):
        assert before.high < after.low


@given(st.lists(st.floats(-1e6, 1e6), max_size=200))
def test_a_histogram_never_shows_fewer_than_ten_and_stays_inside_the_percentiles(values):
    bins = histogram(np.array(values))
    assert all(b.count >= 10 for b in bins)
    if bins:
        low, high = np.quantile(values, [0.01, 0.99])
        assert bins[0].low >= low and bins[-1].high <= high


def test_the_bars_of_a_density_stand_on_the_axis():
    svg = charts.densities({"before": [Bin(0.0, 1.0, 10), Bin(1.0, 2.0, 30)]}, x="x", height=200)
    bars = [(float(top), float(tall)) for top, tall in re.findall(r'd="M[\d.]+,([\d.]+)h280v([\d.]+)h', svg)]
    assert len(bars) == 2
    assert all(top + tall == pytest.approx(200) for top, tall in bars)
    assert bars[1][1] == pytest.approx(3 * bars[0][1])
