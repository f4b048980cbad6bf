"""What callers pass to a function of a cluster: checked as on one machine, and what only one machine can do is refused."""

import inspect
from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any, TypeVar

from shoal.arguments import checked
from shoal.errors import InputError, parameter
from shoal.report.glance import Glance
from shoal.report.provenance import Input

Function = TypeVar("Function", bound=Callable[..., Any])

_NO_FILE = "none: it was no file but a frame of Spark; whoever signs has to know which data this was"
_FRAMES = ("frame", "original", "protected")


def on_cluster(function: Function) -> Function:
    """Check arguments; refuse in one line a setting that the function of the same name has on one machine alone."""
    checking, known = checked(function), inspect.signature(function).parameters

    @wraps(function)
    def calling(*arguments: Any, **keywords: Any) -> Any:
        elsewhere = _on_one_machine(function.__name__) if set(keywords) - set(known) else frozenset()
        for name in keywords:
            if name not in known and name in elsewhere:
                raise InputError(
                    f"{parameter(name)} needs all records in one place: leave it out on a cluster, or call "
                    f"shoal.{function.__name__} with what fits into memory"
                )
        result = checking(*arguments, **keywords)
        if isinstance(result, Glance) and result.made_by is not None:
            made = replace(
                result.made_by,
                function=f"spark.{function.__name__}",
                frames=tuple(
                    Input("a frame of Spark", "", name, lacking=_NO_FILE) for name in _FRAMES if name in known
                ),
                arguments=tuple(item for item in result.made_by.arguments if item.label not in _FRAMES),
            )
            object.__setattr__(result, "made_by", made)
        return result

    return calling  # type: ignore[return-value]


def _on_one_machine(name: str) -> frozenset[str]:
    import shoal

    return frozenset(inspect.signature(getattr(shoal, name)).parameters)
