"""A published table with changed figures as everybody sees it: how far each figure may be from the true one, by its method.

Rounded figures are less than so many bases away, perturbed counts at most the deviation. Of adjusted figures only the limit,
empty cells and kept totals are used; that sensitive cells were moved by at least their levels is an either-or, and left out.
"""

from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.operation import Workplace
from shoal.tables.files.public_files import public_part
from shoal.tables.model.table import Table
from shoal.tables.operations.products import layout_of
from shoal.tables.rounding.changed_tables import figures_by_name
from shoal.tables.rounding.table_to_change import problem_of_settings
from shoal.tables.safety.judging import Shown, required_of

if TYPE_CHECKING:
    import polars as pl

#: What is said where more could be known than was used.
LESS_THAN_ALL = "that adjusted cells were moved by at least their levels is not used, so more may be known"


def rounded(settings: Any, workplace: Workplace, frame: "pl.DataFrame", stated: Mapping[str, Any]) -> Shown:
    """A rounded table, less than so many bases away."""
    from shoal.tables.rounding.controlled_rounding.problem import RoundingProblem, are_whole

    protect, counts = problem_of_settings(settings, workplace)
    values, base = protect.table.values, float(settings.base)
    problem = RoundingProblem(
        protect, base, values / base, int(stated["steps"]), are_whole(base, values, counts=counts)
    )
    multiples = np.rint(figures_by_name(problem.table, frame, layout_of(settings)) / base)
    found = _with_bounds(problem.table, *problem.possible(multiples))
    return Shown(found, required_of(protect, protect.table.dimensions))


def perturbed(settings: Any, workplace: Workplace, frame: "pl.DataFrame", stated: Mapping[str, Any]) -> Shown:
    """Perturbed counts, at most the deviation away."""
    from shoal.tables.rounding.cell_keys.operation import run
    from shoal.tables.rounding.cell_keys.posterior import seen_by_others
    from shoal.tables.rounding.cell_keys.same_records import with_others

    made = run(settings, workplace).changed
    table = made.tabulation.table
    seen = np.rint(figures_by_name(table, frame, layout_of(settings))).astype(np.int64)
    # By the same attacker as the audit of the table itself: changes that nobody reckons with, and figures that differ.
    attack = with_others(seen_by_others(made.tabulation.problem(insiders=False), made.design, seen), seen)
    return Shown(_with_bounds(table, attack.low[: table.cells], attack.high[: table.cells]))


def adjusted(settings: Any, workplace: Workplace, frame: "pl.DataFrame", stated: Mapping[str, Any]) -> Shown:
    """An adjusted table, by its limit and by what stays."""
    protect, _ = problem_of_settings(settings, workplace)
    table = protect.table
    seen = figures_by_name(table, frame, layout_of(settings))
    low, high = protect.low.copy(), protect.high.copy()
    others = ~protect.is_sensitive
    if settings.limit is not None:
        ends = np.stack([seen / (1.0 + settings.limit), seen / (1.0 - settings.limit)])
        low[others] = np.maximum(low, ends.min(axis=0))[others]
        high[others] = np.minimum(high, ends.max(axis=0))[others]
    kept = others & ((seen == 0) | (settings.keep_totals & ~table.internal))
    low[kept] = high[kept] = seen[kept]
    return Shown(_with_bounds(table, low, high), required_of(protect, table.dimensions))


def _with_bounds(table: Table, low: np.ndarray, high: np.ndarray) -> Any:
    """The table as one of which no figure is shown, but between which ends each of them is."""
    plain = public_part(table, np.ones(table.cells, dtype=bool))
    return replace(
        plain, bounds=dict(zip(plain.cells, zip(low.tolist(), high.tolist(), strict=True), strict=True))
    )
