"""The form of a table: where it comes from, what is sensitive, what an attacker knows; as a request."""

from collections.abc import Callable
from typing import Any

from nicegui import ui

from shoal.errors import InputError, ShoalError
from shoal.web.pages import parts
from shoal.web.pages.fields import NumberField
from shoal.web.pages.tables.linked import LinkedTables
from shoal.web.pages.tables.marking import Marking
from shoal.web.pages.tables.rules import RuleList
from shoal.web.pages.tables.slots import Shelf, Slot
from shoal.web.workbench import Workbench

SOURCES = {
    "records": "Records to tabulate",
    "matrix": "A table (matrix)",
    "cells": "A list of cells",
    "jj": "A jj file",
}
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
        asked: dict[str, Any],
        data: str,
        mark: Callable[[Marking, str], None],
        on_source: Callable[[], Any],
    ) -> None:
        self._workbench = workbench
        self._asked = asked
        self._mark_cells = mark
        self._on_source = on_source
        self.shelf = Shelf(workbench)
        self._data = Slot(
            self.shelf, "Data", asked.get("data", data), needed=True, on_change=lambda: self._guess_source()
        )
        self._source = ui.select(SOURCES, label="It is", value=asked.get("source") or self._guess())
        self._source.props("outlined dense options-dense").classes("full-width")
        self._source.on_value_change(lambda: self._again())
        self._fields()

    @property
    def source(self) -> str:
        """Where the table comes from."""
        return str(self._source.value)

    @property
    def data(self) -> str:
        """The name of its data."""
        return self._data.value or ""

    def request(self) -> dict[str, Any]:
        """What is asked, without the search."""
        found: dict[str, Any] = {"data": self.data, "source": self.source, **self._attacker_values()}
        if self.source == "records":
            found |= {
                "dimensions": self._dimensions.value,
                "linked": self._linked.tables,
                "value": self._value.value or None,
                "contributor": self._contributor.value or None,
                "holding": self._holding.value or None,
                "weight": self._weight.value or None,
                "weights_public": bool(self._weights_public.value),
                "zeros": "suppressible" if self._zeros.value else "published",
            }
        if self.source == "matrix":
            found |= {
                "sensitive": sorted(list(cell) for cell in self._marking.marked),
                "sensitive_data": self._sensitive.value,
                "protection": _share(self._protection),
                "zeros": "suppressible" if self._zeros.value else "published",
            }
        if self.source in ("records", "cells"):
            found |= {
                "rules": self._rules.rules or None,
                "apriori": self._apriori.value,
                "hierarchy": {name: slot.value for name, slot in self._trees.items() if slot.value},
                "insiders": bool(self._insiders.value),
            }
        if self.source == "cells":
            found["contributions"] = self._contributions.value
        return found

    def search(self) -> dict[str, Any]:
        """What hiding costs and looks like, which only a search asks."""
        return {
            "cost": self._cost.value or "value",
            "previous": self._previous.value,
            "symbol": self._chosen_symbol(),
        }

    def _chosen_symbol(self) -> str:
        symbol = str(self._symbol.value or "").strip()
        if not symbol:
            raise InputError(
                "a symbol for hidden cells is needed: an empty cell would pass for one that is not there"
            )
        return symbol

    # --- what it is -----------------------------------------------------------------------------------------------

    def _guess(self) -> str:
        """What the data look like: a jj file, a list of cells, a small matrix, or else records."""
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
        asked = self._asked if self._asked.get("data") == self.data else {}
        draw = {"records": self._records, "matrix": self._matrix, "cells": self._cells, "jj": self._general}
        draw[self.source](asked)
        self._attacker(asked)

    # --- records --------------------------------------------------------------------------------------------------

    def _records(self, asked: dict[str, Any]) -> None:
        dataset = self._workbench.datasets[self.data]
        guess = [name for name in dataset.quasi if name not in dataset.numeric][:2]
        self._dimensions = parts.column_picker(
            dataset.columns, "Dimensions", asked.get("dimensions") or guess
        )
        numeric = {"": "count the records", **{name: name for name in dataset.numeric}}
        likely = [name for name in dataset.numeric if dataset.roles.get(name) == "measurement"]
        value = asked.get("value", likely[0] if likely else "") or ""
        self._value = _choice("Sum of", numeric, value)
        nobody = {"": "every record is one", **{name: name for name in dataset.columns}}
        identifiers = dataset.with_role("identifier")
        known = asked["contributor"] if asked else (identifiers[0] if identifiers else "")
        self._contributor = _choice("Contributor", nobody, known or "")
        self._rules = RuleList(asked.get("rules") or _USUAL, none=_WITHOUT)
        with _more("Linked tables", value=bool(asked.get("linked"))):
            self._linked = LinkedTables(
                dataset.columns, asked.get("linked", []), lambda: self._hierarchy_slots.refresh()
            )
        self._hierarchies(self._all_dimensions, asked)
        self._dimensions.on_value_change(lambda: self._hierarchy_slots.refresh())
        none = {"": "none", **{name: name for name in dataset.columns}}
        with _more("Holdings, weights, a-priori"):
            self._holding = _choice("Holding, contributors that count as one", none, asked.get("holding"))
            numbers = {"": "none", **{name: name for name in dataset.numeric}}
            self._weight = _choice("Sampling weights", numbers, asked.get("weight"))
            self._weights_public = _tick("Attackers know the weights", asked.get("weights_public", False))
            self._zeros = _tick("Empty cells may be hidden", asked.get("zeros") == "suppressible")
            self._apriori_slot(asked)

    def _all_dimensions(self) -> list[str]:
        tables = [self._dimensions.value, *self._linked.tables]
        return list(dict.fromkeys(name for dimensions in tables for name in dimensions))

    def _apriori_slot(self, asked: dict[str, Any]) -> None:
        self._apriori = Slot(
            self.shelf,
            "A-priori file",
            asked.get("apriori"),
            hint="the dimensions and any of status (safe, sensitive, published), lower, upper, cost",
        )

    def _hierarchies(self, dimensions: Callable[[], list[str]], asked: dict[str, Any]) -> None:
        self._of_dimensions = dimensions
        self._hierarchy_asked = asked.get("hierarchy") or {}
        with _more("Hierarchies", value=bool(self._hierarchy_asked)):
            self._hierarchy_slots()

    @ui.refreshable_method
    def _hierarchy_slots(self) -> None:
        names = self._of_dimensions()
        kept = {name: slot.value for name, slot in getattr(self, "_trees", {}).items()}
        self._trees = {
            name: Slot(
                self.shelf,
                f"Hierarchy of {name}",
                kept.get(name) or self._hierarchy_asked.get(name),
            )
            for name in names
        }
        if names:
            ui.label("Subtotals of a dimension, from a file with code and parent, or .hrc.").classes(
                "shoal-quiet"
            )
        else:
            ui.label("Choose dimensions first.").classes("shoal-quiet")

    # --- tables that are there already ----------------------------------------------------------------------------

    def _matrix(self, asked: dict[str, Any]) -> None:
        self._protection = NumberField(
            "Protection, % of a cell's value", 100 * asked.get("protection", 0.10), least=0, most=100
        )
        self._sensitive = Slot(
            self.shelf,
            "Sensitive cells",
            asked.get("sensitive_data"),
            hint="a file with row, column and perhaps lower, upper; or mark them below",
        )
        self._marking = Marking(asked.get("sensitive", []), lambda: words.set_text(self._marking.words))
        words = ui.label(self._marking.words).classes("shoal-quiet")

        def mark() -> None:
            try:
                self._mark_cells(self._marking, self.data)
            except ShoalError as problem:
                parts.tell(problem)

        self._zeros = _tick("Empty cells may be hidden", asked.get("zeros") == "suppressible")
        ui.button("Mark the sensitive cells", icon="touch_app", on_click=mark).props("no-caps outline")

    def _cells(self, asked: dict[str, Any]) -> None:
        columns = self._workbench.datasets[self.data].columns
        dimensions = list(columns[: columns.index("value")]) if "value" in columns else []
        self._hierarchies(lambda: dimensions, asked)
        self._rules = RuleList(asked.get("rules") or [])
        with _more("Contributions, a-priori"):
            self._contributions = Slot(
                self.shelf,
                "Contributions",
                asked.get("contributions"),
                hint="who contributes how much, as tabulate writes it; rules are applied to sums with it",
            )
            self._apriori_slot(asked)

    def _general(self, asked: dict[str, Any]) -> None:
        for note in self._workbench.datasets[self.data].notes:
            parts.note(note[:1].upper() + note[1:] + ".")
        ui.label("Sensitive cells, levels, costs and bounds are those of the file.").classes("shoal-quiet")

    # --- attacker and cost ----------------------------------------------------------------------------------------

    def _attacker(self, asked: dict[str, Any]) -> None:
        if self.source in ("records", "cells"):
            self._insiders = _tick("Sole contributors know their own cells", asked.get("insiders", True))
        if self.source != "jj":
            with _more("What an attacker knows"):
                with ui.row().classes("full-width no-wrap gap-2"):
                    self._low = NumberField("Cells are at least", asked.get("low", 0))
                    self._high = NumberField("and at most", asked.get("high"), empty="no limit")
                self._sliding = NumberField(
                    "Width of the interval in addition, % of the value",
                    100 * asked.get("sliding", 0),
                    least=0,
                    most=1000,
                )
        with _more("Cost, last period, symbol"):
            self._cost = _choice("Hiding a cell costs", self._costs(), asked.get("cost", "value"))
            self._previous = Slot(
                self.shelf,
                "Last period's pattern",
                asked.get("previous"),
                hint="its cells cost a tenth, so that patterns stay alike",
            )
            self._symbol = ui.input("Symbol in hidden cells", value=asked.get("symbol", "x"))
            self._symbol.props("outlined dense maxlength=10").classes("full-width")
            if self.source != "records":
                self._rounding = NumberField(
                    "Totals are rounded to", asked.get("rounding"), above=0, empty="not rounded"
                )
                self._counts = _tick(
                    "The cells are counts: check whole numbers too", asked.get("counts", False)
                )

    def _attacker_values(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        if self.source != "jj":
            found |= {"low": self._low.number, "high": self._high.number, "sliding": _share(self._sliding)}
        if self.source != "records":
            found |= {"rounding": self._rounding.number, "counts": bool(self._counts.value)}
        return found

    def _costs(self) -> dict[str, str]:
        """What a cell can cost: a figure of its own, a column of the records, or a file."""
        found = dict(_COSTS)
        if self.source in ("cells", "jj"):
            found["value"] = "what the file says"
        if self.source in ("matrix", "jj"):
            del found["contributors"]
        datasets = self._workbench.datasets
        if self.source == "records":
            return found | {name: f"the sum of {name}" for name in datasets[self.data].numeric}
        files = [dataset.name for dataset in datasets.all() if "cost" in dataset.columns]
        return found | {name: f"the column cost of '{name}'" for name in files if name != self.data}


def _share(percent: NumberField) -> float:
    number = percent.number
    assert number is not None
    return number / 100


def _choice(label: str, options: dict[str, str], value: str | None) -> ui.select:
    field = ui.select(options, label=label, value=value if value in options else next(iter(options)))
    return field.props("outlined dense options-dense").classes("full-width")


def _tick(words: str, value: bool) -> ui.checkbox:
    return ui.checkbox(words, value=value).props("dense")


def _more(words: str, *, value: bool = False) -> Any:
    with ui.expansion(words, value=value).props("dense").classes("full-width"):
        return ui.column().classes("full-width gap-3")
