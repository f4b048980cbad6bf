"""What a release changed: distributions, means and correlations before and after."""

from typing import Any

from nicegui import ui

from shoal.web.activities.microaggregate import CHANGE
from shoal.web.pages import parts


def before_and_after(figures: dict[str, Any]) -> None:
    """Distributions, means and correlations before and after."""
    parts.strong("Before and after")
    parts.table(
        ["column", "mean before", "mean after", "deviation before", "deviation after", "variance kept, %"],
        [[change[key] for key in CHANGE] for change in figures["changes"]],
    )
    drawn = figures["histograms"]
    if drawn:
        with ui.row().classes("full-width").style("gap: 12px"):
            for name, pair in list(drawn.items())[:6]:
                with ui.column().classes("gap-0").style("flex: 1 1 280px; min-width: 0"):
                    _densities(name, pair)
        parts.quiet("Between the 1st and 99th percentile, in bins of at least 10 records.")
    names = figures["correlations"]["columns"]
    if len(names) > 1:
        parts.strong(f"Correlations: the largest change is {figures['correlations']['largest_change']:.4f}")
        before, after = figures["correlations"]["before"], figures["correlations"]["after"]
        pairs = [
            (f"{names[i]} – {names[j]}", before[i][j], after[i][j])
            for i in range(len(names))
            for j in range(i)
            if before[i][j] is not None and after[i][j] is not None
        ]
        pairs.sort(key=lambda row: -abs(row[2] - row[1]))
        parts.table(["columns", "before", "after"], pairs[:8])


def _densities(name: str, pair: dict[str, Any]) -> None:
    series = []
    for when, bins in pair.items():
        total = sum(count for _, _, count in bins) or 1
        steps = []
        for low, high, count in bins:
            density = count / total / ((high - low) or 1)
            steps += [[low, density], [high, density]]
        series.append(
            {"type": "line", "name": when, "data": steps, "showSymbol": False, "areaStyle": {"opacity": 0.15}}
        )
    parts.chart(
        {
            "xAxis": parts.axis(name, across=True, scale=True),
            "yAxis": parts.axis("", axisLabel={"show": False}),
            "grid": {"left": 14, "right": 14, "top": 30, "bottom": 44},
            "series": series,
            "legend": parts.LEGEND,
        },
        200,
        f"distribution of {name} before and after",
    )
