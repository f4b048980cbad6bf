"""The options that mean the same in every command."""

from pathlib import Path
from typing import Annotated

import typer

#: How every command shows its help.
CONTEXT = {"help_option_names": ["-h", "--help"], "max_content_width": 110}

Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA", help="A file (or FILE.xlsx::SHEET), or URL::table of a database.", show_default=False
    ),
]
Json = Annotated[
    bool,
    typer.Option(
        "--json",
        help="Print one JSON object on standard output and nothing else.",
        rich_help_panel="What is told",
    ),
]
Quiet = Annotated[
    bool,
    typer.Option(
        "--quiet",
        "-q",
        help="No progress and no notes; warnings about safety stay.",
        rich_help_panel="What is told",
    ),
]
Force = Annotated[bool, typer.Option("--force", help="Replace what exists.", rich_help_panel="Files")]
Seed = Annotated[
    int,
    typer.Option(
        "--seed",
        help="Where randomness begins; the same seed gives the same result.",
        rich_help_panel="Search",
    ),
]
Threads = Annotated[
    int | None,
    typer.Option(
        "--threads", min=1, help="How many cores to use.", show_default="all", rich_help_panel="Search"
    ),
]
TimeLimit = Annotated[
    float | None,
    typer.Option(
        "--time-limit",
        metavar="SECONDS",
        help="Stop after this time with the best found.",
        show_default=False,
        rich_help_panel="Search",
    ),
]
Iterations = Annotated[
    int | None,
    typer.Option(
        "--iterations",
        min=0,
        help="Stop after this much work with the best found.",
        show_default=False,
        rich_help_panel="Search",
    ),
]
Report = Annotated[
    Path | None,
    typer.Option(
        "--report",
        metavar="FILE.html",
        help="Write a self-contained HTML report.",
        show_default=False,
        rich_help_panel="Files",
    ),
]
Separator = Annotated[
    str | None,
    typer.Option(
        "--separator",
        help="What stands between columns of a text file.",
        show_default="guessed",
        rich_help_panel="Text files",
    ),
]
Decimal = Annotated[
    str | None,
    typer.Option(
        "--decimal",
        help="The decimal mark of a text file.",
        show_default="guessed",
        rich_help_panel="Text files",
    ),
]
Encoding = Annotated[
    str | None,
    typer.Option(
        "--encoding",
        help="The encoding of a text file.",
        show_default="guessed",
        rich_help_panel="Text files",
    ),
]
HeaderRow = Annotated[
    int | None,
    typer.Option(
        "--header-row",
        metavar="N",
        min=0,
        help="Line of a text file, or row of a sheet, with the column names; 0: there are none.",
        show_default="the first, or the first below titles of a sheet",
        rich_help_panel="Text files",
    ),
]

SafeCsv = Annotated[
    bool,
    typer.Option(
        "--safe-csv",
        help="In text files, put a quote before cells a spreadsheet would run as formulas.",
        rich_help_panel="Text files",
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


def given(value: str, name: str) -> None:
    """Refuse a missing argument that only ``--method list`` does without."""
    if not value:
        from shoal.errors import InputError

        raise InputError(f"Missing argument '{name}'.")


def cores(threads: int | None) -> int:
    """The number of threads to use when none is given: the cores this process may run on."""
    from shoal.search.threads import usable_threads

    return usable_threads(threads)
