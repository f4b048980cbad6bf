"""What ``suppress`` and ``audit`` write alike: the hidden cells, and the table without them."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from shoal.tables.files.layout import Layout

#: Published tables that are more than a list of cells.
PUBLISHED_ENDINGS = (".xlsx", ".html", ".sdmx.csv")
PATTERN_FILES = (
    ("pattern.csv", "Pattern, internal (CSV)"),
    ("table.jj", "Table and pattern, internal (jj)"),
)
PUBLISHED_FILES = (
    ("published.csv", "Published table (CSV)"),
    ("published.xlsx", "Published table (Excel)"),
    ("published.html", "Published table (page)"),
    ("published.sdmx.csv", "Published table (SDMX-CSV)"),
)
INTERVALS_FILES = (("intervals.csv", "Intervals, internal (CSV)"),)


def pattern(result: Any, settings: object) -> Any:
    """The hidden cells and their kinds."""
    from shoal.sources.internal import marked
    from shoal.tables.files.publishing import pattern_frame

    return marked(pattern_frame(result.outcome.problem, result.outcome.complementary))


def layout_of(settings: Any, decimal: str = ".") -> "Layout":
    """What the published table is to look like, with the decimal sign of its readers."""
    from shoal.tables.files.layout import Layout

    figure = settings.value or ("Count" if settings.dimensions else "")
    symbol = getattr(settings, "symbol", None)
    return Layout(tuple(settings.rows), tuple(settings.columns), settings.decimals, symbol, figure, decimal)


def suits_layout(settings: Any, name: str, written: frozenset[str]) -> None:
    """Refuse a layout for a form that has none; the internal workbook beside it may still need it."""
    from shoal.tables.files.published_forms import refuse_for_sdmx

    if "review" not in written:
        refuse_for_sdmx(name, layout_of(settings))


def published_whole(result: Any, name: str) -> bytes:
    """The published table in the form that its name asks for."""
    from shoal.tables.files.layout import Layout
    from shoal.tables.files.published_forms import published_as

    problem = result.outcome.problem
    layout = getattr(result, "layout", None) or Layout()
    dataflow = getattr(result, "dataflow", "") or "SHOAL:TABLE(1.0)"
    hidden = problem.hidden_mask(result.outcome.complementary)
    return published_as(name, problem.table, hidden, result.table.trees, layout, dataflow)


def whole(result: Any, name: str) -> bytes:
    """The whole table with the hidden cells marked, as a jj file of this name."""
    from shoal.tables.files.jj import encoded

    return encoded(result.outcome.problem, result.outcome.complementary, name)
