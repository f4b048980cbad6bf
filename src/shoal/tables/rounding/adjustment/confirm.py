"""Whether a published file is an adjustment of the table that settings name, as somebody checks who was not there."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.operation import Workplace
from shoal.search.secrets import Secret
from shoal.tables.operations.products import layout_of
from shoal.tables.rounding.adjustment.api import posed
from shoal.tables.rounding.adjustment.settings import AdjustSettings
from shoal.tables.rounding.adjustment.solution import Adjustment
from shoal.tables.rounding.adjustment.verify import verify
from shoal.tables.rounding.changed_tables import figures_by_name
from shoal.tables.rounding.given import problem_of_settings

if TYPE_CHECKING:
    import polars as pl


def confirm(
    settings: AdjustSettings, place: Workplace, frame: "pl.DataFrame", stated: Mapping[str, Any]
) -> None:
    """Raise ``AssertionError`` unless the figures are such an adjustment, and cost what was stated."""
    protect, counts = problem_of_settings(settings, place)
    assert settings.secret is not None
    problem = posed(
        protect,
        Secret.read(Path(settings.secret)),
        spread=settings.spread,
        weights=settings.weights,
        keep_totals=settings.keep_totals,
        limit=settings.limit,
        whole=counts,
    )
    read = figures_by_name(problem.table, frame, layout_of(settings))
    cost = float(stated["cost"])
    verify(problem, Adjustment(value=cost, bound=stated["bound"], change=read - problem.table.values))
