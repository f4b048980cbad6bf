"""Runs in processes of their own: progress, pause, stop, cancel, crash, queue and memory of earlier sessions."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.waiting import GUARD, gone, until, until_at_rest

from shoal.errors import InputError
from shoal.runtime.control import Control
from shoal.runtime.observer import VERIFICATION, Progress
from shoal.web.datasets import Datasets
from shoal.web.jobs.board import Board
from shoal.web.jobs.context import Context
from shoal.web.jobs.job import Job, State
from shoal.web.jobs.task import Task
from shoal.web.workspace import Workspace

pytestmark = pytest.mark.xdist_group("web")
# K is counted over the protected columns: region and sector, which are released as they are, single firms out.
ENDLESS = {
    "data": "firms",
    "k": 5,
    "method": "ilsmc",
    "columns": ["turnover", "costs"],
    "quasi": [],
    "iterations": 10**9,
}


@pytest.fixture(scope="module")
def workspace(tmp_path_factory: pytest.TempPathFactory) -> Workspace:
    return Workspace(tmp_path_factory.mktemp("jobs") / "bench")


@pytest.fixture(scope="module")
def board(workspace: Workspace) -> Iterator[Board]:
    board = Board(workspace, at_once=2)
    board.wait(board.submit("load", {"sample": "firms"}).run, GUARD)
    yield board
    board.close()


@pytest.fixture(autouse=True)
def _free(board: Board) -> Iterator[None]:
    """End the runs that a failed test has left: they would keep the next one waiting."""
    yield
    for job in board.active:
        board.cancel(job.run)
        board.wait(job.run, GUARD)


def _searching(board: Board) -> Job:
    job = board.submit("microaggregate", ENDLESS)
    until(lambda: job.progress.get("work"))
    return job


def test_pause_resume_and_stop_with_the_best(board: Board, workspace: Workspace) -> None:
    job = _searching(board)
    board.pause(job.run)
    assert job.state is State.PAUSED
    work = until_at_rest(lambda: job.progress["work"], board._live[job.run].process.pid)
    board.resume(job.run)
    until(lambda: job.progress["work"] > work)
    board.stop(job.run)
    board.wait(job.run, GUARD)
    assert job.state is State.DONE
    assert job.summary["stopped_by"] == "interrupt"
    assert job.summary["k_protected"] >= 5
    assert {"report.html", "release.csv"} <= set(job.file_names)
    values = [point["value"] for point in job.points if point["value"] is not None]
    assert values == sorted(values, reverse=True)
    released = pl.read_parquet(workspace.path("runs", job.run, "release.parquet"))
    assert released.height == 1200


def test_cancel_ends_the_process_and_keeps_nothing(board: Board, workspace: Workspace) -> None:
    job = _searching(board)
    process = board._live[job.run].process
    board.cancel(job.run)
    assert job.state is State.CANCELLED
    board.wait(job.run, GUARD)
    until(lambda: not process.is_alive(), "the end of the process")
    # It was ended in the middle of its work and not asked to come to an end.
    assert process.exitcode in (-signal.SIGTERM, -signal.SIGKILL)
    assert [path.name for path in workspace.path("runs", job.run).iterdir()] == ["run.json"]


def test_a_paused_run_can_be_cancelled(board: Board) -> None:
    job = _searching(board)
    board.pause(job.run)
    board.cancel(job.run)
    assert job.state is State.CANCELLED


def test_a_crash_becomes_a_message(board: Board) -> None:
    job = _searching(board)
    os.kill(board._live[job.run].process.pid, signal.SIGKILL)
    board.wait(job.run, GUARD)
    assert job.state is State.FAILED
    assert "ended unexpectedly" in job.message
    assert "SIGKILL" in job.message
    after = board.submit("anonymity", {"data": ["firms"], "quasi": ["region"]})
    assert board.wait(after.run, GUARD).state is State.DONE


def test_a_worker_does_the_next_run_unless_it_was_told_a_password(board: Board) -> None:
    asked = {"data": ["firms"], "quasi": ["region"]}

    def waiting_after(secrets: dict[str, str]) -> int:
        assert board.wait(board.submit("anonymity", asked, secrets=secrets).run, GUARD).state is State.DONE
        return until(lambda: board._spare and board._spare[0].pid)

    first = waiting_after({})
    assert waiting_after({}) == first
    assert waiting_after({"somewhere": "sqlite:///with-a-password"}) != first
    until(lambda: gone(first), "the end of the process that was told a password")


def test_of_two_workers_that_are_done_one_stays(board: Board) -> None:
    jobs = [_searching(board) for _ in range(2)]
    processes = [board._live[job.run].process for job in jobs]
    for job in jobs:
        board.stop(job.run)
        board.wait(job.run, GUARD)
    until(lambda: sum(gone(process.pid) for process in processes) == 1, "the end of one")
    assert board._spare is not None
    assert board._spare[0] in processes
    assert board._spare[0].is_alive()


def test_two_at_once_and_the_third_waits(board: Board) -> None:
    first, second, third = (board.submit("microaggregate", ENDLESS) for _ in range(3))
    until(lambda: first.progress.get("work") and second.progress.get("work"))
    assert third.state is State.WAITING
    assert len(board.active) == 3
    board.cancel(first.run)
    until(lambda: third.state is State.RUNNING)
    board.cancel(second.run)
    board.cancel(third.run)
    until(lambda: not board.active)


def test_a_waiting_run_can_be_cancelled(board: Board) -> None:
    jobs = [board.submit("microaggregate", ENDLESS) for _ in range(3)]
    board.cancel(jobs[2].run)
    assert jobs[2].state is State.CANCELLED
    for job in jobs[:2]:
        board.cancel(job.run)


def test_wrong_requests_are_refused_at_once(board: Board) -> None:
    for kind, request, words in (
        ("microaggregate", {"data": "firms", "k": 1}, "k: should be greater"),
        ("microaggregate", {"data": "firms", "q": 1}, "q: Extra inputs"),
        ("anonymity", {"data": ["firms"], "quasi": []}, "quasi: nothing is chosen"),
        ("generate", {"name": "my table"}, "name: letters, digits and '_', a letter first"),
    ):
        with pytest.raises(InputError, match=words):
            board.submit(kind, request)


def test_errors_of_the_user_are_told_in_one_line(board: Board) -> None:
    with pytest.raises(InputError, match="did you mean 'region'"):
        board.submit("anonymity", {"data": ["firms"], "quasi": ["regionn"]})
    with pytest.raises(InputError, match="'region' holds texts"):
        board.submit("microaggregate", {"data": "firms", "columns": ["region"]})
    # What only the values show, the run says.
    request = {"data": "firms", "columns": ["turnover"], "k": 500, "by": ["region"], "method": "mdav"}
    job = board.wait(board.submit("microaggregate", request).run, GUARD)
    assert job.state is State.FAILED
    assert job.error == "input"
    assert "strata by region" in job.message and "\n" not in job.message


def test_an_earlier_session_is_remembered(board: Board, workspace: Workspace) -> None:
    done = board.wait(board.submit("anonymity", {"data": ["firms"], "quasi": ["region"]}).run, GUARD)
    again = Board(workspace)
    assert again[done.run].summary == done.summary
    assert again[done.run].state is State.DONE
    path = workspace.path("runs", done.run, "run.json")
    text = path.read_text()
    path.write_text(text.replace('"state": "done"', '"state": "running"'))
    try:
        lost = Board(workspace)[done.run]
        assert lost.state is State.FAILED
        assert "closed before" in lost.message
    finally:
        path.write_text(text)


def test_workers_leave_with_their_server(tmp_path: Path) -> None:
    import subprocess
    import sys
    import textwrap

    script = tmp_path / "server.py"
    script.write_text(
        textwrap.dedent(
            f"""
            import os, time
            from pathlib import Path
            if __name__ == "__main__":
                from shoal.web.jobs.board import Board
                from shoal.web.workspace import Workspace
                board = Board(Workspace(Path({str(tmp_path / "bench")!r})))
                board.wait(board.submit("load", {{"sample": "firms"}}).run)
                job = board.submit("microaggregate", {ENDLESS!r})
                while not job.progress.get("work"):
                    time.sleep(0.05)
                print(board._live[job.run].process.pid, flush=True)
                os.kill(os.getpid(), 9)
            """
        )
    )
    found = subprocess.run([sys.executable, str(script)], capture_output=True, text=True, timeout=GUARD)
    pid = int(found.stdout.split()[-1])
    until(lambda: gone(pid), "the end of the worker")


def test_data_of_the_same_name_that_come_at_once(tmp_path: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    shelf = Workspace(tmp_path / "bench")
    datasets = Datasets(shelf)
    frames = [pl.DataFrame({"n": [place] * (place + 1)}) for place in range(12)]
    with ThreadPoolExecutor(12) as pool:
        found = list(pool.map(lambda frame: datasets.add(frame, "people.csv", "people.csv"), frames))
    assert len({item.name for item in found}) == 12
    assert datasets.names() == sorted(item.name for item in found)
    for frame, item in zip(frames, found, strict=True):
        assert datasets.frame(item.name).equals(frame)
    # What a worker left behind when it was ended does not take a name for ever.
    (shelf.shelf("data") / "lost.parquet").touch()
    datasets.tidy()
    assert datasets.add(frames[0], "lost", "lost").name == "lost"


def test_data_descriptions_survive(workspace: Workspace) -> None:
    datasets = Datasets(workspace)
    frame = pl.DataFrame({"id": [1, 2, 3], "Größe": [1.5, None, 2.0], "when": ["a", "b", "b"]})
    found = datasets.add(frame, "Körper größen.csv", "Körper größen.csv")
    assert found.name == "Korper-groen"
    assert datasets[found.name] == found
    assert datasets.frame(found.name).equals(frame)
    assert datasets.set_roles(found.name, {"when": "confidential"}).roles["when"] == "confidential"
    with pytest.raises(InputError, match="role 'secret'"):
        datasets.set_roles(found.name, {"when": "secret"})
    datasets.remove(found.name)
    with pytest.raises(InputError, match="not in the workspace"):
        datasets[found.name]


@pytest.mark.parametrize(
    ("kind", "request_"),
    [
        ("group", {"data": "firms", "columns": ["turnover", "costs", "wages"], "k": 5, "iterations": 2}),
        ("microaggregate", {"data": "firms", "columns": ["turnover"], "k": 5, "method": "mdav"}),
        ("assign", {"people": ["people"], "slots": ["slots"], "quasi": ["SEX"], "method": "greedy"}),
    ],
)
def test_a_search_tells_what_it_does_when(board: Board, kind: str, request_: dict[str, object]) -> None:
    for sample in ("people", "slots") if kind == "assign" else ():
        board.wait(board.submit("load", {"sample": sample}).run, GUARD)
    job = board.wait(board.submit(kind, request_).run, GUARD)
    assert job.state is State.DONE, job.message
    told = [stage["stage"] for stage in job.stages]
    # Groups are checked before anything is proved of them, and the release once more.
    assert told in [
        ["reading", "search", *middle, "verification", "writing"]
        for middle in ([], ["bound"], ["verification", "bound"])
    ]
    assert {"reading", "search", "verification", "writing"} <= set(told)


def test_the_check_begins_when_the_search_says_so(workspace: Workspace) -> None:
    """Glimpses are passed on now and then, but the first of another stage at once."""
    sent: list[dict[str, Any]] = []
    control = Control.shared(workspace.folder)
    assert control.path is not None
    context = Context(Task("0" * 12, "group", {}, workspace.folder, control.path, {}), sent.append)
    context.say("searching")
    context.observe(Progress(1, 0.1, value=2.0))
    for work in range(2, 5):
        context.observe(Progress(work, 0.1, value=1.0))
    context.observe(Progress(5, 0.1, phase=VERIFICATION))
    assert [(item.get("work"), item["phase"]) for item in sent][-2:] == [(4, ""), (5, VERIFICATION)]
    control.close()
