"""Compare releases of the same data: what each lost and what an intruder could still do with it."""

from typing import Any

from pydantic import Field

from shoal.errors import InputError
from shoal.web.activities.activity import Activity, Request
from shoal.web.activities.microaggregate import RECORD_LINKS
from shoal.web.jobs.context import Context

# Linkage looks at every pair of records.
LARGEST = 50_000


class Compare(Request):
    """Which runs of which data."""

    data: str
    runs: list[str] = Field(min_length=1, max_length=12)
    columns: list[str] | None = Field(
        None, description="columns compared; those protected by all runs if not given"
    )
    quasi: list[str] | None = Field(
        None, description="columns over which K is counted; all that could be known if not given"
    )
    seed: int = Field(0, ge=0, le=2**53 - 1)


def run(request: Compare, context: Context) -> dict[str, Any]:
    """Measure each release; the map shows them beside plain microaggregation."""
    import polars as pl

    import shoal
    from shoal.microdata.measures.report import page
    from shoal.search.threads import available_cores

    original = context.datasets.frame(request.data)
    if original.height > LARGEST:
        raise InputError(f"a comparison looks at every pair of records; it is for up to {LARGEST:,} records")
    described = [_described(context, run) for run in request.runs]
    columns = request.columns or _common([item["summary"]["columns"] for item in described])
    found: list[Any] = []
    for run, item in zip(request.runs, described, strict=True):
        asked = item["request"]
        if asked["data"] != request.data:
            raise InputError(f"run '{item['title']}' is of other data")
        links = context.workspace.place("runs", run, RECORD_LINKS)
        if not links.is_file():
            raise InputError(
                f"run '{item['title']}' has no record links to be compared by; protect the data again"
            )
        context.say(f"comparing {item['title']}")
        found.append(
            shoal.compare(
                original,
                pl.read_parquet(context.workspace.place("runs", run, "release.parquet")),
                columns=columns,
                record_links=links,
                quasi=request.quasi,
                roles=context.datasets[request.data].roles,
                references=not found,
                name=f"{asked['method']}, k = {asked['k']}"
                + (f" ({run[:4]})" if len(request.runs) > 1 else ""),
                seed=request.seed,
                threads=available_cores(),
            )
        )
    context.say("writing the report")
    context.report(page(found))
    return {
        "releases": [
            {key: value for key, value in result.to_dict().items() if key not in ("attributes", "scenarios")}
            for result in found
        ],
        "references": {name: list(point) for name, point in found[0].references.items()},
        "columns": list(columns),
    }


def _described(context: Context, run: str) -> dict[str, Any]:
    import json

    path = context.workspace.place("runs", run, "run.json")
    if not path.is_file() or not path.with_name("release.parquet").is_file():
        raise InputError(f"run '{run}' has no release to compare")
    described: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return described


def _common(lists: list[list[str]]) -> list[str]:
    common = [name for name in lists[0] if all(name in other for other in lists)]
    if not common:
        raise InputError("these runs have no protected column in common")
    return common


def _title(request: Compare) -> str:
    return f"Compare {len(request.runs)} release{'s' if len(request.runs) > 1 else ''} of {request.data}"


ACTIVITY = Activity("compare", "Compare releases", Compare, run, _title)
