"""The verdict of an audit in words, and the intervals beside what is required."""

from typing import Any

from nicegui import ui

from shoal.web.pages import parts
from shoal.web.pages.tables.cells import interval
from shoal.web.pages.tables.drawn import Drawn

_LISTED = 60
_WORDS = {True: "yes", False: "no", None: "not judged"}


def in_words(verdict: dict[str, Any]) -> str:
    """The verdict in one line."""
    if verdict["safe"]:
        return "Safe: no sensitive cell can be computed too closely."
    reasons = [
        (verdict["unsafe"], "sensitive cells that can be computed too closely"),
        (verdict["insiders"], "cells that a sole contributor could work out"),
        (verdict["sums"], "relations that give away a sensitive sum"),
        (verdict["integers"], "cells given away because counts are whole numbers"),
        (
            sum(item["discloses"] is True for item in verdict.get("together", ())),
            "tables beside it that give something away with this one",
        ),
    ]
    told = "; ".join(f"{words}: {count}" for count, words in reasons if count)
    if missed := _not_judged(verdict):
        return f"Not judged for want of time: {', '.join(missed)}." + (f" Besides, {told}." if told else "")
    return f"Not safe. {told[:1].upper()}{told[1:]}."


def _not_judged(verdict: dict[str, Any]) -> list[str]:
    """What there was no time for, in words."""
    cells = verdict.get("not_judged", 0)
    return [*([f"{cells:,} intervals"] if cells else []), *verdict.get("not_looked_at", ())]


def badge(verdict: dict[str, Any]) -> None:
    """The verdict with its sign."""
    with ui.row().classes("items-center gap-3 full-width no-wrap").props('role="status"'):
        ui.icon("verified_user" if verdict["safe"] else "gpp_bad", size="26px").classes(
            "text-positive" if verdict["safe"] else "text-negative"
        )
        parts.strong(in_words(verdict))
    for item in verdict.get("together", ()):
        known = {True: "Together with what is beside it", False: "Beside it", None: "Not measured"}
        parts.note(f"{known[item['discloses']]}: {item['detail']}.")


def intervals(verdict: dict[str, Any]) -> None:
    """The sensitive cells with the interval an attacker can compute beside the one required, drawn and listed."""
    listed = verdict["intervals"]
    names = listed["columns"]
    place = {name: number for number, name in enumerate(names)}
    if not listed["rows"]:
        return
    rows, classes = [], []
    for row in listed["rows"][:_LISTED]:
        found = interval(row[place["min"]], row[place["max"]])
        required = interval(row[place["required_min"]], row[place["required_max"]])
        fine = row[place["safe"]]
        cell = [str(value) for value in row[: place["value"]]]
        rows.append([*cell, row[place["value"]], found, required, _room(row, place), _WORDS[fine]])
        classes.append("" if fine else "crowd-1")
    with parts.folded("Intervals of the sensitive cells", unfolded=not verdict["safe"]):
        header = ["value", "attacker's interval", "required", "width, % of the required", "safe"]
        parts.table([*names[: place["value"]], *header], rows, classes=classes)
        everything = listed.get("all", len(listed["rows"]))
        if everything > len(rows):
            parts.note(
                f"{len(rows)} of {everything:,} sensitive cells, those that are not safe first; the file has all."
            )


def by_code(drawn: Drawn) -> None:
    """How many cells are hidden at each code of each dimension, level by level."""
    if drawn.general:
        return
    rows = []
    for place, item in enumerate(drawn.dimensions):
        counts = zip(
            item["codes"],
            item["depth"],
            drawn.hidden_by_code(place, ("p",)),
            drawn.hidden_by_code(place, ("c",)),
            strict=True,
        )
        rows += [(item["name"], code, depth, *found) for code, depth, *found in counts if any(found)]
    with parts.folded("Hidden cells by dimension and level"):
        parts.table(["dimension", "code", "level", "sensitive", "hidden besides"], rows)


def _room(row: list[Any], position: dict[str, int]) -> float | None:
    """How wide the interval is, in percent of what is required; nothing where either has no end."""
    low, high = row[position["min"]], row[position["max"]]
    least, most = row[position["required_min"]], row[position["required_max"]]
    if None in (low, high, least, most) or most <= least:
        return None
    return round(100.0 * (high - low) / (most - least), 1)
