"""What tables published apart give away together: linked ones as one system, those of two periods by how little changes."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from shoal.errors import InputError, parameter
from shoal.numbers import counted
from shoal.tables.public_table import TOTAL, Key, Look, PublicTable, codes_above, go_on
from shoal.tables.safety.changed_together import changed_together
from shoal.tables.safety.differences import Difference, Nest, small_differences, with_differences
from shoal.tables.safety.judging import (
    NO_FIT,
    JointDisclosure,
    Shown,
    is_point,
    required_over,
    too_close,
    within_over,
)
from shoal.tables.safety.margins import one_system
from shoal.tables.safety.spreading import spread_over, united
from shoal.tables.safety.two_periods import intervals_of_periods, moved_further
from shoal.tables.safety.unions import SmallUnion, SmallUnions, choices_of, small_unions
from shoal.tables.safety.unpublished import NOT_LOOKED_INTO, with_unpublished


def tables_together(
    one: Shown,
    two: Shown,
    change: float | None = None,
    *,
    nests: Sequence[Nest] = (),
    difference: int = 3,
    look: Look = go_on,
) -> JointDisclosure:
    """What two published tables give away together.

    Where the cells that both show are equal, they are tables of the same data and one system. Otherwise they are of two
    periods, and ``change`` is the share by which everybody knows that no figure changed by more. Of tables of the same data
    ``nests`` say which areas of the one lie in areas of the other; what is left of an area may be no count below ``difference``.
    ``look`` is called now and then, and may raise to end it.
    """
    if one.table.bounds or two.table.bounds:
        return changed_together((one, two), look)
    dimensions = tuple(dict.fromkeys(name for shown in (one, two) for name in shown.table.dimensions))
    spread = [spread_over(shown.table, dimensions) for shown in (one, two)]
    both = spread[0].cells.keys() & spread[1].cells.keys()
    common = [key for key in both if all(table.cells[key] is not None for table in spread)]
    off = 2.0 * sum(table.slack for table in spread)
    if any(not np.isclose(spread[0].cells[key], spread[1].cells[key], rtol=1e-9, atol=off) for key in common):  # type: ignore[arg-type]
        found = _periods((one, two), spread, change, look)
        told = "; differences of nested areas are those of tables of the same data" if nests else ""
        return replace(found, detail=found.detail + told)
    bounds, low = within_over((one, two), spread[0])
    system, sums, doubt = one_system(spread, low, bounds)
    if system is None and not nests:
        return JointDisclosure(None, sums)
    plain = system or united(dimensions, spread)
    whole, differences = with_differences(plain, nests)
    whole, all_looked_at = (whole, True) if nests else with_unpublished(whole)
    every = [
        *(key for key in plain.hidden if key not in plain.unprinted),
        *(item.rest for item in differences),
    ]
    intervals = whole.intervals(low, bounds=bounds, of=every, look=look)
    if intervals is None:
        if nests and plain.intervals(low, bounds=bounds, of=[]) is not None:
            raise InputError(
                f"no figures fit both tables and the areas of {parameter('nested')}: does every area lie in those that it is "
                "listed with, and in no other?"
            )
        return JointDisclosure(None, NO_FIT)
    found = _judged((one, two), spread, [intervals, intervals], whole.cells, "as one system", look=look)
    found = replace(found, of_one=True, detail=found.detail + (sums if system else ""))
    hides = any(table.hidden for table in spread)
    if hides and not nests and not found.discloses and (apart := _nothing_in_common(spread, (one, two))):
        # What was computed nowhere near is no finding.
        return replace(found, discloses=None, detail=apart, figures={})
    if not nests:
        if doubt and hides and not found.discloses:
            return replace(found, discloses=None, detail=doubt, figures={})
        return found if all_looked_at else replace(found, detail=found.detail + NOT_LOOKED_INTO)
    small = small_differences(whole, differences, intervals, difference)
    found = _with_small(found, small, spread[0], len(differences), difference)
    unions = _unions(plain, whole, nests, small, difference, look)
    found = _with_unions(found, unions, spread[0], difference)
    if not differences and not found.discloses and all(nest.foreign for nest in nests):
        told = f"no area of {parameter('nested')} is in both tables; name areas as the tables do"
        return replace(found, discloses=None, detail=told, figures={})
    return found


def _nothing_in_common(tables: Sequence[PublicTable], shown: tuple[Shown, Shown]) -> str:
    """Why two tables meet nowhere but in totals, if they do: their names may be spelled differently."""
    both = [name for name in shown[0].table.dimensions if name in shown[1].table.dimensions]
    if not both:
        names = " and ".join(", ".join(item.table.dimensions) for item in shown)
        return f"they have no dimension in common ({names}); name the same dimensions alike"
    codes = [
        [{key[table.dimensions.index(name)] for key in table.cells} - {TOTAL} for name in both]
        for table in tables
    ]
    for name, one, two in zip(both, *codes, strict=True):
        # A subtotal of the one may be the sum of parts of the other.
        trees = [table.trees[name] for table in tables if name in table.trees]
        every, others = (own.union(*(codes_above(own, tree) for tree in trees)) for own in (one, two))
        if one and two and not (every & two or others & one):
            return f"they have no code of dimension '{name}' in common; name the same codes alike"
    return ""


def _with_small(
    disclosure: JointDisclosure, small: Sequence[Difference], own: PublicTable, looked_at: int, below: int
) -> JointDisclosure:
    """What is found besides of differences of nested areas; cells at fault are those of the first table."""
    cells = [key for item in small for key in ((item.whole,) if item.whole in own.cells else item.parts)]
    named = [dict(zip(own.dimensions, item.whole, strict=True)) for item in small]
    return replace(
        disclosure,
        discloses=bool(disclosure.discloses or small),
        detail=f"{disclosure.detail}; {len(small)} of {looked_at} differences of nested areas are counts from 1 to {below - 1}",
        figures={**disclosure.figures, "differences": looked_at, "small_differences": named},
        cells=tuple(dict.fromkeys([*disclosure.cells, *(key for key in cells if key in own.cells)])),
    )


def _unions(
    plain: PublicTable,
    whole: PublicTable,
    nests: Sequence[Nest],
    small: Sequence[Difference],
    below: int,
    look: Look,
) -> SmallUnions | None:
    """The unions of areas that leave a small count; figures that are off by rounding tell no counts."""
    if plain.slack:
        return None
    found: list[SmallUnion] = []
    complete = True
    known = [frozenset([item.whole]) for item in small]
    for nest in nests:
        if nest.part in plain.dimensions and nest.whole in plain.dimensions:
            choices = list(choices_of(plain, nest.part, nest.whole, nest.meets))
            own = small_unions(whole, choices, below, known, look)
            found += own.smallest
            complete = complete and own.complete
    return SmallUnions(tuple(found), complete)


def _with_unions(
    disclosure: JointDisclosure, unions: SmallUnions | None, own: PublicTable, below: int
) -> JointDisclosure:
    """What is found besides of unions of areas."""
    if unions is None:
        told = "unions of areas were not looked at, since figures are rounded"
        return replace(
            disclosure,
            detail=f"{disclosure.detail}; {told}",
            figures={**disclosure.figures, "small_unions": None},
        )
    named = [
        {
            "areas": [dict(zip(own.dimensions, key, strict=True)) for key in item.wholes],
            "without": [dict(zip(own.dimensions, key, strict=True)) for key in item.parts],
        }
        for item in unions.smallest
    ]
    words = "1 union of areas leaves" if len(named) == 1 else f"{len(named)} unions of areas leave"
    told = f"{words} a count from 1 to {below - 1} without those inside"
    told += "" if unions.complete else ", and there may be others: the search was not ended"
    cells = [key for item in unions.smallest for key in (*item.wholes, *item.parts) if key in own.cells]
    return replace(
        disclosure,
        discloses=bool(disclosure.discloses or named),
        detail=f"{disclosure.detail}; {told}",
        figures={**disclosure.figures, "small_unions": named, "unions_complete": unions.complete},
        cells=tuple(dict.fromkeys([*disclosure.cells, *cells])),
    )


def _periods(
    shown: tuple[Shown, Shown], tables: Sequence[PublicTable], change: float | None, look: Look
) -> JointDisclosure:
    """Tables of two periods: what one shows bounds what the other hides, if figures change little."""
    crossed = sum(
        (tables[0].cells[key] is None) != (tables[1].cells[key] is None)
        for key in tables[0].cells.keys() & tables[1].cells.keys()
    )
    if change is None:
        text = (
            f"they are of different data; {crossed} cells are hidden in one and shown in the other, "
            "which tells of them as much as they have changed little; say by which share figures changed at most, or, if they "
            "were rounded or perturbed, how far they may be off"
        )
        return JointDisclosure(None, text, {"crossed": crossed})
    moved = moved_further(tables, change)
    if moved:
        text = (
            f"{moved} figures that both show changed by more than was assumed, as a share of the smaller of the two; a change "
            "that none exceeded tells more"
        )
        return JointDisclosure(None, text, {"crossed": crossed})
    found = intervals_of_periods(shown, tables, change, look)
    if found is None:
        return JointDisclosure(None, "figures changed by more than was assumed", {"crossed": crossed})
    words = f"for somebody who knows that no figure changed by more than {100 * change:g} percent"
    return _judged(shown, tables, found, {}, words, {"crossed": crossed}, look=look)


def _judged(
    shown: tuple[Shown, Shown],
    tables: Sequence[PublicTable],
    intervals: Sequence[Mapping[Key, tuple[float, float]]],
    known: Mapping[Key, float | None],
    words: str,
    more: Mapping[str, Any] | None = None,
    *,
    look: Look,
) -> JointDisclosure:
    """How many cells that one hides are known by both, and how many sensitive ones are known more closely than they may.

    Who has the levels judges by them: a cell that one pattern hides only for the sake of others may be shown by the other.
    """
    exact = narrow = unjudged = 0
    at_fault: tuple[Key, ...] = ()
    for place, (own, table, found) in enumerate(zip(shown, tables, intervals, strict=True)):
        hidden = [key for key in table.hidden if key not in table.unprinted]
        ends = {key: _ends(key, found, known) for key in hidden}
        bounds, low = within_over([own], table)
        alone = table.intervals(low, bounds=bounds, of=hidden, look=look) or {}
        points = [
            key
            for key in hidden
            if is_point(own.narrowed(ends[key])) and not is_point(own.narrowed(alone.get(key, (0.0, np.inf))))
        ]
        exact += len(points)
        if own.required is None:
            unjudged += len(points)
            closer: list[Key] = []
        else:
            required = required_over(own, table)
            closer = list(
                dict.fromkeys([*too_close(own, required, ends), *(key for key in points if key in required)])
            )
            narrow += len(closer)
        if own.beyond is not None and known:
            narrow += own.beyond(table.dimensions, known)
        if place == 0:
            at_fault = tuple(dict.fromkeys([*closer, *points]))
    levels = any(own.required is not None for own in shown)
    told = f", and {counted(narrow, 'sensitive one')} more closely than allowed" if levels else ""
    figures = {"exact": exact, "too_narrow": narrow if levels else None, **(more or {})}
    detail = f"{counted(exact, 'hidden cell is', 'hidden cells are')} known exactly {words}{told}"
    return JointDisclosure(bool(narrow or unjudged), detail, figures, at_fault)


def _ends(
    key: Key, intervals: Mapping[Key, tuple[float, float]], known: Mapping[Key, float | None]
) -> tuple[float, float]:
    value = known.get(key)
    return (value, value) if value is not None else intervals[key]
