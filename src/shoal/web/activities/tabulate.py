"""Build a table from records and find its sensitive cells, before anything is hidden."""

from typing import Any

from pydantic import Field

from shoal.errors import InputError
from shoal.web.activities.activity import Activity
from shoal.web.activities.drawing import draw
from shoal.web.activities.suppress import title
from shoal.web.activities.table import TableRequest, tabulate
from shoal.web.jobs.context import Context


class Tabulate(TableRequest):
    """The records, the dimensions and the rules."""

    cost: str = Field("value", max_length=40, description="what hiding a cell costs")


def run(request: Tabulate, context: Context) -> dict[str, Any]:
    """Build it, find the sensitive cells, and write the list of cells with what belongs beside it."""
    from shoal import sources
    from shoal.sources.internal import marked
    from shoal.tables.files.loading import contributions_frame, structure

    if request.source not in ("records", "cells"):
        raise InputError("only records and lists of cells are tabulated")
    context.say("building the table")
    made = tabulate(request, context.datasets, request.cost)
    problem = made.problem(insiders=False)
    sources.write(marked(made.frame), context.file("cells.csv", "List of cells, internal (CSV)"), force=True)
    place = context.file("cells.structure.json", "Its hierarchies and rules, internal")
    place.write_text(structure(made), encoding="utf-8")
    if made.contributions is not None:
        sources.write(
            marked(contributions_frame(made)),
            context.file("cells.contributions.csv", "Its contributions, internal (CSV)"),
            force=True,
        )
    return {
        "cells": made.table.cells,
        "sensitive": int(made.sensitive.size),
        "by_rule": dict(made.by_rule),
        "relations": made.table.relations,
        "counts": made.counts,
        "dimensions": list(made.table.dimensions),
        "drawn": draw(problem, problem.is_sensitive, made.trees, context),
    }


ACTIVITY = Activity("tabulate", "Build a table", Tabulate, run, lambda request: f"Table of {title(request)}")
