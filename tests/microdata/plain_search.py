"""Slow, obvious twins of the search kernels: full recomputation, no quick test, plain lists.

They draw from the same generator in the same order, so that a kernel must make the very same moves.
"""

import numpy as np

from shoal.microdata.microaggregation.search.kernels.moves import Cooling
from shoal.runtime.randomness import below, shuffle, uniform


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


def random_moves(
    points: np.ndarray,
    k: int,
    groups: list[list[int]],
    others: np.ndarray,
    random: np.ndarray,
    cooling: Cooling,
    begin: int,
    count: int,
    limit: int,
    most: int,
) -> None:
    """Random moves in place, each tried on a copy whose error is computed anew."""

    def keep(changed: list[list[int]], temperature: float) -> bool:
        delta = total(points, changed) - total(points, groups)
        # Equal partitions differ by rounding.
        if delta > 1e-12 and not uniform(random) < np.exp(-delta / temperature):
            return False
        groups[:] = changed
        return True

    for step in range(begin, begin + count):
        stage = int(np.searchsorted(cooling.ends, step, side="right"))
        temperature = float(cooling.temperatures[stage])
        chance = uniform(random)
        first, last = int(cooling.first[stage]), int(cooling.last[stage])
        x = int(cooling.order[first + int(below(random, last - first))])
        i = home(groups, x)
        if chance < 0.01:
            if len(groups) > 1:
                spread = spread_out(points, groups, others, cooling.inside, i, limit)
                if spread is not None:
                    keep(spread, temperature)
        elif chance < 0.02:
            if len(groups[i]) > k and len(groups) < most:
                made, kept = gathered(k, groups, others, cooling.inside, x), False
                if len(made[-1]) == k:
                    kept = keep(made, temperature)
                if not kept:
                    # What was taken out comes back last.
                    for y in reversed(made[-1]):
                        g = home(groups, y)
                        made[g].append(y)
                    groups[:] = made[:-1]
        else:
            y = int(others[x, int(uniform(random) ** 2 * others.shape[1])])
            j = home(groups, y)
            if i == j or not cooling.inside[y]:
                continue
            if chance < 0.5:
                x, i, j = y, j, i
            changed = [list(group) for group in groups]
            if len(groups[i]) > k and len(groups[j]) < limit and uniform(random) < 0.5:
                take(changed[i], x)
                changed[j].append(x)
            else:
                o = int(below(random, len(groups[j])))
                changed[i][changed[i].index(x)], changed[j][o] = groups[j][o], x
            keep(changed, temperature)


def home(groups: list[list[int]], x: int) -> int:
    return next(g for g, group in enumerate(groups) if x in group)


def take(group: list[int], x: int) -> None:
    """Take a member out; the last one comes in its place."""
    group[group.index(x)] = group[-1]
    group.pop()


def spread_out(
    points: np.ndarray, groups: list[list[int]], others: np.ndarray, inside: np.ndarray, g: int, limit: int
) -> list[list[int]] | None:
    """The groups without g, whose members went one by one where they cost least, among the groups of near records."""
    spread = [list(group) for group in groups]
    where = {x: i for i, group in enumerate(groups) for x in group}
    for x in groups[g]:
        near = [where[y] for y in others[x].tolist() if inside[y]]
        open_to = [j for j in near if j != g and len(spread[j]) < limit]
        if not open_to:
            return None
        to = min(open_to, key=lambda j: error(points, [*spread[j], x]) - error(points, spread[j]))
        spread[to].append(x)
        where[x] = to
    spread[g] = spread[-1]
    spread.pop()
    return spread


def gathered(
    k: int, groups: list[list[int]], others: np.ndarray, inside: np.ndarray, x: int
) -> list[list[int]]:
    """The groups with one more at their end: x and the nearest records that can be spared."""
    made = [list(group) for group in groups]
    new: list[int] = []
    for y in [x, *others[x].tolist()]:
        g = home(groups, y)
        if len(new) < k and inside[y] and len(made[g]) > k:
            take(made[g], y)
            new.append(y)
    return [*made, new]


def better_parts(points: np.ndarray, one: list[list[int]], other: list[list[int]]) -> list[set[int]]:
    """Each part, whose records share groups with nobody else in either partition, from the better partition."""
    parts: list[set[int]] = []
    for group in [*one, *other]:
        joined = set(group).union(*(part for part in parts if part & set(group)))
        parts = [part for part in parts if not part & joined] + [joined]
    chosen: list[set[int]] = []
    for part in parts:
        choices = [[group for group in groups if set(group) <= part] for groups in (one, other)]
        chosen += [set(group) for group in min(choices, key=lambda groups: total(points, groups))]
    return chosen
