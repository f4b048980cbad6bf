"""Modules, functions, parameters, classes and fields have nouns and verbs that say what they hold.

Words that fit everything are no names. What somebody types, reads by machine or has stored keeps its name, as
``public_names.json`` has it.
"""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.public_names import PATH

SOURCES = Path(__file__).parents[1] / "src" / "shoal"
WORDS = {"place", "found", "told", "telling", "asked", "given", "made", "said", "kept"}

#: Public names that are one such word or stand in parts of results, and the folders or files where they are meant.
ALONE = {
    "asked_size": ("microdata/risk/special_uniques",),
    "kept_percent": ("microdata/measures",),
    "kept": ("microdata/perturbation/promises/promise.py",),
    "made": ("microdata/measures", "runtime/evolution/statistics.py"),
    "variance_kept_percent": ("microdata/measures",),
    "place": (
        "microdata/microaggregation/leaves/result.py",
        "microdata/recoding/large_result.py",
        "tables/safety/audit.py",
    ),
}

#: Folders with such names still; a folder that is clean goes from this list, and none is added.
NOT_CLEAN: list[str] = []


def words(name: str) -> set[str]:
    """The words of a name, of a class by its capitals."""
    return set(re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name).lower().split("_"))


def names(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """What a module names: functions, parameters, classes and fields, with their lines."""
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef():
                yield node.lineno, node.name
            case ast.arg():
                yield node.lineno, node.arg
            case ast.ClassDef():
                yield node.lineno, node.name
                for item in node.body:
                    if isinstance(item, ast.AnnAssign) and isinstance(item.target, ast.Name):
                        yield item.lineno, item.target.id


def public() -> set[str]:
    """Names of more than one word that are public."""
    recorded = json.loads(PATH.read_text(encoding="utf-8"))
    return {
        part.replace("-", "_")
        for where in recorded.values()
        for name in where
        for part in re.split(r"[^\w-]+", name)
        if "_" in part or "-" in part
    }


def unclear(path: Path, known: set[str]) -> Iterator[str]:
    """The names of a module with one of the words, each with its line."""
    file = path.relative_to(SOURCES).as_posix()
    for line, name in [(1, path.stem), *names(ast.parse(path.read_text(encoding="utf-8")))]:
        meant = any(file.startswith(folder) for folder in ALONE.get(name, ()))
        if WORDS & words(name) and name not in known and not meant:
            yield f"{file}:{line}: {name}"


FOLDERS = sorted({path.parent.relative_to(SOURCES).as_posix() for path in SOURCES.rglob("*.py")})


@pytest.mark.parametrize("folder", FOLDERS)
def test_names_say_what_they_hold(folder: str) -> None:
    known = public()
    bad = [item for path in sorted((SOURCES / folder).glob("*.py")) for item in unclear(path, known)]
    if folder in NOT_CLEAN:
        assert bad, f"{folder} is clean: take it from the list"
    else:
        assert not bad, "\n".join(bad)
    if folder != ".":
        assert not WORDS & words(Path(folder).name), folder


def test_the_list_names_folders_only() -> None:
    assert set(NOT_CLEAN) <= set(FOLDERS)
    assert sorted(NOT_CLEAN) == NOT_CLEAN


def test_the_words_are_seen() -> None:
    module = "class MadeUp:\n    found: int\n    def f(self, place, *, is_kept=1): return lambda told: told\n"
    seen = {name for _, name in names(ast.parse(module)) if WORDS & words(name)}
    assert seen == {"MadeUp", "found", "place", "is_kept", "told"}
