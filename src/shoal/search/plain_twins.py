"""Twins of kernels in plain Python, which give what the machine code gives, to the bit, or end.

A twin is made of the kernel's source. It counts its steps, and ends where they are too many. What NumPy and Numba compute in
different ways is computed as Numba does it; where that is not known, there is no twin, or it ends. Numbers that run over or
cannot be divided are for the machine code, too: only words of 64 bits, of which random generators and hashes consist, may do so.
"""

import ast
import math
from collections.abc import Callable
from copy import deepcopy
from functools import cache, wraps
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any, NamedTuple

import numpy as np

from shoal.search.kernels import OPTIONS, Kernel

_WORD = 2**63
# What NumPy and Numba do alike.
_ALIKE = frozenset(
    "ndarray int64 int32 int8 uint8 uint64 bool_ float64 inf nan zeros empty ones full arange empty_like eye sqrt ceil floor "  # noqa: SIM905
    "searchsorted flatnonzero cumsum minimum maximum argmax argmin sort abs diff iinfo".split()
)
_ALIKE_IN_MATH = frozenset("exp expm1 log sqrt floor ceil inf nan".split())  # noqa: SIM905
# Of numbers NumPy may compute them by instructions of its own, Numba does by the C library, as Python does.
_BY_C = {"exp": math.exp, "log": math.log, "cos": math.cos}
_UNKNOWN = (
    ast.Invert,
    ast.MatMult,
    ast.Try,
    ast.With,
    ast.Lambda,
    ast.ListComp,
    ast.SetComp,
    ast.DictComp,
    ast.GeneratorExp,
    ast.Yield,
    ast.Nonlocal,
    ast.Global,
    ast.ClassDef,
    ast.AsyncFunctionDef,
)


class Unlike(Exception):
    """What a kernel would do in plain Python may not be what its machine code does."""


class Twin(NamedTuple):
    """A kernel in plain Python, and how much there is to compile of it."""

    function: Callable[..., Any]
    size: int


#: What steps are paid with, a byte each: whoever runs a twin fills it, alone.
fuel = bytearray()


def twin(function: FunctionType) -> Twin | None:
    """The twin of a kernel's function, if it can have one."""
    try:
        return _twin(function, frozenset())
    except (Unlike, OSError, SyntaxError, UnicodeDecodeError):
        return None


@cache
def _made(function: FunctionType) -> Twin:
    return _twin(function, frozenset())


def _twin(function: FunctionType, within: frozenset[FunctionType]) -> Twin:
    if function in within:
        raise Unlike
    written = _source(function)
    names = dict(function.__globals__)
    size = len(function.__code__.co_code)
    own = _Own(function)
    changed = ast.fix_missing_locations(own.visit(written))
    for name, value in own.used.items():
        made = _plain(value, within | {function})
        names[name] = made.function
        size += made.size
    names |= _STANDING_IN
    exec(compile(ast.Module([changed], []), function.__code__.co_filename, "exec"), names)
    found: Callable[..., Any] = names[function.__name__]
    found.__defaults__ = function.__defaults__
    return Twin(_running_over(found) if "uint64" in function.__code__.co_names else found, size)


def _plain(value: Any, within: frozenset[FunctionType]) -> Twin:
    if _is_instruction(value):
        found = value.plain()
        if found is None:
            raise Unlike
        return Twin(found, 0)
    inner = value.py_func
    return _twin(inner, within) if inner in within else _made(inner)


def _running_over(function: Callable[..., Any]) -> Callable[..., Any]:
    """Words of random generators and hashes run over."""

    @wraps(function)
    def over(*arguments: Any, **named: Any) -> Any:
        with np.errstate(over="ignore"):
            return function(*arguments, **named)

    return over


def _source(function: FunctionType) -> ast.FunctionDef:
    """What was written; ``Unlike`` if it is not what was loaded."""
    code = function.__code__
    for one, compiled in _functions(Path(code.co_filename)):
        if compiled == code:
            bare = deepcopy(one)
            bare.decorator_list = []
            return bare
    raise Unlike


@cache
def _functions(path: Path) -> list[tuple[ast.FunctionDef, CodeType]]:
    """All that a file says on its functions, and what it comes to."""
    tree = ast.parse(path.read_text("utf-8"))
    compiled = compile(tree, str(path), "exec", dont_inherit=True).co_consts
    codes = {(code.co_name, code.co_firstlineno): code for code in compiled if isinstance(code, CodeType)}
    found = []
    for one in tree.body:
        if isinstance(one, ast.FunctionDef):
            first = min([one.lineno, *(decorator.lineno for decorator in one.decorator_list)])
            if code := codes.get((one.name, first)):
                found.append((one, code))
    return found


class _Own(ast.NodeTransformer):
    """Rewrites a function; kernels that it calls are ``used``, under their names in the twin."""

    def __init__(self, function: FunctionType) -> None:
        self.names = function.__globals__
        self.local = {*function.__code__.co_varnames, *function.__code__.co_cellvars}
        self.used: dict[str, Any] = {}

    def visit(self, node: ast.AST) -> Any:
        if isinstance(node, _UNKNOWN):
            raise Unlike
        return super().visit(node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.returns = None
        for argument in node.args.args:
            argument.annotation = None
        if node.args.kwonlyargs or node.args.vararg or node.args.kwarg or node.args.posonlyargs:
            raise Unlike
        node.args.defaults = []
        self.generic_visit(node)
        node.body.insert(0, _step())
        return node

    def visit_For(self, node: ast.For) -> ast.AST:
        self.generic_visit(node)
        node.body.insert(0, _step())
        return node

    def visit_While(self, node: ast.While) -> ast.AST:
        self.generic_visit(node)
        node.body.insert(0, _step())
        return node

    def visit_Name(self, node: ast.Name) -> ast.AST:
        if node.id not in self.local:
            value = self.names.get(node.id)
            if _is_kernel(value):
                return ast.Name(self._use(value), node.ctx)
            if isinstance(value, ModuleType):
                # Only members of some are known, and those do not come here.
                raise Unlike
        return node

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        base = self.names.get(node.value.id) if isinstance(node.value, ast.Name) else None
        if not isinstance(base, ModuleType) or node.value.id in self.local:  # type: ignore[attr-defined]
            self.generic_visit(node)
            return node
        member = getattr(base, node.attr, None)
        if _is_kernel(member):
            return ast.Name(self._use(member), node.ctx)
        if base is np and node.attr in ("argsort", *_BY_C):
            return ast.Name(f"_twin_{node.attr}", node.ctx)
        if (base is np and node.attr in _ALIKE) or (base is math and node.attr in _ALIKE_IN_MATH):
            return node
        if isinstance(member, bool | int | float | str | type) and base is not np:
            return node
        raise Unlike

    def visit_Call(self, node: ast.Call) -> ast.AST:
        called = node.func
        if isinstance(called, ast.Attribute) and called.attr in (
            "sum",
            "mean",
            "argsort",
            "std",
            "var",
            "dot",
        ):
            if isinstance(called.value, ast.Name) and isinstance(self.names.get(called.value.id), ModuleType):
                self.generic_visit(node)
                return node
            if called.attr != "sum" or node.args or node.keywords:
                raise Unlike
            return ast.Call(ast.Name("_twin_sum", ast.Load()), [self.visit(called.value)], [])
        self.generic_visit(node)
        return node

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        if not isinstance(node.op, (ast.Pow, ast.LShift)):
            return node
        name = "_twin_power" if isinstance(node.op, ast.Pow) else "_twin_shifted"
        return ast.Call(ast.Name(name, ast.Load()), [node.left, node.right], [])

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.AST:
        if isinstance(node.op, (ast.Pow, ast.LShift)):
            raise Unlike
        self.generic_visit(node)
        return node

    def _use(self, value: Any) -> str:
        inner = getattr(value, "py_func", None)
        whole = value.source[0] if inner is None else f"{inner.__module__}.{inner.__name__}"
        name = f"_twin_of_{whole.replace('.', '_')}"
        self.used[name] = value
        return name


def _step() -> ast.stmt:
    return ast.Expr(ast.Call(ast.Name("_twin_step", ast.Load()), [], []))


def _is_kernel(value: Any) -> bool:
    return _is_instruction(value) or getattr(value, "py_func", None) in OPTIONS


def _is_instruction(value: Any) -> bool:
    """Numba's own stands in its place when it was loaded; kernels are not asked, since they would load it to answer."""
    return not isinstance(value, Kernel) and hasattr(value, "plain") and hasattr(value, "source")


def _sum(values: np.ndarray) -> Any:
    """One after the other."""
    if values.dtype.kind in "biu":
        return values.sum()
    if values.dtype != np.float64:
        raise Unlike
    return 0.0 + np.add.accumulate(values.ravel())[-1] if values.size else 0.0


def _argsort(values: np.ndarray, kind: str = "quicksort") -> np.ndarray:
    order = np.argsort(values, kind="stable")
    # The order of equal values is that of the machine code's own way to sort.
    if kind != "mergesort" and not (np.diff(values[order]) > 0).all():
        raise Unlike
    return order


def _power(base: Any, exponent: Any) -> Any:
    whole = (int, np.integer)
    if isinstance(base, whole) and isinstance(exponent, whole) and exponent >= 0:
        found = int(base) ** int(exponent)
        if not -_WORD <= found < _WORD:
            raise Unlike
        return found
    if isinstance(base, float) and exponent == 2 and isinstance(exponent, int):
        return base * base
    if isinstance(base, float) and isinstance(exponent, float):
        return math.pow(base, exponent)
    raise Unlike


def _shifted(word: Any, left: Any) -> Any:
    found = word << left
    # Bits that leave a word get lost without a sound: those of short words only here, those of others only in machine code.
    if isinstance(found, int):
        if not -_WORD <= found < _WORD:
            raise Unlike
    elif found.dtype not in (np.int64, np.uint64):
        raise Unlike
    return found


def _of_numbers(function: Callable[[float], float]) -> Callable[[Any], float]:
    def of_number(value: Any) -> float:
        if not isinstance(value, (int, float, np.integer)):
            raise Unlike
        return function(float(value))

    return of_number


_STANDING_IN: dict[str, Any] = {
    # Nothing that is written in C is quicker; it fails when there is no more.
    "_twin_step": fuel.pop,
    "_twin_sum": _sum,
    "_twin_argsort": _argsort,
    "_twin_power": _power,
    "_twin_shifted": _shifted,
    **{f"_twin_{name}": _of_numbers(function) for name, function in _BY_C.items()},
}
