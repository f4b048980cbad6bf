"""Whether a release is less safe than was asked for: then somebody must say that they know before its files are given out."""

from typing import TYPE_CHECKING, Any

from shoal.operation_release import AppointmentsRelease
from shoal.operations import OPERATIONS

if TYPE_CHECKING:
    from shoal.web.jobs.job import Job


def shortfall(job: "Job") -> str:
    """What is missing, in a sentence; nothing if the release is what was asked for, or promises no K.

    >>> from shoal.web.jobs.job import Job, State
    >>> run = Job("0", "recode", "", {"k": 5}, State.DONE, summary={"k": 5, "k_release": 1})
    >>> shortfall(run)
    'K of this release is 1, below the k = 5 that was asked for'
    """
    if job.kind in OPERATIONS and isinstance(OPERATIONS[job.kind].release, AppointmentsRelease):
        reached, asked, what = _plans(job.summary), job.request.get("k"), "these appointments"
    else:
        reached, asked, what = job.summary.get("k_release"), job.summary.get("k"), "this release"
    if not isinstance(reached, int) or not isinstance(asked, int) or reached >= asked:
        return ""
    return f"K of {what} is {reached}, below the k = {asked} that was asked for"


def _plans(summary: dict[str, Any]) -> int | None:
    """K of the worst plan."""
    found = [table.get("k") for table in summary.get("tables", [summary])]
    return min((k for k in found if isinstance(k, int)), default=None)
