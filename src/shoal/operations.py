"""Every operation in one list: what command line, workbench, REST and plans are made from.

>>> OPERATIONS["anonymity"].summary
'Report K, the class sizes and the anonymity vector.'
"""

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from shoal.errors import unknown
from shoal.import_paths import load

if TYPE_CHECKING:
    from shoal.operation import Operation


class Operations(Mapping[str, "Operation"]):
    """Operations by name, each loaded when it is first asked for."""

    def __init__(self, paths: Mapping[str, str]) -> None:
        self._paths = paths

    def __getitem__(self, name: str) -> "Operation":
        if name not in self._paths:
            raise unknown("operation", name, self._paths)
        operation: Operation = load(f"{self._paths[name]}:OPERATION")
        return operation

    def __iter__(self) -> Iterator[str]:
        return iter(self._paths)

    def __len__(self) -> int:
        return len(self._paths)

    def __contains__(self, name: object) -> bool:
        return name in self._paths


OPERATIONS = Operations(
    {
        "anonymity": "shoal.microdata.anonymity.operation",
        "risk": "shoal.microdata.risk.operation",
        "recode": "shoal.microdata.recoding.operation",
        "microaggregate": "shoal.microdata.microaggregation.operation",
        "perturb": "shoal.microdata.perturbation.operation",
        "compare": "shoal.microdata.measures.operation",
        "group": "shoal.microdata.grouping.operation",
        "hierarchy": "shoal.microdata.columns.hierarchies.operation",
        "assign": "shoal.appointments.operation",
        "tabulate": "shoal.tables.operations.tabulate",
        "suppress": "shoal.tables.operations.suppress",
        "audit": "shoal.tables.operations.audit",
        "round": "shoal.tables.rounding.controlled_rounding.operation",
        "adjust": "shoal.tables.rounding.adjustment.operation",
        "perturb-table": "shoal.tables.rounding.cell_keys.operation",
    }
)
