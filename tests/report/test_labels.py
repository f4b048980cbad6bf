"""No label of a chart is cut, however long its name is."""

import re
from functools import cache
from html import unescape

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.report import charts
from shoal.report.bins import Bin
from shoal.report.labels import different, wrapped

LONG = "a_very_long_column_name_that_somebody_chose_in_a_survey"
WORDY = "income of the household before taxes and after all transfers"
NAMES = [LONG, WORDY, "x", "Donaudampfschifffahrtsgesellschaftskapitänswitwenrente in Euro"]
# Drawn when they are looked at: every worker reads this file.
DRAWN = {
    "bars": lambda: charts.bars(NAMES, [1, 2, 3, 4], x="column", y="percent"),
    "lines": lambda: charts.lines({name: [(0, 1), (1, 2)] for name in NAMES}, x="x", y="y"),
    "grouped": lambda: charts.grouped_bars(
        NAMES, {LONG: [1, 2, 3, 4], WORDY: [2, 3, 4, 5]}, x="release", y="percent"
    ),
    "points": lambda: charts.points([(name, place, 1.0) for place, name in enumerate(NAMES)], x="x", y="y"),
    "marks": lambda: charts.marks(NAMES, NAMES, [["a"] * 4] * 4, names=("a", "b"), x="sector", y="region"),
    "shares": lambda: charts.shares(NAMES, NAMES, [[0.5] * 4] * 4, title="hidden", x="columns", y="rows"),
    "intervals": lambda: charts.intervals(NAMES, [(-1, 1)] * 4, [(-0.5, 0.5)] * 4, x="percent"),
}


@cache
def drawn(kind: str) -> str:
    return DRAWN[kind]()


def texts(svg: str) -> str:
    """All letters of a picture without spaces, in the order in which they are drawn."""
    return re.sub(r"\s", "", unescape(re.sub(r"<[^>]+>", "", svg)))


@pytest.mark.parametrize("kind", DRAWN)
def test_long_names_are_there_to_the_last_letter(kind: str) -> None:
    shown = texts(drawn(kind))
    assert "…" not in shown
    for name in NAMES:
        assert name.replace(" ", "") in shown


def test_the_title_of_an_axis_is_whole() -> None:
    svg = charts.densities({"before": [Bin(0, 1, 10), Bin(1, 2, 20)]}, x=f"{WORDY} {LONG}")
    assert f"{WORDY} {LONG}".replace(" ", "") in texts(svg)


def test_bars_with_long_names_lie_and_short_ones_stand() -> None:
    short = charts.bars(["1", "2–3"], [5, 2], x="size", y="people")
    height = float(re.search(r'height="([\d.]+)"', short)[1])  # type: ignore[index]
    assert height > 240
    # Four lying bars of at most two lines each are no taller than that.
    assert float(re.search(r'height="([\d.]+)"', drawn("bars"))[1]) < height  # type: ignore[index]


def test_a_reader_with_a_wider_font_sees_all_of_it() -> None:
    """A name begins so far left of its axis that even wide letters fit."""
    svg = drawn("intervals")
    sizes = {float(size) for size in re.findall(r'font-size="([\d.]+)px"', svg)}
    assert sizes <= {10.0, 11.0}
    longest = max(len(line) for name in NAMES for line in wrapped(name, 44).split("\n"))
    axis = float(re.search(r"translate\(([\d.]+),", svg)[1])  # type: ignore[index]
    # DejaVu Sans, the widest usual one, has 0.6 of its size for a letter on average.
    assert axis > 0.58 * 10 * longest


@given(st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc", "Zs", "Zl", "Zp")) | st.just(" ")),
       st.integers(1, 30))  # fmt: skip
def test_wrapping_loses_no_letter(text: str, longest: int) -> None:
    lines = wrapped(text, longest).split("\n")
    assert "".join(lines).replace(" ", "") == text.replace(" ", "")
    assert all(len(line) <= longest for line in lines)


def test_two_names_never_become_one() -> None:
    assert len(set(different(["a  b", "a b", "ab"], 1))) == 3
