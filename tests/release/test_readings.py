"""A release opens each file and builds each table once, and so does the check of its files, on its own."""

from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.release.firms import turnover
from tests.release.plans import survey

import shoal
import shoal.sources
from shoal.tables import table_to_protect


def recode_and_average(folder: Path) -> Path:
    survey(folder)
    return folder / "plan.toml"


@pytest.mark.parametrize("plan", [recode_and_average, turnover])
def test_each_file_is_opened_once_and_each_table_built_once(
    plan: Callable[[Path], Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = plan(tmp_path)
    opened: Counter[tuple[bool, str]] = Counter()
    built: Counter[tuple[bool, str]] = Counter()
    checking = False

    def watch(count: Counter[tuple[bool, str]], name: Callable[..., str], do: Callable[..., Any]) -> Any:
        def counted(*args: Any, **named: Any) -> Any:
            count[checking, name(*args)] += 1
            return do(*args, **named)

        return counted

    def say(text: str) -> None:
        nonlocal checking
        checking = checking or text == "checking the release"

    monkeypatch.setattr(shoal.sources, "read", watch(opened, str, shoal.sources.read))
    build = watch(built, lambda settings, *rest: type(settings).__name__, table_to_protect.table_to_protect)
    monkeypatch.setattr(table_to_protect, "table_to_protect", build)
    shoal.release(path, tmp_path / "out", say=say)
    assert {item for item, times in opened.items() if times > 1} == set()
    assert {item for item, times in built.items() if times > 1} == set()
    assert {again for again, _ in opened} == {False, True}
