"""What a table gives away with others that everybody can see: of last period, or of other dimensions of the same records."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from shoal.errors import InputError, parameter
from shoal.numbers import counted
from shoal.tables.files.frames import as_frame, with_row_names
from shoal.tables.files.public_files import public_part, read_public
from shoal.tables.model.table import TOTAL, Table
from shoal.tables.problem import PublishedProblem
from shoal.tables.public_table import Key, PublicTable
from shoal.tables.safety.audit import Audit
from shoal.tables.safety.differences import nest_of
from shoal.tables.safety.judging import JointDisclosure, Shown, known_of, required_of
from shoal.tables.safety.margins import doubt_of, with_margins
from shoal.tables.safety.spreading import spread_over, united
from shoal.tables.safety.together import tables_together
from shoal.tables.safety.watching import TimeIsOver, Watch, unwatched
from shoal.tables.safety.whole_numbers import with_whole_figures

#: What there may be no time for, in words.
BESIDE = "what tables beside it give away"
_NO_TIME = "there was no time to look"
# What is so much smaller than the largest figure that is shown cannot be told from 0 by linear programmes.
_HAIR = 1e-11


def audited_together(
    audit: Audit,
    beside: Any,
    *,
    change: float | None,
    hierarchies: Mapping[str, Mapping[str, str]],
    total: Any,
    slack: float,
    again: Callable[[np.ndarray], Audit],
    nested: Any = None,
    difference: int = 3,
    within: float | None = None,
    whole: bool = False,
    watch: Watch = unwatched,
) -> Audit:
    """The audit with what other published tables add; ``again`` audits the table with fewer hidden cells.

    Figures may be known to be ``whole`` numbers; those of the others are as they are, or at most ``within`` from the true ones.
    """
    problem = audit.problem
    hidden = np.zeros(problem.table.cells, dtype=bool)
    hidden[audit.cells] = True
    within_own, low = known_of(problem, hidden)
    own = Shown(
        replace(public_part(problem.table, hidden, slack), trees=hierarchies),
        required_of(problem, problem.table.dimensions) if problem.sensitive.size else None,
        lambda dimensions, known: _beyond(audit, dimensions, known, again),
        within_own,
        low,
        whole,
    )
    codes = {name: set(map(str, own)) - {TOTAL} for name, own in problem.table.keys.items()}
    others = [
        read_public(
            frame, name, hierarchies=hierarchies, total=total, slack=slack + (within or 0.0), known=codes
        )
        for name, frame in named_frames(beside)
    ]
    refuse_needless(hierarchies, [own.table, *others])
    if within is not None:
        others = [other.changed(within) for other in others]
    nests = [
        nest_of(frame, name, [own.table, *others])
        for name, frame in named_frames([] if nested is None else nested)
    ]
    not_found = _missing_areas([area for nest in nests for area in nest.unknown])

    def beside_this(other: PublicTable, doubt: str = "") -> JointDisclosure:
        try:
            watch.look()
            judged = tables_together(
                own, Shown(other), change, nests=nests, difference=difference, look=watch.look
            )
        except TimeIsOver:
            return JointDisclosure(None, _NO_TIME)
        if doubt and judged.discloses is False:
            judged = replace(judged, discloses=None, detail=doubt, figures={})
        detail = judged.detail + not_found + _without_total(other)
        return _by_keys(problem.table, replace(judged, detail=detail))

    results = [beside_this(other) for other in others]
    if len(others) > 1:
        # Tables of the same data tell more together than one by one.
        same = [other for other, item in zip(others, results, strict=True) if item.of_one]
        if len(same) > 1:
            results.append(beside_this(*_joined(own.table, same)))
    audit = replace(audit, together=tuple(results))
    missed = any(item.detail == _NO_TIME for item in results)
    return audit.without_time_for(BESIDE, watch.reason) if missed else audit


def refuse_needless(hierarchies: Mapping[str, Any], tables: Sequence[PublicTable]) -> None:
    """Refuse a hierarchy of a dimension that no table has: what it should tell would be overlooked."""
    every = dict.fromkeys(name for table in tables for name in table.dimensions)
    for name in hierarchies:
        if name not in every:
            raise InputError(
                f"{parameter('hierarchy')} names dimension '{name}', and the published table has {', '.join(every)}; name "
                "dimensions as the table does"
            )


def named_frames(beside: Any) -> "list[tuple[str, Any]]":
    """Other tables as frames, each with a name for messages."""
    every = beside if isinstance(beside, list | tuple) else [beside]
    found = []
    for place, item in enumerate(every, 1):
        name, data = (
            item
            if isinstance(item, tuple)
            else (str(item) if isinstance(item, str | Path) else f"table {place}", item)
        )
        cells = None
        if isinstance(data, str | Path):
            from shoal.tables.published_alone import published_file

            cells = published_file(data)
        found.append(
            (
                name,
                as_frame(with_row_names(data), "a table beside it").to_polars() if cells is None else cells,
            )
        )
    return found


def _missing_areas(areas: Sequence[str]) -> str:
    """That some areas of a list are in none of the tables, and are left out."""
    if not areas:
        return ""
    named = ", ".join(f"'{area}'" for area in areas[:3])
    more = f" and {len(areas) - 3} more" if len(areas) > 3 else ""
    words = ("nested area is in none of the tables and", "nested areas are in none of the tables and")
    return f"; {counted(len(areas), *words)} left out: {named}{more}"


def _without_total(other: PublicTable) -> str:
    """That a total of an unknown name would be overlooked."""
    named = ", ".join(f"'{name}'" for name in other.without_total)
    return f"; it has no code that is known as the total of {named}" if named else ""


def _joined(own: PublicTable, others: Sequence[PublicTable]) -> tuple[PublicTable, str]:
    """Others as one table, with the sums that each of them has in common with the rest and with the table itself.

    Second is what is uncertain of these sums.
    """
    every = (own, *others)
    dimensions = tuple(dict.fromkeys(name for table in every for name in table.dimensions))
    tables = [spread_over(table, dimensions) for table in every]
    wide = with_margins(tables)
    return united(dimensions, wide[1:]), doubt_of(tables, wide, united(dimensions, wide))


def _by_keys(table: Table, findings: JointDisclosure) -> JointDisclosure:
    """Cells by the dimensions of the table itself; dimensions that only others have stand at their total."""
    size = len(table.dimensions)
    return replace(findings, cells=tuple(key[:size] for key in findings.cells))


def _beyond(
    audit: Audit,
    dimensions: tuple[str, ...],
    known: Mapping[Key, float | None],
    again: Callable[[np.ndarray], Audit],
) -> int:
    """What insiders and sums give away besides, when what the others show is known."""
    table = audit.problem.table
    keys = [tuple(table.key(cell).get(name, TOTAL) for name in dimensions) for cell in audit.cells.tolist()]
    still = np.array([known.get(key) is None for key in keys], dtype=bool)
    if still.all():
        return 0
    judged = again(audit.cells[still])
    if not judged.complete:
        raise TimeIsOver
    return (
        len({cell for cell, _ in judged.insider} - set(judged.unsafe.tolist()))
        + len(judged.sums)
        + len(judged.integer)
    )


def problem_of_public(
    public: PublicTable, low: float | None = None, *, whole: bool = False, alone: bool = True
) -> tuple[PublishedProblem, np.ndarray]:
    """A published table as a problem without sensitive cells, and its hidden cells, which are at least ``low``.

    By default that is 0, unless figures are shown that are below it. Whatever figures stand in the hidden cells, the intervals
    are the same as long as they fit what is shown; of counts they are ``whole`` numbers. Only beside others a table may be of
    use that has no totals.
    """
    figures = public.possible(low)
    if figures is None:
        raise InputError(
            f"no figures fit what the published table shows; are its subtotals named with {parameter('hierarchy')}? If figures "
            f"are rounded, say {parameter('rounding')}, and if hidden ones may be below 0, {parameter('low')}"
        )
    keys = list(public.cells)
    place = {key: number for number, key in enumerate(keys)}
    if low is None:
        low = -np.inf if any(value is not None and value < 0 for value in public.cells.values()) else 0.0
    # A programme may end a hair off 0: on the one side that makes figures that may be negative, on the other room to move.
    least = _HAIR * max((abs(value) for value in public.cells.values() if value is not None), default=0.0)
    figures = {key: 0.0 if abs(figure) <= least else figure for key, figure in figures.items()}
    values = [figures[key] if value is None else value for key, value in public.cells.items()]
    relations = [
        [*((place[part], 1.0) for part in item.parts), (place[item.total], -1.0)]
        for item in public.relations
        if item.total in place and all(part in place for part in item.parts)
    ]
    if not relations and alone:
        raise InputError(
            "the published table has no totals, so nothing can be computed from it alone; name what else was published with "
            f"{parameter('beside')}"
        )
    names = {
        name: np.array([key[d] for key in keys], dtype=object) for d, name in enumerate(public.dimensions)
    }
    table = replace(Table.from_relations(values, relations, names), totals=public.totals)
    hidden = np.array(
        [number for number, key in enumerate(keys) if public.cells[key] is None], dtype=np.int64
    )
    if whole:
        table = with_whole_figures(table, hidden, low, public.slack)
    everything = np.ones(table.cells, dtype=bool)
    return PublishedProblem.of(table, [], candidates=everything, low=low), hidden
