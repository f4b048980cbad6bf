"""No message on a page tells a user to type an option of the command line."""

import ast
import re
from pathlib import Path

import pytest

import shoal
from shoal.web.words import page_words

SOURCE = Path(shoal.__file__).parent
OPTION = re.compile(r"(?<!\w)--[a-z]")


def _messages() -> list[str]:
    """Every text outside the command line that names an option of it."""
    files = [
        path
        for path in SOURCE.rglob("*.py")
        if path.relative_to(SOURCE).parts[0] not in ("cli", "web", "studies")
    ]
    nodes = [node for path in files for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))]
    texts = {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    return sorted(text for text in texts if OPTION.search(text))


def test_there_are_such_messages() -> None:
    assert len(_messages()) > 5


@pytest.mark.parametrize("text", _messages())
def test_options_become_fields(text: str) -> None:
    assert not OPTION.search(page_words(text))
