"""Is this pattern safe? Answered again and again for one table: at once for a small one, in a process for a large one."""

import multiprocessing
import signal
import threading
from contextlib import suppress
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from shoal.errors import InputError, ShoalError, spelled
from shoal.runtime.observer import Observer, Progress, silent
from shoal.web.jobs.worker import finite
from shoal.web.spelling import field_names
from shoal.web.workspace import Workspace

# Below so many cells an audit is quick, and a process of its own would only take time to start.
SMALL = 600


class Auditor:
    """The table of a run, ready to be audited; ``ask`` blocks, so it belongs in a thread."""

    def __init__(self, workspace: Workspace, kind: str, request: dict[str, Any], cells: int) -> None:
        self._about = (workspace.folder, kind, request)
        self._apart = cells > SMALL
        self._lock = threading.Lock()
        self._here: _Bench | None = None
        self._process: Any = None
        self._line: Connection | None = None
        self._closed = False

    def prepare(self) -> None:
        """Get a process ready before anybody asks, where there will be one."""
        with self._lock:
            if self._apart and self._process is None and not self._closed:
                self._start()

    def ask(self, cells: list[int], observer: Observer = silent) -> dict[str, Any]:
        """The verdict on hiding exactly these cells; ``observer`` is told how far the audit is."""
        with self._lock:
            if self._closed:
                raise InputError("this table is looked at no longer")
            if not self._apart:
                self._here = self._here or _Bench(*self._about)
                return self._here.judge(cells, observer)
            if self._process is None or not self._process.is_alive():
                self._start()
            assert self._line is not None
            try:
                self._line.send(cells)
                while "progress" in (said := self._line.recv()):
                    observer(said["progress"])
            except (EOFError, OSError):
                raise InputError("the audit was ended; press a cell to try again") from None
        if "problem" in said:
            raise InputError(said["problem"])
        found: dict[str, Any] = said["verdict"]
        return found

    def close(self) -> None:
        """End the process, if there is one."""
        self._closed = True
        process, self._process = self._process, None
        if process is not None:
            process.terminate()
            threading.Thread(target=process.join, daemon=True).start()

    def _start(self) -> None:
        context = multiprocessing.get_context("spawn")
        self._line, theirs = context.Pipe()
        self._process = context.Process(
            target=_answer, args=(theirs, *self._about), name="shoal-auditor", daemon=True
        )
        self._process.start()
        theirs.close()


class _Bench:
    """The table, built once."""

    def __init__(self, folder: Path, kind: str, request: dict[str, Any]) -> None:
        from shoal.operations import OPERATIONS
        from shoal.tables.operations.by_hand import TableByHand
        from shoal.web.datasets import Datasets
        from shoal.web.jobs.workplace import WorkspaceData

        asked: Any = OPERATIONS[kind].settings.model_validate(request)
        self._table = TableByHand(asked, WorkspaceData(Datasets(Workspace(folder))))

    def judge(self, cells: list[int], observer: Observer) -> dict[str, Any]:
        from shoal.web.activities.verdict import verdict

        found: dict[str, Any] = finite(verdict(self._table.judge(cells, observer)))
        return found


def _now_and_then(line: Connection) -> Observer:
    """Passes on how far an audit is, each time it is a hundredth further."""
    told = -1

    def observe(progress: Progress) -> None:
        nonlocal told
        hundredths = int(100 * (progress.share or 0.0))
        if hundredths > told:
            told = hundredths
            line.send({"progress": progress})

    return observe


def _answer(line: Connection, folder: Path, kind: str, request: dict[str, Any]) -> None:
    """Answer until nobody asks any more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    bench: _Bench | None = None
    with suppress(Exception):  # whoever asks is told what is wrong
        bench = _Bench(folder, kind, request)
    with suppress(EOFError, OSError):
        while True:
            cells = line.recv()
            try:
                bench = bench or _Bench(folder, kind, request)
                line.send({"verdict": bench.judge(cells, _now_and_then(line))})
            except ShoalError as problem:
                line.send({"problem": spelled(problem, field_names("audit"))})
            except Exception as problem:  # its words may quote data
                line.send({"problem": f"unexpected error ({type(problem).__name__}) in the audit"})
