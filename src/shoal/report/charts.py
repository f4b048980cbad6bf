"""Charts as plain vector pictures: drawn by Altair, with no data and no script left inside."""

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Literal

from shoal.report.labels import LETTER, different, drawn, widest, with_room, wrapped
from shoal.report.markup import Markup

_ACCENT = "#1f6f8b"
_PALETTE = [
    *("#1f6f8b", "#d1793b", "#5a8f3c", "#8a5aa8", "#b23a48", "#777777"),
    *("#2f4b7c", "#c7a227", "#3aa6a0", "#a05195"),
]

# Letters in a line of the names of bars, of groups under them, of a legend, and of an axis; and what fits when it is turned.
_NAME, _GROUP, _LEGEND, _TITLE = 44, 22, 30, 80
_SHORT = 66.0
_TICKS = 8

# Numbers below this have no thousands separators, as in tables: years and postcodes are among them.
_GROUPED = 100_000
_NUMBERS = (
    f"datum.value == 0 ? '0' : abs(datum.value) >= {_GROUPED} ? format(datum.value, ',') : "
    "abs(datum.value) < 0.001 ? format(datum.value, '~e') : format(datum.value, '~f')"
)

# Vega writes the value of every mark into these attributes for screen readers; a report may not hold them.
_SPOKEN = re.compile(r'\s(?:aria-label|aria-roledescription|role|aria-hidden)="[^"]*"')


def bars(names: Sequence[str], heights: Sequence[float], *, x: str, y: str, height: int = 240) -> str:
    """A bar chart of named quantities, in the order given; bars with long names lie, so that all of it can be read."""
    import altair as alt

    lines = different(names, _NAME)
    rows = [{"name": name, "height": value} for name, value in zip(lines, heights, strict=True)]
    width = min(720, max(200, 44 * len(rows)))
    shape = _marks(rows, type="bar", color=_ACCENT)
    size = _numbers(alt)
    turned = len(rows) > 14 and widest(lines) <= _SHORT
    if widest(lines) * len(rows) <= width or turned:
        upright = alt.Axis(labelAngle=-60 if turned else 0)
        chart = shape.encode(
            x=alt.X("name:N", sort=lines, title=x, axis=upright), y=alt.Y("height:Q", title=y, axis=size)
        )
        return _svg(chart, width, height)
    chart = shape.encode(
        y=alt.Y("name:N", sort=lines, title=x, axis=_every(alt)), x=alt.X("height:Q", title=y, axis=size)
    )
    return _svg(chart, 440, sum(8 + 14 * (1 + name.count("\n")) for name in lines))


def lying_bars(names: Sequence[str], lengths: Sequence[float], *, x: str) -> str:
    """Bars that lie, one below the other in the order given: for names that are too long to stand under bars."""
    import altair as alt

    rows = [{"name": name, "length": value} for name, value in zip(names, lengths, strict=True)]
    chart = _marks(rows, type="bar", color=_ACCENT).encode(
        y=alt.Y("name:N", sort=list(names), title=None, axis=alt.Axis(labelLimit=320)),
        x=alt.X("length:Q", title=x, axis=_numbers(alt)),
    )
    return _svg(chart, 420, max(60, 24 * len(rows)))


def lines(
    series: Mapping[str, Sequence[tuple[float, float]]],
    *,
    x: str,
    y: str,
    zero: bool = False,
    height: int = 260,
    steps: bool = True,
    log: Literal["", "x", "y", "xy"] = "",
) -> str:
    """Curves over a common axis, one colour each.

    With ``steps`` a value holds until the next one, as the best of a search does; without, points are joined by straight
    lines and shown where there are few. Axes in ``log`` are logarithmic; what they cannot show is left out.
    """
    import altair as alt

    named = dict(zip(different(list(series), _LEGEND), series.values(), strict=True))
    rows: list[dict[str, Any]] = [
        {"series": name, "x": a, "y": b}
        for name, points in named.items()
        for a, b in points
        if (a > 0 or "x" not in log) and (b > 0 or "y" not in log)
    ]
    few = not steps and max(map(len, named.values()), default=0) <= 30
    scales = {
        axis: alt.Scale(type="log") if axis in log else alt.Scale(zero=zero if axis == "y" else False)
        for axis in "xy"
    }
    axes = {
        axis: _decades(alt, [row[axis] for row in rows]) if axis in log else _numbers(alt) for axis in "xy"
    }
    curve = {"interpolate": "step-after"} if steps else {"interpolate": "linear", "point": few}
    chart = _marks(rows, type="line", **curve).encode(
        x=alt.X("x:Q", title=x, scale=scales["x"], axis=axes["x"]),
        y=alt.Y("y:Q", title=y, scale=scales["y"], axis=axes["y"]),
        color=_colour(alt, list(named)),
    )
    return _svg(chart, 600, height)


def grouped_bars(
    groups: Sequence[str], series: Mapping[str, Sequence[float]], *, x: str, y: str, height: int = 260
) -> str:
    """Bars of several series side by side in each group."""
    import altair as alt

    named = dict(zip(different(list(series), _LEGEND), series.values(), strict=True))
    lines = different(groups, _GROUP)
    rows = [
        {"group": group, "series": name, "y": value}
        for name, values in named.items()
        for group, value in zip(lines, values, strict=True)
    ]
    chart = _marks(rows, type="bar").encode(
        x=alt.X("group:N", sort=lines, title=x, axis=_every(alt, labelAngle=0)),
        xOffset=alt.XOffset("series:N", sort=list(named)),
        y=alt.Y("y:Q", title=y, axis=_numbers(alt)),
        color=_colour(alt, list(named)),
    )
    return _svg(chart, max(240, int(max(widest(lines) + 12, 40 * len(named)) * len(lines))), height)


def densities(series: Mapping[str, Sequence[Any]], *, x: str, height: int = 200) -> str:
    """Histograms over one another as density steps; each series is a list of ``shoal.report.bins.Bin``."""
    import altair as alt

    rows = []
    for name, bins in series.items():
        total = sum(b.count for b in bins) or 1
        for b in bins:
            width = (b.high - b.low) or 1.0
            rows.append({"series": name, "low": b.low, "high": b.high, "density": b.count / total / width})
    chart = _marks(rows, type="bar", opacity=0.5).encode(
        x=alt.X("low:Q", title=wrapped(x, _TITLE).split("\n"), axis=_numbers(alt)),
        x2="high:Q",
        y=alt.Y("density:Q", title="density", stack=None, axis=_numbers(alt, 5)),
        # Without it a bar with two ends along x is a thin dash at its density.
        y2=alt.datum(0),
        color=_colour(alt, list(series)),
    )
    return _svg(chart, 560, height)


def points(rows: Sequence[tuple[str, float, float]], *, x: str, y: str, height: int = 320) -> str:
    """Named points on a map of two measures, each with its name beside it."""
    import altair as alt

    placed = _beside(rows, 560, height)
    axis = _numbers(alt)
    place = {"x": alt.X("x:Q", title=x, axis=axis), "y": alt.Y("y:Q", title=y, axis=axis)}
    every = [{"x": a, "y": b} for _, a, b in rows]
    chart = _marks(every, type="point", size=90, filled=True, color=_ACCENT).encode(**place)
    for (name, a, b), (left, down) in zip(rows, placed, strict=True):
        side = {"dx": -8, "align": "right"} if left else {"dx": 8, "align": "left"}
        words = _marks([{"name": name, "x": a, "y": b}], type="text", dy=down, baseline="middle", **side)
        chart += words.encode(**place, text="name:N")
    return _svg(chart, 560, height)


def _beside(rows: Sequence[tuple[str, float, float]], width: int, height: int) -> list[tuple[bool, int]]:
    """For each name whether it stands to the left of its point, and how far up or down, so that no two overlap."""
    right = max((a for _, a, _ in rows), default=0.0) or 1.0
    top = max((b for _, _, b in rows), default=0.0) or 1.0
    taken: list[tuple[float, float, float]] = []
    found = []
    for name, a, b in rows:
        x, y, wide = width * a / right, height * (1 - b / top), LETTER * 1.1 * len(name) + 12
        left = a > right / 2
        begin = x - wide if left else x
        moves = sorted(range(-8, 9), key=abs)
        free = (
            move
            for move in moves
            if all(
                begin + wide < other or begin > end or abs(y + 13 * move - line) >= 13
                for other, end, line in taken
            )
        )
        down = 13 * next(free, 0)
        taken.append((begin, begin + wide, y + down))
        found.append((left, down))
    return found


def marks(
    rows: Sequence[str],
    columns: Sequence[str],
    kinds: Sequence[Sequence[str]],
    *,
    names: Sequence[str],
    x: str,
    y: str,
) -> str:
    """A grid in which every square has one of a few kinds, the first of them pale."""
    import altair as alt

    colours = ["#e4eaee", *_PALETTE[: max(0, len(names) - 1)]]
    size = max(6, min(26, 640 // max(len(rows), len(columns), 1)))
    # Lines of the next name would run into those of this one.
    lines = 1 if size < 24 else 2
    down, across = (different(names, _NAME) if lines > 1 else list(names) for names in (rows, columns))
    axis = {"labels": size >= 10, "ticks": False}
    chart = _marks(_grid(down, across, "kind", kinds), type="rect", stroke="white", strokeWidth=0.5).encode(
        x=alt.X("column:O", sort=across, title=x, axis=_every(alt, labelAngle=-90, **axis)),
        y=alt.Y("row:O", sort=down, title=y, axis=_every(alt, **axis)),
        color=alt.Color(
            "kind:N",
            sort=list(names),
            scale=alt.Scale(domain=list(names), range=colours),
            legend=alt.Legend(title=None),
        ),
    )
    return _svg(chart, size * len(columns), size * len(rows))


def shares(
    rows: Sequence[str],
    columns: Sequence[str],
    values: Sequence[Sequence[float]],
    *,
    title: str,
    x: str,
    y: str,
) -> str:
    """A heat map of shares between 0 and 1."""
    import altair as alt

    numbers = [[float(value) for value in row] for row in values]
    chart = _marks(_grid(rows, columns, "share", numbers), type="rect").encode(
        x=alt.X("column:O", sort=list(columns), title=x, axis=_every(alt, labelAngle=-90)),
        y=alt.Y("row:O", sort=list(rows), title=y, axis=_every(alt)),
        color=alt.Color(
            "share:Q",
            title=title,
            scale=alt.Scale(range=["#eef2f4", _ACCENT]),
            legend=alt.Legend(format="%"),
        ),
    )
    return _svg(chart, min(640, 18 * len(columns)), 18 * len(rows))


def intervals(
    names: Sequence[str],
    intervals: Sequence[tuple[float, float]],
    needed: Sequence[tuple[float, float]],
    *,
    x: str,
) -> str:
    """For each name a bar (what is found) behind a thinner one (what is needed)."""
    import altair as alt

    lines = different(names, _NAME)
    wide, inner = (
        [{"name": n, "low": a, "high": b} for n, (a, b) in zip(lines, ends, strict=True)]
        for ends in (intervals, needed)
    )
    ends = {"x2": "high:Q", "y": alt.Y("name:N", sort=lines, title=None, axis=_every(alt))}
    outer_bars = _marks(wide, type="bar", color=_ACCENT, opacity=0.35, height=10)
    inner_bars = _marks(inner, type="bar", color=_PALETTE[1], height=4)
    below = alt.X("low:Q", title=x, axis=_numbers(alt))
    both = outer_bars.encode(x=below, **ends) + inner_bars.encode(x="low:Q", **ends)
    return _svg(both, 480, max(60, sum(4 + 14 * (1 + name.count("\n")) for name in lines)))


def _every(alt: Any, **about: Any) -> Any:
    """An axis of names, on which none is left out."""
    return alt.Axis(labelOverlap=False, **about)


def _numbers(alt: Any, ticks: int = _TICKS) -> Any:
    """An axis of numbers."""
    return alt.Axis(tickCount=ticks, labelExpr=_NUMBERS)


def _decades(alt: Any, values: Sequence[float]) -> Any:
    """A logarithmic axis with a label at every power of ten, and between them where there are few."""
    low, high = (
        (math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))) if values else (0, 1)
    )
    within = (1, 2, 5) if high - low <= 2 else (1,)
    ticks = [digit * 10.0**power for power in range(low, high + 1) for digit in within]
    return alt.Axis(values=ticks, labelExpr=_NUMBERS)


def _grid(
    rows: Sequence[str], columns: Sequence[str], what: str, values: Sequence[Sequence[Any]]
) -> list[dict[str, Any]]:
    return [
        {"row": row, "column": column, what: values[i][j]}
        for i, row in enumerate(rows)
        for j, column in enumerate(columns)
    ]


def _marks(rows: list[dict[str, Any]], **mark: Any) -> Any:
    import altair as alt

    return alt.Chart(alt.Data(values=rows), mark=alt.MarkDef(**mark))


def _colour(alt: Any, names: list[str]) -> Any:
    legend = alt.Legend(title=None, symbolLimit=0) if len(names) > 1 else None
    return alt.Color(
        "series:N",
        sort=names,
        scale=alt.Scale(domain=names, range=_PALETTE[: max(1, len(names))]),
        legend=legend,
    )


def _svg(chart: Any, width: int, height: int) -> Markup:
    import vl_convert

    sized = with_room(chart.properties(width=width, height=height))
    return Markup(_SPOKEN.sub("", drawn(vl_convert.vegalite_to_svg(sized.to_dict()))))
