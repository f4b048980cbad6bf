"""Which leaf each record goes to, and which shifted leaf its group: two trees and what all records count in them."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from shoal.microdata.microaggregation.leaves.request import Request
from shoal.microdata.microaggregation.leaves.scale import Scaling
from shoal.microdata.microaggregation.leaves.split_tree import Leaves, Sample, SplitTree, leaf_numbers
from shoal.microdata.microaggregation.leaves.splitting import (
    WHOLE,
    WHOLE_STRATUM,
    Counter,
    Router,
    Split,
    split_records,
)
from shoal.microdata.microaggregation.search.blocks import random_axes
from shoal.runtime import Seeds


@dataclass(frozen=True, eq=False)
class LeafOf:
    """The number of the leaf that a record belongs to, for many at once: small enough to go to every task."""

    router: Router
    numbers: np.ndarray

    def __call__(self, values: np.ndarray, roots: np.ndarray) -> np.ndarray:
        """Numbers; ``WHOLE_STRATUM`` where a stratum needs no tree."""
        nodes = self.router.nodes(values, roots)
        found: np.ndarray = np.where(nodes >= 0, self.numbers[nodes], WHOLE_STRATUM)
        return found

    def searched(self, values: np.ndarray, roots: np.ndarray) -> np.ndarray:
        """The roots of records that are searched in; ``WHOLE`` of those at crowded points, which are groups already."""
        nodes = self.router.nodes(values, roots)
        taking_part = (nodes >= 0) & (self.numbers[nodes] >= 0)
        found: np.ndarray = np.where(taking_part, roots, WHOLE).astype(np.int32)
        return found


@dataclass(frozen=True, eq=False)
class LeafPlan:
    """Leaves with their numbers; and those along other axes, if there are borders to lie inside of them."""

    scaling: Scaling
    first: Split
    leaves: Leaves
    second: Split | None

    @property
    def leaf_of(self) -> LeafOf:
        """Where a record goes."""
        numbers = np.zeros(self.first.router.tree.child.size, dtype=np.int32)
        for node, number in self.leaves.number_of.items():
            numbers[node] = number
        return LeafOf(self.first.router, numbers)

    @property
    def searched(self) -> dict[int, int]:
        """How many records each leaf has that is searched in."""
        return {number: records for number, records in self.leaves.records.items() if number >= 0}

    @property
    def shifted_leaves(self) -> int:
        """How many leaves the second pass has."""
        return 0 if self.second is None else len(self.second.counts)


def plan_leaves(
    records: Counter, scaling: Scaling, sizes: Mapping[int, int], distinct: int, request: Request
) -> LeafPlan:
    """Grow both trees; ``sizes`` is how many records the strata hold that need one, from root 0 on."""
    roots = SplitTree.unsplit(max(1, len(sizes)))
    first = split_records(records, Router(scaling, None, roots), sizes, distinct, request.options)
    leaves = leaf_numbers(first.router.tree, first.counts, request.k, request.most)
    plan = LeafPlan(scaling, first, leaves, None)
    if len(plan.searched) < 2:
        return plan
    axes = random_axes(len(request.columns), Seeds(request.seed).child("shifted"))
    leaf_of = plan.leaf_of
    # The same points serve both trees: what is counted in the leaves are all records, each time.
    sample = {root: _searched(drawn, leaf_of, root) for root, drawn in first.sample.items()}
    second = split_records(
        records.among(leaf_of.searched),
        Router(scaling, axes, roots),
        _taking_part(first, leaves),
        distinct,
        request.options,
        sample={root: drawn for root, drawn in sample.items() if len(drawn)},
    )
    return LeafPlan(scaling, first, leaves, second)


def _searched(sample: Sample, leaf_of: LeafOf, root: int) -> Sample:
    roots = np.full(len(sample), root, dtype=np.int32)
    return sample.part(leaf_of.searched(sample.points, roots) >= 0)


def _taking_part(first: Split, leaves: Leaves) -> dict[int, int]:
    """How many records below each root take part in the second pass: all but those at crowded points."""
    sizes: dict[int, int] = {}
    root_of = first.router.tree.roots()
    for node, number in leaves.number_of.items():
        if number >= 0:
            root = int(root_of[node])
            sizes[root] = sizes.get(root, 0) + first.counts[node].records
    return sizes
