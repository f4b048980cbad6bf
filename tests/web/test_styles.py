"""Pages name no class that nothing styles: there is no compiler in the page that would make one up."""

import ast
import re
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import shoal.web.pages

PAGES = Path(shoal.web.pages.__file__).parent
# What only tells elements apart, and is read by a page or a test.
MARKS = {"shoal-bulk"}


def _texts(part: ast.AST) -> Iterator[str]:
    if isinstance(part, ast.Constant) and isinstance(part.value, str):
        yield part.value
    # What decides which of two it is, is not one of them.
    chosen = (part.body, part.orelse) if isinstance(part, ast.IfExp) else ast.iter_child_nodes(part)
    for below in chosen:
        yield from _texts(below)


def _classes(source: str) -> Iterator[str]:
    for call in ast.walk(ast.parse(source)):
        if (
            isinstance(call, ast.Call)
            and isinstance(call.func, ast.Attribute)
            and call.func.attr == "classes"
        ):
            for text in (text for argument in call.args for text in _texts(argument)):
                yield from text.split()


def _named() -> set[str]:
    return {name for path in PAGES.rglob("*.py") for name in _classes(path.read_text(encoding="utf-8"))}


def _styled(*texts: str) -> set[str]:
    return {name for text in texts for name in re.findall(r"\.(-?[a-zA-Z][\w-]*)", text)}


def test_every_class_has_a_style() -> None:
    static = files("nicegui") / "static"
    quasar = [
        (static / f"quasar.{part}.prod.css").read_text(encoding="utf-8")
        for part in ("unimportant", "important")
    ]
    ours = [path.read_text(encoding="utf-8") for path in PAGES.rglob("*.css")]
    named = _named()
    assert {"full-width", "gap-2", "items-center", "shoal-card"} <= named
    assert not named - _styled(*quasar, *ours) - MARKS


def test_what_rows_and_columns_are_told_is_told_after_nicegui() -> None:
    """NiceGUI's own rule for rows comes after Quasar's class of the same name, so these have to be ours."""
    ground = _styled((PAGES / "ground.css").read_text(encoding="utf-8"))
    told = {name for name in _named() if name.startswith(("gap-", "items-", "justify-"))}
    assert told and told <= ground
