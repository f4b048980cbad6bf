"""The end of a workbench: searches are saved with their best, and a temporary workspace says where it goes and can be kept."""

import json
import os
import pty
import shutil
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.waiting import GUARD, until
from tests.web.test_jobs import ENDLESS

from shoal.errors import InputError
from shoal.web.ending import ended_by_signals, whole
from shoal.web.keeping import Keeping
from shoal.web.occupancy import remove_left_behind, temporary

pytestmark = pytest.mark.xdist_group("web")
_COMMAND = (
    sys.executable,
    "-c",
    "import sys, typer; from shoal.cli import serve; app = typer.Typer(); serve.register(app); app(sys.argv[1:])",
    "--no-browser",
)


def _with_a_search(folder: Path, address: str) -> str:
    """Sample data, and a search that would never end."""
    name, token = (folder / "authorization").read_text().strip().split(": ", 1)
    with httpx.Client(base_url=address.partition("/?")[0], headers={name: token}, timeout=GUARD) as api:

        def view(run: str) -> Any:
            return api.get(f"/api/jobs/{run}", params={"wait": 1}).json()

        # The pages say where everything is, and offer to keep what would go.
        page = api.get("/").text
        assert str(folder) in page
        assert ("Keep this workspace" in page) == (folder / "temporary").exists()
        loaded = api.post("/api/data/samples/firms").json()["run"]
        until(lambda: view(loaded)["state"] == "done", "the sample to be loaded")
        run: str = api.post("/api/jobs/microaggregate", json=ENDLESS).json()["run"]
        until(lambda: view(run)["progress"].get("work"), "the search to begin")
    return run


def _left(folder: Path, run: str) -> Any:
    return json.loads((folder / "runs" / run / "run.json").read_text())


def test_ctrl_c_saves_the_best_of_what_is_searched_for(tmp_path: Path) -> None:
    folder, log = tmp_path / "kept", tmp_path / "log"
    with log.open("w") as errors:
        process = subprocess.Popen(
            [*_COMMAND, "--workspace", str(folder)], stdout=subprocess.PIPE, stderr=errors, text=True
        )
        try:
            assert process.stdout is not None
            address = process.stdout.readline().strip()
            assert f"Data and results are kept in {folder}" in until(log.read_text)
            run = _with_a_search(folder, address)
            process.send_signal(signal.SIGINT)
            process.wait(GUARD)
        finally:
            process.kill()
            process.wait()
            process.stdout.close()
    found = _left(folder, run)
    assert found["state"] == "done" and found["summary"]["stopped_by"] == "interrupt"
    assert (folder / "runs" / run / "release.csv").is_file()
    said = log.read_text()
    assert "1 search saved" in said and "goes on with them" in said and "Traceback" not in said


@pytest.mark.parametrize("answer", ["kept", ""])
def test_a_temporary_workspace_can_be_kept_at_the_end(tmp_path: Path, answer: str) -> None:
    ours, theirs = pty.openpty()
    log = tmp_path / "log"
    with log.open("w") as errors:
        process = subprocess.Popen(
            _COMMAND,
            stdin=theirs,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
            cwd=tmp_path,
            env={**os.environ, "TMPDIR": str(tmp_path)},
            start_new_session=True,
        )
        os.close(theirs)
        try:
            assert process.stdout is not None
            address = process.stdout.readline().strip()
            (workspace,) = tmp_path.glob("shoal-workbench-*")
            until(lambda: "temporary folder" in log.read_text(), "the word that it is temporary")
            run = _with_a_search(workspace, address)
            process.send_signal(signal.SIGINT)
            until(lambda: "Keep them?" in log.read_text(), "the question")
            os.write(ours, f"{answer}\n".encode())
            process.wait(GUARD)
        finally:
            process.kill()
            process.wait()
            os.close(ours)
            process.stdout.close()
    assert not workspace.exists()
    said = log.read_text()
    if answer:
        found = _left(tmp_path / "kept", run)
        assert found["state"] == "done" and found["summary"]["stopped_by"] == "interrupt"
        assert (tmp_path / "kept" / "data" / "firms.parquet").is_file()
        assert not (tmp_path / "kept" / "authorization").exists()
        assert (tmp_path / "kept").stat().st_mode & 0o077 == 0
        assert f"Data and results are in {tmp_path / 'kept'}" in said
    else:
        assert not (tmp_path / "kept").exists() and "was removed" in said


def test_what_is_kept_goes_to_a_folder_of_its_own(tmp_path: Path) -> None:
    keeping = Keeping(temporary(tmp_path), temporary=True)
    (keeping.folder / "data").mkdir()
    (keeping.folder / "data" / "x.parquet").write_text("records")
    assert "removed when the workbench ends" in keeping.in_words()
    (tmp_path / "full").mkdir()
    (tmp_path / "full" / "file").touch()
    for wrong in (tmp_path / "full", tmp_path / "full" / "file", tmp_path / "no" / "such"):
        with pytest.raises(InputError):
            keeping.keep(wrong)
    assert keeping.removed_at_the_end
    keeping.keep(tmp_path / "mine")
    assert str(tmp_path / "mine") in keeping.in_words() and not keeping.removed_at_the_end
    # Should its server be killed now, nobody removes it.
    assert keeping.folder not in remove_left_behind(tmp_path)
    before = keeping.folder
    assert keeping.leave() == tmp_path / "mine" and not before.exists()
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["data"]


def test_nobody_else_sees_it_on_its_way_and_a_part_is_not_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    keeping = Keeping(temporary(tmp_path), temporary=True)
    (keeping.folder / "x.parquet").write_text("records")
    keeping.keep(tmp_path / "mine")

    def breaking(source: str, target: str) -> None:
        assert Path(target).parent.stat().st_mode & 0o077 == 0
        Path(target).write_text("a part")
        raise OSError

    # The default is bound when the module is loaded.
    copying = partial(shutil.copytree, copy_function=breaking)
    monkeypatch.setattr(shutil, "copytree", copying)
    assert keeping.leave() == keeping.folder and (keeping.folder / "x.parquet").read_text() == "records"
    assert not list(tmp_path.glob("*mine*"))


def test_a_workspace_somebody_asked_for_stays(tmp_path: Path) -> None:
    from shoal.web.occupancy import occupy

    keeping = Keeping(occupy(tmp_path / "mine"), temporary=False)
    assert keeping.keep() == tmp_path / "mine" and not keeping.removed_at_the_end
    assert keeping.leave() == tmp_path / "mine" and (tmp_path / "mine").is_dir()


def test_what_must_be_done_whole_is_before_a_signal_counts() -> None:
    done = []
    with pytest.raises(SystemExit), ended_by_signals():
        with whole():
            signal.raise_signal(signal.SIGTERM)
            done.append("all of it")
        done.append("more")
    assert done == ["all of it"]
