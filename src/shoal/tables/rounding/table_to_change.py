"""A table whose figures are to be changed, as somebody gives it: sensitive cells are no must here."""

from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.tables.as_problem import as_problem, as_table, share_of
from shoal.tables.model.table import Table
from shoal.tables.model.tabulation import Tabulation
from shoal.tables.problem import Problem

if TYPE_CHECKING:
    from shoal.operation import Workplace
    from shoal.tables.settings import TableSettings


def table_to_change(
    table: Any, rounding: float | None, tolerance: float | None
) -> Problem | Tabulation | Table:
    """The table, whatever it was given as; a frame or an array is a matrix."""
    if isinstance(table, Problem | Tabulation | Table):
        return table
    return as_table(table, rounding=rounding, tolerance=tolerance)


def problem_of_settings(settings: "TableSettings", workplace: "Workplace") -> tuple[Problem, bool]:
    """The table that settings name with what must stay uncertain, and whether it has counts."""
    from shoal.tables.table_to_protect import table_to_protect

    table = table_to_protect(settings, workplace)
    protect = problem_to_change(
        table.table,
        sensitive=table.sensitive,
        protection=settings.protection,
        sliding=settings.sliding,
        low=settings.low,
        high=settings.high,
        insiders=settings.insiders,
        rounding=settings.rounding,
    )
    return protect, table.is_counts(settings)


def problem_to_change(
    table: Problem | Tabulation | Table,
    *,
    sensitive: Any,
    protection: float | None,
    sliding: float,
    low: float,
    high: float | None,
    insiders: bool,
    rounding: float | None = None,
) -> Problem:
    """The table with what must stay uncertain; a plain table may have no such cell."""
    if isinstance(table, Table) and sensitive is None:
        share_of(table, [], protection)
        return Problem.of(table, np.empty(0, dtype=np.int64), low=low, high=high)
    return as_problem(
        table,
        sensitive=sensitive,
        protection=share_of(table, sensitive, protection),
        sliding=sliding,
        low=low,
        high=high,
        insiders=insiders,
        rounding=rounding,
    )
