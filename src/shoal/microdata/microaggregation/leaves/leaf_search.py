"""What happens in one leaf: records are put in an order of their own, grouped, and groups are improved."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from pydantic import Field

from shoal.microdata.microaggregation.aggregate import Aggregate, aggregate_groups
from shoal.microdata.microaggregation.problem import Problem
from shoal.microdata.microaggregation.search import blocks
from shoal.microdata.microaggregation.solution import group_means, numbered_by_appearance
from shoal.runtime import Budget, Seeds

#: In microseconds.
DAY = 86_400_000_000.0


class LeafOptions(blocks.BlocksOptions):
    """Options of ``blocks`` where records are in many places; its iterations are rounds in each leaf."""

    leaf: int = Field(
        default=40_000, ge=100, le=10**7, description="records in a leaf, at most twice as many"
    )
    sample: int = Field(
        default=16,
        ge=2,
        le=10_000,
        description="points for each leaf in the sample that the splits are made from",
    )


class LeafTask(NamedTuple):
    """What a leaf must know: k, the largest group, options, rounds, and where randomness begins."""

    k: int
    largest: int | None
    options: LeafOptions
    rounds: int
    seed: int


def canonical_order(values: np.ndarray, *ties: np.ndarray) -> np.ndarray:
    """An order that does not depend on the one the records came in: by their values, then by what else they hold.

    >>> canonical_order(np.array([[2.0, 1.0], [1.0, 5.0], [1.0, 5.0]]), np.array([0, 9, 3])).tolist()
    [2, 1, 0]
    """
    return np.lexsort((*ties[::-1], *values.T[::-1]))


def group(points: np.ndarray, task: LeafTask, leaf: int) -> np.ndarray:
    """The group of each record of a leaf."""
    return _searched(points, task, ("leaf", leaf), None)


def improve(points: np.ndarray, labels: np.ndarray, task: LeafTask, leaf: int) -> np.ndarray:
    """The same groups, improved among the neighbours that a shifted leaf brings together."""
    return _searched(points, task, ("shifted", leaf), numbered_by_appearance(labels))


def _searched(
    points: np.ndarray, task: LeafTask, branch: Sequence[str | int], start: np.ndarray | None
) -> np.ndarray:
    options = blocks.BlocksOptions(**task.options.model_dump(include=set(blocks.BlocksOptions.model_fields)))
    found = blocks.solve(
        Problem(points, task.k, task.largest),
        options,
        budget=Budget(iterations=task.rounds),
        seeds=Seeds(task.seed).child(*branch),
        threads=1,
        start=start,
    )
    labels: np.ndarray = found.labels
    return labels


def means_by_record(points: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Where the group of each record is."""
    means: np.ndarray = group_means(points, labels)[labels]
    return means


def released(values: np.ndarray, labels: np.ndarray, kinds: Sequence[str], how: Aggregate) -> np.ndarray:
    """What each record gets, column by column, rounded as its kind asks."""
    columns = [
        rounded(
            aggregate_groups(values[:, place], labels, "mean" if how == "rounded-mean" else how), kind, how
        )
        for place, kind in enumerate(kinds)
    ]
    return np.column_stack(columns)[labels]


def rounded(value: np.ndarray, kind: str, how: Aggregate) -> np.ndarray:
    """The aggregate of a group as it can be told: whole numbers if asked for, dates as whole days."""
    if kind == "date":
        return np.floor(value / DAY) * DAY
    if kind == "time" or (kind == "integer" and how == "rounded-mean"):
        return np.rint(value)
    return value


def groups_of_crowd(records: int, largest: int | None) -> dict[int, int]:
    """How many groups of which size so many records at one point make: one, unless groups may not be so large.

    >>> groups_of_crowd(14, None), groups_of_crowd(14, 5)
    ({14: 1}, {4: 1, 5: 2})
    """
    groups = 1 if largest is None else -(-records // largest)
    size, more = divmod(records, groups)
    return {size: groups - more} | ({size + 1: more} if more else {})


def crowd_value(values: np.ndarray, weights: np.ndarray, kinds: Sequence[str], how: Aggregate) -> np.ndarray:
    """What is released of a crowded point and the few that join it; ``weights`` says how many records are at each point.

    >>> crowd_value(np.array([[2.0], [5.0]]), np.array([98.0, 1.0]), ["number"], "mean").round(4).tolist()
    [2.0303]
    >>> crowd_value(np.array([[2.0], [5.0], [9.0]]), np.array([3.0, 2.0, 1.0]), ["number"], "median").tolist()
    [3.5]
    """
    crowd = values[int(np.argmax(weights))]
    if how == "median":
        middle = np.array([_median(column, weights) for column in values.T])
    else:
        middle = crowd + ((values - crowd) * weights[:, None]).sum(axis=0) / weights.sum()
    return np.array(
        [rounded(np.array([value]), kind, how)[0] for value, kind in zip(middle, kinds, strict=True)]
    )


def _median(values: np.ndarray, weights: np.ndarray) -> float:
    """The middle of values that occur so often: between two of them where that is between two."""
    order = np.argsort(values, kind="stable")
    upto, records = np.cumsum(weights[order]), int(weights.sum())
    low, high = np.searchsorted(upto, [(records - 1) // 2, records // 2], side="right")
    return float(0.5 * (values[order[low]] + values[order[high]]))
