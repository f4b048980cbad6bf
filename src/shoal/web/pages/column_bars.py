"""Bars that lie, one for each column of the data, so that names can be read however many there are."""

from collections.abc import Sequence

from nicegui import ui

from shoal.web.pages import parts

_BAR = 26
# A longer name is cut in the chart; the table below it has all of it.
_NAME_WIDTH = 130


def column_bars(
    names: Sequence[str], lengths: Sequence[float], *, what: str, label: str, most: float | None = None
) -> ui.echart:
    """A bar for each column, the first on top; ``what`` is measured, ``label`` says it to those who cannot see it.

    The axis ends at ``most``, where nothing can be longer.
    """
    names_axis = parts.axis("", "category", data=list(names), inverse=True)
    names_axis["axisLabel"] = {
        "color": parts.INK,
        "width": _NAME_WIDTH,
        "overflow": "truncate",
        "interval": 0,
    }
    figures = [float(f"{length:.4g}") for length in lengths]
    return parts.chart(
        {
            "xAxis": parts.axis(
                what,
                across=True,
                splitNumber=4,
                max=most,
                axisLabel={"color": parts.INK, "hideOverlap": True},
            ),
            "yAxis": names_axis,
            "grid": {"left": 12, "right": 56, "top": 8, "bottom": 30, "containLabel": True},
            "series": [
                {
                    "type": "bar",
                    "data": figures,
                    "barMaxWidth": 18,
                    "label": {"show": True, "position": "right", "color": parts.INK, "formatter": "{c}"},
                }
            ],
            "tooltip": {},
        },
        72 + _BAR * len(names),
        label,
    )
