"""What an attack found."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Attack:
    """One attack on a release: its name, what the intruder knows, and how well it does in percent.

    ``targets`` people were looked for (a seeded sample where that is fewer than ``records``); ``details`` are further figures
    by name.
    """

    name: str
    title: str
    knows: str
    percent: float
    targets: int
    records: int
    details: tuple[tuple[str, Any], ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Every figure, ready for JSON.

        >>> Attack("membership", "membership", "everything", 12.5, 10, 20, (("auc", 0.56),)).to_dict()["auc"]
        0.56
        """
        return {
            "name": self.name,
            "title": self.title,
            "knows": self.knows,
            "percent": self.percent,
            "targets": self.targets,
            "sampled": self.targets < self.records,
            **dict(self.details),
        }
