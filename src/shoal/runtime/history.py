"""The course of a search: the best value over work and time."""

import csv
import io
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Point:
    """The best value (and bound) known after this much work and time."""

    work: int
    seconds: float
    value: Any
    bound: Any = None


@dataclass(frozen=True, slots=True)
class History:
    """The points at which the best value or the bound got better, in order.

    >>> history = History((Point(0, 0.0, 9.5), Point(40, 0.2, 7.25)))
    >>> history.value_at(39), history.value_at(40)
    (9.5, 7.25)
    """

    points: tuple[Point, ...] = field(default_factory=tuple)

    def __iter__(self) -> Iterator[Point]:
        return iter(self.points)

    def __len__(self) -> int:
        return len(self.points)

    def value_at(self, work: int) -> Any:
        """The best value known after this much work; ``None`` before the first."""
        best = None
        for point in self.points:
            if point.work > work:
                break
            best = point.value
        return best

    def mapped(self, value: Callable[[Any], Any]) -> "History":
        """The same course told in other units: values and bounds where there are any.

        >>> History((Point(0, 0.0, 9.5, None),)).mapped(lambda cost: 2 * cost).points
        (Point(work=0, seconds=0.0, value=19.0, bound=None),)
        """
        return History(
            tuple(
                Point(point.work, point.seconds, _mapped(value, point.value), _mapped(value, point.bound))
                for point in self.points
            )
        )

    def to_records(self) -> list[dict[str, Any]]:
        """The points as dictionaries, ready for a frame or JSON."""
        return [
            {"work": point.work, "seconds": point.seconds, "value": point.value, "bound": point.bound}
            for point in self.points
        ]

    def to_csv(self) -> str:
        """The points as CSV text."""
        out = io.StringIO()
        writer = csv.DictWriter(out, ["work", "seconds", "value", "bound"], lineterminator="\n")
        writer.writeheader()
        writer.writerows(self.to_records())
        return out.getvalue()


def _mapped(function: Callable[[Any], Any], value: Any) -> Any:
    return None if value is None else function(value)
