"""All runs of a workspace: starting, watching, pausing, stopping and cancelling them."""

import json
import multiprocessing
import secrets as randomness
import signal
import threading
import time
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

from shoal.errors import InputError
from shoal.runtime.control import Control
from shoal.runtime.threads import available_cores
from shoal.sources import atomically
from shoal.web.activities import ACTIVITIES
from shoal.web.datasets import Datasets, is_release, run_of
from shoal.web.ending import whole
from shoal.web.jobs import stages
from shoal.web.jobs.job import Job, State
from shoal.web.jobs.task import Task
from shoal.web.jobs.worker import work
from shoal.web.workspace import Workspace

# How long a process may take to leave when asked nicely.
_STOP_SECONDS = 0.5


class Board:
    """Each run has a process to itself; so many run at once, the others wait in order."""

    def __init__(self, workspace: Workspace, at_once: int | None = None) -> None:
        self._workspace = workspace
        self._at_once = at_once or max(2, available_cores())
        self._jobs: dict[str, Job] = {}
        self._live: dict[str, _Live] = {}
        self._queue: list[Task] = []
        self._lock = threading.RLock()
        self._closed = False
        self._context = multiprocessing.get_context("spawn")
        self._spare: tuple[Any, Connection] | None = None
        self.remember()

    def submit(
        self, kind: str, request: dict[str, Any], *, title: str = "", secrets: dict[str, str] | None = None
    ) -> Job:
        """Start a run, or let it wait for its turn; a request that cannot be right is refused at once."""
        activity = ACTIVITIES[kind]
        checked = activity.check(request)
        activity.agree(checked, Datasets(self._workspace))
        if activity.internal and (why := self._held_back(checked)):
            raise InputError(f"{why}; confirm first that you know")
        run = randomness.token_hex(6)
        self._workspace.path("runs", run).mkdir(mode=0o700)
        job = Job(run=run, kind=kind, title=title or activity.title_of(checked), request=checked)
        with self._lock:
            if self._closed:
                raise InputError("the workbench is closing")
            self._jobs[run] = job
            control = Control.shared(self._workspace.path("runs", run))
            assert control.path is not None
            self._live[run] = _Live(control)
            self._queue.append(
                Task(run, kind, checked, self._workspace.folder, control.path, dict(secrets or {}))
            )
            self._write(job)
            self._start_waiting()
        return job

    def _held_back(self, request: dict[str, Any]) -> str:
        """Why what a request writes waits for a confirmation: the release of a run, also where it is data meanwhile."""
        run, data, datasets = request.get("run"), request.get("data"), Datasets(self._workspace)
        if isinstance(data, str) and data in datasets and is_release(datasets[data]):
            run = run_of(datasets[data])
        return self._jobs[run].held_back if run in self._jobs else ""

    def __getitem__(self, run: str) -> Job:
        if run not in self._jobs:
            raise InputError(f"there is no run '{run[:20]}'")
        return self._jobs[run]

    def __contains__(self, run: str) -> bool:
        return run in self._jobs

    def all(self, *kinds: str) -> list[Job]:
        """The runs, of some kinds or all, the latest first."""
        with self._lock:
            found = [job for job in self._jobs.values() if not kinds or job.kind in kinds]
        return sorted(found, key=lambda job: -job.submitted)

    @property
    def active(self) -> list[Job]:
        """The runs that are not over."""
        return [job for job in self.all() if not job.state.over]

    def pause(self, run: str) -> Job:
        """Let a run wait."""
        job = self[run]
        with self._lock:
            if job.state is State.RUNNING and not job.stopping:
                self._live[run].control.pause()
                job.state = State.PAUSED
        return job

    def resume(self, run: str) -> Job:
        """Let a paused run go on."""
        job = self[run]
        with self._lock:
            if job.state is State.PAUSED:
                self._live[run].control.resume()
                job.state = State.RUNNING
        return job

    def stop(self, run: str) -> Job:
        """End a search early and keep the best it has found; a run that has not begun is cancelled."""
        job = self[run]
        with self._lock:
            if job.state is State.WAITING:
                return self.cancel(run)
            if not job.state.over:
                job.stopping = True
                job.state = State.RUNNING
                self._live[run].control.cancel()
        return job

    def cancel(self, run: str) -> Job:
        """End a run at once and keep nothing of it."""
        job = self[run]
        with self._lock:
            if job.state.over:
                return job
            waiting = [task for task in self._queue if task.run == run]
            job.state = State.CANCELLED
            job.message = "cancelled; nothing was kept"
            if waiting:
                self._queue.remove(waiting[0])
                self._close(job)
                return job
            process = self._live[run].process
        if process is not None:
            process.terminate()
            process.join(_STOP_SECONDS)
            if process.is_alive():
                process.kill()
                process.join(_STOP_SECONDS)
        job.over.wait(_STOP_SECONDS)
        return job

    def remove(self, run: str) -> None:
        """Forget a run that is over, with its files."""
        import shutil

        job = self[run]
        if not job.state.over:
            raise InputError("this run is not over; cancel it first")
        with self._lock:
            del self._jobs[run]
        shutil.rmtree(self._workspace.path("runs", run), ignore_errors=True)

    def confirm(self, run: str) -> Job:
        """Somebody knows what a release lacks, and wants its files all the same; when they said so is kept."""
        job = self[run]
        with self._lock:
            if job.held_back:
                job.confirmed = time.time()
                self._write(job)
        return job

    def set_aside(self, run: str) -> None:
        """Take a run that is over away so that it can be brought back until the workbench ends."""
        job = self[run]
        if not job.state.over:
            raise InputError("this run is not over; cancel it first")
        with self._lock:
            del self._jobs[run]
            self._workspace.path("runs", run).replace(self._workspace.path("removed", run))

    def restore(self, run: str) -> None:
        """Bring back a run that was set aside."""
        left = self._workspace.path("removed", run)
        if not left.is_dir():
            raise InputError("this run cannot be brought back any more")
        with self._lock:
            left.replace(self._workspace.path("runs", run))
        self.remember()

    def wait(self, run: str, seconds: float | None = None) -> Job:
        """Wait until a run is over."""
        job = self[run]
        job.over.wait(seconds)
        return job

    def settle(self) -> list[Job]:
        """Let every search that runs end with the best it has, and wait for that; the runs that were saved so.

        What waits for its turn is not begun any more. What is no search ends by itself; whoever cannot wait calls ``close``.
        """
        with self._lock:
            self._closed = True
            waiting = [self._jobs[task.run] for task in self._queue]
            running = [job for job in self.active if job not in waiting and ACTIVITIES[job.kind].search]
        for job in waiting:
            self.cancel(job.run)
        for job in running:
            self.stop(job.run)
        for job in running:
            job.over.wait()
        return [job for job in running if job.state is State.DONE]

    def close(self) -> None:
        """End every process."""
        with self._lock:
            self._closed = True
            self._queue.clear()
            processes = [live.process for live in self._live.values() if live.process is not None]
            if self._spare is not None:
                processes.append(self._spare[0])
                self._spare[1].close()
                self._spare = None
        for process in processes:
            process.terminate()
        for process in processes:
            process.join(_STOP_SECONDS)
            if process.is_alive():
                process.kill()
                process.join()

    def _start_waiting(self) -> None:
        while self._queue and sum(live.process is not None for live in self._live.values()) < self._at_once:
            task = self._queue.pop(0)
            job, live = self._jobs[task.run], self._live[task.run]
            live.process, line = self._worker()
            with suppress(OSError):  # a worker that is gone is noticed by who follows it
                line.send(task)
            job.state = State.RUNNING
            threading.Thread(target=self._follow, args=(job, live, line), daemon=True).start()

    def prepare(self) -> None:
        """Keep a worker ready, so that the next run starts at once."""
        # Half started, a worker would be unknown to ``close`` and complain of what it never got.
        with whole(), self._lock:
            if self._spare is None and not self._closed:
                self._spare = self._spawn()

    def _worker(self) -> tuple[Any, Connection]:
        spare, self._spare = self._spare, None
        if spare is not None and spare[0].is_alive():
            return spare
        return self._spawn()

    def _spawn(self) -> tuple[Any, Connection]:
        ours, theirs = self._context.Pipe()
        process = self._context.Process(target=work, args=(theirs,), name="shoal-worker")
        process.start()
        theirs.close()
        return process, ours

    def _follow(self, job: Job, live: "_Live", line: Connection) -> None:
        """Listen to one worker until its run is over and it waits for the next, or until it is gone."""
        told = stays = False
        process = live.process
        assert process is not None
        with suppress(EOFError, OSError):
            while not told:
                message = line.recv()
                if message["what"] in ("done", "failed"):
                    told = True
                    stays = self._conclude(job, message, (process, line))
                else:
                    job.observe(message)
        if not stays:
            line.close()
            process.join()
        with self._lock:
            if not told and job.state is not State.CANCELLED:
                job.state = State.FAILED
                job.error = "crash"
                job.message = _why(process.exitcode)
            self._close(job)
            if not self._closed:
                self._start_waiting()
        # A worker that stays is the one kept ready, even where somebody has taken it already.
        if not stays:
            self.prepare()

    def _conclude(self, job: Job, message: dict[str, Any], worker: tuple[Any, Connection]) -> bool:
        """Take in how a run ended; whether its worker is kept for the next one."""
        with self._lock:
            if job.state is State.CANCELLED:
                return False
            job.summary, job.files = message.get("summary", {}), message.get("files", [])
            if message["what"] == "done":
                job.state = State.DONE
            else:
                job.state, job.error, job.message = State.FAILED, message["kind"], message["message"]
            stays = message["stays"] and self._spare is None and not self._closed
            if stays:
                self._spare = worker
            # The result is there; nobody need wait for the process to clear away its things.
            self._close(job)
            return stays

    def _close(self, job: Job) -> None:
        live = self._live.pop(job.run, None)
        if live is None:
            return
        live.control.close()
        job.ended = time.time()
        job.stages = stages.ended(job.stages, job.ended)
        if job.state is State.CANCELLED:
            self._empty(job)
        self._write(job)
        job.over.set()

    def _empty(self, job: Job) -> None:
        for path in self._workspace.path("runs", job.run).iterdir():
            with suppress(OSError):
                path.unlink()

    def _write(self, job: Job) -> None:
        content = {**job.describe(), "summary": job.summary, "points": job.points}
        place = self._workspace.path("runs", job.run, "run.json")
        with (
            suppress(InputError),
            atomically(place, force=True) as unfinished,
        ):  # the workspace may be going away
            unfinished.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")

    def remember(self) -> None:
        """Take up the runs that lie in the workspace and are not known yet."""
        for path in self._workspace.shelf("runs").glob("*/run.json"):
            with suppress(ValueError, KeyError, TypeError):
                content = json.loads(path.read_text(encoding="utf-8"))
                job = Job(**{**content, "state": State(content["state"])})
                if job.kind not in ACTIVITIES:
                    continue
                if not job.state.over:
                    job.state, job.error = State.FAILED, "crash"
                    job.message = "the workbench was closed before this run was done"
                job.over.set()
                # One that is known may be running, and knows more than its file.
                self._jobs.setdefault(job.run, job)


class _Live:
    """What a run has while it lives: its switches and its process."""

    def __init__(self, control: Control) -> None:
        self.control = control
        self.process: Any = None


def _why(code: int | None) -> str:
    if code is not None and code < 0:
        name = signal.Signals(-code).name if -code in signal.Signals._value2member_map_ else f"signal {-code}"
        reason = f"it was ended by {name}" + (
            ", perhaps because memory ran out" if -code == signal.SIGKILL else ""
        )
    else:
        reason = f"exit code {code}"
    return f"the worker process ended unexpectedly ({reason}); other runs are not affected, and this one can be repeated"
