"""A table whose hidden cells somebody changes by hand: built once as its run saw it, audited again and again."""

from dataclasses import replace
from typing import TYPE_CHECKING

from shoal.operation import Workplace
from shoal.runtime.observer import silent
from shoal.tables.api import audit
from shoal.tables.as_problem import primary_cells, read_pattern
from shoal.tables.model.table import Table
from shoal.tables.operations.audit import pattern_of
from shoal.tables.operations.suppress import problem_of
from shoal.tables.settings import AuditSettings, SuppressSettings, TableSettings, TabulateSettings
from shoal.tables.table_arguments import tells_nothing
from shoal.tables.table_to_protect import TableToProtect, table_to_protect

if TYPE_CHECKING:
    from shoal.runtime import Observer
    from shoal.tables.safety.audit import Audit


class TableByHand:
    """The problem of any run about a table, with the costs its search saw."""

    def __init__(self, settings: TableSettings, workplace: Workplace) -> None:
        priced = isinstance(settings, SuppressSettings | TabulateSettings)
        named = priced and not getattr(settings, "listed_costs", False)
        table = table_to_protect(settings, workplace, settings.cost if named else "value")  # type: ignore[attr-defined]
        self.counts = table.is_counts(settings)
        if isinstance(settings, SuppressSettings):
            self.problem = problem_of(settings, table, workplace)[0]
        else:
            if isinstance(settings, AuditSettings):
                table = _with_primaries(settings, table, workplace)
            self.problem = table.problem(settings)

    def judge(self, cells: list[int], observer: "Observer" = silent) -> "Audit":
        """The audit of hiding exactly these cells."""
        names = [tuple(self.problem.table.key(cell).values()) for cell in cells]
        return audit(self.problem, names, counts=self.counts, observer=observer)


def _with_primaries(settings: AuditSettings, table: TableToProtect, workplace: Workplace) -> TableToProtect:
    """The primary cells of the pattern are sensitive if nobody named any and the table tells nothing of it."""
    made = table.tabulation
    told = not isinstance(table.table, Table) and (made is None or not tells_nothing(made))
    if table.sensitive is not None or told:
        return table
    pattern = read_pattern(table.base, pattern_of(settings, table, workplace))
    return replace(table, sensitive=primary_cells(table.base, *pattern))
