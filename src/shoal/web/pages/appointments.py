"""Appointments: people, slots and the aim; K before, after and at best, and the plan as a matrix and as files."""

from collections.abc import Callable, Sequence
from typing import Any

from nicegui import ui

from shoal.appointments.definitions import DEFINITIONS
from shoal.appointments.methods import METHODS
from shoal.appointments.writing import WRITTEN_BACK
from shoal.operations import OPERATIONS
from shoal.report.definitions import in_words
from shoal.settings import SettingField
from shoal.web.activities.operation_activity import numbered_file
from shoal.web.datasets import Dataset
from shoal.web.jobs.job import Job
from shoal.web.pages import layout, parts
from shoal.web.pages.attributes import attributes
from shoal.web.pages.crowds import distribution, matrix, places_used
from shoal.web.pages.desk import Desk
from shoal.web.pages.drawing_anew import draws_anew
from shoal.web.pages.method_picker import MethodPicker
from shoal.web.pages.release import update_back, write_back
from shoal.web.pages.settings_form import SettingsForm
from shoal.web.workbench import Workbench


def register(workbench: Workbench) -> None:
    """Make the page known."""

    @ui.page("/appointments")
    def appointments(people: str = "", run: str = "") -> None:
        with layout.page(
            workbench,
            "Appointments",
            "Being seen at a centre at an hour tells something about a person; a good plan keeps crowds together.",
        ):
            if parts.has_data(workbench, "event_available", "People and slots are needed first."):
                AppointmentsPage(workbench, people, run)


_NEEDED = "Slots need a column slot (or resource) and a column capacity"


def no_slots(name: str, columns: Sequence[str]) -> str:
    """Why a table cannot be slots, or nothing if it can.

    >>> no_slots("people0_resource", ["ID", "CAPACITY"])
    "Slots need a column slot (or resource) and a column capacity; 'people0_resource' has ID, CAPACITY."
    >>> no_slots("tabla_resource", ["RESOURCE", "CAPACITY"])
    ''
    """
    names = {column.lower() for column in columns}
    if "capacity" in names and names & {"slot", "resource"}:
        return ""
    some = ", ".join(columns[:8]) + (" …" if len(columns) > 8 else "")
    return f"{_NEEDED}; '{name}' has {some}."


def _slots_of(people: str, slots: list[str]) -> str | None:
    """The slots made for these people: 'tabla_resource' for 'tabla', and for a second 'tabla-2' likewise."""
    stem, dash, number = people.rpartition("-")
    for name in (f"{people}_resource", f"{stem}_resource{dash}{number}"):
        if name in slots:
            return name
    return None


class AppointmentsPage:
    """One visit to the page."""

    def __init__(self, workbench: Workbench, people: str, run: str) -> None:
        self._workbench = workbench
        self._desk = Desk(
            workbench,
            "/appointments",
            "assign",
            run=run,
            present=self._present,
            icon="event_available",
            hint="Choose people, slots and what may be known of a person, and assign.",
            measure="K",
        )
        found = workbench.datasets.all()
        ready = [dataset.name for dataset in found if not no_slots(dataset.name, dataset.columns)]
        others = [dataset.name for dataset in found if dataset.name not in ready]
        # Tables that are called slots but lack their columns are listed too, so that it can be said what they lack.
        others.sort(key=lambda name: "_resource" in name)
        self._slot_names = ready + (others[::-1] if ready or len(others) > 1 else [])
        with self._desk.form("Assign"):
            if not self._slot_names or not others:
                what = "slots" if not self._slot_names else "people"
                parts.note(f"There are no {what} in the workspace yet. {_NEEDED}.")
                parts.button("Add data", to="/data")
            else:
                self._form(others, people)

    # --- the form -----------------------------------------------------------------------------------------------

    def _form(self, people: list[str], chosen: str) -> None:
        wanted = self._desk.asked.get("people", chosen)
        wanted = [wanted] if isinstance(wanted, str) else wanted
        self._people = parts.several(
            people,
            "People (several tables at once)",
            [name for name in wanted if name in people] or people[:1],
            self._people_changed,
        )
        self._slot_choice()
        self._settings()
        parts.main_button("Assign", icon="play_arrow", on_click=self._submit)

    def _people_changed(self) -> None:
        self._slot_choice.refresh()
        self._settings.refresh()

    @ui.refreshable_method
    def _slot_choice(self) -> None:
        names = list(self._people.value or [])
        if len(names) > 1:
            own = {name: _slots_of(name, self._slot_names) for name in names}
            missing = [name for name, slots in own.items() if slots is None]
            if missing:
                parts.warning(
                    f"No slots for {', '.join(missing[:5])}: each table needs its own '…_resource'."
                )
            else:
                parts.note("Each table has its own slots: " + ", ".join(str(slots) for slots in own.values()))
            return
        slots = self._slot_names
        asked = self._desk.asked.get("slots")
        matching = _slots_of(names[0], slots) if names else None
        first = matching or slots[0]
        same = self._desk.asked.get("people") in (names, *names)
        value = asked if same and isinstance(asked, str) and asked in slots else first
        self._slots = draws_anew(
            parts.choice(slots, label="Slots", value=value, on_change=lambda: self._settings.refresh())
        )
        parts.quiet(f"{_NEEDED}.")

    def _slots_chosen(self) -> list[str]:
        names = list(self._people.value or [])
        if len(names) > 1:
            return [_slots_of(name, self._slot_names) or f"{name}_resource" for name in names]
        return [self._slots.value]

    def _wrong_slots(self) -> list[str]:
        """What the chosen tables of slots lack."""
        datasets = self._workbench.datasets
        known = [datasets[name] for name in self._slots_chosen() if name in datasets]
        return [text for text in (no_slots(one.name, one.columns) for one in known) if text]

    @ui.refreshable_method
    def _settings(self) -> None:
        datasets = self._workbench.datasets
        people = [datasets[name] for name in self._people.value or [] if name in datasets]
        for wrong in self._wrong_slots():
            parts.warning(wrong)
        asked = self._desk.asked
        self._fields = SettingsForm(
            OPERATIONS["assign"],
            [name for name in _common(people) if name not in WRITTEN_BACK],
            asked,
            # A search without an end is nothing to begin with; who asked for it gets it.
            suggested={"quasi": people[0].quasi if people else [], **({} if asked else {"time_limit": 60})},
            without=("people", "slots"),
            own={
                "objective": self._aim,
                "method": self._method,
                "options": lambda item, value: lambda: self._methods.options,
                "known": self._known,
                "eligible_table": self._eligible_table,
            },
        )

    def _aim(self, item: SettingField, value: Any) -> Callable[[], Any]:
        """Another aim has other methods."""
        self._objective = ui.select(dict(item.words), label=item.label, value=value)
        draws_anew(self._objective).props("outlined dense").classes("full-width")
        self._objective.on_value_change(lambda: self._method_choice.refresh())
        return lambda: self._objective.value

    def _method(self, item: SettingField, value: Any) -> Callable[[], Any]:
        self._method_choice()
        return lambda: self._methods.method

    @ui.refreshable_method
    def _method_choice(self) -> None:
        fitting = [name for name, method in METHODS.items() if self._objective.value in method.objectives]
        asked = self._desk.asked
        self._methods = MethodPicker(
            METHODS, asked.get("method", "auto"), asked.get("options"), names=fitting
        )

    def _known(self, item: SettingField, value: Any) -> Callable[[], Any]:
        """Attributes of the slots, and not columns of the people."""
        datasets = self._workbench.datasets
        slots = [datasets[name] for name in self._slots_chosen() if name in datasets]
        columns = [
            name for name in _common(slots) if name.lower() not in ("slot", "resource", "capacity", "booked")
        ]
        picker = parts.column_picker(columns, item.label, value or (), hint="the slot itself if none")
        return lambda: picker.value or None

    def _eligible_table(self, item: SettingField, value: Any) -> Callable[[], Any]:
        names = {"": "none", **{name: name for name in self._workbench.datasets.names()}}
        select = ui.select(names, label=item.label, value=value if value in names else "")
        attributes(select.props("outlined dense options-dense").classes("full-width"), hint=item.sentence)
        return lambda: select.value or None

    def _submit(self) -> None:
        people = list(self._people.value or [])
        if not people:
            ui.notify("choose people first", type="warning")
            return
        wrong = self._wrong_slots()
        if wrong:
            ui.notify(wrong[0], type="warning", multi_line=True)
            return
        slots = self._slots_chosen()
        one = len(people) == 1
        chosen = {"people": people[0] if one else people, "slots": slots[0] if one else slots}
        with parts.showing_errors():
            self._desk.submit("assign", {**chosen, **self._fields.values})

    # --- the result ---------------------------------------------------------------------------------------------

    def _present(self, job: Job) -> None:
        tables = job.summary.get("tables") or [job.summary]
        for text in job.summary["notes"]:
            parts.note(text)
        if len(tables) == 1:
            self._one(job, tables, 0)
        else:
            _overview(tables)
            parts.one_of(
                [table["table"] for table in tables], lambda position: self._one(job, tables, position)
            )
        if job.summary["can_update"]:
            update_back(self._workbench, job, [table["table"] for table in tables])

    def _one(self, job: Job, tables: list[dict[str, Any]], position: int) -> None:
        found = tables[position]
        _figures(found)
        parts.subheading("People by the size of their crowd")
        parts.table(
            ["people in crowds below", "before", "with this plan", "at random"],
            [(int(limit), *counts) for limit, counts in found["below"].items()],
        )
        distribution(found)
        matrix(found)
        places_used(found)
        release = numbered_file("release.parquet", position, len(tables))
        write_back(self._workbench, job, f"{found['table']}_appointments", release)


def _common(datasets: list[Dataset]) -> list[str]:
    """The columns that all of them have."""
    if not datasets:
        return []
    return [name for name in datasets[0].columns if all(name in other.columns for other in datasets)]


def _overview(tables: list[dict[str, Any]]) -> None:
    ks = [table["k"] for table in tables]
    parts.facts(
        [
            ("K with these appointments, mean", sum(ks) / len(ks)),
            ("K, smallest", min(ks)),
            ("K, largest", max(ks)),
            ("K at random, mean", sum(table["k_random"] for table in tables) / len(tables)),
            ("proved optimal", f"{sum(table['optimal'] for table in tables)} of {len(tables)}"),
        ]
    )
    figures = ("table", "people", "k_before", "k", "k_bound", "k_random")
    parts.table(
        ["table", "people", "K before", "K now", "best K possible", "K at random", "optimal"],
        [[*(table[key] for key in figures), "yes" if table["optimal"] else "no"] for table in tables],
    )


def _figures(figures: dict[str, Any]) -> None:
    parts.facts(
        [
            (
                *in_words(DEFINITIONS, figures, ("k",))[0],
                "good" if figures["k"] >= figures["k_required"] else "bad",
            ),
            *in_words(DEFINITIONS, figures, ("k_before", "k_bound", "k_random", "optimal", "people")),
            ("crowds", figures["crowds"]),
            *in_words(
                DEFINITIONS, figures, ("mean_crowd", "gain", "position", "rank", "rank_random", "distance")
            ),
            ("stopped by", figures["stopped_by"]),
            *_of_those_who_came(figures),
        ]
    )
    for text in figures.get("warnings", ()):
        parts.warning(text)
    if figures["exposed_before"]:
        parts.warning(
            f"{_people(figures['exposed_before'])} in crowds below {figures['k_required']} before any appointment: no plan "
            "can help them; generalise their attributes or withhold their records."
        )
    caused = figures["exposed"] - figures["exposed_before"]
    if caused > 0:
        parts.warning(
            f"{caused:,} more {'person comes' if caused == 1 else 'people come'} below {figures['k_required']} "
            "by these appointments."
        )
    alone = figures["homogeneous_slots"]
    if alone:
        parts.note(
            f"{alone} of {len(figures['slots'])} slots {'serves' if alone == 1 else 'serve'} one crowd only: who is seen "
            "there gives it away."
        )


def _people(count: int) -> str:
    return "1 person is" if count == 1 else f"{count:,} people are"


def _of_those_who_came(figures: dict[str, Any]) -> list[tuple[str, Any]]:
    if "attended" not in figures:
        return []
    return [
        ("people who came", figures["attended"]),
        ("K of those who came", figures["k_attended"]),
        (f"of them below {figures['k_required']}", figures["exposed_attended"]),
    ]
