"""Write REC_RAND and REC_INTELLIGENT back into the tables of people."""

from typing import Any

from pydantic import Field

from shoal.errors import InputError
from shoal.web.activities.activity import Activity, Request
from shoal.web.activities.assign import UPDATE
from shoal.web.activities.operation_activity import columns_file
from shoal.web.jobs.context import Context


class Update(Request):
    """Which plans go back into which tables, in the order of the run."""

    run: str
    connection: str
    tables: list[str] = Field(min_length=1, max_length=50)


def run(request: Update, context: Context) -> dict[str, Any]:
    """Set the two columns in the records that have the same key: of each table all or none."""
    import polars as pl

    from shoal import sources

    url = context.secret(request.connection)
    frames = []
    for place in range(len(request.tables)):
        path = context.workspace.path("runs", request.run, columns_file(UPDATE, place))
        if not path.is_file():
            raise InputError(
                "this plan cannot be written back: the people need an ID, REC_RAND and REC_INTELLIGENT"
            )
        frames.append(pl.read_parquet(path))
    if context.workspace.path("runs", request.run, columns_file(UPDATE, len(frames))).is_file():
        raise InputError("this run has more tables than are named")
    existing = sources.list_tables(url)
    for table in request.tables:
        if table not in existing:
            raise InputError(f"table '{table}' is not in the database; nothing was written")
    outputs = sources.Outputs()
    columns = [outputs.columns("the table", sources.parse(f"{url}::{table}")) for table in request.tables]
    with outputs.together() as writing:
        for table, output, frame in zip(request.tables, columns, frames, strict=True):
            context.say(f"writing {table}")
            writing.columns(output, frame.columns[0], frame)
    return {"tables": list(request.tables), "records": sum(frame.height for frame in frames)}


def _title(request: Update) -> str:
    which = request.tables[0] if len(request.tables) == 1 else f"{len(request.tables)} tables"
    return f"Write appointments to {which}"


ACTIVITY = Activity("update", "Write back", Update, run, _title, internal=True)
