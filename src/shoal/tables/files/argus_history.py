"""A-priori files of τ-ARGUS (``.hst``): what is said of single cells beforehand, one thing in each line.

A line has the codes of the cell, an empty one for a total, and then ``s`` (safe), ``u`` (sensitive) or ``p`` (always published),
``c`` with a cost, or ``pl`` with the lower and the upper protection level (τ-ARGUS manual, version 4.1, section 4.2).
"""

import csv
import io
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.errors import InputError
from shoal.tables.files.argus_metadata import text_of
from shoal.tables.model.table import TOTAL
from shoal.tables.problem import Problem

if TYPE_CHECKING:
    import polars as pl

_STATES = {"s": "s", "u": "u", "p": "z"}
_SEPARATORS = ",;\t|"


def read_history(path: Path, dimensions: Sequence[str]) -> "pl.DataFrame":
    """The cells of an a-priori file as ``apply_apriori`` takes them: coordinates, ``status``, ``lower``, ``upper``, ``cost``."""
    import polars as pl

    size = len(dimensions)
    found: dict[tuple[str, ...], dict[str, Any]] = {}
    for number, parts in parts_of(text_of(path), size):
        where = f"{path.name}, line {number}"
        if len(parts) <= size:
            raise InputError(
                f"{where}: {size} codes ({', '.join(dimensions)}) and what is said of the cell are needed; there are "
                f"{len(parts)} parts"
            )
        cell = found.setdefault(tuple(code or TOTAL for code in parts[:size]), {})
        cell |= _state_of(parts[size].lower(), parts[size + 1 :], where)
    columns: dict[str, Any] = {
        name: pl.Series([key[place] for key in found], dtype=pl.String)
        for place, name in enumerate(dimensions)
    }
    columns["status"] = pl.Series([cell.get("status") for cell in found.values()], dtype=pl.String)
    for name in ("lower", "upper", "cost"):
        columns[name] = pl.Series([cell.get(name) for cell in found.values()], dtype=pl.Float64)
    return pl.DataFrame(columns)


def parts_of(text: str, size: int = 1) -> Iterator[tuple[int, list[str]]]:
    """The number of each line that says something, and its parts; more than ``size`` of them are needed.

    >>> list(parts_of('"n"; "";u'))
    [(1, ['n', '', 'u'])]
    """
    lines = text.splitlines()
    separator = _separator(lines, size)
    for number, line in enumerate(lines, 1):
        if line.strip():
            read = next(csv.reader([line], delimiter=separator, skipinitialspace=True))
            yield number, [item.strip() for item in read]


def _separator(lines: Sequence[str], size: int) -> str:
    """What stands between the parts of the first line that has some."""
    first = next((line for line in lines if line.strip()), "")
    counts = {sign: len(next(csv.reader([first], delimiter=sign))) for sign in _SEPARATORS}
    return max(_SEPARATORS, key=lambda sign: (counts[sign] > size, counts[sign]))


def _state_of(word: str, rest: Sequence[str], where: str) -> dict[str, Any]:
    if word in _STATES:
        return {"status": _STATES[word]}
    try:
        if word == "c":
            return {"cost": _number(rest[0])}
        if word == "pl":
            return {"lower": _number(rest[0]), "upper": _number(rest[1])}
    except (ValueError, IndexError):
        wanted = "c with a cost" if word == "c" else "pl with the lower and the upper level"
        raise InputError(f"{where}: write {wanted}") from None
    raise InputError(
        f"{where}: '{word}' is not known; known are s (safe), u (sensitive), p (published), c (cost) and pl (levels)"
    )


def _number(text: str) -> float:
    found = float(text)
    if not np.isfinite(found) or found < 0:
        raise ValueError
    return found


def write_history(problem: Problem) -> str:
    """What a problem says of its cells as an a-priori file: states, levels, and costs other than the value.

    Empty cells that stay empty are left out: τ-ARGUS never hides them unasked.
    """
    table = problem.table
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    coordinates = table.coordinates()
    codes = [[str(coordinates[name][cell]) for name in table.dimensions] for cell in range(table.cells)]
    for cell, lower, upper in zip(problem.sensitive.tolist(), problem.lower, problem.upper, strict=True):
        writer.writerow([*codes[cell], "u"])
        writer.writerow([*codes[cell], "pl", _shown(lower), _shown(upper)])
    for cell in np.flatnonzero(~problem.candidates & ~problem.is_sensitive & (table.values != 0)).tolist():
        writer.writerow([*codes[cell], "p"])
    priced = ~np.isclose(problem.cost, np.abs(table.values), rtol=1e-12, atol=0.0) & problem.candidates
    for cell in np.flatnonzero(priced).tolist():
        writer.writerow([*codes[cell], "c", _shown(problem.cost[cell])])
    return text.getvalue()


def _shown(value: float) -> str:
    return repr(float(value)).removesuffix(".0")
