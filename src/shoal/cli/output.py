"""What a command prints: JSON alone on standard output, or text; remarks and progress on standard error."""

import json
import os
import re
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from shoal.cli.interrupts import interrupts
from shoal.errors import as_option, spelled, spelled_throughout

if TYPE_CHECKING:
    from rich.console import Console

    from shoal.sources import Data, Output


def emit(payload: dict[str, Any], text: Callable[[], None], *, as_json: bool) -> None:
    """Print the result: the payload as one JSON object, or whatever ``text`` prints."""
    line = None
    if as_json:
        payload = spelled_throughout(payload, as_option)
        line = json.dumps(payload, ensure_ascii=False, allow_nan=False, default=_plain) + "\n"
        interrupts.reported = True
    try:
        if line is None:
            text()
        else:
            sys.stdout.write(line)
        sys.stdout.flush()
    except BrokenPipeError:
        # The reader of a pipe went away (shoal … | head); whether the result is good is told by the exit code all the same.
        discard()


def discard() -> None:
    """Let what is still to be printed go nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _plain(value: Any) -> Any:
    # NumPy scalars and arrays become plain numbers and lists.
    if hasattr(value, "tolist"):
        return value.tolist()
    if hasattr(value, "__fspath__"):
        return str(value)
    raise TypeError(f"{type(value).__name__} cannot be written as JSON")


# What a terminal obeys instead of showing it, or shows in another order than it stands: names come from files.
_OBEYED = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def harmless(text: str) -> str:
    r"""A text that a terminal only shows, with parameters as options: other characters than that stand as their escapes.

    >>> print(harmless("column 'red\x1b[31m'"))
    column 'red\x1b[31m'
    """
    return _OBEYED.sub(
        lambda match: match.group().encode("unicode_escape").decode(), spelled(text, as_option)
    )


def remark(text: str, *, quiet: bool = False) -> None:
    """A one-line remark on standard error; ``--quiet`` and ``--json`` do without it."""
    if not quiet:
        sys.stderr.write(harmless(" ".join(text.splitlines()).rstrip()) + "\n")
        sys.stderr.flush()


def notes(texts: Iterable[str], *, quiet: bool) -> None:
    """What may be worth knowing, a line each: remarks, which ``--quiet`` silences."""
    for text in texts:
        remark(f"note: {text}", quiet=quiet)


def warn(texts: Iterable[str]) -> None:
    """Warnings about safety, a line each on standard error: always, whatever ``--quiet`` or ``--json`` say."""
    for text in texts:
        remark(f"warning: {text}")


def reading(source: "Data", *, quiet: bool, name: str | None = None) -> None:
    """What the reader warns of and remarks, before anything else is printed; ``name`` says of which file of several."""
    before = "" if name is None else f"{name}: "
    warn(before + spelled(text, as_option) for text in source.warnings)
    notes((before + spelled(text, as_option) for text in source.notes), quiet=quiet)


def unwritten(outputs: Iterable["Output"], result: str, parameter: str = "-o") -> str | None:
    """What to say before a long search whose ``result`` will not be kept, and again after it; ``None`` if it will."""
    named = [output.parameter for output in outputs]
    if parameter in named:
        return None
    if not named:
        return f"nothing will be written: {parameter} names a place for {result}"
    return f"only {' and '.join(named)} will be written: {parameter} names a place for {result}"


def console() -> "Console":
    """The console for text results."""
    from rich.console import Console

    class Plain(Console):
        def on_broken_pipe(self) -> None:
            # ``main`` knows what to do; Rich would leave with an error.
            raise BrokenPipeError

    # Piped output is for other programs and for reading later: it must not be cut at 80 columns.
    width = None if sys.stdout.isatty() else 110
    return Plain(file=sys.stdout, highlight=False, soft_wrap=False, width=width)


def facts(pairs: Iterable[tuple[str, Any]]) -> None:
    """Print names and values in two columns."""
    from rich.table import Table
    from rich.text import Text

    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold")
    table.add_column()
    for name, value in pairs:
        table.add_row(Text(harmless(name)), Text(harmless(str(value))))
    console().print(table)


def rows(header: Sequence[str], body: Iterable[Sequence[Any]], *, title: str | None = None) -> None:
    """Print a table; numbers are aligned to the right.

    Whole numbers are counts and get separators of thousands; values of the data (postcodes, years, codes) come as text.
    """
    from rich import box
    from rich.table import Table
    from rich.text import Text

    body = [list(row) for row in body]
    table = Table(
        title=title and Text(harmless(title)),
        title_justify="left",
        title_style="bold",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
    )
    for place, name in enumerate(header):
        numeric = (
            all(isinstance(row[place], int | float) or row[place] in ("", None) for row in body) and body
        )
        table.add_column(Text(harmless(name)), justify="right" if numeric else "left")
    for row in body:
        table.add_row(*[Text(_cell(value)) for value in row])
    console().print(table)


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}"
    if isinstance(value, float):
        # Means of years and codes are among these: 1995.3, not 1,995.3.
        return f"{value:.4g}" if abs(value) < 1000 else f"{value:.1f}"
    return harmless(str(value))
