"""Slow, obvious twins of the search kernels: full recomputation, no quick test, plain lists.

They draw from the same generator in the same order, so that a kernel must make the very same moves.
"""

import numpy as np

from shoal.search.randomness import below, shuffle, uniform


def error(points: np.ndarray, group: list[int]) -> float:
    rows = points[group]
    return float(np.square(rows - rows.mean(axis=0)).sum())


def total(points: np.ndarray, groups: list[list[int]]) -> float:
    return sum(error(points, group) for group in groups)


def visit(
    points: np.ndarray, k: int, eps: float, groups: list[list[int]], i: int, j: int, capacity: int = 10**9
) -> bool:
    """Swaps by place, then shifts from i to j, then from j to i, each committed as soon as it lowers the error."""
    moved = False
    one, other = groups[i], groups[j]
    for a in range(len(one)):
        for b in range(len(other)):
            before = error(points, one) + error(points, other)
            one[a], other[b] = other[b], one[a]
            if before - error(points, one) - error(points, other) > eps:
                moved = True
            else:
                one[a], other[b] = other[b], one[a]
    for giver, taker in ((one, other), (other, one)):
        a = 0
        while len(giver) > k and a < len(giver) and len(taker) < capacity:
            x = giver[a]
            rest = giver[:a] + [giver[-1]] + giver[a + 1 : -1] if a < len(giver) - 1 else giver[:-1]
            gain = (
                error(points, giver) + error(points, taker) - error(points, rest) - error(points, [*taker, x])
            )
            if gain > eps:
                giver[:] = rest
                taker.append(x)
                moved = True
            else:
                a += 1
    return moved


def descend(
    points: np.ndarray,
    k: int,
    eps: float,
    groups: list[list[int]],
    targets: set[int],
    random: np.ndarray,
    *,
    everything: bool = False,
    capacity: int = 10**9,
) -> int:
    """Local search in place; the number of pairs tried."""
    tried = 0
    while True:
        order = np.array(sorted(range(len(groups)) if everything else targets), dtype=np.int64)
        if len(order) == 0:
            return tried
        shuffle(random, order)
        changed: set[int] = set()
        done: set[int] = set()
        for i in order.tolist():
            for j in range(len(groups)):
                if j == i or j in done:
                    continue
                tried += 1
                if visit(points, k, eps, groups, i, j, capacity):
                    changed |= {i, j}
            done.add(i)
        if not changed:
            return tried
        targets = changed


def dissolve(points: np.ndarray, groups: list[list[int]], g: int, capacity: int = 10**9) -> set[int]:
    """Members go to the group with the nearest mean; the last group takes the number. The groups that grew."""
    loose = groups[g]
    groups[g] = groups[-1]
    groups.pop()
    grown = set()
    for x in loose:
        distances = [
            np.square(points[group].mean(axis=0) - points[x]).sum() if len(group) < capacity else np.inf
            for group in groups
        ]
        to = int(np.argmin(distances))
        groups[to].append(x)
        grown.add(to)
    return grown


def distill(points: np.ndarray, k: int, groups: list[list[int]], random: np.ndarray) -> set[int]:
    """A new group of k from spare members, beginning with a random one. The groups that changed."""
    spare: list[tuple[int, int]] = []
    for g, group in enumerate(groups):
        away = np.square(points[group] - points[group].mean(axis=0)).sum(axis=1)
        spare += [(group[m], g) for m in np.argsort(-away, kind="stable")[: len(group) - k]]
    new: list[int] = []
    changed = {len(groups)}
    for size in range(k):
        if size == 0:
            pick = int(below(random, len(spare)))
        else:
            centre = points[new].mean(axis=0)
            pick = int(np.argmin([np.square(points[x] - centre).sum() for x, _ in spare]))
        x, donor = spare[pick]
        spare[pick] = spare[-1]
        spare.pop()
        groups[donor].remove(x)
        changed.add(donor)
        new.append(x)
    groups.append(new)
    return changed


def pick_lossy(points: np.ndarray, groups: list[list[int]], sample: int, random: np.ndarray) -> int:
    drawn = [int(below(random, len(groups))) for _ in range(sample)]
    return max(drawn, key=lambda g: error(points, groups[g]))


def iterate(
    points: np.ndarray,
    k: int,
    eps: float,
    groups: list[list[int]],
    iterations: int,
    fewest: int,
    most: int,
    random: np.ndarray,
    *,
    everything: bool,
    sample: int,
    chance: float,
    temperature: float,
    capacity: int,
) -> tuple[list[list[int]], list[float]]:
    """Iterated local search from a local optimum: the best partition and the course of its error."""
    best = [list(group) for group in groups]
    least = total(points, best)
    course = []
    for _ in range(iterations):
        if len(groups) <= fewest or (len(groups) < most and uniform(random) < 0.5):
            targets = distill(points, k, groups, random)
        else:
            targets = dissolve(points, groups, pick_lossy(points, groups, sample, random), capacity)
        descend(points, k, eps, groups, targets, random, everything=everything, capacity=capacity)
        error_now = total(points, groups)
        if error_now < least - eps:
            best, least = [list(group) for group in groups], error_now
        else:
            excess = max(0.0, error_now - least)
            limit = np.exp(-excess / (temperature * least)) if temperature > 0 else chance
            if not uniform(random) < limit:
                groups = [list(group) for group in best]
        course.append(least)
    return best, course
