"""A workbench in a process of its own, as a user starts it."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

# Until it says where it can be opened.
_SECONDS = 60

_COMMAND = "import sys, typer; from shoal.cli import serve; app = typer.Typer(); serve.register(app); app(sys.argv[1:])"


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

    @property
    def headers(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.token}"}


@contextmanager
def served(folder: Path, *options: str) -> Iterator[Served]:
    """Start a workbench on a folder and end it afterwards."""
    log = folder.parent / f"{folder.name}.log"
    with log.open("w") as errors:
        process = subprocess.Popen(
            [sys.executable, "-c", _COMMAND, "--no-browser", "--workspace", str(folder), *options],
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
        try:
            assert process.stdout is not None
            address = process.stdout.readline().strip()
            assert address.startswith("http://127.0.0.1:"), log.read_text()
            yield Served(address, address.partition("token=")[2], folder, process)
        finally:
            process.terminate()
            try:
                process.wait(15)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            assert process.stdout is not None
            process.stdout.close()
