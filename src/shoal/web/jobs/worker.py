"""The process in which runs happen, one at a time."""

import gc
import math
import os
import signal
import threading
from multiprocessing.connection import Connection
from queue import SimpleQueue
from typing import Any

from shoal.errors import Infeasible, InputError, spelled, spelled_throughout
from shoal.web.jobs.refused import Refused
from shoal.web.jobs.task import Task
from shoal.web.spelling import field_names

# A process that took more memory than this gives it back by ending.
_LARGEST_KB = 2**20


def work(line: Connection) -> None:
    """Get ready and do one task after the other, telling the server of each; whatever goes wrong becomes one message."""
    # Ctrl-C in the terminal is for the server, which ends its workers itself.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    tasks: SimpleQueue[Task] = SimpleQueue()
    threading.Thread(target=_receive, args=(line, tasks), daemon=True).start()
    lock = threading.Lock()

    def send(message: dict[str, Any]) -> None:
        with lock:
            line.send(message)

    _get_ready()
    stays = True
    try:
        while stays:
            task = tasks.get()
            outcome = _outcome(task, send)
            stays = _can_stay(task, outcome)
            del task
            gc.collect()
            send({**outcome, "stays": stays})
    except (BrokenPipeError, OSError):
        os._exit(1)
    finally:
        line.close()


def _receive(line: Connection, tasks: "SimpleQueue[Task]") -> None:
    """Take in tasks; a worker whose server is gone works for nobody."""
    try:
        while True:
            tasks.put(line.recv())
    except (EOFError, OSError):
        os._exit(1)


def _can_stay(task: Task, outcome: dict[str, Any]) -> bool:
    """Whether this process may do another task: it holds no password, nothing went wrong in it, and it did not grow."""
    peak = _peak_kb()
    small = peak is not None and peak <= _LARGEST_KB
    return not task.secrets and outcome.get("kind") != "internal" and small


def _peak_kb() -> int | None:
    """The most memory this process has had; ``None`` where nobody knows.

    What the system counts as used by a process begins with what its parent had, so the programme's own peak is read.
    """
    try:
        with open("/proc/self/status", encoding="ascii", errors="replace") as status:  # noqa: PTH123 - no file of ours
            for line in status:
                if line.startswith("VmHWM:"):
                    return int(line.split()[1])
    except OSError:
        pass
    try:
        from resource import RUSAGE_SELF, getrusage
    except ImportError:  # not on Windows
        return None
    return getrusage(RUSAGE_SELF).ru_maxrss


def _get_ready() -> None:
    """Load what every activity needs, so that a task that arrives later starts at once."""
    import polars  # noqa: F401

    import shoal.web.activities  # noqa: F401


def _outcome(task: Task, send: Any) -> dict[str, Any]:
    try:
        from shoal.web.activities import ACTIVITIES
        from shoal.web.jobs.context import Context

        activity = ACTIVITIES[task.kind]
        context = Context(task, send)
        summary = activity.run(activity.request_model.model_validate(task.request), context)
        context.flush()
        return {"what": "done", "summary": _summary(summary, task), "files": context.files}
    except InputError as error:
        return _failed("input", spelled(error, field_names(task.kind)))
    except Refused as error:
        told = _failed("infeasible", spelled(error, field_names(task.kind)))
        return {**told, "summary": _summary(error.figures, task), "files": error.files}
    except Infeasible as error:
        return _failed("infeasible", spelled(error, field_names(task.kind)))
    except MemoryError:
        return _failed("internal", "there is not enough memory for this much data")
    except Exception as error:
        if os.environ.get("SHOAL_DEBUG"):
            import traceback

            traceback.print_exc()
        # The words of an unexpected error may quote data, so only its kind is told.
        return _failed(
            "internal",
            f"internal error ({type(error).__name__}); start the workbench with SHOAL_DEBUG=1 to see where",
        )


def _summary(figures: dict[str, Any], task: Task) -> Any:
    return spelled_throughout(finite(figures), field_names(task.kind))


def finite(value: Any) -> Any:
    """The same without infinities, what is not a number, and numbers of NumPy, which JSON does not know.

    >>> finite({"bound": float("inf"), "rows": [(1.5, float("nan"))]})
    {'bound': None, 'rows': [[1.5, None]]}
    """
    if hasattr(value, "item") and getattr(value, "ndim", 1) == 0:
        value = value.item()
    if isinstance(value, dict):
        return {str(key): finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _failed(kind: str, message: str) -> dict[str, Any]:
    return {"what": "failed", "kind": kind, "message": " ".join(message.split())}
