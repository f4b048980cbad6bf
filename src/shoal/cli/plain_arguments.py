"""Commands that are said plainly, read without the library for command lines, which takes longer to load than many run.

Plain is what leaves no question: options that there are, each once and by its whole name, with a value that is none, and as
many arguments as the operation has. Whatever else was typed, help and mistakes among it, is for ``program``.
"""

import gc
import os
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

from shoal.operations import OPERATIONS
from shoal.settings import SHARE

# Numbers that mean the same to everybody and are small enough for all that is done with them.
_WHOLE = re.compile("[0-9]{1,15}", re.ASCII)
_NUMBER = re.compile(r"[0-9]{1,15}(\.[0-9]{1,15})?", re.ASCII)
# Programs ask so for what a line could go on with.
_COMPLETION = "_SHOAL_COMPLETE"
# What all commands have besides settings and products: the name, its kind, and a short option.
_COMMON: dict[str, tuple[str, str | None]] = {
    "report": ("path", None),
    "separator": ("text", None),
    "decimal": ("text", None),
    "encoding": ("text", None),
    "header_row": ("whole", None),
    "safe_csv": ("switch", None),
    "force": ("switch", None),
    "quiet": ("switch", "-q"),
    "json": ("switch", None),
}


class Plain(NamedTuple):
    """The values of all parameters of a command by their names, and which of them were said."""

    values: dict[str, Any]
    said: frozenset[str]


class _Option(NamedTuple):
    parameter: str
    kind: str


def run_plainly(given: list[str]) -> bool:
    """Run the operation that was typed; whether it was said plainly, without which nothing is done."""
    if not given or given[0] not in OPERATIONS or _COMPLETION in os.environ:
        return False
    operation = OPERATIONS[given[0]]
    found = plain(operation, given[1:])
    if found is None:
        return False
    from shoal.cli.operation import Run

    if not gc.isenabled():
        gc.freeze()
        gc.enable()
    Run(operation, found.values, given[1:], found.said).go()
    return True


def plain(operation: Any, typed: list[str]) -> Plain | None:
    """What was typed after the name of an operation, if it was said plainly."""
    # A comma at an end may be that of a list with spaces; one alone is a sign where an option asks for it.
    pairs = zip(["", *typed], typed, strict=False)
    if any(
        "," in (word[:1], word[-1:]) and (word != "," or "=" in before or not before.startswith("-"))
        for before, word in pairs
    ):
        return None
    options, found = dict(_options(operation)), dict[str, Any]()
    arguments: list[Any] = []
    words = iter(typed)
    for word in words:
        if not word.startswith("-"):
            arguments.append(word)
            continue
        name, equals, value = word.partition("=")
        option = options.get(name)
        if option is None or (equals and (option.kind == "switch" or not name.startswith("--"))):
            return None
        if option.kind != "switch" and not equals:
            value = next(words, "")
        # Whoever writes -o =x.csv, or -o=x.csv, means no file of that name; what has a short name is refused elsewhere.
        read = None if value.startswith("=") else _read(option.kind, value)
        if read is None or (option.parameter in found and option.kind != "several"):
            return None
        found[option.parameter] = [*found.get(option.parameter, []), *read]
    places = [item for item in operation.fields("command") if item.argument]
    *first, last = places or [None]
    if last is not None and _repeated(last) and not any(map(_repeated, first)):
        # The last argument takes all that are left.
        rest = arguments[len(first) :]
        arguments = [*arguments[: len(first)], *([rest] if rest else [])]
    elif any(map(_repeated, places)):
        return None
    if len(arguments) > len(places):
        return None
    found |= {item.name: [word] for item, word in zip(places, arguments, strict=False)}
    if any(item.required and item.name not in found for item in operation.fields("command")):
        return None
    kinds = {option.parameter: option.kind for option in options.values()} | {
        item.name: "text" for item in places
    }
    values = {name: False if kind == "switch" else None for name, kind in kinds.items()}
    several = {name for name, kind in kinds.items() if kind == "several"}
    values |= {name: read if name in several else read[0] for name, read in found.items()}
    return Plain(values, frozenset(found))


def _options(operation: Any) -> Iterator[tuple[str, _Option]]:
    """The options of its command by their names."""
    # Names are imported late: what an operation is loads its settings.
    from shoal.cli.operation import parameter_of

    for item in operation.fields("command"):
        if not item.argument:
            kind = item.kind if item.kind in ("switch", "whole", "number") else "text"
            kind = "share" if item.metavar == SHARE else kind
            option = _Option(item.name, "several" if _repeated(item) else kind)
            yield from ((name, option) for name in (item.option, item.short) if name)
    for item in operation.products:
        if item.has_option:
            kind = {"columns": "switch", "data": "text"}.get(item.form, "path")
            names = (item.option, *item.also, item.short)
            yield from ((name, _Option(parameter_of(item), kind)) for name in names if name)
    writes_data = any(item.form == "data" for item in operation.products)
    for parameter, (kind, short) in _COMMON.items():
        if writes_data or parameter != "safe_csv":
            names = ("--" + parameter.replace("_", "-"), short)
            yield from ((name, _Option(parameter, kind)) for name in names if name)


def _repeated(item: Any) -> bool:
    return item.spelling is not None and bool(item.spelling.repeated)


def _read(kind: str, value: str) -> list[Any] | None:
    """The value of an option, alone in a list; ``None`` if somebody else should look at it."""
    if kind == "switch":
        return [True]
    if not value or value.startswith("-"):
        return None
    if kind == "whole":
        return [int(value)] if _WHOLE.fullmatch(value) else None
    if kind == "share":
        return [value] if _NUMBER.fullmatch(value.removesuffix("%")) else None
    if kind == "number":
        return [float(value)] if _NUMBER.fullmatch(value) else None
    return [Path(value) if kind == "path" else value]
