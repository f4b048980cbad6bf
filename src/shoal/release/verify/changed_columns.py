"""Which columns a step changes: what the others show must be what it was."""

from collections.abc import Iterable, Sequence

from shoal.release.plan.plan import Step
from shoal.release.release_reader import OpenedRelease


def touched(opened: OpenedRelease, step: Step) -> set[str]:
    """The columns that a step on records changes or removes."""
    release = step.as_records
    if release is None:
        return set()
    stated = opened.figures(step.name).get(release.states_columns, ())
    return {*release.touched(step.settings), *(release.removed(step.settings) or ()), *stated}


def follows_unchanged(opened: OpenedRelease, steps: Sequence[Step], columns: Iterable[str]) -> bool:
    """Whether some steps leave columns as they are."""
    changed = {name for step in steps for name in touched(opened, step)}
    return not changed & set(columns)
