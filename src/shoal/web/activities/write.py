"""Write a release to a table of the connected database, whole or not at all."""

from typing import Any

from pydantic import Field

from shoal.errors import InputError
from shoal.web.activities.activity import Activity, Request
from shoal.web.jobs.context import Context


class Write(Request):
    """Which frame goes to which table: the release of a run, or data of the workspace."""

    run: str | None = Field(None, description="the run whose release is written")
    release: str = Field(
        "release.parquet", pattern=r"^release(-\d{1,3})?\.parquet$", description="of several tables"
    )
    data: str | None = Field(None, description="data of the workspace")
    connection: str
    table: str = Field(min_length=1, max_length=200)
    force: bool = Field(default=False, description="replace a table of that name")


def run(request: Write, context: Context) -> dict[str, Any]:
    """Write a whole table."""
    import polars as pl

    from shoal import sources

    if request.run is not None:
        path = context.workspace.path("runs", request.run, request.release)
    elif request.data is not None:
        path = context.datasets.path(request.data)
    else:
        raise InputError("say what to write: a run or data")
    if not path.is_file():
        raise InputError("this run has no released records to write")
    url = context.secret(request.connection)
    outputs = sources.Outputs(force=request.force, inputs=context.datasets.tables(url))
    table = outputs.data("the table", f"{url}::{request.table}")
    assert table is not None
    frame = pl.read_parquet(path)
    context.say(f"writing {frame.height:,} records")
    with outputs.together() as writing:
        writing.data(table, frame)
    return {"table": request.table, "records": frame.height}


ACTIVITY = Activity(
    "write", "Write to database", Write, run, lambda request: f"Write to table {request.table}", internal=True
)
