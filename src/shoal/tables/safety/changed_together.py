"""What a table gives away beside another one whose figures were changed: rounded, or perturbed by keys.

Of a changed figure everybody knows how far it may be from the true one. So the true figures of both tables fulfil one system of
relations, with the cells that one of them shows as they are and intervals for those that were changed.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from shoal.numbers import counted
from shoal.tables.public_table import Key, Look, PublicTable, go_on
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
from shoal.tables.safety.spreading import spread_over
from shoal.tables.safety.unpublished import NOT_LOOKED_INTO, with_unpublished

_NEAR = 1e-9


def changed_together(shown: tuple[Shown, Shown], look: Look = go_on) -> JointDisclosure:
    """What two published tables of the same data give away, figures of one of which (or of both) were changed."""
    dimensions = tuple(dict.fromkeys(name for item in shown for name in item.table.dimensions))
    tables = [spread_over(item.table, dimensions) for item in shown]
    both = tables[0].cells.keys() & tables[1].cells.keys()
    if any(not _fits(*(table.ends_of(key) for table in tables)) for key in both):
        return JointDisclosure(
            None,
            "they are of different data, of which figures were changed: what both give away together is not measured",
        )
    bounds, low = within_over(shown, tables[0])
    system, sums, doubt = one_system(tables, low, bounds)
    if system is None:
        return JointDisclosure(None, sums)
    whole, all_looked_at = with_unpublished(system)
    wanted = [_wanted(own, table) for own, table in zip(shown, tables, strict=True)]
    every = [key for keys in wanted for key in keys]
    intervals = whole.intervals(low, bounds=bounds, of=every, look=look)
    if intervals is None:
        return JointDisclosure(None, NO_FIT)
    found = _judged(shown, tables, whole, wanted, intervals, look)
    if doubt and every and not found.discloses:
        return replace(found, discloses=None, detail=doubt, figures={})
    return replace(found, detail=found.detail + sums + ("" if all_looked_at else NOT_LOOKED_INTO))


def _fits(one: tuple[float, float], two: tuple[float, float]) -> bool:
    size = max([1.0, *(abs(end) for end in (*one, *two) if np.isfinite(end))])
    return max(one[0], two[0]) <= min(one[1], two[1]) + _NEAR * size


def _wanted(own: Shown, table: PublicTable) -> list[Key]:
    """The cells to look at: hidden ones, and of changed ones the sensitive (all where nobody says which those are)."""
    asked = None if own.required is None else required_over(own, table)
    hidden = [key for key in table.hidden if key not in table.unprinted]
    return [key for key in hidden if asked is None or key not in table.bounds or key in asked]


def _judged(
    shown: tuple[Shown, Shown],
    tables: Sequence[PublicTable],
    whole: PublicTable,
    wanted: Sequence[Sequence[Key]],
    intervals: Mapping[Key, tuple[float, float]],
    look: Look,
) -> JointDisclosure:
    # A cell that is in both tables is one cell.
    exact, narrow, unjudged = set[Key](), set[Key](), 0
    at_fault: tuple[Key, ...] = ()
    for place, (own, table, keys) in enumerate(zip(shown, tables, wanted, strict=True)):
        ends = {key: whole.ends_of(key) if whole.cells[key] is not None else intervals[key] for key in keys}
        # What the other one shows as it is, everybody knows without computing.
        points = [key for key in keys if whole.cells[key] is None and is_point(own.narrowed(ends[key]))]
        bounds, low = within_over([own], table)
        alone = table.intervals(low, bounds=bounds, of=points, look=look) or {}
        points = [key for key in points if not is_point(own.narrowed(alone[key]))]
        exact.update(points)
        closer: list[Key] = []
        if own.required is None:
            unjudged += len(points)
        else:
            required = required_over(own, table)
            closer = list(
                dict.fromkeys([*too_close(own, required, ends), *(key for key in points if key in required)])
            )
            narrow.update(closer)
        if place == 0:
            at_fault = tuple(dict.fromkeys([*closer, *points]))
    levels = any(own.required is not None for own in shown)
    told = f", and {counted(len(narrow), 'sensitive one')} more closely than allowed" if levels else ""
    detail = (
        f"{counted(len(exact), 'cell that neither shows is', 'cells that neither shows are')} known exactly as one system, in "
        f"which changed figures are off by as much as everybody knows{told}"
    )
    return JointDisclosure(
        bool(narrow or unjudged),
        detail,
        {"exact": len(exact), "too_narrow": len(narrow) if levels else None},
        at_fault,
        of_one=True,
    )
