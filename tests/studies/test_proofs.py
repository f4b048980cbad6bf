"""No study says that something is proved, or that a claim holds, unless a run stands behind it."""

import ast
from dataclasses import replace
from pathlib import Path

import pytest

import shoal.studies
from shoal.studies import Scope, rooms, screening

FOLDER = Path(shoal.studies.__file__).parent

# The one module that may write the word.
MAY_SAY = {"proved": "claims.py", "not proved": "claims.py"}


@pytest.mark.parametrize("path", sorted(FOLDER.rglob("*.py")), ids=lambda path: str(path.relative_to(FOLDER)))
def test_no_study_writes_that_something_is_proved(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            words = node.value.strip(" ;,.")
            assert words not in MAY_SAY or path.name == MAY_SAY[words], f"{path.name}:{node.lineno}"


def _unproved(function):
    """The same plans, none of them proved."""

    def changed(*arguments, **keywords):
        plan = function(*arguments, **keywords)
        return replace(plan, assignment=replace(plan.assignment, optimal=False))

    return changed


def test_the_best_rooms_are_called_proved_by_their_plans_alone(monkeypatch) -> None:
    monkeypatch.setattr(rooms, "LARGE", (10,))
    notes = [row.note for row in rooms._best(Scope(quick=True)) if row.case in ("t1", "t2", "t3")]
    assert all(note.startswith("proved") for note in notes)
    monkeypatch.setattr(rooms, "assign_sizes", _unproved(rooms.assign_sizes))
    notes = [row.note for row in rooms._best(Scope(quick=True)) if row.case in ("t1", "t2", "t3")]
    assert all(note.startswith("not proved") for note in notes)


def test_the_worked_example_is_called_proved_by_its_plan_alone(monkeypatch) -> None:
    (best,) = [row for row in screening._example(Scope()) if row.case == "optimal"]
    assert best.note == "proved"
    monkeypatch.setattr(screening, "assign_sizes", _unproved(screening.assign_sizes))
    (best,) = [row for row in screening._example(Scope()) if row.case == "optimal"]
    assert best.note == "not proved"
