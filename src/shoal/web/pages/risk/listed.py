"""Records by their number, the riskiest first; their values are not sent to the browser before somebody asks for them."""

from collections.abc import Sequence
from typing import Any

from nicegui import ui

from shoal.web.jobs.job import Job
from shoal.web.pages import parts
from shoal.web.pages.attributes import attributes
from shoal.web.workbench import Workbench


def listed_records(
    workbench: Workbench,
    job: Job,
    data: str,
    columns: Sequence[str],
    *,
    heading: str,
    header: Sequence[str],
    rows: Sequence[Sequence[Any]],
    caption: str,
    classes: Sequence[str] | None = None,
) -> None:
    """A table whose ``rows`` begin with the number of a record, with a switch that shows these ``columns`` of it."""
    there = _unchanged(workbench, job, data, columns)
    with ui.row().classes("items-center full-width gap-4"):
        parts.subheading(heading)
        switch = ui.switch("Show values", value=False, on_change=lambda: drawn.refresh())
        switch.set_visibility(there)
        order = ui.select(
            {-1: "risk, the riskiest first", **dict(enumerate(header))},
            label="Sort by",
            value=-1,
            on_change=lambda: drawn.refresh(),
        )
        attributes(order.props("outlined dense options-dense").style("min-width: 210px"), data_test="sort")
        turned = ui.checkbox("the other way round", on_change=lambda: drawn.refresh())

    @ui.refreshable
    def drawn() -> None:
        chosen = in_order(rows, order.value, backwards=bool(turned.value))
        shown = [rows[place] for place in chosen]
        marks = None if classes is None else [classes[place] for place in chosen]
        values: list[list[Any]] = [["•••"] * len(columns) for _ in shown]
        if there and switch.value:
            values = values_of(workbench, data, columns, [row[0] for row in shown])
        parts.table(
            [*header, *columns],
            # The number of a record is a name, not a quantity.
            [[str(row[0]), *row[1:], *own] for row, own in zip(shown, values, strict=True)],
            classes=marks,
        )
        parts.quiet(
            caption if there else f"{caption} The data are not in the workspace as they were measured."
        )

    drawn()


def values_of(
    workbench: Workbench, data: str, columns: Sequence[str], records: Sequence[int]
) -> list[list[str]]:
    """The values of some records, which are named by their number from 1 on."""
    frame = workbench.datasets.frame(data, list(columns))[[record - 1 for record in records]]
    return [["" if value is None else str(value) for value in row] for row in frame.rows()]


def in_order(rows: Sequence[Sequence[Any]], by: int, *, backwards: bool = False) -> list[int]:
    """The places of rows in the order of one of their columns, or as they came (−1); what is missing comes last.

    >>> in_order([[7, 0.5], [2, None], [9, 0.1]], 1), in_order([[7, 0.5], [2, None], [9, 0.1]], -1, backwards=True)
    ([2, 0, 1], [2, 1, 0])
    """
    places = list(range(len(rows)))
    if by < 0:
        return places[::-1] if backwards else places
    numbers = all(isinstance(row[by], int | float) or row[by] is None for row in rows)
    there = [place for place in places if rows[place][by] is not None]
    there.sort(key=lambda row: rows[row][by] if numbers else str(rows[row][by]), reverse=backwards)
    return [*there, *(place for place in places if rows[place][by] is None)]


def _unchanged(workbench: Workbench, job: Job, data: str, columns: Sequence[str]) -> bool:
    """Whether the data are still those that were measured: removed ones may have left their name to others."""
    if data not in workbench.datasets or not set(columns) <= set(workbench.datasets[data].columns):
        return False
    return workbench.datasets.path(data).stat().st_mtime <= job.submitted
