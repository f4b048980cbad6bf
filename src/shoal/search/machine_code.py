"""Kernels as Numba compiles them, never stale and announced when it takes time. Loaded with the first kernel that is called."""

import sys
from contextlib import suppress
from hashlib import sha256
from pickle import UnpicklingError
from typing import Any

from numba import njit
from numba.core import event

from shoal.search import compilation
from shoal.search.keeping_code import is_kept, keep
from shoal.search.kept_code import used_globals

# Another number has everything compiled, and so kept, again.
_KEPT = 2
# What a file of Numba's makes of itself that was cut off.
_CUT_OFF = (EOFError, UnpicklingError)


class _Announcer(event.Listener):
    def on_start(self, event: event.Event) -> None:
        compilation.begin()
        compilation.announce()

    def on_end(self, event: event.Event) -> None:
        compilation.end()


event.register("numba:compile", _Announcer())


def _load_without_linear_algebra() -> None:
    # Numba asks whether SciPy has a BLAS as soon as any kernel is loaded, which takes as long as loading a dozen kernels, and
    # no kernel here multiplies matrices. SciPy is always there; what needs its BLAS asks again before it is compiled.
    from numba.np import linalg

    asked = linalg.ensure_blas

    def not_yet() -> None:
        raise ImportError

    linalg.ensure_blas = not_yet
    try:
        from numba.np import arraymath
    finally:
        linalg.ensure_blas = asked
    arraymath.ensure_blas = asked
    arraymath._HAVE_BLAS = True


if "numba.np.arraymath" not in sys.modules:
    _load_without_linear_algebra()


def dispatcher(kernel: Any) -> Any:
    """A kernel compiled for whatever types it is called with; its globals hold no kernels but compiled ones."""
    try:
        compiled = njit(**kernel.options)(kernel.py_func)
    except RuntimeError:
        # There is no place where Numba may write: what it compiles is for this process alone.
        return njit(**kernel.options | {"cache": False})(kernel.py_func)
    return _kept(_stale_with_what_it_calls(compiled))


def _kept(dispatcher: Any) -> Any:
    cache: Any = getattr(dispatcher, "_cache", None)
    save = getattr(cache, "save_overload", None)
    if save is not None:

        def save_and_keep(signature: Any, compiled: Any) -> None:
            with compilation.compiling():
                # A disk that is full, or that nobody may write to: what was compiled is used all the same.
                with suppress(OSError):
                    try:
                        save(signature, compiled)
                    except _CUT_OFF:
                        cache._cache_file.flush()
                        save(signature, compiled)
                keep(dispatcher, compiled)

        load = cache.load_overload

        def load_what_is_kept(signature: Any, context: Any) -> Any:
            # What Numba still has may have been kept for another processor, or for other versions, only.
            if not is_kept(dispatcher, signature):
                return None
            # A file that was cut off, as on a full disk, is as good as none.
            with suppress(OSError, *_CUT_OFF):
                return load(signature, context)
            return None

        cache.save_overload = save_and_keep
        cache.load_overload = load_what_is_kept
    return dispatcher


def _stale_with_what_it_calls(dispatcher: Any) -> Any:
    # Machine code contains the kernels it calls and the constants it uses, but Numba's cache looks only at
    # the source file of the kernel itself: a change in one file would leave its callers in others as they were.
    cache_file: Any = getattr(getattr(dispatcher, "_cache", None), "_cache_file", None)
    if hasattr(cache_file, "_source_stamp"):
        function = dispatcher.py_func
        used = [repr(_stamp(value)) for value in used_globals(function.__code__, function.__globals__)]
        digest = sha256("\n".join(used).encode()).hexdigest()
        cache_file._source_stamp = (cache_file._source_stamp, digest, _KEPT)
    return dispatcher


def _stamp(value: Any) -> Any:
    if isinstance(value, bool | int | float | str | tuple):
        return value
    cache_file = getattr(getattr(value, "_cache", None), "_cache_file", None)
    return getattr(cache_file, "_source_stamp", None)
