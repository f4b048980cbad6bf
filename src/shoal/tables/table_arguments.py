"""Records and ready-made tables given in place of a table, with what says how they become one."""

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict

import numpy as np

from shoal.errors import InputError, parameter
from shoal.remarks import Remark
from shoal.tables.model.columns import Missing
from shoal.tables.model.rows_of_cells import WITHOUT_RULE, unseen
from shoal.tables.model.rules import Rule
from shoal.tables.model.table import Table
from shoal.tables.model.tabulated import Tabulation, Zeros
from shoal.tables.model.tabulation import Source, needs_metadata, tabulate
from shoal.tables.problem import Problem

if TYPE_CHECKING:
    from narwhals.typing import IntoDataFrame


class RowArguments(TypedDict, total=False):
    """What the rows of a frame are, by the names that ``tabulate`` has for it."""

    dimensions: Sequence[str]
    value: str | None
    rules: Sequence[str | Rule] | None
    source: Source | None
    missing: Missing
    contributor: str | None
    holding: str | None
    weight: str | None
    weights_public: bool
    contributors_column: str | None
    largest_columns: Sequence[str]
    status_column: str | None
    level_columns: Sequence[str]
    apriori: "IntoDataFrame | None"
    further_values: Sequence[str]
    shadow: bool
    metadata: str | Path | None


class Building(RowArguments, total=False):
    """The same with the names of totals, and with subtotals."""

    hierarchies: "Mapping[str, Mapping[str, str] | IntoDataFrame | str | Path] | None"
    total: str | Sequence[str] | Mapping[str, str] | None


@dataclass(frozen=True)
class TableArgument:
    """A table, whatever it was given as; ``hidden`` are the cells that it marks as hidden itself, where it does.

    One that was ``built`` has the costs that were asked for.
    """

    table: Any
    hidden: np.ndarray | None = None
    built: bool = False


def table_argument(
    table: Any,
    building: Mapping[str, Any],
    *,
    rounding: float | None,
    tolerance: float | None = None,
    zeros: Zeros = "published",
    cost: str = "value",
) -> TableArgument:
    """The table of rows whose dimensions are named, or in a file if a path was given.

    What the command line would remark on is a warning here; arrays and frames without dimensions stay what they are.
    """
    table, said, own = with_metadata(table, building)
    if cost == "value":
        cost = own or cost
    if "dimensions" in said:
        if isinstance(table, Problem | Tabulation | Table | np.ndarray | list):
            raise InputError(
                f"{parameter('dimensions')} is for records and ready-made tables, which are frames or files, not "
                f"{type(table).__name__}"
            )
        made = tabulate(table, **said, zeros=zeros, rounding=rounding, tolerance=tolerance, cost=cost)
        remark(unseen(made))
        return TableArgument(made, made.hidden, built=True)
    for name in said:
        raise InputError(
            f"{parameter(name)} is for records and ready-made tables: name their {parameter('dimensions')}, too"
        )
    if not isinstance(table, str | Path):
        return TableArgument(table)
    from shoal.tables.files.loading import load

    loaded = load(str(table), rounding=rounding, tolerance=tolerance)
    remark(loaded.remarks)
    return TableArgument(loaded.table, loaded.hidden)


def with_metadata(table: Any, building: Mapping[str, Any]) -> tuple[Any, dict[str, Any], str | None]:
    """The rows and all that is said of them, also by metadata of τ-ARGUS, and the column of costs that these name."""
    said = {name: value for name, value in building.items() if not _nothing(value)}
    if "metadata" not in said and not needs_metadata(table):
        return table, said, None
    from shoal.tables.files.argus_described import rows_described

    found = rows_described(table, said)
    return (
        found.frame,
        {name: value for name, value in found.with_options(said).items() if not _nothing(value)},
        found.cost,
    )


def tells_nothing(tabulation: Tabulation) -> bool:
    """Whether nothing in a ready-made table or said of it tells which cells are sensitive."""
    return tabulation.without_rule and not tabulation.sensitive.size


def refuse_without_rule(tabulation: Tabulation | None, problem: Problem) -> None:
    """A ready-made table of which nothing tells what is sensitive looks safe, and is not."""
    if tabulation is not None and tabulation.without_rule and not problem.sensitive.size:
        raise InputError(
            f"{WITHOUT_RULE.text}; name {parameter('contributors_column')}, {parameter('largest_columns')} or "
            f"{parameter('status_column')}, or say which cells are sensitive"
        )


def _nothing(value: Any) -> bool:
    return value is None or value is False or (isinstance(value, list | tuple | dict) and not value)


def remark(remarks: Sequence[Remark]) -> None:
    """What the command line would print is a warning of Python."""
    for item in remarks:
        # The caller of the public function, behind what checks its arguments.
        warnings.warn(item.text, stacklevel=5)
