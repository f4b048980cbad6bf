"""A perturbed release: what changed, what was promised and measured, and where what it bought is measured."""

from typing import Any
from urllib.parse import quote

from shoal.web.jobs.job import Job
from shoal.web.pages import parts
from shoal.web.pages.column_bars import column_bars
from shoal.web.pages.next_step import use_as_data
from shoal.web.pages.release import write_back
from shoal.web.workbench import Workbench

_DRAWN = 24


def present_perturbed(workbench: Workbench, job: Job) -> None:
    """All that may be shown of it; the secret, matrices and record links are files."""
    found: dict[str, Any] = job.summary
    parts.warnings(found["warnings"])
    parts.facts(_facts(found))
    if found["facts"]:
        parts.table(["what was done", ""], list(found["facts"].items())).classes("shoal-words")
    parts.subheading("What holds")
    parts.table(
        ["promised", "measured on the release", "holds"],
        [(one["text"], one["measured"], one["kept"]) for one in found["promises"]],
        classes=["" if one["kept"] else "crowd-1" for one in found["promises"]],
    ).classes("shoal-words")
    parts.subheading("Values that differ now")
    names = list(found["changed"])
    column_bars(
        names[:_DRAWN],
        [100 * found["changed_share"][name] for name in names[:_DRAWN]],
        what="percent of the records",
        most=100,
        label="how many values of each column differ from the original",
    )
    with parts.folded("In numbers", unfolded=len(names) > _DRAWN):
        parts.table(
            ["column", "values that differ", "percent of the records"],
            [(name, count, 100 * found["changed_share"][name]) for name, count in found["changed"].items()],
        )
    parts.note(
        "Perturbation promises no k: who is unique may stay so. What it buys is measured by attacks, and what it costs by "
        "comparing the release with the original."
    )
    if job.request["data"] in workbench.datasets:
        where = f"/compare?data={quote(job.request['data'])}&release={quote(job.run)}"
        parts.button("Compare with the original", icon="scatter_plot", to=where)
    for text in found["notes"]:
        parts.note(text)
    if found["dropped"]:
        parts.note(f"Removed: {', '.join(found['dropped'])}.")
    use_as_data(workbench, job)
    write_back(workbench, job)


def _facts(figures: dict[str, Any]) -> list[tuple[Any, ...]]:
    strata = [("strata", figures["strata"])] if figures["strata"] > 1 else []
    return [
        (
            "randomness",
            "a secret" if figures["for_release"] else "a seed: not for release",
            "good" if figures["for_release"] else "bad",
        ),
        (
            "promises, each checked on the release",
            f"{sum(one['kept'] for one in figures['promises'])} of {len(figures['promises'])} hold",
            "good" if all(one["kept"] for one in figures["promises"]) else "bad",
        ),
        ("method", figures["method"]),
        ("records", figures["records"]),
        *strata,
    ]
