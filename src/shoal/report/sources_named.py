"""Data as a report names it: a file by its SHA-256, a table of a database by that of its records."""

from pathlib import Path
from typing import TYPE_CHECKING

from shoal.report.provenance import Input, without_password
from shoal.sources.address import FileAddress
from shoal.sources.fingerprint import file_fingerprint, records_fingerprint

if TYPE_CHECKING:
    from shoal.sources.data import Data, Dialect

#: What the fingerprint of records is taken of, in words.
RECORDS = "the records, written as lines of CSV and sorted"


def named_data(data: "Data") -> Input:
    """A file or a table that was read."""
    size = {"records": data.frame.height, "columns": tuple(data.frame.columns)}
    name = str(data.address)
    if isinstance(data.address, FileAddress):
        kind = "a file" if data.address.sheet is None else "a sheet of a file"
        notes = _dialect(data.dialect)
        return Input(name, kind, sha256=file_fingerprint(data.address.path), notes=notes, **size)  # type: ignore[arg-type]
    found = records_fingerprint(data.frame)
    return Input(name, "a table of a database", sha256=found, of=RECORDS, **size)  # type: ignore[arg-type]


def named_file(path: Path) -> Input:
    """A file that is no table of records: its name and its fingerprint."""
    return Input(without_password(str(path)), sha256=file_fingerprint(path))


def _dialect(dialect: "Dialect | None") -> tuple[str, ...]:
    """How a text file was read, also where that was guessed."""
    if dialect is None:
        return ()
    signs = {"\t": "a tab", " ": "a space"}
    return (
        f"separator {signs.get(dialect.separator, repr(dialect.separator))}",
        f"decimal sign {dialect.decimal!r}",
        f"encoding {dialect.encoding}",
    )
