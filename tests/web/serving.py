"""A workbench in a process of its own, as a user starts it."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
from tests.waiting import GUARD, until

# The command, which also notes in a file when something was pressed that the page had replaced in the meantime, and tells a
# page that asks when it has been sent all that was drawn.
_COMMAND = """
import sys
from pathlib import Path
import typer
from nicegui import Client
from shoal.cli import serve

lost, handle_event = Path(sys.argv.pop(1)), Client.handle_event

def noting(client, message):
    if message["id"] == "settled":
        code = f"window.settled({int(message['args'][0])})"
        client.outbox.enqueue_message("run_javascript", {"code": code}, client.id)
        return
    if message["id"] not in client.elements:
        with lost.open("a") as file:
            file.write(f"c{message['id']}\\n")
    handle_event(client, message)

Client.handle_event = noting
app = typer.Typer()
serve.register(app)
app(sys.argv[1:])
"""


@dataclass(frozen=True)
class Served:
    """Where the workbench is, its key, its folder and its process."""

    address: str
    token: str
    folder: Path
    process: "subprocess.Popen[str]"

    @property
    def root(self) -> str:
        parts = urlsplit(self.address)
        return f"{parts.scheme}://{parts.netloc}"

    @property
    def host(self) -> str:
        return urlsplit(self.address).netloc

    def fresh(self) -> str:
        """An address that no browser has used."""
        answer = httpx.post(f"{self.root}/api/address", headers=self.headers, timeout=GUARD)
        address: str = answer.json()["address"]
        return address

    def cookie(self) -> str:
        """What a browser that used an address sends from then on."""
        return httpx.get(self.fresh(), timeout=GUARD).headers["set-cookie"].partition(";")[0]

    @property
    def lost(self) -> list[str]:
        """What was pressed in vain so far, since it had just been drawn anew: the numbers elements have on the page."""
        noted = _lost(self.folder)
        return noted.read_text().split() if noted.exists() else []

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}


def _lost(folder: Path) -> Path:
    return folder.parent / f"{folder.name}.lost"


def finished(api: httpx.Client, run: str) -> dict[str, Any]:
    """Wait until a run is over; how it stands then."""

    def over() -> dict[str, Any] | None:
        view: dict[str, Any] = api.get(f"/api/jobs/{run}", params={"wait": 30}).json()
        return None if view["state"] in ("waiting", "running", "paused") else view

    return until(over, f"the end of run {run}") or {}


def refused_with(api: httpx.Client, answer: httpx.Response) -> tuple[str, str]:
    """The kind and the words of a refusal: at once, or by the run that found out."""
    if answer.status_code == 202:
        view = finished(api, answer.json()["run"])
        assert view["state"] == "failed", view
        return view["error"], view["message"]
    told = answer.json()
    return told["kind"], told["error"]


def cancel_all(api: httpx.Client) -> None:
    """End the runs that a test has left, so that the next one finds the workbench free."""
    for job in api.get("/api/jobs").json():
        if job["state"] in ("waiting", "running", "paused"):
            api.delete(f"/api/jobs/{job['run']}")


@contextmanager
def served(
    folder: Path, *options: str, browser: bool = False, environment: dict[str, str] | None = None
) -> Iterator[Served]:
    """Start a workbench on a folder and end it afterwards."""
    log = folder.parent / f"{folder.name}.log"
    with log.open("w") as errors:
        process = subprocess.Popen(
            [
                sys.executable,
                "-c",
                _COMMAND,
                str(_lost(folder)),
                *([] if browser else ["--no-browser"]),
                "--workspace",
                str(folder),
                *options,
            ],
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            env=environment,
        )
        try:
            assert process.stdout is not None
            address = process.stdout.readline().strip()
            assert address.startswith("http://127.0.0.1:"), log.read_text()
            key = (folder / "authorization").read_text()
            yield Served(address, key.rpartition(" ")[2].strip(), folder, process)
        finally:
            process.terminate()
            try:
                process.wait(GUARD)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            assert process.stdout is not None
            process.stdout.close()
