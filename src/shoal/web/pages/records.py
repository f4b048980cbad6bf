"""Protect records: microaggregation with its live curve, before and after, download and write back."""

from typing import Any

from nicegui import ui

from shoal.errors import InputError, ShoalError
from shoal.microdata.methods import METHODS
from shoal.microdata.orders import orders_in_words, parse_orders
from shoal.web.jobs.job import Job
from shoal.web.pages import layout, parts
from shoal.web.pages.attributes import attributes
from shoal.web.pages.before_after import before_and_after
from shoal.web.pages.fields import NumberField, read
from shoal.web.pages.method_picker import MethodPicker
from shoal.web.pages.release import write_back
from shoal.web.pages.runs import RunPanel, run_list
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
            if not workbench.datasets.names():
                with parts.card():
                    parts.empty("blur_on", "There is no data yet.", "Add data", "/data")
                return
            RecordsPage(workbench, data, run, grouping)


class RecordsPage:
    """One visit to the page."""

    def __init__(self, workbench: Workbench, data: str, run: str, grouping: str) -> None:
        self._workbench = workbench
        self._run = run if run in workbench.board else ""
        self._asked: dict[str, Any] = workbench.board[self._run].request if self._run else {}
        if grouping in workbench.board and not self._run:
            found = workbench.board[grouping]
            self._asked = {
                "data": found.request["data"],
                "k": found.request["k"],
                "groups": found.summary.get("groups"),
                "columns": [name for group in found.summary.get("groups", ()) for name in group],
            }
        with ui.element("div").classes("shoal-two"):
            with ui.column().classes("full-width gap-3"):
                with parts.card("Microaggregate"):
                    self._data = parts.data_picker(
                        workbench, "Data", self._asked.get("data", data), lambda: self._columns.refresh()
                    )
                    self._columns()
                    self._search_fields()
                    ui.button("Protect", icon="play_arrow", on_click=self._submit).props("no-caps unelevated")
                with parts.card("Runs"):
                    self._refresh = run_list(workbench, KINDS, self._choose, lambda: self._run)
            self._result = ui.column().classes("full-width gap-3")
        self._show()

    @ui.refreshable_method
    def _columns(self) -> None:
        if self._data.value not in self._workbench.datasets:
            return
        dataset = self._workbench.datasets[self._data.value]
        asked = self._asked if self._asked.get("data") == dataset.name else {}
        numeric = dataset.numeric
        default = dataset.measured
        self._chosen = parts.column_picker(numeric, "Columns to protect", asked.get("columns") or default)
        self._groups = asked.get("groups")
        ways = {"together": "all together", "auto": "in groups that Shoal looks for (auto)"}
        if isinstance(self._groups, list):
            words = "; ".join(", ".join(group) for group in self._groups)
            ways["given"] = f"in {len(self._groups)} groups: {words}"
        way = "given" if "given" in ways else "auto" if self._groups == "auto" else "together"
        self._way = ui.select(ways, label="Protected", value=way)
        self._way.props("outlined dense options-dense").classes("full-width")
        self._k = NumberField("k, smallest number of equal records", asked.get("k", 5), whole=True, least=2)
        with ui.expansion("Quasi-identifiers, strata, gaps, order").props("dense").classes("full-width"):
            with ui.column().classes("full-width gap-3 shoal-hinted"):
                self._quasi = parts.column_picker(
                    dataset.columns,
                    "Quasi-identifiers",
                    dataset.knowable if asked.get("quasi") is None else asked["quasi"],
                    hint="K of the release is counted over them; over the protected columns if none is chosen",
                )
                nobody = {"": "every record is one", **{name: name for name in dataset.columns}}
                self._unit = ui.select(nobody, label="Unit", value=asked.get("unit") or "")
                self._required = NumberField(
                    "Required K", asked.get("require_k"), whole=True, least=1, empty="none"
                ).props('hint="nothing is released below it"')
                self._ordinal = parts.column_picker(
                    dataset.columns,
                    "Columns whose order counts",
                    list(asked.get("ordinal", ())),
                    hint="and not their values",
                )
                self._orders = ui.input("Orders of texts", value=orders_in_words(asked.get("ordinal", ())))
                self._orders.props(
                    'outlined dense stack-label placeholder="education=none<primary<higher" '
                    'hint="lowest first; columns apart by commas"'
                ).classes("full-width")
                self._by = parts.column_picker(
                    dataset.columns, "Strata no group may cross", asked.get("by", ())
                )
                self._drop = parts.column_picker(
                    dataset.columns,
                    "Columns to remove",
                    dataset.with_role("identifier") if asked.get("drop") is None else asked["drop"],
                )
                self._missing = ui.select(
                    {
                        "refuse": "are refused",
                        "aside": "are set aside, not released",
                        "impute": "are filled in",
                    },
                    label="Records with gaps",
                    value=asked.get("missing", "refuse"),
                )
                self._missing.props("outlined dense").classes("full-width")
                self._aggregate = ui.select(
                    {"mean": "its mean", "median": "its median", "rounded-mean": "its mean, rounded"},
                    label="A group is replaced by",
                    value=asked.get("aggregate", "mean"),
                )
                self._aggregate.props("outlined dense").classes("full-width")
                self._largest = NumberField(
                    "Most records in a group", asked.get("largest"), whole=True, least=2, empty="no limit"
                )
                none = {"": "none", **{name: name for name in numeric}}
                self._weights = ui.select(
                    none,
                    label="Sample weights",
                    value=asked.get("sample_weights") or "",
                )
                hints = (
                    (self._unit, "K counts distinct units"),
                    (self._weights, "people a record stands for"),
                )
                for field, hint in hints:
                    attributes(field.props("outlined dense options-dense"), hint=hint).classes("full-width")
                self._sorted = ui.checkbox("Sort the released records", value=asked.get("order") == "sorted")
                self._importance(asked.get("attribute_weights") or {})

    def _importance(self, asked: dict[str, float]) -> None:
        """A number for each column that is protected: how much it counts in the distance."""
        self._factors: dict[str, NumberField] = {}

        @ui.refreshable
        def listed() -> None:
            kept = {
                name: read(field.value) for name, field in self._factors.items() if not field.wrong
            } or asked
            self._factors = {}
            if len(self._chosen.value) < 2:
                return
            ui.label("Importance of the columns in the distance").classes("shoal-quiet")
            with ui.element("div").classes("shoal-pairs"):
                for name in self._chosen.value:
                    self._factors[name] = NumberField(name, kept.get(name, 1), above=0, most=1e6)

        listed()
        self._chosen.on_value_change(listed.refresh)

    def _search_fields(self) -> None:
        self._method = MethodPicker(METHODS, self._asked.get("method", "auto"), self._asked.get("options"))
        with ui.row().classes("full-width no-wrap gap-2"):
            self._iterations = NumberField(
                "Iterations", self._asked.get("iterations"), whole=True, least=0, empty="usual"
            )
            self._time = NumberField("Time limit, s", self._asked.get("time_limit"), above=0, empty="none")
        with ui.row().classes("full-width no-wrap gap-2"):
            self._target = NumberField(
                "Target loss, %", self._asked.get("target"), least=0, most=100, empty="none"
            )
            self._seed = NumberField("Seed", self._asked.get("seed", 0), whole=True, least=0)

    def _submit(self) -> None:
        try:
            job = self._workbench.board.submit("microaggregate", self._request())
        except ShoalError as problem:
            parts.tell(problem)
            return
        self._choose(job.run)

    def _request(self) -> dict[str, Any]:
        """What the form shows; where two of its fields contradict each other, an ``InputError`` says so."""
        ordinal = {**dict.fromkeys(self._ordinal.value), **parse_orders(self._orders.value)}
        protected = [*self._chosen.value, *(name for name in ordinal if name not in self._chosen.value)]
        if not protected:
            raise InputError("choose the columns to protect")
        _apart(protected, self._drop.value, "both to be protected and to be removed")
        _apart([self._unit.value], self._quasi.value, "the unit, and K is to be counted over it; choose one")
        weights = {name: field.number for name, field in self._factors.items()}
        request: dict[str, Any] = {
            "data": self._data.value,
            "k": self._k.whole,
            "columns": protected,
            "ordinal": ordinal,
            "method": self._method.method,
            "quasi": self._counted(),
            "unit": self._unit.value or None,
            "require_k": self._required.whole,
            "by": self._by.value,
            "drop": self._drop.value,
            "missing": self._missing.value,
            "aggregate": self._aggregate.value,
            "largest": self._largest.whole,
            "attribute_weights": {name: weight for name, weight in weights.items() if weight != 1} or None,
            "sample_weights": self._weights.value or None,
            "order": "sorted" if self._sorted.value else "keep",
            "iterations": self._iterations.whole,
            "time_limit": self._time.number,
            "target": self._target.number,
            "seed": self._seed.whole,
            "options": self._method.options,
        }
        if self._way.value == "auto":
            request["groups"] = "auto"
        elif self._way.value == "given" and isinstance(self._groups, list):
            if {name for group in self._groups for name in group} | set(ordinal) != set(protected):
                raise InputError(
                    "the groups are not of the columns to protect; choose another way, or those columns"
                )
            request |= {"columns": None, "groups": self._groups}
        return request

    def _counted(self) -> list[str] | None:
        """The columns over which K is to be counted; none if nobody has changed what the roles say."""
        chosen: list[str] = self._quasi.value
        return None if chosen == self._workbench.datasets[self._data.value].knowable else chosen

    def _choose(self, run: str) -> None:
        self._run = run
        ui.navigate.history.replace(f"/records?run={run}")
        self._refresh()
        self._show()

    def _show(self) -> None:
        self._result.clear()
        with self._result:
            if self._run:
                RunPanel(self._workbench, self._run, self._present, measure="information loss, %")
            else:
                with parts.card():
                    parts.empty(
                        "blur_on",
                        "Choose the columns and k, and protect. You can watch, pause and stop the search.",
                    )

    def _present(self, job: Job) -> None:
        found = job.summary
        bound = found["bound_percent"]
        parts.facts(
            [
                *k_facts(found),
                ("k asked for", found["k"]),
                ("information loss", f"{found['loss_percent']:.4g} %"),
                ("no grouping loses less than", "not known" if bound is None else f"{bound:.4g} %"),
                ("proved optimal", "yes" if found["optimal"] else "no"),
                ("records released", found["records"]),
                ("groups", f"{found['clusters']:,} of {found['min_cluster']}–{found['max_cluster']}"),
                ("stopped by", found["stopped_by"]),
            ]
        )
        for text in found["warnings"]:
            parts.warning(text)
        for text in found["notes"]:
            parts.note(text)
        before_and_after(found)
        write_back(self._workbench, job)


def k_facts(found: dict[str, Any]) -> list[tuple[str, int, str]]:
    """K of a release with the columns it is counted over, and that of the protected columns alone if it is another.

    Good is only what was asked for, and nobody alone.

    >>> k_facts({"k": 5, "k_release": 1, "k_protected": 5, "quasi": ["income", "age", "zip"], "quasi_guessed": True})
    [('K of the release over income, age, zip, all that could be known', 1, 'bad'), ('K over the protected columns', 5, 'good')]
    """
    over = ", ".join(found["quasi"]) + (", all that could be known" if found.get("quasi_guessed") else "")
    facts = [(f"K of the release over {over}", found["k_release"], _tone(found["k_release"], found["k"]))]
    alone = found.get("k_protected", found["k_release"])
    if alone != found["k_release"]:
        facts.append(("K over the protected columns", alone, _tone(alone, found["k"])))
    return facts


def _tone(reached: int, asked: int) -> str:
    return "good" if reached >= max(2, asked) else "bad"


def _apart(some: list[str], others: list[str], what: str) -> None:
    for name in some:
        if name and name in others:
            raise InputError(f"'{name}' is {what}")
