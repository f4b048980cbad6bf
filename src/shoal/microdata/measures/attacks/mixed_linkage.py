"""Linkage of records with categories: an intruder takes the released record that fits best."""

import numpy as np

from shoal.microdata.measures.attacks.attack import Attack
from shoal.microdata.measures.attacks.batches import Look, go_on
from shoal.microdata.measures.attacks.mixed_distance import links, posed
from shoal.microdata.measures.linkage import link_by_distance
from shoal.microdata.measures.mixed import MixedTables, sampled
from shoal.microdata.measures.scaling import on_common_scale
from shoal.runtime import Seeds

TARGETS = 2000


def attack(tables: MixedTables, *, seeds: Seeds, targets: int = TARGETS, look: Look = go_on) -> Attack | None:
    """Expected links in percent; ``None`` without a column of categories, where the linkage by distance says it all.

    >>> from shoal.microdata.measures.categories import pair_categories
    >>> pair = pair_categories("sex", ["f", "m", "m"], ["f", "m", "m"])
    >>> attack(MixedTables((), np.zeros((3, 0)), np.zeros((3, 0)), (pair,)), seeds=Seeds(0)).percent.__round__(2)
    66.67
    """
    if tables.records == 0 or not tables.categories:
        return None
    known, released, fit = posed(tables)
    chosen = sampled(tables.records, targets, seeds, "mixed linkage")
    chance = links(known.take(chosen), released, chosen, fit, look)
    percent = 100.0 * float(np.mean(chance))
    # Randomised categories mislead: who knows numbers as well may leave the categories out.
    by_numbers = 0.0
    if tables.names:
        look()
        before, after = on_common_scale(tables.before, tables.after)
        by_numbers = link_by_distance(before[chosen], after, own=chosen).expected_percent
    return Attack(
        "mixed-linkage",
        "linkage by numbers and categories",
        "every value of a record, and which values a coarser label stands for",
        max(percent, by_numbers),
        int(chosen.size),
        tables.records,
        (("by_numbers_alone", by_numbers > percent),),
    )
