"""What the columns of data are to an intruder: the guess with its reason, figures to judge it by, and one or many set by hand."""

from collections.abc import Collection

from nicegui import ui

from shoal.errors import InputError
from shoal.microdata.columns.roles import ROLES, ROLES_IN_WORDS
from shoal.web.datasets import Dataset
from shoal.web.pages import parts
from shoal.web.pages.attributes import attributes
from shoal.web.workbench import Workbench


class ColumnRoles:
    """The columns with their types, distinct and missing values, and their roles."""

    def __init__(self, workbench: Workbench, dataset: Dataset) -> None:
        self._workbench = workbench
        self._name = dataset.name
        self._boxes: dict[str, ui.checkbox] = {}
        self._listed()
        with ui.row().classes("items-center gap-2 full-width shoal-bulk"):
            self._role = ui.select(list(ROLES), label="Role of the ticked columns", value=ROLES[1])
            self._role.props("dense options-dense outlined").style("min-width: 210px")
            parts.small_button("Set", icon="done_all", on_click=self._set_ticked)
            parts.small_button("Tick all", on_click=lambda: self._tick(self._boxes))
            parts.small_button("Tick none", on_click=lambda: self._tick())

    @ui.refreshable_method
    def _listed(self) -> None:
        dataset = self._workbench.datasets[self._name]
        self._boxes.clear()
        with ui.element("div").classes("shoal-roles").props("tabindex=0 role=group aria-label=Columns"):
            for heading in ("column", "role", "type", "distinct", "missing"):
                parts.quiet(heading)
            for place, (name, kind) in enumerate(zip(dataset.columns, dataset.types, strict=True)):
                box = ui.checkbox(name).props("dense")
                self._boxes[name] = attributes(box.classes("shoal-column"), aria_label=f"Tick {name}")
                role = ui.select(
                    list(ROLES),
                    value=dataset.roles.get(name, "other"),
                    on_change=lambda event, name=name: self._set({name: event.value}),
                )
                attributes(role.props("dense options-dense outlined"), aria_label=f"Role of {name}")
                role.tooltip(_why(dataset, name))
                parts.quiet(kind)
                parts.quiet(_count(dataset.distinct, place)).classes("number")
                parts.quiet(_count(dataset.missing, place)).classes("number")

    def _set(self, roles: dict[str, str]) -> None:
        with parts.showing_errors():
            self._workbench.datasets.set_roles(self._name, roles)

    def _tick(self, names: Collection[str] = ()) -> None:
        for name, box in self._boxes.items():
            box.set_value(name in names)

    def _set_ticked(self) -> None:
        with parts.showing_errors():
            names = [name for name, box in self._boxes.items() if box.value]
            if not names:
                raise InputError("tick the columns whose role is to be set")
            self._set(dict.fromkeys(names, self._role.value))
            self._listed.refresh()


def _count(counts: tuple[int, ...], position: int) -> str:
    """A count of a column; data of an older workspace have none."""
    return f"{counts[position]:,}" if position < len(counts) else "–"


def _why(dataset: Dataset, name: str) -> str:
    """What the role of a column means, and why it has it."""
    role = dataset.roles.get(name, "other")
    reason = dataset.reasons.get(name)
    return f"{role}: {ROLES_IN_WORDS[role]}" + (f" (because {reason})" if reason else "")
