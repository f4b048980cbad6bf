"""What was required of a result, red or green."""

from collections.abc import Iterable, Mapping
from typing import Any

from nicegui import ui

from shoal.report.blocks import shown
from shoal.web.pages import parts


def gates(outcomes: Iterable[Mapping[str, Any]]) -> None:
    """A line for each gate with its sign: what is allowed, what was found."""
    for gate in outcomes:
        with (
            ui.row().classes("items-center gap-3 full-width no-wrap").props('role="status" data-test="gate"')
        ):
            good = gate["passed"]
            icon = ui.icon("verified_user" if good else "gpp_bad", size="26px")
            icon.classes("text-positive" if good else "text-negative").style("flex: none")
            parts.strong(in_words(gate))


def in_words(gate: Mapping[str, Any]) -> str:
    """One gate in a line.

    >>> in_words({"label": "Required K", "limit": 5, "measured": 7, "passed": True, "words": ""})
    'Passed. Required K: 5; found: 7.'
    >>> in_words({"label": "Required K", "limit": 5, "measured": 2, "passed": False, "words": "K is 2, below the required 5"})
    'Not passed. Required K: 5; found: 2.'
    >>> in_words({"label": "Models must hold", "limit": True, "passed": False, "words": "distinct(2) does not hold"})
    'Not passed. Models must hold: distinct(2) does not hold.'
    """
    limit, value = gate["limit"], gate.get("measured")
    words = gate["label"] if limit is True else f"{gate['label']}: {shown(limit)}"
    if value is not None:
        words += f"; found: {shown(value)}"
    elif not gate["passed"]:
        words += f": {gate['words']}"
    return f"{'Passed' if gate['passed'] else 'Not passed'}. {words}."
