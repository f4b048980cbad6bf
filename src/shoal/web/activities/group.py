"""Which columns to microaggregate together."""

from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from shoal.microdata.grouping.methods import METHODS
from shoal.web.activities.activity import Activity, Request
from shoal.web.jobs.context import Context
from shoal.web.words import page_words

if TYPE_CHECKING:
    from shoal.search.evolution import OperatorStatistics

# A chart of operators by generation is drawn in so many steps.
_STEPS = 30


class Group(Request):
    """The columns, k and the search; the names are those of the command line."""

    data: str
    k: int = Field(25, ge=2, le=1_000_000)
    columns: list[str] | None = Field(
        None, description="columns to group; all that measure something if not given"
    )
    groups: list[list[str]] | None = Field(None, description="score these groups, search nothing")
    method: str = Field("d-gomm", max_length=40)
    options: dict[str, Any] = Field(default_factory=dict, description="options of the method")
    variant: Literal["compatible", "literal"] = Field(
        "compatible", description="score as in the published tables, or as in their text"
    )
    bounds: Literal["compatible", "strict"] = Field(
        "compatible", description="whether the last cluster may be below k when scoring"
    )
    alone: bool = Field(
        default=False, description="also search with each genetic operator alone, for the report"
    )
    target: float | None = Field(None, ge=0, le=1e9, description="stop at this score")
    missing: Literal["aside", "refuse"] = "aside"
    iterations: int | None = Field(None, ge=0, le=10**12)
    time_limit: float | None = Field(None, gt=0, le=7 * 86400)
    seed: int = Field(0, ge=0, le=2**53 - 1)


def run(request: Group, context: Context) -> dict[str, Any]:
    """Find the groups and report on the search."""
    import os

    import shoal

    frame = context.datasets.frame(request.data)
    context.say("searching")
    result = shoal.group_attributes(
        frame,
        request.k,
        columns=request.columns,
        method=request.method,
        options=request.options,
        groups=request.groups,
        variant=request.variant,
        bounds=request.bounds,
        alone=request.alone,
        missing=request.missing,
        budget=context.budget(request.iterations, request.time_limit, request.target),
        seed=request.seed,
        threads=os.cpu_count() or 1,
        observer=context.observe,
    )
    context.flush()
    context.say("writing the report")
    context.report(result.report())
    course = result.solution.course
    return {
        **result.to_dict(),
        "notes": [page_words(note) for note in result.notes],
        "course": {"best": list(course.best), "mean": list(course.mean), "groups": list(course.groups)},
        "operators": _operators(result.solution.statistics),
    }


def _operators(statistics: "OperatorStatistics | None") -> dict[str, Any] | None:
    """How often each operator was used over the search, and how often it helped."""
    import numpy as np

    if statistics is None or statistics.made.shape[1] == 0:
        return None
    generations = statistics.made.shape[1]
    edges = np.unique(np.linspace(0, generations, min(_STEPS, generations) + 1).astype(int))
    made = np.add.reduceat(statistics.made, edges[:-1], axis=1)
    improved = np.add.reduceat(statistics.improved, edges[:-1], axis=1)
    return {
        "names": list(statistics.operators),
        "generations": edges[:-1].tolist(),
        "made": made.tolist(),
        "improved": improved.tolist(),
        "totals": {
            what: getattr(statistics, what).sum(axis=1).tolist()
            for what in ("made", "survived", "improved", "equal", "worse")
        },
    }


def _title(request: Group) -> str:
    return f"Groups of {request.data}: k = {request.k}, {request.method}"


ACTIVITY = Activity("group", "Group attributes", Group, run, _title, search=True, methods=METHODS)
