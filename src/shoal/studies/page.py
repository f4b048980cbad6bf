"""A study as one page that can be attached to a paper: claims first, then every table with its charts, and how it was run."""

from collections.abc import Mapping, Sequence

from shoal.report.page import Page
from shoal.studies.claims import OWN_TABLE, TABLE, says
from shoal.studies.study import Picture, Row, Scope, Standing, Study, figure, in_words

_HEADER = ["case", "measure", "published", "measured", "note"]


def page(
    study: Study, scope: Scope, rows: Sequence[Row], pictures: Mapping[str, Picture], standing: Standing
) -> Page:
    """The page of what is done so far; it needs no other file."""
    out = Page(study.title, f"Repeats: {study.source}", public=True)
    out.section("What was run")
    out.facts(_extent(study, scope, standing))
    if standing.done < standing.total:
        out.warning(
            "Not all of it was run: figures are of the steps that are done, and means of fewer runs are worse."
        )
    for remark in study.remarks:
        out.note(remark)
    for table, section in (
        (TABLE, "What the work says, and whether it holds here"),
        (OWN_TABLE, "What we ask besides"),
    ):
        claims = [row for row in rows if row.table == table]
        if claims:
            out.section(section)
            held = sum(map(says, claims))
            out.text(
                f"{held} of {len(claims)} claims hold. A verdict is the rule in its row, applied to the figure beside it."
            )
            _table(out, claims)
    if pictures:
        out.section("Figures")
        for picture in pictures.values():
            out.chart(picture.svg, picture.caption)
    for table in dict.fromkeys(row.table for row in rows if row.table not in (TABLE, OWN_TABLE)):
        out.section(table)
        _table(out, [row for row in rows if row.table == table])
    out.provenance([("command", command(study, scope)), ("seed", scope.seed)], "")
    return out


def command(study: Study, scope: Scope) -> str:
    """What repeats a study on the command line."""
    more = [*(["--quick"] if scope.quick else []), *([f"--seed {scope.seed}"] if scope.seed else [])]
    return " ".join(["shoal study", study.name, *more])


def _extent(study: Study, scope: Scope, standing: Standing) -> list[tuple[str, str]]:
    return [
        ("command", command(study, scope)),
        ("size", "a few runs (--quick)" if scope.quick else "as published"),
        ("steps done", f"{standing.done} of {standing.total}"),
        ("time taken", in_words(standing.spent) if standing.spent else "–"),
        ("CPU time", in_words(standing.cpu) if standing.cpu else "–"),
    ]


def _table(out: Page, rows: Sequence[Row]) -> None:
    out.table(
        _HEADER,
        [(row.case, row.measure, figure(row.published), figure(row.measured), row.note) for row in rows],
    )
