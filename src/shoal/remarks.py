"""Warnings and notes as records: what kind, how severe, which columns, and the sentence a person reads.

Code decides by kind, severity and columns, never by the words of the text.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Literal

from shoal.errors import Message

#: How bad it is: something can be learnt from the release, something needs a decision, something is worth knowing.
Severity = Literal["danger", "warning", "note"]
_ORDER: dict[str, int] = {"danger": 0, "warning": 1, "note": 2}


@dataclass(frozen=True)
class Remark:
    """One thing to know of a result.

    ``kind`` is the same for all remarks of the same cause; ``columns`` are those of the data that it is about.

    >>> remark = danger("released-identifier", "'name' is released unchanged", "name")
    >>> remark.kind, remark.severity, remark.columns
    ('released-identifier', 'danger', ('name',))
    """

    kind: str
    severity: Severity
    columns: tuple[str, ...]
    text: Message

    def about(self, what: str) -> "Remark":
        """The same remark with what it is about before its text."""
        return replace(self, text=Message(f"{what}: {self.text.template}"))

    def as_json(self) -> dict[str, Any]:
        """The remark for JSON."""
        return {
            "kind": self.kind,
            "severity": self.severity,
            "columns": list(self.columns),
            "text": self.text,
        }


def danger(kind: str, text: str, *columns: str) -> Remark:
    """Something can be learnt from the release as it is."""
    return Remark(kind, "danger", columns, Message(text))


def warning(kind: str, text: str, *columns: str) -> Remark:
    """Something needs a decision before the release."""
    return Remark(kind, "warning", columns, Message(text))


def note(kind: str, text: str, *columns: str) -> Remark:
    """Something is worth knowing."""
    return Remark(kind, "note", columns, Message(text))


class Remarked:
    """A result with remarks; ``warnings`` and ``notes`` are their texts."""

    remarks: tuple[Remark, ...]

    @property
    def warnings(self) -> tuple[Message, ...]:
        """What nobody should overlook."""
        return tuple(item.text for item in self.remarks if item.severity != "note")

    @property
    def notes(self) -> tuple[Message, ...]:
        """What is worth knowing."""
        return tuple(item.text for item in self.remarks if item.severity == "note")


def remarks_in_json(remarks: Iterable[Remark]) -> dict[str, Any]:
    """The three fields that every JSON object with remarks has.

    >>> remarks_in_json([note("order", "records keep their order")])["notes"]
    ['records keep their order']
    """
    remarks = tuple(remarks)
    return {
        "warnings": [item.text for item in remarks if item.severity != "note"],
        "notes": [item.text for item in remarks if item.severity == "note"],
        "remarks": [item.as_json() for item in remarks],
    }


def by_kind(remarks: Iterable[Remark]) -> list[list[Remark]]:
    """The remarks without repetitions, the worst first; those of one kind and severity together.

    >>> first, second = note("order", "kept"), danger("exact", "'a' is exact", "a")
    >>> [[item.kind for item in group] for group in by_kind([first, second, first])]
    [['exact'], ['order']]
    """
    groups: dict[tuple[int, str], list[Remark]] = {}
    for item in dict.fromkeys(remarks):
        groups.setdefault((_ORDER[item.severity], item.kind), []).append(item)
    return [groups[key] for key in sorted(groups, key=lambda key: key[0])]
