"""Warnings of a step on columns that it leaves as they are, where a later step removes them: nothing of them is released."""

import re
from collections.abc import Collection
from dataclasses import replace
from typing import Any

_COLUMNS = re.compile(r"columns? ((?:'[^']*'(?:, | and )?)+)")


def is_moot(warning: str, gone: Collection[str]) -> bool:
    """Whether a warning is about columns that are gone in the end, and about nothing else.

    >>> is_moot("column 'home' is released as it is", {"home"}), is_moot("columns 'home', 'job' are released", {"home"})
    (True, False)
    """
    named = _COLUMNS.match(warning)
    return named is not None and set(re.findall(r"'([^']*)'", named.group(1))) <= set(gone)


def without_moot(result: Any, gone: Collection[str]) -> Any:
    """A result without such warnings."""
    told = getattr(result, "warnings", ())
    left = tuple(text for text in told if not is_moot(text, gone))
    return result if len(left) == len(told) else replace(result, warnings=left)
