"""Names and values as a plan, a script and commands write them, whatever signs they hold."""

import json
from collections.abc import Mapping
from typing import Any


def toml_value(value: Any) -> str:
    r"""A value as TOML writes it.

    >>> print(toml_value({"a": [1, True, 'it is "b"'], "gone": None}), toml_value("\x7f"))
    {"a" = [1, true, "it is \"b\""]} "\u007f"
    """
    if isinstance(value, Mapping):
        return (
            "{"
            + ", ".join(
                f"{toml_value(str(key))} = {toml_value(item)}"
                for key, item in value.items()
                if item is not None
            )
            + "}"
        )
    if isinstance(value, list | tuple):
        return "[" + ", ".join(toml_value(item) for item in value) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")


def comment(text: str) -> str:
    r"""A line that is a comment to its end: what a name holds cannot become a line of its own.

    >>> comment("people\nrm -r .: a table")
    '# people?rm -r .: a table'
    """
    return "# " + "".join(sign if sign.isprintable() else "?" for sign in text)
