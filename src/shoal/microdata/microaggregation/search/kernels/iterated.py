"""Iterated local search as published: perturb, descend, keep the new partition or go back to the best.

ILSM of Laszlo and Mukherjee (2015); ILSMC, biased dissolving and dynamic acceptance of Bierman (2020).
"""

from typing import NamedTuple

import numpy as np

from shoal.microdata.microaggregation.search.kernels.groups import copy_group, total_error
from shoal.microdata.microaggregation.search.kernels.pairs import descend
from shoal.microdata.microaggregation.search.kernels.perturbation import dissolve, distill, pick_lossy
from shoal.runtime.kernels import kernel
from shoal.runtime.randomness import uniform

# What an iterated search decided, by place in its array of decisions.
IMPROVED, KEPT, RETURNED, DISSOLVED, DISTILLED = range(5)
DECIDED = ("improved", "accepted", "returned", "dissolved", "distilled")
DECISIONS = len(DECIDED)
ENDLESS = np.int64(2**62)


class Rules(NamedTuple):
    """How an iterated search decides: what it looks at, how it chooses what to dissolve, and what it keeps.

    A ``sample`` of 1 dissolves any group, a ``distill_sample`` of 1 distils from any record that can be spared; with a
    ``temperature`` of 0 a worse partition is kept with a fixed ``chance``. With ``renew`` all groups count as changed after a
    perturbation.
    """

    everything: bool
    sample: int
    chance: float
    temperature: float
    distill_sample: int = 1
    renew: bool = False


@kernel(error_model="numpy")
def perturb(space, groups, search, fewest, most, sample, distill_sample=1):  # type: ignore[no-untyped-def]
    """One group fewer or one more, by a coin unless the number of groups is at a limit; whether it is one more."""
    count = groups.number[0]
    if count <= fewest or (count < most and uniform(search.random) < 0.5):
        distill(space, groups, search, distill_sample)
        return True
    dissolve(space, groups, search, pick_lossy(groups, sample, search.random))
    return False


@kernel(error_model="numpy")
def copy_dirty(source, target, dirty):  # type: ignore[no-untyped-def]
    """Make one partition equal to another from which it differs in the dirty groups only; none is dirty after."""
    target.number[0] = source.number[0]
    for g in range(dirty.shape[0]):
        if dirty[g]:
            if g < source.number[0]:
                copy_group(source, target, g, g)
            dirty[g] = False


@kernel(error_model="numpy")
def accepts(error, best, rules, random):  # type: ignore[no-untyped-def]
    """Whether a partition that is no better than the best is kept: by a fixed chance, or by how much worse it is."""
    if rules.temperature > 0.0:
        # Written so that a best error of 0 keeps ties and nothing else.
        return uniform(random) * 1.0 < np.exp(-(error - best) / max(rules.temperature * best, 1e-300))
    return uniform(random) < rules.chance


@kernel(error_model="numpy")
def iterate(space, groups, search, best, best_error, rules, fewest, most, decisions, course):  # type: ignore[no-untyped-def]
    """As many iterations as ``course`` is long, which becomes the least error after each.

    ``best`` differs from ``groups`` in the dirty groups only, before and after.
    """
    for step in range(course.shape[0]):
        more = perturb(space, groups, search, fewest, most, rules.sample, rules.distill_sample)
        if rules.renew:
            for g in range(groups.number[0]):
                search.changed[g] = True
        decisions[DISTILLED if more else DISSOLVED] += 1
        descend(space, groups, search, rules.everything, ENDLESS)
        error = total_error(groups)
        # The same partition met again, its members in another order, is a tie and not an improvement by rounding.
        if error < best_error[0] - space.tolerance:
            copy_dirty(groups, best, search.dirty)
            best_error[0] = error
            decisions[IMPROVED] += 1
        elif accepts(error, best_error[0], rules, search.random):
            decisions[KEPT] += 1
        else:
            copy_dirty(best, groups, search.dirty)
            decisions[RETURNED] += 1
        course[step] = best_error[0]
