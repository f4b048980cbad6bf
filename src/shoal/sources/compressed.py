"""How much a compressed file may hold: a few bytes must not become more than the memory of a machine."""

import gzip
import zipfile
import zlib
from pathlib import Path

from shoal.errors import InputError

#: What is smaller than this when unpacked is never refused, however small it was when packed.
ALWAYS_ALLOWED = 16 << 20
#: The most that a text in ``.gz`` may hold, and how many times its own size (numbers as text shrink about 7 times).
LARGEST_TEXT, TEXT_GROWTH = 512 << 20, 25
#: The same for all parts of a workbook together (sheets of numbers shrink 5 to 20 times).
LARGEST_WORKBOOK, WORKBOOK_GROWTH = 4 << 30, 200


def read_gz(path: Path) -> bytes:
    """The content of a ``.gz`` file; an ``InputError`` if it is damaged, or larger than any honest text of its size.

    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "table.jj.gz"
    >>> _ = path.write_bytes(gzip.compress(b"0"))
    >>> read_gz(path)
    b'0'
    """
    limit = allowed(path.stat().st_size, LARGEST_TEXT, TEXT_GROWTH)
    try:
        with gzip.open(path) as file:
            content = file.read(limit + 1)
    except (EOFError, gzip.BadGzipFile, zlib.error):
        raise InputError(f"'{path.name}' is not a gzip file, or a damaged one") from None
    if len(content) > limit:
        raise _too_large(path, limit, "unpack it first if you trust it")
    return content


def check_parts(path: Path) -> None:
    """Refuse a workbook (a zip file) whose parts would unpack to more than any honest workbook of its size."""
    limit = allowed(path.stat().st_size, LARGEST_WORKBOOK, WORKBOOK_GROWTH)
    with zipfile.ZipFile(path) as archive:
        total = sum(part.file_size for part in archive.infolist())
    if total > limit:
        raise _too_large(path, limit, "save it as .csv if you trust it")


def allowed(stored: int, largest: int, growth: int) -> int:
    """The bytes that ``stored`` bytes may unpack to.

    >>> allowed(2_000_000, largest=512 << 20, growth=25)
    50000000
    """
    return min(largest, max(ALWAYS_ALLOWED, growth * stored))


def _too_large(path: Path, limit: int, advice: str) -> InputError:
    return InputError(
        f"'{path.name}' unpacks to more than {limit >> 20:,} MB, the limit for a file of its size; {advice}"
    )
