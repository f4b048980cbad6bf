"""Audit a pattern of anybody's: what an attacker can compute from the published table."""

from typing import TYPE_CHECKING, Any

from pydantic import Field

from shoal.errors import InputError
from shoal.web.activities.activity import Activity
from shoal.web.activities.drawing import draw
from shoal.web.activities.suppress import Suppress, title, write, write_jj
from shoal.web.activities.table import Posed, TableRequest, pose
from shoal.web.activities.verdict import verdict
from shoal.web.jobs.context import Context

if TYPE_CHECKING:
    from shoal.tables.safety.audit import Audit as Audited
    from shoal.web.datasets import Datasets


class Audit(TableRequest):
    """The table and its hidden cells: one by one, from a file, or as a jj file marks them."""

    hidden: list[list[str]] = Field(
        default_factory=list, max_length=200_000, description="coordinates of the hidden cells"
    )
    pattern: str | None = Field(None, description="data: a pattern, such as row,column,kind")


def run(request: Audit, context: Context) -> dict[str, Any]:
    """Compute the intervals; write the table only if it is safe."""
    import numpy as np

    from shoal.tables.files.publishing import interval_frame, pattern_frame, published_frame

    context.say("building the table")
    posed = posed_for(request, context.datasets)
    context.say("auditing")
    found = attack(posed, _pattern(request, posed, context.datasets))
    problem = found.problem
    complementary = np.setdiff1d(found.cells, problem.sensitive)
    hidden = problem.hidden_mask(complementary)
    if found.safe:
        write(
            published_frame(problem.table, hidden, "x"),
            pattern_frame(problem, complementary),
            interval_frame(found),
            context,
        )
        write_jj(problem, complementary, context)
    said = verdict(found)
    context.report(_page(request, said))
    return {
        **said,
        "counts": posed.counts,
        "contributors_known": posed.made is not None and posed.made.contributions is not None,
        "drawn": draw(problem, hidden, posed.trees, context),
        "cells": problem.table.cells,
        "dimensions": list(problem.table.dimensions),
    }


def posed_for(request: TableRequest, datasets: "Datasets") -> Posed:
    """The problem of any request about a table, as an audit needs it; costs as a search saw them."""
    if isinstance(request, Suppress):
        return pose(request, datasets, cost=request.cost, previous=request.previous)
    if isinstance(request, Audit):
        return pose(_with_primaries(request, datasets), datasets)
    return pose(request, datasets)


def attack(posed: Posed, pattern: Any) -> "Audited":
    """The audit of hidden cells, whoever chose them."""
    import shoal

    return shoal.audit(posed.problem, pattern, counts=posed.counts)


def _pattern(request: Audit, posed: Posed, datasets: "Datasets") -> Any:
    if request.hidden:
        width = len(posed.problem.table.dimensions)
        if any(len(cell) != width for cell in request.hidden):
            raise InputError(f"a hidden cell is named by {', '.join(posed.problem.table.dimensions)}")
        return [tuple(cell) for cell in request.hidden]
    if request.pattern is not None:
        return datasets.frame(request.pattern)
    if posed.hidden is not None:
        table = posed.problem.table
        return [(str(table.keys["cell"][cell]),) for cell in posed.hidden]
    raise InputError("name the hidden cells: a pattern, or the cells themselves")


def _with_primaries(request: Audit, datasets: "Datasets") -> Audit:
    """The primary cells of a pattern are sensitive if nobody named any for a matrix."""
    if request.source != "matrix" or request.sensitive or request.sensitive_data or request.pattern is None:
        return request
    frame = datasets.frame(request.pattern)
    if not {"row", "column", "kind"} <= set(frame.columns):
        raise InputError("say which cells are sensitive; the pattern lacks the columns row, column and kind")
    marked = [[str(row[name]) for name in ("row", "column")] for row in frame.iter_rows(named=True)
              if row["kind"] == "primary"]  # fmt: skip
    if not marked:
        raise InputError("say which cells are sensitive: the pattern marks none as primary")
    return request.model_copy(update={"sensitive": marked})


def _page(request: Audit, said: dict[str, Any]) -> Any:
    from shoal.report.page import Page

    page = Page("Audit of a table", "safe" if said["safe"] else "not safe: it must not be published")
    page.section("Verdict")
    page.facts(
        [
            ("safe", said["safe"]),
            ("sensitive cells", said["sensitive"]),
            ("sensitive cells with too narrow an interval", said["unsafe"]),
            ("sensitive cells that a sole contributor could work out", said["insiders"]),
            ("relations that give away a sensitive sum", said["sums"]),
            ("cells given away because counts are whole numbers", said["integers"]),
            ("other hidden cells given away exactly", said["disclosed"]),
            ("hidden cells", said["hidden"]),
            *said["reached"],
        ]
    )
    if not said["safe"]:
        page.warning("This pattern does not protect the table.")
    page.provenance(
        [
            ("protection", f"{100 * request.protection:g} %"),
            ("rules", ", ".join(request.rules or ()) or "the usual ones"),
            ("sole contributors taken into account", request.insiders),
            ("lower bound known to an attacker", request.low),
            ("upper bound known to an attacker", request.high),
        ],
        "exact intervals by flows or linear programmes, whoever made the pattern",
    )
    return page


def _title(request: Audit) -> str:
    how = "by hand" if request.hidden else request.pattern or "as the file marks it"
    return f"Audit of {title(request, how)}"


ACTIVITY = Activity("audit", "Audit a table", Audit, run, _title)
