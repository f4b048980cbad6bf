"""Where in a plan something stands, so that a message can name the line."""

import re
from collections.abc import Sequence

_TABLE = re.compile(r"\s*\[(\[)?\s*([^\]]+?)\s*\]")
_KEY = re.compile(r"""\s*("(?:[^"\\]|\\.)*"|'[^']*'|[\w-]+(?:\s*\.\s*[\w-]+)*)\s*=""")
_PART = re.compile(r""""((?:[^"\\]|\\.)*)"|'([^']*)'|([\w-]+)""")

#: Names of tables and keys, and numbers of those that come several times.
Path = tuple[str | int, ...]


def _parts(name: str) -> tuple[str, ...]:
    return tuple(next(filter(None, match.groups()), "") for match in _PART.finditer(name))


def lines_of(text: str) -> dict[Path, int]:
    r"""The line of every table and key of a TOML text, counted from 1.

    >>> lines_of("[[steps]]\ndo = 'drop'\n[[steps]]\ndo = 'recode'\nk = 5")[("steps", 1, "k")]
    5
    """
    found: dict[Path, int] = {}
    here: Path = ()
    seen: dict[tuple[str, ...], int] = {}
    for number, line in enumerate(text.splitlines(), start=1):
        table = _TABLE.match(line)
        if table:
            names = _parts(table.group(2))
            if table.group(1):
                seen[names] = seen.get(names, -1) + 1
            here = _numbered(names, seen)
            found[here] = number
            continue
        key = _KEY.match(line)
        if key:
            quoted = key.group(1)[:1] in "\"'"
            names = _parts(key.group(1)) if quoted else tuple(re.split(r"\s*\.\s*", key.group(1)))
            found.setdefault((*here, *names), number)
    return found


def _numbered(names: tuple[str, ...], seen: dict[tuple[str, ...], int]) -> Path:
    found: list[str | int] = []
    for end, name in enumerate(names, start=1):
        found.append(name)
        if names[:end] in seen:
            found.append(seen[names[:end]])
    return tuple(found)


def line_of(lines: dict[Path, int], path: Sequence[str | int]) -> int | None:
    """The line of a key, or else of the nearest table around it."""
    for end in range(len(path), 0, -1):
        if tuple(path[:end]) in lines:
            return lines[tuple(path[:end])]
    return None
