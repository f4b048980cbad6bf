"""What comes out of a suppression as frames: the pattern, the intervals of an audit, and the table to publish."""

from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.errors import InputError, parameter
from shoal.sources.dialect import is_number
from shoal.tables.model.decimals import significant
from shoal.tables.model.figures import FIGURE
from shoal.tables.model.table import Table
from shoal.tables.problem import Problem
from shoal.tables.safety.audit import Audit

if TYPE_CHECKING:
    import polars as pl


def pattern_frame(problem: Problem, complementary: np.ndarray) -> "pl.DataFrame":
    """The hidden cells in the order of the table, with their kind."""
    import polars as pl

    cells = np.flatnonzero(problem.hidden_mask(complementary))
    columns: dict[str, Any] = dict(problem.table.coordinates(cells))
    columns["kind"] = ["primary" if problem.is_sensitive[cell] else "complementary" for cell in cells]
    return pl.DataFrame(columns)


def interval_frame(audit: Audit) -> "pl.DataFrame":
    """The sensitive cells with the interval the attacker can compute and the one required."""
    import polars as pl

    return hidden_frame(audit).filter(pl.col("kind") != "complementary").drop("kind")


def hidden_frame(audit: Audit) -> "pl.DataFrame":
    """All hidden cells with their intervals, and sensitive ones that are published instead; the latter also say so.

    What is required, and whether it holds, is stated for the sensitive ones; of those that there was no time for it is blank.
    So is the value of a cell of a published table, which nobody knows.
    """
    import polars as pl

    problem = audit.problem
    table = problem.table
    cells = np.union1d(audit.cells, problem.sensitive).astype(np.int64)
    low, high = audit.bounds(cells)
    levels = np.full((2, table.cells), np.nan)
    levels[:, problem.sensitive] = [problem.lower, problem.upper]
    primary = problem.is_sensitive[cells]
    shown = set(audit.published)
    unsafe = set(audit.unsafe.tolist()) | {cell for cell, _ in audit.insider} | set(audit.integer)
    # What only other tables beside this one give away is in no interval of its own.
    if given_away := {key for item in audit.together for key in item.cells}:
        unsafe |= {int(cell) for cell in cells if tuple(table.key(int(cell)).values()) in given_away}
    # Narrow is narrow; but wide enough for an outsider is not safe where nobody looked at the rest.
    unknown = set(audit.not_judged) if not audit.not_looked_at else set(cells.tolist()) - unsafe
    values = table.values[cells]
    columns: dict[str, Any] = dict(table.coordinates(cells))
    kinds = np.where(primary, "primary", "complementary")
    columns.update(
        kind=[
            "published" if int(cell) in shown else str(kind) for cell, kind in zip(cells, kinds, strict=True)
        ],
        # Figures that fit what is shown are no figures of a published table.
        value=pl.Series(np.full(cells.size, np.nan) if audit.sensitive_unknown else values),
        min=significant(low),
        max=significant(high),
        required_min=significant(values - levels[0, cells]),
        required_max=significant(values + levels[1, cells]),
        safe=pl.Series(
            [
                int(cell) not in unsafe if mine and int(cell) not in unknown else None
                for cell, mine in zip(cells, primary, strict=True)
            ],
            dtype=pl.Boolean,
        ),
    )
    return pl.DataFrame(columns).with_columns(
        pl.col("value", "min", "max", "required_min", "required_max").fill_nan(None)
    )


def check_pattern(problem: Problem, complementary: np.ndarray, frame: "pl.DataFrame") -> None:
    """Raise ``AssertionError`` unless a pattern, as it was read back, hides the cells it should, with their kinds."""
    from shoal.tables.as_problem import read_pattern

    cells, kinds = read_pattern(problem.table, frame)
    found = dict(zip(cells, kinds, strict=True))
    wanted = {
        int(cell): "primary" if problem.is_sensitive[cell] else "complementary"
        for cell in np.flatnonzero(problem.hidden_mask(complementary))
    }
    assert found == wanted, "the pattern hides other cells"


def check_published(wanted: "pl.DataFrame", symbol: str | None, frame: "pl.DataFrame") -> None:
    """Raise ``AssertionError`` unless a table to publish, as it was read back, shows and hides the same cells."""
    assert frame.columns == wanted.columns, "the table has other columns"
    assert frame.height == wanted.height, "the table has more or fewer rows"
    values = ["value"] if "value" in wanted.columns else wanted.columns[1:]
    for name in values:
        gone = [
            [item is None or item in (symbol, "") for item in each[name].to_list()]
            for each in (wanted, frame)
        ]
        assert gone[0] == gone[1], "the table hides other cells"


def check_symbol(symbol: str | None) -> None:
    """Refuse what would stand in the table like a figure."""
    if symbol is not None and is_number(symbol):
        raise InputError(
            f"{parameter('symbol')} must not be a number, which would be taken for a figure; try 'x'"
        )


def published_frame(
    table: Table, hidden: np.ndarray, symbol: str | None, decimals: int | None = None, sign: str = "."
) -> "pl.DataFrame":
    """The table without its hidden cells: a matrix if it is plain and two-dimensional, else a list of cells.

    Beside a symbol figures are texts, whose decimals have this ``sign``; of several figures each is whole or not by itself.
    """
    import polars as pl

    check_symbol(symbol)
    if table.shape is not None:
        m, n = table.shape
        grid = table.values.reshape(m + 1, n + 1)
        mask = hidden.reshape(m + 1, n + 1)
        rows = table.coordinates(np.arange(0, table.cells, n + 1))["row"]
        names = [str(item) for item in table.coordinates(np.arange(n + 1))["column"]]
        columns: dict[str, Any] = {"row" if table.corner in names else table.corner: rows}
        for j, name in enumerate(names):
            columns[name] = _blanked(grid[:, j], mask[:, j], symbol, decimals, sign)
        return pl.DataFrame(columns)
    columns = dict(table.coordinates())
    if symbol is None or FIGURE not in table.dimensions:
        columns["value"] = _blanked(table.values, hidden, symbol, decimals, sign)
    else:
        shown = np.empty(table.cells, dtype=object)
        for code in dict.fromkeys(table.keys[FIGURE]):
            own = np.flatnonzero(table.keys[FIGURE] == code)
            shown[own] = _blanked(table.values[own], hidden[own], symbol, decimals, sign)
        columns["value"] = shown.tolist()
    return pl.DataFrame(columns)


def _blanked(
    values: np.ndarray, mask: np.ndarray, symbol: str | None, decimals: int | None, sign: str
) -> list[Any]:
    values = values if decimals is None else np.round(values, decimals) + 0.0
    # Judged by what is seen: whether a hidden figure is whole is nobody's business.
    whole = bool((values[~mask] == np.round(values[~mask])).all())
    shown = [int(value) if whole else float(value) for value in values]
    if symbol is None:
        return [None if gone else value for value, gone in zip(shown, mask, strict=True)]
    return [
        symbol if gone else repr(value).replace(".", sign) for value, gone in zip(shown, mask, strict=True)
    ]
