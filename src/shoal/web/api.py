"""The same operations as a small REST API: jobs are submitted, followed, fetched and cancelled."""

import asyncio
from pathlib import Path
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Body, FastAPI, File, HTTPException, Query, Security, UploadFile
from fastapi import Path as InPath
from fastapi.responses import FileResponse, JSONResponse
from fastapi.security import HTTPBearer
from pydantic import BaseModel, ConfigDict, Field, SecretStr

from shoal._version import __version__
from shoal.errors import InputError, ShoalError, as_words, spelled
from shoal.microdata.columns.roles import Role
from shoal.web import methods_api, project_api
from shoal.web.activities import ACTIVITIES
from shoal.web.activities.activity import Activity
from shoal.web.activities.generate import Generate
from shoal.web.datasets import Dataset
from shoal.web.jobs.job import Job
from shoal.web.workbench import Workbench

_CHUNK = 2**20
_VERBS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]
Run = Annotated[str, InPath(pattern=r"^[0-9a-f]{12}$", description="the run, as given when it was submitted")]
Name = Annotated[str, InPath(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")]


class Problem(BaseModel):
    """What went wrong, in one line."""

    error: str
    kind: Literal["input", "infeasible", "internal", "missing", "forbidden"] = "input"


class JobView(BaseModel):
    """A run: where it stands and how far it is."""

    run: str
    kind: str
    title: str
    state: Literal["waiting", "running", "paused", "done", "failed", "cancelled"]
    submitted: float
    ended: float | None = None
    progress: dict[str, Any] = Field(default_factory=dict)
    stages: list[dict[str, Any]] = Field(
        default_factory=list,
        description="reading, search, bound, verification, writing: seconds and share done of each",
    )
    files: list[dict[str, str]] = Field(default_factory=list)
    message: str = ""
    error: str = ""
    held_back: str = Field("", description="why its files wait until somebody confirms that they know")
    confirmed: float | None = Field(None, description="when somebody did")


class DataView(BaseModel):
    """A table of the workspace, without its values."""

    model_config = ConfigDict(from_attributes=True)

    name: str
    origin: str
    records: int
    columns: list[str]
    types: list[str]
    roles: dict[str, str]
    reasons: dict[str, str] = Field(default_factory=dict, description="why each role was guessed")
    notes: list[str] = Field(default_factory=list)
    distinct: list[int] = Field(default_factory=list, description="different values of each column")
    missing: list[int] = Field(default_factory=list, description="missing values of each column")


class Address(BaseModel):
    """Where a browser can open the workbench, once and soon."""

    address: str


class Connect(BaseModel):
    """How to reach a database; the password is kept in memory until the connection is closed."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    kind: Literal["sqlite", "postgresql", "mariadb"]
    database: str = Field(
        min_length=1, max_length=200, description="its name; of SQLite a file of the workspace"
    )
    host: str = Field("127.0.0.1", max_length=255)
    port: int | None = Field(None, ge=1, le=65535)
    user: str = Field("", max_length=200)
    password: SecretStr = Field(SecretStr(""), max_length=1000)


class ConnectionView(BaseModel):
    """The database one is connected to, if there is one."""

    connected: bool
    database: str = ""
    tables: list[str] = Field(default_factory=list)


class TableOf(BaseModel):
    """A table of the connected database."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    table: str = Field(min_length=1, max_length=200)


class WriteTo(TableOf):
    """Where a release goes."""

    force: bool = Field(default=False, description="replace a table of that name")
    release: str = Field(
        "release.parquet", pattern=r"^release(-\d{1,3})?\.parquet$", description="which of several"
    )


class UpdateOf(BaseModel):
    """The tables of people that REC_RAND and REC_INTELLIGENT are written into."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    tables: list[str] = Field(min_length=1, max_length=50)


_PROBLEMS: dict[int | str, dict[str, Any]] = {
    400: {"model": Problem, "description": "not a request for this server"},
    401: {"model": Problem, "description": "no token, or a wrong one"},
    403: {"model": Problem, "description": "from a page that is not the workbench"},
    404: {"model": Problem, "description": "there is no such data, run, file or address"},
    409: {"model": Problem, "description": "not now: what it needs is not there, or it cannot be done"},
    413: {"model": Problem, "description": "larger than the limit"},
    422: {"model": Problem, "description": "the request is wrong, or its data do not have what it names"},
}
# The guard asks for the token, before anything else is looked at; this only tells the schema so.
_TOKEN = Security(
    HTTPBearer(
        scheme_name="token",
        auto_error=False,
        description="The token of the file 'authorization' in the workspace; pages come with a cookie instead.",
    )
)


def application(workbench: Workbench) -> FastAPI:
    """The FastAPI application with the API on it; the pages are mounted on the same."""
    app = FastAPI(
        title="Shoal",
        version=__version__,
        description="Statistical disclosure control. Send the token as 'Authorization: Bearer …'.",
        docs_url=None,
        redoc_url=None,
        openapi_url="/api/openapi.json",
    )
    _errors(app)
    app.include_router(_router(workbench), prefix="/api")
    app.include_router(_databases(workbench), prefix="/api")

    # Left to the pages, an unknown address of the API would be answered with a page, and logged with all it carries.
    @app.api_route("/api/{rest:path}", methods=_VERBS, include_in_schema=False)
    def unknown(rest: str) -> None:
        raise _missing("the API has no such address; /api/openapi.json lists them all")

    return app


def _errors(app: FastAPI) -> None:
    from fastapi.exceptions import RequestValidationError

    @app.exception_handler(RequestValidationError)
    async def invalid(request: Any, problem: RequestValidationError) -> JSONResponse:
        first = problem.errors()[0]
        if first["type"] == "json_invalid":
            return JSONResponse({"error": "the body of the request is not JSON", "kind": "input"}, 422)
        field = ".".join(str(part) for part in first["loc"][1:])
        return JSONResponse({"error": f"{field or 'the request'}: {first['msg']}", "kind": "input"}, 422)

    @app.exception_handler(HTTPException)
    async def refused(request: Any, problem: HTTPException) -> JSONResponse:
        known = isinstance(problem.detail, dict)
        body = problem.detail if known else {"error": str(problem.detail), "kind": "input"}
        return JSONResponse(body, problem.status_code)

    @app.exception_handler(ShoalError)
    async def wrong(request: Any, problem: ShoalError) -> JSONResponse:
        known = isinstance(problem, InputError)
        said = {"error": spelled(problem, as_words), "kind": "input" if known else "infeasible"}
        return JSONResponse(said, 422 if known else 409)


def _router(workbench: Workbench) -> APIRouter:
    router = APIRouter(responses=_PROBLEMS, dependencies=[_TOKEN])
    board, datasets = workbench.board, workbench.datasets

    def job_or_404(run: str) -> Job:
        return _job(workbench, run)

    def data_or_404(name: str) -> Dataset:
        if name not in datasets:
            raise _missing(f"there is no data '{name}'")
        return datasets[name]

    @router.get("/data", tags=["data"], summary="The data of the workspace")
    def list_data() -> list[DataView]:
        return [DataView.model_validate(dataset) for dataset in datasets.all()]

    @router.post(
        "/data", tags=["data"], status_code=202, summary="Send a file; the job's result names the data"
    )
    async def send_data(
        file: Annotated[UploadFile, File(description="CSV, Parquet, Excel …")],
        separator: Annotated[str | None, Query(max_length=10)] = None,
        decimal: Annotated[str | None, Query(max_length=10)] = None,
        encoding: Annotated[str | None, Query(max_length=40)] = None,
        sheet: Annotated[str | None, Query(max_length=40)] = None,
        header_row: Annotated[int | None, Query(ge=0)] = None,
    ) -> JobView:
        name = Path((file.filename or "data").replace("\\", "/")).name[:200]
        place = workbench.workspace.incoming(name)
        with place.open("wb") as target:
            while chunk := await file.read(_CHUNK):
                await asyncio.to_thread(target.write, chunk)
        request = {
            "file": place.name,
            "title": name,
            "separator": separator,
            "decimal": decimal,
            "encoding": encoding,
            "sheet": sheet,
            "header_row": header_row,
        }
        return _view(board.submit("load", request))

    @router.post("/data/samples/{sample}", tags=["data"], status_code=202, summary="Load sample data")
    def load_sample(sample: Literal["people", "firms", "slots"]) -> JobView:
        return _view(board.submit("load", {"sample": sample}))

    @router.post("/data/generate", tags=["data"], status_code=202, summary="Invent people or slots")
    def generate(request: Generate) -> JobView:
        return _view(
            board.submit("generate", request.model_dump(mode="json"), secrets=secrets(request.connection))
        )

    def secrets(connection: str | None) -> dict[str, str]:
        return {} if connection is None else workbench.connections.secrets()

    @router.get("/data/{name}", tags=["data"], summary="What is known of one table")
    def describe_data(name: Name) -> DataView:
        return DataView.model_validate(data_or_404(name))

    @router.put("/data/{name}/roles", tags=["data"], summary="Say what columns are")
    def set_roles(name: Name, roles: Annotated[dict[str, Role], Body()]) -> DataView:
        data_or_404(name)
        return DataView.model_validate(datasets.set_roles(name, roles))

    @router.delete("/data/{name}", tags=["data"], status_code=204, summary="Remove data from the workspace")
    def remove_data(name: Name) -> None:
        data_or_404(name)
        datasets.remove(name)

    @router.post(
        "/address", tags=["workbench"], summary="An address that opens the workbench once in a browser"
    )
    def address() -> Address:
        return Address(address=workbench.address())

    @router.get("/jobs", tags=["jobs"], summary="All runs, the latest first")
    def list_jobs() -> list[JobView]:
        return [_view(job) for job in board.all()]

    methods_api.register(router)
    project_api.register(router, workbench)
    for activity in ACTIVITIES.values():
        if not activity.internal:
            _submission(router, workbench, activity)

    @router.get(
        "/jobs/{run}", tags=["jobs"], summary="Where a run stands; waits up to so many seconds for its end"
    )
    async def follow(run: Run, wait: Annotated[float, Query(ge=0, le=60)] = 0) -> JobView:
        job = job_or_404(run)
        if wait and not job.over.is_set():
            await asyncio.to_thread(job.over.wait, wait)
        return _view(job)

    @router.get("/jobs/{run}/curve", tags=["jobs"], summary="The course of the search so far")
    def curve(run: Run) -> list[dict[str, Any]]:
        return job_or_404(run).points

    @router.get("/jobs/{run}/result", tags=["jobs"], summary="The figures of a run that is done")
    def result(run: Run) -> dict[str, Any]:
        job = job_or_404(run)
        if not job.state.over:
            raise HTTPException(409, {"error": "this run is not done yet", "kind": "input"})
        if not job.summary:
            kind = job.error if job.error in ("input", "infeasible") else "internal"
            raise HTTPException(409, {"error": job.message or "this run has no result", "kind": kind})
        return job.summary

    @router.get(
        "/jobs/{run}/files/{name}",
        tags=["jobs"],
        summary="A file that a run made",
        response_class=FileResponse,
        responses={200: {"content": {"application/octet-stream": {}}, "description": "the file"}},
    )
    def download(run: Run, name: Name) -> FileResponse:
        return file_of(workbench, job_or_404(run), name)

    @router.post(
        "/jobs/{run}/confirm",
        tags=["jobs"],
        summary="Say that you know what a release lacks, so that its files are given out",
    )
    def confirm(run: Run) -> JobView:
        return _view(board.confirm(job_or_404(run).run))

    @router.post("/jobs/{run}/pause", tags=["jobs"], summary="Let a search wait")
    def pause(run: Run) -> JobView:
        return _view(board.pause(job_or_404(run).run))

    @router.post("/jobs/{run}/resume", tags=["jobs"], summary="Let a paused search go on")
    def resume(run: Run) -> JobView:
        return _view(board.resume(job_or_404(run).run))

    @router.post("/jobs/{run}/stop", tags=["jobs"], summary="End a search early and keep the best it found")
    def stop(run: Run) -> JobView:
        return _view(board.stop(job_or_404(run).run))

    @router.delete("/jobs/{run}", tags=["jobs"], summary="Cancel a run at once, or remove one that is over")
    async def cancel(run: Run) -> JobView:
        job = job_or_404(run)
        if job.state.over:
            board.remove(run)
        else:
            await asyncio.to_thread(board.cancel, run)
        return _view(job)

    return router


def _databases(workbench: Workbench) -> APIRouter:
    """The connected database: its tables come in, releases go out."""
    router = APIRouter(responses=_PROBLEMS, dependencies=[_TOKEN], tags=["database"])
    board, connections = workbench.board, workbench.connections

    def view() -> ConnectionView:
        current = connections.current
        if current is None:
            return ConnectionView(connected=False)
        return ConnectionView(connected=True, database=current.shown, tables=list(current.tables))

    def submit(kind: str, request: dict[str, Any]) -> JobView:
        current = connections.current
        if current is None:
            raise HTTPException(409, {"error": "connect to a database first", "kind": "input"})
        return _view(
            board.submit(kind, {**request, "connection": current.name}, secrets=connections.secrets())
        )

    @router.get("/connection", summary="The database one is connected to, with its tables as they are now")
    def connection() -> ConnectionView:
        if connections.current is not None:
            connections.refresh(connections.current.name)
        return view()

    @router.put("/connection", summary="Connect to a database")
    def connect(request: Connect) -> ConnectionView:
        try:
            given = {**request.model_dump(), "password": request.password.get_secret_value()}
            connections.connect(**given)
        except ShoalError as problem:
            # The request is well written; it is the world that does not agree.
            raise HTTPException(409, {"error": spelled(problem, as_words), "kind": "input"}) from None
        return view()

    @router.delete("/connection", status_code=204, summary="Disconnect and forget everything")
    def disconnect() -> None:
        connections.disconnect()

    @router.post("/data/tables", status_code=202, summary="Load a table of the database")
    def load_table(request: TableOf) -> JobView:
        return submit("load", {"table": request.table})

    @router.post("/jobs/{run}/write", status_code=202, summary="Write the release of a run to a table")
    def write(run: Run, request: WriteTo) -> JobView:
        return submit("write", {"run": _job(workbench, run).run, **request.model_dump()})

    @router.post(
        "/jobs/{run}/update", status_code=202, summary="Write appointments back into the tables of people"
    )
    def update(run: Run, request: UpdateOf) -> JobView:
        return submit("update", {"run": _job(workbench, run).run, "tables": request.tables})

    return router


def _submission(router: APIRouter, workbench: Workbench, activity: Activity) -> None:
    """One address for each activity, so that the schema says what each needs."""

    def submit(request: Any) -> JobView:
        asked = request.model_dump(mode="json")
        for name in activity.named_data(asked):
            if name not in workbench.datasets:
                raise _missing(f"there is no data '{name[:100]}' in the workspace")
        return _view(workbench.board.submit(activity.kind, asked))

    submit.__annotations__["request"] = activity.request_model
    router.add_api_route(
        f"/jobs/{activity.kind}",
        submit,
        methods=["POST"],
        status_code=202,
        tags=["jobs"],
        summary=activity.name,
        name=f"submit_{activity.kind}",
    )


def file_of(workbench: Workbench, job: Job, name: str, *, inline: bool = False) -> FileResponse:
    """A file of a run; only those it offers."""
    path = workbench.workspace.path("runs", job.run, name)
    if name not in job.file_names or not path.is_file():
        raise _missing(f"this run has no file '{name}'")
    if job.held_back and name != "report.html":
        raise HTTPException(
            409, {"error": f"{job.held_back}; confirm first that you know", "kind": "infeasible"}
        )
    stem = "".join(sign if sign.isalnum() or sign in "-_" else "-" for sign in job.title)[:60].strip("-")
    # A report needs no script; were there one, it could do nothing.
    policy = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; sandbox allow-popups"
    return FileResponse(
        path,
        filename=None if inline else f"{stem}-{name}" if name == "report.html" else name,
        headers={"Cache-Control": "no-store", "Content-Security-Policy": policy},
    )


def _job(workbench: Workbench, run: str) -> Job:
    if run not in workbench.board:
        raise _missing(f"there is no run '{run}'")
    return workbench.board[run]


def _missing(text: str) -> HTTPException:
    return HTTPException(404, {"error": text, "kind": "missing"})


def _view(job: Job) -> JobView:
    content = job.describe()
    content.pop("request")
    return JobView(**content, held_back=job.held_back)
