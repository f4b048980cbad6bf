"""Whether a published file is a rounding of the table that settings name, as somebody checks who was not there."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.operation import Workplace
from shoal.runtime.secrets import Secret
from shoal.tables.operations.products import layout_of
from shoal.tables.rounding.changed_result import without_search
from shoal.tables.rounding.changed_tables import figures_by_name
from shoal.tables.rounding.controlled_rounding.api import RoundedTable, audited, describe_attacker, posed
from shoal.tables.rounding.controlled_rounding.settings import RoundSettings
from shoal.tables.rounding.controlled_rounding.solution import Rounding
from shoal.tables.rounding.controlled_rounding.verify import verify
from shoal.tables.rounding.table_to_change import problem_of_settings

if TYPE_CHECKING:
    import polars as pl


def confirm(
    settings: RoundSettings, workplace: Workplace, frame: "pl.DataFrame", stated: Mapping[str, Any]
) -> dict[str, Any]:
    """All figures but those of the search, computed again; ``AssertionError`` unless it is such a rounding, and costs that."""
    protect, counts = problem_of_settings(settings, workplace)
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
    found = Rounding(value=cost, bound=stated["bound"], multiples=multiples, cuts=0)
    verify(problem, found)
    again = RoundedTable(
        problem,
        found,
        audited(problem, multiples),
        settings.method,
        settings.objective,
        describe_attacker(problem, settings.objective),
        secret,
        widened=problem.steps > 1 and settings.steps is None,
    ).to_dict()
    # Without a wish for them the search found how many steps it takes.
    return without_search(again, *([] if settings.steps is not None else ["steps"]))
