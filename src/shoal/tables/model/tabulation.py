"""``shoal.tabulate``: from records to a table with totals, hierarchies and its sensitive cells."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import narwhals as nw
import numpy as np

from shoal.arguments import checked
from shoal.errors import InputError, parameter, unknown
from shoal.numbers import first_unusable
from shoal.report.glance import Glance
from shoal.sources.not_numbers import why_not_numeric
from shoal.tables.files.frames import as_frame, with_coordinates
from shoal.tables.model.costs import COSTS, costs, figure, missing
from shoal.tables.model.decimals import significant, units
from shoal.tables.model.rules import (
    Contributions,
    MinimumFrequency,
    PPercent,
    Rule,
    SumRule,
    concentration,
    parse_rule,
)
from shoal.tables.model.table import Table
from shoal.tables.model.trees import Tree, grow
from shoal.tables.problem import Problem

if TYPE_CHECKING:
    import polars as pl
    from narwhals.typing import IntoDataFrame

Zeros = Literal["published", "suppressible"]
LARGEST = 2_000_000
_COLUMNS = ("value", "contributors", "status", "lower", "upper", "cost", "kind")


@dataclass(frozen=True, eq=False, repr=False)
class Tabulation(Glance):
    """A table with its sensitive cells, levels and costs, and what is known of its contributors.

    ``status`` is ``s`` (may be hidden), ``u`` (sensitive) or ``z`` (always published) for each cell.
    """

    table: Table
    trees: Mapping[str, Tree]
    contributors: np.ndarray
    status: np.ndarray
    lower: np.ndarray
    upper: np.ndarray
    cost: np.ndarray
    by_rule: Mapping[str, int]
    rules: tuple[Rule, ...] = ()
    contributions: Contributions | None = None
    counts: bool = False

    def glance(self) -> dict[str, Any]:
        """The size of the table, and how many of its cells are sensitive."""
        return {
            "dimensions": tuple(self.table.dimensions),
            "cells": self.table.cells,
            "sensitive": int(self.sensitive.size),
            "rules": tuple(str(rule) for rule in self.rules),
        }

    @property
    def sensitive(self) -> np.ndarray:
        """The sensitive cells."""
        return np.flatnonzero(self.status == "u")

    def problem(self, *, insiders: bool = True, low: float = 0.0, high: float | None = None) -> Problem:
        """The suppression problem; with ``insiders`` sole contributors and sums are taken into account."""
        cells = self.sensitive
        room = np.maximum(self.table.values[cells] - low, 0.0)
        found = Problem.of(
            self.table,
            cells,
            lower=np.minimum(self.lower[cells], room),
            upper=self.upper[cells],
            cost=self.cost,
            candidates=self.status == "s",
            low=low,
            high=high,
        )
        if not insiders or self.contributions is None:
            return found
        sums = SumRule(self.contributions, self.rules, waived=self.waived)
        sole = self.sole_contributors()
        return found.with_changes(insiders=sole, conceded=self._beyond_help(found, sole), sums=sums)

    def _beyond_help(self, problem: Problem, sole: tuple[np.ndarray, ...]) -> tuple[np.ndarray, ...]:
        """For each sole contributor the sensitive cells it gives so much of that they cannot fall as far as they should.

        It knows that such a cell is at least its own part, whatever is hidden; how far the cell can rise stays protected.
        """
        contributions = self.contributions
        if contributions is None or not sole:
            return ()
        number = {
            int(contributions.contributor[contributions.starts[cells[0]]]): n for n, cells in enumerate(sole)
        }
        alone = contributions.counts == 1
        conceded: list[list[int]] = [[] for _ in sole]
        room = problem.down[problem.sensitive]
        # A width that the upper level alone does not give needs some room below as well.
        below = np.maximum(problem.lower, problem.required_width - problem.upper)
        for cell, space, level in zip(problem.sensitive.tolist(), room, below, strict=True):
            for entry in range(contributions.starts[cell], contributions.starts[cell + 1]):
                who = number.get(int(contributions.contributor[entry]))
                # Cells it is alone in it knows anyway.
                if who is None or alone[cell]:
                    continue
                if space - contributions.amount[entry] < level:
                    conceded[who].append(cell)
        return tuple(np.array(cells, dtype=np.int64) for cells in conceded)

    @property
    def waived(self) -> tuple[int, ...]:
        """Cells that a rule calls sensitive but that were declared not to be."""
        if self.contributions is None:
            return ()
        flagged = np.zeros(self.table.cells, dtype=bool)
        for rule in self.rules:
            flagged |= ~np.isnan(rule.level(self.contributions))
        return tuple(int(cell) for cell in np.flatnonzero(flagged & (self.status != "u")))

    def sole_contributors(self) -> tuple[np.ndarray, ...]:
        """The cells each sole contributor knows, for those that could be hidden."""
        contributions = self.contributions
        if contributions is None:
            return ()
        single = np.flatnonzero((contributions.counts == 1) & (self.status != "z"))
        who = contributions.contributor[contributions.starts[single]]
        order = np.argsort(who, kind="stable")
        single, who = single[order], who[order]
        cuts = np.flatnonzero(np.diff(who)) + 1
        return tuple(np.sort(part) for part in np.split(single, cuts) if part.size)

    @property
    def frame(self) -> "pl.DataFrame":
        """The list of cells: coordinates, value, contributors, status, levels and cost."""
        import polars as pl

        columns: dict[str, Any] = {name: [str(key) for key in keys] for name, keys in self.table.keys.items()}
        values = self.table.values
        columns["value"] = values.astype(np.int64) if self.counts else values
        columns["contributors"] = self.contributors
        columns["status"] = self.status.astype(str)
        known = self.status == "u"
        for name, levels in (("lower", significant(self.lower)), ("upper", significant(self.upper))):
            columns[name] = [float(x) if flag else None for x, flag in zip(levels, known, strict=True)]
        columns["cost"] = self.cost
        return pl.DataFrame(columns)


@checked
def tabulate(
    frame: "IntoDataFrame | str | Path",
    dimensions: Sequence[str],
    *,
    value: str | None = None,
    contributor: str | None = None,
    holding: str | None = None,
    weight: str | None = None,
    weights_public: bool = False,
    hierarchies: Mapping[str, Mapping[str, str] | str | Path] | None = None,
    rules: Sequence[str | Rule] | None = None,
    apriori: "IntoDataFrame | None" = None,
    zeros: Zeros = "published",
    cost: str = "value",
) -> Tabulation:
    """Build a table of sums or counts with all its totals from records, and find its sensitive cells by rule.

    Parameters
    ----------
    frame : DataFrame or path
        The records: a frame of pandas, Polars, Arrow or any other that Narwhals knows, or the path of a file.
    dimensions : sequence of str
        The columns that span the table.
    value : str, optional
        The column that is summed; without it records are counted.
    contributor : str, optional
        The column that says who contributes; by default every record is a contributor.
    holding : str, optional
        The column of the group a contributor belongs to, which then counts as one.
    weight : str, optional
        The column of sampling weights: totals are weighted, contributions are not.
    weights_public : bool, default False
        Attackers know the weights, so that contributions count weighted, too.
    hierarchies : mapping of str to mapping or path, optional
        Subtotals of a dimension: ``{code: parent}`` with an empty parent directly below the total, or the path of a file
        ``code,parent`` or ``.hrc``.
    rules : sequence of str or Rule, optional
        When a cell is sensitive: ``"frequency(3)"``, ``"dominance(1,75)"``, ``"p-percent(10)"``, ``"pq(10,80)"``. By
        default fewer than 3 contributors, and for sums p % with p = 10.
    apriori : DataFrame, optional
        Cells by their coordinates with any of ``status``, ``lower``, ``upper`` and ``cost``, which overrule the rules.
    zeros : {"published", "suppressible"}, default "published"
        Whether empty cells may be hidden.
    cost : str, default "value"
        What hiding a cell costs: its ``"value"``, 1 (``"unity"``), its number of ``"contributors"``, the ``"log"`` of its
        value, or the sum of a column of the records.

    Returns
    -------
    Tabulation
        ``table``, ``status`` of each cell (``s`` may be hidden, ``u`` sensitive, ``z`` always published), ``by_rule``,
        levels and costs; ``frame`` is the list of cells. Internal.

    Raises
    ------
    InputError
        A column is missing, has gaps or is not numeric, a code is not in its hierarchy, a rule cannot be read, or the table
        would have too many cells.

    See Also
    --------
    suppress : hide further cells until the sensitive ones are safe.
    audit : what an attacker can compute from a table with hidden cells.

    References
    ----------
    - A. Hundepool and others, Handbook on Statistical Disclosure Control, 2nd edition, 2024 (rules for magnitude tables).

    Examples
    --------
    >>> import polars as pl
    >>> firms = pl.DataFrame({"region": ["n", "n", "s", "s", "s", "n"], "sector": ["a", "b", "a", "b", "b", "a"],
    ...                       "turnover": [90.0, 40, 30, 20, 10, 5]})
    >>> made = tabulate(firms, ["region", "sector"], value="turnover", rules=["frequency(2)"])
    >>> made.table.cells, len(made.sensitive)
    (9, 2)
    """
    data = as_frame(frame, "the data")
    if not dimensions:
        raise InputError("name at least one dimension")
    for name in dimensions:
        if list(dimensions).count(name) > 1:
            raise InputError(f"dimension '{name}' is named twice")
        if name in _COLUMNS:
            raise InputError(
                f"a dimension cannot be called '{name}': a list of cells has that column; rename it"
            )
    for name in [*dimensions, *(item for item in (value, contributor, holding, weight) if item)]:
        if name not in data.columns:
            raise unknown("column", name, data.columns, where="in the data")
    if len(data) == 0:
        raise InputError("there are no records")
    for name in hierarchies or {}:
        if name not in dimensions:
            raise unknown("dimension", name, dimensions, where="a dimension of the table")
    parents = {name: _hierarchy(name, given) for name, given in (hierarchies or {}).items()}
    chosen = tuple(parse_rule(rule) if isinstance(rule, str) else rule for rule in rules) if rules else None
    if chosen is None:
        chosen = (MinimumFrequency(3), PPercent(10.0)) if value else (MinimumFrequency(3),)
    leaf_codes, trees = _code(data, dimensions, parents)
    amounts = _numbers(data, value) if value else np.ones(len(data))
    weights = _numbers(data, weight) if weight else np.ones(len(data))
    if (weights < 0).any():
        raise InputError(f"column '{weight}' has negative weights")
    if concentration(chosen) and (amounts < 0).any():
        raise InputError(
            f"column '{value}' has negative contributions, for which concentration rules are not defined; "
            "use frequency(…) alone, or absolute values as a shadow variable"
        )
    who = _who(data, contributor, holding)
    table, size = cells_of(dimensions, trees)
    cells, records = _spread(leaf_codes, trees, dimensions, size)
    weighted = amounts * weights
    totals = _sums(cells, weighted, records, table.cells)
    counted = weighted if weights_public else amounts
    contributions = _contributions(cells, who, counted, records, totals)
    table = replace(table, values=totals)
    made = _classify(table, trees, contributions, chosen, zeros, counts=value is None and weight is None)
    if cost in data.columns and cost not in COSTS:
        prices = _numbers(data, cost)
        if (prices < 0).any():
            raise InputError(f"column '{cost}' has negative values; the cost of hiding a cell is at least 0")
        made = replace(made, cost=_sums(cells, prices, records, table.cells))
    else:
        made = replace(made, cost=costs(cost, made.table.values, made.contributors))
    return made if apriori is None else apply_apriori(made, apriori)


def _hierarchy(name: str, given: Any) -> Mapping[str, str]:
    if isinstance(given, str | Path):
        from shoal.tables.files.loading import read_hierarchy

        return read_hierarchy(str(given))
    if not isinstance(given, Mapping):
        raise InputError(
            f"the hierarchy of '{name}' must be {{code: parent}} or the path of a file, not {type(given).__name__}"
        )
    return given


def _code(
    data: "nw.DataFrame[Any]", dimensions: Sequence[str], hierarchies: Mapping[str, Mapping[str, str]]
) -> tuple[list[np.ndarray], dict[str, Tree]]:
    codes, trees = [], {}
    for name in dimensions:
        column = data[name]
        if column.null_count():
            raise InputError(f"dimension '{name}' has missing values; give them a code of their own")
        texts = np.array([str(item) for item in column.to_list()], dtype=object)
        tree = grow(name, sorted(set(texts)), hierarchies.get(name), records=texts.tolist())
        place = {code: index for index, code in enumerate(tree.codes)}
        codes.append(np.array([place[text] for text in texts], dtype=np.int64))
        trees[name] = tree
    return codes, trees


def _numbers(data: "nw.DataFrame[Any]", name: str) -> np.ndarray:
    column = data[name]
    try:
        if column.dtype.is_nested():
            raise TypeError
        values = np.array(column.to_list(), dtype=np.float64)
    except (TypeError, ValueError):
        raise InputError(f"column '{name}' is not numeric: {why_not_numeric(column)}") from None
    if np.isnan(values).any():
        raise InputError(f"column '{name}' has missing values")
    bad = first_unusable(values)
    if bad is not None:
        raise InputError(
            f"column '{name}' has a figure in record {bad + 1} that is too large to compute with"
        )
    return values


def _who(data: "nw.DataFrame[Any]", contributor: str | None, holding: str | None) -> np.ndarray:
    """A number for whom each record belongs to: its holding, else its contributor, else itself."""
    if contributor is None:
        own = [f"\0{place}" for place in range(len(data))]
    elif data[contributor].null_count():
        raise InputError(f"column '{contributor}' has missing values; every record needs its contributor")
    else:
        own = [f"\0{item}" for item in data[contributor].to_list()]
    if holding is not None:
        groups = data[holding].to_list()
        own = [name if missing(group) else str(group) for name, group in zip(own, groups, strict=True)]
    return np.unique(np.array(own), return_inverse=True)[1].reshape(-1)


def cells_of(dimensions: Sequence[str], trees: Mapping[str, Tree]) -> tuple[Table, tuple[int, ...]]:
    """The cells (every combination of codes) with all relations; values come later."""
    shape = tuple(trees[name].size for name in dimensions)
    count = int(np.prod(shape, dtype=np.float64))
    if count > LARGEST:
        raise InputError(f"the table would have {count:,} cells; take fewer dimensions or codes")
    index = np.arange(count).reshape(shape)
    # Deepest dimension first: relations of later ones at subtotals of earlier ones follow from the rest.
    order = sorted(range(len(dimensions)), key=lambda d: (-trees[dimensions[d]].depth, d))
    members: list[np.ndarray] = []
    signs: list[np.ndarray] = []
    lengths: list[int] = []
    basis: list[bool] = []
    for axis in range(len(dimensions)):
        tree = trees[dimensions[axis]]
        others = [range(size) if d != axis else (0,) for d, size in enumerate(shape)]
        earlier = order[: order.index(axis)]
        for spot in product(*others):
            leaf = all(trees[dimensions[d]].leaves[spot[d]] for d in earlier)
            place: list[Any] = list(spot)
            place[axis] = slice(None)
            line = index[tuple(place)]
            for parent, children in tree.children.items():
                members.append(np.concatenate([line[children], line[[parent]]]))
                signs.append(np.append(np.ones(len(children)), -1.0))
                lengths.append(len(children) + 1)
                basis.append(leaf)
    grids = np.meshgrid(*[np.array(trees[name].codes, dtype=object) for name in dimensions], indexing="ij")
    keys = {name: grid.ravel() for name, grid in zip(dimensions, grids, strict=True)}
    table = Table(
        np.zeros(count),
        np.concatenate([[0], np.cumsum(lengths)]),
        np.concatenate(members),
        np.concatenate(signs),
        keys,
        basis=np.array(basis),
    )
    return table, shape


def _spread(
    leaf_codes: list[np.ndarray], trees: Mapping[str, Tree], dimensions: Sequence[str], shape: tuple[int, ...]
) -> tuple[np.ndarray, np.ndarray]:
    """Every record in every cell that contains it: cells and records, one entry each."""
    records = np.arange(leaf_codes[0].size)
    cells = np.zeros(records.size, dtype=np.int64)
    for codes, name, size in zip(leaf_codes, dimensions, shape, strict=True):
        tree = trees[name]
        lineages = [tree.lineage(code) if tree.leaves[code] else [] for code in range(tree.size)]
        lengths = np.array([len(lineage) for lineage in lineages])
        starts = np.concatenate([[0], np.cumsum(lengths)])
        flat = np.array([code for lineage in lineages for code in lineage], dtype=np.int64)
        mine = codes[records]
        repeat = lengths[mine]
        offset = np.arange(repeat.sum()) - np.repeat(np.cumsum(repeat) - repeat, repeat)
        above = flat[np.repeat(starts[mine], repeat) + offset]
        cells = np.repeat(cells, repeat) * size + above
        records = np.repeat(records, repeat)
    return cells, records


def _sums(places: np.ndarray, amounts: np.ndarray, records: np.ndarray, count: int) -> np.ndarray:
    """The sum of the amounts of the records at each place."""
    whole, scale = units(amounts)
    found: np.ndarray = np.bincount(places, weights=whole[records], minlength=count) / scale
    return found


def _contributions(
    cells: np.ndarray, who: np.ndarray, amounts: np.ndarray, records: np.ndarray, totals: np.ndarray
) -> Contributions:
    many = int(who.max()) + 1
    pairs, inverse = np.unique(cells * many + who[records], return_inverse=True)
    amount = _sums(inverse.reshape(-1), amounts, records, pairs.size)
    cell, contributor = pairs // many, pairs % many
    return Contributions.of(cell, contributor, amount, totals)


def check_zeros(zeros: Any) -> None:
    """Refuse another word than the two there are."""
    if zeros not in ("published", "suppressible"):
        raise InputError(f"{parameter('zeros')} must be 'published' or 'suppressible', not '{zeros}'")


def _classify(
    table: Table,
    trees: Mapping[str, Tree],
    contributions: Contributions,
    rules: tuple[Rule, ...],
    zeros: Zeros,
    *,
    counts: bool,
) -> Tabulation:
    level = np.full(table.cells, np.nan)
    by_rule = {}
    for rule in rules:
        found = rule.level(contributions)
        by_rule[str(rule)] = int((~np.isnan(found)).sum())
        level = np.fmax(level, found)
    status = np.full(table.cells, "s", dtype=object)
    check_zeros(zeros)
    if zeros == "published":
        status[contributions.counts == 0] = "z"
    status[~np.isnan(level)] = "u"
    upper = np.nan_to_num(level)
    lower = np.minimum(upper, np.maximum(table.values, 0.0))
    return Tabulation(
        table,
        trees,
        contributions.counts,
        status,
        lower,
        upper,
        np.abs(table.values),
        by_rule,
        rules,
        contributions,
        counts,
    )


_WORDS = {"s": "s", "safe": "s", "u": "u", "unsafe": "u", "sensitive": "u", "z": "z", "published": "z"}


def apply_apriori(made: Tabulation, apriori: "IntoDataFrame") -> Tabulation:
    """Declare cells safe, sensitive or never hidden, and set their cost and levels, from a file of such cells.

    Columns: the dimensions, and any of ``status`` (s or safe, u or sensitive, z or published), ``lower``, ``upper``,
    ``cost``. A cell declared sensitive without levels must not be a point, no more.
    """
    data = as_frame(with_coordinates(apriori, made.table.dimensions), "the a-priori file")
    dimensions = made.table.dimensions
    for name in dimensions:
        if name not in data.columns:
            raise InputError(f"the a-priori file lacks the column '{name}'")
    status, lower, upper, cost = made.status.copy(), made.lower.copy(), made.upper.copy(), made.cost.copy()
    for number, row in enumerate(data.iter_rows(named=True), start=1):
        coordinates = [str(row[name]) for name in dimensions]
        cell = made.table.find(*coordinates, where=f"of record {number} of the a-priori file")
        word = "" if missing(row.get("status")) else str(row["status"]).strip().lower()
        if word and word not in _WORDS:
            raise InputError(
                f"the status of record {number} of the a-priori file is unknown; known are s (safe), u (sensitive) "
                "and z (published)"
            )
        status[cell] = _WORDS.get(word, status[cell])
        for name, array in (("lower", lower), ("upper", upper), ("cost", cost)):
            if missing(row.get(name)):
                continue
            array[cell] = figure(row[name], f"column '{name}' of the a-priori file")
    return replace(made, status=status, lower=lower, upper=upper, cost=cost)
