"""The first page: what can be done, and where to begin."""

from nicegui import ui

from shoal.web.pages import layout, parts
from shoal.web.pages.workspace_note import temporary_workspace
from shoal.web.workbench import Workbench

_WAYS = (
    (
        "/risk",
        "groups",
        "Risk",
        "How many records share the same age, postcode and sex? And who of a sample is at risk in the population?",
    ),
    (
        "/recode",
        "layers",
        "Recode",
        "Ages become bands, postcodes districts, until every class has k units, losing as little as possible.",
    ),
    (
        "/records",
        "blur_on",
        "Protect records",
        "Every released record equals at least k − 1 others, losing as little as possible.",
    ),
    (
        "/perturb",
        "casino",
        "Perturb",
        "Values change by chance: PRAM, swapping, noise, shuffling; what they keep is promised and checked.",
    ),
    (
        "/tables",
        "grid_on",
        "Protect a table",
        "The cheapest further cells to hide, so that no sensitive cell can be computed back from the totals.",
    ),
    (
        "/change",
        "exposure",
        "Change figures",
        "A table published whole: rounded, adjusted, or its counts perturbed; what can still be computed is told.",
    ),
    (
        "/appointments",
        "event_available",
        "Appointments",
        "Being seen at a centre at an hour gives something away; a good plan keeps crowds together.",
    ),
)


def register(workbench: Workbench) -> None:
    """Make the page known."""

    @ui.page("/")
    def home() -> None:
        with layout.page(
            workbench,
            "Workbench",
            "Turn confidential data into something that can be published, and prove it.",
        ):
            temporary_workspace(workbench)
            names = workbench.datasets.names()
            with parts.card("1 · Begin with data"):
                if names:
                    ui.label(f"In this workspace: {', '.join(names[:8])}{' …' if len(names) > 8 else ''}")
                else:
                    ui.label("Drop a file, connect to a database, or take sample data.")
                with ui.row().classes("gap-2"):
                    parts.main_button("Data", icon="folder_open", to="/data")
                    if not names:
                        parts.button("Sample data", icon="science", to="/data?tab=sample")
            with parts.card("2 · Choose what to do"):
                with (
                    ui.element("div")
                    .classes("shoal-facts")
                    .style("grid-template-columns: repeat(auto-fill, minmax(230px, 1fr))")
                ):
                    for address, icon, name, words in _WAYS:
                        with ui.link(target=address).classes("shoal-tile"):
                            with ui.row().classes("items-center gap-2"):
                                ui.icon(icon, size="22px").classes("text-primary")
                                parts.strong(name)
                            parts.quiet(words)
            with parts.card("3 · Sign the report"):
                ui.label(
                    "Every run ends in one HTML file that says what was done, what was lost, what remains at risk and how it "
                    "was verified. It holds no confidential value."
                )
                parts.button("Reports", icon="description", to="/reports")
