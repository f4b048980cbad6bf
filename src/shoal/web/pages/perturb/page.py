"""Perturb: a method with the settings it takes and no others on one side, the release and its promises on the other."""

from collections.abc import Callable, Sequence
from typing import Any

from nicegui import ui

from shoal.microdata.perturbation.inputs import AMOUNTS, does_nothing
from shoal.microdata.perturbation.methods import METHODS
from shoal.operations import OPERATIONS
from shoal.settings import SettingField
from shoal.web.jobs.job import Job
from shoal.web.pages import layout, parts
from shoal.web.pages.attributes import attributes
from shoal.web.pages.desk import Desk
from shoal.web.pages.method_picker import MethodPicker
from shoal.web.pages.perturb.result import present_perturbed
from shoal.web.pages.perturb.rules_field import rules_field
from shoal.web.pages.residual import removed_beside
from shoal.web.pages.settings_form import SettingsForm
from shoal.web.workbench import Workbench

# Matrices are files, and only a command reads those: what is for a given matrix does nothing here.
_OF_A_MATRIX = ("alpha", "keep_shares")
_OPENED = ("How much", "Households that are swapped")


def register(workbench: Workbench) -> None:
    """Make the page known."""

    @ui.page("/perturb")
    def perturb(data: str = "", run: str = "") -> None:
        with layout.page(
            workbench,
            "Perturb",
            "Values change by chance, so that what is seen in a record need not be true.",
        ):
            if parts.has_data(workbench, "casino"):
                PerturbPage(workbench, data, run)


class PerturbPage:
    """One visit to the page."""

    def __init__(self, workbench: Workbench, data: str, run: str) -> None:
        self._workbench = workbench
        self._desk = Desk(
            workbench,
            "/perturb",
            "perturb",
            run=run,
            present=self._present,
            icon="casino",
            hint="Choose a method and what it is to change. What it promises is checked on the release.",
        )
        self._asked = self._desk.asked
        with self._desk.form("Perturb"):
            self._data = parts.data_picker(
                workbench, "Data", self._asked.get("data", data), lambda: self._method.refresh()
            )
            with ui.column().classes("full-width gap-3 shoal-hinted"):
                self._method()
            with ui.row().classes("items-center gap-3 q-mt-sm"):
                parts.main_button("Perturb", icon="play_arrow", on_click=self._submit)
                removed_beside(self._removed)

    @ui.refreshable_method
    def _method(self) -> None:
        if self._data.value not in self._workbench.datasets:
            return
        self._dataset = self._workbench.datasets[self._data.value]
        # What stands in the fields; it stays where another method takes the same.
        self._written = dict(self._asked) if self._asked.get("data") == self._dataset.name else {}
        self._picker = MethodPicker(
            METHODS,
            self._written.get("method", "pram"),
            self._written.get("options"),
            columns=self._dataset.columns,
            without=(*AMOUNTS, *_OF_A_MATRIX),
            on_change=self._changed,
        )
        self._drawn = self._picker.method
        self._fields()

    def _changed(self) -> None:
        # What was only proposed is proposed anew.
        stood = self._form.written.items()
        self._written |= {name: value for name, value in stood if value != self._suggested.get(name)}
        if METHODS[self._drawn].traits != METHODS[self._picker.method].traits:
            self._written.pop("columns", None)
        self._drawn = self._picker.method
        self._fields.refresh()

    @ui.refreshable_method
    def _fields(self) -> None:
        method, dataset = METHODS[self._picker.method], self._dataset
        options = method.options_model.model_fields
        numbers = method.traits == {"numbers"}
        self._suggested: dict[str, Any] = {
            "columns": dataset.measured if method.traits & {"numbers", "orders"} else [],
            "quasi": dataset.quasi,
            "household": dataset.only_with_role("household"),
            "drop": dataset.removed,
            **{name: options[name].default for name in AMOUNTS if name in options},
        }
        self._form = SettingsForm(
            OPERATIONS["perturb"],
            dataset.columns,
            self._written,
            suggested=self._suggested,
            without=("data", "method", "options", *does_nothing(method.name)),
            own={
                "columns": lambda item, value: _columns(
                    dataset.numeric if numbers else dataset.columns, item, value
                ),
                "forbid": rules_field,
            },
            opened=_OPENED,
        )

    def _removed(self) -> list[str]:
        return self._form.values_of("drop") or [] if self._data.value in self._workbench.datasets else []

    def _submit(self) -> None:
        with parts.showing_errors():
            request = {
                "data": self._data.value,
                "method": self._picker.method,
                "options": self._picker.options,
                **self._form.values,
            }
            # Without a change the roles decide; an empty choice is one, too.
            chosen = request["drop"] or []
            request["drop"] = None if chosen == self._suggested["drop"] else chosen
            self._desk.submit("perturb", request)

    def _present(self, job: Job) -> None:
        present_perturbed(self._workbench, job)


def _columns(offered: Sequence[str], item: SettingField, value: Any) -> Callable[[], Any]:
    picker = parts.column_picker(offered, item.label, value or ())
    attributes(picker, data_setting=item.name)
    return lambda: picker.value or None
