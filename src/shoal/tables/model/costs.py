"""What hiding a cell costs, by name; and figures of cells as they stand in a file."""

from pathlib import Path
from typing import Any

import numpy as np

from shoal.errors import InputError, unknown
from shoal.numbers import LARGEST

COSTS = ("value", "unity", "1", "contributors", "log")


def costs(name: str, values: np.ndarray, contributors: np.ndarray | None) -> np.ndarray:
    """The cost of hiding each cell, by name.

    >>> costs("log", np.array([0.0, 100.0]), None).round(3).tolist()
    [0.0, 4.615]
    """
    if name == "value":
        return np.abs(values)
    if name in ("unity", "1"):
        return np.ones(values.size)
    if name == "log":
        return np.log1p(np.abs(values))
    if name == "contributors":
        if contributors is None:
            raise InputError("cost 'contributors' needs the number of contributors of each cell")
        return contributors.astype(np.float64)
    if Path(name).suffix and not Path(name).is_file():
        raise InputError(
            f"cost '{name}' is neither a column of the data nor a file that is there; costs by name are {', '.join(COSTS)}"
        )
    raise unknown("cost", name, COSTS)


def missing(item: Any) -> bool:
    """Whether nothing was given; frames of pandas say NaN, NaT or NA then."""
    if isinstance(item, float):
        return bool(np.isnan(item))
    return item is None or type(item).__name__ in ("NaTType", "NAType") or str(item) == ""


def figure(item: Any, where: str) -> float:
    """A level or a cost from a file; the message never quotes it."""
    try:
        found = float(item)
    except (TypeError, ValueError):
        raise InputError(f"{where} must be numeric") from None
    if not 0.0 <= found <= LARGEST:
        raise InputError(f"{where} must have finite numbers of at least 0")
    return found
