"""The line in which models of privacy are written."""

import re
from collections.abc import Callable
from typing import Any

from nicegui import ui

from shoal.settings import SettingField
from shoal.web.pages.attributes import attributes


def model_field(item: SettingField, value: Any) -> Callable[[], Any]:
    """Models in a line."""
    box = ui.input(item.label, value=" ".join(value or ()))
    box.props('outlined dense stack-label placeholder="distinct(3) closeness(0.2)"').classes("full-width")
    attributes(box, hint=item.sentence.replace("; may be repeated", ""), data_setting=item.name)
    return lambda: split_models(box.value or "")


def split_models(text: str) -> list[str]:
    """The models of a line; each ends with its bracket, and may begin with the column it is for.

    >>> split_models("distinct(3), recursive(3, 3)  k-map(10)")
    ['distinct(3)', 'recursive(3, 3)', 'k-map(10)']
    >>> split_models("net income (EUR): closeness(0.2); distinct(2")
    ['net income (EUR): closeness(0.2)', 'distinct(2']
    """
    found: list[str] = []
    for part in re.split(r"(?<=\))[\s,;]*", text.strip()):
        if part.startswith(":") and found:  # that bracket was one of a name
            found[-1] += part
        elif part:
            found.append(part)
    return found
