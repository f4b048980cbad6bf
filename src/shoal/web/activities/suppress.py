"""Protect a table: the cheapest further cells to hide, with the audit of the result."""

from typing import TYPE_CHECKING, Any

from pydantic import Field

from shoal.errors import InputError
from shoal.tables.methods import METHODS
from shoal.web.activities.activity import Activity
from shoal.web.activities.drawing import draw
from shoal.web.activities.table import Posed, TableRequest, pose
from shoal.web.activities.verdict import verdict
from shoal.web.jobs.context import Context

if TYPE_CHECKING:
    from shoal.tables.api import Suppression


class Suppress(TableRequest):
    """The table and the search; the names are those of the command line."""

    method: str = Field("auto", max_length=40)
    options: dict[str, Any] = Field(default_factory=dict, description="options of the method")
    compare: list[str] = Field(
        default_factory=list, max_length=10, description="also run these methods, for the report"
    )
    cost: str = Field(
        "value",
        max_length=100,
        description="what hiding a cell costs: value, unity, contributors, log, a column, or data",
    )
    previous: str | None = Field(None, description="data: last period's pattern; its cells cost a tenth")
    symbol: str = Field("x", max_length=10, description="what stands in a hidden cell of the published table")
    iterations: int | None = Field(None, ge=0, le=10**12)
    time_limit: float | None = Field(None, gt=0, le=7 * 86400)
    seed: int = Field(0, ge=0, le=2**53 - 1)


def run(request: Suppress, context: Context) -> dict[str, Any]:
    """Build the table, find the pattern, audit it, and write both editions."""
    context.say("building the table")
    posed = pose(request, context.datasets, cost=request.cost, previous=request.previous)
    for name in (request.method, *request.compare):
        if METHODS[name].name not in fitting(posed.problem):
            raise InputError(
                f"method '{name}' cannot protect this table; these can: {', '.join(fitting(posed.problem))}"
            )
    context.say("searching")
    found = _search(request, request.method, request.options, posed, context, context.observe)
    context.flush()
    others = []
    for method in request.compare:
        if method == request.method or str(found.solution.stopped_by) == "interrupt":
            continue
        context.say(f"comparing with {method}")
        others.append(_search(request, method, {}, posed, context, lambda progress: None))
    context.say("writing")
    write(found.published(request.symbol), found.pattern, found.intervals, context)
    write_jj(found.problem, found.complementary, context)
    context.report(found.report(others))
    hidden = found.problem.hidden_mask(found.complementary)
    return {
        **verdict(found.audit),
        **found.to_dict(),
        "counts": posed.counts,
        "by_rule": dict(posed.by_rule),
        "contributors_known": posed.made is not None and posed.made.contributions is not None,
        "cells": found.problem.table.cells,
        "dimensions": list(found.problem.table.dimensions),
        "fitting": fitting(found.problem),
        "drawn": draw(found.problem, hidden, posed.trees, context),
        "compared": {
            other.method: {"cost": other.cost, "complementary": int(other.complementary.size)}
            for other in others
        },
    }


def _search(
    request: Suppress, method: str, options: dict[str, Any], posed: Posed, context: Context, observer: Any
) -> "Suppression":
    import os
    from dataclasses import replace

    import shoal

    found = shoal.suppress(
        posed.problem,
        method=method,
        options=options or None,
        counts=posed.counts,
        seed=request.seed,
        threads=os.cpu_count() or 1,
        budget=context.budget(request.iterations, request.time_limit),
        observer=observer,
    )
    return replace(found, tabulation=posed.made)


def write(published: Any, pattern: Any, intervals: Any, context: Context) -> None:
    """The public edition, and what is for internal use."""
    from shoal import sources
    from shoal.sources.internal import marked

    sources.write(published, context.file("published.csv", "Published table (CSV)"), force=True)
    sources.write(published, context.file("published.xlsx", "Published table (Excel)"), force=True)
    sources.write(marked(pattern), context.file("pattern.csv", "Pattern, internal (CSV)"), force=True)
    sources.write(marked(intervals), context.file("intervals.csv", "Intervals, internal (CSV)"), force=True)


def write_jj(problem: Any, complementary: Any, context: Context) -> None:
    """The whole problem with its pattern, for τ-ARGUS and its kin."""
    from shoal.sources.internal import marked_text
    from shoal.tables.files import jj

    place = context.file("table.jj", "Table and pattern, internal (jj)")
    place.write_text(marked_text(jj.write(problem, complementary)), encoding="utf-8")


def fitting(problem: Any) -> list[str]:
    """The methods that can protect this table."""
    table = problem.table
    plain = table.shape is not None and bool(table.internal[problem.sensitive].all())
    lacks = {
        trait
        for trait, has in (("two-dimensional", plain), ("network", table.network is not None))
        if not has
    }
    return [name for name, method in METHODS.items() if not method.traits & lacks]


def title(request: TableRequest, what: str = "") -> str:
    """The table in a few words; what tells runs of it apart comes before its dimensions."""
    named = f"{request.data}, {what}" if what else request.data
    tables = [" × ".join(dimensions) for dimensions in (request.dimensions, *request.linked) if dimensions]
    return f"{named}: {', '.join(tables)}" if tables else named


def _title(request: Suppress) -> str:
    return title(request, request.method)


ACTIVITY = Activity("suppress", "Protect a table", Suppress, run, _title, search=True, methods=METHODS)
