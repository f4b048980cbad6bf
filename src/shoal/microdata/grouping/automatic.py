"""Groups of columns for ``microaggregate`` when nobody names them, and the score of what it released."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import narwhals as nw
import numpy as np

from shoal.microdata.columns.attributes import Attribute
from shoal.microdata.grouping.api import group_attributes
from shoal.microdata.grouping.result import AttributeGrouping
from shoal.microdata.measures.fitness import Fitness, fitness
from shoal.runtime import Budget, Observer

# With more records the linkage of a release would take longer than making it.
SCORED_UP_TO = 50_000


def choose_groups(
    data: nw.DataFrame,
    attributes: Sequence[Attribute],
    k: int,
    budget: Budget,
    seed: int | None,
    threads: int,
    observer: Observer,
) -> tuple[AttributeGrouping, list[list[str]], Budget]:
    """The best groups found for the numeric columns, every other column on its own, and what is left of the budget.

    Half of the seconds go into the search for groups.
    """
    numeric = [item.name for item in attributes if item.kind in ("number", "integer")]
    others = [[item.name] for item in attributes if item.name not in numeric]
    half = None if budget.seconds is None else budget.seconds / 2
    found = group_attributes(
        data.to_native(),
        k,
        columns=numeric,
        budget=Budget(seconds=half, control=budget.control, clock=budget.clock),
        seed=seed,
        threads=threads,
        observer=observer,
    )
    left = budget if half is None else replace(budget, seconds=max(half, 2 * half - found.solution.seconds))
    return found, [list(group) for group in found.groups] + others, left


def release_fitness(
    attributes: Sequence[Attribute], released: Mapping[str, np.ndarray], threads: int
) -> Fitness | None:
    """Loss, disclosure and linkage of what is released, as groupings are scored; none for very many records."""
    before = np.column_stack([item.values for item in attributes]) if attributes else np.empty((0, 0))
    if before.size == 0 or before.shape[0] > SCORED_UP_TO:
        return None
    after = np.column_stack([released[item.name] for item in attributes])
    complete = ~(np.isnan(before) | np.isnan(after)).any(axis=1)
    return fitness(before[complete], after[complete], threads=threads) if complete.any() else None
