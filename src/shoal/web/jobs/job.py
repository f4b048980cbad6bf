"""One run as the server knows it."""

import threading
import time
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from shoal.web.jobs import stages
from shoal.web.jobs.shortfall import shortfall

_MOST_POINTS = 400


class State(StrEnum):
    """Where a run stands."""

    WAITING = "waiting"
    RUNNING = "running"
    PAUSED = "paused"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"

    @property
    def over(self) -> bool:
        """Whether nothing more will happen."""
        return self in (State.DONE, State.FAILED, State.CANCELLED)


@dataclass
class Job:
    """A run: what was asked, how far it is, and what came of it."""

    run: str
    kind: str
    title: str
    request: dict[str, Any]
    state: State = State.WAITING
    submitted: float = field(default_factory=time.time)
    ended: float | None = None
    progress: dict[str, Any] = field(default_factory=dict)
    points: list[dict[str, Any]] = field(default_factory=list)
    stages: list[dict[str, Any]] = field(default_factory=list)
    summary: dict[str, Any] = field(default_factory=dict)
    files: list[dict[str, str]] = field(default_factory=list)
    message: str = ""
    error: str = ""
    confirmed: float | None = None
    stopping: bool = False
    over: threading.Event = field(default_factory=threading.Event, repr=False)

    def observe(self, message: dict[str, Any]) -> None:
        """Take in a glimpse; the curve keeps only so many points, the shape stays."""
        self.stages = stages.further(self.stages, message, time.time())
        self.progress = {**self.progress, **{key: value for key, value in message.items() if key != "what"}}
        if message["what"] != "progress":
            return
        self.points.append({key: message[key] for key in ("work", "seconds", "value", "bound", "phase")})
        if len(self.points) > _MOST_POINTS:
            self.points = self.points[:-1:2] + self.points[-1:]

    @property
    def held_back(self) -> str:
        """Why its files wait for somebody to confirm that they know; nothing if they do not wait."""
        return "" if self.state is not State.DONE or self.confirmed is not None else shortfall(self)

    @property
    def file_names(self) -> list[str]:
        """The files that may be downloaded."""
        return [item["name"] for item in self.files]

    def describe(self) -> dict[str, Any]:
        """All of it, ready for JSON; no secrets are in a request."""
        return {
            "run": self.run,
            "kind": self.kind,
            "title": self.title,
            "state": str(self.state),
            "submitted": self.submitted,
            "ended": self.ended,
            "request": self.request,
            "progress": self.progress,
            "stages": self.stages,
            "files": self.files,
            "message": self.message,
            "error": self.error,
            "confirmed": self.confirmed,
        }
