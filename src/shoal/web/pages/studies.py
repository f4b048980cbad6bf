"""Studies: published experiments, run and watched; what is done is kept, and another run goes on."""

from nicegui import ui

from shoal.errors import InputError
from shoal.report.blocks import shown
from shoal.studies import STUDIES, Scope, load, standing
from shoal.studies.study import figure, in_words
from shoal.web.jobs.job import Job
from shoal.web.pages import layout, parts
from shoal.web.pages.desk import Desk
from shoal.web.workbench import Workbench


def register(workbench: Workbench) -> None:
    """Make the page known."""

    @ui.page("/studies")
    def studies(run: str = "") -> None:
        with layout.page(
            workbench,
            "Studies",
            "Published experiments, repeated: what is printed beside what is measured here.",
        ):
            StudiesPage(workbench, run)


class StudiesPage:
    """One visit to the page."""

    def __init__(self, workbench: Workbench, run: str) -> None:
        self._workbench = workbench
        self._desk = Desk(
            workbench,
            "/studies",
            "study",
            run=run,
            present=_present,
            icon="science",
            hint="Choose a study. It goes on step by step, says what is left, and can be stopped at any time.",
            measure="steps",
        )
        asked = self._desk.asked
        with self._desk.form("Repeat a study"):
            self._study = parts.choice(
                {name: load(name).title for name in STUDIES},
                "Study",
                asked.get("study", next(iter(STUDIES))),
                lambda: self._about.refresh(),
            )
            self._quick = ui.checkbox(
                "A few runs instead of all",
                value=asked.get("quick", True),
                on_change=lambda: self._about.refresh(),
            )
            self._about()
            self._minutes = ui.number(
                "Begin no step after … minutes", min=0.1, placeholder="go on to the end", value=None
            ).classes("full-width")
            parts.main_button("Run", icon="play_arrow", on_click=self._submit)

    @ui.refreshable_method
    def _about(self) -> None:
        study = load(self._study.value)
        parts.quiet(f"Repeats: {study.source}.")
        quick = bool(self._quick.value)
        name = f"{study.name}-quick" if quick else study.name
        try:
            now = standing(study, Scope(quick=quick), self._workbench.workspace.path("studies", name))
        except InputError as missing:
            parts.warning(str(missing))
            return
        left = f"; about {in_words(now.left)} left" if now.left else ""
        parts.quiet(f"{now.done} of {now.total} steps are done{left}.").props('data-test="standing"')

    def _submit(self) -> None:
        with parts.showing_errors():
            minutes = self._minutes.value
            self._desk.submit(
                "study",
                {
                    "study": self._study.value,
                    "quick": bool(self._quick.value),
                    "time_limit": None if minutes is None else 60.0 * float(minutes),
                },
            )


def _present(job: Job) -> None:
    found = job.summary
    parts.quiet(f"Repeats: {found['source']}.")
    parts.facts(
        [
            ("steps done", f"{found['steps_done']} of {found['steps']}"),
            ("time taken", in_words(found["seconds_spent"]) if found["seconds_spent"] else "–"),
            ("rows", shown(found["rows"])),
            ("claims that hold", f"{found['claims_that_hold']} of {len(found['claims'])}"),
        ]
    )
    if found["steps_done"] < found["steps"]:
        left = f" About {in_words(found['seconds_left'])} are left." if found["seconds_left"] else ""
        parts.note(f"Not all steps are done; run the study again to go on.{left}")
    if found["claims"]:
        parts.strong("What the work says, and whether it holds here")
        parts.table(
            ["case", "measure", "published", "measured", "verdict"],
            [
                (case, measure, figure(published), figure(measured), note)
                for case, measure, published, measured, note in found["claims"]
            ],
        )
