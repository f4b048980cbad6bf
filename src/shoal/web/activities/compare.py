"""Compare releases of the same data: runs of the workbench are what is compared, paired by the links they kept."""

import json
from pathlib import Path
from typing import Any

import polars as pl
from pydantic import Field, create_model

from shoal.errors import Infeasible, InputError
from shoal.microdata.measures.operation import OPERATION
from shoal.operation import Place, Records
from shoal.web.activities.activity import Activity, Request
from shoal.web.activities.microaggregate import RECORD_LINKS
from shoal.web.activities.operation_activity import request_model
from shoal.web.jobs.context import Context
from shoal.web.jobs.workplace import Workbench

# Linkage looks at every pair of records.
LARGEST = 50_000

#: What can be asked of a comparison, of runs instead of files.
Compare: type[Request] = create_model(
    "Compare",
    __base__=request_model(OPERATION, without=("original", "protected")),
    __doc__="Which runs of which data, and what is measured.",
    data=(str, Field(description="The data that was protected.")),
    runs=(list[str], Field(min_length=1, max_length=12, description="The runs that protected it.")),
)


class Releases(Workbench):
    """A place where the name of a run stands for its release, and for the links that it kept."""

    def __init__(self, context: Context, described: dict[str, dict[str, Any]]) -> None:
        super().__init__(context)
        self._described = described

    def records(
        self, name: Place, *, columns: list[str] | None = None, like: Records | None = None
    ) -> Records:
        """The release of a run, or a table of the workspace."""
        run = str(name)
        if run not in self._described:
            return super().records(name, columns=columns, like=like)
        asked = self._described[run]["request"]
        several = f" ({run[:4]})" if len(self._described) > 1 else ""
        frame = pl.read_parquet(self._context.workspace.place("runs", run, "release.parquet"))
        return Records(f"{asked['method']}, k = {asked['k']}{several}", frame)

    def file(self, name: str) -> Path:
        """The links of a run."""
        return self._context.workspace.place("runs", name, RECORD_LINKS)


def run(request: Any, context: Context) -> dict[str, Any]:
    """Measure each release; the map shows them beside plain microaggregation."""
    if context.datasets[request.data].records > LARGEST:
        raise InputError(f"a comparison looks at every pair of records; it is for up to {LARGEST:,} records")
    described = {run: _described(context, run, request.data) for run in request.runs}
    asked = request.model_dump(exclude={"data", "runs"})
    settings = OPERATION.settings(
        **asked
        | {
            "original": request.data,
            "protected": list(described),
            "record_links": list(described),
            "columns": request.columns
            or _common([item["summary"]["columns"] for item in described.values()]),
        }
    )
    found = OPERATION.run(settings, Releases(context, described))
    context.say("writing the report")
    context.report(OPERATION.told.page(found, settings))
    refused = None if OPERATION.gate is None else OPERATION.gate(found, settings)
    if refused is not None:
        raise Infeasible(refused)
    kept = [
        {key: value for key, value in result.to_dict().items() if key not in ("attributes", "scenarios")}
        for result in found
    ]
    references = {name: list(point) for name, point in found[0].references.items()}
    return {"releases": kept, "references": references, "columns": list(found[0].columns)}


def _described(context: Context, run: str, data: str) -> dict[str, Any]:
    path = context.workspace.place("runs", run, "run.json")
    if not path.is_file() or not path.with_name("release.parquet").is_file():
        raise InputError(f"run '{run}' has no release to compare")
    described: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    if described["request"]["data"] != data:
        raise InputError(f"run '{described['title']}' is of other data")
    if not path.with_name(RECORD_LINKS).is_file():
        raise InputError(
            f"run '{described['title']}' has no record links to be compared by; protect the data again"
        )
    return described


def _common(lists: list[list[str]]) -> list[str]:
    common = [name for name in lists[0] if all(name in other for other in lists)]
    if not common:
        raise InputError("these runs have no protected column in common")
    return common


def _title(request: Any) -> str:
    return f"Compare {len(request.runs)} release{'s' if len(request.runs) > 1 else ''} of {request.data}"


ACTIVITY = Activity(OPERATION.name, OPERATION.title, Compare, run, _title)
