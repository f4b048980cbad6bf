"""Data of the workspace, or all of it, as a file: for whoever repeats the steps or goes on with them elsewhere."""

from pathlib import Path

from fastapi import HTTPException
from fastapi.responses import FileResponse
from starlette.background import BackgroundTask

from shoal.web import archive
from shoal.web.datasets import is_release, run_of
from shoal.web.workbench import Workbench


def records_file(workbench: Workbench, name: str) -> FileResponse:
    """The records of data; a release that waits for a confirmation is not given out as data either."""
    if name not in workbench.datasets:
        raise HTTPException(404, {"error": f"there is no data '{name}'", "kind": "missing"})
    dataset = workbench.datasets[name]
    if is_release(dataset):
        run = run_of(dataset)
        why = workbench.board[run].held_back if run in workbench.board else "its run was removed"
        if why:
            raise HTTPException(409, {"error": f"{why}; confirm first that you know", "kind": "infeasible"})
    return FileResponse(
        workbench.datasets.path(name), filename=f"{name}.parquet", headers={"Cache-Control": "no-store"}
    )


def project_file(workbench: Workbench) -> FileResponse:
    """The whole project, packed for this answer."""
    place = workbench.workspace.incoming(archive.NAME)
    archive.save(workbench.workspace, workbench.board, place)
    return FileResponse(
        place,
        filename=archive.NAME,
        headers={"Cache-Control": "no-store"},
        background=BackgroundTask(place.unlink, missing_ok=True),
    )


def open_project(workbench: Workbench, received: Path) -> None:
    """Unpack a project that was received; the file is not needed any more."""
    try:
        largest = 4 * workbench.largest_upload
        archive.open_project(workbench.workspace, workbench.board, received, largest=largest)
    finally:
        received.unlink(missing_ok=True)
