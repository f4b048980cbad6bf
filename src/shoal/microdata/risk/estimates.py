"""What a sample says about its population: expected matches with their interval, and other estimates to compare them with."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from math import prod

import numpy as np

from shoal.microdata.risk.counts import Classes
from shoal.microdata.risk.households import Households
from shoal.microdata.risk.loglinear import LARGEST_TABLE, LoglinearRisk, main_effects, risk_of_fit, two_way
from shoal.microdata.risk.matches.estimate import MatchEstimate, SampleCells, estimate_matches
from shoal.microdata.risk.population_uniques import fit_pitman, zayatz
from shoal.microdata.risk.remarks import remarks_on_matches
from shoal.numbers import counted
from shoal.remarks import Remark, note
from shoal.runtime.budget import Run

#: The models that take time.
MATCHES = "the estimate of expected matches"
TWO_WAY = "the log-linear model with two-way effects"


@dataclass(frozen=True)
class Estimates:
    """Estimates by name; ``population_uniques`` of the whole population, and why one is missing in ``remarks``.

    ``matches`` is the one that is relied on; the others stand beside it. ``not_measured`` names models that there was no time to
    fit.
    """

    matches: MatchEstimate | None = None
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

    ``class_of`` says the class of every record, by which models tell of ``households``, too. What takes time is left out when
    that of the ``run`` is over.

    Classes are those of equal records: a missing value is a value of its own here, since classes may not overlap.
    """
    sizes = np.asarray(classes.records, dtype=np.int64)
    records = int(sizes.sum())
    if population <= records:
        text = "the population is no larger than the sample, so there is nothing to estimate of it"
        return Estimates(remarks=(note("whole-population", text),))
    remarks: list[Remark] = []
    matches = estimate_matches(cells_of_sample(classes, population, class_of, households), run)
    if matches is not None:
        remarks += remarks_on_matches(matches, records, alone=households is None)
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
    left_out = (MATCHES,) if matches is None else ()
    return _loglinear(
        classes, sizes, risk, Estimates(matches, uniques, remarks=tuple(remarks), not_measured=left_out), run
    )


def cells_of_sample(
    classes: Classes, population: float, class_of: np.ndarray | None, households: Households | None
) -> SampleCells:
    """The cells of the sample; a household that has several records in one counts once."""
    records = np.asarray(classes.records, dtype=np.int64)
    units = records
    if households is not None and class_of is not None:
        pairs = np.unique(class_of.astype(np.int64) * households.number + households.of_record)
        units = np.bincount(pairs // households.number, minlength=records.size)
    return SampleCells(
        classes.codes,
        classes.sizes,
        units,
        records,
        np.asarray(classes.counts, dtype=np.int64),
        # As the weights differ, so do the fractions; together they make up the population.
        records / (classes.weights * (population / classes.weights.sum())),
        float(records.sum() / population),
    )


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
        return replace(others.with_models(models), not_measured=(*others.not_measured, TWO_WAY))
    fitted, converged = fit
    models["two_way"] = risk(fitted, converged=converged)
    if converged:
        return others.with_models(models)
    return others.with_models(models, note("unfinished-fit", f"{TWO_WAY} was not fitted to the last digits"))
