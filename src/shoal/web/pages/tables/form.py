"""The form of a table: where it comes from, and then the settings that such a table has."""

from collections.abc import Callable
from typing import Any

from nicegui import ui

from shoal.errors import InputError
from shoal.operations import OPERATIONS
from shoal.settings import SettingField
from shoal.web.pages import parts
from shoal.web.pages.data_field import DataField, DataFields
from shoal.web.pages.drawing_anew import draws_anew
from shoal.web.pages.fields import NumberField
from shoal.web.pages.settings_form import SettingsForm
from shoal.web.pages.tables.linked import LinkedTables
from shoal.web.pages.tables.marking import Marking
from shoal.web.pages.tables.rules import RuleList
from shoal.web.workbench import Workbench

SOURCES = {
    "records": "Records to tabulate",
    "aggregated": "A ready-made table, totals among its rows",
    "matrix": "A table (matrix)",
    "cells": "A list of cells",
    "jj": "A jj file",
}
# What is said of tables whose dimensions are columns of the data.
_LAID_OUT = ("rows", "columns", "decimals", "dataflow")
# Settings that not every kind of table has.
_HAVE = {
    "records": (
        "dimensions",
        "linked",
        "value",
        "further_values",
        "shadow",
        "common",
        "contributor",
        "holding",
        "weight",
        "weights_public",
        "zeros",
    )
    + ("rules", "hierarchy", "apriori", "insiders", "low", "high", "sliding", "missing", "protection")
    + _LAID_OUT,
    "aggregated": (
        "dimensions",
        "value",
        "contributors_column",
        "largest_columns",
        "status_column",
        "level_columns",
    )
    + ("total", "zeros", "rules", "hierarchy", "apriori", "insiders", "rounding", "tolerance")
    + ("low", "high", "sliding", "protection")
    + _LAID_OUT,
    "matrix": ("sensitive", "sensitive_data", "protection", "zeros", "rounding", "tolerance", "counts")
    + ("low", "high", "sliding"),
    "cells": ("rules", "hierarchy", "apriori", "insiders", "contributions", "rounding", "tolerance", "counts")
    + ("low", "high", "sliding", "protection"),
    "jj": ("rounding", "tolerance", "counts"),
}
_ALL_HAVE = ("cost", "previous", "keep_totals", "symbol")
_COSTS = {
    "value": "its value",
    "unity": "1, so that few cells are hidden",
    "contributors": "its number of contributors",
    "log": "the logarithm of its value",
}
_USUAL = ["frequency(3)", "p-percent(10)"]
_WITHOUT = "No rule of your own, so the usual ones apply: frequency(3), and for sums p-percent(10)."


class TableForm:
    """What is asked about a table; ``mark`` is called with the marking when cells are to be pressed."""

    def __init__(
        self,
        workbench: Workbench,
        request: dict[str, Any],
        data: str,
        mark: Callable[[Marking, str], None],
        on_source: Callable[[], Any],
        *,
        operation: str = "suppress",
        sources: tuple[str, ...] = tuple(SOURCES),
    ) -> None:
        self._workbench = workbench
        self._operation = operation
        self._further_tables: LinkedTables | None = None
        self._asked = request
        self._mark_cells = mark
        self._on_source = on_source
        self.data_fields = DataFields(workbench)
        chosen, guess = request.get("data", data), lambda: self._guess_source()
        self._data = DataField(self.data_fields, "Data", chosen, needed=True, on_change=guess)
        self._offered = sources
        kind = request.get("source") or self._guess()
        self._source = parts.choice({name: SOURCES[name] for name in sources}, label="It is", value=kind)
        draws_anew(self._source).on_value_change(lambda: self._again())
        self._fields()

    @property
    def source(self) -> str:
        """Where the table comes from."""
        return str(self._source.value)

    @property
    def data(self) -> str:
        """The name of its data."""
        return self._data.value or ""

    @property
    def asks(self) -> set[str]:
        """The settings that this form asks for."""
        return {*_HAVE[self.source], *_ALL_HAVE}

    def request(self, kind: str) -> dict[str, Any]:
        """What is asked of an operation, without the search."""
        known = {item.name for item in OPERATIONS[kind].fields("workbench")}
        # Records are what is guessed where nothing else is: totals among them are recognised or refused.
        source = None if self.source == "records" else self.source
        found = {"data": self.data, "source": source, **self._form.values}
        if "symbol" in known and not found["symbol"]:
            raise InputError(
                "a symbol for hidden cells is needed: an empty cell would pass for one that is not there"
            )
        return {name: value for name, value in found.items() if name in known}

    # --- what it is -----------------------------------------------------------------------------------------------

    def _guess(self) -> str:
        """What the data look like, of what may be offered."""
        found = self._looks_like()
        return found if found in self._offered else self._offered[0]

    def _looks_like(self) -> str:
        """A jj file, a list of cells, a small matrix, or else records."""
        datasets = self._workbench.datasets
        name = self.data
        if name not in datasets:
            return "records"
        if datasets.attachment(name, "jj") is not None:
            return "jj"
        dataset = datasets[name]
        if {"value", "status"} <= set(dataset.columns):
            return "cells"
        numbers = len(dataset.numeric) >= len(dataset.columns) - 1 and dataset.types[0] == "text"
        return "matrix" if numbers and dataset.records <= 500 and len(dataset.columns) > 2 else "records"

    def _guess_source(self) -> None:
        guess = self._guess()
        if guess == self.source:
            self._again()
        else:
            self._source.set_value(guess)

    def _again(self) -> None:
        self._fields.refresh()
        self._on_source()

    @ui.refreshable_method
    def _fields(self) -> None:
        if self.data not in self._workbench.datasets:
            return
        dataset = self._workbench.datasets[self.data]
        asked = self._asked if self._asked.get("data") == self.data else {}
        if self.source == "jj":
            for note in dataset.notes:
                parts.note(note[:1].upper() + note[1:] + ".")
            parts.quiet("Sensitive cells, levels, costs and bounds are those of the file.")
        operation = OPERATIONS[self._operation]
        shown = self.asks
        self._form = SettingsForm(
            operation,
            dataset.columns,
            asked,
            suggested={"symbol": "x", **({} if asked else self._suggested())},
            without=[item.name for item in operation.fields("workbench") if item.name not in shown],
            own={
                "dimensions": self._dimensions,
                "value": self._numeric,
                "contributors_column": self._numeric,
                "weight": self._numeric,
                "rules": self._rules,
                "linked": self._linked,
                "hierarchy": self._hierarchies,
                "sensitive": self._sensitive,
                "protection": self._percent,
                "sliding": self._percent,
                "cost": self._costs,
            },
            data_field=self._further,
        )

    def _suggested(self) -> dict[str, Any]:
        """What the roles of the columns suggest."""
        dataset = self._workbench.datasets[self.data]
        measured = [name for name in dataset.numeric if dataset.roles.get(name) == "measurement"]
        return {
            "dimensions": [name for name in dataset.quasi if name not in dataset.numeric][:2],
            "value": next(iter(measured), None),
            "contributor": next(iter(dataset.with_role("identifier")), None),
        }

    # --- fields that are more than their setting ------------------------------------------------------------------

    def _further(self, item: SettingField, value: Any) -> Callable[[], Any]:
        field = DataField(self.data_fields, item.label, value, hint=item.sentence)
        return lambda: field.value

    def _dimensions(self, item: SettingField, value: Any) -> Callable[[], Any]:
        picker = parts.column_picker(self._workbench.datasets[self.data].columns, item.label, value or ())
        picker.on_value_change(lambda: self._trees_of_dimensions.refresh())
        self._chosen = picker
        return lambda: picker.value

    def _numeric(self, item: SettingField, value: Any) -> Callable[[], Any]:
        names = self._workbench.datasets[self.data].numeric
        select = _choice(item.label, {"": item.otherwise or "none", **{name: name for name in names}}, value)
        return lambda: select.value or None

    def _rules(self, item: SettingField, value: Any) -> Callable[[], Any]:
        rules = (
            RuleList(value or _USUAL, none=_WITHOUT) if self.source == "records" else RuleList(value or [])
        )
        return lambda: rules.rules or None

    def _linked(self, item: SettingField, value: Any) -> Callable[[], Any]:
        columns = self._workbench.datasets[self.data].columns
        tables = LinkedTables(columns, value or [], lambda: self._trees_of_dimensions.refresh())
        self._further_tables = tables
        return lambda: tables.tables

    def _hierarchies(self, item: SettingField, value: Any) -> Callable[[], Any]:
        self._trees: dict[str, DataField] = {}
        self._trees_asked = value or {}
        self._trees_of_dimensions()
        return lambda: {name: field.value for name, field in self._trees.items() if field.value}

    @ui.refreshable_method
    def _trees_of_dimensions(self) -> None:
        names = self._all_dimensions()
        kept = {name: field.value for name, field in self._trees.items()}
        self._trees = {
            name: DataField(
                self.data_fields, f"Hierarchy of {name}", kept.get(name) or self._trees_asked.get(name)
            )
            for name in names
        }
        words = "Subtotals of a dimension, from a file with code and parent, or .hrc."
        parts.quiet(words if names else "Choose dimensions first.")

    def _all_dimensions(self) -> list[str]:
        if self.source == "cells":
            columns = self._workbench.datasets[self.data].columns
            return list(columns[: columns.index("value")]) if "value" in columns else []
        further = [] if self._further_tables is None else self._further_tables.tables
        tables = [self._chosen.value, *further]
        return list(dict.fromkeys(name for dimensions in tables for name in dimensions))

    def _sensitive(self, item: SettingField, value: Any) -> Callable[[], Any]:
        marking = Marking(value or [], lambda: words.set_text(marking.words))
        words = parts.quiet(marking.words)

        def mark() -> None:
            with parts.showing_errors():
                self._mark_cells(marking, self.data)

        parts.button("Mark the sensitive cells", icon="touch_app", on_click=mark)
        return lambda: sorted(list(cell) for cell in marking.marked)

    def _percent(self, item: SettingField, value: Any) -> Callable[[], Any]:
        """A share of a cell's value, which people think of in percent."""
        share = value if value is not None else 0.10 if self.source == "matrix" else 0.0
        most = None if item.most is None else 100 * item.most
        field = NumberField(f"{item.label}, % of a cell's value", 100 * share, least=0, most=most)
        return lambda: (field.number or 0) / 100

    def _costs(self, item: SettingField, value: Any) -> Callable[[], Any]:
        """What a cell can cost: a figure of its own, a column of the records, or a file."""
        found = dict(_COSTS)
        if self.source in ("cells", "jj"):
            found["value"] = "what the file says"
        if self.source in ("matrix", "jj"):
            del found["contributors"]
        datasets = self._workbench.datasets
        if self.source == "records":
            found |= {name: f"the sum of {name}" for name in datasets[self.data].numeric}
        else:
            files = [dataset.name for dataset in datasets.all() if "cost" in dataset.columns]
            found |= {name: f"the column cost of '{name}'" for name in files if name != self.data}
        select = _choice(item.label, found, value)
        return lambda: select.value


def _choice(label: str, options: dict[str, str], value: str | None) -> ui.select:
    return parts.choice(options, label, value if value in options else next(iter(options)))
