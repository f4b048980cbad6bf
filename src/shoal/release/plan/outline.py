"""What a run of a plan would do, without running anything."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from shoal.release.folder import ReleaseFolder, is_release
from shoal.release.plan.plan import Plan
from shoal.release.plan.plan_fits_data import columns_of, expect_fitting, record_outputs
from shoal.release.plan.preflight import expect_keys, read_source
from shoal.release.readings import Readings
from shoal.report.provenance import without_password


@dataclass(frozen=True)
class Outline:
    """What would happen, line by line, and what somebody should know before."""

    rows: tuple[tuple[str, str], ...]
    notes: tuple[str, ...]


def outline(plan: Plan, target: Path | None = None) -> Outline:
    """Read the data, check that the plan fits it, and tell what would happen; nothing is written."""
    expect_keys(plan)
    readings = Readings()
    frames = {name: read_source(plan, name, readings).frame for name in plan.sources}
    notes = expect_fitting(plan, frames)
    rows = [
        (
            "source",
            f"{name}: {without_password(source.data)}, {frames[name].height:,} records of {frames[name].width} columns",
        )
        for name, source in plan.sources.items()
    ]
    rows += _steps(plan)
    records = record_outputs(plan)
    rows += [
        (
            "publishes" if item.public else "keeps inside",
            f"{item.file}: {item.product} of {item.step}"
            + (f", columns {', '.join(columns_of(plan, item.step, frames))}" if item in records else ""),
        )
        for item in plan.outputs
    ]
    folder = ReleaseFolder(plan.target(target))
    rows.append(("into", str(folder.target)))
    if folder.target.exists():
        what = "exists already" if is_release(folder.target) else "is there and is no release"
        notes.append(f"'{folder.target.name}' {what}: choose another folder for the release")
    if folder.path.exists():
        notes.append(f"an earlier run for '{folder.target.name}' is not finished")
    return Outline(tuple(rows), tuple(notes))


def _steps(plan: Plan) -> Sequence[tuple[str, str]]:
    found = []
    for number, step in enumerate(plan.steps, start=1):
        given = ", ".join(f"{key} = {value}" for key, value in step.values.items())
        found.append((f"step {number}", f"{step.name} ({step.do}): {given}"))
        if step.name in plan.gates:
            limits = plan.gates[step.name].model_dump(exclude_none=True)
            found.append(("gates", ", ".join(f"{name} {limit}" for name, limit in limits.items())))
    return found
