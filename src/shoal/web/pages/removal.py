"""Removing things: a question first, and a way back after."""

from collections.abc import Callable
from typing import Any

from nicegui import ui

from shoal.web.pages import parts
from shoal.web.pages.attributes import attributes


def ask(question: str, consequence: str, act: Callable[[], Any], *, yes: str = "Remove") -> None:
    """Ask before something is done that somebody may not have meant."""
    with ui.dialog() as dialog, ui.card().classes("shoal-card").style("max-width: 460px"):
        parts.title(question)
        parts.quiet(consequence)
        with ui.row().classes("full-width justify-end gap-2"):
            parts.button("Keep", on_click=dialog.close)
            confirm = parts.main_button(yes, on_click=lambda: (dialog.close(), act())).props("color=negative")
            attributes(confirm, data_test="confirm")
    attributes(dialog, aria_label=question)
    dialog.on("hide", dialog.delete)
    dialog.open()


def offer_undo(words: str, undo: Callable[[], Any]) -> None:
    """Say what is gone, at the foot of the page, with a button that brings it back; one offer at a time."""
    client = ui.context.client
    for old in [element for element in client.elements.values() if "shoal-undo" in element.classes]:
        old.delete()
    with (
        client.content,
        ui.row().classes("shoal-undo items-center no-wrap gap-3").props("role=status") as bar,
    ):
        ui.label(words).style("flex: 1; overflow-wrap: anywhere")

        def back() -> None:
            bar.delete()
            undo()

        parts.small_button("Undo", icon="undo", on_click=back)
        ui.button(icon="close", on_click=bar.delete).props('flat round dense aria-label="Close"')
