"""What a run of a plan left: the folder, what passed, what was written."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from shoal.release.gates.judge import GateOutcome
from shoal.release.run.step import StepOutcome
from shoal.report.glance import Glance


@dataclass(frozen=True, repr=False)
class Release(Glance):
    """A finished release: where it is, what passed, what was written."""

    folder: Path
    name: str
    gates: tuple[GateOutcome, ...]
    outputs: tuple[Mapping[str, Any], ...]
    warnings: tuple[str, ...] = ()
    steps: tuple[tuple[str, StepOutcome], ...] = field(default=(), repr=False)

    def glance(self) -> dict[str, Any]:
        """Where it is and what passed."""
        return {
            "name": self.name,
            "folder": str(self.folder),
            "gates": len(self.gates),
            "outputs": [item["file"] for item in self.outputs],
        }
