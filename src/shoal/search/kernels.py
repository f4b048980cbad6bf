"""The one way to compile a kernel: when it is first called, cached on disk, free of the interpreter's lock, announced.

Numba itself takes longer to load than many problems take to solve, so nothing here loads it before a kernel is called, and
not even then if its machine code was kept (``kept_code``); a problem that is small enough is solved ``in_plain_python``, by
the same functions.
"""

import sys
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from functools import update_wrapper
from importlib import import_module
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from threading import RLock
from time import thread_time
from types import CodeType, ModuleType
from typing import Any

_loading = RLock()

# The options with which kernels are compiled, by their functions.
OPTIONS: dict[Callable[..., Any], dict[str, Any]] = {}

# What loading Numba and the first kernel takes, in seconds of work: for so long the interpreter is given a chance.
_WORTH = 0.4
# And what loading code that was kept takes.
_WORTH_KEPT = 0.005
# What stands for a result that it takes Numba to compute.
_NUMBA = object()
# After so many calls of a kernel loading Numba would have been quicker than calling what was kept.
_FEW_CALLS = 10_000


def instruction(path: str, plain: str | None = None) -> Any:
    """What kernels call and only machine code has, by its import path; it takes Numba to say what it does.

    ``plain`` is the import path of a function that gives the same, to the bit.
    """
    return Instruction(path, plain)


def kernel(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """Compile a plain function on arrays when it is called; the machine code is kept for the next process.

    The function must release no object and touch nothing but its arguments. ``fastmath`` stays off unless
    asked for, since results must be the same on every machine.
    """
    options = {"cache": True, "nogil": True, **options}
    return Kernel(function, options) if function is not None else lambda function: Kernel(function, options)


@contextmanager
def in_plain_python(*, where: bool = True) -> Iterator[None]:
    """Run kernels as the plain functions they are, ``where`` no call of one takes long, until loading would have been quicker.

    Only for kernels whose results are the same either way: what is loaded already is used, and threads that are started compile.
    """
    plain = where and "shoal.search.machine_code" not in sys.modules
    token = _patience.set(_Patience() if plain else None)
    try:
        # Random generators count on words that run over.
        with _words_may_run_over() if plain else nullcontext():
            yield
    finally:
        _patience.reset(token)


def _words_may_run_over() -> AbstractContextManager[None]:
    from numpy import errstate

    return errstate(over="ignore")


class _Patience:
    """How long plain Python may still take; the clock decides only how results are computed, never what they are."""

    def __init__(self) -> None:
        self.left = _WORTH
        self.inside = False

    def run(self, function: Callable[..., Any], arguments: tuple[Any, ...], named: dict[str, Any]) -> Any:
        """The result of a kernel, which may call others: they are ``inside``."""
        began, self.inside = thread_time(), True
        try:
            return function(*arguments, **named)
        finally:
            self.left -= thread_time() - began
            self.inside = False


_patience: ContextVar[_Patience | None] = ContextVar("patience", default=None)


class Instruction:
    """What stands for an instruction until the first kernel that uses it is compiled."""

    def __init__(self, path: str, plain: str | None = None) -> None:
        self.module, _, self.name = path.partition(":")
        self._plain = plain

    @property
    def source(self) -> tuple[str, str]:
        """Its name, and the file that says what it does."""
        return self.name, (find_spec(self.module) or ModuleSpec("", None, origin="")).origin or ""

    def plain(self) -> Callable[..., Any] | None:
        """The function in plain Python, if there is one."""
        if self._plain is None:
            return None
        module, _, name = self._plain.partition(":")
        found: Callable[..., Any] = getattr(import_module(module), name)
        return found

    def machine_code(self) -> Any:
        """The instruction itself."""
        made = getattr(import_module(self.module), self.name)
        made.source, made.plain = self.source, self.plain
        return made


class Kernel:
    """A function and, from its first call on, its machine code, which answers whatever else is asked."""

    def __init__(self, function: Callable[..., Any], options: dict[str, Any]) -> None:
        update_wrapper(self, function)
        self.py_func = function
        self.options = options
        self.calls = 0
        OPTIONS[function] = options

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        """The result, by machine code or in plain Python."""
        patience = _patience.get()
        # One kernel may call another a hundred thousand times.
        if patience is not None and patience.inside:
            return self.py_func(*arguments, **named)
        if patience is None or patience.left <= _WORTH - _WORTH_KEPT:
            found = self._without_numba(arguments, named, patience is None or patience.left <= 0)
            if found is not _NUMBA:
                return found
        if patience is None or patience.left <= 0:
            return self.machine_code()(*arguments, **named)
        return patience.run(self.py_func, arguments, named)

    def _without_numba(self, arguments: tuple[Any, ...], named: dict[str, Any], interpret: bool) -> Any:
        """What code that was kept makes of the arguments, or the interpreter where nothing was ever compiled."""
        if named or "_machine_code" in self.__dict__ or _all_by_numba():
            return _NUMBA
        # NumPy, which kernels are about, need not be loaded to declare them.
        from shoal.search.kept_code import Kept, kept

        with _loading:
            self.calls += 1
            # Numba takes its arguments faster than they are taken apart here, once it is loaded.
            found = kept(self, arguments) if self.calls <= _FEW_CALLS else None
        if found is None:
            return _NUMBA
        if isinstance(found, Kept):
            return _NUMBA if "shoal.search.machine_code" in sys.modules else found.run()
        if not interpret:
            return _NUMBA
        # What makes functions of sources is not needed where something was kept.
        from shoal.search.interpreted import COMPILE, interpreted

        result = interpreted(self, arguments)
        return _NUMBA if result is COMPILE else result

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self.machine_code(), name)

    def machine_code(self) -> Any:
        """What Numba makes of the function; it knows no kernels, so those that are called become machine code first."""
        made = self.__dict__.get("_machine_code")
        return self._compiled() if made is None else made

    def _compiled(self) -> Any:
        with _loading:
            if "_machine_code" not in self.__dict__:
                _needed.add("shoal.search.machine_code" not in sys.modules)
                # Numba takes its time to load.
                from shoal.search.machine_code import dispatcher

                names = self.py_func.__globals__
                for holder, name, used in list(_kernels_used(self.py_func.__code__, names)):
                    if used is not self:
                        holder[name] = used.machine_code()
                self._machine_code = dispatcher(self)
                if names.get(self.py_func.__name__) is self:
                    names[self.py_func.__name__] = self._machine_code
            return self._machine_code


# Whether Numba was loaded since a kernel needed it; ``False`` is there if somebody had loaded it before.
_needed: set[bool] = set()


def _all_by_numba() -> bool:
    """Whoever loads Numba before any kernel needs it, as to warm up, wants everything compiled."""
    return "shoal.search.machine_code" in sys.modules and True not in _needed


def _kernels_used(
    code: CodeType, names: MutableMapping[str, Any]
) -> Iterator[tuple[MutableMapping[str, Any], str, "Kernel | Instruction"]]:
    for name in code.co_names:
        value = names.get(name)
        if isinstance(value, Kernel | Instruction):
            yield names, name, value
        elif isinstance(value, ModuleType):
            for member in code.co_names:
                if isinstance(inside := vars(value).get(member), Kernel | Instruction):
                    yield vars(value), member, inside
    for inner in code.co_consts:
        if isinstance(inner, CodeType):
            yield from _kernels_used(inner, names)
