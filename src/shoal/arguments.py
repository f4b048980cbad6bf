"""What Python callers pass by mistake: one text where a list of texts is meant, a list where a text is, "no" for False.

A result that goes through here remembers the call in words, so that its report can name it.
"""

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from difflib import get_close_matches
from functools import wraps
from types import UnionType
from typing import Any, Literal, TypeVar, Union, Unpack, get_args, get_origin

from shoal.errors import InputError, parameter
from shoal.report.glance import Glance
from shoal.report.python_call import described

_LISTS = (Sequence, Iterable)

Function = TypeVar("Function", bound=Callable[..., Any])


def checked(function: Function) -> Function:
    """Refuse arguments of another kind than the signature says, by their names, and take one text for a list of one.

    Numbers and frames have checks of their own.

    >>> @checked
    ... def wide(columns: Sequence[str], exact: bool = False) -> int:
    ...     return len(columns)
    >>> wide("age")
    1
    >>> wide(["age"], exact="no")
    Traceback (most recent call last):
        ...
    shoal.errors.InputError: exact= must be True or False, not str
    """
    signature = with_keywords(function)
    kinds = {name: _kinds(item.annotation) for name, item in signature.parameters.items()}
    usual = {
        name: item.default
        for name, item in signature.parameters.items()
        if item.default is not inspect.Parameter.empty
    }

    @wraps(function)
    def checking(*arguments: Any, **keywords: Any) -> Any:
        try:
            given = signature.bind(*arguments, **keywords)
        except TypeError:
            _refuse_options(function, signature, arguments, keywords)
            _refuse_unknown(function, signature, keywords)
            return function(*arguments, **keywords)
        for name, value in given.arguments.items():
            if value is not signature.parameters[name].default:
                given.arguments[name] = _fitting(name, value, kinds[name])
        result = function(*given.args, **given.kwargs)
        if isinstance(result, Glance):
            every = {**usual, **given.arguments}
            ordered = {name: every[name] for name in signature.parameters if name in every}
            # Results are frozen; the call is no part of what they are, only of what their report says.
            object.__setattr__(result, "made_by", described(function.__name__, ordered, usual))
        return result

    return checking  # type: ignore[return-value]


def with_keywords(function: Callable[..., Any]) -> inspect.Signature:
    """The signature with every keyword by its own name where some are declared together, as ``**more: Unpack[…]``.

    >>> from typing import TypedDict
    >>> class More(TypedDict, total=False):
    ...     depth: int
    >>> def wide(columns: str, **more: Unpack[More]) -> None: ...
    >>> list(with_keywords(wide).parameters)
    ['columns', 'depth']
    """
    signature = inspect.signature(function)
    found = []
    for item in signature.parameters.values():
        if item.kind is inspect.Parameter.VAR_KEYWORD and get_origin(item.annotation) is Unpack:
            declared = get_args(item.annotation)[0].__annotations__
            found += [
                inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind)
                for name, kind in declared.items()
            ]
        else:
            found.append(item)
    return signature.replace(parameters=found)


def _refuse_options(
    function: Callable[..., Any],
    signature: inspect.Signature,
    arguments: tuple[Any, ...],
    keywords: Mapping[str, Any],
) -> None:
    """Say of a keyword that does not exist, but is an option of the method, where it belongs."""
    # A public function that takes options of methods has the registry of these in its module.
    methods = function.__globals__.get("METHODS")
    if methods is None or "options" not in signature.parameters:
        return
    own = {name: value for name, value in keywords.items() if name in signature.parameters}
    try:
        method = signature.bind_partial(*arguments, **own).arguments.get(
            "method", signature.parameters["method"].default
        )
        known = methods[method].options_model.model_fields
    except (TypeError, KeyError, InputError):
        return
    for name in keywords:
        if name not in signature.parameters and name in known:
            raise InputError(
                f"'{name}' is an option of method '{method}'; give it as options={{'{name}': …}}"
            )


def _refuse_unknown(
    function: Callable[..., Any], signature: inspect.Signature, keywords: Mapping[str, Any]
) -> None:
    """Say of a keyword that does not exist what Python says where all are declared one by one."""
    for name in keywords:
        if name not in signature.parameters:
            near = get_close_matches(name, signature.parameters, n=1)
            meant = f". Did you mean '{near[0]}'?" if near else ""
            raise TypeError(f"{function.__name__}() got an unexpected keyword argument '{name}'{meant}")


def _kinds(annotation: Any) -> tuple[Any, ...]:
    return get_args(annotation) if get_origin(annotation) in (Union, UnionType) else (annotation,)


def _fitting(name: str, value: Any, kinds: tuple[Any, ...]) -> Any:
    if value is None and type(None) in kinds:
        return value
    lists = [kind for kind in kinds if get_origin(kind) in _LISTS and _holds_text(kind)]
    if lists and not isinstance(value, Mapping):
        return _list(name, value, nested=get_origin(get_args(lists[0])[0]) in _LISTS, kinds=kinds)
    plain = [kind for kind in kinds if kind is not type(None)]
    if (
        plain
        and all(kind is str or get_origin(kind) is Literal for kind in plain)
        and not isinstance(value, str)
    ):
        raise InputError(f"{parameter(name)} must be a text, not {type(value).__name__}")
    if plain == [bool] and type(value).__name__ not in ("bool", "bool_"):
        raise InputError(f"{parameter(name)} must be True or False, not {type(value).__name__}")
    own = [kind for kind in plain if isinstance(kind, type) and kind.__module__.startswith("shoal.")]
    if own == plain and not isinstance(value, tuple(own)):
        raise InputError(f"{parameter(name)} must be a {own[0].__name__}, not {type(value).__name__}")
    return value


def _holds_text(kind: Any) -> bool:
    """Whether a list is one of texts, or of lists of texts."""
    item = get_args(kind)[0]
    return str in _kinds(item) or (get_origin(item) in _LISTS and _holds_text(item))


def _list(name: str, value: Any, *, nested: bool, kinds: tuple[Any, ...]) -> Any:
    if isinstance(value, str):
        # A word of its own, such as "auto", is no list.
        if any(get_origin(kind) is Literal for kind in kinds):
            return value
        return [[value]] if nested else [value]
    if not isinstance(value, Iterable):
        raise InputError(f"{parameter(name)} must be a list of names, not {type(value).__name__}")
    return [[item] if isinstance(item, str) else item for item in value] if nested else list(value)
