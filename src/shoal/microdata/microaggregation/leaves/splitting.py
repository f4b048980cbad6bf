"""Where each record goes: a split tree grown from a sample, counted on all records, and mended until no leaf is too large.

What is held in one place are sampled points with how often they occur, and counts: a share of the number of leaves.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol, TypeAlias

import numpy as np

from shoal.microdata.microaggregation.leaves.leaf_search import LeafOptions
from shoal.microdata.microaggregation.leaves.scale import Scaling
from shoal.microdata.microaggregation.leaves.split_tree import LeafCount, Sample, SplitTree

#: At least so many points are drawn, if there are as many.
LEAST_SAMPLE = 50_000
#: Where a record begins that needs no tree: its stratum is a leaf of its own.
WHOLE = -1
#: The leaf of a stratum that needs no tree.
WHOLE_STRATUM = 2**31 - 1


@dataclass(frozen=True, eq=False)
class Router:
    """From the values of records to the nodes of a tree, on the scale of the distances, along its own axes."""

    scaling: Scaling
    axes: np.ndarray | None
    tree: SplitTree

    def turned(self, points: np.ndarray) -> np.ndarray:
        """Scaled points along the axes of the tree; sums in one order, so that every machine gets the same."""
        if self.axes is None:
            return points
        result = points[:, :1] * self.axes[0]
        for place in range(1, points.shape[1]):
            result = result + points[:, place : place + 1] * self.axes[place]
        return result

    def nodes(self, values: np.ndarray, roots: np.ndarray) -> np.ndarray:
        """The leaf of the tree that each record belongs to; ``WHOLE`` of those without a tree."""
        return self.nodes_of_points(self.scaling.points(values), roots)

    def nodes_of_points(self, points: np.ndarray, roots: np.ndarray) -> np.ndarray:
        """The same of points that are scaled already."""
        nodes = np.full(roots.shape, WHOLE, dtype=np.int32)
        inside = roots >= 0
        if inside.any():
            nodes[inside] = self.tree.route(self.turned(points[inside]), roots[inside])
        return nodes

    def with_tree(self, tree: SplitTree) -> "Router":
        """The same on another tree."""
        return Router(self.scaling, self.axes, tree)


@dataclass(frozen=True, eq=False)
class Split:
    """A tree with what all of its leaves hold, and the points that were drawn from its roots."""

    router: Router
    counts: Mapping[int, LeafCount]
    rounds: int
    sample: Mapping[int, Sample]


#: From the values and the roots of records to a number of each.
Choose: TypeAlias = Callable[[np.ndarray, np.ndarray], np.ndarray]


class Counter(Protocol):
    """Records that can be sampled and counted wherever they are."""

    def draw(
        self, router: Router, wanted: Mapping[int, int], known: Mapping[int, LeafCount]
    ) -> Mapping[int, Sample]:
        """About so many distinct points of some leaves, in an order of their own, with how many records each stands for."""

    def count(self, router: Router, nodes: np.ndarray) -> dict[int, LeafCount]:
        """What the leaves among some nodes hold, counted on all records."""

    def among(self, choose: Choose) -> "Counter":
        """The same records beginning at other roots; ``WHOLE`` of those that take no part."""


def split_records(
    records: Counter,
    router: Router,
    sizes: Mapping[int, int],
    distinct: int,
    options: LeafOptions,
    *,
    sample: Mapping[int, Sample] | None = None,
) -> Split:
    """Grow a tree whose leaves hold at most twice the records asked for; ``sizes`` is what each root holds.

    Only a point that more records share than that may be larger. ``sample`` are points of the roots, if some were drawn.
    """
    most = 2 * options.leaf
    counts = {root: LeafCount(size, distinct) for root, size in sizes.items()}
    # Before anything is counted a root may hold anything.
    large = {root: count for root, count in counts.items() if count.records > most}
    rounds = 0
    of_roots: Mapping[int, Sample] = {}
    while large:
        wanted = {
            node: max(LEAST_SAMPLE // len(large), options.sample * count.records // options.leaf)
            for node, count in large.items()
        }
        points = records.draw(router, wanted, large) if rounds or sample is None else sample
        of_roots = of_roots if rounds else points
        drawn = {
            node: (
                Sample(router.turned(router.scaling.points(found.points)), found.weights),
                large[node].records,
            )
            for node, found in sorted(points.items())
            if node in large
        }
        tree = router.tree.split(drawn, options.leaf)
        router = router.with_tree(tree)
        counted = records.count(router, np.flatnonzero(_descends(tree, set(large))))
        counts = {node: count for node, count in counts.items() if node not in large} | counted
        # What its sample could not split, a later one could not either: it was drawn by the same hashes.
        large = {
            node: count
            for node, count in counted.items()
            if count.records > most and not count.constant and node not in large
        }
        rounds += 1
    return Split(router, counts, rounds, of_roots)


def _descends(tree: SplitTree, nodes: set[int]) -> np.ndarray:
    """Which nodes are one of these or lie below one."""
    inside = np.zeros(tree.child.size, dtype=bool)
    inside[list(nodes)] = True
    # A child has a larger number than its parent.
    for node in np.flatnonzero(tree.child >= 0).tolist():
        if inside[node]:
            inside[tree.child[node] : tree.child[node] + 2] = True
    return inside
