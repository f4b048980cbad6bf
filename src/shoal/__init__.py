"""Shoal: statistical disclosure control that proves how well it did.

The public functions are listed here and nothing else is; each is loaded when it is first used, so that
``import shoal`` stays quick.

>>> import shoal, polars as pl
>>> people = pl.DataFrame({"zip": [1, 1, 2, 2, 2], "sex": ["f", "f", "m", "m", "m"]})
>>> shoal.anonymity(people, quasi=["zip", "sex"]).k
2
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from shoal._version import __version__

# The package ``shoal.anonymity`` and the function share a name: importing the function here, and not when it is first
# used, lets it win whatever is imported later. It loads nothing heavy.
from shoal.anonymity.measure import anonymity
from shoal.anonymity.vector import AnonymityVector
from shoal.errors import Infeasible, InputError, ShoalError

if TYPE_CHECKING:
    from shoal.appointments.api import assign, assign_sizes
    from shoal.microdata.columns.roles import guess_roles
    from shoal.microdata.grouping.api import group_attributes
    from shoal.microdata.measures.api import compare
    from shoal.microdata.microaggregation.api import microaggregate
    from shoal.tables.api import audit, suppress
    from shoal.tables.model.tabulation import tabulate

_LAZY = {
    "audit": "shoal.tables.api",
    "assign": "shoal.appointments.api",
    "assign_sizes": "shoal.appointments.api",
    "compare": "shoal.microdata.measures.api",
    "group_attributes": "shoal.microdata.grouping.api",
    "guess_roles": "shoal.microdata.columns.roles",
    "microaggregate": "shoal.microdata.microaggregation.api",
    "suppress": "shoal.tables.api",
    "tabulate": "shoal.tables.model.tabulation",
}

__all__ = [
    "AnonymityVector",
    "Infeasible",
    "InputError",
    "ShoalError",
    "__version__",
    "anonymity",
    "assign",
    "assign_sizes",
    "audit",
    "compare",
    "group_attributes",
    "guess_roles",
    "microaggregate",
    "suppress",
    "tabulate",
]


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'shoal' has no attribute {name!r}")
    value = getattr(import_module(_LAZY[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(_LAZY))
