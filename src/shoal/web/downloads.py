"""Files of runs for the browser."""

from fastapi import FastAPI, HTTPException
from fastapi.responses import FileResponse

from shoal.web.api import Name, Run, file_of
from shoal.web.data_files import project_file, records_file
from shoal.web.workbench import Workbench


def register(app: FastAPI, workbench: Workbench) -> None:
    """Serve what runs made; a report opens in the browser, everything else is saved."""

    @app.get("/runs/{run}/{name}", include_in_schema=False)
    def download(run: Run, name: Name, download: bool = False) -> FileResponse:
        if run not in workbench.board:
            raise HTTPException(404, "there is no such run")
        return file_of(workbench, workbench.board[run], name, inline=name == "report.html" and not download)

    @app.get("/records-of/{name}", include_in_schema=False)
    def records(name: Name) -> FileResponse:
        return records_file(workbench, name)

    @app.get("/project", include_in_schema=False)
    def project() -> FileResponse:
        return project_file(workbench)

    @app.get("/database", include_in_schema=False)
    def database() -> FileResponse:
        path = workbench.connections.file()
        if path is None:
            raise HTTPException(404, "there is no file of a database to download")
        return FileResponse(
            path,
            filename=path.name,
            media_type="application/vnd.sqlite3",
            headers={"Cache-Control": "no-store"},
        )
