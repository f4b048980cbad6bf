"""The figures a step stated, counted again from the originals and from what was released, by the checks of its operation."""

import json
from typing import Any

import numpy as np

from shoal.import_paths import load
from shoal.release.plan.plan import Step
from shoal.release.release_reader import OpenedRelease
from shoal.release.verify.changed_tables import confirmed
from shoal.release.verify.evidence import StepEvidence


def recounted(opened: OpenedRelease, step: Step) -> dict[str, Any]:
    """The figures that can be counted again, under the names they were stated by; none if too little of the step is there."""
    # As they were written: names are texts, and there is one kind of number.
    again: dict[str, Any] = json.loads(json.dumps(_counted(opened, step), default=_plain))
    return again


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else str(value)


def _counted(opened: OpenedRelease, step: Step) -> dict[str, Any]:
    if step.release.recounts:
        figures: dict[str, Any] = load(step.release.recounts)(StepEvidence(opened, step))
        return figures
    if step.as_records:
        return {"records": int((opened.own_links(step) >= 0).sum())}
    assert opened.plan is not None
    for output in opened.plan.outputs:
        if output.public and output.step == step.name and output.product == step.release.product:
            return confirmed(opened, output, step) or {}
    return {}
