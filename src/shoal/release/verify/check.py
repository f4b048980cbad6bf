"""One thing that was looked at in a release, and whether it holds."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Check:
    """One thing that was looked at: whether it holds (``None``: it was measured, or could not be judged), and what was seen."""

    name: str
    passed: bool | None
    detail: str

    def as_json(self) -> dict[str, Any]:
        """Ready for JSON."""
        return {"name": self.name, "passed": self.passed, "detail": self.detail}


def holds(name: str, detail: str) -> Check:
    """It is as it should be."""
    return Check(name, passed=True, detail=detail)


def fails(name: str, detail: str) -> Check:
    """It is not."""
    return Check(name, passed=False, detail=detail)


def noted(name: str, detail: str) -> Check:
    """It was measured, or could not be judged."""
    return Check(name, passed=None, detail=detail)
