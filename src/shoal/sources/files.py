"""Files of every format: which reader and writer, and their failures in one line."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import polars as pl

from shoal.errors import InputError, messages, parameter, unknown
from shoal.exact_names import exactly
from shoal.sources.address import SEVERAL_FILES, FileAddress
from shoal.sources.atomic import atomically, check_target
from shoal.sources.data import Data, Dialect, Labels, TextSigns, chosen
from shoal.sources.text import DEFAULTS, known_signs, read_text, write_text

_NOTHING_SAID = TextSigns()
_TITLES = {
    "csv": "CSV text",
    "tsv": "TSV text",
    "parquet": "Parquet",
    "arrow": "Arrow",
    "excel": "Excel",
    "spss": "SPSS",
    "stata": "Stata",
    "sas": "SAS",
}


def read_file(
    address: FileAddress,
    signs: TextSigns = _NOTHING_SAID,
    *,
    columns: Sequence[str] | None = None,
    header_row: int | None = None,
    like: Data | None = None,
    check_names: bool = True,
) -> Data:
    """Read a file of any known format; ``check_names`` looks at the first line in case it is a record."""
    path, kind = address.path, address.format
    check_readable(path)
    if header_row is not None:
        if kind not in (*DEFAULTS, "excel"):
            raise InputError(
                f"{_TITLES[kind]} files carry their column names; {parameter('header_row')} is for text and Excel"
            )
        if header_row < 0:
            raise InputError(
                f"{parameter('header_row')} counts from 1, or is 0 for none, so it cannot be {header_row}"
            )
    labels: Labels | None = None
    dialect: Dialect | None = None
    notes: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    # What a file was made from has told its names already.
    check_names = check_names and like is None
    with _one_line(path, kind):
        if kind in DEFAULTS:
            frame, dialect, notes, warnings = read_text(
                path,
                DEFAULTS[kind],
                signs,
                columns=columns,
                header_row=header_row,
                check_names=check_names,
                dates=like.dialect.dates if like is not None and like.dialect is not None else None,
            )
        elif kind in ("parquet", "arrow"):
            scan = (
                pl.scan_parquet(path, glob=False, hive_partitioning=False)
                if kind == "parquet"
                else pl.scan_ipc(path, glob=False)
            )
            names = scan.collect_schema().names()
            wanted = (
                scan
                if columns is None
                else scan.select(exactly(*chosen(columns, names, f"in '{path.name}'")))
            )
            frame = wanted.collect(engine="streaming")
        elif kind == "excel":
            from shoal.sources.workbooks import read_excel

            frame, notes, warnings = read_excel(
                path, columns, address.sheet, header_row, check_names=check_names
            )
        else:
            from shoal.sources.statistical import read_statistical

            frame, labels, notes = read_statistical(path, kind, columns=columns, encoding=signs.encoding)
    return Data(frame, address, messages(notes), labels, dialect, messages(warnings))


def write_file(
    frame: pl.DataFrame,
    address: FileAddress,
    signs: TextSigns,
    *,
    force: bool = False,
    like: Data | None = None,
) -> None:
    """Write a file of any known format, whole or not at all."""
    check_file(address, force)
    with atomically(address.path, force) as unfinished:
        write_frame(frame, unfinished, address.format, signs, like=like)


def write_frame(
    frame: pl.DataFrame,
    path: Path,
    kind: str,
    signs: TextSigns = _NOTHING_SAID,
    *,
    like: Data | None = None,
    safe: bool = False,
) -> None:
    """Write a frame into a file of a format; with ``safe`` no spreadsheet runs a cell of a text file as a formula."""
    if kind in DEFAULTS:
        write_text(frame, path, _dialect(kind, like, signs), safe=safe)
    elif kind == "parquet":
        frame.write_parquet(path)
    elif kind == "arrow":
        frame.write_ipc(path)
    elif kind == "excel":
        from shoal.sources.excel import write_excel

        write_excel(frame, path)
    else:
        from shoal.sources.statistical import write_statistical

        write_statistical(frame, path, kind, like.labels if like is not None else None)


def _dialect(kind: str, like: Data | None, signs: TextSigns) -> Dialect:
    """What the user said, else as the data came if it was the same format, else the usual."""
    dialect = DEFAULTS[kind]
    if like is not None and like.dialect is not None and isinstance(like.address, FileAddress):
        dialect = like.dialect if like.address.format == kind else dialect
    return replace(
        dialect, **{name: sign for name, sign in vars(known_signs(signs)).items() if sign is not None}
    )


def check_file(address: FileAddress, force: bool) -> None:
    """Refuse a file that cannot be written, before any work is done."""
    if address.sheet is not None:
        raise InputError(
            f"'{address.path.name}' is written whole, with one sheet; leave out ::{address.sheet}"
        )
    if address.format in ("spss", "stata", "sas"):
        from shoal.sources.statistical import check_writable_format

        check_writable_format(address.format, address.path.name)
    check_target(address.path, force)


def check_readable(path: Path) -> None:
    """Refuse what is no file that can be read, with one that may be meant."""
    try:
        if path.is_dir():
            raise InputError(f"'{path}' is a folder, not a file")
        if not path.exists() and path.suffix.lower() == ".parquet" and "*" in path.name:
            raise InputError(f"'{path.name}' is a pattern of several files; {SEVERAL_FILES}")
        if not path.exists():
            near = [other.name for other in path.parent.iterdir()] if path.parent.is_dir() else []
            place = (
                f"in folder '{path.parent}'" if path.parent.is_dir() else "there: its folder does not exist"
            )
            error = unknown("file", path.name, near, where=place)
            raise error if "did you mean" in str(error) else InputError(f"file '{path.name}' is not {place}")
        if not path.is_file():
            raise InputError(f"'{path}' is not an ordinary file")
        with path.open("rb") as file:
            if not file.read(1):
                raise InputError(f"'{path.name}' is empty")
    except (OSError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        reason = getattr(error, "strerror", None) or "its name cannot be used"
        raise InputError(f"'{path}' cannot be read: {reason.lower()}") from None


@contextmanager
def _one_line(path: Path, kind: str) -> Iterator[None]:
    """Turn whatever a reader says about a damaged file into one line; its own words may quote the content."""
    try:
        yield
    except (InputError, MemoryError, ImportError):
        raise
    except (Exception, pl.exceptions.PanicException):
        raise InputError(
            f"'{path.name}' cannot be read as {_TITLES[kind]}: it is damaged or something else"
        ) from None
