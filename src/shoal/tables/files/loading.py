"""Tables in files: a matrix, a list of cells with its structure beside it, or a ``jj`` file."""

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.errors import InputError, first_record
from shoal.numbers import LARGEST, first_unusable
from shoal.remarks import Remark, note, warning
from shoal.sources.address import beside
from shoal.sources.internal import COLUMN, WORD
from shoal.tables.as_problem import as_table
from shoal.tables.files import jj
from shoal.tables.model.cells import cells_of
from shoal.tables.model.contributions import Aggregates, Contributions, Known
from shoal.tables.model.figures import FIGURE, figure_tree, stacked_table
from shoal.tables.model.rows_of_cells import WITHOUT_RULE, unseen
from shoal.tables.model.rules import parse_rule
from shoal.tables.model.table import TOTAL, Table
from shoal.tables.model.tabulated import Tabulation
from shoal.tables.model.trees import grow
from shoal.tables.problem import Problem

if TYPE_CHECKING:
    import polars as pl

    from shoal.sources import Data


@dataclass(frozen=True)
class Loaded:
    """A table as it was read; ``hidden`` are the cells a ``jj`` file marks as hidden already."""

    table: Problem | Tabulation | Table
    hidden: np.ndarray | None = None
    remarks: tuple[Remark, ...] = ()


def is_jj(path: str) -> bool:
    """Whether a path names a ``jj`` file."""
    return path.endswith((".jj", ".jj.gz"))


def load(path: str, *, rounding: float | None = None, tolerance: float | None = None) -> Loaded:
    """Read a table from a ``jj`` file, a list of cells or a matrix."""
    if is_jj(path):
        return load_general(Path(path), rounding=rounding, tolerance=tolerance)
    from shoal import sources

    data = sources.read(path)
    if is_list_of_cells(data.frame):
        found = load_cells(data.as_written, path, rounding=rounding, tolerance=tolerance)
        return replace(found, remarks=(*_of_reading(data), *found.remarks))
    table = as_table(data.as_written, rounding=rounding, tolerance=tolerance)
    return Loaded(table, remarks=_of_reading(data))


def _of_reading(data: "Data") -> tuple[Remark, ...]:
    """What the reader of files says of a file."""
    return (
        *(note("reading", text) for text in data.notes),
        *(warning("reading", text) for text in data.warnings),
    )


def load_general(path: Path, *, rounding: float | None = None, tolerance: float | None = None) -> Loaded:
    """A ``jj`` file: the whole problem, and the cells it marks as hidden."""
    contents = jj.read(path)
    contents.problem.table.check(rounding=rounding, tolerance=tolerance)
    return Loaded(contents.problem, hidden=contents.hidden)


def is_list_of_cells(frame: "pl.DataFrame") -> bool:
    """Whether a frame looks like what ``tabulate`` writes."""
    return {"value", "status"} <= set(frame.columns)


def load_cells(
    frame: "pl.DataFrame", path: str, *, rounding: float | None = None, tolerance: float | None = None
) -> Loaded:
    """A list of cells with what lies beside its file."""
    from shoal import sources

    plan, shares = beside(path, "structure.json"), beside(path, "contributions.csv")
    made = read_cells(
        frame,
        _read_structure(plan) if plan.exists() else {},
        sources.read_list(str(shares)).as_written if shares.exists() else None,
        shares.name,
        rounding=rounding,
        tolerance=tolerance,
    )
    return Loaded(made, remarks=(*without_contributors(made, f"{shares.name} is"), *unseen(made)))


def without_contributors(tabulation: Tabulation, missing: str) -> tuple[Remark, ...]:
    """What is to be warned of where rules would need contributors; ``missing`` begins with who lacks."""
    text = f"{missing} not there: contributors are unknown, so insiders are not protected against"
    return (
        (warning("unknown-contributors", text),)
        if tabulation.rules and tabulation.contributions is None
        else ()
    )


def structure(tabulation: Tabulation) -> str:
    """Dimensions, hierarchies and rules of a table as JSON text."""
    hierarchies = {
        name: {
            code: "" if tree.parent[place] == 0 else tree.codes[tree.parent[place]]
            for place, code in enumerate(tree.codes)
            if place
        }
        for name, tree in tabulation.trees.items()
        if tree.depth > 1
    }
    content = {
        "dimensions": list(tabulation.table.dimensions),
        "hierarchies": hierarchies,
        "rules": [str(rule) for rule in tabulation.rules],
        "by_rule": dict(tabulation.by_rule),
        "counts": tabulation.counts,
        **({"aggregated": True} if tabulation.aggregated else {}),
        **({"no_rule": True} if tabulation.without_rule else {}),
        **({"totals": dict(tabulation.table.totals)} if tabulation.table.totals else {}),
        **({"figures": tabulation.trees[FIGURE].codes[1:]} if FIGURE in tabulation.trees else {}),
        **({} if tabulation.largest_told is None else {"largest_told": tabulation.largest_told}),
        COLUMN: WORD,
    }
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"


def contributions_frame(tabulation: Tabulation) -> "pl.DataFrame":
    """Who contributes how much to which cell (numbered from 0), under numbers instead of names. Internal.

    Of a ready-made table it is the number of contributors of each cell and the largest contributions.
    """
    import polars as pl

    found = tabulation.contributions
    if isinstance(found, Aggregates):
        tops = {f"largest_{place}": row for place, row in enumerate(found.tops, 1)}
        return pl.DataFrame({"cell": np.arange(tabulation.table.cells), "contributors": found.counts, **tops})
    if not isinstance(found, Contributions):
        raise InputError("this table has no contributors")
    return pl.DataFrame(
        {
            "cell": np.repeat(np.arange(tabulation.table.cells), found.counts),
            "contributor": found.contributor,
            "amount": found.amount,
        }
    )


def read_cells(
    frame: "pl.DataFrame",
    plan: Mapping[str, Any],
    shares: "pl.DataFrame | None",
    name: str,
    *,
    rounding: float | None = None,
    tolerance: float | None = None,
) -> Tabulation:
    """A table from its list of cells, its ``plan`` (hierarchies, rules) and who contributes which share; ``name`` is theirs."""
    names = frame.columns
    dimensions = plan.get("dimensions") or names[: names.index("value")]
    if not dimensions:
        raise InputError("the list of cells has no dimension: they stand before the column 'value'")
    for dimension in dimensions:
        if dimension not in names:
            raise InputError(f"the list of cells lacks the dimension '{dimension}'")
    hierarchies = plan.get("hierarchies", {})
    trees = {}
    totals = plan.get("totals", {})
    texts = {
        dimension: [TOTAL if str(item) == totals.get(dimension) else str(item) for item in frame[dimension]]
        for dimension in dimensions
    }
    figures = [str(figure) for figure in plan.get("figures", [])]
    for dimension, records in texts.items():
        if figures and dimension == FIGURE:
            continue
        inner = {parent for parent in hierarchies.get(dimension, {}).values() if parent}
        leaves = sorted(set(records) - {"total"} - inner)
        trees[dimension] = grow(dimension, leaves, hierarchies.get(dimension), records=records)
    table, _ = cells_of([dimension for dimension in dimensions if dimension in trees], trees)
    if figures:
        table = stacked_table(table, figures, np.zeros(len(figures) * table.cells))
        trees = {FIGURE: figure_tree(figures), **trees}
    found = [
        table.find(*key, where=f"of record {number} of the list of cells")
        for number, key in enumerate(zip(*(texts[name] for name in dimensions), strict=True), start=1)
    ]
    where = np.array(found, dtype=np.int64)
    if np.unique(where).size != where.size:
        _, firsts = np.unique(where, return_index=True)
        again = np.setdiff1d(np.arange(where.size), firsts)
        raise InputError(
            f"a cell is listed twice: the second time in {first_record(again)} of the list of cells"
        )

    def spread(name: str, default: float) -> np.ndarray:
        found = np.full(table.cells, default)
        if name in names:
            found[where] = [
                default if item is None else _figure(item, name, row)
                for row, item in enumerate(frame[name].to_list(), 1)
            ]
        return found

    values = spread("value", 0.0)
    status = np.full(table.cells, "z", dtype=object)
    status[where] = [str(item) for item in frame["status"].to_list()]
    odd = np.flatnonzero(~np.isin(status[where].astype(str), ("s", "u", "z", "m")))
    if odd.size:
        raise InputError(
            f"the status of {first_record(odd)} of the list of cells is unknown; known are s, u and z"
        )
    status[status == "m"] = "s"
    numbers = np.zeros(table.cells, dtype=np.int64)
    numbers[where] = np.arange(1, where.size + 1)
    table = replace(table, values=values, numbers=numbers, totals=totals)
    table.check(rounding=rounding, tolerance=tolerance)
    rules = tuple(parse_rule(text) for text in plan.get("rules", []))
    counts = bool(plan.get("counts", False))
    contributors = spread("contributors", 0.0).astype(np.int64)
    told = plan.get("largest_told")
    contributions: Known | None = None
    if shares is not None and plan.get("aggregated"):
        contributions = _read_aggregates(shares, name, where, table, contributors)
    elif shares is not None:
        contributions = _read_contributions(shares, name, where, table, contributors, told)
    cost = spread("cost", np.nan)
    return Tabulation(
        table,
        trees,
        contributors,
        status,
        spread("lower", 0.0),
        spread("upper", 0.0),
        np.where(np.isnan(cost), np.abs(values), cost),
        plan.get("by_rule", {}),
        rules,
        contributions,
        counts,
        bool(plan.get("aggregated", False)),
        largest_told=told,
        remarks=(WITHOUT_RULE,) if plan.get("no_rule") else (),
    )


def _figure(item: Any, name: str, row: int) -> float:
    try:
        found = float(item)
    except (TypeError, ValueError):
        found = math.nan
    most = 2**53 if name == "contributors" else LARGEST
    if not abs(found) <= most or (found < 0 and name != "value"):
        least = "" if name == "value" else " of at least 0"
        raise InputError(f"column '{name}' of the list of cells must be a finite number{least} in row {row}")
    return found


def _read_structure(path: Path) -> dict[str, Any]:
    """What lies beside a list of cells, if it is what ``structure`` writes."""
    damaged = f"{path.name} is damaged; run tabulate again"
    try:
        plan = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError):
        raise InputError(f"{path.name} is not readable as JSON") from None
    kinds = {
        "dimensions": list,
        "hierarchies": dict,
        "rules": list,
        "by_rule": dict,
        "counts": bool,
        "aggregated": bool,
        "no_rule": bool,
        "totals": dict,
        "figures": list,
    }
    if isinstance(plan, dict) and plan.get("largest_told") is not None:
        kinds["largest_told"] = int
    if not isinstance(plan, dict) or any(
        not isinstance(plan.get(name, kind()), kind) for name, kind in kinds.items()
    ):
        raise InputError(damaged)
    texts = [*plan.get("dimensions", ()), *plan.get("rules", ()), *plan.get("totals", {}).values()]
    for tree in plan.get("hierarchies", {}).values():
        texts += [*tree.values()] if isinstance(tree, dict) else [tree]
    counts = plan.get("by_rule", {}).values()
    if not all(isinstance(item, str) for item in texts) or not all(type(count) is int for count in counts):
        raise InputError(damaged)
    return plan


def _stale(name: str) -> InputError:
    return InputError(
        f"{name} does not fit the list of cells (was one of them sorted or cut?); run tabulate again"
    )


def _read_aggregates(
    frame: "pl.DataFrame", name: str, where: np.ndarray, table: Table, contributors: np.ndarray
) -> Aggregates:
    tops = sorted(
        (column for column in frame.columns if column.startswith("largest_")), key=lambda c: (len(c), c)
    )
    wanted = ["cell", "contributors", *tops]
    if not {"cell", "contributors"} <= set(frame.columns) or frame.height != where.size:
        raise _stale(name)
    if any(not frame[column].dtype.is_numeric() or frame[column].null_count() for column in wanted):
        raise _stale(name)
    if frame["cell"].to_list() != list(range(where.size)):
        raise _stale(name)
    counts = np.zeros(table.cells, dtype=np.int64)
    counts[where] = frame["contributors"].to_numpy()
    if (counts != contributors).any():
        raise _stale(name)
    found = np.zeros((len(tops), table.cells))
    for place, column in enumerate(tops):
        found[place, where] = frame[column].to_numpy()
    if first_unusable(found.ravel()) is not None:
        raise _stale(name)
    return Aggregates(counts, found, table.values)


def _read_contributions(
    frame: "pl.DataFrame",
    name: str,
    where: np.ndarray,
    table: Table,
    contributors: np.ndarray,
    largest_told: int | None,
) -> Contributions:
    stale = _stale(name)
    if not {"cell", "contributor", "amount"} <= set(frame.columns):
        raise stale
    if frame.null_count().sum_horizontal().sum() or not (
        frame["cell"].dtype.is_integer()
        and frame["contributor"].dtype.is_integer()
        and frame["amount"].dtype.is_numeric()
    ):
        raise stale
    row, contributor = (frame[name].to_numpy().astype(np.int64) for name in ("cell", "contributor"))
    amount = frame["amount"].to_numpy().astype(np.float64)
    outside = row.size and (row.min() < 0 or row.max() >= where.size)
    if outside or first_unusable(amount) is not None:
        raise stale
    found = Contributions.of(where[row], contributor, amount, table.values)
    lacking = found.counts < contributors
    if largest_told is not None:
        lacking &= found.counts < largest_told
    if (lacking | (found.counts > contributors)).any():
        raise stale
    return found
