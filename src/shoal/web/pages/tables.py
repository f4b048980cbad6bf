"""Protect a table: build or upload one, say what is sensitive, hide, and try other patterns by hand."""

import copy
import re
from typing import Any

from nicegui import run as background
from nicegui import ui

from shoal.errors import ShoalError
from shoal.report.page import shown
from shoal.web.activities import ACTIVITIES
from shoal.web.activities.table import build, checking, verdict
from shoal.web.jobs.job import Job
from shoal.web.pages import layout, parts
from shoal.web.pages.grid import Grid, legend
from shoal.web.pages.runs import RunPanel, run_list
from shoal.web.workbench import Workbench

_RULES = "frequency(3), p-percent(10)"
_RULE = re.compile(r"[A-Za-z][A-Za-z -]*(?:\([^)]*\))?")


def register(workbench: Workbench) -> None:
    """Make the page known."""

    @ui.page("/tables")
    def tables(data: str = "", run: str = "") -> None:
        with layout.page(
            workbench,
            "Protect a table",
            "A hidden cell can be computed back from the totals unless further cells are hidden with it.",
        ):
            if not workbench.datasets.names():
                with parts.card():
                    parts.empty(
                        "grid_on",
                        "There is no data yet: records to tabulate, or a table.",
                        "Add data",
                        "/data",
                    )
                return
            TablesPage(workbench, data, run)


class TablesPage:
    """One visit to the page."""

    def __init__(self, workbench: Workbench, data: str, run: str) -> None:
        self._workbench = workbench
        self._run = run if run in workbench.board else ""
        self._asked: dict[str, Any] = workbench.board[self._run].request if self._run else {}
        with ui.element("div").classes("shoal-two"):
            with ui.column().classes("full-width gap-3"):
                with parts.card("Suppress"):
                    self._form(data)
                with parts.card("Runs"):
                    self._refresh = run_list(
                        workbench, ("suppress", "audit"), self._choose, lambda: self._run
                    )
            self._result = ui.column().classes("full-width gap-3")
        self._show()

    # --- the form -----------------------------------------------------------------------------------------------

    def _form(self, data: str) -> None:
        from shoal.tables.methods import METHODS

        asked = self._asked
        self._data = parts.data_picker(
            self._workbench, "Data", asked.get("data", data), lambda: self._table.refresh()
        )
        self._source = (
            ui.toggle(
                {"records": "Records to tabulate", "matrix": "A table"},
                value=asked.get("source", self._guess()),
                on_change=lambda: self._table.refresh(),
            )
            .props("no-caps dense spread")
            .classes("full-width")
        )
        self._table()
        methods = {name: f"{name}: {METHODS[name].summary}" for name in METHODS}
        self._method = ui.select(methods, label="Method", value=asked.get("method", "auto"))
        self._method.props("outlined dense options-dense").classes("full-width")
        with ui.row().classes("full-width no-wrap gap-2"):
            self._time = parts.number("Time limit, seconds", asked.get("time_limit", 60), min=0.1)
            self._seed = parts.number("Seed", asked.get("seed", 0), min=0, precision=0)
        self._insiders = ui.checkbox(
            "Sole contributors know their own cells", value=asked.get("insiders", True)
        )
        self._insiders.props("dense")
        ui.button("Suppress", icon="play_arrow", on_click=self._submit).props("no-caps unelevated")

    def _guess(self) -> str:
        """A small table with a column of names and numbers otherwise is probably a matrix."""
        name = self._data.value
        if name not in self._workbench.datasets:
            return "records"
        dataset = self._workbench.datasets[name]
        numbers = len(dataset.numeric) >= len(dataset.columns) - 1 and dataset.types[0] == "text"
        return "matrix" if numbers and dataset.records <= 100 else "records"

    @ui.refreshable_method
    def _table(self) -> None:
        if self._data.value not in self._workbench.datasets:
            return
        dataset = self._workbench.datasets[self._data.value]
        asked = self._asked if self._asked.get("data") == dataset.name else {}
        self._protection = parts.number(
            "Protection, % of a cell's value", 100 * asked.get("protection", 0.10), min=0, max=100
        )
        self._protection.set_visibility(self._source.value == "matrix")
        if self._source.value == "matrix":
            self._marked: set[tuple[str, str]] = {(row, column) for row, column in asked.get("sensitive", ())}
            self._words = ui.label(self._marks()).classes("shoal-quiet")
            ui.button("Mark the sensitive cells", icon="touch_app", on_click=self._mark).props(
                "no-caps outline"
            )
            return
        guess = [name for name in dataset.quasi if name not in dataset.numeric][:2]
        self._dimensions = parts.column_picker(
            dataset.columns, "Dimensions", asked.get("dimensions") or guess
        )
        numeric = {"": "count the records", **{name: name for name in dataset.numeric}}
        likely = [name for name in dataset.numeric if dataset.roles.get(name) == "confidential"]
        value = asked.get("value", likely[0] if likely else "") or ""
        self._value = ui.select(numeric, label="Sum of", value=value if value in numeric else "")
        nobody = {"": "every record is one", **{name: name for name in dataset.columns}}
        identifiers = dataset.with_role("identifier")
        self._contributor = ui.select(
            nobody,
            label="Contributor",
            value=asked.get("contributor") or (identifiers[0] if identifiers else ""),
        )
        for field in (self._value, self._contributor):
            field.props("outlined dense options-dense").classes("full-width")
        rules = ", ".join(asked.get("rules") or ()) or _RULES
        self._rules = ui.input("Rules", value=rules).classes("full-width")
        self._rules.props("outlined dense")
        ui.label("A cell is sensitive if one of them fires; also dominance(1,75) and pq(10,80).").classes(
            "shoal-quiet"
        )

    def _marks(self) -> str:
        if not self._marked:
            return "No cell is marked as sensitive yet."
        some = "; ".join(f"{row}, {column}" for row, column in sorted(self._marked)[:4])
        return f"Sensitive ({len(self._marked)}): {some}{' …' if len(self._marked) > 4 else ''}"

    def _mark(self) -> None:
        """Show the table on the right, to mark cells by pressing them."""
        frame = self._workbench.datasets.head(self._data.value, 200)
        names = frame.columns
        if len(names) < 3 or frame.height * len(names) > 3000:
            ui.notify(
                "a table needs a column of row names and at least two columns of numbers, and must not be large",
                type="warning",
            )
            return
        rows = [str(value) for value in frame[names[0]].to_list()]
        drawing: dict[str, Any] = {
            "dimensions": ["row", "column"],
            "rows": rows,
            "columns": names[1:],
            "values": [[_number(value) for value in row] for row in frame.select(names[1:]).iter_rows()],
            "kinds": [
                ["primary" if (row, column) in self._marked else "" for column in names[1:]] for row in rows
            ],
        }

        def press(row: int, column: int) -> None:
            cell = (rows[row], names[1 + column])
            self._marked ^= {cell}
            drawing["kinds"][row][column] = "primary" if cell in self._marked else ""
            grid.refresh()
            self._words.set_text(self._marks())

        self._result.clear()
        with self._result:
            with parts.card("Press the sensitive cells", quiet="Press again to unmark; Enter does the same."):
                grid = Grid(drawing, press)

    def _submit(self) -> None:
        request: dict[str, Any] = {
            "data": self._data.value,
            "source": self._source.value,
            "method": self._method.value,
            "time_limit": self._time.value,
            "seed": parts.whole(self._seed) or 0,
            "insiders": self._insiders.value,
        }
        if self._source.value == "matrix":
            request |= {"sensitive": sorted(self._marked), "protection": (self._protection.value or 0) / 100}
        else:
            request |= {
                "dimensions": self._dimensions.value,
                "value": self._value.value or None,
                "contributor": self._contributor.value or None,
                "rules": [rule.strip() for rule in _RULE.findall(self._rules.value or "")] or None,
            }
        try:
            job = self._workbench.board.submit("suppress", request)
        except ShoalError as problem:
            parts.tell(problem)
            return
        self._choose(job.run)

    # --- the result ---------------------------------------------------------------------------------------------

    def _choose(self, run: str) -> None:
        self._run = run
        ui.navigate.history.replace(f"/tables?run={run}")
        self._refresh()
        self._show()

    def _show(self) -> None:
        self._result.clear()
        with self._result:
            if self._run:
                RunPanel(self._workbench, self._run, self._present, measure="cost")
            else:
                with parts.card():
                    parts.empty(
                        "grid_on",
                        "Choose records and rules, or a table and its sensitive cells, and suppress.",
                    )

    def _present(self, job: Job) -> None:
        found = job.summary
        if job.kind == "suppress":
            bound = found["bound"]
            gap = found["gap_percent"]
            parts.facts(
                [
                    ("safe", "yes" if found["safe"] else "no", "good" if found["safe"] else "bad"),
                    ("sensitive cells", found["primary"]),
                    ("further cells hidden", found["complementary"]),
                    ("cost", found["cost"]),
                    ("no safe pattern costs less than", "not known" if bound is None else bound),
                    ("gap to the best possible", "not known" if gap is None else f"{gap:.2f} %"),
                    ("value hidden besides", f"{found['value_hidden_percent']:.2f} %"),
                    ("stopped by", found["stopped_by"]),
                ]
            )
            if found["by_rule"]:
                rules = ", ".join(f"{rule}: {count}" for rule, count in found["by_rule"].items())
                parts.note(f"Sensitive by rule: {rules}.")
            parts.note(f"Safe against {found['attacker']}.")
            if found["doubtful_if_bounded"]:
                parts.warning(
                    f"{found['doubtful_if_bounded']} sensitive cells would be unsafe for somebody who knows every cell to "
                    "within twice its value."
                )
        parts.note(
            "This page, the pattern and the intervals are for internal use; only the published table goes out."
        )
        if found.get("grid"):
            ByHand(self._workbench, job, self._choose)
        else:
            parts.note(f"The table has {found['cells']:,} cells and is not drawn; the files hold all of it.")
            _intervals(found)


class ByHand:
    """The heat map of a pattern; pressing a cell hides or shows it, and the audit follows at once."""

    def __init__(self, workbench: Workbench, job: Job, choose: Any) -> None:
        self._workbench = workbench
        self._job = job
        self._choose = choose
        self._drawing = copy.deepcopy(job.summary["grid"])
        self._whole: Any = None
        self._asked = 0
        legend()
        self._grid = Grid(self._drawing, self._press)
        ui.label("Press a cell that is not sensitive to hide or show it.").classes("shoal-quiet")
        self._verdict = ui.column().classes("gap-2 full-width").props('data-test="verdict"')
        self._listing = ui.column().classes("full-width")
        self._tell(job.summary, changed=False)

    async def _press(self, row: int, column: int) -> None:
        kind = self._drawing["kinds"][row][column]
        if kind == "primary":
            ui.notify("a sensitive cell stays hidden", type="info")
            return
        self._drawing["kinds"][row][column] = "" if kind else "complementary"
        self._grid.refresh()
        self._asked += 1
        mine = self._asked
        try:
            said: dict[str, Any] = await background.io_bound(self._audit) or {}
        except ShoalError as problem:
            parts.tell(problem)
            return
        if said and mine == self._asked:  # a later press has its own answer coming
            self._tell(said, changed=True)

    def _hidden(self) -> list[list[str]]:
        drawing = self._drawing
        return [
            [name, drawing["columns"][column]]
            for row, name in enumerate(drawing["rows"])
            for column, kind in enumerate(drawing["kinds"][row])
            if kind
        ]

    def _audit(self) -> dict[str, Any]:
        import shoal

        request: Any = ACTIVITIES[self._job.kind].request_model.model_validate(self._job.request)
        if self._whole is None:
            self._whole = build(request, self._workbench.datasets.frame(request.data))
        return verdict(
            shoal.audit(self._whole, [tuple(cell) for cell in self._hidden()], **checking(request))
        )

    def _tell(self, said: dict[str, Any], *, changed: bool) -> None:
        self._verdict.clear()
        with self._verdict:
            with ui.row().classes("items-center gap-3 full-width no-wrap"):
                ui.icon("verified_user" if said["safe"] else "gpp_bad", size="26px").classes(
                    "text-positive" if said["safe"] else "text-negative"
                )
                ui.label(_in_words(said)).style("font-weight: 600")
            if changed:
                ui.button("Audit and keep this pattern", icon="save", on_click=self._keep).props(
                    "no-caps outline dense padding='4px 12px'"
                )
        self._listing.clear()
        with self._listing:
            _intervals(said)

    def _keep(self) -> None:
        fields = ACTIVITIES["audit"].request_model.model_fields
        request = {key: value for key, value in self._job.request.items() if key in fields}
        try:
            job = self._workbench.board.submit("audit", {**request, "hidden": self._hidden()})
        except ShoalError as problem:
            parts.tell(problem)
            return
        self._choose(job.run)


def _in_words(said: dict[str, Any]) -> str:
    if said["safe"]:
        return "Safe: no sensitive cell can be computed too closely."
    reasons = [
        (said["unsafe"], "sensitive cells that can be computed too closely"),
        (said["insiders"], "cells that a sole contributor could work out"),
        (said["sums"], "relations that give away a sensitive sum"),
        (said["integers"], "cells given away because counts are whole numbers"),
    ]
    said_so = "; ".join(f"{words}: {count}" for count, words in reasons if count)
    return f"Not safe. {said_so[:1].upper()}{said_so[1:]}."


def _intervals(said: dict[str, Any]) -> None:
    listed = said["intervals"]
    names = listed["columns"]
    place = {
        name: names.index(name) for name in ("value", "min", "max", "required_min", "required_max", "safe")
    }
    rows, classes = [], []
    for row in listed["rows"][:60]:
        dimensions = [str(value) for value in row[: place["value"]]]
        bounds = [
            f"{_bound(row[place[low]], '−∞')} … {_bound(row[place[high]], '∞')}"
            for low, high in (("min", "max"), ("required_min", "required_max"))
        ]
        rows.append([*dimensions, row[place["value"]], *bounds, "yes" if row[place["safe"]] else "no"])
        classes.append("" if row[place["safe"]] else "crowd-1")
    with (
        ui.expansion("Intervals of the sensitive cells", value=not said["safe"])
        .props("dense")
        .classes("full-width")
    ):
        parts.table(
            [*names[: place["value"]], "value", "attacker's interval", "required", "safe"],
            rows,
            classes=classes,
        )


def _bound(value: Any, without: str) -> str:
    return without if value is None or value in (float("inf"), float("-inf")) else shown(float(value))


def _number(value: Any) -> float | None:
    try:
        return float(value)
    except (TypeError, ValueError):
        return None
