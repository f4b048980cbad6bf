"""What is done with the records of a leaf, as arrays, wherever they come from and go to."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from shoal.microdata.microaggregation.aggregate import Aggregate
from shoal.microdata.microaggregation.leaves.leaf_search import (
    LeafTask,
    group,
    groups_of_crowd,
    improve,
    means_by_record,
    released,
)
from shoal.microdata.microaggregation.leaves.scale import Scaling
from shoal.microdata.microaggregation.leaves.splitting import WHOLE_STRATUM
from shoal.microdata.microaggregation.leaves.units import with_enough_units

if TYPE_CHECKING:
    from shoal.microdata.microaggregation.leaves.plan import LeafPlan
    from shoal.microdata.microaggregation.leaves.request import Request
    from shoal.microdata.microaggregation.leaves.splitting import Router


@dataclass(frozen=True, eq=False)
class LeafWork:
    """All that must be known for it: it is small, and goes to every task.

    Records come in an order of their own. ``shifted`` says where a group goes for the second pass, if there is one.
    """

    kinds: tuple[str, ...]
    scaling: Scaling
    aggregate: Aggregate
    first: LeafTask
    second: LeafTask
    shifted: "Router | None"

    @classmethod
    def of(cls, request: "Request", plan: "LeafPlan", records: int) -> "LeafWork":
        """The work that a plan leads to."""
        shifted = None if plan.second is None else plan.second.router
        return cls(request.kinds, plan.scaling, request.aggregate, *request.tasks(records), shifted)

    def grouped(self, values: np.ndarray, units: np.ndarray | None, leaf: int) -> np.ndarray:
        """The first pass: the group of each record."""
        points = self.scaling.points(values)
        labels = group(points, self.first, leaf)
        return labels if units is None else with_enough_units(points, labels, units, self.first.k)

    def crowded(self, values: np.ndarray) -> np.ndarray:
        """The group of each record at a point that very many share, and of the few that join it: one, or as few as may be."""
        groups = sum(groups_of_crowd(len(values), self.first.largest).values())
        return np.arange(len(values)) * groups // len(values)

    def sent_on(
        self, values: np.ndarray, labels: np.ndarray, leaf: int, roots: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """A number of each record's group that no other leaf gives, and the shifted leaf it goes to."""
        assert self.shifted is not None
        means = means_by_record(self.scaling.points(values), labels)
        shifted = self.shifted.nodes_of_points(means, roots.astype(np.int32))
        teams = (np.int64(leaf) << 32) + labels
        return teams, np.where(shifted < 0, WHOLE_STRATUM, shifted).astype(np.int32)

    def improved(
        self, values: np.ndarray, teams: np.ndarray, units: np.ndarray | None, leaf: int
    ) -> np.ndarray:
        """The second pass: groups that lie near each other, whichever leaves they come from, improved."""
        _, labels = np.unique(teams, return_inverse=True)
        labels = labels.reshape(-1)
        if leaf == WHOLE_STRATUM:
            return labels
        points = self.scaling.points(values)
        labels = improve(points, labels, self.second, leaf)
        return labels if units is None else with_enough_units(points, labels, units, self.second.k)

    def released(self, values: np.ndarray, labels: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What is released of each record, and its squared error."""
        made = released(values, labels, self.kinds, self.aggregate)
        return made, self.errors(values, made)

    def errors(self, values: np.ndarray, released: np.ndarray) -> np.ndarray:
        """The squared errors of what is released, on the scale of the distances."""
        gone: np.ndarray = np.square(self.scaling.points(values) - self.scaling.points(released)).sum(axis=1)
        return gone
