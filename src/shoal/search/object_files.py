"""Puts machine code from an object file into memory and tells where it begins, without the compiler that made it.

The compiler is a large library, and loading it takes longer than many problems take to solve. Code that it makes for memory
of any size names every place by its whole address, so all there is to do is to lay out the sections and to fill in addresses.
Only such files of 64-bit Linux on the processors of PCs are taken; all others are for the compiler.
"""

import ctypes
import mmap
import sys
from collections.abc import Iterator
from functools import cache
from struct import Struct, error
from typing import Any, NamedTuple

_HEADER = Struct("<7s9xHHIQQQIHHHHHH")
_BEGINNING, _TO_BE_LINKED, _X86_64 = b"\x7fELF\x02\x01\x01", 1, 62
# Kinds of sections, the marks of those that are loaded and that code writes to, and the only kind of address that is filled in.
_CONTENT, _NAMED, _ADDRESSES, _LOADED, _WRITTEN_TO, _WHOLE_ADDRESS = 1, 2, 4, 2, 1, 1
_NAMES, _ADDRESS = Struct("<IBBHQQ"), Struct("<QIIq")

# Memory with code stays as long as the process.
_in_use: list[Any] = []


class _Section(NamedTuple):
    name: int
    kind: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    about: int
    alignment: int
    entry: int

    @property
    def is_loaded(self) -> bool:
        # How to unwind a call is needed by nobody: kernels raise nothing.
        return self.kind == _CONTENT and bool(self.flags & _LOADED) and self.size > 0

    def entries(self, code: bytes, kind: Struct) -> Iterator[tuple[Any, ...]]:
        return kind.iter_unpack(code[self.offset : self.offset + self.size])


_SECTION = Struct("<IIQQQQIIQQ")


class _Unknown(Exception):
    """The file has something in it that only the compiler knows how to load."""


def address(code: bytes, name: str) -> int | None:
    """Where the function begins, in memory from now on; ``None`` if this file or this machine is of another kind."""
    try:
        return _address(code, name)
    except (_Unknown, error, IndexError, ValueError, OSError):
        return None


def _address(code: bytes, name: str) -> int | None:
    if not sys.platform.startswith("linux") or not code.startswith(_BEGINNING):
        return None
    _, kind, machine, _, _, _, begin, _, _, _, _, size, count, _ = _HEADER.unpack_from(code)
    if kind != _TO_BE_LINKED or machine != _X86_64 or size != _SECTION.size:
        return None
    table = code[begin : begin + size * count]
    sections = [_Section(*values) for values in _SECTION.iter_unpack(table)]
    if any(section.is_loaded and section.flags & _WRITTEN_TO for section in sections):
        return None
    image, offsets = _laid_out(code, sections)
    memory = mmap.mmap(-1, len(image), mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    base = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    entry = _fill_in(code, sections, image, offsets, base, name)
    memory.write(image)
    if _mprotect()(base, len(image), mmap.PROT_READ | mmap.PROT_EXEC):
        return None
    _in_use.append(memory)
    return entry


def _laid_out(code: bytes, sections: list[_Section]) -> tuple[bytearray, dict[int, int]]:
    """What will be in memory, and where in it each section begins."""
    image, offsets = bytearray(), {}
    for number, section in enumerate(sections):
        if section.is_loaded:
            image += bytes(-len(image) % max(1, section.alignment))
            offsets[number] = len(image)
            image += code[section.offset : section.offset + section.size]
    image += bytes(-len(image) % mmap.PAGESIZE)
    return image, offsets


def _fill_in(
    code: bytes, sections: list[_Section], image: bytearray, offsets: dict[int, int], base: int, name: str
) -> int:
    """Fill in all addresses; that of the function."""
    entry = None
    for section in sections:
        if section.kind != _ADDRESSES or section.about not in offsets:
            continue
        symbols = list(sections[section.link].entries(code, _NAMES))
        names = sections[sections[section.link].link]
        for place, kind, number, addend in section.entries(code, _ADDRESS):
            called, _, _, where, value, _ = symbols[number]
            if kind != _WHOLE_ADDRESS:
                raise _Unknown
            if where == 0:
                meant = _of_the_c_library(_text(code, names, called))
            elif where in offsets:
                meant = base + offsets[where] + value
            else:
                raise _Unknown
            at = offsets[section.about] + place
            image[at : at + 8] = (meant + addend).to_bytes(8, "little")
    for section in sections:
        if section.kind == _NAMED:
            for called, _, _, where, value, _ in section.entries(code, _NAMES):
                if where in offsets and _text(code, sections[section.link], called) == name:
                    entry = base + offsets[where] + value
    if entry is None:
        raise _Unknown
    return entry


def _text(code: bytes, names: _Section, place: int) -> str:
    begin = names.offset + place
    return code[begin : code.index(b"\0", begin)].decode()


@cache
def _process() -> ctypes.CDLL:
    return ctypes.CDLL(None)


@cache
def _mprotect() -> Any:
    function = _process().mprotect
    function.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    return function


@cache
def _of_the_c_library(name: str) -> int:
    try:
        found = ctypes.cast(getattr(_process(), name), ctypes.c_void_p).value
    except AttributeError:
        found = None
    if not found:
        raise _Unknown
    return found
