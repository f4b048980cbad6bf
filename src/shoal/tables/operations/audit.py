"""``audit`` as an operation: the interval an attacker can compute for every hidden cell, and whether it is wide enough."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from shoal.errors import InputError
from shoal.operation import Operation, Place, Product, Workplace, call
from shoal.tables.operations.products import INTERVALS_FILES, PATTERN_FILES, PUBLISHED_FILES, pattern, whole
from shoal.tables.settings import AuditSettings, TabulationSettings

if TYPE_CHECKING:
    from shoal.tables.files.loading import Loaded
    from shoal.tables.safety.audit import Audit
    from shoal.tables.table_to_protect import TableToProtect


@dataclass(frozen=True)
class Audited:
    """What an attacker can compute, and the table it is about."""

    found: "Audit"
    table: "TableToProtect"


def run(settings: AuditSettings, place: Workplace) -> Audited:
    """Compute the intervals, whoever chose the hidden cells."""
    from shoal.tables.api import audit
    from shoal.tables.table_to_protect import table_to_protect

    place.say("building the table")
    table = table_to_protect(settings, place)
    hidden = pattern_of(settings, table, place)
    place.say("auditing")
    found = call(audit, settings, place, table.table, pattern=hidden, sensitive=table.sensitive)
    return Audited(found, table)


def pattern_of(settings: AuditSettings, table: "TableToProtect", place: Workplace) -> Any:
    """The hidden cells: those named one by one, in a list or in a jj file, or those the table marks itself."""
    from shoal.tables.files.loading import load_general

    if settings.hidden:
        dimensions = table.base.dimensions
        if any(len(cell) != len(dimensions) for cell in settings.hidden):
            raise InputError(f"a hidden cell is named by {', '.join(dimensions)}")
        return [tuple(cell) for cell in settings.hidden]
    if settings.pattern is None:
        if table.hidden is None:
            raise InputError("name the pattern: a file with the hidden cells")
        return [tuple(table.base.key(int(cell)).values()) for cell in table.hidden]
    file = place.as_file(settings.pattern, "jj")
    return place.listed(settings.pattern) if file is None else _marked(table, load_general(file))


def _marked(table: "TableToProtect", marked: "Loaded") -> list[tuple[str, ...]]:
    """The cells a jj file marks as hidden, by the names the table has for them."""
    theirs = marked.table.table  # type: ignore[union-attr]
    if table.base.dimensions != theirs.dimensions and table.base.cells != theirs.cells:
        raise InputError(f"the pattern has {theirs.cells} cells and the table {table.base.cells}")
    assert marked.hidden is not None
    # Written from a table with names, a jj file numbers the cells in their order there.
    names = theirs if table.base.dimensions == theirs.dimensions else table.base
    return [tuple(names.key(int(cell)).values()) for cell in marked.hidden]


def reads(settings: AuditSettings) -> list[Place]:
    """The table with what is said of it, and the pattern."""
    return [*settings.read, *([] if settings.pattern is None else [settings.pattern])]


def _intervals(result: Audited, settings: AuditSettings) -> Any:
    from shoal.sources.internal import marked
    from shoal.tables.files.publishing import hidden_frame

    return marked(hidden_frame(result.found))


def _published(result: Audited, settings: AuditSettings) -> Any:
    from shoal.tables.files.publishing import published_frame

    found = result.found
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
    "unsafe. Also finds hidden cells that are disclosed exactly though nobody called them sensitive.",
    examples=("shoal audit table.csv pattern.csv --sensitive cells.csv -o intervals.csv",),
    settings=AuditSettings,
    run=run,
    reads=reads,
    good=lambda result, settings: result.found.safe,
    titled=titled,
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
            files=PUBLISHED_FILES,
        ),
        Product(
            "pattern",
            "The hidden cells and their kinds, if they are safe (internal).",
            lambda result, settings: pattern(result, settings) if result.found.safe else None,
            only="workbench",
            internal=True,
            whole=whole,
            endings=(".jj",),
            files=PATTERN_FILES,
        ),
    ),
    telling="shoal.tables.reports.audit",
    function="shoal.tables.api:audit",
    only_in_workbench=frozenset(TabulationSettings.model_fields),
    # A jj file needs no pattern besides.
    apart=frozenset(TabulationSettings.model_fields)
    | {"table", "pattern", "source", "linked", "linked_tables", "sensitive_data", "contributions", "hidden"},
)
