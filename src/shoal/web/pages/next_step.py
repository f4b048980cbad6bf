"""A release as the data of the next step."""

from nicegui import ui

from shoal.web.datasets import origin_of
from shoal.web.jobs.job import Job
from shoal.web.pages import parts
from shoal.web.workbench import Workbench


def use_as_data(workbench: Workbench, job: Job, release: str = "release.parquet") -> None:
    """A button that puts a release among the data, with the roles its columns had."""
    place = workbench.workspace.path("runs", job.run, release)
    if not place.is_file():
        return
    button = parts.button("Use as data of the next step", icon="arrow_forward")

    def take() -> None:
        with parts.showing_errors():
            import polars as pl

            known = next(
                (data for data in workbench.datasets.all() if data.origin == origin_of(job.run)), None
            )
            if known is None:
                given = job.request.get("data")
                source = given if isinstance(given, str) else "release"
                known = workbench.datasets.add(
                    pl.read_parquet(place), f"{source}-{job.kind}", origin_of(job.run)
                )
                if source in workbench.datasets:
                    roles = workbench.datasets[source].roles
                    kept = {column: role for column, role in roles.items() if column in known.columns}
                    workbench.datasets.set_roles(known.name, kept)
            ui.notify(f"'{known.name}' is among the data now", type="positive")
            button.disable()

    button.on_click(take)
