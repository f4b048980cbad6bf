"""The steps of a workspace: what was run, in order, under names, with undo and redo; and written down for others."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shoal.errors import InputError, unknown
from shoal.operations import OPERATIONS
from shoal.sources import atomically
from shoal.web.datasets import Datasets
from shoal.web.jobs.board import Board
from shoal.web.jobs.job import Job, State
from shoal.web.workspace import Workspace
from shoal.web.written_steps import Form, WrittenSteps

# So many changes can be undone.
_REMEMBERED = 100

Steps = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class ProjectStep:
    """A run of the workspace as a step: its name, and what was run."""

    name: str
    job: Job


class Project:
    """Every finished run of an operation is a step, until somebody takes it out."""

    def __init__(self, workspace: Workspace, board: Board, datasets: Datasets) -> None:
        self._place = workspace.folder / "project.json"
        self._board, self._datasets = board, datasets

    def steps(self) -> list[ProjectStep]:
        """The steps in their order; runs that are new are the last ones."""
        state = self._state()
        known = set(state["known"])
        every = sorted(self._board.all(*OPERATIONS), key=lambda job: job.submitted)
        new = [job for job in every if job.state is State.DONE and job.run not in known]
        if new:
            names = [name for _, name in state["now"]]
            for job in new:
                names.append(_free(job.kind, [*names, *self._datasets.names()]))
                # A run is a change like any other: undone, it is a step no longer.
                state["past"] = [*state["past"], state["now"]][-_REMEMBERED:]
                state["now"] = [*state["now"], [job.run, names[-1]]]
            state["known"] = [*state["known"], *(job.run for job in new)]
            state["future"] = []
            self._write(state)
        return [ProjectStep(name, self._board[run]) for run, name in state["now"] if run in self._board]

    def rename(self, run: str, name: str) -> None:
        """Give a step another name."""
        wanted = name.strip()
        taken = [own for other, own in self._now() if other != run]
        if not is_step_name(wanted):
            raise InputError("a step is named by letters, digits, - and _, beginning with a letter")
        if wanted in taken or wanted in self._datasets:
            raise InputError(f"there is another step, or data, named '{wanted}'")
        self._change(tuple((other, wanted if other == run else own) for other, own in self._now(run)))

    def remove(self, run: str) -> None:
        """Take a step out; the run stays."""
        self._change(tuple(item for item in self._now(run) if item[0] != run))

    def move(self, run: str, by: int) -> None:
        """Put a step some places earlier or later."""
        now = list(self._now(run))
        place = next(number for number, item in enumerate(now) if item[0] == run)
        item = now.pop(place)
        now.insert(max(0, min(len(now), place + by)), item)
        self._change(tuple(now))

    @property
    def can_undo(self) -> bool:
        """Whether there is a change to take back."""
        return bool(self._state()["past"])

    @property
    def can_redo(self) -> bool:
        """Whether a change was taken back."""
        return bool(self._state()["future"])

    def undo(self) -> None:
        """Take the last change back: a name, an order, a step that was taken out, or one that was added by a run."""
        self.steps()
        self._shift("past", "future")

    def redo(self) -> None:
        """Make the change again that was taken back last."""
        self.steps()
        self._shift("future", "past")

    def written(self, form: Form, name: str = "workspace") -> str:
        """The steps as a plan, a script or commands."""
        return self.writing().text(form, name)

    def writing(self) -> WrittenSteps:
        """The steps, ready to be written down, with the data they read."""
        return WrittenSteps(self.steps(), self._datasets)

    def _now(self, run: str | None = None) -> Steps:
        self.steps()
        now = tuple((own, name) for own, name in self._state()["now"])
        if run is not None and run not in dict(now):
            raise unknown("step", run, [name for _, name in now], where="in this workspace")
        return now

    def _change(self, now: Steps) -> None:
        state = self._state()
        past = [*state["past"], state["now"]][-_REMEMBERED:]
        self._write({**state, "past": past, "now": [list(item) for item in now], "future": []})

    def _shift(self, source: str, target: str) -> None:
        state = self._state()
        if not state[source]:
            return
        now = state[source][-1]
        self._write(
            {
                **state,
                source: state[source][:-1],
                target: [*state[target], state["now"]],
                "now": now,
            }
        )

    def _state(self) -> dict[str, Any]:
        empty: dict[str, Any] = {"past": [], "now": [], "future": [], "known": []}
        if not self._place.exists():
            return empty
        return {**empty, **json.loads(self._place.read_text(encoding="utf-8"))}

    def _write(self, state: Mapping[str, Any]) -> None:
        with atomically(self._place, force=True, internal=True) as unfinished:
            unfinished.write_text(json.dumps(state), encoding="utf-8")


def is_step_name(name: str) -> bool:
    """Whether a step can be called so: it becomes the name of files, and stands in scripts.

    >>> [is_step_name(name) for name in ("coarser-2", "2-coarser", "coarser; ls", "")]
    [True, False, False, False]
    """
    return name[:1].isalpha() and all(sign.isalnum() or sign in "-_" for sign in name)


def _free(kind: str, taken: Sequence[str]) -> str:
    """A name for a step, like what it does.

    >>> _free("recode", ["recode", "recode-2"])
    'recode-3'
    """
    number = 1
    while (name := kind if number == 1 else f"{kind}-{number}") in taken:
        number += 1
    return name
