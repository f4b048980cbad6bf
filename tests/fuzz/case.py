"""One run of the command line that is to be made: arguments, files beside it, and what may come of it."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Outcome:
    """What a run left: exit code, what it printed, and how much memory its process has taken in all."""

    code: int
    out: str
    err: str
    seconds: float = 0.0
    megabytes: float = 0.0

    @property
    def figures(self) -> dict[str, Any]:
        """The one JSON object that ``--json`` prints."""
        lines = self.out.splitlines()
        if len(lines) != 1:
            raise ValueError(f"{len(lines)} lines on standard output instead of one JSON object")
        loaded = json.loads(lines[0], parse_constant=_refuse)
        if not isinstance(loaded, dict):
            raise ValueError("standard output is no JSON object")
        return loaded


def _refuse(word: str) -> float:
    raise ValueError(f"{word} is no JSON")


Check = Callable[[Path, Mapping[str, Any]], None]


@dataclass(frozen=True)
class Case:
    """A run to be made in a folder of its own."""

    name: str
    arguments: tuple[str, ...]
    # Values that are nobody's business, and whether standard output may hold them all the same.
    shown_in: Callable[[str], list[str]] = lambda text: []
    open_output: bool = False
    # Names of the files that this command may leave when it ends well, as patterns.
    writes: tuple[str, ...] = ()
    # Recomputes what the run says and wrote, from the files alone; raises AssertionError.
    check: Check | None = None
    # Whether the run must end well: the files are whole and the options make sense.
    sound: bool = False
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def as_json(self) -> bool:
        return "--json" in self.arguments
