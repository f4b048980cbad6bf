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
    chart = (
        alt.Chart(alt.Data(values=rows))
        .mark_bar(color=_ACCENT)
        .encode(
            x=alt.X(
                "name:N", sort=list(names), title=x, axis=alt.Axis(labelAngle=0 if len(names) <= 14 else -60)
            ),
            y=alt.Y("height:Q", title=y),
        )
        .properties(width=min(720, max(200, 44 * len(rows))), height=height)
    )
    return _svg(chart)


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
    chart = (
        alt.Chart(alt.Data(values=rows))
        .mark_line(interpolate="step-after")
        .encode(
            x=alt.X("x:Q", title=x),
            y=alt.Y("y:Q", title=y, scale=alt.Scale(zero=zero)),
            color=_colour(alt, list(series)),
        )
        .properties(width=640, height=height)
    )
    return _svg(chart)


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
    chart = (
        alt.Chart(alt.Data(values=rows))
        .mark_bar()
        .encode(
            x=alt.X("group:N", sort=list(groups), title=x, axis=alt.Axis(labelAngle=-40)),
            xOffset=alt.XOffset("series:N", sort=list(series)),
            y=alt.Y("y:Q", title=y),
            color=_colour(alt, list(series)),
        )
        .properties(width=min(760, max(240, 40 * len(groups) * max(1, len(series)))), height=height)
    )
    return _svg(chart)


def densities(series: Mapping[str, Sequence[Any]], *, x: str, height: int = 200) -> str:
    """Histograms over one another as density steps; each series is a list of ``shoal.report.bins.Bin``."""
    import altair as alt

    rows = []
    for name, bins in series.items():
        total = sum(b.count for b in bins) or 1
        for b in bins:
            width = (b.high - b.low) or 1.0
            rows.append({"series": name, "low": b.low, "high": b.high, "density": b.count / total / width})
    chart = (
        alt.Chart(alt.Data(values=rows))
        .mark_bar(opacity=0.5)
        .encode(
            x=alt.X("low:Q", title=x),
            x2="high:Q",
            y=alt.Y("density:Q", title="density", stack=None),
            # Without it a bar with two ends along x is a thin dash at its density.
            y2=alt.datum(0),
            color=_colour(alt, list(series)),
        )
        .properties(width=560, height=height)
    )
    return _svg(chart)


def points(rows: Sequence[tuple[str, float, float]], *, x: str, y: str, height: int = 320) -> str:
    """Named points on a map of two measures, each with its name beside it."""
    import altair as alt

    data = alt.Data(values=[{"name": name, "x": a, "y": b} for name, a, b in rows])
    base = alt.Chart(data).encode(x=alt.X("x:Q", title=x), y=alt.Y("y:Q", title=y))
    chart = base.mark_point(size=90, filled=True, color=_ACCENT) + base.mark_text(dx=8, align="left").encode(
        text="name:N"
    )
    return _svg(chart.properties(width=560, height=height))


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

    cells = [
        {"row": rows[i], "column": columns[j], "kind": kinds[i][j]}
        for i in range(len(rows))
        for j in range(len(columns))
    ]
    colours = ["#e4eaee", *_PALETTE[: max(0, len(names) - 1)]]
    size = max(6, min(26, 640 // max(len(rows), len(columns), 1)))
    labels = size >= 10
    chart = (
        alt.Chart(alt.Data(values=cells))
        .mark_rect(stroke="white", strokeWidth=0.5)
        .encode(
            x=alt.X("column:O", sort=list(columns), title=x, axis=alt.Axis(labels=labels, ticks=False)),
            y=alt.Y("row:O", sort=list(rows), title=y, axis=alt.Axis(labels=labels, ticks=False)),
            color=alt.Color(
                "kind:N",
                sort=list(names),
                scale=alt.Scale(domain=list(names), range=colours),
                legend=alt.Legend(title=None),
            ),
        )
        .properties(width=size * len(columns), height=size * len(rows))
    )
    return _svg(chart)


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

    cells = [
        {"row": rows[i], "column": columns[j], "share": float(values[i][j])}
        for i in range(len(rows))
        for j in range(len(columns))
    ]
    chart = (
        alt.Chart(alt.Data(values=cells))
        .mark_rect()
        .encode(
            x=alt.X("column:O", sort=list(columns), title=x, axis=alt.Axis(labelAngle=-60)),
            y=alt.Y("row:O", sort=list(rows), title=y),
            color=alt.Color(
                "share:Q",
                title=title,
                scale=alt.Scale(range=["#eef2f4", _ACCENT]),
                legend=alt.Legend(format="%"),
            ),
        )
        .properties(width=min(640, 18 * len(columns)), height=min(480, 18 * len(rows)))
    )
    return _svg(chart)


def intervals(
    names: Sequence[str],
    found: Sequence[tuple[float, float]],
    needed: Sequence[tuple[float, float]],
    *,
    x: str,
) -> str:
    """For each name a bar (what is found) behind a thinner one (what is needed)."""
    import altair as alt

    wide = [{"name": n, "low": a, "high": b} for n, (a, b) in zip(names, found, strict=True)]
    inner = [{"name": n, "low": a, "high": b} for n, (a, b) in zip(names, needed, strict=True)]
    axis = alt.Y("name:N", sort=list(names), title=None)
    outer_bars = (
        alt.Chart(alt.Data(values=wide))
        .mark_bar(color=_ACCENT, opacity=0.35, height=10)
        .encode(x=alt.X("low:Q", title=x), x2="high:Q", y=axis)
    )
    inner_bars = (
        alt.Chart(alt.Data(values=inner))
        .mark_bar(color=_PALETTE[1], height=4)
        .encode(x="low:Q", x2="high:Q", y=axis)
    )
    return _svg((outer_bars + inner_bars).properties(width=560, height=max(60, 16 * len(names))))


def _colour(alt: Any, names: list[str]) -> Any:
    legend = alt.Legend(title=None) if len(names) > 1 else None
    return alt.Color(
        "series:N",
        sort=names,
        scale=alt.Scale(domain=names, range=_PALETTE[: max(1, len(names))]),
        legend=legend,
    )


def _svg(chart: Any) -> Markup:
    import vl_convert

    drawn = vl_convert.vegalite_to_svg(chart.configure_view(strokeWidth=0).to_dict())
    return Markup(_SPOKEN.sub("", drawn))
