"""What ``suppress`` and ``audit`` write alike: the hidden cells, and the table without them."""

from typing import Any

PATTERN_FILES = (
    ("pattern.csv", "Pattern, internal (CSV)"),
    ("table.jj", "Table and pattern, internal (jj)"),
)
PUBLISHED_FILES = (("published.csv", "Published table (CSV)"), ("published.xlsx", "Published table (Excel)"))
INTERVALS_FILES = (("intervals.csv", "Intervals, internal (CSV)"),)


def pattern(result: Any, settings: object) -> Any:
    """The hidden cells and their kinds."""
    from shoal.sources.internal import marked
    from shoal.tables.files.publishing import pattern_frame

    return marked(pattern_frame(result.found.problem, result.found.complementary))


def whole(result: Any, name: str) -> bytes:
    """The whole table with the hidden cells marked, as a jj file of this name."""
    from shoal.tables.files.jj import encoded

    return encoded(result.found.problem, result.found.complementary, name)
