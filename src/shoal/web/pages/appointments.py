"""Appointments: people, slots, the aim, the matrix of crowds by slots, and K before, after and at best."""

from typing import Any

from nicegui import ui

from shoal.appointments.methods import METHODS
from shoal.errors import ShoalError
from shoal.web.datasets import Dataset
from shoal.web.jobs.job import Job
from shoal.web.pages import layout, parts
from shoal.web.pages.release import update_back, write_back
from shoal.web.pages.runs import RunPanel, run_list
from shoal.web.workbench import Workbench

_AIMS = {"k": "the smallest crowd, K", "vector": "the whole anonymity vector"}


def register(workbench: Workbench) -> None:
    """Make the page known."""

    @ui.page("/appointments")
    def appointments(people: str = "", run: str = "") -> None:
        with layout.page(
            workbench,
            "Appointments",
            "Being seen at a centre at an hour tells something about a person; a good plan keeps crowds together.",
        ):
            if not workbench.datasets.names():
                with parts.card():
                    parts.empty("event_available", "People and slots are needed first.", "Add data", "/data")
                return
            AppointmentsPage(workbench, people, run)


def _has_slots(dataset: Dataset) -> bool:
    names = {name.lower() for name in dataset.columns}
    return "capacity" in names and bool(names & {"slot", "resource"})


class AppointmentsPage:
    """One visit to the page."""

    def __init__(self, workbench: Workbench, people: str, run: str) -> None:
        self._workbench = workbench
        self._run = run if run in workbench.board else ""
        self._asked: dict[str, Any] = workbench.board[self._run].request if self._run else {}
        found = workbench.datasets.all()
        slots = [dataset.name for dataset in found if _has_slots(dataset)]
        others = [dataset.name for dataset in found if not _has_slots(dataset)]
        with ui.element("div").classes("shoal-two"):
            with ui.column().classes("full-width gap-3"):
                with parts.card("Assign"):
                    if not slots or not others:
                        what = "slots (columns slot and capacity)" if not slots else "people"
                        parts.note(f"There are no {what} in the workspace yet.")
                        ui.button("Add data", on_click=lambda: ui.navigate.to("/data")).props(
                            "no-caps outline"
                        )
                    else:
                        self._form(others, slots, people)
                with parts.card("Runs"):
                    self._refresh = run_list(workbench, ("assign",), self._choose, lambda: self._run)
            self._result = ui.column().classes("full-width gap-3")
        self._show()

    def _form(self, people: list[str], slots: list[str], chosen: str) -> None:
        asked = self._asked
        wanted = asked.get("people", chosen)
        self._people = ui.select(
            people,
            label="People",
            value=wanted if wanted in people else people[0],
            on_change=lambda: self._columns.refresh(),
        )
        self._people.props("outlined dense options-dense").classes("full-width")
        matching = f"{self._people.value}_resource"
        slot = asked.get("slots", matching if matching in slots else slots[0])
        self._slots = ui.select(
            slots,
            label="Slots",
            value=slot if slot in slots else slots[0],
            on_change=lambda: self._columns.refresh(),
        )
        self._slots.props("outlined dense options-dense").classes("full-width")
        self._columns()
        self._objective = ui.select(_AIMS, label="Aim", value=asked.get("objective", "k"))
        self._objective.props("outlined dense").classes("full-width")
        self._objective.on_value_change(lambda: self._methods.refresh())
        self._methods()
        with ui.row().classes("full-width no-wrap gap-2"):
            self._time = parts.number("Time limit, seconds", asked.get("time_limit", 60), min=0.1)
            self._seed = parts.number("Seed", asked.get("seed"), min=0, precision=0).props(
                'placeholder="none"'
            )
        ui.button("Assign", icon="play_arrow", on_click=self._submit).props("no-caps unelevated")

    @ui.refreshable_method
    def _methods(self) -> None:
        fitting = {
            name: f"{name}: {method.summary}"
            for name, method in METHODS.items()
            if self._objective.value in method.objectives
        }
        asked = self._asked.get("method", "auto")
        self._method = ui.select(fitting, label="Method", value=asked if asked in fitting else "auto")
        self._method.props("outlined dense options-dense").classes("full-width")

    @ui.refreshable_method
    def _columns(self) -> None:
        if (
            self._people.value not in self._workbench.datasets
            or self._slots.value not in self._workbench.datasets
        ):
            return
        people, slots = (
            self._workbench.datasets[self._people.value],
            self._workbench.datasets[self._slots.value],
        )
        asked = self._asked if self._asked.get("people") == people.name else {}
        self._quasi = parts.column_picker(
            people.columns, "Quasi-identifiers", asked.get("quasi") or people.quasi
        )
        self._k = parts.number("k, crowds below it count as exposed", asked.get("k", 5), min=1, precision=0)
        attributes = [
            name for name in slots.columns if name.lower() not in ("slot", "resource", "capacity", "booked")
        ]
        nothing = {"": "none", **{name: name for name in people.columns}}
        with (
            ui.expansion("Eligibility, pinned people, diversity, attacker")
            .props("dense")
            .classes("full-width")
        ):
            with ui.column().classes("full-width gap-2"):
                self._known = parts.column_picker(
                    attributes,
                    "What an attacker knows of a slot",
                    asked.get("known") or (),
                    hint="the slot itself if none",
                )
                self._eligible = ui.select(
                    nothing, label="Column that says where people may go", value=asked.get("eligible") or ""
                )
                self._pinned = ui.select(
                    nothing, label="Column of slots given already", value=asked.get("pinned") or ""
                )
                self._diverse = ui.select(
                    nothing, label="Column that must vary in each crowd", value=asked.get("diverse") or ""
                )
                self._key = ui.select(
                    nothing,
                    label="Column that identifies a person in calendars",
                    value=asked.get("key") or "",
                )
                for field in (self._eligible, self._pinned, self._diverse, self._key):
                    field.props("outlined dense options-dense").classes("full-width")
                self._eligibility_known = ui.checkbox(
                    "An attacker knows who may go where", value=asked.get("eligibility_known", False)
                )

    def _submit(self) -> None:
        request = {
            "people": self._people.value,
            "slots": self._slots.value,
            "quasi": self._quasi.value,
            "objective": self._objective.value,
            "method": self._method.value,
            "known": self._known.value or None,
            "eligible": self._eligible.value or None,
            "eligibility_known": self._eligibility_known.value,
            "pinned": self._pinned.value or None,
            "diverse": self._diverse.value or None,
            "key": self._key.value or None,
            "k": parts.whole(self._k) or 5,
            "time_limit": self._time.value,
            "seed": parts.whole(self._seed),
        }
        try:
            job = self._workbench.board.submit("assign", request)
        except ShoalError as problem:
            parts.tell(problem)
            return
        self._choose(job.run)

    def _choose(self, run: str) -> None:
        self._run = run
        ui.navigate.history.replace(f"/appointments?run={run}")
        self._refresh()
        self._show()

    def _show(self) -> None:
        self._result.clear()
        with self._result:
            if self._run:
                RunPanel(self._workbench, self._run, self._present, measure="K")
            else:
                with parts.card():
                    parts.empty(
                        "event_available",
                        "Choose people, slots and what may be known of a person, and assign.",
                    )

    def _present(self, job: Job) -> None:
        found = job.summary
        parts.facts(
            [
                (
                    "K with these appointments",
                    found["k"],
                    "good" if found["k"] >= found["k_required"] else "bad",
                ),
                ("K before any appointment", found["k_before"]),
                ("best K possible", found["k_bound"]),
                ("K at random", found["k_random"]),
                ("proved optimal", "yes" if found["optimal"] else "no"),
                ("people", found["people"]),
                ("crowds", found["crowds"]),
                ("stopped by", found["stopped_by"]),
            ]
        )
        if found["exposed_before"]:
            parts.warning(
                f"{found['exposed_before']:,} people are in crowds below {found['k_required']} before any appointment: no plan "
                "can help them; generalise their attributes or withhold their records."
            )
        caused = found["exposed"] - found["exposed_before"]
        if caused > 0:
            parts.warning(f"{caused:,} more people come below {found['k_required']} by these appointments.")
        if found["homogeneous_slots"]:
            parts.note(
                f"{found['homogeneous_slots']} of {len(found['slots'])} slots serve one crowd only: who is seen there "
                "gives it away."
            )
        for text in found["notes"]:
            parts.note(text)
        ui.label("People in small crowds").style("font-weight: 600")
        parts.table(
            ["people in crowds below", "before", "with this plan", "at random"],
            [(int(limit), *counts) for limit, counts in found["below"].items()],
        )
        _matrix(found)
        _loads(found)
        write_back(self._workbench, job, f"{job.request['people']}_appointments")
        if found["can_update"]:
            update_back(self._workbench, job)


def _matrix(found: dict[str, Any]) -> None:
    matrix = found["matrix"]
    slots = [item["slot"] for item in found["slots"]][: len(matrix[0])]
    crowds = [f"{place + 1} ({size})" for place, size in enumerate(found["matrix_crowds"])]
    cells = [[x, y, value] for y, row in enumerate(matrix) for x, value in enumerate(row) if value]
    least = min((cell[2] for cell in cells), default=0)
    most = max((cell[2] for cell in cells), default=1)
    with ui.column().classes("full-width gap-0"):
        ui.label("Crowds by slots").style("font-weight: 600")
        few = len(matrix) * len(slots) <= 240
        parts.chart(
            {
                "xAxis": parts.axis("", "category", data=slots, axisLabel=_slot_labels(slots)),
                "yAxis": {
                    **parts.axis("crowd (people)", "category", data=crowds, inverse=True),
                    "nameGap": 60,
                },
                "grid": {"left": 84, "right": 70, "top": 10, "bottom": 74},
                "visualMap": {
                    "min": least,
                    "max": max(most, least + 1),
                    "right": 0,
                    "top": "middle",
                    "calculable": True,
                    "inRange": {"color": ["#d9704a", "#e9c46a", "#5aa9c4", "#1f6f8b"]},
                    "textStyle": {"color": "#8a949b"},
                },
                "series": [{"type": "heatmap", "data": cells, "label": {"show": few, "fontSize": 10}}],
                "tooltip": {},
            },
            min(620, 140 + 16 * len(matrix)),
            "how many people of each crowd go to each slot",
        )
        total = found["crowds"]
        shown = (
            f"The {len(crowds)} largest of {total:,} crowds"
            if total > len(crowds)
            else f"All {total:,} crowds"
        )
        part = (
            f", the first {len(slots)} of {len(found['slots'])} slots"
            if len(found["slots"]) > len(slots)
            else ""
        )
        ui.label(f"{shown}{part}. A red cell is a small crowd.").classes("shoal-quiet")


def _slot_labels(slots: list[str]) -> dict[str, Any]:
    """Names of slots upright while they are short, aslant where they are long."""
    long = sum(len(name) for name in slots) > 60
    return {"rotate": 50 if long else 0, "color": "#8a949b"}


def _loads(found: dict[str, Any]) -> None:
    slots = found["slots"][:60]
    with ui.column().classes("full-width gap-0"):
        ui.label("Places used").style("font-weight: 600")
        parts.chart(
            {
                "xAxis": parts.axis(
                    "",
                    "category",
                    data=[item["slot"] for item in slots],
                    axisLabel=_slot_labels([item["slot"] for item in slots]),
                ),
                "yAxis": parts.axis("people"),
                "grid": {"left": 64, "right": 18, "top": 30, "bottom": 70},
                "series": [
                    {"type": "bar", "name": "used", "data": [item["load"] for item in slots], "stack": "a"},
                    {
                        "type": "bar",
                        "name": "free",
                        "data": [item["capacity"] - item["load"] for item in slots],
                        "stack": "a",
                        "itemStyle": {"color": "rgba(128,128,128,.25)"},
                    },
                ],
                "legend": {"textStyle": {"color": "#8a949b"}, "top": 0},
                "tooltip": {"trigger": "axis"},
            },
            240,
            "people and free places by slot",
        )
