"""Protect a table: the cheapest further cells to hide, with the audit of the result."""

from typing import Any

from pydantic import Field

from shoal.web.activities.activity import Activity
from shoal.web.activities.table import TableRequest, build, checking, drawing, verdict
from shoal.web.jobs.context import Context


class Suppress(TableRequest):
    """The table and the search; the names are those of the command line."""

    method: str = Field("auto", max_length=40)
    options: dict[str, Any] = Field(default_factory=dict, description="options of the method")
    cost: str = Field("value", max_length=40, description="what hiding a cell costs")
    iterations: int | None = Field(None, ge=0, le=10**12)
    time_limit: float | None = Field(None, gt=0, le=7 * 86400)
    seed: int = Field(0, ge=0, le=2**53 - 1)


def run(request: Suppress, context: Context) -> dict[str, Any]:
    """Build the table, find the pattern, audit it, and write both editions."""
    import os

    import shoal

    context.say("building the table")
    table = build(request, context.datasets.frame(request.data))
    context.say("searching")
    found = shoal.suppress(
        table,
        method=request.method,
        options=request.options or None,
        cost=request.cost,
        seed=request.seed,
        threads=os.cpu_count() or 1,
        budget=context.budget(request.iterations, request.time_limit),
        observer=context.observe,
        **checking(request),
    )
    context.flush()
    context.say("writing")
    write(found.published("x"), found.pattern, found.intervals, context)
    context.report(found.report())
    hidden = found.problem.hidden_mask(found.complementary)
    return {
        **found.to_dict(),
        **verdict(found.audit),
        "by_rule": dict(getattr(table, "by_rule", {})),
        "cells": found.problem.table.cells,
        "value_hidden_percent": _share(found.problem, hidden),
        "grid": drawing(found.problem, hidden),
        "hidden": [list(row) for row in found.pattern.head(300).iter_rows()],
    }


def write(published: Any, pattern: Any, intervals: Any, context: Context) -> None:
    """The public edition, and what is for internal use."""
    from shoal import sources

    sources.write(published, context.file("published.csv", "Published table (CSV)"), force=True)
    sources.write(pattern, context.file("pattern.csv", "Pattern, internal (CSV)"), force=True)
    sources.write(intervals, context.file("intervals.csv", "Intervals, internal (CSV)"), force=True)


def _share(problem: Any, hidden: Any) -> float:
    """The share of the value of all cells that the complementary ones take with them."""
    import numpy as np

    values = np.abs(problem.table.values)
    total = float(values.sum())
    further = hidden & ~problem.is_sensitive
    return 100.0 * float(values[further].sum()) / total if total else 0.0


def _title(request: Suppress) -> str:
    what = " × ".join(request.dimensions) if request.source == "records" else "table"
    return f"{request.data}: {what}, {request.method}"


ACTIVITY = Activity("suppress", "Protect a table", Suppress, run, _title, search=True)
