"""Linkage by the Mahalanobis distance: against noise that was added, above all noise that follows the data.

Distances are measured in units of the release's own spread in every direction, so that columns which move together are not
counted several times. Torra, Abowd and Domingo-Ferrer, Using Mahalanobis distance-based record linkage for disclosure risk
assessment, PSD 2006.
"""

import numpy as np

from shoal.microdata.measures.attacks.attack import Attack
from shoal.microdata.measures.attacks.batches import Look, go_on
from shoal.microdata.measures.linkage import link_by_distance
from shoal.microdata.measures.mixed import MixedTables, sampled
from shoal.runtime import Seeds

TARGETS = 2000
# A direction with less than this share of the largest variance is one in which the release does not vary.
_FLAT = 1e-10


def attack(tables: MixedTables, *, seeds: Seeds, targets: int = TARGETS, look: Look = go_on) -> Attack | None:
    """Expected links in percent; ``None`` without a column of numbers that varies in the release.

    >>> table = np.array([[0.0, 1.0], [5.0, 2.0], [9.0, 7.0], [3.0, 3.0]])
    >>> attack(MixedTables.of_numbers(table, table), seeds=Seeds(0)).percent
    100.0
    """
    if tables.records < 2 or tables.before.shape[1] == 0:
        return None
    before, after = whitened(*tables.standardised())
    if after.shape[1] == 0:
        return None
    chosen = sampled(tables.records, targets, seeds, "mahalanobis")
    look()
    links = link_by_distance(before[chosen], after, own=chosen)
    return Attack(
        "mahalanobis",
        "linkage by Mahalanobis distance",
        "every number of a record",
        links.expected_percent,
        int(chosen.size),
        tables.records,
    )


def whitened(before: np.ndarray, after: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Both tables on axes along which the second has variance 1 and no correlation.

    >>> whitened(np.zeros((2, 2)), np.array([[1.0, 1.0], [-1.0, -1.0]]))[1].round(3).ravel().tolist()
    [0.707, -0.707]
    """
    centre = after.mean(axis=0)
    variances, axes = np.linalg.eigh(np.atleast_2d(np.cov(after - centre, rowvar=False)))
    kept = variances > _FLAT * max(float(variances[-1]), 1e-300)
    scale = axes[:, kept] / np.sqrt(variances[kept])
    # A sign for each axis that does not hang on the library.
    scale = scale * np.sign(scale[np.abs(scale).argmax(axis=0), np.arange(scale.shape[1])])
    return np.ascontiguousarray((before - centre) @ scale), np.ascontiguousarray((after - centre) @ scale)
