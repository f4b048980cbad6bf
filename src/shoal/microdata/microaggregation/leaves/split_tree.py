"""A tree of splits grown on a sample: it says of any record in which leaf it belongs.

Bentley, Multidimensional binary search trees used for associative searching, Communications of the ACM 18(9), 1975. The
tree knows nothing of the records it was not grown on; they are counted before it is used, and leaves that turn out too
large are split further (``split_leaf``), those too small share a number with a neighbour (``leaf_numbers``).
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

#: The child of a node that is a leaf.
_NONE = -1


@dataclass(frozen=True, eq=False)
class Sample:
    """Distinct points and how many records each stands for."""

    points: np.ndarray
    weights: np.ndarray

    def __len__(self) -> int:
        return len(self.weights)

    def part(self, chosen: np.ndarray) -> "Sample":
        """Some of the points."""
        return Sample(self.points[chosen], self.weights[chosen])


@dataclass(frozen=True, eq=False)
class SplitTree:
    """Nodes by number: those with a child send what is at most the threshold to it, and the rest to the node after it."""

    axis: np.ndarray
    threshold: np.ndarray
    child: np.ndarray

    @classmethod
    def unsplit(cls, roots: int = 1) -> "SplitTree":
        """Nothing but roots: one leaf for all, or one for each of several strata."""
        return cls(np.zeros(roots, dtype=np.int32), np.zeros(roots), np.full(roots, _NONE, dtype=np.int32))

    @property
    def leaves(self) -> np.ndarray:
        """The nodes that are leaves."""
        return np.flatnonzero(self.child == _NONE)

    def roots(self) -> np.ndarray:
        """The root above each node."""
        above = np.arange(self.child.size)
        # A child has a larger number than its parent.
        for node in np.flatnonzero(self.child != _NONE).tolist():
            above[self.child[node] : self.child[node] + 2] = above[node]
        return above

    def route(self, points: np.ndarray, roots: np.ndarray | int = 0) -> np.ndarray:
        """The leaf of each point: one step down for all of them at once, as often as the tree is deep.

        ``roots`` is where each of them begins, if the tree has several.

        >>> tree = SplitTree(np.array([0, 0, 0]), np.array([2.0, 0, 0]), np.array([1, -1, -1]))
        >>> tree.route(np.array([[1.0], [2.0], [3.0]])).tolist()
        [1, 1, 2]
        """
        node = np.broadcast_to(np.asarray(roots, dtype=np.int32), points.shape[:1]).copy()
        moving = np.flatnonzero(self.child[node] != _NONE)
        while moving.size:
            here = node[moving]
            beyond = points[moving, self.axis[here]] > self.threshold[here]
            node[moving] = self.child[here] + beyond
            moving = moving[self.child[node[moving]] != _NONE]
        return node

    def split(self, samples: Mapping[int, tuple[Sample, int]], target: int) -> "SplitTree":
        """The tree with some leaves split until each part of their samples stands for ``target`` records at most.

        With each sample comes how many records its leaf holds. What cannot be told apart stays together.

        >>> sample = Sample(np.array([[1.0], [2.0], [3.0], [4.0]]), np.ones(4))
        >>> tree = SplitTree.unsplit().split({0: (sample, 400)}, 200)
        >>> tree.route(sample.points).tolist()
        [1, 1, 2, 2]
        """
        axis, threshold, child = (list(part) for part in (self.axis, self.threshold, self.child))
        for leaf, (sample, records) in samples.items():
            per_weight = records / max(1.0, float(sample.weights.sum()))
            waiting = [(leaf, np.arange(len(sample)))]
            while waiting:
                node, members = waiting.pop()
                share = float(sample.weights[members].sum()) * per_weight
                cut = _cut(sample.part(members)) if share > target else None
                if cut is None:
                    continue
                axis[node], threshold[node], child[node] = cut[0], cut[1], len(child)
                axis += [0, 0]
                threshold += [0.0, 0.0]
                child += [_NONE, _NONE]
                beyond = sample.points[members, cut[0]] > cut[1]
                waiting.append((child[node], members[~beyond]))
                waiting.append((child[node] + 1, members[beyond]))
        return SplitTree(
            np.array(axis, dtype=np.int32),
            np.array(threshold, dtype=np.float64),
            np.array(child, dtype=np.int32),
        )


def _cut(sample: Sample) -> tuple[int, float] | None:
    """The coordinate in which the points are spread most, and the value that halves them best; none if all are equal."""
    share = sample.weights / sample.weights.sum()
    centre = (sample.points * share[:, None]).sum(axis=0)
    spread = (np.square(sample.points - centre) * share[:, None]).sum(axis=0)
    for axis in np.argsort(-spread, kind="stable").tolist():
        values, place = np.unique(sample.points[:, axis], return_inverse=True)
        if values.size < 2:
            continue
        upto = np.cumsum(np.bincount(place.reshape(-1), weights=sample.weights))
        best = int(np.argmin(np.abs(upto[:-1] - upto[-1] / 2)))
        return axis, float(values[best])
    return None


@dataclass(frozen=True)
class LeafCount:
    """What a leaf holds when all records are counted: how many, about how many distinct points, whether only one.

    ``units`` is a number of distinct units it surely has, where units are counted.
    """

    records: int
    distinct: int
    constant: bool = False
    units: int | None = None


@dataclass(frozen=True)
class Leaves:
    """The number that each leaf goes by, and how many records each number has.

    Numbers from 0 on are searched in; those below 0 are points (or a point and too few others) that form one group.
    """

    number_of: Mapping[int, int]
    records: Mapping[int, int]
    together: Mapping[int, tuple[int, ...]] = field(default_factory=dict)


def leaf_numbers(tree: SplitTree, counts: Mapping[int, LeafCount], k: int, most: int) -> Leaves:
    """Numbers for the leaves, such that every number has at least k records, and as many units where they are counted.

    A leaf of fewer shares the number of the smallest of its nearest relatives in the tree. A single point of more than
    ``most`` records is a group of its own, and takes part in that only where there is nobody else; if it has too few units
    its nearest relatives join it. Of several leaves together no more units are sure than one of them has.
    """
    parent = np.full(tree.child.size, -1)
    inner = np.flatnonzero(tree.child != _NONE)
    parent[tree.child[inner]] = parent[tree.child[inner] + 1] = inner
    points = {leaf for leaf, count in counts.items() if count.constant and count.records > most}
    label = {leaf: leaf for leaf, count in counts.items() if count.records}
    members = {leaf: [leaf] for leaf in label}
    size = {leaf: counts[leaf].records for leaf in label}
    sure = {leaf: size[leaf] if (units := counts[leaf].units) is None else units for leaf in label}
    below: dict[int, set[int]] = {}
    for leaf in label:
        node = leaf
        while node >= 0:
            below.setdefault(node, set()).add(leaf)
            node = int(parent[node])

    def joined(one: int, other: int) -> None:
        moved = members.pop(one)
        members[other] += moved
        label.update(dict.fromkeys(moved, other))
        size[other] += size.pop(one)
        units = sure.pop(one)
        sure[other] = size[other] if counts[other].units is None else max(units, sure[other])

    short = sorted((leaf for leaf in size if sure[leaf] < k), key=lambda one: (size[one], one))
    for leaf in short:
        # Others may have joined it, or it them.
        while leaf in size and sure[leaf] < k:
            other = _nearest(leaf, below, parent, label, size, points)
            if other is None:
                break
            if leaf in points and other not in points:
                joined(other, leaf)
            else:
                joined(leaf, other)
    searched = sorted(leaf for leaf in size if leaf not in points)
    grouped = sorted(leaf for leaf in size if leaf in points)
    numbers = {leaf: place for place, leaf in enumerate(searched)}
    numbers |= {leaf: -1 - place for place, leaf in enumerate(grouped)}
    return Leaves(
        {leaf: numbers[own] for leaf, own in label.items()},
        {numbers[leaf]: records for leaf, records in size.items()},
        {numbers[own]: tuple(members[own]) for own in grouped},
    )


def _nearest(
    leaf: int,
    below: Mapping[int, Iterable[int]],
    parent: np.ndarray,
    label: Mapping[int, int],
    size: Mapping[int, int],
    points: set[int],
) -> int | None:
    """The number to share: one of the nearest relatives, and a crowded point only if there is nobody else."""
    for avoided in (points, set()):
        node = leaf
        while node >= 0:
            others = {label[other] for other in below[node]} - {leaf} - avoided
            if others:
                return min(others, key=lambda one: (size[one], one))
            node = int(parent[node])
    return None
