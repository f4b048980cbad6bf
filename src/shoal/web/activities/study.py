"""Repeat a published experiment, step by step; another run of the same study goes on where this one stopped."""

import shutil
import time
from typing import Any, Literal

from pydantic import Field

from shoal.runtime.observer import Progress
from shoal.studies import STUDIES, Scope, Standing, load, run, standing
from shoal.studies.claims import TABLE, says
from shoal.studies.study import in_words
from shoal.web.activities.activity import Activity, Request
from shoal.web.jobs.context import Context

# How often a run that waits looks whether it may go on, in seconds.
_PATIENCE = 0.05


class StudyRequest(Request):
    """Which study, how much of it, and for how long; results are kept in the workspace between runs."""

    study: Literal[tuple(STUDIES)] = Field(description="one of the studies")  # type: ignore[valid-type]
    quick: bool = Field(default=True, description="a few runs instead of all")
    seed: int = Field(default=0, ge=0, le=2**53 - 1, description="where randomness begins")
    again: bool = Field(default=False, description="run steps again that are done already")
    time_limit: float | None = Field(
        default=None, gt=0, le=1e6, description="begin no step after so many seconds"
    )


def _run(request: StudyRequest, context: Context) -> dict[str, Any]:
    """Run the steps that are not done yet; the page with all of it is the report."""
    study = load(request.study)
    scope = Scope(quick=request.quick, seed=request.seed)
    folder = context.workspace.path("studies", f"{request.study}-quick" if request.quick else request.study)
    began = time.monotonic()

    def tell(now: Standing) -> None:
        left = f", about {in_words(now.left)} left" if now.left else ""
        context.observe(
            Progress(
                work=now.done,
                seconds=time.monotonic() - began,
                total=now.total,
                share=now.done / max(1, now.total),
                phase=f"{now.title}{left}",
            )
        )
        context.flush()

    def stop() -> bool:
        while context.control.paused:
            time.sleep(_PATIENCE)
        late = request.time_limit is not None and time.monotonic() - began >= request.time_limit
        return context.control.cancelled or late

    rows = run(study, scope, folder, tell=tell, again=request.again, stop=stop)
    for name, shown, title in (
        ("study.html", "report.html", "Report"),
        ("rows.csv", "rows.csv", "Rows as CSV"),
        ("table.md", "table.md", "Tables as Markdown"),
    ):
        shutil.copyfile(folder / name, context.file(shown, title))
    now = standing(study, scope, folder)
    claims = [row for row in rows if row.table == TABLE]
    return {
        "study": request.study,
        "title": study.title,
        "source": study.source,
        "steps_done": now.done,
        "steps": now.total,
        "seconds_spent": round(now.spent, 1),
        "seconds_left": None if now.left is None else round(now.left, 1),
        "rows": len(rows),
        "claims": [[row.case, row.measure, row.published, row.measured, row.note] for row in claims],
        "claims_that_hold": sum(map(says, claims)),
    }


def _title(request: StudyRequest) -> str:
    return f"Study {request.study}" + (", quick" if request.quick else "")


ACTIVITY = Activity("study", "Studies", StudyRequest, _run, _title, search=True)
