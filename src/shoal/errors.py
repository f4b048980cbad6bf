"""The errors a user meets: one type for wrong input, one for what cannot be done.

One rule holds for all that Shoal says on the way: errors, warnings, notes, progress, logs, answers of the REST interface
and the names of runs and parts. They may name columns, options, files, tables of a database, counts, shapes and types,
and say where something is: a record, a line, a row, the number of a cell or of a stratum. They never show a value of the
data, nor a category or a label made of values, nor a figure from which one follows; whoever may see the data finds it by
its number. What other libraries say may quote data, so their words are not passed on. Values stand only in the outputs
that were asked for.
"""

import os
import re
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import Any, TypeAlias

#: How a front end calls a parameter, alone or with a value.
Spell: TypeAlias = Callable[[str, str | None], str]

# A parameter inside a text, between two characters that no keyboard has.
_PARAMETER = re.compile("\ue000([a-z_]+)(?:=([^\ue001]*))?\ue001")


def parameter(name: str, value: str | None = None) -> str:
    """A parameter inside a message: each front end spells it in its own way, Python as a keyword.

    >>> print(InputError(f"name columns with {parameter('columns')}, or choose {parameter('missing', 'aside')}"))
    name columns with columns=, or choose missing='aside'
    """
    return f"\ue000{name}\ue001" if value is None else f"\ue000{name}={value}\ue001"


# What settings name by its file, functions take as it is.
KEYWORDS = {"hierarchy": "hierarchies", "sensitive_data": "sensitive", "eligible_table": "eligible"}


def as_keyword(name: str, value: str | None) -> str:
    """How Python spells a parameter."""
    name = KEYWORDS.get(name, name)
    if value is None:
        return f"{name}="
    return f"{name}={value}" if re.fullmatch(r"-?\d+(\.\d+)?", value) else f"{name}={value!r}"


def as_option(name: str, value: str | None) -> str:
    """How the command line spells it.

    >>> as_option("header_row", None), as_option("missing", "aside")
    ('--header-row', '--missing aside')
    """
    option = "--" + name.replace("_", "-")
    return option if value is None else f"{option} {value}"


def as_words(name: str, value: str | None) -> str:
    """How a report speaks of it, which is read by people who never saw the call."""
    words = name.replace("_", " ")
    return f"'{words}'" if value is None else f"'{words}: {value}'"


def as_plan_setting(name: str, value: str | None) -> str:
    """How the step of a plan spells it.

    >>> print(as_plan_setting("header_row", None), as_plan_setting("missing", "aside"), as_plan_setting("k", "5"))
    'header_row' missing = "aside" k = 5
    """
    if value is None:
        return f"'{name}'"
    plain = value in ("true", "false") or re.fullmatch(r"-?\d+(\.\d+)?", value)
    return f"{name} = {value}" if plain else f'{name} = "{value}"'


def spelled(message: object, spell: Spell) -> str:
    """A message as a front end says it; any text will do.

    >>> spelled(Message(f"{parameter('force')} replaces it"), as_option)
    '--force replaces it'
    """
    template = getattr(message, "template", None)
    text = str(message) if template is None else template
    return _PARAMETER.sub(lambda match: spell(match[1], match[2]), text)


def spelled_throughout(value: Any, spell: Spell) -> Any:
    """The same figures with every message in them as a front end says it."""
    if isinstance(value, dict):
        return {name: spelled_throughout(item, spell) for name, item in value.items()}
    if isinstance(value, list | tuple) and any(isinstance(item, str | dict | list | tuple) for item in value):
        return [spelled_throughout(item, spell) for item in value]
    return spelled(value, spell) if isinstance(value, str) else value


class Message(str):
    """A text that may name parameters: as a text it is what Python says, and other front ends spell it anew.

    >>> Message(f"sorting removes that: {parameter('order', 'sorted')}")
    "sorting removes that: order='sorted'"
    """

    template: str

    def __new__(cls, template: str) -> "Message":
        """Spell it for Python, and keep the parameters for others."""
        template = getattr(template, "template", template)
        message = super().__new__(cls, _PARAMETER.sub(lambda match: as_keyword(match[1], match[2]), template))
        message.template = template
        return message

    def __getnewargs__(self) -> tuple[str]:
        """What a copy in another process is made of."""
        return (self.template,)


def messages(texts: Iterable[str]) -> tuple[Message, ...]:
    """Several of them, as results keep them."""
    return tuple(Message(text) for text in texts)


class ShoalError(Exception):
    """Base of every error Shoal raises on purpose; ``template`` is its message with the parameters it names."""

    def __init__(self, message: str = "") -> None:
        self.template: str = getattr(message, "template", message)
        super().__init__(Message(self.template))

    def about(self, what: str) -> "ShoalError":
        """The same error with what it is about before it."""
        return type(self)(f"{what}: {self.template}")


class InputError(ShoalError, ValueError):
    """The input cannot be used; the message says what to change. Raised before any work starts."""


class Infeasible(ShoalError):
    """The input is fine, but no solution exists; the message says what is missing."""


class OutOfTime(Infeasible):
    """The input is fine, but no solution was found in the time that was given; whether there is one is not known."""


def needs_extra(what: str, extra: str) -> InputError:
    """The error for a package that is not installed. It names no distribution: the index has another project called shoal.

    >>> str(needs_extra("the workbench", "web"))
    "the workbench needs more packages: install Shoal with its extra 'web'"
    """
    return InputError(f"{what} needs more packages: install Shoal with its extra '{extra}'")


def first_record(places: Iterable[int]) -> str:
    """Where to look, in place of the value at fault: how many records there are, and which is the first.

    >>> first_record([6, 2, 8]), first_record([4])
    ('3 records (the first is record 3)', 'record 5')
    """
    numbers = sorted(int(place) + 1 for place in places)
    if len(numbers) == 1:
        return f"record {numbers[0]}"
    return f"{len(numbers):,} records (the first is record {numbers[0]})"


def unreadable(what: str, path: "str | os.PathLike[str]", error: Exception) -> InputError:
    """An error for a file that the system does not open: it is not there, is a folder, or may not be read.

    >>> print(unreadable("plan", "no-such-folder/plan.toml", FileNotFoundError()))
    the plan 'plan.toml' is not there: folder 'no-such-folder' does not exist
    """
    place = Path(path)
    if isinstance(error, IsADirectoryError):
        return InputError(f"the {what} '{place.name}' is a folder, not a file")
    if isinstance(error, FileNotFoundError):
        if not place.parent.is_dir():
            return InputError(
                f"the {what} '{place.name}' is not there: folder '{place.parent}' does not exist"
            )
        near = [item.name for item in place.parent.iterdir() if item.suffix == place.suffix]
        close = get_close_matches(place.name, near, n=1)
        return InputError(
            f"the {what} '{place.name}' is not there" + (f"; did you mean '{close[0]}'?" if close else "")
        )
    reason = getattr(error, "strerror", None)
    return InputError(f"the {what} '{place.name}' cannot be read" + (f": {reason.lower()}" if reason else ""))


def unknown(kind: str, name: str, known: Iterable[str], *, where: str = "") -> InputError:
    """An error for a name that does not exist, with the closest one that does.

    >>> print(unknown("column", "agee", ["age", "sex"], where="in the data"))
    column 'agee' is not in the data; did you mean 'age'?
    """
    names = [str(item) for item in known]
    close = get_close_matches(str(name), names, n=1, cutoff=0.5) or [
        item for item in names if item.lower() == str(name).lower()
    ]
    place = f"not {where}" if where else "unknown"
    if close:
        return InputError(f"{kind} '{name}' is {place}; did you mean '{close[0]}'?")
    shown = ", ".join(names[:12]) + (", …" if len(names) > 12 else "")
    return InputError(f"{kind} '{name}' is {place}; there are: {shown or 'none'}")
