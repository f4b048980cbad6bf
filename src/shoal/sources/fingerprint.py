"""Fingerprints of data: SHA-256 of a file as it is, or of records whose storage promises no order."""

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import polars as pl


def file_fingerprint(path: Path) -> str:
    """SHA-256 of a file, as ``sha256sum`` prints it.

    >>> import tempfile
    >>> place = Path(tempfile.mkdtemp()) / "empty.csv"
    >>> place.touch()
    >>> file_fingerprint(place)[:16]
    'e3b0c44298fc1c14'
    """
    with path.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def records_fingerprint(frame: "pl.DataFrame") -> str:
    """SHA-256 of the records as lines of CSV: the names of the columns first, then all lines in order of their bytes.

    A database gives its records in any order, so the order does not count here; that of the columns does.

    >>> import polars as pl
    >>> one, other = pl.DataFrame({"a": [1, 2]}), pl.DataFrame({"a": [2, 1]})
    >>> records_fingerprint(one) == records_fingerprint(other)
    True
    >>> records_fingerprint(one) == records_fingerprint(one.rename({"a": "b"}))
    False
    """
    import polars as pl
    import polars.selectors as cs

    plain = frame.with_columns(cs.binary().bin.encode("hex"), cs.by_dtype(pl.Null).cast(pl.String))
    digest = hashlib.sha256(plain.head(0).write_csv().encode("utf-8"))
    for line in sorted(plain.write_csv(include_header=False).encode("utf-8").splitlines(keepends=True)):
        digest.update(line)
    return digest.hexdigest()
