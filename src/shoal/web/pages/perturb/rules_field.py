"""The field for combinations that cannot be: one in each line."""

from collections.abc import Callable
from typing import Any

from nicegui import ui

from shoal.settings import SettingField
from shoal.web.pages.attributes import attributes


def rules_field(item: SettingField, value: Any) -> Callable[[], Any]:
    """Lines like ``age=0..14,marital=widowed|divorced``."""
    box = ui.textarea(item.label, value="\n".join(value or ()))
    box.props('outlined dense autogrow stack-label placeholder="age=0..14,marital=widowed|divorced"')
    attributes(
        box.classes("full-width"), hint="One in each line; PRAM never releases it.", data_setting=item.name
    )
    return lambda: _lines(box.value)


def _lines(text: str | None) -> list[str]:
    """The lines in which something stands."""
    return [line.strip() for line in (text or "").splitlines() if line.strip()]
