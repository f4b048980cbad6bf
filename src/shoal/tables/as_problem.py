"""Tables, sensitive cells, patterns and costs as somebody gives them: frames, arrays, tuples and lists of cells."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from shoal.errors import InputError, parameter
from shoal.numbers import counted, first_unusable, number, why_unusable
from shoal.remarks import Remark, warning
from shoal.tables.files.frames import as_frame, as_list, with_row_names
from shoal.tables.model.costs import costs, figure, missing
from shoal.tables.model.decimals import exact_sums
from shoal.tables.model.table import TOTAL, Table, with_totals
from shoal.tables.model.tabulated import Tabulation, Zeros, check_zeros
from shoal.tables.problem import Problem


class NotNumeric(InputError):
    """A column that should hold the figures of a matrix has other values."""


def share_of(table: Any, sensitive: Any, protection: float | None) -> float | None:
    """The share of the value that protects sensitive cells; refused where a file states the levels of every cell."""
    if protection is not None and isinstance(table, Problem) and sensitive is None:
        raise InputError(
            "the sensitive cells of this table have protection levels of their own, cell by cell; leave out "
            f"{parameter('protection')}"
        )
    return protection


def as_problem(
    table: Any,
    *,
    sensitive: Any = None,
    protection: float | None = None,
    cost: Any = "value",
    sliding: float = 0.0,
    low: float = 0.0,
    high: float | None = None,
    insiders: bool = True,
    rounding: float | None = None,
    tolerance: float | None = None,
    zeros: Zeros = "published",
) -> Problem:
    """Whatever a table was given as, as a problem.

    Lists of cells and whole problems bring costs and levels of their own: cost ``value`` leaves them as they are, and
    the sliding width and the bounds of an attacker come on top. A ``protection`` that is named is the least for every cell that
    a rule calls sensitive, and what cells named without levels get; without it these get 0.10. Empty cells of a matrix are
    published, and so are its totals unless one of them is sensitive.
    """
    share = 0.10 if protection is None else protection
    number(share, f"{parameter('protection')}, a share of the value between 0 and 1,", least=0.0, most=1.0)
    number(sliding, f"{parameter('sliding')}, a width as a share of the value,", least=0.0)
    check_low(low)
    if high is not None:
        number(high, f"{parameter('high')}, the upper bound an attacker knows,", infinite=True)
        if low > high:
            raise InputError(f"{parameter('low')} must not be above {parameter('high')}")
    check_zeros(zeros)
    if isinstance(table, Problem | Tabulation):
        problem = (
            table
            if isinstance(table, Problem)
            else table.problem(
                insiders=insiders, low=low, high=high, protection=protection or 0.0, sliding=sliding
            )
        )
        if sensitive is not None:
            problem = _more_sensitive(problem, sensitive, share)
        return _narrowed(_priced(problem, table, cost), sliding, low, high)
    base = table if isinstance(table, Table) else as_table(table, rounding=rounding, tolerance=tolerance)
    if sensitive is None:
        raise InputError("say which cells are sensitive")
    cells, lower, upper = read_sensitive(base, sensitive, share)
    if cells.size == 0:
        raise InputError("there are no sensitive cells, so nothing has to be hidden")
    return Problem.of(
        base,
        cells,
        protection=share,
        lower=lower,
        upper=upper,
        sliding=sliding * np.abs(base.values[cells]),
        cost=read_costs(base, cost, np.abs(base.values)),
        candidates=_candidates(base, cells, zeros),
        low=low,
        high=high,
    )


def check_low(low: float) -> None:
    """Refuse a lower bound that is no number."""
    number(low, f"{parameter('low')}, the lower bound an attacker knows,", infinite=True)


def _candidates(table: Table, sensitive: np.ndarray, zeros: Zeros) -> np.ndarray:
    totals_too = not table.internal[sensitive].all()
    found = np.ones(table.cells, dtype=bool) if totals_too else table.internal
    return found & (table.values != 0) if zeros == "published" else found


def _priced(problem: Problem, table: Problem | Tabulation, cost: Any) -> Problem:
    if isinstance(cost, str) and cost == "value":
        return problem
    contributors = table.contributors if isinstance(table, Tabulation) else None
    return problem.with_changes(cost=read_costs(problem.table, cost, problem.cost, contributors))


def _narrowed(problem: Problem, sliding: float, low: float, high: float | None) -> Problem:
    """The problem with what the attacker is known to know beyond the file, and the width asked for beyond it."""
    values = problem.table.values
    changes: dict[str, Any] = {}
    if sliding > 0:
        changes["sliding"] = np.maximum(problem.sliding, sliding * np.abs(values[problem.sensitive]))
    if low > 0:
        changes["low"] = np.maximum(problem.low, low)
    if high is not None:
        changes["high"] = np.minimum(problem.high, high)
    return problem.with_changes(**changes) if changes else problem


def _more_sensitive(problem: Problem, sensitive: Any, protection: float) -> Problem:
    cells, lower, upper = read_sensitive(problem.table, sensitive, protection)
    new = cells[~problem.is_sensitive[cells]]
    every = np.concatenate([problem.sensitive, new])
    levels = np.zeros((2, problem.table.cells))
    levels[:, problem.sensitive] = [problem.lower, problem.upper]
    np.maximum.at(levels[0], cells, lower)
    np.maximum.at(levels[1], cells, upper)
    return problem.with_changes(
        sensitive=every,
        lower=levels[0, every],
        upper=levels[1, every],
        sliding=np.concatenate([problem.sliding, np.zeros(new.size)]),
    )


def already_sensitive(table: Any, sensitive: Any) -> int:
    """How many of the cells named as sensitive are so in the table itself."""
    if not isinstance(table, Problem | Tabulation):
        return 0
    cells, _, _ = read_sensitive(table.table, sensitive, 0.0)
    return int(np.isin(cells, table.sensitive).sum())


def as_table(data: Any, *, rounding: float | None = None, tolerance: float | None = None) -> Table:
    """A plain two-dimensional table from an array or a frame whose first column names the rows."""
    if isinstance(data, np.ndarray | list):
        return Table.from_matrix(data, rounding=rounding, tolerance=tolerance)
    frame = as_frame(with_row_names(data), "the table")
    names = frame.columns
    if len(names) < 3:
        raise InputError("a table needs a column of row names and at least two columns of numbers")
    rows = [str(item) for item in frame[names[0]].to_list()]
    columns = list(names[1:])
    body = np.empty((len(rows), len(columns)))
    for place, name in enumerate(columns):
        try:
            body[:, place] = np.array(frame[name].to_list(), dtype=np.float64)
        except (TypeError, ValueError):
            from shoal.sources.not_numbers import why_not_numeric

            raise NotNumeric(
                f"column '{name}' of the table is not numeric: {why_not_numeric(frame[name])}"
            ) from None
        bad = first_unusable(body[:, place])
        if bad is not None:
            what = why_unusable(body[bad, place])
            raise InputError(f"the cell row {bad + 1}, column '{name}' {what}")
    last_row = bool(rows) and rows[-1].strip().lower() == TOTAL
    last_column = columns[-1].strip().lower() == TOTAL
    if not last_row and not last_column:
        body = with_totals(body)
    elif not last_row:
        body = np.concatenate([body, exact_sums(body.sum(axis=0, keepdims=True), body)])
    elif not last_column:
        body = np.concatenate([body, exact_sums(body.sum(axis=1, keepdims=True), body)], axis=1)
    table = Table.from_matrix(
        body,
        rows[:-1] if last_row else rows,
        columns[:-1] if last_column else columns,
        totals=True,
        rounding=rounding,
        tolerance=tolerance,
        corner=names[0],
    )
    written = {"row": rows[-1] if last_row else TOTAL, "column": columns[-1] if last_column else TOTAL}
    return replace(table, totals={name: code for name, code in written.items() if code != TOTAL})


def _records(data: Any, names: Sequence[str], extra: Sequence[str] = ("kind",)) -> list[dict[str, Any]]:
    """A list of cells as one record each: a frame, or tuples of the coordinates with or without what is ``extra``."""
    if isinstance(data, list | tuple | set | np.ndarray):
        plain = [item if isinstance(item, list | tuple | np.ndarray) else (item,) for item in data]
        for item in plain:
            if len(item) not in (len(names), len(names) + len(extra)):
                form = f"({', '.join(names)}[, {', '.join(extra)}])"
                raise InputError(f"a cell is written as {form}; one has {len(item)} entries")
        return [dict(zip([*names, *extra], item, strict=False)) for item in plain]
    return list(as_list(data, names, "the list of cells").iter_rows(named=True))


def _find(table: Table, rows: Sequence[Mapping[str, Any]], what: str) -> list[int]:
    """The cell that each record of a list names."""
    return [
        table.find(*[row[name] for name in table.dimensions], where=f"of record {number} of {what}")
        for number, row in enumerate(rows, start=1)
    ]


def read_sensitive(table: Table, data: Any, protection: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sensitive cells with their lower and upper levels; where none are given, a share of the value."""
    rows = _records(data, table.dimensions, ("lower", "upper"))
    if any("status" in row for row in rows):
        raise InputError(
            "the list of sensitive cells has a column 'status' as an a-priori file has; such a file is for "
            "tabulate (a-priori information), a list of sensitive cells has no such column"
        )
    cells = np.array(_find(table, rows, "the list of sensitive cells"), dtype=np.int64)
    share = protection * np.abs(table.values[cells])
    levels = []
    for name in ("lower", "upper"):
        given = [_number(row, name, "the list of sensitive cells") for row in rows]
        levels.append(np.array([s if x is None else x for x, s in zip(given, share, strict=True)]))
    return cells, levels[0], levels[1]


#: What is asked for where nothing tells which cells are hidden.
NO_PATTERN = "name the pattern: the hidden cells, all of them"
_NO_PATTERN = (
    "so it is a table and not a list of its hidden cells; give the pattern that suppress wrote, or the cells whose figures are "
    "not published"
)


def _column_of_figures(table: Table, rows: Sequence[Mapping[str, Any]], cells: Sequence[int]) -> str | None:
    """A column of a pattern without kinds that has the figures of its cells, as far as they are not blank."""
    if not rows or "kind" in rows[0]:
        return None
    for name in rows[0]:
        if name in table.dimensions:
            continue
        given = [row[name] for row in rows]
        there = [
            (float(item), cell)
            for item, cell in zip(given, cells, strict=True)
            if isinstance(item, int | float) and not isinstance(item, bool) and np.isfinite(item)
        ]
        if there and all(np.isclose(item, table.values[cell], rtol=1e-9, atol=0.0) for item, cell in there):
            return name
    return None


def read_pattern(table: Table, data: Any) -> tuple[list[int], list[str]]:
    """Hidden cells and their kinds; a table with its figures is no list of hidden cells, whatever it leaves blank."""
    rows = _records(data, table.dimensions)
    if rows and "value" in rows[0] and "kind" not in rows[0] and "value" not in table.dimensions:
        raise InputError(f"the pattern has a column 'value', {_NO_PATTERN}")
    cells = _find(table, rows, "the pattern")
    if (shown := _column_of_figures(table, rows, cells)) is not None:
        raise InputError(f"the pattern has the figures of the table in column '{shown}', {_NO_PATTERN}")
    if len(set(cells)) != len(cells):
        twice = next(cell for cell in cells if cells.count(cell) > 1)
        raise InputError(f"the pattern lists the cell {table.name(twice)} twice")
    return cells, [str(row.get("kind") or "").strip().lower() for row in rows]


def primary_cells(table: Table, cells: Sequence[int], kinds: Sequence[str]) -> list[tuple[Any, ...]]:
    """The cells that a pattern calls primary, which are the sensitive ones if nobody names any."""
    found = [
        tuple(table.key(cell).values()) for cell, kind in zip(cells, kinds, strict=True) if kind == "primary"
    ]
    if not found:
        raise InputError("say which cells are sensitive: the pattern marks none as primary")
    return found


def unasked(problem: Problem, cells: Sequence[int], kinds: Sequence[str]) -> tuple[int, ...]:
    """The cells that a pattern calls primary and nothing else sensitive, so that nothing is required of them."""
    return tuple(
        int(cell)
        for cell, kind in zip(cells, kinds, strict=True)
        if kind == "primary" and not problem.is_sensitive[cell]
    )


def of_unasked(cells: Sequence[int]) -> tuple[Remark, ...]:
    """What is said of such cells: a table that is safe for fewer rules looks safe."""
    if not cells:
        return ()
    words = ("cell that the pattern calls primary is", "cells that the pattern calls primary are")
    text = (
        f"{counted(len(cells), *words)} not sensitive by what was said here, and nothing is required there: say the rules, "
        f"states or {parameter('sensitive_data')} that the pattern was made with"
    )
    return (warning("unrequired-primary", text),)


def of_change(change: float | None) -> tuple[Remark, ...]:
    """Figures may more than double, so a share above 1 can be meant; more often it is meant in percent."""
    if change is None or change <= 1:
        return ()
    text = f"{parameter('change')} is a share: 0.05 is 5 percent, and {change:g} is {100 * change:g} percent"
    return (warning("change-in-percent", text),)


def keep_stable(problem: Problem, previous: Any, share: float = 0.1) -> tuple[Problem, int]:
    """The problem with the cells of last period's pattern at a share of their cost, so that patterns stay alike.

    Also returns how many cells of that pattern this table no longer has.
    """
    names = problem.table.dimensions
    keys = [tuple(str(row[name]) for name in names) for row in _records(previous, names)]
    cells = [problem.table.index[key] for key in keys if key in problem.table.index]
    cheaper = problem.cost.copy()
    cheaper[np.unique(np.array(cells, dtype=np.int64))] *= share
    return problem.with_changes(cost=cheaper), len(keys) - len(cells)


def read_costs(
    table: Table, cost: Any, otherwise: np.ndarray, contributors: np.ndarray | None = None
) -> np.ndarray:
    """The cost of every cell: by name, or from a list of cells with a column ``cost``; others keep what they had."""
    if isinstance(cost, str):
        return costs(cost, table.values, contributors)
    found = otherwise.copy()
    rows = _records(cost, table.dimensions, ("cost",))
    for cell, row in zip(_find(table, rows, "the list of costs"), rows, strict=True):
        figure = _number(row, "cost", "the list of costs")
        if figure is None:
            raise InputError("the list of costs lacks the column 'cost'")
        found[cell] = figure
    return found


def _number(row: Mapping[str, Any], name: str, where: str) -> float | None:
    if missing(row.get(name)):
        return None
    return figure(row[name], f"column '{name}' of {where}")
