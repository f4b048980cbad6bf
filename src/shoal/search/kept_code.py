"""Machine code of kernels as it was kept, called without Numba, which takes longer to load than many problems to solve.

What ``keeping_code`` has cut out of Numba's work is an object file for each kernel and kinds of arguments. Its name tells
what it was made of: the kernel and all it calls, the versions of the compiler and the processor. Whatever is not there, or
takes arguments of other kinds, is for Numba.
"""

import ctypes
import os
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from shoal.search import object_files
from shoal.search.kernels import OPTIONS
from shoal.search.processor import processor

# Settings of Numba that change no code; others are left to Numba.
_HARMLESS = {"NUMBA_CACHE_DIR", "NUMBA_NUM_THREADS"}
_SCALARS: Mapping[str, Any] = {"b": ctypes.c_uint8, "i": ctypes.c_int64, "f": ctypes.c_double}
_SMALLEST, _LARGEST = -(2**63), 2**63 - 1
# Flags of arrays whose values lie in one piece and may be written to.
_PLAIN = 0x1 | 0x400
# So many tuples are remembered, each with no more bytes of arrays.
_FEW, _LITTLE = 8, 1 << 20
#: What stands in the place of code that cannot be kept.
NOTHING = b"-\n"
# How kernels end: with a value, or with none.
_ENDED = (0, -2)


class Kept(NamedTuple):
    """A kernel's machine code and what it is to be called with."""

    code: "_Code"
    values: list[Any]

    def run(self) -> Any:
        """The result."""
        return self.code.run(self.values)


class Unknown(NamedTuple):
    """Of a kernel there is no machine code for these arguments yet, neither kept nor with Numba."""


def kept(kernel: Any, arguments: tuple[Any, ...]) -> Kept | Unknown | None:
    """The kernel with these arguments, if its code was kept for such; ``None`` if Numba has it, or is asked to."""
    kinds: list[str] = []
    values: list[Any] = []
    for argument in arguments:
        if not _taken_apart(argument, kinds, values):
            return None
    kind = ",".join(kinds)
    known: dict[str, _Code | Unknown | None] = kernel.__dict__.setdefault("_kept", {})
    if kind not in known:
        known[kind] = _load(kernel, kind)
    code = known[kind]
    return Kept(code, values) if isinstance(code, _Code) else code


def _load(kernel: Any, kind: str) -> "_Code | Unknown | None":
    if any(name.startswith("NUMBA_") for name in os.environ.keys() - _HARMLESS):
        return None
    for path in places(kernel, kind):
        try:
            returns, _, code = path.read_bytes().partition(b"\n")
        except OSError:
            # Not there, or another process is about to keep it anew.
            continue
        return _Code(symbol(path), code, kind, returns.decode()) if code else None
    return Unknown()


class _Code:
    """A function in machine code; what it needs besides its arguments is a place for the result."""

    def __init__(self, name: str, code: bytes, kind: str, returns: str) -> None:
        types = [_SCALARS.get(letter, ctypes.c_void_p) for letter in _letters(kind)]
        self.function = ctypes.CFUNCTYPE(ctypes.c_int32, *[ctypes.c_void_p] * 2, *types)(_address(name, code))
        letters = returns.strip("()")
        parts = [(f"part{number}", _SCALARS[letter]) for number, letter in enumerate(letters)]
        self.result: Any = type("Result", (ctypes.Structure,), {"_fields_": parts})
        self.parts = [(name, letter == "b") for (name, _), letter in zip(parts, letters, strict=True)]
        self.several = returns.startswith("(")

    def run(self, values: list[Any]) -> Any:
        """The result; whoever calls holds the arrays that the values belong to."""
        result, raised = self.result(), ctypes.c_void_p()
        status = self.function(ctypes.addressof(result), ctypes.addressof(raised), *values)
        if status not in _ENDED:
            raise AssertionError(f"a kernel ended with status {status}")
        parts = [
            bool(getattr(result, name)) if either else getattr(result, name) for name, either in self.parts
        ]
        return tuple(parts) if self.several else parts[0] if parts else None


def _taken_apart(value: Any, kinds: list[str], values: list[Any]) -> bool:
    """Note the kind of an argument and the machine's values it consists of; whether it is one that is kept for."""
    exact = type(value)
    if exact is np.ndarray:
        # A search calls kernels thousands of times with arrays of a few kinds; what they are called takes long to ask.
        known = value.dtype, value.ndim, value.flags.num
        kind = _array_kinds.get(known, "")
        if kind == "":
            kind = _array_kinds[known] = _kind_of(value)
        if kind is None:
            return False
        kinds.append(kind)
        values += (None, None, value.size, value.itemsize, _begin(value), *value.shape, *value.strides)
    elif exact is int:
        if not _SMALLEST <= value <= _LARGEST:
            return False
        kinds.append("i")
        values.append(value)
    elif exact is float:
        kinds.append("f")
        values.append(value)
    elif exact is bool or exact is np.bool_:
        kinds.append("b")
        values.append(bool(value))
    elif exact is np.int64:
        kinds.append("i")
        values.append(int(value))
    elif exact is np.float64:
        kinds.append("f")
        values.append(float(value))
    elif isinstance(value, tuple) and value:
        found = _tuples.get(id(value)) or _tuple(value)
        if found is None:
            return False
        kinds.append(found.kind)
        values += found.values
    else:
        return False
    return True


def _begin(value: np.ndarray) -> int:
    """Where the values of an array are: NumPy takes three times as long to say so."""
    if value.flags.num & _PLAIN == _PLAIN and value.size:
        return ctypes.addressof(ctypes.c_char.from_buffer(value))  # type: ignore[arg-type]
    return value.ctypes.data


class _Tuple(NamedTuple):
    """A tuple that was taken apart; as long as it is remembered it lives, so that none other can have its place."""

    whole: tuple[Any, ...]
    kind: str
    values: list[Any]


# States of a search are tuples of a dozen arrays, and the same one is given to kernels thousands of times.
_tuples: dict[int, _Tuple] = {}


def _tuple(value: tuple[Any, ...]) -> _Tuple | None:
    kinds, values = [tuple_kind(type(value))], list[Any]()
    for part in value:
        if not _taken_apart(part, kinds, values):
            return None
    found = _Tuple(value, ",".join([*kinds, ")"]), values)
    # What is remembered is not given back, so it is little; parts that are tuples are remembered with the whole.
    if _held(value) <= _LITTLE:
        if len(_tuples) >= _FEW:
            _tuples.clear()
        _tuples[id(value)] = found
    return found


def _held(value: Any) -> int:
    """How many bytes live as long as a value does; a part of an array holds all of it."""
    if isinstance(value, tuple):
        return sum(map(_held, value))
    while isinstance(value, np.ndarray) and value.base is not None:
        value = value.base
    return int(getattr(value, "nbytes", 0))


_array_kinds: dict[tuple[np.dtype[Any], int, int], str | None] = {}


def _kind_of(value: np.ndarray) -> str | None:
    """The kind of an array, if it is one that is kept for."""
    flags = value.flags
    if not (flags.aligned and value.dtype.isnative and value.dtype.kind in "biuf"):
        return None
    layout = "C" if flags.c_contiguous else "F" if flags.f_contiguous else "A"
    return array_kind(value.dtype.name, value.ndim, layout, flags.writeable)


def array_kind(name: str, dimensions: int, layout: str, writeable: bool) -> str:
    """The kind of an array."""
    return f"{name}:{dimensions}:{layout}:{'w' if writeable else 'r'}"


def tuple_kind(exact: Any) -> str:
    """How the kind of a tuple begins; it ends with a bracket."""
    return "tuple(" if exact is tuple else f"{exact.__name__}{'/'.join(exact._fields)}("


def _letters(kind: str) -> Iterator[str]:
    """One letter for each value of the machine: b, i, f, or p for a place in memory."""
    for part in kind.split(","):
        if ":" in part:
            dimensions = int(part.split(":")[1])
            yield from "ppiip" + 2 * dimensions * "i"
        elif part in _SCALARS:
            yield part


def expected(kind: str) -> list[str]:
    """The values of the machine that arguments of these kinds consist of, as LLVM calls them."""
    return [{"p": "ptr", "i": "i64", "f": "double", "b": "i8"}[letter] for letter in _letters(kind)]


@cache
def _engine() -> Any:
    """What makes object files callable, one for all: to make it takes as long as to load a kernel."""
    import llvmlite.binding as llvm  # type: ignore[import-untyped]

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    module = llvm.parse_assembly(f'target triple = "{llvm.get_process_triple()}"')
    return llvm.create_mcjit_compiler(module, llvm.Target.from_default_triple().create_target_machine())


def _address(name: str, code: bytes) -> int:
    found = object_files.address(code, name)
    if found is not None:
        return found
    import llvmlite.binding as llvm

    engine = _engine()
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return int(engine.get_function_address(name))


def places(kernel: Any, kind: str) -> list[Path]:
    """Where the code of a kernel for arguments of these kinds may be kept: beside its source, or with the user's own files."""
    code = kernel.py_func.__code__
    source = Path(code.co_filename)
    made_of = f"{compiler()}\n{digest(kernel.py_func)}\n{kind}"
    parts = (
        source.stem,
        f"{code.co_name}-{code.co_firstlineno}",
        str(sys.implementation.cache_tag),
        sha256(kind.encode()).hexdigest()[:8],
        sha256(compiler().encode()).hexdigest()[:8],
        sha256(made_of.encode()).hexdigest()[:24],
        "kept",
    )
    if chosen := os.environ.get("NUMBA_CACHE_DIR"):
        return [Path(chosen) / ".".join(parts)]
    own = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "shoal"
    beside = sha256(str(source.parent).encode()).hexdigest()[:16]
    return [folder / ".".join(parts) for folder in (source.parent / "__pycache__", own / beside)]


def symbol(path: Path) -> str:
    """The name of the function in an object file."""
    return f"kernel_{path.name.split('.')[-2]}"


@cache
def compiler() -> str:
    """What the code depends on besides its source."""
    folders = [
        Path(folder)
        for name in ("numba", "llvmlite")
        for folder in (getattr(find_spec(name), "submodule_search_locations", None) or ())
    ]
    stamps = [
        (file.parent.name, file.stat().st_size, file.stat().st_mtime_ns)
        for file in (folder / "_version.py" for folder in folders)
        if file.is_file()
    ]
    return repr((stamps, processor()))


def digest(function: Any) -> str:
    """What a kernel is made of: its code and constants, and those of all it calls."""
    lines: list[str] = []
    left, seen = [function], {function}
    while left:
        own, called = _own(left.pop())
        lines += own
        left += [other for other in dict.fromkeys(called) if other not in seen]
        seen.update(called)
    return sha256("\n".join(sorted(lines)).encode()).hexdigest()


@cache
def _own(function: Any) -> tuple[list[str], list[Any]]:
    """Lines on the code and the constants of one kernel, and the kernels it calls."""
    name = f"{function.__module__}.{function.__qualname__}"
    options = sorted(OPTIONS.get(function, {}).items())
    lines, called = [f"{name} {options} {_written(function.__code__)} {function.__defaults__}"], []
    for value in used_globals(function.__code__, function.__globals__):
        inner = getattr(value, "py_func", value)
        if isinstance(inner, FunctionType) and inner in OPTIONS:
            called.append(inner)
        elif source := getattr(value, "source", None):
            lines.append(f"{source[0]} {sha256(Path(source[1]).read_bytes()).hexdigest()}")
        elif isinstance(value, bool | int | float | str | tuple | np.generic):
            lines.append(f"{name} {value!r}")
        elif fields := getattr(value, "_fields", None):
            lines.append(f"{name} {value.__qualname__} {fields}")
    return lines, called


def used_globals(code: CodeType, names: Mapping[str, Any]) -> Iterator[Any]:
    """What a function names besides its own variables, and all that could be meant by a name of a module's."""
    for name in code.co_names:
        value = names.get(name)
        if isinstance(value, ModuleType):
            yield from (getattr(value, member, None) for member in code.co_names)
        else:
            yield value
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from used_globals(inner, names)


def _written(code: CodeType) -> str:
    constants = [_written(one) if isinstance(one, CodeType) else repr(one) for one in code.co_consts]
    return repr((code.co_code.hex(), constants, code.co_names, code.co_varnames, code.co_freevars))
