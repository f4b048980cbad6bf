"""Every path that is only followed later leads somewhere: imports inside functions, registries, and lazy names."""

import ast
import re
from collections.abc import Iterator
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import pytest

import shoal

ROOT = Path(shoal.__file__).parent
PATH = re.compile(r"(shoal(?:\.\w+)+):(\w+)")
SOURCES = sorted(ROOT.rglob("*.py"))


def module_of(path: Path) -> str:
    parts = path.relative_to(ROOT.parent).with_suffix("").parts
    return ".".join(part for part in parts if part != "__init__")


def named(tree: ast.Module) -> Iterator[tuple[str, str]]:
    """Module and name of every import of ours that is ever made, and of every text that is an import path."""
    for node in followed(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.split(".")[0] == "shoal":
            yield from ((node.module, alias.name) for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found = PATH.fullmatch(node.value)
            if found:
                yield found[1], found[2]


def followed(node: ast.AST) -> Iterator[ast.AST]:
    """Everything but what only a type checker reads, which checks it itself."""
    yield node
    if not (isinstance(node, ast.If) and isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"):
        for child in ast.iter_child_nodes(node):
            yield from followed(child)


def there(module: str, name: str) -> bool:
    try:
        return hasattr(import_module(module), name) or find_spec(f"{module}.{name}") is not None
    except ModuleNotFoundError:
        return False


@pytest.mark.parametrize("path", SOURCES, ids=module_of)
def test_paths_lead_somewhere(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert [pair for pair in named(tree) if not there(*pair)] == []


def test_a_path_that_leads_nowhere_is_found() -> None:
    tree = ast.parse('def f():\n    from shoal.errors import Nothing\nPATH = "shoal.errors:nothing"')
    assert [pair for pair in named(tree) if not there(*pair)] == [
        ("shoal.errors", "Nothing"),
        ("shoal.errors", "nothing"),
    ]


@pytest.mark.parametrize("name", shoal.__all__)
def test_public_names(name: str) -> None:
    assert getattr(shoal, name) is not None
