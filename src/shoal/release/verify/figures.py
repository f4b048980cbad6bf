"""The figures that the internal manifest states, beside those that are counted again; what is neither is listed."""

import math
import re
from collections.abc import Iterator, Mapping
from typing import Any

from shoal.errors import Infeasible, InputError
from shoal.release.plan.plan import Step
from shoal.release.release_reader import OpenedRelease
from shoal.release.verify.check import Check, fails, holds, not_judged
from shoal.release.verify.recount import recounted

#: Figures differ in the last digits of what was written and read again.
_CLOSE = 1e-6
#: Searches call optimal what is as near to its bound.
_PROVED = 1e-5
#: How the step was run and checked, which nobody else can count.
_OF_THE_RUN = frozenset(
    {"seconds", "phases", "iterations", "nodes", "generations", "evaluations", "verified", "accept_wildcard"}
)
#: What is minimised, and what nothing can be below.
_BOUNDED = (("loss", "bound"), ("loss_percent", "bound_percent"), ("cost", "bound"))


def figure_checks(opened: OpenedRelease) -> Iterator[Check]:
    """Step by step."""
    assert opened.plan is not None
    for step in opened.plan.steps:
        yield from step_checks(opened, step)


def step_checks(opened: OpenedRelease, step: Step) -> Iterator[Check]:
    """The figures of one step: those that are wrong by name, and those that nothing here tells."""
    stated = opened.figures(step.name)
    told = dict(leaves(stated))
    try:
        again = dict(leaves({**recounted(opened, step), **_shares(stated)}))
    except (AssertionError, InputError, Infeasible) as problem:
        yield fails("figures", f"those of step '{step.name}' cannot be counted again: {problem}")
        again = {}
    except (KeyError, TypeError, ValueError, AttributeError):
        yield fails("figures", f"those of step '{step.name}' are not what its operation states")
        again = {}
    wrong = [name for name in again if name in told and not _same(told[name], again[name])]
    for name in wrong:
        text = f"'{name}' of step '{step.name}' is {_shown(again[name])}, and {_shown(told[name])} was stated"
        yield fails("figures", text)
    yield from _consistent(step, stated)
    if again and not wrong:
        yield holds("figures", f"{len(again)} of step '{step.name}' are what was stated")
    left = {name: value for name, value in told.items() if name not in again}
    names = dict.fromkeys(unnumbered(name) for name in left)
    text = f"of step '{step.name}': {', '.join([*names, 'facts'])}"
    yield not_judged("not recomputed", text, sum(_is_statement(name, value) for name, value in left.items()))


def _is_statement(name: str, value: Any) -> bool:
    """Whether a figure says something of the release, and not of the search or in words."""
    return isinstance(value, int | float) and name.partition(".")[0] not in _OF_THE_RUN


def _consistent(step: Step, stated: Mapping[str, Any]) -> Iterator[Check]:
    """Nothing is below its bound, what is called optimal is at it, and nothing is called unchecked."""
    for value, bound in ((stated.get(one), stated.get(other)) for one, other in _BOUNDED):
        if not isinstance(value, int | float) or not isinstance(bound, int | float | None):
            continue
        slack = _CLOSE * max(1.0, abs(value))
        if bound is not None and bound > value + slack:
            yield fails("bounds", f"'bound' of step '{step.name}' is above what it bounds")
        slack = _PROVED * max(1.0, abs(value))
        # That nothing is below 0 needs no proof; of counts that keys perturb the design is what is optimal.
        if "entropy" not in stated and stated.get("optimal") is True and value - (bound or 0.0) > slack:
            yield fails(
                "bounds", f"'optimal' is stated of step '{step.name}', whose bound is below its value"
            )
    k, bound = stated.get("k"), stated.get("k_bound")
    if isinstance(k, int) and isinstance(bound, int) and bound < k:
        yield fails("bounds", f"'k_bound' of step '{step.name}' is below its K")
    if stated.get("verified", True) is not True:
        yield fails("figures", f"'verified' of step '{step.name}' is not true")
    if any(name.endswith(".kept") and value is not True for name, value in leaves(stated)):
        yield fails("figures", f"a promise of step '{step.name}' is not 'kept'")


def _shares(stated: Mapping[str, Any]) -> dict[str, float]:
    """How near to its bound something is, by what is stated of both."""
    found = {}
    cost, bound = stated.get("cost"), stated.get("bound")
    if stated.get("gap_percent") is not None and cost is not None and bound is not None:
        found["gap_percent"] = 100.0 * (cost - bound) / cost if cost > 0 else 0.0
    loss, bound = stated.get("loss_percent"), stated.get("bound_percent")
    if stated.get("bound_share_percent") is not None and loss is not None and bound is not None:
        found["bound_share_percent"] = 100.0 if loss <= bound else 100.0 * bound / loss
    return found


def unnumbered(name: str) -> str:
    """The way to a figure without places in lists.

    >>> unnumbered("slots.12.load")
    'slots.load'
    """
    return re.sub(r"\.\d+(?=\.|$)", "", name)


def leaves(figures: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """Every single figure with its way through groups and lists; of an empty one that it is empty."""
    inside = (
        figures.items()
        if isinstance(figures, Mapping)
        else enumerate(figures)
        if isinstance(figures, list)
        else ()
    )
    if not inside:
        yield name, figures
    for key, value in inside:
        yield from leaves(value, f"{name}.{key}" if name else str(key))


def _same(one: Any, other: Any) -> bool:
    if isinstance(one, bool) or isinstance(other, bool) or not isinstance(one, int | float):
        # A truth value may have been written as a text.
        return str(one) == str(other)
    return isinstance(other, int | float) and math.isclose(one, other, rel_tol=_CLOSE, abs_tol=1e-9)


def _shown(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)
