"""Membership: whether somebody is in the release at all, told by how near the nearest released record is.

One half of the people is released, the other not; AUC is the chance that one of the first half is nearer to the release than
one of the second. It matters where being in the file says something (a register of patients), and for synthetic data.
"""

import numpy as np

from shoal.microdata.measures.attacks.attack import Attack
from shoal.microdata.measures.attacks.batches import Look, go_on
from shoal.microdata.measures.attacks.halves import RELEASED, TARGETS, halves
from shoal.microdata.measures.attacks.mixed_distance import nearest, posed
from shoal.microdata.measures.mixed import MixedTables
from shoal.microdata.measures.utility.auc import area
from shoal.runtime import Seeds


def attack(
    tables: MixedTables,
    *,
    seeds: Seeds,
    released: int = RELEASED,
    targets: int = TARGETS,
    look: Look = go_on,
) -> Attack | None:
    """How much better than a coin the intruder is, 100·(2·AUC − 1), never below 0; ``None`` with too few people.

    >>> table = np.random.default_rng(0).normal(size=(60, 3))
    >>> attack(MixedTables.of_numbers(table, table), seeds=Seeds(0)).percent
    100.0
    """
    parts = halves(tables, seeds.child("membership"), released=released, targets=targets)
    if parts is None or not tables.columns:
        return None
    known, shown, fit = posed(tables)
    shown = shown.take(parts.released)
    look()
    inside, outside = (
        nearest(known.take(group), shown, fit, -1, 0.0)[0] for group in (parts.inside, parts.outside)
    )
    auc = area(-np.concatenate([inside, outside]), np.repeat([True, False], [inside.size, outside.size]))
    return Attack(
        "membership",
        "membership in the release",
        "every value of a record, but not whether it is in the release",
        100.0 * max(0.0, 2.0 * auc - 1.0),
        int(parts.inside.size),
        parts.whole,
        (("auc", auc),),
    )
