"""Records in the order of their values: what rank swapping and shuffling begin with."""

from dataclasses import dataclass, field

import numpy as np

from shoal.microdata.perturbation import ranking_kernels
from shoal.runtime.secrets import Draws


@dataclass(frozen=True, eq=False)
class Ranking:
    """The records with a value, by stratum and value; those of equal value are in an order that only the secret tells.

    ``order`` holds the places of records, ``starts`` where each stratum begins in it, ``values`` what was compared.
    """

    order: np.ndarray = field(repr=False)
    starts: np.ndarray = field(repr=False)
    values: np.ndarray = field(repr=False)

    @property
    def sizes(self) -> np.ndarray:
        """Records with a value in each stratum."""
        return np.diff(self.starts)

    def mid_ranks(self) -> np.ndarray:
        """The rank of each record in its stratum, from 1 on, ties at the mean of theirs; NaN where there is no value."""
        ranks: np.ndarray = ranking_kernels.mid_ranks(self.order, self.starts, self.values)
        return ranks


def ranking(values: np.ndarray, strata: np.ndarray, identities: np.ndarray, draws: Draws) -> Ranking:
    """The records in the order of their values (missing is NaN) within each stratum.

    >>> from shoal.runtime.secrets import Secret
    >>> people = np.arange(3, dtype=np.uint64)
    >>> found = ranking(np.array([3, np.nan, 1]), np.array([0, 0, 0]), people, Secret.of_seed(0).draws("ties"))
    >>> found.order.tolist(), found.sizes.tolist()
    ([2, 0], [2])
    """
    places = np.flatnonzero(~np.isnan(values))
    own = values[places]
    # Two quick sorts and a count are cheaper than one stable sort by both.
    by_hash = np.argsort(ranking_kernels.hashes(draws.key, identities[places]))
    order = places[ranking_kernels.ties_by_hash(np.argsort(own), by_hash, own)]
    strata = strata.astype(np.int64)
    order, starts = ranking_kernels.parted(order, strata, int(strata.max(initial=-1)) + 1)
    return Ranking(order, starts, values)
