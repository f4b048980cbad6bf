"""What a page is made of: headings, paragraphs, names with their values, tables."""

from collections.abc import Iterable, Sequence
from typing import Any

from shoal.report.markup import Markup, element, joined


def heading(title: str) -> Markup:
    """The title of a section."""
    return element("h2", title)


def paragraph(text: str, kind: str | None = None) -> Markup:
    """A paragraph; ``kind`` is how it is drawn."""
    return element("p", text, class_=kind)


def facts(pairs: Iterable[tuple[str, Any]]) -> Markup:
    """Names with their values.

    >>> facts([("records", 15000)])
    '<dl><dt>records</dt><dd>15,000</dd></dl>'
    """
    inner = [
        joined([element("dt", name), element("dd", value if isinstance(value, Markup) else shown(value))])
        for name, value in pairs
    ]
    return element("dl", *inner)


def table(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> Markup:
    """A table; numbers are aligned to the right."""
    body = [list(row) for row in rows]
    numeric = [
        bool(body) and all(_is_number(row[place]) or row[place] is None for row in body)
        for place in range(len(header))
    ]
    kinds = ["number" if flag else None for flag in numeric]
    head = [element("th", name, class_=kind) for kind, name in zip(kinds, header, strict=True)]
    lines = [
        element(
            "tr",
            *(element("td", shown(value), class_=kind) for kind, value in zip(kinds, row, strict=True)),
        )
        for row in body
    ]
    inside = element("table", element("thead", element("tr", *head)), element("tbody", *lines))
    return element("div", inside, class_="wide")


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def shown(value: Any) -> str:
    """A value as a person would write it.

    >>> shown(1234567), shown(0.0312345), shown(1995.34), shown(True), shown(None)
    ('1,234,567', '0.03123', '1995.3', 'yes', '–')
    """
    if value is None:
        return "–"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        if abs(value) < 1000:
            return f"{value:.4g}"
        # Means of years and postcodes are among these: 1995.3, not 1,995.3.
        return f"{value:.1f}" if abs(value) < 100_000 else f"{value:,.1f}"
    return str(value)
