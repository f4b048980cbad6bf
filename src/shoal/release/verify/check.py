"""One thing that was looked at in a release, and whether it holds."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Check:
    """One thing that was looked at: whether it holds (``None``: it was measured, or could not be judged), and what was seen.

    ``unchecked`` is how many statements of the release it leaves unchecked.
    """

    name: str
    passed: bool | None
    detail: str
    unchecked: int = 0

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
    """It was measured, and nothing says what it has to be."""
    return Check(name, passed=None, detail=detail)


def not_judged(name: str, detail: str, statements: int = 1) -> Check:
    """What the release states could not be checked from what is there."""
    return Check(name, passed=None, detail=detail, unchecked=statements)
