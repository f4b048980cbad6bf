"""What runs elsewhere is shown by its stages, and Ctrl-C gives it up."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.cli.running import shoal

from shoal.cli.interrupts import interrupts
from shoal.errors import InputError


@pytest.fixture
def people(tmp_path: Path) -> Path:
    path = tmp_path / "people.parquet"
    pl.DataFrame({"income": [float(number) for number in range(40)]}).write_parquet(path)
    return path


def test_stages_of_another_engine_are_shown(people: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    @contextmanager
    def shown(title: str, **asked: Any) -> Iterator[Any]:
        yield lambda progress: seen.append(f"{title}: {progress.phase}")

    monkeypatch.setattr("shoal.cli.progress.shown", shown)
    told = shoal("microaggregate", people, "-k", 4, "--columns", "income", "--engine", "stream")
    assert told.code == 0, told.err
    assert [phase.partition(": ")[2] for phase in seen] == ["reading", "search", "verification"]
    assert seen[0] == "microaggregating: reading"


def test_an_error_that_comes_of_ctrl_c_is_an_interruption(
    people: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken_off(settings: Any, workplace: Any) -> None:
        interrupts.pressed = True
        raise InputError("the connection was lost")

    monkeypatch.setattr("shoal.stream.operations.run_microaggregate", broken_off)
    told = shoal("microaggregate", people, "--columns", "income", "--engine", "stream")
    assert told.code == 130 and "interrupted; nothing was written" in told.err
    assert "lost" not in told.err
