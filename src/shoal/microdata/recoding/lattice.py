"""The best recoding of whole columns, with proof: branch and bound over boxes of the lattice.

Every key is released at one level for all. The levels form a lattice, which is parted into *boxes*: all levels between a
lowest and a highest. At the highest, classes are largest, so what is hopeless there is left out anywhere in the box; at the
lowest, least is lost by what is released. Both together bound the loss of a whole box, and both ends are candidates. The box
with the least bound is split first; when no box can beat the best recoding found, that is optimal.

Full-domain recoding: P. Samarati, Protecting respondents' identities in microdata release, IEEE TKDE 13(6), 2001; optimal
search: F. Kohlmayer and others, Flash, PASSAT 2012. Where records may be left out, entropy and recursive diversity, closeness
and presence are not monotone: boxes are bounded by weaker tests that are (``Model.hopeless``).

What concerns all classes together, a limit on the average risk or the class of those left out, may be met by leaving out more
than fails. Such levels are candidates with the smallest classes left out, and come back as boxes of one point: who is best left
out there is chosen when nothing else is bounded lower. Where that remains open, so does the proof.
"""

from collections import OrderedDict
from dataclasses import dataclass
from heapq import heappop, heappush

import numpy as np

from shoal.errors import Infeasible, parameter
from shoal.microdata.models.model import ValueModel
from shoal.microdata.recoding.choice import best_choice
from shoal.microdata.recoding.classes import Classes, Levels
from shoal.microdata.recoding.loss_tables import Loss, spans
from shoal.microdata.recoding.problem import Problem
from shoal.microdata.recoding.release_of_levels import (
    ReleaseOfLevels,
    doomed,
    fewest_left_out,
    may_be_allowed,
    release_at,
)
from shoal.microdata.recoding.solution import Recoding
from shoal.runtime import Run, StopReason
from shoal.runtime.solver import NoOptions, SearchContext, solver

# Boxes split before the search gives up the proof.
_BOXES = 1_000_000
# Classes that are kept for boxes still to be split, in bytes; others are counted anew.
_MEMORY = 400_000_000
# Losses are sums of rounded numbers; a box that is better by less is not worth a look.
_EQUAL = 1e-12


@solver(NoOptions)
def solve(problem: Problem, options: NoOptions, context: SearchContext) -> Recoding:
    """Find the levels with the least loss; iterations are boxes.

    >>> from shoal.microdata.columns.hierarchies.hierarchy import Hierarchy
    >>> ages = Hierarchy([("31", "30-39"), ("38", "30-39"), ("47", "40-49"), ("48", "40-49")])
    >>> found = solve(Problem.of([np.array([0, 1, 2, 3])], [ages], k=2))
    >>> found.uniform, round(found.value, 4), found.optimal
    ((1,), 0.3333, True)
    """
    run = context.run(_BOXES)
    search = _Search(problem, run)
    if context.start is not None:
        search.consider(search.counted_at(context.start))
    search()
    if search.best is None:
        raise _infeasible(problem, search)
    return as_recoding(search.best, bound=search.bound, optimal=search.optimal, run=run)


@dataclass(frozen=True)
class _Box:
    lowest: Levels
    highest: Levels
    bound: float


class _Search:
    """The boxes still to be split, and the best recoding so far."""

    def __init__(self, problem: Problem, run: Run) -> None:
        self.problem = problem
        self.run = run
        self.loss = Loss(problem)
        self.finest = Classes.finest(problem)
        self.best: ReleaseOfLevels | None = None
        self.optimal = False
        self.fewest_left_out = problem.units
        #: The least bound of levels at which it remains open who is best left out.
        self.unsettled = np.inf
        self._considered: set[Levels] = set()
        self._kept: OrderedDict[Levels, Classes] = OrderedDict()
        self._kept_bytes = 0
        self._heap: list[tuple[float, Levels, Levels, _Box]] = []

    def __call__(self) -> None:
        """Split boxes until none can hold anything better, or the budget is spent."""
        first = self._box(self.problem.lowest, self.problem.highest, self.finest)
        if first is not None:
            self._push(first)
        self._report()
        while self._heap and not self.run.stopped:
            self.run.spend()
            box = heappop(self._heap)[-1]
            if not self._may_improve(box.bound):
                self._heap.clear()
                break
            if box.lowest == box.highest:
                self._settle(box)
            else:
                for part in self._split(box):
                    self._push(part)
            self._report()
        if not self._heap and not self._may_improve(self.unsettled):
            self.optimal = self.best is not None
            self.run.finish(StopReason.OPTIMAL)

    def _report(self) -> None:
        self.run.report(None if self.best is None else self.best.value, bound=self.bound)

    @property
    def bound(self) -> float | None:
        """What no recoding can fall below."""
        least = min([self.unsettled, *[self._heap[0][0] for _ in self._heap[:1]]])
        if self.best is not None:
            return min(self.best.value, least)
        return least if np.isfinite(least) else None

    def consider(self, classes: Classes) -> None:
        """Take these levels if they are the best so far, and see later who is best left out where that is not clear."""
        if classes.levels in self._considered:
            return
        self._considered.add(classes.levels)
        release = release_at(classes, self.loss)
        self.fewest_left_out = min(self.fewest_left_out, release.people_left_out)
        self._take(release)
        if not release.settled:
            self._push(_Box(classes.levels, classes.levels, release.least))

    def _take(self, release: ReleaseOfLevels) -> None:
        """Keep a release if it is the best so far; of equal ones that whose levels come first as a list of numbers."""
        if not release.allowed:
            return
        levels = release.classes.levels
        if self.best is not None:
            slack = _EQUAL * max(1.0, abs(self.best.value))
            if release.value > self.best.value + slack:
                return
            if release.value >= self.best.value - slack and levels >= self.best.classes.levels:
                return
        self.best = release

    def _settle(self, point: _Box) -> None:
        """Choose at these levels who is left out; where that is not proved the best, the bound remains."""
        release = release_at(self.counted_at(point.lowest), self.loss)
        enough = np.inf if self.best is None else self.best.value
        release = best_choice(release, self.loss, self.run, enough)
        self._take(release)
        if not release.settled:
            self.unsettled = min(self.unsettled, release.least)

    def _may_improve(self, bound: float) -> bool:
        if self.best is None:
            return bool(np.isfinite(bound))
        return bound < self.best.value - _EQUAL * max(1.0, abs(self.best.value))

    def _push(self, box: _Box) -> None:
        if self._may_improve(box.bound):
            heappush(self._heap, (box.bound, box.lowest, box.highest, box))

    def _box(self, lowest: Levels, highest: Levels, finer: Classes) -> _Box | None:
        """A box whose ends are looked at; ``None`` if nothing else is in it, or nothing in it can be allowed."""
        low = finer.at(lowest)
        self._keep(low)
        high, groups = low.joined(highest) if lowest != highest else (low, np.arange(low.size))
        if not may_be_allowed(high):
            # Coarser levels leave out the fewest: what even they leave out says how near one can get.
            self.fewest_left_out = min(self.fewest_left_out, fewest_left_out(high, high.failing))
            return None
        self.consider(high)
        if lowest == highest:
            return None
        self.consider(low)
        bound = self.loss.least(low, high, groups, doomed(high))
        return _Box(lowest, highest, bound)

    def _split(self, box: _Box) -> list[_Box]:
        """Two halves along the column whose loss moves most inside the box."""
        moves = spans(self.loss.by_level, box.lowest, box.highest)
        open_columns = [j for j in range(len(moves)) if box.lowest[j] < box.highest[j]]
        column = max(open_columns, key=lambda j: (moves[j], -j))
        own = self.loss.by_level[column]
        middle = (own[box.lowest[column]] + own[box.highest[column]]) / 2
        cut = box.lowest[column]
        while cut + 1 < box.highest[column] and own[cut + 1] <= middle:
            cut += 1
        finer = self.counted_at(box.lowest)
        parts = [
            self._box(box.lowest, _with(box.highest, column, cut), finer),
            self._box(_with(box.lowest, column, cut + 1), box.highest, finer),
        ]
        return [part for part in parts if part is not None]

    def counted_at(self, levels: Levels) -> Classes:
        """The classes at some levels, as they were counted before or anew."""
        if levels in self._kept:
            self._kept.move_to_end(levels)
            return self._kept[levels]
        return self._keep(self.finest.at(levels))

    def _keep(self, classes: Classes) -> Classes:
        if classes.levels not in self._kept:
            self._kept[classes.levels] = classes
            self._kept_bytes += classes.nodes.nbytes
            while self._kept_bytes > _MEMORY and len(self._kept) > 1:
                self._kept_bytes -= self._kept.popitem(last=False)[1].nodes.nbytes
        return classes


def _with(levels: Levels, column: int, level: int) -> Levels:
    return (*levels[:column], level, *levels[column + 1 :])


def as_recoding(release: ReleaseOfLevels, *, bound: float | None, optimal: bool, run: Run) -> Recoding:
    """The release of whole columns as pieces: every tuple at the same levels, or left out."""
    problem, classes = release.classes.problem, release.classes
    groups = Classes.of_tuples(problem).joined(classes.levels)[1]
    tuples = np.flatnonzero(problem.records > 0)
    kept = ~release.left_out[groups[tuples]]
    return Recoding(
        value=release.value,
        bound=bound,
        optimal=optimal,
        tuples=tuples,
        records=problem.records[tuples],
        levels=np.tile(np.array(classes.levels, dtype=np.int16), (tuples.size, 1)),
        released=kept,
        uniform=classes.levels,
        scope="columns",
        **run.closing(),
    )


def _infeasible(problem: Problem, search: _Search) -> Infeasible:
    if np.isfinite(search.bound or np.inf):
        return Infeasible(
            f"no recoding was found that meets all demands; others are left out than it takes: raise {parameter('suppress')}, or "
            "ask for less"
        )
    share = 100.0 * search.fewest_left_out / problem.units
    if search.fewest_left_out <= problem.limit:
        further = [model.text for model in problem.models if not isinstance(model, ValueModel)]
        further += ["that those left out are a class of their own"] if problem.keep_suppressed else []
        further += ["that records show a key"] if problem.show_keys else []
        return Infeasible(
            f"no recoding meets all demands; few enough are left out, but not {' and '.join(further) or 'all others hold'}"
        )
    return Infeasible(
        f"no recoding meets these demands: even the coarsest levels allowed leave out {search.fewest_left_out:,} of "
        f"{problem.units:,} {problem.counted[1]} ({share:.1f} %), and {problem.limit:,} may be; raise {parameter('suppress')}, "
        "allow coarser levels, or ask for less"
    )
