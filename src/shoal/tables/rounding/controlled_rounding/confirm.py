"""Whether a published file is a rounding of the table that settings name, as somebody checks who was not there."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.operation import Workplace
from shoal.search.secrets import Secret
from shoal.tables.operations.products import layout_of
from shoal.tables.rounding.changed_tables import figures_by_name
from shoal.tables.rounding.controlled_rounding.api import posed
from shoal.tables.rounding.controlled_rounding.settings import RoundSettings
from shoal.tables.rounding.controlled_rounding.solution import Rounding
from shoal.tables.rounding.controlled_rounding.verify import verify
from shoal.tables.rounding.given import problem_of_settings

if TYPE_CHECKING:
    import polars as pl


def confirm(
    settings: RoundSettings, place: Workplace, frame: "pl.DataFrame", stated: Mapping[str, Any]
) -> None:
    """Raise ``AssertionError`` unless the figures are such a rounding, and cost what was stated."""
    protect, counts = problem_of_settings(settings, place)
    assert settings.secret is not None
    secret = Secret.read(Path(settings.secret))
    problem = posed(
        protect, settings.base, settings.objective, secret, steps=int(stated["steps"]), counts=counts
    )
    read = figures_by_name(problem.table, frame, layout_of(settings))
    multiples = np.rint(read / problem.base).astype(np.int64)
    away = np.abs(read - multiples * problem.base).max()
    assert away <= 1e-9 * max(1.0, float(np.abs(read).max())), "a figure is no multiple of the base"
    cost = float(stated["cost"])
    verify(problem, Rounding(value=cost, bound=stated["bound"], multiples=multiples, cuts=0))
