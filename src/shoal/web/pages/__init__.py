"""The pages of the workbench."""

from collections.abc import Callable
from typing import Any

from shoal.web.pages import (
    appointments,
    change,
    compare,
    data,
    grouping,
    home,
    interface,
    perturb,
    recode,
    records,
    reports,
    risk,
    steps,
    studies,
    tables,
)
from shoal.web.workbench import Workbench


def register(workbench: Workbench, schema: Callable[[], dict[str, Any]]) -> None:
    """Make every page known; ``schema`` is the API's, for its page."""
    for page in (
        home,
        data,
        risk,
        recode,
        records,
        perturb,
        grouping,
        compare,
        tables,
        change,
        appointments,
        steps,
        studies,
        reports,
    ):
        page.register(workbench)
    interface.register(workbench, schema)
