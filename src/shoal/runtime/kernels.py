"""The one way to compile a kernel: by Numba, when it is first called, cached on disk, free of the interpreter's lock, announced.

Numba takes longer to load than many commands run, so nothing here loads it before a kernel is called, and a problem that is
tiny is solved ``in_plain_python``, by the same functions. Numba's cache notices no change in another file, though machine
code contains the kernels it calls and the constants it uses. Therefore what is compiled lies in a folder that is named after
the sources of all kernels and the versions of what compiles them.
"""

import shutil
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cache, cached_property, update_wrapper
from hashlib import sha256
from pathlib import Path
from tempfile import TemporaryFile
from threading import RLock
from traceback import walk_tb
from typing import Any

_PACKAGE = Path(__file__).parents[1]
# By these words a module says that it has kernels.
_IMPORT = b"runtime.kernels import"
# What reads and writes machine code; a file that is cut off or damaged fails there in any way.
_CACHING = "numba.core.caching"
_lock = RLock()
_plain: ContextVar[bool] = ContextVar("plain", default=False)


def kernel(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile a plain function on arrays when it is called; the machine code is kept for the next process.

    The function must release no object and touch nothing but its arguments. ``fastmath`` stays off unless
    asked for, since results must be the same on every machine.
    """
    options = {"nogil": True, **options}
    return Kernel(function, options) if function is not None else lambda function: Kernel(function, options)


@contextmanager
def in_plain_python(*, where: bool = True) -> Iterator[None]:
    """Run kernels as the plain functions they are, ``where`` a problem is so small that this ends before Numba is loaded."""
    import numpy as np

    token = _plain.set(where)
    try:
        # Random generators count on words that run over.
        with np.errstate(over="ignore" if where else None):
            yield
    finally:
        _plain.reset(token)


class Kernel:
    """A function and, from its first call on, what Numba makes of it, which answers whatever else is wanted."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        update_wrapper(self, function)
        self.py_func = function
        self.options = options
        self._declared: tuple[Path | None, Any] | None = None

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """The result, by machine code or in plain Python."""
        if _plain.get():
            return self.py_func(*arguments, **named)
        try:
            return self.dispatcher(*arguments, **named)
        except Exception as problem:
            if not _of_cache(problem):
                raise
            # The cache cannot be used, so this process does without.
            _cache.discard()
            return self.dispatcher(*arguments, **named)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.dispatcher, name)

    @property
    def dispatcher(self) -> Any:
        """What Numba makes of the function, where machine code can be kept now."""
        if self._declared is None or self._declared[0] is not _cache.folder:
            with _lock:
                if self._declared is None or self._declared[0] is not _cache.folder:
                    self._declared = _cache.folder, _compiled(self)
        return self._declared[1]


def _of_cache(problem: BaseException) -> bool:
    """Whether it went wrong where machine code is read or written."""
    frames = (frame for frame, _ in walk_tb(problem.__traceback__))
    return any(frame.f_globals.get("__name__") == _CACHING for frame in frames)


def _compiled(kernel: Kernel) -> Any:
    from numba import config, njit

    _prepare_numba()
    folder = _cache.folder
    if folder is None:
        return njit(**kernel.options)(kernel.py_func)
    before = config.CACHE_DIR
    # Numba looks at it when a function is declared; the user's own functions are cached where they were.
    config.CACHE_DIR = str(folder)
    try:
        return njit(cache=True, **kernel.options)(kernel.py_func)
    finally:
        config.CACHE_DIR = before


@cache
def _prepare_numba() -> None:
    """Let kernels call kernels, and let compiling be announced."""
    from numba.core import event
    from numba.extending import typeof_impl

    from shoal.runtime import compilation

    typeof_impl.register(Kernel)(lambda value, context: typeof_impl(value.dispatcher, context))

    class Announcer(event.Listener):
        def on_start(self, event: event.Event) -> None:
            compilation.begin()
            compilation.announce()

        def on_end(self, event: event.Event) -> None:
            compilation.end()

    event.register("numba:compile", Announcer())


class _Cache:
    """The folder of machine code, or none where nothing can be kept."""

    @cached_property
    def folder(self) -> Path | None:
        name = f"kernels-{digest(_PACKAGE)}"
        return next((place / name for place in folders() if _writable(place / name)), None)

    def discard(self) -> None:
        """Do without in this process, and let the next one begin anew."""
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)
        self.folder = None


_cache = _Cache()


def folders() -> list[Path]:
    """Where machine code may be kept, the best folder first: where the user has Numba keep it, with the package, at home."""
    from numba import config

    wanted = [Path(config.CACHE_DIR)] if config.CACHE_DIR else []
    return [*wanted, _PACKAGE / "__pycache__", Path.home() / ".cache" / "shoal"]


def _writable(folder: Path) -> bool:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=folder):
            return True
    except OSError:
        return False


def digest(package: Path) -> str:
    """What machine code is made of, in short: the sources of all kernels, and the versions of what compiles them."""
    import numba
    import numpy as np

    whole = sha256(f"{sys.version} {numba.__version__} {np.__version__}".encode())
    for path in sorted(package.rglob("*.py")):
        source = path.read_bytes()
        if is_source_of_kernels(source):
            whole.update(source)
    return whole.hexdigest()[:16]


def is_source_of_kernels(source: bytes) -> bool:
    """Whether a file holds kernels; constants they use are in such files, too."""
    return _IMPORT in source
