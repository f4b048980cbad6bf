"""What a release still risks, and what it leaves out: said where somebody decides."""

from collections.abc import Callable
from typing import Any

from nicegui import ui

from shoal.numbers import counted
from shoal.report.definitions import Definitions, in_words
from shoal.web.pages import parts


def residual_risk(figures: dict[str, Any], definitions: Definitions) -> None:
    """The risk that is left over all that could be known, beside what was asked for."""
    below, k = figures.get("below") or {}, figures.get("k")
    if not below:
        return
    parts.strong("Risk that is left")
    parts.facts(
        [
            (f"in crowds below {size}", people, "bad" if people and k and int(size) <= k else "")
            for size, people in below.items()
        ]
        + in_words(definitions, figures, ("maximum_risk", "average_risk"))
    )


def removed_beside(chosen: Callable[[], Any]) -> None:
    """The columns that will be removed, named beside the button that does it."""
    words = parts.quiet().props('data-test="removed"').style("max-width: 30ch; overflow-wrap: anywhere")

    def look() -> None:
        names = list(chosen() or [])
        what = f"{counted(len(names), 'column')}: {', '.join(names)}" if names else "no column"
        words.set_text(f"Removes {what}")

    look()
    ui.timer(0.5, look)
