"""Compare runs on the risk–utility map."""

from typing import Any

from nicegui import ui

from shoal.microdata.measures.definitions import DEFINITIONS
from shoal.operation_release import RecordsRelease
from shoal.operations import OPERATIONS
from shoal.report.definitions import in_words
from shoal.web.activities.compare import protected_columns
from shoal.web.jobs.job import Job, State
from shoal.web.pages import layout, parts
from shoal.web.pages.desk import Desk
from shoal.web.pages.drawing_anew import draws_anew
from shoal.web.pages.gates import gates
from shoal.web.pages.settings_form import SettingsForm
from shoal.web.workbench import Workbench

#: Operations that release records, with links by which they are compared.
_PROTECTING = [name for name, item in OPERATIONS.items() if isinstance(item.release, RecordsRelease)]


def register(workbench: Workbench) -> None:
    """Make the page known."""

    @ui.page("/compare")
    def compare(data: str = "", run: str = "", release: str = "") -> None:
        with layout.page(
            workbench,
            "Compare releases",
            "What each release lost, and what an intruder could still do with it.",
        ):
            if not _finished(workbench):
                with parts.card():
                    parts.empty(
                        "scatter_plot",
                        "There is no release yet. Protect or perturb records first.",
                        "Protect records",
                        "/records",
                    )
                return
            ComparePage(workbench, data, run, release)


def _finished(workbench: Workbench) -> list[Job]:
    return [
        job
        for job in workbench.board.all(*_PROTECTING)
        if job.state is State.DONE and job.request["data"] in workbench.datasets
    ]


class ComparePage:
    """One visit to the page."""

    def __init__(self, workbench: Workbench, data: str, run: str, release: str) -> None:
        self._workbench = workbench
        self._release = release
        self._desk = Desk(
            workbench,
            "/compare",
            "compare",
            run=run,
            present=_present,
            icon="scatter_plot",
            hint="Tick the releases to compare. The map shows what each lost and what it risks.",
        )
        names = sorted({job.request["data"] for job in _finished(workbench)})
        wanted = self._desk.asked.get("data", data)
        with self._desk.form("Compare"):
            self._data = ui.select(
                names,
                label="Data",
                value=wanted if wanted in names else names[0],
                on_change=lambda: self._choices.refresh(),
            )
            draws_anew(self._data).props("outlined dense").classes("full-width")
            self._choices()
            parts.main_button("Compare", icon="play_arrow", on_click=self._submit)

    @ui.refreshable_method
    def _choices(self) -> None:
        runs = [job for job in _finished(self._workbench) if job.request["data"] == self._data.value]
        # The release that somebody comes from is the first, and alone unless others are ticked as well.
        runs.sort(key=lambda job: job.run != self._release)
        alone = bool(runs) and runs[0].run == self._release
        ticked = comparable([_columns(job) for job in runs[:12]], most=1 if alone else 6)
        self._boxes = {
            job.run: ui.checkbox(_in_words(job), value=tick).props("dense")
            for job, tick in zip(runs[:12], ticked, strict=True)
        }
        dataset = self._workbench.datasets[self._data.value]
        self._form = SettingsForm(
            OPERATIONS["compare"],
            dataset.columns,
            self._desk.asked if self._desk.asked.get("data") == dataset.name else {},
            without=("original", "protected", "columns"),
            folded="What is measured",
        )

    def _submit(self) -> None:
        chosen = [run for run, box in self._boxes.items() if box.value]
        if not chosen:
            ui.notify("tick at least one release", type="warning")
            return
        with parts.showing_errors():
            request = {"data": self._data.value, "runs": chosen, **self._form.values}
            self._desk.submit("compare", request)


def _columns(job: Job) -> list[str]:
    return protected_columns({"request": job.request, "summary": job.summary})


def _in_words(job: Job) -> str:
    """A run as its box says it: what was protected, what that cost, and K."""
    told = [f"{job.title}: {', '.join(_columns(job))}"]
    if "loss_percent" in job.summary:
        told.append(f"loss {job.summary['loss_percent']:.4g} %")
    elif isinstance(job.summary.get("loss"), int | float):
        told.append(f"loss {job.summary['loss']:.4g}")
    if job.summary.get("changed_share"):
        shares = job.summary["changed_share"].values()
        told.append(f"{100 * sum(shares) / len(shares):.3g} % of the values differ")
    if "k_release" in job.summary:
        told.append(f"K {job.summary['k_release']}")
    return f"{told[0]}; {', '.join(told[1:])}" if told[1:] else told[0]


def comparable(columns: list[list[str]], most: int = 6) -> list[bool]:
    """Which releases to compare if nobody has said: the newest, which is first, and those that share columns with it.

    >>> comparable([["turnover", "costs"], ["wages"], ["costs"], ["turnover"]])
    [True, False, True, False]
    """
    common: set[str] = set(columns[0]) if columns else set()
    found: list[bool] = []
    for names in columns:
        fits = sum(found) < most and not common.isdisjoint(names)
        common = common.intersection(names) if fits else common
        found.append(fits)
    return found


def _worst(release: dict[str, Any]) -> str:
    """The worst risk; not known if there was no time for some attack."""
    percent = release["worst_risk"]["percent"]
    return "not known" if percent is None else f"{percent:.2f} %"


def _present(job: Job) -> None:
    releases = job.summary["releases"]
    gates(job.summary.get("gates", ()))
    parts.warnings(list(dict.fromkeys(text for release in releases for text in release.get("warnings", ()))))
    measures = ("il", "dr", "score", "links_expected", "k")
    parts.table(
        ["release", "worst risk", *(DEFINITIONS[key].name for key in measures)],
        [
            [
                release["name"],
                _worst(release),
                *(value for _, value in in_words(DEFINITIONS, release, measures)),
            ]
            for release in releases
        ],
    )
    drawn = [release for release in releases if release["il"] is not None and release["dr"] is not None]
    if drawn:
        parts.subheading("Risk–utility map")
        _map(drawn, job.summary["references"])
        parts.quiet(
            "To the left less is lost, further down less can be disclosed. Grey points are plain microaggregation (MDAV) "
            "of the same columns."
            if job.summary["references"]
            else "To the left less is lost, further down less can be disclosed."
        )
    parts.subheading("Attacks")
    parts.table(
        ["release", "attack", "success, %", "the intruder knows"],
        [
            [release["name"], attack.get("title", attack["name"]), attack["percent"], attack["knows"]]
            for release in releases
            for attack in release.get("attacks", [])
        ],
    )
    for text in releases[0]["notes"]:
        parts.note(text)


def _map(releases: list[dict[str, Any]], references: dict[str, list[float]]) -> None:
    def points(rows: list[tuple[str, float, float]], colour: str, size: int) -> dict[str, Any]:
        return {
            "type": "scatter",
            "symbolSize": size,
            "itemStyle": {"color": colour, "opacity": 1},
            "data": [{"name": name, "value": [round(x, 3), round(y, 3)]} for name, x, y in rows],
            "label": {
                "show": True,
                "position": "right",
                "formatter": "{b}",
                "color": parts.INK,
                "fontSize": 11,
            },
            "labelLayout": {"hideOverlap": True},
        }

    parts.chart(
        {
            "xAxis": parts.axis("information loss IL", across=True, scale=True),
            "yAxis": parts.axis("disclosure risk DR", scale=True),
            "grid": {"left": 64, "right": 130, "top": 20, "bottom": 44},
            "series": [
                points(
                    [(name, il, dr) for name, (il, dr) in references.items() if name != "unprotected"],
                    "#9aa4ab",
                    9,
                ),
                points(
                    [(release["name"], release["il"], release["dr"]) for release in releases], "#d1793b", 14
                ),
            ],
            "tooltip": {},
        },
        340,
        "map of information loss and disclosure risk",
    )
