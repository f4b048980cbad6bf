"""Protect records: microaggregation with its live curve, before and after, download and write back."""

from collections.abc import Callable
from typing import Any

from nicegui import ui

from shoal.errors import InputError
from shoal.microdata.columns.orders import orders_in_words, parse_orders
from shoal.microdata.microaggregation.definitions import DEFINITIONS
from shoal.operations import OPERATIONS
from shoal.report.definitions import in_words
from shoal.settings import SettingField
from shoal.web.jobs.job import Job
from shoal.web.pages import layout, parts
from shoal.web.pages.attributes import attributes
from shoal.web.pages.before_after import before_and_after
from shoal.web.pages.desk import Desk
from shoal.web.pages.fields import NumberField, read
from shoal.web.pages.next_step import use_as_data
from shoal.web.pages.release import write_back
from shoal.web.pages.residual import removed_beside, residual_risk
from shoal.web.pages.settings_form import SettingsForm
from shoal.web.workbench import Workbench

KINDS = ("microaggregate",)


def register(workbench: Workbench) -> None:
    """Make the page known."""

    @ui.page("/records")
    def records(data: str = "", run: str = "", grouping: str = "") -> None:
        with layout.page(
            workbench,
            "Protect records",
            "Microaggregation: on the protected columns every released record equals at least k − 1 others.",
        ):
            if parts.has_data(workbench, "blur_on"):
                RecordsPage(workbench, data, run, grouping)


class RecordsPage:
    """One visit to the page."""

    def __init__(self, workbench: Workbench, data: str, run: str, grouping: str) -> None:
        self._workbench = workbench
        self._desk = Desk(
            workbench,
            "/records",
            *KINDS,
            run=run,
            present=self._present,
            icon="blur_on",
            hint="Choose the columns and k, and protect. You can watch, pause and stop the search.",
            measure="information loss, %",
        )
        self._asked = self._desk.asked
        if grouping in workbench.board and not self._desk.run:
            found = workbench.board[grouping]
            self._asked = {
                "data": found.request["data"],
                "k": found.request["k"],
                "groups": found.summary.get("groups"),
                "columns": [name for group in found.summary.get("groups", ()) for name in group],
            }
        with self._desk.form("Microaggregate"):
            self._data = parts.data_picker(
                workbench, "Data", self._asked.get("data", data), lambda: self._fields.refresh()
            )
            self._fields()
            with ui.row().classes("items-center gap-3 q-mt-sm"):
                parts.main_button("Protect", icon="play_arrow", on_click=self._submit)
                removed_beside(self._removed)

    @ui.refreshable_method
    def _fields(self) -> None:
        if self._data.value not in self._workbench.datasets:
            return
        dataset = self._workbench.datasets[self._data.value]
        asked = self._asked if self._asked.get("data") == dataset.name else {}
        self._form = SettingsForm(
            OPERATIONS["microaggregate"],
            dataset.columns,
            asked,
            suggested={
                "columns": dataset.measured,
                "quasi": dataset.knowable,
                "drop": dataset.removed,
                "unit": dataset.only_with_role("unit"),
            },
            without=("data",),
            own={
                "columns": self._columns,
                "groups": self._groups,
                "ordinal": self._orders,
                "sample_weights": self._weights,
                "attribute_weights": self._importance,
            },
        )

    def _columns(self, item: SettingField, value: Any) -> Callable[[], Any]:
        numeric = self._workbench.datasets[self._data.value].numeric
        self._chosen = parts.column_picker(numeric, item.label, value or ())
        return lambda: self._chosen.value

    def _groups(self, item: SettingField, value: Any) -> Callable[[], Any]:
        """All together, in groups that are looked for, or in those that were found before."""
        ways = {"together": "all together", "auto": "in groups that Shoal looks for (auto)"}
        if isinstance(value, list):
            words = "; ".join(", ".join(group) for group in value)
            ways["given"] = f"in {len(value)} groups: {words}"
        way = "given" if "given" in ways else "auto" if value == "auto" else "together"
        select = parts.choice(ways, label=item.label, value=way)
        return lambda: {"auto": "auto", "given": value}.get(select.value)

    def _orders(self, item: SettingField, value: Any) -> Callable[[], Any]:
        """Columns with an order of their own are chosen; that of texts is written."""
        columns = parts.column_picker(
            self._workbench.datasets[self._data.value].columns,
            "Columns whose order counts",
            list(value or ()),
            hint="and not their values",
        )
        orders = ui.input(item.label, value=orders_in_words(value or ()))
        orders.props(
            'outlined dense stack-label placeholder="education=none<primary<higher" '
            'hint="lowest first; columns apart by commas"'
        ).classes("full-width")
        return lambda: {**dict.fromkeys(columns.value), **parse_orders(orders.value)}

    def _weights(self, item: SettingField, value: Any) -> Callable[[], Any]:
        none = {"": "none", **{name: name for name in self._workbench.datasets[self._data.value].numeric}}
        select = parts.choice(none, label=item.label, value=value or "")
        attributes(select, hint="how much of the population a record stands for")
        return lambda: select.value or None

    def _importance(self, item: SettingField, value: Any) -> Callable[[], Any]:
        """A number for each column that is protected: how much it counts in the distance."""
        factors: dict[str, NumberField] = {}

        @ui.refreshable
        def listed() -> None:
            kept = {name: read(field.value) for name, field in factors.items() if not field.wrong} or (
                value or {}
            )
            factors.clear()
            if len(self._chosen.value) < 2:
                return
            parts.quiet("Importance of the columns in the distance")
            with ui.element("div").classes("shoal-pairs"):
                for name in self._chosen.value:
                    factors[name] = NumberField(name, kept.get(name, 1), above=0, most=1e6)

        listed()
        self._chosen.on_value_change(listed.refresh)

        def weights() -> dict[str, Any] | None:
            numbers = {name: field.number for name, field in factors.items()}
            return {name: number for name, number in numbers.items() if number != 1} or None

        return weights

    def _removed(self) -> list[str]:
        return self._form.values_of("drop") or [] if self._data.value in self._workbench.datasets else []

    def _submit(self) -> None:
        with parts.showing_errors():
            self._desk.submit("microaggregate", self._request())

    def _request(self) -> dict[str, Any]:
        """What the form shows; where two of its fields contradict each other, an ``InputError`` says so."""
        request: dict[str, Any] = {"data": self._data.value, **self._form.values}
        ordinal, chosen = request["ordinal"], request["columns"]
        categories = [*ordinal, *request["nominal"]]
        protected = [*chosen, *(name for name in categories if name not in chosen)]
        if not protected:
            raise InputError("choose the columns to protect")
        _apart(protected, request["drop"] or [], "both to be protected and to be removed")
        _apart(
            [request["unit"]], request["quasi"] or [], "the unit, and K is to be counted over it; choose one"
        )
        request["columns"] = protected
        if isinstance(request["groups"], list):
            grouped = {name for group in request["groups"] for name in group}
            if grouped | set(categories) != set(protected):
                raise InputError(
                    "the groups are not of the columns to protect; choose another way, or those columns"
                )
            request["columns"] = None
        # An empty choice is one: K over the protected columns, and nothing removed.
        request["quasi"] = self._counted(request["quasi"] or [])
        request["drop"] = request["drop"] or []
        return request

    def _counted(self, chosen: list[str]) -> list[str] | None:
        """The columns over which K is to be counted; none if nobody has changed what the roles say."""
        return None if chosen == self._workbench.datasets[self._data.value].knowable else chosen

    def _present(self, job: Job) -> None:
        found = job.summary
        parts.facts(
            [
                *k_facts(found),
                *in_words(DEFINITIONS, found, ("k", "loss_percent", "bound_percent", "optimal", "records")),
                ("groups", f"{found['clusters']:,} of {found['min_cluster']}–{found['max_cluster']}"),
                ("stopped by", found["stopped_by"]),
            ]
        )
        parts.remarks(found)
        residual_risk(found, DEFINITIONS)
        before_and_after(found)
        use_as_data(self._workbench, job)
        write_back(self._workbench, job)


def k_facts(figures: dict[str, Any]) -> list[tuple[str, int, str]]:
    """K of a release with the columns it is counted over, and that of the protected columns alone if it is another.

    Good is only what was asked for, and nobody alone.

    >>> k_facts({"k": 5, "k_release": 1, "k_protected": 5, "quasi": ["age", "zip"], "quasi_guessed": True})
    [('K of the release over age, zip, all that could be known', 1, 'bad'), ('K over the protected columns alone', 5, 'good')]
    """
    over = ", ".join(figures["quasi"]) + (", all that could be known" if figures.get("quasi_guessed") else "")
    facts = [
        (f"K of the release over {over}", figures["k_release"], _tone(figures["k_release"], figures["k"]))
    ]
    alone = figures.get("k_protected", figures["k_release"])
    if alone != figures["k_release"]:
        facts.append((DEFINITIONS["k_protected"].name, alone, _tone(alone, figures["k"])))
    return facts


def _tone(reached: int, required: int) -> str:
    return "good" if reached >= max(2, required) else "bad"


def _apart(some: list[str], others: list[str], what: str) -> None:
    for name in some:
        if name and name in others:
            raise InputError(f"'{name}' is {what}")
