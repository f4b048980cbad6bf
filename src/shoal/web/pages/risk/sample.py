"""The form for a sample: its keys, what stands behind each record, and what is required."""

from typing import Any

from nicegui import ui

from shoal.errors import InputError
from shoal.operations import OPERATIONS
from shoal.web.pages import parts
from shoal.web.pages.data_field import DataFields
from shoal.web.pages.settings_form import SettingsForm
from shoal.web.workbench import Workbench


class SampleForm:
    """Which records, which keys, and what is known of the population; weight and household are proposed by their roles."""

    def __init__(self, workbench: Workbench, request: dict[str, Any], data: str) -> None:
        self._workbench = workbench
        self._asked = request
        self._data = parts.data_picker(
            workbench, "Data", request.get("data", data), lambda: self._columns.refresh()
        )
        self._columns()

    @property
    def first(self) -> str:
        """The chosen data."""
        return self._data.value or ""

    @property
    def request(self) -> dict[str, Any]:
        """What the form shows; an ``InputError`` names the field that is wrong."""
        request = {"data": self._data.value, **self._form.values}
        if not request["quasi"]:
            raise InputError("choose the keys")
        return request

    @ui.refreshable_method
    def _columns(self) -> None:
        if self._data.value not in self._workbench.datasets:
            return
        dataset = self._workbench.datasets[self._data.value]
        self._form = SettingsForm(
            OPERATIONS["risk"],
            dataset.columns,
            self._asked if self._asked.get("data") == dataset.name else {},
            suggested={
                "quasi": dataset.quasi,
                "sample_weights": dataset.only_with_role("weight"),
                "household": dataset.only_with_role("household"),
            },
            without=("data",),
            opened=("The population", "What is counted"),
            data_field=DataFields(self._workbench).field_of,
        )
