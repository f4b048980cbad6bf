"""What a worker process is told to do."""

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any


@dataclass(frozen=True)
class Task:
    """One run: the activity, its request, and where to work.

    ``secrets`` are addresses with passwords; they go to the process that needs them and are written nowhere, which is
    why the representation leaves them out.
    """

    run: str
    kind: str
    request: dict[str, Any]
    workspace: Path
    control: Path
    secrets: dict[str, str] = field(default_factory=dict, repr=False)
