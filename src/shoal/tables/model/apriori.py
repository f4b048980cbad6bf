"""What is known of cells beforehand: which are safe, sensitive or always published, and their costs and levels."""

from dataclasses import replace
from typing import TYPE_CHECKING

from shoal.errors import InputError
from shoal.tables.files.frames import as_list
from shoal.tables.model.costs import figure, missing
from shoal.tables.model.rules import manual_range, room_below
from shoal.tables.model.tabulated import Tabulation

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame

_WORDS = {
    "s": "s",
    "safe": "s",
    "u": "u",
    "unsafe": "u",
    "sensitive": "u",
    "z": "z",
    "published": "z",
    "p": "z",
}


def apply_apriori(tabulation: Tabulation, apriori: "IntoDataFrame") -> Tabulation:
    """Declare cells safe, sensitive or never hidden, and set their cost and levels, from a file of such cells.

    Columns: the dimensions, and any of ``status`` (s or safe, u or sensitive, z or p or published), ``lower``, ``upper``,
    ``cost``. A cell declared sensitive without levels keeps those that a rule gives it; else it is protected by a range in
    percent of its value, 20 or as the rule ``manual`` says.
    """
    dimensions = tabulation.table.dimensions
    data = as_list(apriori, dimensions, "the a-priori file")
    share = manual_range(tabulation.rules) / 100.0
    status, lower, upper, cost = (
        tabulation.status.copy(),
        tabulation.lower.copy(),
        tabulation.upper.copy(),
        tabulation.cost.copy(),
    )
    for number, row in enumerate(data.iter_rows(named=True), start=1):
        coordinates = [str(row[name]) for name in dimensions]
        cell = tabulation.table.find(*coordinates, where=f"of record {number} of the a-priori file")
        word = "" if missing(row.get("status")) else str(row["status"]).strip().lower()
        if word and word not in _WORDS:
            raise InputError(
                f"the status of record {number} of the a-priori file is unknown; known are s (safe), u (sensitive) "
                "and z (published)"
            )
        if _WORDS.get(word) == "u" and status[cell] != "u":
            upper[cell] = share * abs(tabulation.table.values[cell])
            lower[cell] = room_below(upper[cell], tabulation.table.values[cell])
        status[cell] = _WORDS.get(word, status[cell])
        for name, array in (("lower", lower), ("upper", upper), ("cost", cost)):
            if missing(row.get(name)):
                continue
            array[cell] = figure(row[name], f"column '{name}' of the a-priori file")
    return replace(tabulation, status=status, lower=lower, upper=upper, cost=cost)
