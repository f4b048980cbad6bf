"""How few blanks there are at least: every record on its own, as long as k people could look like it.

A record that is released under a mask is one of at least k people who look alike under it. The cheapest mask for which
there are so many among *all* people bounds what it costs; the sum over records is known as (k, 1)-anonymity with the least
suppression (A. Gionis and others, k-anonymization revisited, ICDE 2008).
"""

import numpy as np

from shoal.microdata.recoding.local_suppression.masks import Masks
from shoal.microdata.recoding.local_suppression.suppression_kernels import cheapest_cover


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
