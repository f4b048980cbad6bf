"""A table whose figures are to be changed, as somebody gives it: sensitive cells are no must here."""

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.tables.given import as_problem, as_table, share_of
from shoal.tables.model.table import Table
from shoal.tables.model.tabulation import Tabulation
from shoal.tables.problem import Problem

if TYPE_CHECKING:
    from shoal.operation import Workplace
    from shoal.tables.settings import TableSettings


def opened(table: Any, rounding: float | None) -> Any:
    """The table in a file if a path was given; what the command line would remark on is a warning here."""
    if isinstance(table, str | Path):
        from shoal.tables.files.loading import load

        loaded = load(str(table), rounding=rounding)
        for note in (*loaded.notes, *loaded.warnings):
            warnings.warn(note, stacklevel=3)
        table = loaded.table
    return table if isinstance(table, Problem | Tabulation | Table) else as_table(table, rounding=rounding)


def problem_of_settings(settings: "TableSettings", place: "Workplace") -> tuple[Problem, bool]:
    """The table that settings name with what must stay uncertain, and whether it has counts."""
    from shoal.tables.table_to_protect import table_to_protect

    table = table_to_protect(settings, place)
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
