"""The process in which one run happens."""

import math
import os
import signal
import threading
from multiprocessing.connection import Connection
from typing import Any

from shoal.errors import Infeasible, InputError, spelled, spelled_throughout
from shoal.web.jobs.task import Task
from shoal.web.spelling import field_names


def work(line: Connection) -> None:
    """Get ready, wait for a task, do it and tell the server about it; whatever goes wrong becomes one message."""
    # Ctrl-C in the terminal is for the server, which ends its workers itself.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        _get_ready()
        task: Task = line.recv()
    except (EOFError, OSError):
        return
    threading.Thread(target=_leave_with_server, args=(line,), daemon=True).start()
    lock = threading.Lock()

    def send(message: dict[str, Any]) -> None:
        with lock:
            line.send(message)

    try:
        send(_outcome(task, send))
    except (BrokenPipeError, OSError):
        os._exit(1)
    finally:
        line.close()


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
        summary = spelled_throughout(finite(summary), field_names(task.kind))
        return {"what": "done", "summary": summary, "files": context.files}
    except InputError as error:
        return _failed("input", spelled(error, field_names(task.kind)))
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


def finite(value: Any) -> Any:
    """The same without infinities and what is not a number, which JSON does not know.

    >>> finite({"bound": float("inf"), "rows": [(1.5, float("nan"))]})
    {'bound': None, 'rows': [[1.5, None]]}
    """
    if isinstance(value, dict):
        return {str(key): finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [finite(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def _failed(kind: str, message: str) -> dict[str, Any]:
    return {"what": "failed", "kind": kind, "message": " ".join(message.split())}


def _leave_with_server(line: Connection) -> None:
    """A worker whose server is gone works for nobody."""
    try:
        line.recv()
    except (EOFError, OSError):
        os._exit(1)
