"""``audit`` as an operation: the interval an attacker can compute for every hidden cell, and whether it is wide enough."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.errors import InputError, parameter
from shoal.operation import DataName, Operation, Product, Workplace, call
from shoal.operation_release import Written
from shoal.remarks import Remark, Remarked
from shoal.tables.operations.products import (
    INTERVALS_FILES,
    PATTERN_FILES,
    PUBLISHED_ENDINGS,
    PUBLISHED_FILES,
    pattern,
    published_whole,
    whole,
)
from shoal.tables.settings import AuditSettings

if TYPE_CHECKING:
    from shoal.tables.files.loading import Loaded
    from shoal.tables.safety.audit import Audit
    from shoal.tables.table_to_protect import TableToProtect


@dataclass(frozen=True)
class Audited(Remarked):
    """What an attacker can compute, and the table it is about."""

    outcome: "Audit"
    table: "TableToProtect"
    remarks: tuple[Remark, ...] = ()


def run(settings: AuditSettings, workplace: Workplace) -> Audited:
    """Compute the intervals, whoever chose the hidden cells."""
    from shoal.tables.api import audit
    from shoal.tables.as_problem import of_change, of_unasked
    from shoal.tables.table_to_protect import hierarchies_of, table_to_protect

    workplace.say("building the table")
    beside = _beside(settings, workplace)
    if (frame := _published_frame(settings, workplace)) is not None:
        table, hidden = _public_table(settings, workplace, frame, beside)
    else:
        table = table_to_protect(settings, workplace)
        hidden = pattern_of(settings, table, workplace)
    own: dict[str, Any] = {"beside": None}
    if settings.beside:
        own = {
            "beside": beside,
            "hierarchies": hierarchies_of(settings, workplace),
            "total": settings.total or None,
        }
    own["nested"] = [(Path(name).name, workplace.listed(name)) for name in settings.nested] or None
    found = call(
        audit,
        settings,
        workplace,
        table.table,
        **{"total": None, **own},
        pattern=hidden,
        sensitive=table.sensitive,
    )
    return Audited(found, table, (*table.remarks, *of_unasked(found.unasked), *of_change(settings.change)))


def _published_frame(settings: AuditSettings, workplace: Workplace) -> Any:
    """The frame of a table that is itself a published one: nobody says what its rows are or which cells are hidden."""
    from shoal.tables.files.loading import is_list_of_cells
    from shoal.tables.files.public_files import is_published
    from shoal.tables.published_alone import published_file, refuse_internal

    said = settings.pattern or settings.hidden or settings.dimensions or settings.described or settings.source
    if said or workplace.as_file(settings.data, "jj") is not None:
        return None
    if (cells := _crosstabs(settings.data, workplace, published_file)) is not None:
        return cells
    frame = _with_decimals(workplace.records(settings.data).as_written, workplace)
    if settings.beside:
        refuse_internal(frame)
        return frame
    return frame if is_published(frame) and not is_list_of_cells(frame) else None


def _crosstabs(name: str, workplace: Workplace, read: "Callable[[Path], Any]") -> Any:
    """The cells of crosstabs, where a name is that of a file that holds some."""
    for ending in ("xlsx", "html"):
        file = workplace.as_file(name, ending)
        if file is not None:
            return read(file)
    return read(workplace.file(name)) if ".xlsx::" in name.lower() else None


def _beside(settings: AuditSettings, workplace: Workplace) -> list[tuple[str, Any]]:
    from shoal.tables.published_alone import published_file

    found = []
    for name in settings.beside:
        cells = _crosstabs(name, workplace, published_file)
        found.append(
            (Path(name).name, _with_decimals(workplace.listed(name), workplace) if cells is None else cells)
        )
    return found


def _with_decimals(frame: Any, workplace: Workplace) -> Any:
    """The figures of a published table with points, if commas are said to be before decimals, or are so in other columns."""
    from shoal.tables.files.public_files import columns_of_figures
    from shoal.tables.public_table import with_points

    return with_points(frame, columns_of_figures(frame)) if workplace.decimal == "," else frame


def _public_table(
    settings: AuditSettings, workplace: Workplace, frame: Any, beside: list[tuple[str, Any]]
) -> "tuple[TableToProtect, Any]":
    from shoal.tables.public_table import slack_of
    from shoal.tables.published_alone import (
        ONLY_EXACT,
        published_alone,
        refuse_nothing_hidden,
        refuse_unknowable,
    )
    from shoal.tables.table_to_protect import TableToProtect, hierarchies_of

    named = settings.sensitive_data or settings.sensitive or None
    refuse_unknowable({"sensitive_data": named, "protection": settings.protection})
    problem, names, doubts = published_alone(
        frame,
        Path(settings.data).name,
        [other for _, other in beside],
        hierarchies=hierarchies_of(settings, workplace),
        total=settings.total or None,
        slack=slack_of(settings.rounding, settings.tolerance),
        low=settings.low or None,
        whole=settings.counts,
    )
    refuse_nothing_hidden(names, beside)
    hidden = np.array([problem.table.find(*name) for name in names], dtype=np.int64)
    return TableToProtect(problem, hidden=hidden, of_reading=(ONLY_EXACT, *doubts)), names


def pattern_of(settings: AuditSettings, table: "TableToProtect", workplace: Workplace) -> Any:
    """The hidden cells: those named one by one, in a list or in a jj file, or those the table marks itself."""
    from shoal.tables.as_problem import NO_PATTERN
    from shoal.tables.files.loading import load_general

    if settings.hidden:
        dimensions = table.base.dimensions
        if any(len(cell) != len(dimensions) for cell in settings.hidden):
            raise InputError(f"a hidden cell is named by {', '.join(dimensions)}")
        return [tuple(cell) for cell in settings.hidden]
    if settings.pattern is None:
        if table.hidden is None:
            raise InputError(NO_PATTERN)
        return [tuple(table.base.key(int(cell)).values()) for cell in table.hidden]
    file = workplace.as_file(settings.pattern, "jj")
    return workplace.listed(settings.pattern) if file is None else _marked(table, load_general(file))


def _marked(table: "TableToProtect", marked: "Loaded") -> list[tuple[str, ...]]:
    """The cells a jj file marks as hidden, by the names the table has for them."""
    theirs = marked.table.table  # type: ignore[union-attr]
    if table.base.dimensions != theirs.dimensions and table.base.cells != theirs.cells:
        raise InputError(f"the pattern has {theirs.cells} cells and the table {table.base.cells}")
    assert marked.hidden is not None
    # Written from a table with names, a jj file numbers the cells in their order there.
    names = theirs if table.base.dimensions == theirs.dimensions else table.base
    return [tuple(names.key(int(cell)).values()) for cell in marked.hidden]


def reads(settings: AuditSettings) -> list[DataName]:
    """The table with what is said of it, and the pattern."""
    return [
        *settings.read,
        *([] if settings.pattern is None else [settings.pattern]),
        *settings.beside,
        *settings.nested,
    ]


def _intervals(result: Audited, settings: AuditSettings) -> Any:
    from shoal.sources.internal import marked
    from shoal.tables.files.publishing import hidden_frame

    return marked(hidden_frame(result.outcome))


def _published(result: Audited, settings: AuditSettings) -> Any:
    from shoal.tables.files.publishing import published_frame

    found = result.outcome
    hidden = found.problem.hidden_mask(found.complementary)
    return published_frame(found.problem.table, hidden, "x") if found.safe else None


def titled(settings: AuditSettings) -> str:
    """A line by which a person recognises the run."""
    how = "by hand" if settings.hidden else settings.pattern or "as the file marks it"
    return f"Audit of {settings.named(how)}"


OPERATION = Operation(
    name="audit",
    title="Audit a table",
    summary="Compute what an attacker can compute from a table with hidden cells, exactly; exit 3 if a cell is unsafe.",
    description="Works for patterns made by any software. A sensitive cell that the pattern does not list is published, hence "
    "unsafe. Also finds hidden cells that are disclosed exactly though nobody called them sensitive. Ctrl-C or "
    f"{parameter('time_limit')} end it; what was not judged by then is named, and is not safe.",
    examples=(
        "shoal audit table.csv pattern.csv --sensitive cells.csv -o intervals.csv",
        "shoal audit cells.csv pattern.csv --beside last-year.csv --change 0.05",
        "shoal audit by-district.csv --beside by-grid.csv --nested grid-in-district.csv --difference 5",
    ),
    settings=AuditSettings,
    run=run,
    columns_in=lambda settings: settings.columns_in,
    reads=reads,
    reads_beside=lambda settings: settings.read_beside,
    good=lambda result, settings: result.outcome.safe,
    titled=titled,
    doing="auditing",
    products=(
        Product(
            "output",
            "The intervals (internal).",
            _intervals,
            short="-o",
            metavar="INTERVALS",
            internal=True,
            files=INTERVALS_FILES,
        ),
        Product(
            "published",
            "The table as it may be published, if it is safe.",
            _published,
            only="workbench",
            whole=published_whole,
            endings=PUBLISHED_ENDINGS,
            files=PUBLISHED_FILES,
        ),
        Product(
            "pattern",
            "The hidden cells and their kinds, if they are safe (internal).",
            lambda result, settings: pattern(result, settings) if result.outcome.safe else None,
            only="workbench",
            internal=True,
            whole=whole,
            endings=(".jj",),
            files=PATTERN_FILES,
        ),
    ),
    reporter="shoal.tables.reports.audit",
    function="shoal.tables.api:audit",
    measured=Written(builds="tabulate", needs="pattern"),
    # A jj file needs no pattern besides.
    apart=frozenset({"hierarchy", "hierarchies", "metadata", "total", "zeros"})
    | {"table", "pattern", "linked", "linked_tables", "sensitive_data", "contributions", "hidden"},
)
