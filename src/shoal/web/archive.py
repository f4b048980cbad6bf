"""A project as one file: data with their roles, runs with their files, and the steps; to be opened in another workspace."""

import json
import re
import shutil
import zipfile
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

from shoal.errors import InputError
from shoal.sources import atomically
from shoal.web.activities import ACTIVITIES
from shoal.web.datasets import Dataset
from shoal.web.jobs.board import Board
from shoal.web.project import is_step_name
from shoal.web.workspace import Workspace

#: What a project is called when it is saved.
NAME = "project.shoal"
_STEPS = "project.json"
_MARK = "shoal-project.json"
_VERSION = 1
_RUN = re.compile(r"[0-9a-f]{12}")
# Records are packed tightly, but nothing that Shoal writes is packed tighter than this.
_TIGHTEST = 1000


def save(workspace: Workspace, board: Board, target: Path) -> None:
    """Write the project into one file: all data and all runs that are over, for the eyes of those who may see the data."""
    with (
        atomically(target, force=True, internal=True) as unfinished,
        zipfile.ZipFile(unfinished, "w", zipfile.ZIP_DEFLATED) as archive,
    ):
        archive.writestr(_MARK, json.dumps({"version": _VERSION}))
        for path, name in _parts(workspace, board):
            archive.write(path, name)


def _parts(workspace: Workspace, board: Board) -> Iterator[tuple[Path, str]]:
    steps = workspace.folder / _STEPS
    if steps.is_file():
        yield steps, _STEPS
    for path in sorted(workspace.shelf("data").iterdir()):
        if path.is_file() and path.suffix in (".json", ".parquet", ".jj", ".hst"):
            yield path, f"data/{path.name}"
    for job in board.all():
        if not job.state.over:
            continue
        for path in sorted(workspace.path("runs", job.run).iterdir()):
            if path.is_file() and not path.name.startswith("shoal-control-"):
                yield path, f"runs/{job.run}/{path.name}"


def open_project(workspace: Workspace, board: Board, file: Path, *, largest: int) -> None:
    """Unpack a project into a workspace that has nothing yet; all of it or nothing."""
    if board.all() or any(workspace.shelf("data").iterdir()):
        raise InputError(
            "a project is opened in an empty workspace; start 'shoal serve' with another --workspace"
        )
    unpacked = workspace.incoming("opened")
    try:
        with zipfile.ZipFile(file) as archive:
            _unpack(archive, Workspace(unpacked), largest)
        _check(unpacked)
        for shelf in ("data", "runs"):
            for path in (unpacked / shelf).iterdir():
                path.replace(workspace.shelf(shelf) / path.name)
        if (unpacked / _STEPS).is_file():
            (unpacked / _STEPS).replace(workspace.folder / _STEPS)
    except (zipfile.BadZipFile, LookupError, ValueError, TypeError, EOFError, NotImplementedError):
        raise InputError("this is no project that a workbench saved") from None
    finally:
        shutil.rmtree(unpacked, ignore_errors=True)
    board.remember()


def _unpack(archive: zipfile.ZipFile, into: Workspace, largest: int) -> None:
    if json.loads(archive.read(_MARK))["version"] != _VERSION:
        raise InputError("this project was saved by another version of Shoal")
    members = [item for item in archive.infolist() if item.filename != _MARK]
    whole = sum(item.file_size for item in members)
    packed = sum(item.compress_size for item in members)
    if whole > largest or whole > _TIGHTEST * max(packed, 1) + 2**20:
        raise InputError("this project is larger than the limit; 'shoal serve --max-upload' raises it")
    for item in members:
        parts = PurePosixPath(item.filename).parts
        if parts == (_STEPS,):
            place = into.folder / _STEPS
        elif len(parts) == 2 and parts[0] == "data":
            place = into.path("data", parts[1])
        elif len(parts) == 3 and parts[0] == "runs":
            place = into.path("runs", parts[1], parts[2])
        else:
            raise ValueError(item.filename)
        place.parent.mkdir(mode=0o700, exist_ok=True)
        with archive.open(item) as source, place.open("wb") as target:
            place.chmod(0o600)
            shutil.copyfileobj(source, target)


def _check(folder: Path) -> None:
    """Every description is one, and is of what lies beside it."""
    for path in (folder / "data").glob("*.json"):
        found = Dataset(**json.loads(path.read_text(encoding="utf-8")))
        if found.name != path.stem or not path.with_suffix(".parquet").is_file():
            raise ValueError(path.stem)
    for place in (folder / "runs").iterdir():
        described = json.loads((place / "run.json").read_text(encoding="utf-8"))
        known = _RUN.fullmatch(place.name) and described["kind"] in ACTIVITIES
        if described["run"] != place.name or not known:
            raise ValueError(place.name)
    if (folder / _STEPS).is_file():
        steps = json.loads((folder / _STEPS).read_text(encoding="utf-8"))
        for listed in [steps["now"], *steps["past"], *steps["future"]]:
            for run, name in listed:
                if not (isinstance(run, str) and isinstance(name, str) and is_step_name(name)):
                    raise ValueError(_STEPS)
        if not all(isinstance(run, str) for run in steps["known"]):
            raise ValueError(_STEPS)
