"""What a sample says about its population: uniques by two estimators, risk by two log-linear models."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from math import prod

import numpy as np

from shoal.microdata.risk.counts import Classes
from shoal.microdata.risk.households import Households
from shoal.microdata.risk.loglinear import LARGEST_TABLE, LoglinearRisk, main_effects, risk_of_fit, two_way
from shoal.microdata.risk.population_uniques import fit_pitman, zayatz
from shoal.numbers import counted
from shoal.remarks import Remark, note
from shoal.runtime.budget import Run

#: The model that takes time.
TWO_WAY = "the log-linear model with two-way effects"


@dataclass(frozen=True)
class Estimates:
    """Estimates by name; ``population_uniques`` of the whole population, and why one is missing in ``remarks``.

    ``not_measured`` names models that there was no time to fit.
    """

    population_uniques: Mapping[str, float] = field(default_factory=dict)
    loglinear: Mapping[str, LoglinearRisk] = field(default_factory=dict)
    remarks: tuple[Remark, ...] = ()
    not_measured: tuple[str, ...] = ()

    def with_models(self, models: Mapping[str, LoglinearRisk], *remarks: Remark) -> "Estimates":
        """The same with log-linear models, and what is to be said of them."""
        return replace(self, loglinear=models, remarks=(*self.remarks, *remarks))


def estimate(
    classes: Classes,
    population: float,
    class_of: np.ndarray | None = None,
    households: Households | None = None,
    run: Run | None = None,
) -> Estimates:
    """All estimates that can be made of classes, for a sample drawn with one fraction from so many people.

    ``class_of`` says the class of every record, by which models tell of ``households``, too. The model with two-way effects
    is left out when the time of the ``run`` is over.

    Classes are those of equal records: a missing value is a value of its own here, since classes may not overlap.
    """
    sizes = np.asarray(classes.records, dtype=np.int64)
    records = int(sizes.sum())
    if population <= records:
        text = "the population is no larger than the sample, so there is nothing to estimate of it"
        return Estimates(remarks=(note("whole-population", text),))
    remarks = []
    uniques = {"zayatz": zayatz(sizes, population)}
    fitted = fit_pitman(sizes)
    if fitted is None:
        text = "Pitman's model cannot be fitted: it needs several combinations of keys, and some shared by several records"
        remarks.append(note("unfitted-model", text))
    else:
        uniques["pitman"] = fitted.expected_uniques(population)
    risk = partial(
        risk_of_fit, sizes, fraction=records / population, class_of=class_of, households=households
    )
    return _loglinear(classes, sizes, risk, Estimates(uniques, remarks=tuple(remarks)), run)


def _loglinear(
    classes: Classes,
    sizes: np.ndarray,
    risk: Callable[..., LoglinearRisk],
    others: Estimates,
    run: Run | None,
) -> Estimates:
    """The other estimates with both models; ``risk`` is what the fitted counts of one say."""
    keys = len(classes.sizes)
    if keys == 1:
        return others.with_models({}, note("unfitted-model", "log-linear models need at least two keys"))
    models = {"main": risk(main_effects(classes.codes, classes.sizes, sizes))}
    cells = prod(classes.sizes)
    if keys == 2:
        return others.with_models(models, note("unfitted-model", f"{TWO_WAY} needs at least three keys"))
    if cells > LARGEST_TABLE:
        text = (
            f"{TWO_WAY} was left out: its table would have {counted(cells, 'cell')}, more than "
            f"{LARGEST_TABLE:,}; coarser keys make it smaller"
        )
        return others.with_models(models, note("unfitted-model", text))
    fit = two_way(classes.codes, classes.sizes, sizes, run)
    if fit is None:
        return replace(others.with_models(models), not_measured=(TWO_WAY,))
    fitted, converged = fit
    models["two_way"] = risk(fitted, converged=converged)
    if converged:
        return others.with_models(models)
    return others.with_models(models, note("unfinished-fit", f"{TWO_WAY} was not fitted to the last digits"))
