"""Values as they are written in one line: names, groups of them, numbers by name, options."""

import json
from collections.abc import Iterable, Sequence
from typing import Any


def split_names(text: str) -> list[str]:
    """Names from a text with commas between them.

    >>> split_names("zip, age,sex")
    ['zip', 'age', 'sex']
    """
    return [name.strip() for name in text.split(",") if name.strip()]


def split_groups(text: str) -> list[list[str]]:
    """Groups of names from a text like "a,b;c,d".

    >>> split_groups("a,b; c")
    [['a', 'b'], ['c']]
    """
    groups = [group for group in map(split_names, text.split(";")) if group]
    if not groups:
        raise ValueError('needs columns, like "a,b;c,d"')
    return groups


def split_weights(text: str) -> dict[str, float]:
    """Numbers by name from a text like "a=2,b=1".

    >>> split_weights("turnover=2, staff=0.5")
    {'turnover': 2.0, 'staff': 0.5}
    """
    weights = {}
    for pair in split_names(text):
        name, _, value = pair.partition("=")
        try:
            weights[name.strip()] = float(value)
        except ValueError:
            raise ValueError(f"needs name=number, not '{pair}'") from None
    return weights


def split_options(pairs: Sequence[str]) -> dict[str, Any]:
    """Options of a method from NAME=VALUE texts; values are read as JSON where they can be.

    >>> split_options(["samples=5", "acceptance=static"])
    {'samples': 5, 'acceptance': 'static'}
    """
    options: dict[str, Any] = {}
    for pair in pairs:
        name, equals, value = pair.partition("=")
        if not equals or not name.strip():
            raise ValueError(f"needs NAME=VALUE, not '{pair}'")
        try:
            options[name.strip().replace("-", "_")] = json.loads(value)
        except (ValueError, RecursionError):
            options[name.strip().replace("-", "_")] = value
    return options


def joined_names(names: Iterable[str]) -> str:
    """Names as ``split_names`` reads them."""
    return ",".join(names)


def but_star(names: Sequence[str]) -> Sequence[str]:
    """The columns that are named; a star stands for every one of numbers."""
    return [] if list(names) == ["*"] else names


def in_groups(groups: Any) -> list[str]:
    """The columns in groups of them; a word that stands for groups names none.

    >>> in_groups([["a", "b"], ["c"]]), in_groups("auto")
    (['a', 'b', 'c'], [])
    """
    return [] if isinstance(groups, str) else [name for group in groups for name in but_star(group)]


def groups_in_words(groups: Any) -> str:
    """Groups of names as ``split_groups`` reads them; a word that stands for groups is left as it is."""
    return groups if isinstance(groups, str) else ";".join(map(joined_names, groups))
