"""A table whose figures were changed: what its page draws besides the figures."""

from typing import TYPE_CHECKING, Any

from shoal.web.jobs.context import Context

if TYPE_CHECKING:
    from shoal.tables.rounding.changed_operation import Changed


def picture(result: "Changed", settings: object, context: Context) -> dict[str, Any]:
    """What the table is besides its figures."""
    return {"dimensions": list(result.table.base.dimensions), "by_rule": dict(result.table.by_rule)}
