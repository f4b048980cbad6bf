"""A self-contained, printable HTML page: headings, facts, tables, charts and warnings, everything escaped."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from shoal.errors import as_words, spelled
from shoal.report.markup import Markup, element, joined

#: What every report says of itself, for readers at its top and for programs in its head.
INTERNAL = "Internal: for those who decide about the release, not for publication."

_STYLE = Path(__file__).with_suffix(".css").read_text(encoding="utf-8")

#: What a report may do: nothing but look as it does. Wherever it is opened, no script runs in it and nothing is fetched.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


class Page:
    """A page that is filled from top to bottom and then written.

    >>> page = Page("Anonymity of people.csv")
    >>> page.facts([("records", 15), ("K", 2)])
    >>> "<dt>records</dt><dd>15</dd>" in page.html()
    True
    """

    def __init__(self, title: str, lead: str = "") -> None:
        self.title = title
        self._parts: list[Markup] = [
            element("p", INTERNAL, class_="internal", role="note"),
            element("h1", title),
        ]
        if lead:
            self._parts.append(element("p", lead, class_="lead"))
        self._footer = ""

    def section(self, title: str) -> None:
        """Begin a section."""
        self._parts.append(element("h2", title))

    def text(self, text: str) -> None:
        """Add a paragraph."""
        self._parts.append(element("p", text))

    def note(self, text: str) -> None:
        """Add a paragraph in a quieter voice."""
        self._parts.append(element("p", spelled(text, as_words), class_="note"))

    def warning(self, text: str) -> None:
        """Add a paragraph nobody should overlook."""
        self._parts.append(element("p", spelled(text, as_words), class_="warning", role="alert"))

    def facts(self, pairs: Iterable[tuple[str, Any]]) -> None:
        """Add names with their values."""
        inner = [joined([element("dt", name), element("dd", shown(value))]) for name, value in pairs]
        self._parts.append(element("dl", *inner))

    def table(self, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        """Add a table; numbers are aligned to the right."""
        body = [list(row) for row in rows]
        numeric = [
            bool(body) and all(isinstance(row[place], int | float) or row[place] is None for row in body)
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
        table = element("table", element("thead", element("tr", *head)), element("tbody", *lines))
        self._parts.append(element("div", table, class_="wide"))

    def chart(self, svg: str, caption: str) -> None:
        """Add a chart as drawn by ``shoal.report.charts``."""
        self._parts.append(element("figure", svg, element("figcaption", caption)))

    def provenance(self, settings: Iterable[tuple[str, Any]], verified: str) -> None:
        """Say with what software and settings this was made, and how it was checked."""
        from shoal.report.provenance import versions

        self.section("How this was made")
        self.facts([*settings, ("checked by", verified), ("software", versions())])

    def html(self) -> str:
        """The whole page."""
        return (
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
            f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
            '<meta name="referrer" content="no-referrer">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            '<meta name="classification" content="internal">'
            f"{element('title', self.title)}<style>{_STYLE}</style></head>\n<body>\n"
            + "\n".join(self._parts)
            + "\n</body></html>\n"
        )

    def write(self, path: Path, *, force: bool = False) -> None:
        """Write the page whole or not at all, readable by its owner alone."""
        from shoal.sources import Outputs

        outputs = Outputs(force=force)
        page = outputs.file("the report", path, internal=True)
        with outputs.together() as writing:
            if page is not None:
                writing.text(page, self.html())


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
