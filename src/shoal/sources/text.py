"""Text files with separators (CSV, TSV), read by Polars once their shape is known to be sound."""

import codecs
from collections.abc import Sequence
from pathlib import Path
from typing import IO

import numpy as np
import polars as pl

from shoal.errors import InputError, unknown
from shoal.sources.data import Dialect
from shoal.sources.dialect import check_header, first_records, guess_separator, known_decimal, known_separator
from shoal.sources.encoding import Bytes, decode, guess_encoding, known_encoding
from shoal.sources.inference import infer
from shoal.sources.records import regular, regularise
from shoal.sources.spreadsheet_cells import neutralised

#: What an ending promises; anything else is said in a note.
DEFAULTS = {"csv": Dialect(), "tsv": Dialect(separator="\t")}

_SAMPLE = 1 << 17
_UTF8 = ("utf-8", "utf-8-sig", "ascii")


def read_text(
    path: Path,
    default: Dialect,
    *,
    columns: Sequence[str] | None,
    separator: str | None,
    decimal: str | None,
    encoding: str | None,
) -> tuple[pl.DataFrame, Dialect, tuple[str, ...]]:
    """The frame, how the file is written, and notes on what was guessed."""
    if separator is not None:
        separator = known_separator(separator)
    if decimal is not None:
        decimal = known_decimal(decimal)
    said_encoding = known_encoding(encoding) if encoding is not None else None
    name = path.name
    data = np.memmap(path, dtype=np.uint8, mode="r")
    real_encoding = said_encoding or guess_encoding(data, name)
    source: Path | bytes = path
    if real_encoding in _UTF8:
        if said_encoding is not None:
            _check_utf8(data, name)
        body = data[3:] if data[:3].tobytes() == codecs.BOM_UTF8 else data
    else:
        source = decode(data, real_encoding, name).encode("utf-8")
        body = np.frombuffer(source, dtype=np.uint8)
    sample = _sample(body)
    real_separator = separator or guess_separator(sample, default.separator)
    names = _header(sample, real_separator, name)
    check_header(names, name)
    if not regular(body, real_separator, len(names)):
        source = regularise(body.tobytes().decode("utf-8"), real_separator, len(names), name)
    text = pl.scan_csv(source, separator=real_separator, infer_schema=False, glob=False, new_columns=names)
    if text.collect_schema().names() != names:
        raise InputError(f"the header of '{name}' cannot be read with separator '{real_separator}'")
    chosen = _choose(names, columns, name)
    types = infer(text.select(chosen), chosen, real_separator, decimal)
    frame = text.select(chosen).with_columns(types.expressions()).collect(engine="streaming")
    dialect = Dialect(real_separator, types.decimal, real_encoding, "\r\n" if "\r\n" in sample else "\n")
    notes = _notes(dialect, default, separator, decimal, encoding)
    if types.marked:
        notes += (f"NA and the like read as missing in {_listed(types.marked)}",)
    return frame, dialect, notes


def write_text(frame: pl.DataFrame, path: Path, dialect: Dialect, *, safe: bool = False) -> None:
    """Write a frame as text; types that text cannot hold are refused.

    With ``safe`` cells that a spreadsheet would run as formulas are neutralised.
    """
    if dialect.separator == dialect.decimal:
        raise InputError(f"separator and decimal sign cannot both be '{dialect.decimal}'")
    plain = frame.with_columns(_plain(frame))
    plain = neutralised(plain) if safe else plain
    if dialect.encoding in _UTF8:
        _write_csv(plain, path, dialect, bom=dialect.encoding == "utf-8-sig")
        return
    encoder = codecs.getincrementalencoder(dialect.encoding)()
    try:
        with path.open("wb") as output:
            for position, part in enumerate(_slices(plain)):
                text = _write_csv(part, None, dialect, header=position == 0)
                output.write(encoder.encode(text or ""))
    except UnicodeEncodeError:
        raise InputError(
            f"the data hold characters that {dialect.encoding} lacks; use --encoding utf-8"
        ) from None


def _check_utf8(data: Bytes, name: str) -> None:
    if (guessed := guess_encoding(data, name)) not in _UTF8:
        raise InputError(f"'{name}' is not utf-8; it looks like {guessed}")


def _sample(body: Bytes) -> str:
    """The first lines, the last of them whole unless there is but one."""
    start = body[:_SAMPLE].tobytes()
    if len(body) > _SAMPLE and (cut := start.rfind(b"\n")) > 0:
        start = start[: cut + 1]
    return start.decode("utf-8", errors="ignore")


def _header(sample: str, separator: str, name: str) -> list[str]:
    records = first_records(sample, separator, count=1)
    if not records:
        raise InputError(f"the first line of '{name}' has a quote out of place or a field without end")
    return records[0] or [""]


def _choose(names: list[str], columns: Sequence[str] | None, name: str) -> list[str]:
    if columns is None:
        return names
    for column in columns:
        if column not in names:
            raise unknown("column", column, names, where=f"in '{name}'")
    return list(dict.fromkeys(columns))


def _notes(
    dialect: Dialect, default: Dialect, separator: str | None, decimal: str | None, encoding: str | None
) -> tuple[str, ...]:
    notes = []
    if separator is None and dialect.separator != default.separator:
        shown = "tab" if dialect.separator == "\t" else f"'{dialect.separator}'"
        notes.append(f"separator {shown} (guessed)")
    if decimal is None and dialect.decimal != default.decimal:
        notes.append("decimal comma (guessed)")
    if encoding is None and dialect.encoding != default.encoding:
        notes.append(f"encoding {dialect.encoding} (guessed)")
    return tuple(notes)


def _listed(names: Sequence[str]) -> str:
    shown = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
    return f"column{'s' if len(names) > 1 else ''} {shown}"


def _plain(frame: pl.DataFrame) -> list[pl.Expr]:
    """Dates and times as the reader knows them again; an ``InputError`` for what text cannot hold."""
    changes = []
    for name, dtype in frame.schema.items():
        if dtype.is_nested() or dtype in (pl.Binary, pl.Object):
            raise InputError(f"column '{name}' holds {dtype}, which a text file cannot")
        if dtype == pl.String and frame[name].str.contains("\0", literal=True).any():
            raise InputError(f"column '{name}' holds NUL characters, which a text file cannot")
        if isinstance(dtype, pl.Datetime):
            fraction = (frame[name].dt.nanosecond() != 0).any()
            form = "%Y-%m-%dT%H:%M:%S" + ("%.6f" if fraction else "") + ("%:z" if dtype.time_zone else "")
            changes.append(pl.col(name).dt.to_string(form))
    return changes


def _write_csv(
    frame: pl.DataFrame,
    file: Path | IO[bytes] | None,
    dialect: Dialect,
    *,
    header: bool = True,
    bom: bool = False,
) -> str | None:
    return frame.write_csv(
        file,
        include_bom=bom,
        include_header=header,
        separator=dialect.separator,
        decimal_comma=dialect.decimal == ",",
        line_terminator=dialect.newline,
    )


def _slices(frame: pl.DataFrame, rows: int = 50_000) -> "list[pl.DataFrame]":
    return list(frame.iter_slices(rows)) if frame.height else [frame]
