"""Full-domain recoding of records that were counted elsewhere: what is needed of them is their combinations of keys."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import floor
from typing import Any

import narwhals as nw
import numpy as np
import polars as pl

from shoal.microdata.columns.orders import Orders
from shoal.microdata.columns.roles import guess_roles
from shoal.microdata.recoding.keys import Keys
from shoal.microdata.recoding.mapping import AppliedMapping, RecodedColumn
from shoal.microdata.recoding.methods import METHODS
from shoal.microdata.recoding.problem import Measure, Problem, Spread, people_of
from shoal.microdata.recoding.release import released_column
from shoal.microdata.recoding.requirements import importance, level_bounds
from shoal.microdata.recoding.solution import Recoding
from shoal.microdata.recoding.verify import verify
from shoal.runtime import Budget


@dataclass(frozen=True, eq=False)
class Members:
    """Whose the records are: ``alone`` people have records of each tuple and of no other; the others are the people who have
    several, each with a number in ``whose`` and, at the same places, their ``tuples``.

    >>> Members(np.array([3, 0]), np.array([0, 0]), np.array([0, 1])).people
    4
    """

    alone: np.ndarray
    whose: np.ndarray
    tuples: np.ndarray

    @property
    def people(self) -> int:
        """How many there are."""
        return int(self.alone.sum()) + int(np.unique(self.whose).size)

    def touched(self, chosen: np.ndarray) -> int:
        """How many people have a record of one of the chosen tuples."""
        return int(self.alone[chosen].sum()) + int(np.unique(self.whose[chosen[self.tuples]]).size)

    def among(self, target: np.ndarray, size: int) -> tuple[np.ndarray, Spread | None]:
        """The same where tuples were put together: ``target`` is where each has gone."""
        alone = np.bincount(target, weights=self.alone, minlength=size).astype(np.int64)
        if not self.whose.size:
            return alone, None
        more, spread = people_of(target[self.tuples], self.whose, size)
        return alone + more, spread


@dataclass(frozen=True, eq=False)
class RecodedTuples:
    """The recoding that loses least, and what becomes of each combination of keys.

    ``labels`` has for each tuple what is released of its keys, and whether it is ``released``.
    """

    keys: Keys
    problem: Problem
    solution: Recoding
    labels: pl.DataFrame
    released: np.ndarray
    suppressed_people: int

    @property
    def levels(self) -> dict[str, int]:
        """The level of each key."""
        assert self.solution.uniform is not None
        return dict(zip(self.keys.names, self.solution.uniform, strict=True))

    def mapping(self, k: int) -> AppliedMapping:
        """What every value became."""
        columns = zip(self.keys.names, self.keys.hierarchies, self.levels.values(), strict=True)
        return AppliedMapping(tuple(RecodedColumn(*column) for column in columns), k)


def recode_tuples(
    tuples: pl.DataFrame,
    counts: np.ndarray,
    k: int,
    *,
    hierarchies: Mapping[str, Any],
    orders: Orders,
    suppress: float = 0.0,
    measure: Measure = "loss",
    weights: Mapping[str, float] | None = None,
    stay: Sequence[str] = (),
    levels: Mapping[str, int] | None = None,
    budget: Budget | None = None,
    members: Members | None = None,
) -> RecodedTuples:
    """Search the levels of whole columns; each row of ``tuples`` is a combination of keys that ``counts`` records have.

    Every record is a person, unless ``members`` says whose they are.

    >>> people = pl.DataFrame({"age": [31, 38, 47, 44], "sex": list("ffmm")})
    >>> found = recode_tuples(people, np.array([2, 1, 1, 1]), 2, hierarchies={"age": "intervals(10,20)"}, orders={})
    >>> found.labels.rows()[0], found.levels
    (('30-39', 'f'), {'age': 1, 'sex': 0})
    """
    data = nw.from_native(tuples, eager_only=True)
    keys = Keys.read(data, tuples.columns, guess_roles(data), hierarchies, orders)
    lowest, highest = level_bounds(keys, levels, stay, exactly=True)
    rows, place = np.unique(np.stack(keys.leaves, axis=1), axis=0, return_inverse=True)
    place = place.reshape(-1)
    records = np.bincount(place, weights=counts, minlength=len(rows)).astype(np.int64)
    people, spread = (records, None) if members is None else members.among(place, len(rows))
    everybody = int(records.sum()) if members is None else members.people
    problem = Problem(
        hierarchies=keys.hierarchies,
        keys=np.ascontiguousarray(rows.astype(keys.leaves[0].dtype)),
        records=records,
        people=people,
        spread=spread,
        k=k,
        limit=floor(suppress * everybody + 1e-9),
        measure=measure,
        weights=importance(tuples.columns, weights),
        lowest=lowest,
        highest=highest,
        show_keys=True,
    )
    solution = METHODS["lattice"].solve(problem, budget=budget or Budget())
    verify(problem, solution)
    if levels is not None:
        # Levels that somebody said are not the best ones, and no bound on others.
        solution = solution.without_proof()
    assert solution.uniform is not None
    labels = [
        released_column(name, hierarchy, own, np.full(own.size, level))
        for name, hierarchy, own, level in zip(
            keys.names, keys.hierarchies, keys.leaves, solution.uniform, strict=True
        )
    ]
    kept = np.zeros(len(rows), dtype=bool)
    kept[solution.tuples] = solution.released
    out = ~kept[place]
    gone = int(counts[out].sum()) if members is None else members.touched(out)
    return RecodedTuples(keys, problem, solution, pl.DataFrame(labels), kept[place], gone)
