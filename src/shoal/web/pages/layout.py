"""The frame around every page: name, navigation, light and dark, and what is running."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from nicegui import ui

from shoal._version import __version__
from shoal.report.markup import element
from shoal.web.pages.attributes import attributes, html
from shoal.web.workbench import Workbench

_STYLE = "".join(
    Path(__file__).with_name(name).read_text(encoding="utf-8")
    for name in ("ground.css", "style.css", "forms.css")
)

#: Address, title and icon of every page, in the order of the navigation.
PAGES = (
    ("/data", "Data", "folder_open"),
    ("/risk", "Risk", "groups"),
    ("/recode", "Recode", "layers"),
    ("/records", "Protect records", "blur_on"),
    ("/perturb", "Perturb", "casino"),
    ("/grouping", "Group attributes", "workspaces"),
    ("/compare", "Compare releases", "scatter_plot"),
    ("/tables", "Protect a table", "grid_on"),
    ("/change", "Change figures", "exposure"),
    ("/appointments", "Appointments", "event_available"),
    ("/steps", "Steps", "route"),
    ("/studies", "Studies", "science"),
    ("/reports", "Reports", "description"),
)

_dark: dict[str, bool | None] = {"value": None}


@contextmanager
def page(workbench: Workbench, title: str, lead: str = "") -> Iterator[None]:
    """Everything inside the block is the content of a page."""
    ui.page_title(f"{title} · Shoal")
    ui.add_css(_STYLE)
    ui.colors(
        primary="#1f6f8b",
        secondary="#44657a",
        accent="#d1793b",
        positive="#2e7d32",
        negative="#b3261e",
        info="#31698a",
    )
    dark = ui.dark_mode(_dark["value"])
    with ui.header().classes("shoal-header items-center justify-between bg-primary"):
        skip = element("a", "Skip to the content", class_="shoal-skip", href="#content")
        html(skip).classes("shoal-skipbox")
        with ui.row().classes("items-center gap-2 no-wrap"):
            menu = ui.button(icon="menu").props('flat dense round color=white aria-label="Navigation"')
            ui.link("Shoal", "/").classes("shoal-brand")
        with ui.row().classes("items-center gap-2 no-wrap"):
            running = ui.button(icon="hourglass_top", on_click=lambda: ui.navigate.to("/reports"))
            running.props('flat dense color=white no-caps aria-label="Runs under way"')
            _show_running(workbench, running)
            button = ui.button(icon="contrast", on_click=lambda: _switch(dark))
            button.props('flat dense round color=white aria-label="Light or dark"').tooltip("Light or dark")
    drawer = (
        # With no value of its own NiceGUI would ask the browser, and complain in the terminal if the page is left meanwhile.
        ui.left_drawer(value=False, bordered=True)
        .props("width=236 breakpoint=900 show-if-above")
        .classes("q-pt-sm")
        .style("padding: 10px 0 0; gap: 0")
    )
    menu.on_click(drawer.toggle)
    with drawer:
        with ui.element("nav").classes("full-width").props('aria-label="Pages"'):
            for address, name, icon in PAGES:
                item = ui.item(on_click=lambda address=address: ui.navigate.to(address)).props("role=link")
                item.classes("active" if name == title else "")
                attributes(item, aria_current="page" if name == title else "false", data_page=address)
                with item:
                    with ui.item_section().props("avatar").style("min-width: 38px"):
                        ui.icon(icon)
                    with ui.item_section():
                        ui.item_label(name)
        ui.space()
        with ui.column().classes("q-pa-md gap-0 shoal-quiet shoal-links"):
            ui.link("REST API", "/api")
            ui.label(f"Shoal {__version__} · on this machine only")
            place = ui.label(f"Workspace: {workbench.keeping.folder}").style("overflow-wrap: anywhere")
            place.props('data-test="workspace"')
    with ui.column().classes("shoal-page").props('id="content"'):
        with ui.column().classes("gap-1"):
            html(element("h1", title, class_="shoal-title"))
            if lead:
                ui.label(lead).classes("shoal-lead")
        yield


def _show_running(workbench: Workbench, button: ui.button) -> None:
    def refresh() -> None:
        count = len(workbench.board.active)
        button.set_visibility(count > 0)
        button.set_text(f"{count} running" if count else "")

    refresh()
    ui.timer(1.0, refresh)


def _switch(dark: ui.dark_mode) -> None:
    # The first press leaves "as the system" for the opposite of light, then it goes back and forth.
    dark.set_value(not dark.value)
    _dark["value"] = dark.value
