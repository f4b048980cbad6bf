"""Tables with totals: which further cells must be hidden, and the proof that it is enough."""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shoal.tables.api import Suppression, audit, suppress, tabulate

_LAZY = {
    "Suppression": "shoal.tables.api",
    "audit": "shoal.tables.api",
    "suppress": "shoal.tables.api",
    "tabulate": "shoal.tables.api",
}

__all__ = ["Suppression", "audit", "suppress", "tabulate"]


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'shoal.tables' has no attribute {name!r}")
    value = getattr(import_module(_LAZY[name]), name)
    # A submodule of the same name is bound by the import system; the function must win.
    globals()[name] = value
    return value
