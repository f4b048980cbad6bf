"""The table that suppression and audit work on: built from records, or a matrix that was loaded."""

from typing import TYPE_CHECKING, Any, Literal

from pydantic import Field

from shoal.errors import InputError
from shoal.web.activities.activity import Request

if TYPE_CHECKING:
    import polars as pl

# Larger tables are not drawn cell by cell.
LARGEST_GRID = 1500
_LISTED = 300


class TableRequest(Request):
    """Which table, and which of its cells are sensitive."""

    data: str
    source: Literal["records", "matrix"] = Field(
        "records", description="records to tabulate, or a matrix with totals"
    )
    dimensions: list[str] = Field(default_factory=list, max_length=6, description="of records")
    value: str | None = Field(None, description="what is summed; records are counted if not given")
    contributor: str | None = None
    holding: str | None = Field(None, description="the group a contributor belongs to")
    rules: list[str] | None = Field(
        None, max_length=10, description="such as p-percent(10), dominance(1,75), frequency(3)"
    )
    zeros: Literal["published", "suppressible"] = "published"
    sensitive: list[tuple[str, str]] = Field(default_factory=list, description="(row, column) of a matrix")
    protection: float = Field(
        0.10, ge=0, le=1, description="share of a cell's value that its interval must leave open"
    )
    sliding: float = Field(
        0.0, ge=0, le=10, description="share of the value for the whole width, in addition"
    )
    high: float | None = Field(None, gt=0, description="an upper bound on cells that an attacker knows")
    insiders: bool = Field(default=True, description="sole contributors know their own cells")


def build(request: TableRequest, frame: "pl.DataFrame") -> Any:
    """The table: a tabulation with its sensitive cells, or the matrix as a frame."""
    if request.source == "matrix":
        if not request.sensitive:
            raise InputError("say which cells are sensitive")
        return frame
    import shoal

    if not request.dimensions:
        raise InputError("name at least one dimension")
    return shoal.tabulate(
        frame,
        request.dimensions,
        value=request.value,
        contributor=request.contributor,
        holding=request.holding,
        rules=request.rules,
        zeros=request.zeros,
    )


def checking(request: TableRequest) -> dict[str, Any]:
    """What suppression and audit are told alike."""
    return {
        "sensitive": [tuple(cell) for cell in request.sensitive] or None,
        "protection": request.protection,
        "sliding": request.sliding,
        "high": request.high,
        "insiders": request.insiders,
    }


def drawing(problem: Any, hidden: Any) -> dict[str, Any] | None:
    """A two-dimensional table as the page draws it, totals last; nothing for one that is too large."""
    table = problem.table
    if len(table.dimensions) != 2 or table.cells > LARGEST_GRID:
        return None
    first, second = table.dimensions
    rows = _totals_last([str(key) for key in table.keys[first]])
    columns = _totals_last([str(key) for key in table.keys[second]])
    values: list[list[Any]] = [[None] * len(columns) for _ in rows]
    kinds = [[""] * len(columns) for _ in rows]
    places = (
        {name: place for place, name in enumerate(rows)},
        {name: place for place, name in enumerate(columns)},
    )
    for cell in range(table.cells):
        row, column = places[0][str(table.keys[first][cell])], places[1][str(table.keys[second][cell])]
        values[row][column] = float(table.values[cell])
        if problem.is_sensitive[cell]:
            kinds[row][column] = "primary"
        elif hidden[cell]:
            kinds[row][column] = "complementary"
    return {"dimensions": [first, second], "rows": rows, "columns": columns, "values": values, "kinds": kinds}


def _totals_last(names: list[str]) -> list[str]:
    found = list(dict.fromkeys(names))
    return [name for name in found if name != "total"] + [name for name in found if name == "total"]


def verdict(found: Any) -> dict[str, Any]:
    """What an audit says, with the intervals of the sensitive cells beside what they need."""
    from shoal.tables.suppression import interval_frame

    frame = interval_frame(found)
    return {
        "safe": found.safe,
        "unsafe": int(found.unsafe.size),
        "insiders": len({cell for cell, _ in found.insider}),
        "sums": len(found.sums),
        "integers": len(found.integer),
        "disclosed": int(found.disclosed.size),
        "smallest_margin_percent": found.smallest_margin,
        "intervals": {
            "columns": frame.columns,
            "rows": [list(row) for row in frame.head(_LISTED).iter_rows()],
        },
    }
