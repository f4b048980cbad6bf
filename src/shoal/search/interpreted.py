"""Runs kernels in plain Python on a machine that has no machine code of them yet, as long as that is less work than to compile.

Each kernel may take so many steps, in all its calls, as compiling it is worth; then it is compiled, and what it changed in the
call that took too long is put back first. Results are the same either way (``plain_twins``), down to the types of numbers.
"""

from threading import RLock
from typing import Any

import numpy as np

from shoal.search.plain_twins import Twin, fuel, twin

#: What stands for no result: the kernel must be compiled.
COMPILE = object()

# So many steps are worth as much as compiling a byte of the kernel and of those that it calls, but no more at once than memory
# should be filled with.
_STEPS_PER_BYTE = 40
_FEWEST, _MOST = 200_000, 4_000_000
# Arrays are put aside before a call; larger ones are no tiny problem. So many bytes are copied in a step.
_LARGEST = 1 << 18
_BYTES_PER_STEP = 1_000
_DOUBLE = 8

_one_at_a_time = RLock()


class _Account:
    """The twin of a kernel, and how many steps it may still take."""

    def __init__(self, made: Twin | None) -> None:
        self.twin = made
        self.left = 0 if made is None else min(max(_FEWEST, _STEPS_PER_BYTE * made.size), _MOST)


def interpreted(kernel: Any, arguments: tuple[Any, ...]) -> Any:
    """The kernel's result for these arguments, or ``COMPILE``; then they are as they were."""
    with _one_at_a_time:
        account: _Account | None = kernel.__dict__.get("_account")
        if account is None:
            account = kernel._account = _Account(twin(kernel.py_func))
        held = _bytes(arguments)
        if account.twin is None or account.left <= 0 or held > _LARGEST:
            return COMPILE
        account.left -= 1 + held // _BYTES_PER_STEP
        return _run(account, account.twin, arguments)


def _run(account: _Account, made: Twin, arguments: tuple[Any, ...]) -> Any:
    aside: list[tuple[np.ndarray, np.ndarray]] = []
    _put_aside(arguments, aside)
    full = max(0, account.left)
    fuel[:] = bytes(full)
    try:
        with np.errstate(divide="raise", over="raise", invalid="raise", under="ignore"):
            found = _as_compiled(made.function(*arguments))
        account.left -= full - len(fuel)
        return found
    except Exception:
        # Too many steps, or something that machine code does in another way; if it fails as well, it says so itself.
        account.left = 0
        for array, before in aside:
            array[...] = before
        return COMPILE
    finally:
        fuel.clear()


def _bytes(value: Any) -> int:
    """How large arguments are; more than anything that is interpreted where the interpreter would compute otherwise."""
    if isinstance(value, tuple):
        return sum(map(_bytes, value))
    if isinstance(value, np.ndarray) and value.dtype.kind == "f" and value.itemsize != _DOUBLE:
        # Numba computes with doubles where NumPy stays with shorter numbers.
        return _LARGEST + 1
    return int(getattr(value, "nbytes", 0))


def _put_aside(value: Any, aside: list[tuple[np.ndarray, np.ndarray]]) -> None:
    if isinstance(value, tuple):
        for part in value:
            _put_aside(part, aside)
    elif isinstance(value, np.ndarray) and value.flags.writeable:
        aside.append((value, value.copy()))


def _as_compiled(value: Any) -> Any:
    """Numbers as Numba hands them out: those of Python."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, tuple):
        parts = [_as_compiled(part) for part in value]
        return tuple(parts) if type(value) is tuple else type(value)(*parts)
    return value
