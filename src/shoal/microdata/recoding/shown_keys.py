"""Records of which every key was blanked: they show nothing, so whoever has no others counts with those left out.

Where more of them are than may be, they join others: first each other, where enough of them share a value of one key, then the
class in which that costs least, made as coarse as it takes. Records that came without any key are none of them.
"""

from dataclasses import replace

import numpy as np

from shoal.errors import Infeasible, parameter
from shoal.microdata.recoding.all_losses import measured_losses
from shoal.microdata.recoding.local_recoding.items import Items
from shoal.microdata.recoding.local_recoding.requirements import failing
from shoal.microdata.recoding.loss_tables import Loss
from shoal.microdata.recoding.problem import Problem
from shoal.microdata.recoding.solution import Recoding
from shoal.runtime import StopReason

# Pieces that join a class one after the other, at most.
_MOST_JOINED = 5_000
_EQUAL = 1e-9


def wholly_blank(problem: Problem, solution: Recoding) -> np.ndarray:
    """Which pieces are released with every key blank.

    >>> from shoal.microdata.columns.hierarchies.hierarchy import Hierarchy
    >>> problem = Problem.of([np.array([0, 1])], [Hierarchy([("f",), ("m",)])], k=1)
    >>> pieces = dict(tuples=np.arange(2), records=np.ones(2, dtype=int), released=np.ones(2, dtype=bool))
    >>> wholly_blank(problem, Recoding(value=0.5, levels=np.array([[0], [1]]), **pieces)).tolist()
    [False, True]
    """
    heights = np.array(problem.heights)
    if not heights.any():
        return np.zeros(solution.tuples.size, dtype=bool)
    blank: np.ndarray = (solution.levels == heights).all(axis=1) & solution.released
    return blank & ~problem.keyless[solution.tuples]


def units_not_shown(problem: Problem, solution: Recoding) -> int:
    """How many units are left out, or have no record that shows a key."""
    blank = wholly_blank(problem, solution)
    if problem.spread is None:
        whole = np.bincount(solution.tuples, minlength=problem.records.size)[solution.tuples] == 1
        people = np.where(whole, problem.people[solution.tuples], solution.records)
        return int(people[blank | ~solution.released].sum())
    # No tuple is parted where units have several.
    out, none = np.zeros((2, problem.records.size), dtype=bool)
    out[solution.tuples[~solution.released]] = True
    none[solution.tuples[blank]] = True
    starts, own = problem.spread.starts[:-1], problem.spread.tuples
    several = np.maximum.reduceat(out[own], starts) | np.minimum.reduceat(none[own], starts)
    return int(problem.people[out | none].sum()) + int(several.sum())


def with_shown_keys(problem: Problem, solution: Recoding) -> Recoding:
    """The same where no more units show no key than may be left out; an ``Infeasible`` where that cannot be had."""
    if not problem.show_keys or units_not_shown(problem, solution) <= problem.limit:
        return solution
    # A bound of all recodings is one of those that show keys, too; a proof of the best is none.
    changed = _Joined(problem, solution).recoding()
    if changed is None or units_not_shown(problem, changed) > problem.limit:
        units = units_not_shown(problem, solution)
        raise Infeasible(
            f"{units:,} of {problem.units:,} {problem.counted[1]} would be left out or released with every key blank, and "
            f"{problem.limit:,} may be; raise {parameter('suppress')}, name fewer keys, or ask for less"
        )
    return changed


class _Joined:
    """Wholly blank pieces while they join others."""

    def __init__(self, problem: Problem, solution: Recoding) -> None:
        self.problem, self.solution = problem, solution
        self.loss = Loss(problem)
        self.levels = solution.levels.astype(np.int64)
        self.keys = problem.keys[solution.tuples]
        self.heights = np.array(problem.heights)
        self.blank = wholly_blank(problem, solution)
        whole = np.bincount(solution.tuples, minlength=problem.records.size)[solution.tuples] == 1
        self.people = np.where(whole, problem.people[solution.tuples], solution.records)
        shown = self.levels[solution.released & ~self.blank]
        lowest = np.array(problem.lowest)
        #: The level of each key that the others show.
        self.base = (
            np.where((shown < self.heights).any(axis=0), shown.min(axis=0), lowest) if shown.size else lowest
        )

    def recoding(self) -> Recoding | None:
        """The release with them in classes that show a key; ``None`` where no way was found."""
        self._together()
        if not self._with_others():
            return None
        changed = replace(self.solution, levels=self.levels.astype(self.solution.levels.dtype), uniform=None)
        if self.problem.models and self._fails(changed):
            return None
        value = measured_losses(self.problem, changed)[self.problem.measure]
        bound = None if changed.bound is None else min(changed.bound, value)
        optimal = bound is not None and value <= bound + _EQUAL * max(1.0, abs(value))
        proved = changed.stopped_by is StopReason.OPTIMAL and not optimal
        stopped = StopReason.ITERATIONS if proved else changed.stopped_by
        return replace(changed, value=value, bound=bound, optimal=optimal, stopped_by=stopped)

    def _together(self) -> None:
        """Show one key of those of whom enough share its value, at the levels that lose least first."""
        problem = self.problem
        tried = [
            (float(self.loss.by_level[column][level]), column, level)
            for column, height in enumerate(problem.heights)
            for level in ([self.base[column]] if problem.uniform else range(problem.lowest[column], height))
            if level < height
            and problem.lowest[column] <= level <= problem.highest[column]
            and column not in problem.alike
        ]
        for _, column, level in sorted(tried):
            rows = np.flatnonzero(self.blank)
            nodes = problem.hierarchies[column].nodes[level][self.keys[rows, column]]
            people = np.bincount(nodes, weights=self.people[rows])
            safe = rows[people[nodes] >= problem.k]
            self.levels[safe, column] = level
            self.blank[safe] = False

    def _with_others(self) -> bool:
        """Let each of the rest into the class where that costs least."""
        rest = np.flatnonzero(self.blank)
        others = np.flatnonzero(self.solution.released & ~self.blank)
        if rest.size == 0:
            return True
        if rest.size > _MOST_JOINED or others.size == 0:
            return False
        records = self.solution.records
        nodes = np.stack(
            [
                tree.nodes[self.levels[others, column], self.keys[others, column]]
                for column, tree in enumerate(self.problem.hierarchies)
            ],
            axis=1,
        )
        _, first, number = np.unique(
            np.concatenate([self.levels[others], nodes], axis=1),
            axis=0,
            return_index=True,
            return_inverse=True,
        )
        number = number.reshape(-1)
        levels, examples = self.levels[others[first]], self.keys[others[first]]
        sizes = np.bincount(number, weights=records[others])
        joined = np.full(rest.size, -1)
        for one, row in enumerate(rest.tolist()):
            coarser, rates = self._levels_with(levels, examples, self.keys[row])
            now = self._rates(levels, examples)
            costs = (sizes + records[row]) * rates - sizes * now
            best = int(np.argmin(costs))
            if not np.isfinite(costs[best]):
                return False
            joined[one], levels[best] = best, coarser[best]
            sizes[best] += records[row]
        self.levels[others] = levels[number]
        self.levels[rest] = levels[joined]
        self.blank[rest] = False
        return True

    def _levels_with(
        self, levels: np.ndarray, examples: np.ndarray, key: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """The levels at which classes would hold this record, too, and what a record loses there."""
        coarser = levels.copy()
        allowed = np.ones(levels.shape[0], dtype=bool)
        for column, tree in enumerate(self.problem.hierarchies):
            same = tree.nodes[:, examples[:, column]] == tree.nodes[:, key[column]][:, None]
            level = np.maximum(levels[:, column], same.argmax(axis=0))
            if column in self.problem.alike:
                # What households share is shown by all alike.
                allowed &= level == levels[:, column]
            if self.problem.uniform:
                level = np.where(level > levels[:, column], tree.height, level)
            coarser[:, column] = level
            allowed &= (level == levels[:, column]) | (level <= self.problem.highest[column])
        allowed &= (coarser < self.heights).any(axis=1)
        return coarser, np.where(allowed, self._rates(coarser, examples), np.inf)

    def _rates(self, levels: np.ndarray, examples: np.ndarray) -> np.ndarray:
        rates = np.zeros(levels.shape[0])
        for column, (tree, tables) in enumerate(zip(self.problem.hierarchies, self.loss.tables, strict=True)):
            for level in np.unique(levels[:, column]).tolist():
                own = levels[:, column] == level
                rates[own] += tables[level][tree.nodes[level][examples[own, column]]]
        return rates

    def _fails(self, changed: Recoding) -> bool:
        """Whether a class fails a model now."""
        items = Items.of(self.problem)
        nodes = [
            tree.nodes[self.levels[:, column], self.keys[:, column]]
            for column, tree in enumerate(self.problem.hierarchies)
        ]
        labels = np.concatenate([self.levels, np.stack(nodes, axis=1)], axis=1)
        numbers = np.unique(labels, axis=0, return_inverse=True)[1].reshape(-1)
        groups = np.full(items.size, -1)
        groups[items.base[changed.tuples]] = np.where(changed.released, numbers, -1)
        return bool(failing(items, groups, int(numbers.max()) + 1).any())
