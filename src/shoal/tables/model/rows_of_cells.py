"""Ready-made tables: rows that are cells, totals among them, with the number of contributors and the largest of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.errors import InputError, first_record, parameter
from shoal.numbers import counted
from shoal.remarks import Remark, note, warning
from shoal.tables.model.cells import cells_of
from shoal.tables.model.columns import numbers
from shoal.tables.model.contributions import Aggregates
from shoal.tables.model.decimals import exact_sums
from shoal.tables.model.rules import (
    MinimumFrequency,
    PPercent,
    Rule,
    largest_needed,
    manual_range,
    room_below,
)
from shoal.tables.model.table import TOTAL, Table
from shoal.tables.model.tabulated import NO_RULE, Tabulation, classify
from shoal.tables.model.trees import Tree, grow

if TYPE_CHECKING:
    import narwhals as nw

    from shoal.tables.settings import TabulateSettings

#: What every result of a ready-made table says.
UNSEEN = warning(
    "shared-contributors",
    "the table was aggregated before: contributors shared between its cells were not seen",
)
#: Said of a table whose sensitive cells nothing tells.
WITHOUT_RULE = note(
    NO_RULE, "no rule can be applied: no column tells the number or the largest of the contributors"
)
# What the states of a cell are called in a file, and what they are here; "m" is hidden already.
_STATES = {
    "s": "s",
    "u": "u",
    "m": "m",
    "p": "z",
    "z": "z",
    "e": "e",
    "safe": "s",
    "unsafe": "u",
    "sensitive": "u",
    "published": "z",
    "protected": "z",
    "empty": "e",
    "false": "s",
    "true": "u",
}


@dataclass(frozen=True)
class Columns:
    """Which column of a ready-made table is what."""

    value: str | None = None
    contributors: str | None = None
    largest: Sequence[str] = ()
    status: str | None = None
    lower: str | None = None
    upper: str | None = None
    cost: str | None = None

    @property
    def named(self) -> list[str]:
        """All columns that are named."""
        every = (self.value, self.contributors, *self.largest, self.status, self.lower, self.upper, self.cost)
        return [name for name in every if name is not None]


def tabulate_aggregates(
    data: "nw.DataFrame[Any]",
    texts: Mapping[str, Sequence[str]],
    totals: Mapping[str, str],
    columns: Columns,
    hierarchies: Mapping[str, Mapping[str, str]],
    settings: "TabulateSettings",
    rules: tuple[Rule, ...] | None,
) -> Tabulation:
    """The table that the rows of a file are; ``texts`` are its codes by dimension, ``totals`` the code of each total.

    Cells that are not listed are empty if they are no totals; totals that are not listed are computed.
    """
    inside = {
        name: [TOTAL if code == totals.get(name) else code for code in codes] for name, codes in texts.items()
    }
    trees = {
        name: _tree(name, codes, hierarchies.get(name), totals.get(name)) for name, codes in inside.items()
    }
    dimensions = list(texts)
    table, shape = cells_of(dimensions, trees)
    where = _places(inside, trees, shape)
    listed = np.zeros(table.cells, dtype=bool)
    listed[where] = True
    numbers = np.zeros(table.cells, dtype=np.int64)
    numbers[where] = np.arange(1, where.size + 1)
    counts = None if columns.contributors is None else _column(data, columns.contributors, whole=True)
    value = columns.value or columns.contributors
    if value is None:
        raise InputError(
            f"name the figures of the table with {parameter('value')}, or with {parameter('contributors_column')} "
            "if they are counts"
        )
    figures = _column(data, value)
    tops = _tops(data, columns.largest, figures, counts)
    _check_rows(figures, counts, tops, columns)
    values = _filled(figures, where, listed, trees, shape)
    table = replace(
        table,
        values=exact_sums(values, figures) if not listed.all() else values,
        numbers=numbers,
        totals={name: code for name, code in totals.items() if code != TOTAL},
    )
    _check_sums(table, hierarchies, settings.rounding, settings.tolerance)
    known = Aggregates(
        _known_counts(counts, values, where, listed, trees, shape, tops),
        _filled_tops(tops, where, listed, trees, shape),
        table.values,
    )
    chosen = _rules(rules, columns)
    made = classify(table, trees, known, chosen, settings.zeros, counts=columns.value is None)
    remarks = (
        *_remarks(table, listed, columns, chosen, rules),
        *_odd_totals(table, known, largest_known=counts is not None),
    )
    made = replace(made, aggregated=True, remarks=remarks)
    if columns.status is not None:
        made = _stated(made, data, columns, where)
    if columns.cost is not None:
        prices = _column(data, columns.cost)
        if (prices < 0).any():
            place = first_record(np.flatnonzero(prices < 0))
            raise InputError(
                f"column '{columns.cost}' has a negative cost in {place}; hiding a cell costs at least 0"
            )
        made = replace(made, cost=_filled(prices, where, listed, trees, shape))
    return made


def unseen(tabulation: Tabulation) -> tuple[Remark, ...]:
    """What every result of a ready-made table says; where no rule applies, "safe" is about hardly anything."""
    if not tabulation.aggregated:
        return ()
    if not tabulation.without_rule:
        return (UNSEEN,)
    text = f"{WITHOUT_RULE.text}; that a table is safe is said of cells alone that are named as sensitive"
    return UNSEEN, warning(NO_RULE, text)


def _tree(name: str, codes: Sequence[str], hierarchy: Mapping[str, str] | None, total: str | None) -> Tree:
    """The tree over the codes that the file has; where it has the total, levels that it leaves out are left out."""
    there = {code for code in codes if code != TOTAL}
    if not there:
        raise InputError(f"dimension '{name}' has no code besides its total")
    if hierarchy is None:
        return grow(name, sorted(there), None, records=codes)
    outside = sorted(there - set(hierarchy) - set(hierarchy.values()))
    if outside and total is None:
        raise _no_total(name, outside, codes)
    parents = {
        code: "" if parent in (total, TOTAL) else parent
        for code, parent in hierarchy.items()
        if code not in (total, TOTAL)
    }
    if total is not None:
        parents = {code: _nearest(name, code, parents, there) for code in there if code in parents}
    inner = {parent for code in there for parent in _above(name, code, parents)}
    return grow(name, sorted(there - inner), {**parents}, records=codes)


def _no_total(name: str, outside: Sequence[str], codes: Sequence[str]) -> InputError:
    """The error for codes that the hierarchy does not have where nobody named the total: a code of many rows may be it."""
    places = [place for place, code in enumerate(codes) if code in outside]
    alone = len(outside) == 1 and len(places) > 1
    what = (
        f"the code '{outside[0]}'"
        if alone
        else counted(len(outside), "code of the table", "codes of the table")
    )
    one = "it" if len(outside) == 1 else "one of them"
    return InputError(
        f"the hierarchy of dimension '{name}' does not have {what}: see {first_record(places)}; if {one} is the total, say "
        f"{parameter('total')} {name}={outside[0] if alone else 'CODE'}"
    )


def _above(name: str, code: str, parents: Mapping[str, str]) -> list[str]:
    found: list[str] = []
    step = parents.get(code, "")
    while step:
        if step in found or step == code:
            at = list(parents).index(step) + 1
            raise InputError(f"the hierarchy of '{name}' goes round in circles at its code number {at}")
        found.append(step)
        step = parents.get(step, "")
    return found


def _nearest(name: str, code: str, parents: Mapping[str, str], there: set[str]) -> str:
    return next((step for step in _above(name, code, parents) if step in there), "")


def _places(
    inside: Mapping[str, Sequence[str]], trees: Mapping[str, Tree], shape: tuple[int, ...]
) -> np.ndarray:
    """The cell of each row; one that comes twice is refused."""
    at = []
    for name, codes in inside.items():
        place = {code: number for number, code in enumerate(trees[name].codes)}
        at.append(np.array([place[code] for code in codes], dtype=np.int64))
    where = np.ravel_multi_index(tuple(at), shape).astype(np.int64)
    _, firsts = np.unique(where, return_index=True)
    if firsts.size != where.size:
        again = np.setdiff1d(np.arange(where.size), firsts)
        raise InputError(
            f"a cell is listed twice: the second time in {first_record(again)}; rows that are no cells of a table are "
            f"tabulated with {parameter('source', 'records')}"
        )
    return where


def _column(data: "nw.DataFrame[Any]", name: str, *, whole: bool = False) -> np.ndarray:
    found = numbers(data, name)
    if whole and (bad := np.flatnonzero((found != np.round(found)) | (found < 0))).size:
        raise InputError(
            f"column '{name}' is to count contributors in whole numbers of at least 0, but does not in {first_record(bad)}"
        )
    return found


def _tops(
    data: "nw.DataFrame[Any]", names: Sequence[str], figures: np.ndarray, counts: np.ndarray | None
) -> np.ndarray:
    """The largest contributions; one that is missing is 0 where those before it are all of the cell, else refused."""
    found = np.zeros((len(names), figures.size))
    for place, name in enumerate(names):
        row = numbers(data, name, gaps=True)
        gaps = np.isnan(row)
        before = found[:place].sum(axis=0)
        nobody_left = np.abs(figures - before) <= 1e-9 * np.abs(figures)
        if counts is not None:
            nobody_left |= counts <= place
        if (bad := np.flatnonzero(gaps & ~nobody_left)).size:
            raise InputError(
                f"column '{name}' has missing values: see {first_record(bad)}; a contribution may be missing only where "
                "there is none"
            )
        found[place] = np.where(gaps, 0.0, row)
    return found


def _check_rows(figures: np.ndarray, counts: np.ndarray | None, tops: np.ndarray, columns: Columns) -> None:
    """Refuse rows whose figures cannot all be right."""
    for name, row in zip(columns.largest, tops, strict=True):
        if (row < 0).any():
            place = first_record(np.flatnonzero(row < 0))
            raise InputError(
                f"column '{name}' has a negative contribution in {place}, for which concentration rules are not "
                "defined; use frequency(…) alone"
            )
    for more, (first, second) in zip(columns.largest[1:], pairwise(tops), strict=False):
        if (bad := np.flatnonzero(second > first * (1 + 1e-9))).size:
            raise InputError(
                f"column '{more}' has more than the column before it in {first_record(bad)}; name the largest "
                f"contributions first in {parameter('largest_columns')}"
            )
    if tops.size:
        over = tops.sum(axis=0) > figures + 1e-6 * np.abs(figures)
        if (bad := np.flatnonzero(over)).size:
            raise InputError(
                f"the largest contributions are more than the whole cell in {first_record(bad)}; are the columns "
                f"of {parameter('value')} and {parameter('largest_columns')} the right ones?"
            )
    if counts is not None and (bad := np.flatnonzero((counts == 0) & (figures != 0))).size:
        raise InputError(f"there is a figure, but no contributor, in {first_record(bad)}")


def _check_sums(
    table: Table, hierarchies: Mapping[str, Any], rounding: float | None, tolerance: float | None
) -> None:
    try:
        table.check(rounding=rounding, tolerance=tolerance)
    except InputError as error:
        flat = [name for name in table.dimensions if name not in hierarchies]
        hint = f"; if there are subtotals in '{flat[0]}', name its {parameter('hierarchy')}" if flat else ""
        raise InputError(
            f"{error.template}; say "
            f"{parameter('rounding')} or {parameter('tolerance')} if figures are rounded{hint}"
        ) from None


def _filled(
    figures: np.ndarray,
    where: np.ndarray,
    listed: np.ndarray,
    trees: Mapping[str, Tree],
    shape: tuple[int, ...],
) -> np.ndarray:
    """The figures of all cells: those that are listed, nothing in cells that are not, and sums in totals that are not."""
    found = np.zeros(listed.size)
    found[where] = figures
    if listed.all():
        return found
    grid = found.reshape(shape)
    for axis, parent, children, missing in _missing(listed, trees, shape):
        line = np.moveaxis(grid, axis, 0)
        np.copyto(line[parent, ...], line[children].sum(axis=0), where=missing)
    return found


def _filled_tops(
    tops: np.ndarray, where: np.ndarray, listed: np.ndarray, trees: Mapping[str, Tree], shape: tuple[int, ...]
) -> np.ndarray:
    """The largest contributions to all cells; those to a total that is not listed are the largest of its parts."""
    found = np.zeros((tops.shape[0], listed.size))
    found[:, where] = tops
    if listed.all() or tops.shape[0] == 0:
        return found
    grid = found.reshape(-1, *shape)
    for axis, parent, children, missing in _missing(listed, trees, shape):
        line = np.moveaxis(grid, axis + 1, 1)
        parts = line[:, children]
        every = -np.sort(-parts.reshape(-1, *parts.shape[2:]), axis=0)[: tops.shape[0]]
        line[:, parent][:, missing] = every[:, missing]
    return found


def _missing(listed: np.ndarray, trees: Mapping[str, Tree], shape: tuple[int, ...]) -> Any:
    """Totals that are not listed, parts before what they are parts of: the axis, the code, its parts, and in which slices."""
    known = listed.reshape(shape).copy()
    leaf = np.ones(shape, dtype=bool)
    for axis, tree in enumerate(trees.values()):
        flags = tree.leaves.reshape([-1 if d == axis else 1 for d in range(len(shape))])
        leaf = leaf & flags
    known |= leaf
    for axis, tree in enumerate(trees.values()):
        line = np.moveaxis(known, axis, 0)
        order = sorted(tree.children, key=lambda code: -len(tree.lineage(code)))
        for parent in order:
            children = tree.children[parent]
            missing = ~line[parent] & line[children].all(axis=0)
            if missing.any():
                yield axis, parent, children, missing
                line[parent, ...][missing] = True


def _known_counts(
    counts: np.ndarray | None,
    values: np.ndarray,
    where: np.ndarray,
    listed: np.ndarray,
    trees: Mapping[str, Tree],
    shape: tuple[int, ...],
    tops: np.ndarray,
) -> np.ndarray:
    """The number of contributors; where no column tells it, of every cell that is not 0 at least as many as are known.

    A cell that is all of its largest contribution has one.
    """
    if counts is not None:
        return np.rint(_filled(counts, where, listed, trees, shape)).astype(np.int64)
    found = np.where(values != 0, max(2, tops.shape[0] + 1), 0).astype(np.int64)
    if tops.shape[0]:
        largest = _filled_tops(tops, where, listed, trees, shape)[0]
        found[(values != 0) & (np.abs(values - largest) <= 1e-9 * np.abs(values))] = 1
    return found


def _rules(rules: tuple[Rule, ...] | None, columns: Columns) -> tuple[Rule, ...]:
    """The rules that were asked for, if the columns tell enough for them; else those that can be applied."""
    if rules is None and columns.status is not None:
        return ()
    if rules is None:
        frequency = (MinimumFrequency(3),) if columns.contributors is not None else ()
        return (*frequency, *((PPercent(10.0),) if len(columns.largest) > 1 and columns.value else ()))
    for rule in rules:
        if isinstance(rule, MinimumFrequency) and columns.contributors is None:
            raise InputError(
                f"rule '{rule}' needs the number of contributors; name its column with "
                f"{parameter('contributors_column')}"
            )
        needed = largest_needed(rule)
        if needed > len(columns.largest):
            have = counted(len(columns.largest), "column is", "columns are")
            raise InputError(
                f"rule '{rule}' needs the {needed} largest contributions of a cell, but {have} named with "
                f"{parameter('largest_columns')}"
            )
    return rules


def _stated(
    tabulation: Tabulation,
    data: "nw.DataFrame[Any]",
    columns: Columns,
    where: np.ndarray,
) -> Tabulation:
    """The table with the states and levels of its rows, which come on top of what rules say."""
    assert columns.status is not None
    words = [str(item).strip().lower() for item in data[columns.status].to_list()]
    unknown = [place for place, word in enumerate(words) if word not in _STATES]
    if unknown:
        raise InputError(
            f"the status of {first_record(unknown)} is unknown; known are {', '.join(sorted(_STATES))}"
        )
    told = np.array([_STATES[word] for word in words])
    status, lower, upper = tabulation.status.copy(), tabulation.lower.copy(), tabulation.upper.copy()
    remarks = list(tabulation.remarks)
    if overruled := int((status[where[told == "z"]] == "u").sum()):
        remarks.append(
            note(
                "overruled-rule",
                f"{counted(overruled, 'cell that', 'cells that')} a rule calls sensitive: published, as column "
                f"'{columns.status}' says",
                columns.status,
            )
        )
    if marked := int((told == "m").sum()):
        remarks.append(
            note(
                "hidden-already",
                f"{counted(marked, 'cell is', 'cells are')} marked as hidden already: an audit judges them as they are, a new "
                "pattern may publish them",
            )
        )
    status[where[told == "z"]] = "z"
    own = where[told == "u"]
    values = tabulation.table.values
    share = manual_range(tabulation.rules) / 100.0 * np.abs(values)
    levels = {
        "lower": share if columns.lower is None else _levels(data, columns.lower, where, values.size),
        "upper": share if columns.upper is None else _levels(data, columns.upper, where, values.size),
    }
    upper[own] = np.maximum(np.where(status[own] == "u", upper[own], 0.0), levels["upper"][own])
    least = room_below(levels["lower"][own], values[own])
    lower[own] = np.maximum(np.where(status[own] == "u", lower[own], 0.0), least)
    status[own] = "u"
    hides = (told == "m") | (told == "u")
    # States that name sensitive cells and nothing hidden besides are from before anybody hid any.
    hidden = where[hides] if (told == "m").any() or not hides.any() else None
    return replace(tabulation, status=status, lower=lower, upper=upper, hidden=hidden, remarks=tuple(remarks))


def _levels(data: "nw.DataFrame[Any]", name: str, where: np.ndarray, size: int) -> np.ndarray:
    found = np.zeros(size)
    found[where] = np.maximum(_column(data, name), 0.0)
    return found


def _remarks(
    table: Table,
    listed: np.ndarray,
    columns: Columns,
    chosen: tuple[Rule, ...],
    rules: tuple[Rule, ...] | None,
) -> tuple[Remark, ...]:
    remarks = []
    computed = int((~listed & ~table.internal & (table.values != 0)).sum())
    if computed:
        remarks.append(
            note(
                "computed-totals",
                f"{counted(computed, 'total that is', 'totals that are')} not in the file: computed from the parts",
            )
        )
    if rules is None and len(columns.largest) == 1 and columns.status is None:
        remarks.append(
            note(
                "single-largest",
                "one largest contribution alone does not allow p-percent(10), so only the number of contributors was judged; "
                "dominance(1,75) is a rule for it",
            )
        )
    if rules is None and not chosen and columns.status is None:
        remarks.append(WITHOUT_RULE)
    return tuple(remarks)


def _odd_totals(table: Table, known: Aggregates, *, largest_known: bool) -> tuple[Remark, ...]:
    """Totals that have fewer contributors than one of their parts, or a smaller largest contribution, which cannot be."""
    if table.relations == 0:
        return ()
    figures = [*([known.counts.astype(float)] if largest_known else []), *known.tops[:1]]
    odd = np.zeros(table.cells, dtype=bool)
    for figure in figures:
        parts = np.where(table.signs > 0, figure[table.members], -np.inf)
        most = np.maximum.reduceat(parts, table.starts[:-1])
        totals = table.members[table.signs < 0]
        odd[totals[figure[totals] < most - 1e-9 * np.abs(most)]] = True
    cells = np.flatnonzero(odd)
    if not cells.size:
        return ()
    have = counted(int(cells.size), "total has", "totals have")
    return (
        note(
            "doubtful-totals",
            f"{have} fewer contributors than one of the parts, or a smaller largest contribution, the first at the cell "
            f"{table.name(int(cells[0]))}: what rules say of such a total may be wrong",
        ),
    )
