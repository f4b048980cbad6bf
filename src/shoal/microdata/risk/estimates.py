"""What a sample says about its population: uniques by two estimators, risk by two log-linear models."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from math import prod

import numpy as np

from shoal.microdata.risk.counts import Classes
from shoal.microdata.risk.households import Households
from shoal.microdata.risk.loglinear import LARGEST_TABLE, LoglinearRisk, main_effects, risk_of_fit, two_way
from shoal.microdata.risk.population_uniques import fit_pitman, zayatz
from shoal.numbers import counted


@dataclass(frozen=True)
class Estimates:
    """Estimates by name; ``population_uniques`` of the whole population, and why one is missing in ``notes``."""

    population_uniques: Mapping[str, float] = field(default_factory=dict)
    loglinear: Mapping[str, LoglinearRisk] = field(default_factory=dict)
    notes: tuple[str, ...] = ()


def estimate(
    classes: Classes,
    population: float,
    class_of: np.ndarray | None = None,
    households: Households | None = None,
) -> Estimates:
    """All estimates that can be made of classes, for a sample drawn with one fraction from so many people.

    ``class_of`` says the class of every record, by which models tell of ``households``, too.

    Classes are those of equal records: a missing value is a value of its own here, since classes may not overlap.
    """
    sizes = np.asarray(classes.records, dtype=np.int64)
    records = int(sizes.sum())
    if population <= records:
        note = "the population is no larger than the sample, so there is nothing to estimate of it"
        return Estimates(notes=(note,))
    notes = []
    uniques = {"zayatz": zayatz(sizes, population)}
    fitted = fit_pitman(sizes)
    if fitted is None:
        notes.append(
            "Pitman's model cannot be fitted: it needs several combinations of keys, and some shared by several records"
        )
    else:
        uniques["pitman"] = fitted.expected_uniques(population)
    risk = partial(
        risk_of_fit, sizes, fraction=records / population, class_of=class_of, households=households
    )
    models, more = _loglinear(classes, sizes, risk)
    return Estimates(uniques, models, (*notes, *more))


def _loglinear(
    classes: Classes, sizes: np.ndarray, risk: Callable[..., LoglinearRisk]
) -> tuple[dict[str, LoglinearRisk], list[str]]:
    """Both models; ``risk`` is what the fitted counts of one say."""
    keys = len(classes.sizes)
    if keys == 1:
        return {}, ["log-linear models need at least two keys"]
    models = {"main": risk(main_effects(classes.codes, classes.sizes, sizes))}
    cells = prod(classes.sizes)
    if keys == 2:
        return models, ["the log-linear model with two-way effects needs at least three keys"]
    if cells > LARGEST_TABLE:
        return models, [
            f"the log-linear model with two-way effects was left out: its table would have {counted(cells, 'cell')}, more than "
            f"{LARGEST_TABLE:,}; coarser keys make it smaller"
        ]
    fitted, converged = two_way(classes.codes, classes.sizes, sizes)
    models["two_way"] = risk(fitted, converged=converged)
    notes = (
        [] if converged else ["the log-linear model with two-way effects was not fitted to the last digits"]
    )
    return models, notes
