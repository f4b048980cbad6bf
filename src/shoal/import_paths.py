"""Import paths like ``"package.module:name"``: how what is heavy is named without being loaded."""

from importlib import import_module
from typing import Any


def load(path: str) -> Any:
    """What an import path names.

    >>> load("shoal.errors:InputError").__name__
    'InputError'
    """
    module, _, name = path.partition(":")
    return getattr(import_module(module), name)
