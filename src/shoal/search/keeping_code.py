"""Keeps what Numba compiled as an object file that needs neither Numba nor Python: see ``kept_code``.

Of a compiled library only the kernel itself is taken, not what makes it a function of Python. Arrays it makes for itself come
from the C library, since they never leave it. A kernel that needs more than that is not kept: Numba is loaded for it.
"""

import os
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import llvmlite.binding as llvm  # type: ignore[import-untyped]
from numba.core import types as known_types

from shoal.search import kept_code

# Numba makes some of them known by other means than type checkers see.
types: Any = known_types

_FROM_C = frozenset(
    "malloc free memset memcpy memmove sqrt exp log log2 log10 pow fmod floor ceil sin cos expm1 log1p".split()  # noqa: SIM905
)
# Of so many kinds of machines a kernel is kept at once.
_MACHINES = 4
# An array that a kernel makes begins with how often it is in use; 24 bytes on stands where its values are.
_ARRAYS = """
declare ptr @malloc(i64)
declare void @free(ptr)

define ptr @NRT_MemInfo_alloc_aligned(i64 %size, i32 %align) {
  %step = zext i32 %align to i64
  %head = add i64 %step, 64
  %room = add i64 %head, %size
  %made = call ptr @malloc(i64 %room)
  %none = icmp eq ptr %made, null
  br i1 %none, label %over, label %fill
fill:
  call void @llvm.memset.p0.i64(ptr %made, i8 0, i64 64, i1 false)
  store i64 1, ptr %made
  %from = ptrtoint ptr %made to i64
  %after = add i64 %from, %head
  %last = sub i64 %after, 1
  %mask = sub i64 0, %step
  %begin = and i64 %last, %mask
  %values = inttoptr i64 %begin to ptr
  %place = getelementptr i8, ptr %made, i64 24
  store ptr %values, ptr %place
  %length = getelementptr i8, ptr %made, i64 32
  store i64 %size, ptr %length
  br label %over
over:
  ret ptr %made
}

define void @NRT_MemInfo_call_dtor(ptr %made) {
  call void @free(ptr %made)
  ret void
}

declare void @llvm.memset.p0.i64(ptr, i8, i64, i1)
"""


def keep(function: Any, compiled: Any) -> None:
    """Keep the machine code of a kernel, if it is of a kind that can be called without Numba."""
    kinds: list[str] = []
    returns = _returned(compiled.signature.return_type)
    if not all(_kind(argument, kinds) for argument in compiled.signature.args):
        return
    kind = ",".join(kinds)
    places = kept_code.places(function, kind)
    if any(path.is_file() for path in places):
        return
    if returns is None:
        _write(places, kept_code.NOTHING)
        return
    code = None
    # All of this is the inside of another package, which may change; without it things only take longer.
    with suppress(AttributeError, NameError, RuntimeError, TypeError):
        code = _cut_out(compiled, kept_code.symbol(places[0]), kept_code.expected(kind))
    _write(places, kept_code.NOTHING if code is None else returns.encode() + b"\n" + code)


def is_kept(function: Any, signature: Any) -> bool:
    """Whether code for such arguments was kept or cannot be; what would be lost if it were compiled is only time."""
    kinds: list[str] = []
    if not all(_kind(argument, kinds) for argument in getattr(signature, "args", signature)):
        return True
    places = kept_code.places(function, ",".join(kinds))
    return any(path.is_file() for path in places) or not any(
        os.access(path.parent, os.W_OK) for path in places
    )


def _cut_out(compiled: Any, name: str, expected: Sequence[str]) -> bytes | None:
    library = compiled.library
    module = llvm.parse_bitcode(library._final_module.as_bitcode())
    function = module.get_function(compiled.fndesc.llvm_func_name)
    if [str(argument.type) for argument in function.arguments] != ["ptr", "ptr", *expected]:
        return None
    module.link_in(llvm.parse_assembly(_ARRAYS))
    function = module.get_function(compiled.fndesc.llvm_func_name)
    function.name = name
    for other in module.functions:
        if not other.is_declaration and other.name != name:
            other.linkage = "internal"
    for value in module.global_variables:
        if not value.is_declaration:
            value.linkage = "internal"
    machine = library.codegen._tm
    passes = llvm.create_new_module_pass_manager()
    passes.add_global_dead_code_eliminate_pass()
    passes.run(module, llvm.create_pass_builder(machine, llvm.create_pipeline_tuning_options()))
    needed = {value.name for value in (*module.functions, *module.global_variables) if value.is_declaration}
    if not all(need in _FROM_C or need.startswith("llvm.") for need in needed):
        return None
    return bytes(machine.emit_object(module))


def _write(places: Sequence[Path], content: bytes) -> None:
    """Write to the first place that can be written to, instead of what this machine kept there before.

    Where machines of several kinds share the place, each has its own; of those that were written last a few stay.
    """
    for path in places:
        # Others may be installed where only an administrator writes.
        with suppress(OSError):
            path.parent.mkdir(parents=True, exist_ok=True)
            unfinished = path.with_suffix(f".{os.getpid()}")
            unfinished.write_bytes(content)
            whose, machine, _, _ = path.name.rsplit(".", 3)
            others = []
            for kept in path.parent.glob(f"{whose}.*.kept"):
                if kept.name.startswith(f"{whose}.{machine}."):
                    if kept != path:
                        kept.unlink(missing_ok=True)
                    continue
                with suppress(FileNotFoundError):
                    others.append((kept.stat().st_mtime_ns, kept))
            for _, stale in sorted(others)[: max(0, len(others) + 1 - _MACHINES)]:
                stale.unlink(missing_ok=True)
            unfinished.replace(path)
            return


def _kind(kind: Any, kinds: list[str]) -> bool:
    """The kind of arguments of one of Numba's types, as ``kept_code`` tells them; whether it has one."""
    if isinstance(kind, types.Array):
        kinds.append(kept_code.array_kind(str(kind.dtype), kind.ndim, kind.layout, kind.mutable))
        return kind.aligned and isinstance(kind.dtype, types.Number | types.Boolean)
    if isinstance(kind, types.BaseTuple) and len(kind):
        kinds.append(kept_code.tuple_kind(getattr(kind, "instance_class", tuple)))
        inner = all(_kind(part, kinds) for part in kind)
        kinds.append(")")
        return inner
    letter = _letter(kind)
    kinds.append(letter or "")
    return letter is not None


def _returned(kind: Any) -> str | None:
    if kind == types.none:
        return ""
    if isinstance(kind, types.Tuple | types.UniTuple):
        letters = [_letter(part) for part in kind]
        return None if None in letters else f"({''.join(letter or '' for letter in letters)})"
    return _letter(kind)


def _letter(kind: Any) -> str | None:
    return {types.int64: "i", types.float64: "f", types.boolean: "b"}.get(kind)
