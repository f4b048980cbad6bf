"""The encoding of a text file: told by its first bytes, or guessed from all of them."""

import codecs
import re
from typing import TypeAlias

import numpy as np

from shoal.errors import InputError, parameter

Bytes: TypeAlias = "np.ndarray[tuple[int], np.dtype[np.uint8]]"

_MARKS = (
    (codecs.BOM_UTF8, "utf-8-sig"),
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_CHUNK = 1 << 22
_SEQUENCE = re.compile(rb"[\xc2-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf4][\x80-\xbf]{3}")


def known_encoding(name: str) -> str:
    """The usual name of an encoding given by the user."""
    try:
        codec = codecs.lookup(name)
        "a".encode(codec.name)
    except (LookupError, UnicodeError, ValueError, TypeError):
        raise InputError(f"encoding '{name}' is unknown; try utf-8, utf-16, latin-1 or cp1252") from None
    return codec.name


def guess_encoding(data: Bytes, name: str) -> str:
    """The encoding of a text: by its byte order mark, else UTF-8 if all of it is, else Windows-1252.

    A text of which most non-ASCII bytes form UTF-8 is taken for damaged UTF-8 and refused, since reading it as
    Windows-1252 would quietly spoil every accented letter.
    """
    start = data[:4].tobytes()
    for mark, encoding in _MARKS:
        if start.startswith(mark):
            return encoding
    zero = find(data, 0)
    if zero is not None:
        raise InputError(
            f"line {_line(data, zero)} of '{name}' holds a NUL byte: not a text file, or {parameter('encoding')} is needed"
        )
    broken = _first_broken(data)
    if broken is None:
        return "utf-8"
    whole = data.tobytes()
    high = int(np.count_nonzero(data >= 0x80))
    if 2 * sum(map(len, _SEQUENCE.findall(whole))) > high:
        raise InputError(
            f"line {_line(data, broken)} of '{name}' is broken UTF-8; {parameter('encoding')} reads it otherwise"
        )
    try:
        whole.decode("cp1252")
    except UnicodeDecodeError as error:
        raise InputError(
            f"line {_line(data, error.start)} of '{name}' is neither UTF-8 nor Windows-1252; {parameter('encoding')} is needed"
        ) from None
    return "cp1252"


def decode(data: Bytes, encoding: str, name: str) -> str:
    """The whole text; an ``InputError`` names the line that is not in the encoding."""
    whole = data.tobytes()
    try:
        text, _ = codecs.lookup(encoding).decode(whole, "strict")
    except UnicodeError as error:
        before = whole[: getattr(error, "start", 0)].decode(encoding, errors="ignore")
        raise InputError(f"line {before.count(chr(10)) + 1} of '{name}' is not {encoding}") from None
    if "\0" in text:
        raise InputError(
            f"line {text.partition(chr(0))[0].count(chr(10)) + 1} of '{name}' holds a NUL character"
        )
    # The codecs of a fixed byte order leave the mark in the text.
    return text.removeprefix("\ufeff")


def _first_broken(data: Bytes) -> int | None:
    """Where UTF-8 ends to be UTF-8, without holding the whole text."""
    decoder = codecs.getincrementaldecoder("utf-8")()
    for start in range(0, len(data), _CHUNK):
        chunk = data[start : start + _CHUNK]
        pending = len(decoder.getstate()[0])
        if not pending and not (chunk & 0x80).any():
            continue
        try:
            decoder.decode(chunk.tobytes())
        except UnicodeDecodeError as error:
            return start - pending + error.start
    pending = len(decoder.getstate()[0])
    return len(data) - pending if pending else None


def find(data: Bytes, byte: int) -> int | None:
    """Where a byte first stands."""
    for start in range(0, len(data), _CHUNK):
        found = np.flatnonzero(data[start : start + _CHUNK] == byte)
        if found.size:
            return start + int(found[0])
    return None


def _line(data: Bytes, offset: int) -> int:
    return int(np.count_nonzero(data[:offset] == 10)) + 1
