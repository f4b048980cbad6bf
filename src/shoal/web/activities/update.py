"""Write REC_RAND and REC_INTELLIGENT back into the table of people."""

from typing import Any

from pydantic import Field

from shoal.errors import InputError
from shoal.web.activities.activity import Activity, Request
from shoal.web.jobs.context import Context


class Update(Request):
    """Which plan goes back into which table."""

    run: str
    connection: str
    table: str = Field(min_length=1, max_length=200)


def run(request: Update, context: Context) -> dict[str, Any]:
    """Set the two columns in the records that have the same key, all or none."""
    import polars as pl

    from shoal import sources

    path = context.workspace.place("runs", request.run, "update.parquet")
    if not path.is_file():
        raise InputError(
            "this plan cannot be written back: the people need an ID, REC_RAND and REC_INTELLIGENT"
        )
    frame = pl.read_parquet(path)
    sources.update_columns(f"{context.secret(request.connection)}::{request.table}", frame.columns[0], frame)
    return {"table": request.table, "records": frame.height}


ACTIVITY = Activity(
    "update",
    "Write back",
    Update,
    run,
    lambda request: f"Write appointments to table {request.table}",
    internal=True,
)
