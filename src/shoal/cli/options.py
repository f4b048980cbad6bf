"""The options that mean the same in every command."""

from pathlib import Path
from typing import Annotated, Any

import typer

#: How every command shows its help.
CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 110}
_TEXT = "Text files"


def _option(panel: str, *names: str, **about: Any) -> Any:
    """An option in a section of the help."""
    return typer.Option(*names, rich_help_panel=panel, **about)


Json = Annotated[
    bool, _option("What is told", "--json", help="Print one JSON object on standard output and nothing else.")
]
Quiet = Annotated[
    bool,
    _option("What is told", "--quiet", "-q", help="No progress and no notes; warnings about safety stay."),
]
Force = Annotated[bool, _option("Files", "--force", help="Replace what exists; never an input.")]
Seed = Annotated[
    int, _option("Search", "--seed", help="Where randomness begins; the same seed gives the same result.")
]
Threads = Annotated[
    int | None, _option("Search", "--threads", min=1, help="How many cores to use.", show_default="all")
]
Report = Annotated[
    Path | None,
    _option(
        "Files",
        "--report",
        metavar="FILE.html",
        help="Write a self-contained HTML report.",
        show_default=False,
        readable=False,
    ),
]
Separator = Annotated[
    str | None,
    _option(_TEXT, "--separator", help="What stands between columns of a text file.", show_default="guessed"),
]
Decimal = Annotated[
    str | None, _option(_TEXT, "--decimal", help="The decimal mark of a text file.", show_default="guessed")
]
Encoding = Annotated[
    str | None, _option(_TEXT, "--encoding", help="The encoding of a text file.", show_default="guessed")
]
HeaderRow = Annotated[
    int | None,
    _option(
        _TEXT,
        "--header-row",
        metavar="N",
        min=0,
        help="Line of a text file, or row of a sheet, with the column names; 0: there are none.",
        show_default="the first, or the first below titles of a sheet",
    ),
]
SafeCsv = Annotated[
    bool,
    _option(
        _TEXT,
        "--safe-csv",
        help="In text files, put a quote before cells a spreadsheet would run as formulas.",
    ),
]


def split_names(text: str | None) -> list[str]:
    """Column names from a comma-separated option.

    >>> split_names("zip, age,sex")
    ['zip', 'age', 'sex']
    """
    if not text:
        return []
    return [name.strip() for name in text.split(",") if name.strip()]


def cores(threads: int | None) -> int:
    """The number of threads to use when none is given: the cores this process may run on."""
    from shoal.runtime.threads import usable_threads

    return usable_threads(threads)
