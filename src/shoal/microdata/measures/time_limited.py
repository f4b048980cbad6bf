"""Measures one after another as long as there is time: what there was none for is named, and judges nothing."""

from collections.abc import Callable, Sequence
from typing import TypeVar

from shoal.remarks import Remark, warning
from shoal.runtime.budget import Run, StopReason, TimeIsOver

Measure = TypeVar("Measure")


class TimeLimit:
    """Measures while the time of its run lasts, and keeps the names of what was not done.

    >>> from shoal.runtime.budget import Budget
    >>> times = iter([0.0, 1.0, 3.0, 3.0, 3.0, 3.0])
    >>> left = TimeLimit(Budget(seconds=2.0, clock=lambda: next(times)).start())
    >>> left.measured("one", lambda: 1), left.measured("two", lambda: 2), left.missed
    (1, None, ['two'])
    """

    def __init__(self, run: Run) -> None:
        self.run = run
        self.missed: list[str] = []

    def measured(self, name: str, measure: Callable[[], Measure]) -> Measure | None:
        """What a measure finds; ``None`` if there is no time, or if it is over before the end."""
        try:
            self.run.look()
            self.run.report(phase=name)
            return measure()
        except TimeIsOver:
            self.missed.append(name)
            return None

    @property
    def stopped_by(self) -> StopReason | None:
        """Why something is missing, if it is."""
        return self.run.closing()["stopped_by"] if self.missed else None


def remarks_on_time(missed: Sequence[str], stopped_by: StopReason | None) -> list[Remark]:
    """What is missing since the time was over, or somebody ended it."""
    why = "it was stopped before" if stopped_by == StopReason.INTERRUPT else "the time was over before"
    return [warning("not-measured", f"not measured: {what}; {why}") for what in missed]
