"""The records of a text file: a quick check that they are regular, and a careful reader for when they are not."""

import csv
import io

import numpy as np

from shoal.errors import InputError, parameter
from shoal.numbers import counted
from shoal.sources.encoding import Bytes

_CHUNK = 1 << 20
_QUOTE, _NEWLINE, _RETURN = 34, 10, 13


def regular(data: Bytes, separator: str, width: int) -> bool:
    """Whether every record has ``width`` fields, and quotes stand only where they are needed.

    Quick, since it works on whole blocks of bytes: a byte is inside quotes when an odd number of them precede it.
    """
    mark = ord(separator)
    inside = False
    fields = 0
    for start in range(0, len(data), _CHUNK):
        block = data[start : start + _CHUNK]
        quotes = np.flatnonzero(block == _QUOTE)
        if not _quotes_at_ends(data, start, quotes, mark, inside):
            return False
        ends = _outside(np.flatnonzero((block == mark) | (block == _NEWLINE)), quotes, inside)
        if not _returns_at_ends(data, start, _outside(np.flatnonzero(block == _RETURN), quotes, inside)):
            return False
        inside ^= bool(quotes.size & 1)
        newlines = np.flatnonzero(block[ends] == _NEWLINE)
        if newlines.size:
            counts = np.diff(newlines, prepend=-1) - 1
            counts[0] += fields
            if (counts != width - 1).any():
                return False
            fields = ends.size - 1 - int(newlines[-1])
        else:
            fields += ends.size
    complete = len(data) == 0 or data[-1] == _NEWLINE or fields == width - 1
    return complete and not inside


def _outside(positions: np.ndarray, quotes: np.ndarray, inside: bool) -> np.ndarray:
    """The positions outside quotes: those that an even number of quotes precede."""
    if not quotes.size:
        return positions[:0] if inside else positions
    return positions[(np.searchsorted(quotes, positions) + inside) & 1 == 0]


def _quotes_at_ends(data: Bytes, start: int, quotes: np.ndarray, mark: int, inside: bool) -> bool:
    """Opening quotes stand at the start of a field, closing ones at its end; a doubled quote closes and opens."""
    opening, closing = (quotes[1::2], quotes[::2]) if inside else (quotes[::2], quotes[1::2])
    before = start + opening - 1
    after = start + closing + 1
    before, after = before[before >= 0], after[after < len(data)]
    return _only(data[before], mark, _NEWLINE, _QUOTE) and _only(data[after], mark, _NEWLINE, _RETURN, _QUOTE)


def _only(data: np.ndarray, *marks: int) -> bool:
    """Whether there is nothing but these; ``np.isin`` would load masked arrays, for which nobody has asked."""
    return bool(np.logical_or.reduce([data == mark for mark in marks]).all())


def _returns_at_ends(data: Bytes, start: int, returns: np.ndarray) -> bool:
    after = start + returns + 1
    return bool((after < len(data)).all() and (data[after] == _NEWLINE).all())


def regularise(text: str, separator: str, width: int, name: str, first_line: int = 1) -> bytes:
    """The same records, written regularly; an ``InputError`` names the line of the first that cannot be.

    ``first_line`` is the number of the line in the file that the text begins with.
    """
    output = io.StringIO(newline="")
    # With this end of line, and only then, the writer puts fields that hold a carriage return in quotes.
    writer = csv.writer(output, delimiter=separator, lineterminator="\r\n")
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    line = first_line
    try:
        for row in reader:
            if width > 1 and not "".join(row).strip() and len(row) <= 1:
                pass  # an empty line
            elif len(row) > width or len(row) < width != 1:
                hint = (
                    f"; {parameter('header_row')} says which line is the header" if width < len(row) else ""
                )
                raise InputError(
                    f"line {line} of '{name}' has {counted(len(row), 'field')}, its header has {width}{hint}"
                )
            elif row:
                writer.writerow(row)
            else:
                output.write("\r\n")
            line = reader.line_num + first_line
    except csv.Error:
        raise InputError(f"line {line} of '{name}' has a quote out of place or a field without end") from None
    return output.getvalue().encode("utf-8")
