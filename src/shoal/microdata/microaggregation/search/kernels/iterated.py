"""Iterated local search as published: perturb, descend, keep the new partition or go back to the best.

ILSM of Laszlo and Mukherjee (2015); ILSMC, biased dissolving and dynamic acceptance of Bierman (2020).
"""

import numpy as np

from shoal.microdata.microaggregation.search.kernels.groups import copy_group, lent_groups, total_error
from shoal.microdata.microaggregation.search.kernels.pairs import descend, lent_search
from shoal.microdata.microaggregation.search.kernels.perturbation import dissolve, distill, pick_lossy
from shoal.microdata.microaggregation.search.kernels.vectors import lent
from shoal.search.kernels import kernel
from shoal.search.randomness import uniform

# What an iterated search decided, by place in its array of decisions.
IMPROVED, KEPT, RETURNED, DISSOLVED, DISTILLED = range(5)
DECISIONS = 5
ENDLESS = np.int64(2**62)


@kernel(error_model="numpy")
def perturb(groups, points, k, fewest, most, sample, search, random):  # type: ignore[no-untyped-def]
    """One group fewer or one more, by a coin unless the number of groups is at a limit; whether it is one more."""
    count = groups.number[0]
    if count <= fewest or (count < most and uniform(random) < 0.5):
        distill(groups, points, k, search, random)
        return True
    dissolve(groups, points, k, pick_lossy(groups, sample, random), search)
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
def accepts(error, best, chance, temperature, random):  # type: ignore[no-untyped-def]
    """Whether a partition that is no better than the best is kept: by a fixed chance, or by how much worse it is."""
    if temperature > 0.0:
        # Written so that a best error of 0 keeps ties and nothing else.
        return uniform(random) * 1.0 < np.exp(-(error - best) / max(temperature * best, 1e-300))
    return uniform(random) < chance


@kernel(error_model="numpy")
def iterate(  # type: ignore[no-untyped-def]
    iterations,
    groups,
    best,
    best_error,
    points,
    k,
    eps,
    fewest,
    most,
    everything,
    sample,
    chance,
    temperature,
    search,
    decisions,
    course,
    random,
):
    """So many iterations; ``best`` differs from ``groups`` in the dirty groups only, before and after."""
    points, random = lent(points), lent(random)
    groups, best, search = lent_groups(groups), lent_groups(best), lent_search(search)
    for step in range(iterations):
        more = perturb(groups, points, k, fewest, most, sample, search, random)
        decisions[DISTILLED if more else DISSOLVED] += 1
        descend(groups, points, k, eps, everything, ENDLESS, search, random)
        error = total_error(groups)
        # The same partition met again, its members in another order, is a tie and not an improvement by rounding.
        if error < best_error[0] - eps:
            copy_dirty(groups, best, search.dirty)
            best_error[0] = error
            decisions[IMPROVED] += 1
        elif accepts(error, best_error[0], chance, temperature, random):
            decisions[KEPT] += 1
        else:
            copy_dirty(best, groups, search.dirty)
            decisions[RETURNED] += 1
        course[step] = best_error[0]
