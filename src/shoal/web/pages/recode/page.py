"""Recode: keys, their hierarchies and what must hold on one side, the release and what else could be had on the other."""

from collections.abc import Callable, Sequence
from typing import Any

from nicegui import ui

from shoal.errors import InputError
from shoal.microdata.columns.units import units_in_words
from shoal.microdata.recoding.definitions import DEFINITIONS
from shoal.operations import OPERATIONS
from shoal.report.definitions import in_words
from shoal.settings import SettingField
from shoal.web.jobs.job import Job
from shoal.web.pages import layout, parts
from shoal.web.pages.attributes import attributes
from shoal.web.pages.data_field import DataFields
from shoal.web.pages.desk import Desk
from shoal.web.pages.model_field import model_field
from shoal.web.pages.next_step import use_as_data
from shoal.web.pages.recode.choices import Choice, choices, request_of
from shoal.web.pages.recode.hierarchies import KeyHierarchies
from shoal.web.pages.release import write_back
from shoal.web.pages.residual import removed_beside, residual_risk
from shoal.web.pages.settings_form import SettingsForm
from shoal.web.workbench import Workbench

_LOSSES = {
    "loss": "share of values a label stands for",
    "entropy": "bits to the original values",
    "discernibility": "records that look alike, summed",
    "class-size": "records for each class",
    "cells": "values that changed",
}


def register(workbench: Workbench) -> None:
    """Make the page known."""

    @ui.page("/recode")
    def recode(data: str = "", run: str = "") -> None:
        with layout.page(
            workbench,
            "Recode",
            "Key variables are generalised or suppressed until every class has at least k units.",
        ):
            if parts.has_data(workbench, "layers"):
                RecodePage(workbench, data, run)


class RecodePage:
    """One visit to the page."""

    def __init__(self, workbench: Workbench, data: str, run: str) -> None:
        self._workbench = workbench
        self._desk = Desk(
            workbench,
            "/recode",
            "recode",
            run=run,
            present=self._present,
            icon="layers",
            hint="Choose the keys and k, look at what their values become, and recode.",
            measure="loss",
        )
        self._asked = self._desk.asked
        with self._desk.form("Recode"):
            self._data = parts.data_picker(
                workbench, "Data", self._asked.get("data", data), lambda: self._fields.refresh()
            )
            with ui.column().classes("full-width gap-3 shoal-hinted"):
                self._fields()
            with ui.row().classes("items-center gap-3 q-mt-sm"):
                parts.main_button("Recode", icon="play_arrow", on_click=self._submit)
                removed_beside(self._removed)

    @ui.refreshable_method
    def _fields(self) -> None:
        if self._data.value not in self._workbench.datasets:
            return
        dataset = self._workbench.datasets[self._data.value]
        self._files = DataFields(self._workbench)
        self._suggested = {
            "quasi": dataset.quasi,
            "confidential": dataset.with_role("confidential"),
            "drop": dataset.with_role("identifier"),
            "unit": dataset.only_with_role("unit"),
        }
        asked = self._asked if self._asked.get("data") == dataset.name else {}
        self._orders: Callable[[], Any] = lambda: asked.get("ordinal") or {}
        self._form = SettingsForm(
            OPERATIONS["recode"],
            dataset.columns,
            asked,
            suggested=self._suggested,
            without=("data",),
            own={
                "quasi": self._keys,
                "hierarchies": self._hierarchies,
                "ordinal": self._ordinal,
                "models": model_field,
            },
            data_field=self._files.field_of,
        )

    def _keys(self, item: SettingField, value: Any) -> Callable[[], Any]:
        columns = self._workbench.datasets[self._data.value].columns
        self._chosen = parts.column_picker(columns, item.label, value or (), hint=item.sentence)
        attributes(self._chosen, data_setting=item.name)
        return lambda: self._chosen.value

    def _hierarchies(self, item: SettingField, value: Any) -> Callable[[], Any]:
        self._trees = KeyHierarchies(
            self._files,
            self._data.value,
            value or {},
            lambda: self._chosen.value,
            lambda: _by_column(self._orders()),
        )
        self._chosen.on_value_change(self._trees.refresh)
        return lambda: self._trees.value

    def _ordinal(self, item: SettingField, value: Any) -> Callable[[], Any]:
        """Orders decide which hierarchies are proposed."""
        spelling = item.spelling
        assert spelling is not None
        box = ui.input(item.label, value=spelling.write(value or []))
        box.props('outlined dense stack-label placeholder="education=none<primary<higher"')
        attributes(box.classes("full-width"), hint=item.sentence, data_setting=item.name)

        def read() -> Any:
            try:
                return spelling.read(box.value.strip()) if (box.value or "").strip() else []
            except ValueError as problem:
                raise InputError(f"{item.label}: {problem}") from None

        self._orders = read
        box.on("blur", self._trees.look)
        return read

    def _removed(self) -> list[str]:
        return self._form.values_of("drop") or [] if self._data.value in self._workbench.datasets else []

    def _submit(self) -> None:
        with parts.showing_errors():
            request: dict[str, Any] = {"data": self._data.value, **self._form.values}
            if not request["quasi"]:
                raise InputError("choose the keys")
            # Without a change the roles decide; an empty choice is one, too.
            chosen = request["drop"] or []
            request["drop"] = None if chosen == self._suggested["drop"] else chosen
            self._desk.submit("recode", request)

    def _take(self, job: Job, one: Choice) -> None:
        """Run another recoding, and show in the form what runs."""
        with parts.showing_errors():
            request = request_of(job.request, job.summary, one)
            self._asked = request
            if self._data.value == request["data"]:
                self._fields.refresh()
            elif request["data"] in self._workbench.datasets:
                self._data.set_value(request["data"])
            self._desk.submit("recode", request)

    # --- the result -----------------------------------------------------------------------------------------------

    def _present(self, job: Job) -> None:
        found = job.summary
        parts.warnings(found["warnings"])
        parts.facts(_facts(found))
        residual_risk(found, DEFINITIONS)
        parts.strong("Keys")
        parts.table(
            ["key", "level", "of", "labels", "blanked", "largest change of a share", "rule"],
            [
                (
                    key["column"],
                    "mixed" if key["level"] is None else key["level"],
                    key["height"],
                    None if key["level"] is None else key["labels"][key["level"]],
                    key["blanked"],
                    f"{key['largest_change']:.4f}",
                    key["rule"],
                )
                for key in found["keys"]
            ],
        )
        choices(found, lambda one: self._take(job, one))
        if job.request["explain"] and "neighbours" not in found:
            parts.note(
                "Only a recoding of whole columns has neighbours, and this one is none; the method 'lattice' finds the best "
                "of them."
            )
        with parts.folded("Loss by every measure"):
            parts.table(
                ["measure", "loss"],
                [(_LOSSES.get(name, name), value) for name, value in found["losses"].items()],
            )
        for text in together(found["notes"], found["quasi"]):
            parts.note(text)
        if found["dropped"]:
            parts.note(f"Removed: {', '.join(found['dropped'])}.")
        use_as_data(self._workbench, job)
        write_back(self._workbench, job)


def together(notes: Sequence[str], keys: Sequence[str]) -> list[str]:
    """Notes that say the same of several keys, once for all of them.

    >>> together(["sex: kept, or *", "age: in bands", "town: kept, or *", "done"], ["sex", "age", "town"])
    ['sex, town: kept, or *', 'age: in bands', 'done']
    """
    found: dict[str, list[str]] = {}
    for text in notes:
        key, colon, said = text.partition(": ")
        of_a_key = bool(colon) and key in keys
        found.setdefault(said if of_a_key else text, []).extend([key] if of_a_key else [])
    return [f"{', '.join(names)}: {said}" if names else said for said, names in found.items()]


def _by_column(ordinal: Any) -> dict[str, Any]:
    from shoal.microdata.columns.orders import read_orders

    return dict(read_orders(ordinal))


def _facts(figures: dict[str, Any]) -> list[tuple[Any, ...]]:
    many = units_in_words(figures.get("unit"))[1]
    return [
        (
            f"K of the release over {', '.join(figures['quasi'])}",
            figures["k_release"],
            "good" if figures["k_release"] >= max(2, figures["k"]) else "bad",
        ),
        *in_words(DEFINITIONS, figures, ("k", "loss", "bound", "optimal", "records")),
        (f"{many} left out, of {figures['people']:,}", figures["suppressed_people"]),
        *in_words(DEFINITIONS, figures, ("suppressed_cells", "blank_records")),
        *[
            (
                " of ".join(filter(None, (one["model"], one["column"]))) + ": the worst class",
                f"{one['worst']:.4g}",
            )
            for one in figures["models"]
        ],
        *[
            (
                f"{many} in classes that share one {one['column']}",
                one["people"],
                "bad" if one["people"] else "",
            )
            for one in figures["homogeneous"]
        ],
        *(
            []
            if figures["null"] == "own"
            else [
                (
                    "K where a blank is a value",
                    figures["k_strict"],
                    "bad" if figures["k_strict"] < figures["k"] else "",
                )
            ]
        ),
        *(
            []
            if figures["k_households"] is None
            else [("households of the same composition, at least", figures["k_households"])]
        ),
        *(
            []
            if figures["averaged"] is None
            else [
                (f"K with {', '.join(figures['averaged']['columns'])}", figures["averaged"]["k"]),
                ("information loss of the averages", f"{figures['averaged']['loss_percent']:.4g} %"),
            ]
        ),
        ("method", figures["chosen"]),
        ("stopped by", figures["stopped_by"]),
    ]
