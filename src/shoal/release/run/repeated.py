"""An earlier release that is to be repeated: its secret, what it read, and what was asked for."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from shoal.errors import InputError
from shoal.release.folder import INTERNAL, MANIFEST, PLAN, SECRET
from shoal.release.plan.plan import Plan
from shoal.release.plan.reader import parse_plan
from shoal.release.register.register import requested
from shoal.release.run.inputs import fingerprints_of
from shoal.runtime.secrets import Secret


@dataclass(frozen=True)
class Earlier:
    """The secret of a release, the fingerprints of its inputs, and its plan."""

    name: str
    secret: Secret
    fingerprints: Mapping[str, str] = field(repr=False)
    plan: Plan = field(repr=False)

    @classmethod
    def read(cls, folder: Path) -> "Earlier":
        """From the folder of the release."""
        try:
            manifest = json.loads((folder / INTERNAL / MANIFEST).read_text(encoding="utf-8"))
            found = fingerprints_of(manifest)
            plan = parse_plan((folder / INTERNAL / PLAN).read_text(encoding="utf-8"), folder / INTERNAL)
        except (OSError, ValueError, KeyError, TypeError, AttributeError):
            raise InputError(f"'{folder.name}' has no internal part of a release to repeat") from None
        return cls(folder.resolve().name, Secret.read(folder / INTERNAL / SECRET), found, plan)

    def differing(self, plan: Plan, fingerprints: Mapping[str, str]) -> str | None:
        """What is not as it was, so that a run is no repetition; nothing if it gives the same bytes."""
        if _requested(plan) != _requested(self.plan):
            return "settings"
        return None if dict(fingerprints) == dict(self.fingerprints) else "inputs"


def _requested(plan: Plan) -> list[Any]:
    """What is asked for, with the roles of the columns, which settings that are not given follow."""
    return [*requested(plan), {name: dict(source.roles) for name, source in plan.sources.items()}]
