"""Compare releases of the same data: runs of the workbench are what is compared, paired by the links they kept."""

import json
from pathlib import Path
from typing import Any

import polars as pl
from pydantic import Field, create_model

from shoal.errors import InputError
from shoal.microdata.measures.operation import OPERATION
from shoal.operation import DataName, Records
from shoal.operation_report import operation_report
from shoal.report.provenance import Input
from shoal.sources.fingerprint import file_fingerprint
from shoal.web.activities.activity import Activity, Request
from shoal.web.activities.gates import gates
from shoal.web.activities.microaggregate import RECORD_LINKS
from shoal.web.activities.operation_activity import provenance_of, request_model
from shoal.web.datasets import Datasets
from shoal.web.jobs.context import Context
from shoal.web.jobs.refused import Refused
from shoal.web.jobs.workplace import RunWorkplace
from shoal.web.workspace import Workspace

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


class Releases(RunWorkplace):
    """A place where the name of a run stands for its release, and for the links that it kept."""

    def __init__(self, context: Context, described: dict[str, dict[str, Any]]) -> None:
        super().__init__(context)
        self._described = described

    def records(
        self, name: DataName, *, columns: list[str] | None = None, like: Records | None = None
    ) -> Records:
        """The release of a run, or a table of the workspace."""
        run = str(name)
        if run not in self._described:
            return super().records(name, columns=columns, like=like)
        asked = self._described[run]["request"]
        several = f" ({run[:4]})" if len(self._described) > 1 else ""
        path = self._context.workspace.path("runs", run, "release.parquet")
        frame = pl.read_parquet(path)
        title = f"{_method_of(asked)}{several}"
        self.inputs[run] = Input(
            title,
            f"the release of run {run}",
            "Release",
            frame.height,
            tuple(frame.columns),
            file_fingerprint(path),
            "the release as Parquet",
        )
        return Records(title, frame)

    def file(self, name: str) -> Path:
        """The links of a run."""
        return self._context.workspace.path("runs", name, RECORD_LINKS)


def run(request: Any, context: Context) -> dict[str, Any]:
    """Measure each release; the map shows them beside plain microaggregation."""
    if context.datasets[request.data].records > LARGEST:
        raise InputError(f"a comparison looks at every pair of records; it is for up to {LARGEST:,} records")
    described = {run: _described(context.workspace, run, request.data) for run in request.runs}
    asked = request.model_dump(exclude={"data", "runs"})
    settings = OPERATION.settings(
        **asked
        | {
            "original": request.data,
            "protected": list(described),
            "record_links": list(described),
            "columns": request.columns or _common([protected_columns(item) for item in described.values()]),
        }
    )
    place = Releases(context, described)
    found = OPERATION.run(settings, place)
    context.say("writing the report")
    refused = None if OPERATION.gate is None else OPERATION.gate(found, settings)
    provenance = provenance_of(OPERATION, settings, place, context, _title(request), refused)
    context.report(operation_report(OPERATION, found, settings, provenance))
    kept = [
        {key: value for key, value in result.to_dict().items() if key not in ("attributes", "scenarios")}
        for result in found
    ]
    references = {name: list(point) for name, point in found[0].references.items()}
    known = all(not one.untried for one in found)
    worst = max(one.worst_tried[1] for one in found) if known else None
    told = {
        "releases": kept,
        "references": references,
        "columns": list(found[0].columns),
        "gates": gates(OPERATION, found, settings, {"max_risk": worst}),
    }
    if refused is not None:
        raise Refused(refused, told, context.files)
    return told


def _described(workspace: Workspace, run: str, data: str) -> dict[str, Any]:
    path = workspace.path("runs", run, "run.json")
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


def _method_of(request: dict[str, Any]) -> str:
    """A release in a few words: its method, and k where there is one."""
    return f"{request['method']}, k = {request['k']}" if request.get("k") else str(request["method"])


def protected_columns(described: dict[str, Any]) -> list[str]:
    """The columns a run protected, whatever its operation calls them.

    >>> protected_columns({"request": {"quasi": ["age"]}, "summary": {"k": 5}})
    ['age']
    """
    found = described["summary"].get("columns") or described["request"].get("columns")
    return list(found or described["summary"].get("quasi") or described["request"].get("quasi") or [])


def _common(lists: list[list[str]]) -> list[str]:
    common = [name for name in lists[0] if all(name in other for other in lists)]
    if not common:
        raise InputError("these runs have no protected column in common")
    return common


def _as_settings(request: dict[str, Any]) -> dict[str, Any]:
    asked = {name: value for name, value in request.items() if name not in ("data", "runs")}
    # The releases lie in the folders of runs; for what is asked of their columns the data stand for them.
    return {
        **asked,
        "original": request["data"],
        "protected": [request["data"]],
        "record_links": [request["data"]],
    }


def _have_releases(request: dict[str, Any], datasets: Datasets) -> None:
    for run in request["runs"]:
        _described(datasets.workspace, run, request["data"])


def _title(request: Any) -> str:
    return f"Compare {len(request.runs)} release{'s' if len(request.runs) > 1 else ''} of {request.data}"


ACTIVITY = Activity(
    OPERATION.name,
    OPERATION.title,
    Compare,
    run,
    _title,
    operation=OPERATION,
    as_settings=_as_settings,
    also=_have_releases,
)
