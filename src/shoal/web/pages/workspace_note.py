"""A workspace that will be removed says so before anything is in it, and can be kept."""

from nicegui import ui

from shoal.web.pages import parts
from shoal.web.workbench import Workbench


def temporary_workspace(workbench: Workbench) -> None:
    """Say that everything goes at the end, with a button that keeps it; nothing where it stays anyway."""
    keeping = workbench.keeping
    if not keeping.temporary:
        return

    @ui.refreshable
    def shown() -> None:
        with ui.row().classes("shoal-note full-width items-center gap-3").props('data-test="temporary"'):
            words = ui.label(f"Data and results are {keeping.in_words()}.")
            words.style("flex: 1; min-width: 220px; overflow-wrap: anywhere")
            if keeping.removed_at_the_end:
                parts.button("Keep this workspace", icon="save", on_click=keep)

    def keep() -> None:
        with parts.showing_errors():
            keeping.keep()
        shown.refresh()

    shown()
