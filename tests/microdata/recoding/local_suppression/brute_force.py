"""Small random problems, and the least loss of local suppression by going through all ways to part the records."""

from collections import Counter

import numpy as np

from shoal.microdata.columns.hierarchies.hierarchy import Hierarchy
from shoal.microdata.recoding.problem import Problem
from shoal.microdata.recoding.solution import Recoding


def random_problem(seed: int, *, people: bool = False) -> Problem:
    rng = np.random.default_rng(seed)
    n, d = int(rng.integers(3, 9)), int(rng.integers(1, 5))
    columns, hierarchies = [], []
    for _ in range(d):
        card = int(rng.integers(1, 5))
        if rng.random() < 0.4 and card > 2:
            rows = [(f"v{i}", f"g{i // 2}") for i in range(card)]
        else:
            rows = [(f"v{i}",) for i in range(card)]
        hierarchies.append(Hierarchy(rows))
        columns.append(rng.integers(0, card, n))
    heights = [h.height for h in hierarchies]
    lowest = tuple(int(rng.integers(0, height)) if rng.random() < 0.3 else 0 for height in heights)
    highest = tuple(
        int(rng.integers(low, height)) if rng.random() < 0.15 else height
        for low, height in zip(lowest, heights, strict=True)
    )
    weights = rng.choice([1.0, 1.0, 1.0, 2.0, 0.5, 0.0, 0.7], d)
    if weights.sum() == 0.0:
        weights[0] = 1.0
    units = rng.integers(0, max(2, n - 2), n) if people else None
    k = int(rng.integers(1, 4))
    if people:
        k = min(k, np.unique(units).size)
    return Problem.of(
        columns,
        hierarchies,
        k=min(k, n),
        units=units,
        measure=str(rng.choice(["loss", "cells"])),
        weights=weights,
        lowest=lowest,
        highest=highest,
        limit=int(rng.choice([0, 0, 1, 2])),
    )


def rates(problem: Problem) -> tuple[np.ndarray, np.ndarray]:
    """What each key of each record loses as it is and blanked, by hand."""
    assert problem.tuple_of is not None
    keys = problem.keys[problem.tuple_of]
    kept, blank = np.zeros(keys.shape), np.zeros(keys.shape[1])
    for j, hierarchy in enumerate(problem.hierarchies):
        leaves = [row[0] for row in hierarchy.rows]
        level = problem.lowest[j]
        for i, leaf in enumerate(keys[:, j]):
            label = hierarchy.rows[leaf][level]
            under = sum(row[level] == label for row in hierarchy.rows)
            if problem.measure == "cells":
                kept[i, j] = label != leaves[leaf]
            else:
                kept[i, j] = (under - 1) / max(1, len(leaves) - 1) if level < hierarchy.height else 1.0
        blank[j] = 1.0
    weights = problem.weights if problem.measure == "cells" else problem.weights / problem.weights.sum()
    return kept * weights, blank * weights


def least_loss(problem: Problem, units: np.ndarray | None = None) -> float:
    """The least loss over all ways to part the records into classes and those left out; infinite if there is none."""
    assert problem.tuple_of is not None
    keys = problem.keys[problem.tuple_of]
    labels = np.stack(
        [
            h.nodes[level][keys[:, j]]
            for j, (h, level) in enumerate(zip(problem.hierarchies, problem.lowest, strict=True))
        ],
        axis=1,
    )
    may = [high == h.height for high, h in zip(problem.highest, problem.hierarchies, strict=True)]
    kept, blank = rates(problem)
    n = len(keys)
    prices: dict[int, float] = {}
    for chosen in range(1, 1 << n):
        rows = [i for i in range(n) if chosen >> i & 1]
        if len(rows) < problem.k:
            continue
        differ = [len(set(labels[rows, j])) > 1 for j in range(labels.shape[1])]
        if any(d and not m for d, m in zip(differ, may, strict=True)):
            continue
        prices[chosen] = sum(
            blank[j] if differ[j] else kept[i, j] for i in rows for j in range(labels.shape[1])
        )
    best = {(0, problem.limit): 0.0}
    full = float(blank.sum())

    def least(left: int, room: int) -> float:
        if left == 0:
            return 0.0
        if (left, room) in best:
            return best[left, room]
        first = left & -left
        found = np.inf
        if room > 0:
            found = full + least(left ^ first, room - 1)
        others = left ^ first
        part = others
        while True:
            if part | first in prices:
                found = min(found, prices[part | first] + least(others ^ part, room))
            if part == 0:
                break
            part = (part - 1) & others
        best[left, room] = found
        return found

    total = least((1 << n) - 1, problem.limit)
    return total / n if problem.measure == "loss" else total


def check(problem: Problem, found: Recoding) -> None:
    """All records are there, classes have k people, blanks are allowed, no more are left out than may be."""
    given: Counter[int] = Counter()
    classes: Counter[tuple[tuple[int, int], ...]] = Counter()
    out = 0
    total = 0.0
    for t, records, levels, kept in zip(found.tuples, found.records, found.levels, found.kept, strict=True):
        given[int(t)] += int(records)
        label = []
        for j, hierarchy in enumerate(problem.hierarchies):
            assert levels[j] in (problem.lowest[j], hierarchy.height)
            assert levels[j] <= problem.highest[j] or problem.highest[j] == hierarchy.height
            node = hierarchy.nodes[levels[j]][problem.keys[t, j]]
            leaves = np.flatnonzero(hierarchy.nodes[levels[j]] == node)
            label.append((int(leaves[0]), int(leaves[-1])))
        if kept:
            classes[tuple(label)] += int(records)
        else:
            out += int(records)
    assert all(given[t] == records for t, records in enumerate(problem.records))
    assert all(records > 0 for records in found.records)
    assert not classes or min(classes.values()) >= problem.k
    assert out <= problem.limit
    assert total == 0.0
