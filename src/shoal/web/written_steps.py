"""The steps of a workspace written down so that they give the same elsewhere: what roles and runs decided is said."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal

from shoal.errors import InputError
from shoal.operation_release import RecordsRelease
from shoal.operations import OPERATIONS
from shoal.release.export import Source, Taken, plan_text, python_script, shell_commands
from shoal.web.datasets import Datasets, is_release, origin_of

if TYPE_CHECKING:
    from shoal.web.jobs.job import Job
    from shoal.web.project import ProjectStep

#: How the steps can be written down.
Form = Literal["plan.toml", "script.py", "commands.sh"]
_BY_CLOCK = ("time", "interrupt")


class WrittenSteps:
    """Steps with the data they read."""

    def __init__(self, steps: "Sequence[ProjectStep]", datasets: Datasets) -> None:
        self._datasets = datasets
        self._named = {origin_of(step.job.run): step.name for step in steps}
        self._own = {step.name for step in steps}
        self.taken = [
            Taken(step.name, step.job.kind, self._settings(step.job), _gates(step.job)) for step in steps
        ]
        self.sources = self._sources()

    def text(self, form: Form, name: str) -> str:
        """All of it in one of the forms."""
        if not self.taken:
            raise InputError("there are no steps yet; run something first")
        if form == "plan.toml":
            roles = {
                name: dict(self._datasets[name].roles) for name in self.sources if name in self._datasets
            }
            return plan_text(name, self.sources, self.taken, roles)
        write = python_script if form == "script.py" else shell_commands
        return write(self.sources, self.taken)

    @property
    def to_fetch(self) -> list[str]:
        """The data that whoever runs the steps gets from the workbench: it came in no file that can be read as it is."""
        return [
            name
            for name, source in self.sources.items()
            if name in self._datasets and source.location == f"{name}.parquet"
        ]

    def _settings(self, job: "Job") -> dict[str, Any]:
        """What was asked for and what that came to, with the names of steps in the place of the data they released."""
        model = OPERATIONS[job.kind].settings.model_fields
        found = {**self._compared(job), **job.request} if "runs" in job.request else dict(job.request)
        found = {name: value for name, value in found.items() if name in model}
        for item in OPERATIONS[job.kind].fields():
            if item.kind in ("data", "several-data") and found.get(item.name):
                given = found[item.name]
                several = [self._step_of(one) for one in ([given] if isinstance(given, str) else given)]
                found[item.name] = several[0] if isinstance(given, str) else several
        # Roles of columns are known to the workbench alone; what was chosen by them is said.
        for name, chosen in (("quasi", "quasi"), ("columns", "columns"), ("drop", "dropped")):
            if name in model and found.get(name) is None and not found.get("groups"):
                found[name] = job.summary.get(chosen)
        if job.summary.get("stopped_by") in _BY_CLOCK and "iterations" in model:
            found["iterations"] = job.summary.get("iterations") or job.summary.get("work")
        found.pop("time_limit", None)
        return found

    def _compared(self, job: "Job") -> dict[str, Any]:
        runs = [self._named.get(origin_of(run), run) for run in job.request["runs"]]
        return {"original": job.request["data"], "protected": runs}

    def _step_of(self, data: str) -> str:
        origin = self._datasets[data].origin if data in self._datasets else ""
        return self._named.get(origin, data)

    def _sources(self) -> dict[str, Source]:
        found: dict[str, Source] = {}
        for step in self.taken:
            beside = [
                item
                for name in step.with_places
                for item in (step.settings.get(name) or {}).values()
                if item in self._datasets
            ]
            for data in [*step.read(), *beside]:
                if data not in self._own:
                    found[data] = self._location(data)
        return found

    def _location(self, data: str) -> Source:
        if data not in self._datasets:
            return Source(f"{data}.parquet", "it was removed from the workbench")
        dataset = self._datasets[data]
        if dataset.table is not None:
            # The address of a database may hold a password, and is not ours to write down.
            note = "SHOAL_SOURCE is the address of the database, such as sqlite:///clinic.db"
            return Source(f"${{SHOAL_SOURCE}}::{dataset.table}", note)
        if dataset.file is not None:
            return Source(dataset.file)
        what = "the release of a run" if is_release(dataset) else dataset.origin
        return Source(f"{data}.parquet", f"{what}; the page Steps of the workbench has it to download")


def _gates(job: "Job") -> Mapping[str, Any]:
    """What was asked of the release and is to hold again; a K that somebody knows to be lower is not."""
    release, k = OPERATIONS[job.kind].release, job.summary.get("k")
    if isinstance(release, RecordsRelease) and k and job.confirmed is None:
        return {"k": k}
    return {"safe": True} if release and "safe" in release.gates else {}
