"""What a careful colleague would say of these figures: what each estimate is worth, and what to mind."""

from collections.abc import Mapping, Sequence

import numpy as np

from shoal.errors import parameter
from shoal.microdata.risk.matches.estimate import FEWEST_RECORDS, MatchEstimate
from shoal.microdata.risk.scenarios import Basis
from shoal.numbers import counted
from shoal.remarks import Remark, note, warning
from shoal.runtime.budget import StopReason

#: What each estimate is worth, by its name among the figures.
WORTH: Mapping[str, str] = {
    "latent_classes": "the nearest to the truth on populations that are known; gates use the upper end of its interval",
    "individual": "usually too low: the estimate of Benedetti and Franconi reckons each class from its own records alone",
    "population": "exact: the population is known",
    "sample": "for somebody who knows who responded; exact",
    "zayatz": "too high where the sample is a small part of the population",
    "pitman": "an estimate of a model; as good as its assumption of how combinations of keys come about",
    "main": "an estimate of a model, not a bound; independent keys usually put it too high",
    "two_way": "an estimate of a model, not a bound; too low in some samples and too high in others",
}


def remarks_on_weights(weights: np.ndarray, basis: Basis, name: str | None) -> list[Remark]:
    """Weights that stand for less than one of the population, such as were scaled, and such as differ."""
    if basis != "weights" or name is None:
        return []
    remarks = []
    small = int((weights < 1.0).sum())
    if small:
        have = counted(small, "record has", "records have")
        text = f"{have} a sample weight below 1 in '{name}'; a record stands for at least itself, so a risk is never above 1/f"
        remarks.append(warning("small-weights", text, name))
    # Scaled to a mean of 1 or to a sum of 1 weights tell nothing of the population, and estimates of it are left out.
    if weights.sum() <= weights.size * (1.0 + 1e-9) and not (weights == 1.0).all():
        text = (
            f"the weights in '{name}' stand for no more than there are records, as scaled weights do: give those that "
            f"sum to the population, or {parameter('population')} in their place"
        )
        remarks.append(warning("scaled-weights", text, name))
    if weights.min() != weights.max():
        text = f"the weights in '{name}' differ: released beside the keys they may tell records apart, too"
        remarks.append(note("differing-weights", text, name))
    return remarks


def remarks_on_matches(estimate: MatchEstimate, records: int, *, alone: bool) -> list[Remark]:
    """Where the estimate of expected matches cannot be relied on; ``alone`` is whether no households are named."""
    remarks = []
    if records < FEWEST_RECORDS:
        text = (
            f"{counted(records, 'record')}: with fewer than {FEWEST_RECORDS} the estimate of expected matches is often far off, "
            "and so is its interval"
        )
        remarks.append(warning("few-records", text))
    if alone and estimate.clumped:
        text = (
            "records with the same keys clump as members of one household do: if whole households were drawn, the expected "
            f"matches are far too low. Name the household with {parameter('household')}"
        )
        remarks.append(warning("households-missing", text))
    return remarks


def remarks_on_basis(
    basis: Basis,
    *,
    equal_weights: bool,
    wildcard: bool,
    estimated: bool,
    keys: Sequence[str],
    candidates: Sequence[str] = (),
) -> list[Remark]:
    """What the figures rest on.

    ``wildcard`` is whether a missing value matches anything and there is one, ``candidates`` are columns that look like weights.
    """
    remarks = []
    if basis == "sample" and len(candidates) > 1:
        names = f"{', '.join(repr(name) for name in candidates[:-1])} and {candidates[-1]!r}"
        text = (
            f"{names} look like sample weights. None was named, so none is used, and the sample counts as the population: choose "
            f"one with {parameter('sample_weights')}"
        )
        remarks.append(warning("several-weights", text, *candidates))
    if basis == "sample":
        text = (
            "nothing is known of the population, so every record counts as if the sample were the population: give "
            f"{parameter('sample_weights')}, {parameter('population')} or {parameter('population_file')}"
        )
        remarks.append(note("no-population", text))
    if estimated and not equal_weights:
        text = (
            "Zayatz, Pitman and the log-linear models are for a sample drawn with one fraction; the weights differ, so read them "
            "with care"
        )
        remarks.append(note("one-fraction", text))
    if estimated and wildcard:
        text = (
            "the expected matches, Zayatz, Pitman and the log-linear models count a missing value as its own value: their "
            "classes may not overlap"
        )
        remarks.append(note("missing-values", text, *keys))
    return remarks


def differing_totals(
    population: int | None, weights: np.ndarray, basis: Basis, name: str | None
) -> list[Remark]:
    """A stated size of the population beside weights that say another."""
    if population is None or basis != "weights" or name is None:
        return []
    total = float(weights.sum())
    if abs(total / population - 1.0) <= 0.01:
        return []
    text = (
        f"the weights sum to {total:,.0f}, but {parameter('population')} says {population:,}: individual risk rests on the "
        "weights, estimates of the population on the stated size"
    )
    return [warning("differing-totals", text, name)]


def remarks_on_time(left_out: Sequence[str], stopped_by: StopReason | None) -> list[Remark]:
    """What is missing since the time was over, or somebody ended it."""
    why = "it was stopped before" if stopped_by == StopReason.INTERRUPT else "the time was over before"
    return [warning("not-measured", f"not measured: {what}; {why}") for what in left_out]
