"""Small random problems, and the least loss of local suppression by going through all ways to part the records."""

from collections import Counter

import numpy as np

from shoal.microdata.columns.hierarchies.hierarchy import Hierarchy
from shoal.microdata.models.model import ConfidentialColumn, DistinctDiversity
from shoal.microdata.recoding.problem import Problem
from shoal.microdata.recoding.solution import Recoding


def random_problem(seed: int, *, people: bool = False, model: bool = False) -> Problem:
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
    demands: dict[str, object] = {}
    if model:
        codes = rng.integers(0, 3, n)
        shares = np.bincount(codes, minlength=3) / n
        demands["confidential"] = {"illness": (codes, ConfidentialColumn("illness", shares))}
        demands["models"] = (DistinctDiversity("illness", int(rng.integers(2, 4))),)
    return Problem.of(
        columns,
        hierarchies,
        k=min(k, n),
        units=units,
        **demands,
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


def least_loss(problem: Problem, values: np.ndarray | None = None, distinct: int = 0) -> float:
    """The least loss over all ways to part the records into classes and those left out; infinite if there is none.

    A class needs so many distinct values, if these are given by record.
    """
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
        if len(rows) < problem.k or (values is not None and len(set(values[rows])) < distinct):
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


def labels(problem: Problem, found: Recoding) -> list[tuple[tuple[tuple[int, int], ...], int]]:
    """What each piece that is kept is released as, as runs of leaves, with its number."""
    made = []
    for number, (t, levels) in enumerate(zip(found.tuples, found.levels, strict=True)):
        label = []
        for j, hierarchy in enumerate(problem.hierarchies):
            node = hierarchy.nodes[levels[j]][problem.keys[t, j]]
            leaves = np.flatnonzero(hierarchy.nodes[levels[j]] == node)
            label.append((int(leaves[0]), int(leaves[-1])))
        if found.released[number]:
            made.append((tuple(label), number))
    return made


def values_by_record(problem: Problem) -> np.ndarray:
    """A confidential value for each record, such that every tuple has those of its histogram."""
    assert problem.tuple_of is not None
    (histogram,) = problem.histograms.values()
    values = np.empty(problem.tuple_of.size, dtype=int)
    for t in range(problem.records.size):
        run = slice(histogram.starts[t], histogram.starts[t + 1])
        values[problem.tuple_of == t] = np.repeat(histogram.values[run], histogram.counts[run])
    return values


def least_distinct(problem: Problem, found: Recoding, values: np.ndarray) -> int:
    """How many different values the poorest class has; no tuple may be parted."""
    classes: dict[object, set[int]] = {}
    for label, number in labels(problem, found):
        t = found.tuples[number]
        assert found.records[number] == problem.records[t]
        classes.setdefault(label, set()).update(values[problem.tuple_of == t].tolist())
    return min((len(own) for own in classes.values()), default=10**9)


def check(problem: Problem, found: Recoding) -> None:
    """All records are there, classes have k of them, blanks are allowed, no more are left out than may be."""
    given: Counter[int] = Counter()
    classes: Counter[object] = Counter()
    for t, records, levels in zip(found.tuples, found.records, found.levels, strict=True):
        given[int(t)] += int(records)
        for j, hierarchy in enumerate(problem.hierarchies):
            assert levels[j] in (problem.lowest[j], hierarchy.height)
            assert levels[j] == problem.lowest[j] or problem.highest[j] == hierarchy.height
    for label, number in labels(problem, found):
        classes[label] += int(found.records[number])
    assert all(given[t] == records for t, records in enumerate(problem.records))
    assert all(records > 0 for records in found.records)
    assert min(classes.values(), default=problem.k) >= problem.k
    assert found.records[~found.released].sum() <= problem.limit
    assert np.isclose(found.value, loss_of(problem, found))


def loss_of(problem: Problem, found: Recoding) -> float:
    """The loss of the pieces, by hand."""
    kept, blank = rates(problem)
    total = 0.0
    for t, records, levels, is_kept in zip(
        found.tuples, found.records, found.levels, found.released, strict=True
    ):
        own = kept[np.flatnonzero(problem.tuple_of == t)[0]]
        lost = np.where(levels == np.array(problem.lowest), own, blank) if is_kept else blank
        total += float(lost.sum()) * int(records)
    return total / problem.size if problem.measure == "loss" else total
