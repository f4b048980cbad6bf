"""The table that suppression and audit work on: built from records, a matrix, a list of cells, or a jj file."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import Field

from shoal.errors import InputError
from shoal.web.activities.activity import Request

if TYPE_CHECKING:
    from pathlib import Path

    from shoal.tables.files.jj import Contents
    from shoal.tables.model.tabulation import Tabulation, Tree
    from shoal.tables.problem import Problem
    from shoal.web.datasets import Datasets

COSTS = ("value", "unity", "contributors", "log")
# What a cell of last period's pattern costs now, so that patterns stay stable.
_AGAIN = 0.1


class TableRequest(Request):
    """Which table, and which of its cells are sensitive; the names are those of the command line."""

    data: str
    source: Literal["records", "matrix", "cells", "jj"] = Field(
        "records",
        description="records to tabulate, a matrix with totals, a list of cells from tabulate, or a jj file",
    )
    dimensions: list[str] = Field(default_factory=list, max_length=6, description="of records")
    linked: list[Annotated[list[str], Field(min_length=1, max_length=6)]] = Field(
        default_factory=list,
        max_length=10,
        description="dimensions of further tables of the same records, protected together with this one",
    )
    value: str | None = Field(None, description="what is summed; records are counted if not given")
    contributor: str | None = Field(
        None, description="the column of who contributes; every record by itself if not given"
    )
    holding: str | None = Field(None, description="the group a contributor belongs to")
    weight: str | None = Field(None, description="the column of sampling weights")
    weights_public: bool = Field(default=False, description="attackers know the weights")
    hierarchy: dict[str, str] = Field(
        default_factory=dict,
        description="subtotals of a dimension: data of the workspace with code and parent",
    )
    rules: list[str] | None = Field(
        None, max_length=10, description="such as p-percent(10), dominance(1,75), frequency(3)"
    )
    apriori: str | None = Field(None, description="data: cells declared safe or sensitive, costs, levels")
    zeros: Literal["published", "suppressible"] = "published"
    sensitive: list[list[str]] = Field(
        default_factory=list, max_length=100_000, description="coordinates of sensitive cells"
    )
    sensitive_data: str | None = Field(
        None, description="data: a list of sensitive cells, such as row,column[,lower,upper]"
    )
    contributions: str | None = Field(
        None, description="data: who contributes how much to a list of cells, as tabulate writes it"
    )
    protection: float = Field(
        0.10, ge=0, le=1, description="share of a cell's value that its interval must leave open"
    )
    sliding: float = Field(
        0.0, ge=0, le=10, description="share of the value for the whole width, in addition"
    )
    low: float = Field(
        0.0, ge=-1e15, le=1e15, description="the least an attacker holds possible for any cell"
    )
    high: float | None = Field(
        None, ge=-1e15, le=1e15, description="the most an attacker holds possible for any cell"
    )
    rounding: float | None = Field(
        None, gt=0, le=1e15, description="totals may be off by rounding to this base"
    )
    counts: bool = Field(default=False, description="the cells are counts: check whole numbers too")
    insiders: bool = Field(
        default=True, description="where contributors are known, sole ones know their own cells"
    )


@dataclass(frozen=True)
class Posed:
    """The problem a request describes, and what is known of its table besides."""

    problem: "Problem"
    counts: bool = False
    by_rule: Mapping[str, int] = field(default_factory=dict)
    trees: "Mapping[str, Tree]" = field(default_factory=dict)
    made: "Tabulation | None" = None
    hidden: Any = None


def pose(
    request: TableRequest, datasets: "Datasets", *, cost: str = "value", previous: str | None = None
) -> Posed:
    """Build the table and say what has to be protected; ``previous`` names last period's pattern."""
    posed = _posed(request, datasets, cost)
    if previous is None:
        return posed
    from dataclasses import replace

    from shoal.tables.api import read_pattern

    problem = posed.problem
    cells, _ = read_pattern(problem.table, datasets.frame(previous))
    cheaper = problem.cost.copy()
    cheaper[cells] *= _AGAIN
    return replace(posed, problem=problem.against(cost=cheaper))


def _posed(request: TableRequest, datasets: "Datasets", cost: str) -> Posed:
    from shoal.tables.api import as_problem, as_table

    common: dict[str, Any] = {
        "protection": request.protection,
        "sliding": request.sliding,
        "low": request.low,
        "high": request.high,
    }
    if request.source == "jj":
        contents = _general(request, datasets)
        priced = cost if cost in COSTS else datasets.frame(cost)
        problem = as_problem(contents.problem, cost=priced, **common)
        return Posed(problem, counts=request.counts, hidden=contents.hidden)
    if request.source == "matrix":
        table = as_table(datasets.frame(request.data), rounding=request.rounding)
        sensitive = _sensitive(request, datasets, table.dimensions)
        priced = cost if cost in COSTS else datasets.frame(cost)
        problem = as_problem(table, sensitive=sensitive, cost=priced, zeros=request.zeros, **common)
        return Posed(problem, counts=request.counts)
    made = tabulate(request, datasets, cost)
    # Records are priced when they are tabulated; a list of cells brings its costs, which others may replace.
    brought = request.source == "records" or cost == "value"
    priced = "value" if brought else cost if cost in COSTS else datasets.frame(cost)
    problem = as_problem(
        made,
        sensitive=_sensitive(request, datasets, made.table.dimensions),
        cost=priced,
        insiders=request.insiders,
        **common,
    )
    counts = request.counts or made.counts
    return Posed(problem, counts=counts, by_rule=made.by_rule, trees=made.trees, made=made)


def tabulate(request: TableRequest, datasets: "Datasets", cost: str = "value") -> "Tabulation":
    """The table of records, or of a list of cells, with the sensitive ones by its rules."""
    from shoal.tables.settings import TableSettings
    from shoal.tables.table_to_protect import table_to_protect
    from shoal.web.jobs.workplace import WorkspaceData

    asked = request.model_dump(include=set(TableSettings.model_fields) - {"sensitive", "sensitive_data"})
    made = table_to_protect(TableSettings.model_validate(asked), WorkspaceData(datasets), cost).tabulation
    assert made is not None
    return made


def _general(request: TableRequest, datasets: "Datasets") -> "Contents":
    from shoal.tables.files import jj

    place: Path | None = datasets.attachment(request.data, "jj")
    if place is None:
        raise InputError(f"'{request.data}' did not come from a jj file")
    contents = jj.read(place)
    contents.problem.table.check(rounding=request.rounding)
    return contents


def _sensitive(request: TableRequest, datasets: "Datasets", dimensions: tuple[str, ...]) -> Any:
    """The sensitive cells that were named, in a list or one by one; nothing if there are none."""
    import polars as pl

    for cell in request.sensitive:
        if len(cell) != len(dimensions):
            raise InputError(f"a sensitive cell is named by {', '.join(dimensions)}")
    listed = pl.DataFrame(request.sensitive, schema=dict.fromkeys(dimensions, pl.String), orient="row")
    if request.sensitive_data is None:
        return listed if listed.height else None
    given = datasets.frame(request.sensitive_data)
    for name in dimensions:
        if name not in given.columns:
            raise InputError(f"the list of sensitive cells lacks the column '{name}'")
    given = given.with_columns(pl.col(name).cast(pl.String) for name in dimensions)
    more = listed.join(given, on=list(dimensions), how="anti")
    return pl.concat([given, more], how="diagonal")
