"""Which columns a step changes: what the others show must be what it was."""

from collections.abc import Iterable, Sequence
from typing import Any

from shoal.release.plan.plan import Step
from shoal.release.release_reader import OpenedRelease


def touched(opened: OpenedRelease, step: Step) -> set[str]:
    """The columns that a step on records changes or removes."""
    settings: Any = step.settings
    named: set[str] = set()
    for name in ("columns", "quasi", "average", "drop") if step.do == "recode" else ("columns", "drop"):
        named.update(getattr(settings, name, None) or ())
    told = opened.figures(step.name)
    if step.do in ("microaggregate", "perturb"):
        named.update(told.get("columns", ()))
    return named


def follows_unchanged(opened: OpenedRelease, steps: Sequence[Step], columns: Iterable[str]) -> bool:
    """Whether some steps leave columns as they are."""
    changed = {name for step in steps for name in touched(opened, step)}
    return not changed & set(columns)
