"""A temporary workspace goes with its server, whatever ends it; a living server's is never touched."""

import fcntl
import os
import signal
import subprocess
import sys
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest
from tests.waiting import GUARD, until

from shoal.errors import InputError
from shoal.web.jobs.board import Board
from shoal.web.occupancy import occupy, remove_left_behind, temporary
from shoal.web.server import serve

_COMMAND = (
    sys.executable,
    "-c",
    "import sys, typer; from shoal.cli import serve; app = typer.Typer(); serve.register(app); app(sys.argv[1:])",
)

pytestmark = pytest.mark.xdist_group("web")


@contextmanager
def _server(folder: Path) -> Iterator[tuple["subprocess.Popen[str]", Path]]:
    """A workbench with a temporary workspace in this folder, with people in it."""
    before = set(folder.glob("shoal-workbench-*"))
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            [*_COMMAND, "--no-browser"],
            stdout=subprocess.PIPE,
            stderr=log,
            text=True,
            env={**os.environ, "TMPDIR": str(folder)},
        )
        try:
            assert process.stdout is not None
            address = process.stdout.readline().strip()
            assert address, (folder / "log").read_text()
            (workspace,) = set(folder.glob("shoal-workbench-*")) - before
            headers = dict(
                [(workspace / "authorization").read_text().strip().split(": ", 1)],
            )
            with httpx.Client(base_url=address.partition("/?")[0], headers=headers, timeout=GUARD) as api:
                run = api.post("/api/data/samples/people").json()["run"]
                until(
                    lambda: api.get(f"/api/jobs/{run}", params={"wait": 30}).json()["state"] == "done",
                    "the sample to be loaded",
                )
            assert (workspace / "data" / "people.parquet").is_file()
            yield process, workspace
        finally:
            process.kill()
            process.wait()
            assert process.stdout is not None
            process.stdout.close()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_takes_the_records_along(tmp_path: Path, number: signal.Signals) -> None:
    with _server(tmp_path) as (process, workspace):
        process.send_signal(number)
        code = process.wait(GUARD)
        assert not workspace.exists()
        assert not list(tmp_path.glob("shoal-*"))
        assert code != 0
        assert number == signal.SIGINT or code == 128 + number
    assert "Traceback" not in (tmp_path / "log").read_text()


def test_a_signal_before_it_is_open_leaves_nothing(tmp_path: Path) -> None:
    """The folder is there before the server is: it goes also then."""
    process = subprocess.Popen(
        [*_COMMAND, "--no-browser"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, "TMPDIR": str(tmp_path)},
    )
    try:
        until(lambda: list(tmp_path.glob("shoal-workbench-*/lock")), "the workspace")
        process.send_signal(signal.SIGTERM)
        _, errors = process.communicate(timeout=GUARD)
    finally:
        process.kill()
        process.wait()
    assert not list(tmp_path.glob("shoal-*"))
    assert "Traceback" not in errors


def _no_address(address: object) -> None:
    raise AssertionError("it was opened all the same")


def test_a_signal_while_the_folder_is_being_taken_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    flock = fcntl.flock

    def asked(handle: int, how: int) -> None:
        flock(handle, how)
        signal.raise_signal(signal.SIGTERM)

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(fcntl, "flock", asked)
    with pytest.raises(SystemExit):
        serve(announce=_no_address)
    assert not list(tmp_path.iterdir())


def test_a_signal_counts_where_an_exception_would_be_lost(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python only prints what is raised while it clears away, as it does with locks whenever a module is loaded."""

    def asked(board: Board) -> None:
        weakref.finalize(type("Thing", (), {})(), signal.raise_signal, signal.SIGTERM)

    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(Board, "prepare", asked)
    monkeypatch.setattr("shoal.web.server.application", _no_address)
    with pytest.raises(SystemExit):
        serve(announce=_no_address)
    assert not list(tmp_path.iterdir())


def test_the_next_start_removes_what_a_killed_server_left(tmp_path: Path) -> None:
    with _server(tmp_path) as (living, occupied):
        with _server(tmp_path) as (process, left):
            process.kill()
            process.wait()
            assert (left / "data" / "people.parquet").is_file()
        with _server(tmp_path) as (_, fresh):
            assert not left.exists()
            assert fresh.exists()
            # The server that lives keeps all it has.
            assert living.poll() is None
            assert (occupied / "data" / "people.parquet").is_file()


def test_only_folders_of_dead_servers_are_removed(tmp_path: Path) -> None:
    mine = temporary(tmp_path)
    (mine.folder / "records").write_text("secret")
    outside = tmp_path / "outside"
    outside.mkdir(mode=0o700)
    (outside / "lock").touch()
    (tmp_path / "shoal-workbench-link").symlink_to(outside)
    shared = tmp_path / "shoal-workbench-shared"
    shared.mkdir(mode=0o755)
    (shared / "lock").touch()
    unlocked = tmp_path / "shoal-workbench-unlocked"
    unlocked.mkdir(mode=0o700)
    (unlocked / "records").write_text("of nobody knows whom")
    assert remove_left_behind(tmp_path) == []
    assert (mine.folder / "records").exists()
    assert all(path.exists() for path in (outside / "lock", shared / "lock", unlocked / "records"))
    # As if its process had died: the lock goes with it.
    mine.leave()
    assert remove_left_behind(tmp_path) == [mine.folder]
    assert not mine.folder.exists()


def test_an_empty_folder_without_a_lock_goes(tmp_path: Path) -> None:
    (tmp_path / "shoal-workbench-empty").mkdir(mode=0o700)
    remove_left_behind(tmp_path)
    assert not list(tmp_path.iterdir())


def test_a_child_process_does_not_keep_the_lock(tmp_path: Path) -> None:
    mine = temporary(tmp_path)
    child = subprocess.Popen(
        [sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE, close_fds=False
    )
    try:
        mine.leave()
        # A process that another thread is starting holds the lock until it is what it is to be, the child does not.
        until(lambda: remove_left_behind(tmp_path) == [mine.folder], "the workspace without its lock")
        assert child.poll() is None
    finally:
        child.communicate()


def test_two_servers_do_not_share_a_workspace(tmp_path: Path) -> None:
    first = occupy(tmp_path / "bench")
    with pytest.raises(InputError, match="another workbench works in 'bench'"):
        occupy(tmp_path / "bench")
    first.leave()
    occupy(tmp_path / "bench").leave()
    assert (tmp_path / "bench").exists()


def test_a_workspace_that_was_asked_for_is_not_temporary_whatever_it_is_called(tmp_path: Path) -> None:
    folder = tmp_path / "shoal-workbench-study"
    mine = occupy(folder)
    (folder / "data").mkdir()
    mine.leave()
    assert remove_left_behind(tmp_path) == []
    assert (folder / "data").is_dir()


def test_a_temporary_workspace_that_somebody_took_over_stays(tmp_path: Path) -> None:
    left = temporary(tmp_path)
    (left.folder / "data").mkdir()
    left.leave()
    occupy(left.folder).leave()
    assert remove_left_behind(tmp_path) == []
    assert (left.folder / "data").is_dir()


def test_a_removal_that_was_cut_short_is_finished_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = temporary(tmp_path)
    (mine.folder / "zz").mkdir()
    (mine.folder / "zz" / "people.csv").write_text("1")
    with monkeypatch.context() as patched:
        patched.setattr("shutil.rmtree", _killed)
        with pytest.raises(SystemExit):
            mine.leave(remove=True)
    mine.leave()
    assert (mine.folder / "zz" / "people.csv").exists()
    assert remove_left_behind(tmp_path) == [mine.folder]
    assert not mine.folder.exists()


def _killed(folder: Path, *, ignore_errors: bool) -> None:
    """Removes the lock first, if it is to go, as one who is killed on the way may have."""
    (folder / "lock").unlink(missing_ok=True)
    raise SystemExit
