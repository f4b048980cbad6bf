"""How the tree is set up."""

import time
from collections.abc import Callable
from typing import Any

import pytest

from shoal.search import Budget
from shoal.tables.exact.tree import _configure

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
