"""The one way to compile a kernel: cached on disk, free of the interpreter's lock, announced at first."""

from collections.abc import Callable, Iterator
from hashlib import sha256
from types import CodeType, ModuleType
from typing import Any

from numba import njit
from numba.core import event

from shoal.search import compilation


class _Announcer(event.Listener):
    def on_start(self, event: event.Event) -> None:
        compilation.announce()

    def on_end(self, event: event.Event) -> None:
        pass


event.register("numba:compile", _Announcer())


def kernel(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile a plain function on arrays; the machine code is kept for the next process.

    The function must release no object and touch nothing but its arguments. ``fastmath`` stays off unless
    asked for, since results must be the same on every machine.
    """
    options = {"cache": True, "nogil": True, **options}

    def compiled(function: Callable[..., Any]) -> Any:
        return _stale_with_what_it_calls(njit(**options)(function))

    return compiled if function is None else compiled(function)


def _stale_with_what_it_calls(dispatcher: Any) -> Any:
    # Machine code contains the kernels it calls and the constants it uses, but Numba's cache looks only at
    # the source file of the kernel itself: a change in one file would leave its callers in others as they were.
    cache_file: Any = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    if hasattr(cache_file, "_source_stamp"):
        function = dispatcher.py_func
        used = [repr(_stamp(value)) for value in _used_globals(function.__code__, function.__globals__)]
        digest = sha256("\n".join(used).encode()).hexdigest()
        cache_file._source_stamp = (cache_file._source_stamp, digest)
    return dispatcher


def _used_globals(code: CodeType, namespace: dict[str, Any]) -> Iterator[Any]:
    for name in code.co_names:
        value = namespace.get(name)
        if isinstance(value, ModuleType):
            yield from (getattr(value, member, None) for member in code.co_names)
        else:
            yield value
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _used_globals(inner, namespace)


def _stamp(value: Any) -> Any:
    if isinstance(value, bool | int | float | str | tuple):
        return value
    cache_file = getattr(getattr(value, "_cache", None), "_cache_file", None)
    return getattr(cache_file, "_source_stamp", None)
