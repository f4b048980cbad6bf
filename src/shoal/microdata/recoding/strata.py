"""The strata of a recoding, each solved on its own, and what is lost in all of them together."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from shoal.microdata.recoding.all_losses import measured_losses
from shoal.microdata.recoding.inputs import Inputs
from shoal.microdata.recoding.methods import METHODS
from shoal.microdata.recoding.problem import MEASURES, Problem
from shoal.microdata.recoding.shown_keys import with_shown_keys
from shoal.microdata.recoding.solution import Recoding
from shoal.microdata.recoding.wildcard import check_wildcard, with_wildcards
from shoal.runtime import Budget, Observer, Seeds
from shoal.runtime.observer import mapped
from shoal.runtime.threads import usable_threads


@dataclass(frozen=True, eq=False)
class Part:
    """The records that were recoded together: all, or those of one stratum."""

    members: np.ndarray
    problem: Problem
    solution: Recoding


def recoded_parts(inputs: Inputs, budget: Budget, observer: Observer) -> list[Part]:
    """Recode every stratum by the method of the settings."""
    parts = []
    for position, members in enumerate(inputs.strata, start=1):
        phase = f"stratum {position} of {len(inputs.strata)}" if len(inputs.strata) > 1 else ""
        parts.append(_recoded(inputs, members, budget, mapped(observer, lambda value: value, phase)))
    return parts


def _recoded(inputs: Inputs, members: np.ndarray, budget: Budget, observer: Observer) -> Part:
    settings = inputs.settings
    method, by_hand = METHODS[settings.method], settings.levels is not None
    exactly, chooses = "uniform" in method.traits, settings.method == "auto"
    # A method that chooses among recodings of columns keeps what is shared alike by itself.
    problem = inputs.problem(members, exactly=exactly, fixed=not exactly and not chooses)
    if inputs.alike and "mixed" in method.traits and not by_hand:
        problem = _with_shared_levels(problem, [inputs.keys.names.index(name) for name in settings.stay])
    if settings.null == "wildcard":
        check_wildcard(problem, method.traits)
    solution = method.solve(
        problem,
        settings.options,
        budget=budget,
        seeds=Seeds(settings.seed),
        threads=usable_threads(settings.threads),
        # Levels by hand are where a method that chooses has to begin.
        start=problem.lowest if by_hand and chooses else None,
        observer=observer,
    )
    solution = with_shown_keys(problem, solution)
    if settings.null == "wildcard":
        solution = with_wildcards(problem, solution)
    # Levels that somebody said are not the best ones, and no bound on others.
    without = by_hand and (exactly or chooses)
    return Part(members, problem, solution.without_proof() if without else solution)


def _with_shared_levels(problem: Problem, stay: Sequence[int]) -> Problem:
    """The keys that households share at the levels that are best where all keys have one level."""
    highest = tuple(0 if position in stay else height for position, height in enumerate(problem.heights))
    free = replace(problem, lowest=(0,) * len(problem.heights), highest=highest)
    return problem.with_levels(problem.alike, METHODS["lattice"].solve(free).uniform)


def joined_loss(parts: Sequence[Part], measure: str, values: Sequence[float]) -> float:
    """The losses of strata as one: means are weighted by records, classes add up, and so do all other losses."""
    sizes = [part.problem.size for part in parts]
    if measure == "loss":
        return sum(size * value for size, value in zip(sizes, values, strict=True)) / sum(sizes)
    if measure == "class-size":
        return sum(sizes) / sum(size / value for size, value in zip(sizes, values, strict=True))
    return float(sum(values))


def overall_loss(parts: Sequence[Part]) -> tuple[float, float | None, bool]:
    """The loss of all strata together, its bound, and whether both are the same for a proof."""
    measure, bounds = parts[0].problem.measure, [part.solution.bound for part in parts]
    value = joined_loss(parts, measure, [part.solution.value for part in parts])
    bound = None if any(own is None for own in bounds) else min(value, joined_loss(parts, measure, bounds))
    return value, bound, all(part.solution.optimal for part in parts)


def overall_losses(parts: Sequence[Part]) -> dict[str, float]:
    """All measures over all strata."""
    each = [measured_losses(part.problem, part.solution) for part in parts]
    return {
        measure: joined_loss(parts, measure, [losses[measure] for losses in each]) for measure in MEASURES
    }
