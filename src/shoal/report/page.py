"""A self-contained, printable HTML page that somebody can sign: what a result is about, what it shows, how it was made."""

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from shoal.errors import as_words, spelled
from shoal.report import blocks, signing
from shoal.report.markup import Markup, element
from shoal.report.provenance import Assurances, Provenance

#: What every report says of itself, for readers at its top and for programs in its head.
INTERNAL = (
    "Internal: for those who decide about the release, not for publication. It names the data and its fingerprint; the file "
    "can be read by its owner alone (mode 0600), and copies should be kept the same way."
)

_STYLE = Path(__file__).with_suffix(".css").read_text(encoding="utf-8")

#: What a report may do: nothing but look as it does. Wherever it is opened, no script runs in it and nothing is fetched.
POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


class Page:
    """A page that is filled from top to bottom and then written; ``public`` if it tells of no data of anybody.

    >>> page = Page("Anonymity of people.csv")
    >>> page.facts([("records", 15), ("K", 2)])
    >>> "<dt>records</dt><dd>15</dd>" in page.html()
    True
    """

    def __init__(self, title: str, lead: str = "", *, public: bool = False) -> None:
        self.title = title
        self._public = public
        self._lead = lead
        self._created = datetime.now(UTC)
        self._parts: list[Markup] = []
        self._provenance: Provenance | None = None
        self._assurances: Assurances | None = None
        self._carried_out: tuple[tuple[str, Any], ...] = ()
        self._verified = ""
        self._defined: tuple[tuple[str, str, str], ...] = ()

    def section(self, title: str) -> None:
        """Begin a section."""
        self._parts.append(blocks.heading(title))

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
        self._parts.append(blocks.facts(pairs))

    def table(self, header: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        """Add a table; numbers are aligned to the right."""
        self._parts.append(blocks.table(header, rows))

    def chart(self, svg: str, caption: str) -> None:
        """Add a chart as drawn by ``shoal.report.charts``."""
        self._parts.append(element("figure", svg, element("figcaption", caption)))

    def provenance(self, carried_out: Iterable[tuple[str, Any]], verified: str) -> None:
        """Say what the result itself knows of how it was carried out, and what checked it; a report ends with it."""
        self._carried_out, self._verified = tuple(carried_out), verified

    def define(self, figures: Iterable[tuple[str, str, str]]) -> None:
        """Say what figures mean: their names here and in JSON, and their definitions."""
        self._defined = tuple(figures)

    def complete(self, provenance: Provenance, assurances: Assurances | None = None) -> "Page":
        """Add what a front end knows: the data, the command, all settings; and what stands against an attacker."""
        self._provenance, self._assurances = provenance, assurances
        return self

    def html(self) -> str:
        """The whole page."""
        inside = [
            *([] if self._public else [element("p", INTERNAL, class_="internal", role="note")]),
            element("h1", self.title),
            *([element("p", self._lead, class_="lead")] if self._lead else []),
            *signing.opening(self._provenance, self._created),
            *self._parts,
            *signing.meanings(self._defined),
            *signing.answers(self._assurances),
            *signing.closing(self._provenance, self._carried_out, self._verified, signed=not self._public),
        ]
        return (
            '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
            f'<meta http-equiv="Content-Security-Policy" content="{POLICY}">'
            '<meta name="referrer" content="no-referrer">'
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            f'<meta name="classification" content="{"public" if self._public else "internal"}">'
            f"{element('title', self.title)}<style>{_STYLE}</style></head>\n<body>\n"
            + "\n".join(inside)
            + "\n</body></html>\n"
        )

    def write(self, path: Path, *, force: bool = False) -> None:
        """Write the page whole or not at all, readable by its owner alone."""
        from shoal.sources import Outputs

        outputs = Outputs(force=force)
        page = outputs.file("the report", path, internal=not self._public)
        with outputs.together() as writing:
            if page is not None:
                writing.text(page, self.html())
