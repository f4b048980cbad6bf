"""What a step that hides cells says of its table: the cells, which are sensitive, and what each of them needs."""

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shoal.release.plan.plan import Step, settings_model
from shoal.release.plan.workplace import PlanWorkplace
from shoal.settings import checked

if TYPE_CHECKING:
    from shoal.tables.problem import Problem
    from shoal.tables.table_to_protect import TableToProtect


def claimed_table(step: Step, values: Mapping[str, Any], folder: Path) -> "TableToProtect":
    """The table before anything was hidden, read again; ``values`` are the settings with places in the stead of names."""
    from shoal.tables.table_to_protect import table_to_protect

    settings: Any = checked(settings_model(step.do), values)
    return table_to_protect(settings, PlanWorkplace(folder, {}))


def claimed_problem(step: Step, values: Mapping[str, Any], folder: Path) -> "Problem":
    """What had to be protected in it, and from whom."""
    settings: Any = checked(settings_model(step.do), values)
    return claimed_table(step, values, folder).problem(settings)
