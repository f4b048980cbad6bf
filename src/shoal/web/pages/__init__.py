"""The pages of the workbench."""

from shoal.web.pages import appointments, compare, data, grouping, home, records, reports, risk, tables
from shoal.web.workbench import Workbench


def register(workbench: Workbench) -> None:
    """Make every page known."""
    for page in (home, data, risk, records, grouping, compare, tables, appointments, reports):
        page.register(workbench)
