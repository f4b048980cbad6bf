"""The independent check of a grouping: the table protected and scored again, with a plain MDAV of its own."""

import numpy as np

from shoal.microdata.grouping.problem import GroupingProblem
from shoal.microdata.grouping.solution import Grouping

# Squared distances that differ by less count as equal.
_TIE, _TINY = 1e-10, 1e-20


def verify(problem: GroupingProblem, solution: Grouping) -> None:
    """Raise ``AssertionError`` unless it is a partition of the attributes and has the score it claims."""
    groups = [[a for a in range(mask.bit_length()) if mask >> a & 1] for mask in solution.partition]
    assert all(groups), "a group is empty"
    named = sorted(attribute for group in groups for attribute in group)
    assert named == list(range(problem.n)), f"{named} are not the {problem.n} attributes, each once"
    released = np.empty_like(problem.points)
    for group in groups:
        released[:, group] = _microaggregated(problem, problem.points[:, group])
    found = {
        "il": _lost(problem.points, released),
        "id": _disclosed(problem, released),
        "dld": _linked(problem.points, released),
    }
    for name, percent in found.items():
        claimed = getattr(solution.score, name)
        assert abs(claimed - percent) <= 1e-7, f"{name} is {percent}, not {claimed} as claimed"
    weight = problem.scoring.loss_weight
    score = weight * found["il"] + (1.0 - weight) * (found["id"] + found["dld"]) / 2.0
    assert abs(solution.value - score) <= 1e-7, f"the score is {score}, not {solution.value}"
    assert solution.bound is None or solution.bound <= score + 1e-7, "the bound is above the score"
    assert not solution.optimal or solution.bound is not None, "optimal without a bound to show it"


def _microaggregated(problem: GroupingProblem, points: np.ndarray) -> np.ndarray:
    """Every record replaced by the mean of its cluster."""
    labels = plain_mdav(
        points,
        problem.k,
        enough_for_second=2 * problem.k if problem.scoring.bounds == "strict" else problem.k + 1,
        manhattan=problem.scoring.distance == "manhattan",
    )
    sizes = np.bincount(labels)
    means = [np.bincount(labels, weights=column) / sizes for column in points.T]
    return np.stack([mean[labels] for mean in means], axis=1)


def plain_mdav(points: np.ndarray, k: int, *, enough_for_second: int, manhattan: bool) -> np.ndarray:
    """The cluster of each record by MDAV, one array operation after the other.

    As long as 2k records are left: one cluster around the record farthest from their mean, and one around the record
    farthest from that one. The rest is the last cluster. Ties go to the record that comes first.

    >>> plain_mdav(np.array([[2.0], [6.0], [3.0], [9.0], [8.0], [10.0]]), 2, enough_for_second=4, manhattan=False).tolist()
    [0, 2, 0, 1, 2, 1]
    """
    labels = np.full(len(points), -1)
    left = np.arange(len(points))
    # A running sum, from which those who leave are taken: which of two records is farther from the mean can depend on
    # its last digit.
    total = np.cumsum(points, axis=0)[-1]
    cluster = 0

    def away_from(centre: np.ndarray) -> np.ndarray:
        away = np.zeros(left.size)
        for column, at in zip(points[left].T, centre, strict=True):
            away += np.abs(column - at) if manhattan else (column - at) ** 2
        return away

    while left.size >= 2 * k:
        away = away_from(total / left.size)
        for needed in (2 * k, enough_for_second):
            if left.size < needed:
                break
            centre = left[away == away.max()].min()
            away = away_from(points[centre])
            away[left == centre] = -1.0
            near = np.flatnonzero(away <= np.partition(away, k - 1)[k - 1])
            nearest = near[np.lexsort((left[near], away[near]))][:k]
            labels[left[nearest]] = cluster
            cluster += 1
            # The places of those who leave are filled from the end, the last place first.
            for place in np.sort(nearest)[::-1]:
                total = total - points[left[place]]
                left[place], away[place] = left[-1], away[-1]
                left, away = left[:-1], away[:-1]
    labels[left] = cluster
    return labels


def _lost(original: np.ndarray, released: np.ndarray) -> float:
    """Squared change in percent of that of a table of means."""
    total = float(np.square(original - original.mean(axis=0)).sum())
    return 100.0 * float(np.square(original - released).sum()) / total if total > 0 else 0.0


def _disclosed(problem: GroupingProblem, released: np.ndarray) -> float:
    """How many values are within a share of the protected (or original) value, in percent, over all widths."""
    centre = np.abs(released if problem.scoring.around == "protected" else problem.points)
    change = np.abs(problem.points - released)
    return float(np.mean([100.0 * (change <= width * centre).mean() for width in problem.scoring.widths]))


def _linked(original: np.ndarray, released: np.ndarray) -> float:
    """How many records are nearer to their own protected record than to any other, in percent."""
    from scipy.spatial import cKDTree

    targets, own, count = np.unique(released + 0.0, axis=0, return_inverse=True, return_counts=True)
    own = own.reshape(-1)
    if len(targets) == 1:
        return 100.0 * float(len(original) == 1)
    mine = np.square(original - targets[own]).sum(axis=1)
    two = cKDTree(targets).query(original, k=2)[1]
    # The nearest protected record that is not their own.
    other = np.where(two[:, 0] == own, two[:, 1], two[:, 0])
    nearest = np.square(original - targets[other]).sum(axis=1)
    return 100.0 * float(((count[own] == 1) & (nearest > mine * (1 + _TIE) + _TINY)).mean())
