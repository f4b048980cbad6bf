"""What every report holds besides its figures, so that somebody can sign it.

At the top what it is about: the data with its fingerprint, and the command or run. After the figures the attacker
assumed, with answers to singling out, linking and inference; then all settings, what checked the result, and
a block for names and signatures.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Any

from shoal.errors import as_words, spelled
from shoal.report.blocks import facts, heading, paragraph, shown, table
from shoal.report.markup import Markup, element, joined
from shoal.report.provenance import Assurances, Chosen, Input, Provenance, versions

_SIGNED = ("Name", "Role", "Date", "Signature")
_SIGNERS = ("Made and checked by", "Release approved by")
_MEANING = (
    ("singling out", "Can an intruder tell which records belong to somebody?"),
    ("linking", "Can an intruder join a record with what is known of somebody from elsewhere?"),
    ("inference", "Can an intruder learn something new of somebody?"),
)


def opening(provenance: Provenance | None, created: datetime) -> list[Markup]:
    """What the report is about: which data, made by what and when."""
    dated = ("created", f"{created:%Y-%m-%d %H:%M} UTC")
    if provenance is None:
        return [facts([dated])]
    parts = [heading("What this report is about"), facts([(provenance.by, _code(provenance.words)), dated])]
    if provenance.refused is not None:
        refused = f"Refused: {spelled(provenance.refused, as_words)}. Nothing of it may be released."
        parts.append(element("p", refused, class_="warning", role="alert"))
    parts += [_input(item) for item in provenance.inputs]
    if provenance.written:
        parts.append(paragraph("Written with this report:"))
        parts.append(
            facts([(item.what, _with_fingerprint(item.name, item.sha256)) for item in provenance.written])
        )
    return parts


def meanings(figures: Sequence[tuple[str, str, str]]) -> list[Markup]:
    """What the figures mean, wherever they are shown."""
    if not figures:
        return []
    return [heading("What the figures mean"), table(["figure", "in JSON", "definition"], figures)]


def answers(assurances: Assurances | None) -> list[Markup]:
    """Whom the result is to stand against, and what they can still do."""
    if assurances is None:
        return []
    found = (assurances.singling_out, assurances.linking, assurances.inference)
    parts = [
        heading("Singling out, linking, inference"),
        paragraph(f"The attacker assumed: {assurances.attacker}"),
    ]
    for (name, question), answer in zip(_MEANING, found, strict=True):
        asked = element("strong", f"{name[:1].upper()}{name[1:]}. {question}")
        parts.append(element("p", asked, " ", f"{answer[:1].upper()}{answer[1:]}", class_="answer"))
    return parts


def closing(
    provenance: Provenance | None,
    carried_out: Sequence[tuple[str, Any]],
    verified: str,
    *,
    signed: bool = True,
) -> list[Markup]:
    """With which settings and software it was made, what checked it, and who signs."""
    checked = [("checked by", verified)] if verified else []
    parts = [heading("How this was made"), facts([*checked, ("software", versions())])]
    if provenance is not None and provenance.settings:
        parts += [
            paragraph("All settings, also those left at their default:"),
            _settings(provenance.settings),
        ]
    if carried_out:
        parts += [paragraph("As it was carried out:"), facts(carried_out)]
    return [*parts, _signatures()] if signed else parts


def _input(item: Input) -> Markup:
    pairs: list[tuple[str, Any]] = [
        (item.role or "data", f"{item.name} ({item.kind})" if item.kind else item.name)
    ]
    if item.records is not None:
        pairs.append(("records", item.records))
    if item.columns is not None:
        pairs.append(("columns", f"{len(item.columns):,}: {', '.join(item.columns)}"))
    if item.sha256 is not None:
        pairs.append((f"SHA-256 of {item.of}", _code(item.sha256)))
    elif item.lacking:
        pairs.append(("SHA-256", item.lacking))
    if item.notes:
        pairs.append(("read as", "; ".join(item.notes)))
    return facts(pairs)


def _with_fingerprint(name: str, sha256: str | None) -> Markup:
    pieces = [name] if sha256 is None else [f"{name}, SHA-256 ", _code(sha256)]
    return joined(pieces)


def _settings(chosen: Iterable[Chosen]) -> Markup:
    rows = [(item.label, item.value, item.default) for item in chosen]
    return table(["setting", "value", "left at its default"], rows)


def _signatures() -> Markup:
    """Room for names by hand or by any tool that fills in a printed page."""
    head = element("tr", element("th", ""), *(element("th", who, scope="col") for who in _SIGNERS))
    lines = [
        element("tr", element("th", line, scope="row"), *(element("td", "") for _ in _SIGNERS))
        for line in _SIGNED
    ]
    said = (
        "Whoever signs has read the warnings above, and confirms the data, the settings and the attacker assumed as they are "
        "named in this report."
    )
    inside = element("table", element("thead", head), element("tbody", *lines))
    return element("section", heading("Signatures"), paragraph(said), inside, class_="signatures")


def _code(text: Any) -> Markup:
    return element("code", shown(text))
