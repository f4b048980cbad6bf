"""How few blanks there are at least: every record on its own, as long as k people could look like it.

A record that is released under a mask is one of at least k people who look alike under it. The cheapest mask for which
there are so many among *all* people bounds what it costs; the sum over records is known as (k, 1)-anonymity with the least
suppression (A. Gionis and others, k-anonymization revisited, ICDE 2008).
"""

import numpy as np

from shoal.microdata.recoding.local_suppression.instance import Instance
from shoal.microdata.recoding.local_suppression.masks import Masks
from shoal.microdata.recoding.local_suppression.suppression_kernels import cheapest_cover
from shoal.microdata.recoding.problem import Problem


def least_costs(masks: Masks) -> np.ndarray:
    """What a record of each combination costs at least, in units.

    >>> from shoal.microdata.columns.hierarchies.hierarchy import Hierarchy
    >>> from shoal.microdata.recoding.local_suppression.instance import Instance
    >>> from shoal.microdata.recoding.problem import Problem
    >>> sexes = Hierarchy([("f",), ("m",)])
    >>> problem = Problem.of([np.array([0, 0, 1])], [sexes], k=2, measure="cells")
    >>> least_costs(Masks.of(Instance.of(problem))).tolist()
    [0.0, 1.0]
    """
    instance = masks.instance
    problem = instance.problem
    _, kinds = instance.prices
    # What no mask can save is left out; where masks are missing, more columns than they have are blanked.
    least = instance.leave.copy() if problem.limit > 0 else np.full(instance.size, np.inf)
    if not masks.complete:
        cheapest = np.sort(instance.blank, axis=1)[:, : masks.blanks + 1].sum(axis=1)
        least = np.minimum(least, cheapest)
    for place, groups, first in masks.walk():
        people = instance.people_in(groups, first.size)
        cheapest_cover(groups, people, problem.k, np.ascontiguousarray(masks.costs[:, place]), kinds, least)
    return np.where(np.isfinite(least), least, 0.0)


def least_loss(problem: Problem, enough: float) -> float | None:
    """The loss that no blanks of single values can fall below; no longer improved once it is ``enough``.

    Sets of few keys come first: who looks like k people under none of them has more blanks than they.

    >>> from shoal.microdata.columns.hierarchies.hierarchy import Hierarchy
    >>> sexes = Hierarchy([("f",), ("m",)])
    >>> least_loss(Problem.of([np.array([0, 0, 1])], [sexes], k=2, measure="cells"), 5.0)
    1.0
    """
    if problem.measure == "entropy" and problem.limit > 0:
        # Bits that are lost with records left out depend on which these are.
        return None
    instance = Instance.of(problem)
    least = instance.value(0.0)
    for blanks in range(len(instance.columns) + 1):
        if least >= enough:
            break
        masks = Masks.of(instance, blanks)
        if blanks and masks.blanks < blanks:
            break
        least = max(least, instance.value(float((least_costs(masks) * instance.records).sum())))
    return least
