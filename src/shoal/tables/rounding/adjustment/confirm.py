"""Whether a published file is an adjustment of the table that settings name, as somebody checks who was not there."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.operation import Workplace
from shoal.runtime.secrets import Secret
from shoal.tables.operations.products import layout_of
from shoal.tables.rounding.adjustment.api import AdjustedTable, audited, describe_attacker, doubtful, posed
from shoal.tables.rounding.adjustment.settings import AdjustSettings
from shoal.tables.rounding.adjustment.solution import Adjustment
from shoal.tables.rounding.adjustment.verify import verify
from shoal.tables.rounding.changed_result import without_search
from shoal.tables.rounding.changed_tables import figures_by_name
from shoal.tables.rounding.table_to_change import problem_of_settings

if TYPE_CHECKING:
    import polars as pl


def confirm(
    settings: AdjustSettings, workplace: Workplace, frame: "pl.DataFrame", stated: Mapping[str, Any]
) -> dict[str, Any]:
    """All figures but those of the search, computed again; ``AssertionError`` unless it is such an adjustment, and costs that."""
    protect, counts = problem_of_settings(settings, workplace)
    assert settings.secret is not None
    secret = Secret.read(Path(settings.secret))
    problem = posed(
        protect,
        secret,
        spread=settings.spread,
        weights=settings.weights,
        keep_totals=settings.keep_totals,
        limit=settings.limit,
        whole=counts,
    )
    read = figures_by_name(problem.table, frame, layout_of(settings))
    cost = float(stated["cost"])
    found = Adjustment(value=cost, bound=stated["bound"], change=read - problem.table.values)
    verify(problem, found)
    return without_search(
        AdjustedTable(
            problem,
            found,
            audited(problem, found.change),
            settings.method,
            settings.weights,
            describe_attacker(problem),
            secret,
            doubtful(problem, found.change),
        ).to_dict()
    )
