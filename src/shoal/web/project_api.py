"""The steps of the workspace over REST: listed, written down, with the data that they read; and the whole as one file."""

import asyncio
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

from fastapi import APIRouter, File, HTTPException, Path, UploadFile
from fastapi.responses import FileResponse, PlainTextResponse, Response
from pydantic import BaseModel

from shoal.errors import ShoalError, as_words, spelled
from shoal.web.archive import NAME
from shoal.web.data_files import open_project, project_file, records_file
from shoal.web.workbench import Workbench
from shoal.web.written_steps import Form


class StepView(BaseModel):
    """One step: its name, what was run, and which run it is."""

    name: str
    do: str
    run: str
    request: dict[str, Any]


@contextmanager
def _not_now() -> Iterator[None]:
    """The request is well written; it is the workspace, or the file, that does not agree."""
    try:
        yield
    except ShoalError as problem:
        raise HTTPException(409, {"error": spelled(problem, as_words), "kind": "input"}) from None


def register(router: APIRouter, workbench: Workbench) -> None:
    """Make the addresses known."""

    @router.get("/steps", tags=["steps"], summary="What was run in this workspace, in order")
    def steps() -> list[StepView]:
        return [
            StepView(name=step.name, do=step.job.kind, run=step.job.run, request=step.job.request)
            for step in workbench.project.steps()
        ]

    @router.get(
        "/steps/{form}",
        tags=["steps"],
        summary="The steps as a plan, a Python script or commands",
        response_class=Response,
        responses={200: {"content": {"text/plain": {}}, "description": "the text"}},
    )
    def written(form: Form) -> Response:
        with _not_now():
            return PlainTextResponse(workbench.project.written(form))

    @router.get(
        "/data/{name}/records",
        tags=["data"],
        summary="The records as Parquet, to repeat the steps elsewhere",
        response_class=FileResponse,
        responses={200: {"content": {"application/octet-stream": {}}, "description": "the file"}},
    )
    def records(name: Annotated[str, Path(max_length=100)]) -> FileResponse:
        return records_file(workbench, name)

    @router.get(
        "/project",
        tags=["steps"],
        summary="Data, runs and steps as one file, to be opened in another workspace",
        response_class=FileResponse,
        responses={200: {"content": {"application/octet-stream": {}}, "description": "the file"}},
    )
    def save() -> FileResponse:
        return project_file(workbench)

    @router.put("/project", tags=["steps"], summary="Open a project in this workspace, which has to be empty")
    async def reopen(
        file: Annotated[UploadFile, File(description="a project that was saved")],
    ) -> list[StepView]:
        place = workbench.workspace.incoming(NAME)
        with place.open("wb") as target:
            await asyncio.to_thread(shutil.copyfileobj, file.file, target)
        with _not_now():
            await asyncio.to_thread(open_project, workbench, place)
        return steps()
