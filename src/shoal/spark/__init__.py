"""The operations on a cluster: Spark DataFrames in, Spark DataFrames out, with the names and results of one machine.

Each function is loaded when it is first used; PySpark comes with the extra ``spark``.
"""

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shoal.spark.anonymity import anonymity
    from shoal.spark.compare import compare
    from shoal.spark.microaggregate import microaggregate
    from shoal.spark.recode import recode
    from shoal.spark.tabulate import tabulate

_LAZY = {
    "anonymity": "shoal.spark.anonymity",
    "compare": "shoal.spark.compare",
    "microaggregate": "shoal.spark.microaggregate",
    "recode": "shoal.spark.recode",
    "tabulate": "shoal.spark.tabulate",
}

__all__ = ["anonymity", "compare", "microaggregate", "recode", "tabulate"]


class _Package(type(sys)):  # type: ignore[misc]
    """A package whose functions stand before its modules of the same name, whichever of these is imported first."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in _LAZY or not isinstance(value, type(sys)):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module 'shoal.spark' has no attribute {name!r}")
    value = getattr(import_module(_LAZY[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(set(globals()) | set(_LAZY))
