"""Charts as plain vector pictures: drawn by Altair, with no data and no script left inside."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from shoal.report.markup import Markup

_ACCENT = "#1f6f8b"
_PALETTE = ["#1f6f8b", "#d1793b", "#5a8f3c", "#8a5aa8", "#b23a48", "#777777"]

# Vega writes the value of every mark into these attributes for screen readers; a report may not hold them.
_SPOKEN = re.compile(r'\s(?:aria-label|aria-roledescription|role|aria-hidden)="[^"]*"')


def bars(names: Sequence[str], heights: Sequence[float], *, x: str, y: str, height: int = 240) -> str:
    """A bar chart of named quantities, in the order given."""
    import altair as alt

    rows = [{"name": name, "height": value} for name, value in zip(names, heights, strict=True)]
    upright = alt.Axis(labelAngle=0 if len(names) <= 14 else -60)
    chart = _marks(rows, type="bar", color=_ACCENT).encode(
        x=alt.X("name:N", sort=list(names), title=x, axis=upright), y=alt.Y("height:Q", title=y)
    )
    return _svg(chart, min(720, max(200, 44 * len(rows))), height)


def lines(
    series: Mapping[str, Sequence[tuple[float, float]]],
    *,
    x: str,
    y: str,
    zero: bool = False,
    height: int = 260,
) -> str:
    """Curves over a common axis, one colour each; steps between points are straight."""
    import altair as alt

    rows = [{"series": name, "x": a, "y": b} for name, points in series.items() for a, b in points]
    chart = _marks(rows, type="line", interpolate="step-after").encode(
        x=alt.X("x:Q", title=x),
        y=alt.Y("y:Q", title=y, scale=alt.Scale(zero=zero)),
        color=_colour(alt, list(series)),
    )
    return _svg(chart, 640, height)


def grouped_bars(
    groups: Sequence[str], series: Mapping[str, Sequence[float]], *, x: str, y: str, height: int = 260
) -> str:
    """Bars of several series side by side in each group."""
    import altair as alt

    rows = [
        {"group": group, "series": name, "y": value}
        for name, values in series.items()
        for group, value in zip(groups, values, strict=True)
    ]
    chart = _marks(rows, type="bar").encode(
        x=alt.X("group:N", sort=list(groups), title=x, axis=alt.Axis(labelAngle=-40)),
        xOffset=alt.XOffset("series:N", sort=list(series)),
        y=alt.Y("y:Q", title=y),
        color=_colour(alt, list(series)),
    )
    return _svg(chart, min(760, max(240, 40 * len(groups) * max(1, len(series)))), height)


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
        x=alt.X("low:Q", title=x),
        x2="high:Q",
        y=alt.Y("density:Q", title="density", stack=None),
        # Without it a bar with two ends along x is a thin dash at its density.
        y2=alt.datum(0),
        color=_colour(alt, list(series)),
    )
    return _svg(chart, 560, height)


def points(rows: Sequence[tuple[str, float, float]], *, x: str, y: str, height: int = 320) -> str:
    """Named points on a map of two measures, each with its name beside it."""
    import altair as alt

    named = [{"name": name, "x": a, "y": b} for name, a, b in rows]
    place = {"x": alt.X("x:Q", title=x), "y": alt.Y("y:Q", title=y)}
    dots = _marks(named, type="point", size=90, filled=True, color=_ACCENT).encode(**place)
    words = _marks(named, type="text", dx=8, align="left").encode(**place, text="name:N")
    return _svg(dots + words, 560, height)


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
    axis = alt.Axis(labels=size >= 10, ticks=False)
    chart = _marks(_grid(rows, columns, "kind", kinds), type="rect", stroke="white", strokeWidth=0.5).encode(
        x=alt.X("column:O", sort=list(columns), title=x, axis=axis),
        y=alt.Y("row:O", sort=list(rows), title=y, axis=axis),
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
        x=alt.X("column:O", sort=list(columns), title=x, axis=alt.Axis(labelAngle=-60)),
        y=alt.Y("row:O", sort=list(rows), title=y),
        color=alt.Color(
            "share:Q",
            title=title,
            scale=alt.Scale(range=["#eef2f4", _ACCENT]),
            legend=alt.Legend(format="%"),
        ),
    )
    return _svg(chart, min(640, 18 * len(columns)), min(480, 18 * len(rows)))


def intervals(
    names: Sequence[str],
    found: Sequence[tuple[float, float]],
    needed: Sequence[tuple[float, float]],
    *,
    x: str,
) -> str:
    """For each name a bar (what is found) behind a thinner one (what is needed)."""
    import altair as alt

    wide, inner = (
        [{"name": n, "low": a, "high": b} for n, (a, b) in zip(names, ends, strict=True)]
        for ends in (found, needed)
    )
    ends = {"x2": "high:Q", "y": alt.Y("name:N", sort=list(names), title=None)}
    outer_bars = _marks(wide, type="bar", color=_ACCENT, opacity=0.35, height=10)
    inner_bars = _marks(inner, type="bar", color=_PALETTE[1], height=4)
    both = outer_bars.encode(x=alt.X("low:Q", title=x), **ends) + inner_bars.encode(x="low:Q", **ends)
    return _svg(both, 560, max(60, 16 * len(names)))


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
    legend = alt.Legend(title=None) if len(names) > 1 else None
    return alt.Color(
        "series:N",
        sort=names,
        scale=alt.Scale(domain=names, range=_PALETTE[: max(1, len(names))]),
        legend=legend,
    )


def _svg(chart: Any, width: int, height: int) -> Markup:
    import vl_convert

    sized = chart.properties(width=width, height=height).configure_view(strokeWidth=0)
    drawn = vl_convert.vegalite_to_svg(sized.to_dict())
    return Markup(_SPOKEN.sub("", drawn))
