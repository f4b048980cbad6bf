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
from shoal.sources.address import beside
from shoal.sources.internal import COLUMN, WORD
from shoal.tables.files import jj
from shoal.tables.given import as_table
from shoal.tables.model.rules import Contributions, parse_rule
from shoal.tables.model.table import Table
from shoal.tables.model.tabulation import Tabulation, cells_of
from shoal.tables.model.trees import grow
from shoal.tables.problem import Problem

if TYPE_CHECKING:
    import polars as pl


@dataclass(frozen=True)
class Loaded:
    """A table as it was read; ``hidden`` are the cells a ``jj`` file marks as hidden already."""

    table: Problem | Tabulation | Table
    notes: tuple[str, ...] = ()
    hidden: np.ndarray | None = None
    warnings: tuple[str, ...] = ()


def is_jj(path: str) -> bool:
    """Whether a path names a ``jj`` file."""
    return path.endswith((".jj", ".jj.gz"))


def load(path: str, *, rounding: float | None = None) -> Loaded:
    """Read a table from a ``jj`` file, a list of cells or a matrix."""
    if is_jj(path):
        return load_general(Path(path), rounding=rounding)
    from shoal import sources

    data = sources.read(path)
    if is_list_of_cells(data.frame):
        found = load_cells(data.as_written, path, rounding=rounding)
        return replace(found, notes=data.notes, warnings=data.warnings + found.warnings)
    return Loaded(as_table(data.as_written, rounding=rounding), data.notes, warnings=data.warnings)


def load_general(path: Path, *, rounding: float | None = None) -> Loaded:
    """A ``jj`` file: the whole problem, and the cells it marks as hidden."""
    contents = jj.read(path)
    contents.problem.table.check(rounding=rounding)
    return Loaded(contents.problem, hidden=contents.hidden)


def is_list_of_cells(frame: "pl.DataFrame") -> bool:
    """Whether a frame looks like what ``tabulate`` writes."""
    return {"value", "status"} <= set(frame.columns)


def load_cells(frame: "pl.DataFrame", path: str, *, rounding: float | None = None) -> Loaded:
    """A list of cells with what lies beside its file."""
    from shoal import sources

    plan, shares = beside(path, "structure.json"), beside(path, "contributions.csv")
    made = read_cells(
        frame,
        _read_structure(plan) if plan.exists() else {},
        sources.read(str(shares)).as_written if shares.exists() else None,
        shares.name,
        rounding=rounding,
    )
    return Loaded(made, warnings=without_contributors(made, f"{shares.name} is"))


def without_contributors(made: Tabulation, missing: str) -> tuple[str, ...]:
    """What is to be warned of where rules would need contributors; ``missing`` begins with who lacks."""
    text = f"{missing} not there: contributors are unknown, so insiders are not protected against"
    return (text,) if made.rules and made.contributions is None else ()


def structure(made: Tabulation) -> str:
    """Dimensions, hierarchies and rules of a table as JSON text."""
    hierarchies = {
        name: {
            code: "" if tree.parent[place] == 0 else tree.codes[tree.parent[place]]
            for place, code in enumerate(tree.codes)
            if place
        }
        for name, tree in made.trees.items()
        if tree.depth > 1
    }
    content = {
        "dimensions": list(made.table.dimensions),
        "hierarchies": hierarchies,
        "rules": [str(rule) for rule in made.rules],
        "by_rule": dict(made.by_rule),
        "counts": made.counts,
        COLUMN: WORD,
    }
    return json.dumps(content, ensure_ascii=False, indent=1) + "\n"


def contributions_frame(made: Tabulation) -> "pl.DataFrame":
    """Who contributes how much to which cell (numbered from 0), under numbers instead of names. Internal."""
    import polars as pl

    found = made.contributions
    if found is None:
        raise InputError("this table has no contributors")
    return pl.DataFrame(
        {
            "cell": np.repeat(np.arange(made.table.cells), found.counts),
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
) -> Tabulation:
    """A table from its list of cells, its ``plan`` (hierarchies, rules) and who contributes which share; ``name`` is theirs."""
    names = frame.columns
    dimensions = plan.get("dimensions") or names[: names.index("value")]
    if not dimensions:
        raise InputError("the list of cells has no dimension: they stand before the column 'value'")
    for name in dimensions:
        if name not in names:
            raise InputError(f"the list of cells lacks the dimension '{name}'")
    hierarchies = plan.get("hierarchies", {})
    trees = {}
    texts = {name: [str(item) for item in frame[name].to_list()] for name in dimensions}
    for name, records in texts.items():
        inner = {parent for parent in hierarchies.get(name, {}).values() if parent}
        leaves = sorted(set(records) - {"total"} - inner)
        trees[name] = grow(name, leaves, hierarchies.get(name), records=records)
    table, _ = cells_of(dimensions, trees)
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
    table = replace(table, values=values, numbers=numbers)
    table.check(rounding=rounding)
    rules = tuple(parse_rule(text) for text in plan.get("rules", []))
    counts = bool(plan.get("counts", False))
    contributors = spread("contributors", 0.0).astype(np.int64)
    contributions = None if shares is None else _read_contributions(shares, name, where, table, contributors)
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
        contributions if rules else None,
        counts,
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
    except ValueError:
        raise InputError(f"{path.name} is not readable as JSON") from None
    kinds = {"dimensions": list, "hierarchies": dict, "rules": list, "by_rule": dict, "counts": bool}
    if not isinstance(plan, dict) or any(
        not isinstance(plan.get(name, kind()), kind) for name, kind in kinds.items()
    ):
        raise InputError(damaged)
    texts = [*plan.get("dimensions", ()), *plan.get("rules", ())]
    for tree in plan.get("hierarchies", {}).values():
        texts += [*tree.values()] if isinstance(tree, dict) else [tree]
    counts = plan.get("by_rule", {}).values()
    if not all(isinstance(item, str) for item in texts) or not all(type(count) is int for count in counts):
        raise InputError(damaged)
    return plan


def _read_contributions(
    frame: "pl.DataFrame", name: str, where: np.ndarray, table: Table, contributors: np.ndarray
) -> Contributions:
    stale = InputError(
        f"{name} does not fit the list of cells (was one of them sorted or cut?); run tabulate again"
    )
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
    if (found.counts != contributors).any():
        raise stale
    return found


def read_hierarchy(path: str) -> dict[str, str]:
    """A hierarchy from a file with the columns ``code`` and ``parent``, or from a τ-ARGUS ``.hrc`` file."""
    if path.endswith(".hrc"):
        return _read_hrc(Path(path))
    from shoal import sources

    return as_hierarchy(sources.read(path).as_written, Path(path).name)


def as_hierarchy(frame: "pl.DataFrame", source: str) -> dict[str, str]:
    """The parent of each code, from the columns ``code`` and ``parent``, or of two columns; a code has one parent."""
    if not {"code", "parent"} <= set(frame.columns):
        if len(frame.columns) != 2:
            raise InputError(f"the hierarchy {source} needs the columns 'code' and 'parent'")
        frame = frame.rename(dict(zip(frame.columns, ("code", "parent"), strict=True)))
    found: dict[str, str] = {}
    for row, (code, parent) in enumerate(frame.select("code", "parent").iter_rows(), 1):
        if code is None:
            raise InputError(f"the hierarchy {source} has no code in row {row}")
        above = "" if parent is None else str(parent)
        if found.setdefault(str(code), above) != above:
            raise InputError(f"the hierarchy {source} gives a code a second parent in row {row}")
    return found


def _read_hrc(path: Path) -> dict[str, str]:
    # One code per line, as many leading marks (usually @) as it is levels below the top.
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except OSError as error:
        raise InputError(f"cannot read {path}: {(error.strerror or 'error').lower()}") from None
    except UnicodeDecodeError:
        raise InputError(f"{path.name} is not a text in UTF-8") from None
    parents: list[str] = []
    found: dict[str, str] = {}
    for number, line in enumerate(lines, 1):
        code = line.strip().lstrip("@")
        if not code:
            continue
        depth = len(line.strip()) - len(code)
        if depth > len(parents):
            raise InputError(
                f"{path.name}, line {number}: the code is more than one level below the one before"
            )
        if code in found:
            raise InputError(f"{path.name}, line {number}: the code was there before")
        parents[depth:] = [code]
        found[code] = parents[depth - 1] if depth else ""
    return found
