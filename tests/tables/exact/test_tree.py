"""How the tree is set up."""

import time
from collections.abc import Callable
from typing import Any

import pytest

from shoal.runtime import Budget
from shoal.tables.exact.tree import _configure, _optimise

CPU, WALL = 1, 2


class Settings(dict[str, Any]):
    """In place of a model: what it was told."""

    def hideOutput(self) -> None:
        """Nothing is shown anyway."""

    def setParam(self, name: str, value: Any) -> None:
        self[name] = value


@pytest.mark.parametrize(("clock", "kind"), [(time.process_time, CPU), (time.monotonic, WALL)])
def test_seconds_of_the_tree_are_those_of_the_budget(clock: Callable[[], float], kind: int) -> None:
    """Counted on the wall, seconds of a processor shared with others are over too soon."""
    settings = Settings()
    _configure(settings, Budget(seconds=50.0, clock=clock).start())
    assert settings["timing/clocktype"] == kind
    assert 0.0 < settings["limits/time"] <= 50.0


class Model(Settings):
    """A solver that spends two seconds of its time on compiling kernels."""

    def optimize(self) -> None:
        """Run until its own time is over, which is not that of the run the first time."""
        self["runs"] = self.get("runs", 0) + 1

    def getStatus(self) -> str:
        return "timelimit" if self["runs"] < 2 else "optimal"

    def getSolvingTime(self) -> float:
        return 5.0


def test_the_tree_goes_on_when_its_time_was_spent_on_compiling() -> None:
    now = [0.0]
    run = Budget(seconds=5.0, clock=lambda: now[0]).start()
    now[0] = 3.0
    model = Model()
    _optimise(model, run)
    assert model["runs"] == 2 and model["limits/time"] == 7.0
    now[0] = 5.0
    late = Model()
    _optimise(late, run)
    assert late["runs"] == 1
