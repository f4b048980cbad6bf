"""A published table with changed figures beside the one it was made of: the check of its method, on the file that went out."""

from typing import Any

from shoal.errors import Infeasible, InputError
from shoal.import_paths import load
from shoal.release.plan.plan import Output, Step
from shoal.release.release_reader import OpenedRelease
from shoal.release.verify.check import Check, fails, holds, not_judged


def confirmed(opened: OpenedRelease, output: Output, step: Step) -> dict[str, Any] | None:
    """The figures of a published table, with everything built again from what it was made of; none if that is not there.

    ``AssertionError``, ``InputError`` or ``Infeasible`` if the method would not publish it.
    """
    settings, changed = opened.settings(step), step.as_changed_table
    if settings is None or changed is None:
        return None
    confirm = load(changed.confirms)
    figures: dict[str, Any] = confirm(
        settings, opened.workplace(), opened.written(output.file), opened.figures(step.name)
    )
    return figures


def changed_table(opened: OpenedRelease, output: Output, step: Step) -> Check:
    """Whether the published figures are some that the method allows, with everything built again from what it was made of."""
    try:
        if confirmed(opened, output, step) is None:
            return not_judged(
                "figures", f"the table of step '{step.name}' is a source: its figures need the originals"
            )
    except (AssertionError, InputError, Infeasible) as problem:
        return fails("figures", f"'{output.file}' is not what step '{step.name}' may publish: {problem}")
    return holds("figures", f"the figures of '{output.file}' are some that step '{step.name}' may publish")
