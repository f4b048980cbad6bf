"""Local suppression: blank single values, at the least cost, so that everybody who is released is one of k people.

A blank counts as a value of its own. So a *pattern*, the keys that are blanked with the values of the others, is not used at
all or by at least k people, and a record that uses it costs what its blanks cost: a facility location problem with lower
limits. A greedy choice of patterns is improved by a search; a relaxation bounds what any release costs; an integer programme
over the few patterns that are left finds the best, or proves it.
"""

from math import ceil, isclose

import numpy as np
from pydantic import Field

from shoal.errors import parameter
from shoal.microdata.recoding.local_suppression.assignment import Assignment
from shoal.microdata.recoding.local_suppression.bound import least_costs
from shoal.microdata.recoding.local_suppression.exact import (
    best_of_pairs,
    cheapest_pairs,
    pairs_within,
    with_release,
)
from shoal.microdata.recoding.local_suppression.greedy import greedy
from shoal.microdata.recoding.local_suppression.instance import Instance
from shoal.microdata.recoding.local_suppression.masks import Masks
from shoal.microdata.recoding.local_suppression.patterns import MOST_PAIRS, Patterns, patterns_of
from shoal.microdata.recoding.local_suppression.pieces import pieces
from shoal.microdata.recoding.local_suppression.relaxation import Relaxation
from shoal.microdata.recoding.local_suppression.requirements import (
    Joining,
    average_allowed,
    first_release,
    with_larger_classes,
)
from shoal.microdata.recoding.local_suppression.search import Improvement
from shoal.microdata.recoding.problem import Problem
from shoal.microdata.recoding.solution import Recoding
from shoal.runtime import Run, Seeds, StopReason
from shoal.runtime.solver import Options, SearchContext, solver

# Work where nothing is said of it, at most, and for few combinations so much and so much for each; a change that the search
# tries is one unit.
_WORK, _LEAST_WORK, _WORK_OF_EACH = 90_000, 6_000, 450
# The share of it that is searched before anything is proved; less with fewer combinations than this, which are soon proved.
_FIRST, _SOON_PROVED = 0.25, 500
# What a round of the relaxation counts for, and how many there are at most.
_ROUND = 5
_ROUNDS = 500
# Pairs of combinations and patterns that the relaxation may look at in all, and in a proof as long as the search.
_LOOKS, _SHORT_LOOKS = 2_000_000_000, 400_000_000
# Pairs that the first integer programme takes; the next ones take more.
_FEW = 15_000
_NODES, _SHORT_NODES = 2_000, 20
# Changes that take as long as an iteration of the simplex method.
_ITERATION = 20
# Combinations beyond which a single relaxation inside the programme takes minutes.
_MOST_COMBINATIONS = 20_000
# Costs that are no whole numbers are equal if they differ by less of themselves.
_EQUAL = 1e-7


class LocalSuppressionOptions(Options):
    """Options of ``local-suppression``."""

    rounds: int | None = Field(
        default=None,
        ge=0,
        le=100_000,
        description="most rounds of the relaxation that bounds the cost, and then a proof to its end; 0 leaves the proof out; "
        "by default the proof ends at about the work of the search",
    )


@solver(LocalSuppressionOptions)
def solve(problem: Problem, options: LocalSuppressionOptions, context: SearchContext) -> Recoding:
    """Blank values until everybody is one of k people; keys that are not blanked stay at the lowest levels.

    >>> from shoal.microdata.columns.hierarchies.hierarchy import Hierarchy
    >>> sexes, ages = Hierarchy([("f",), ("m",)]), Hierarchy([("31",), ("38",), ("47",)])
    >>> columns = [np.array([0, 0, 0, 0, 1, 1]), np.array([0, 0, 1, 2, 2, 2])]
    >>> found = solve(Problem.of(columns, [sexes, ages], k=2, measure="cells"))
    >>> found.value, found.bound, found.optimal
    (2.0, 2.0, True)
    """
    run = context.run(min(_WORK, _LEAST_WORK + _WORK_OF_EACH * problem.records.size))
    masks = Masks.of(Instance.of(problem))
    release = _Release(masks, run, options.rounds)
    if problem.models:
        release.meet_models(context.seeds)
    elif masks.instance.size * masks.size <= MOST_PAIRS:
        release.search(patterns_of(masks), context.seeds)
    else:
        release.take(greedy(masks))
    made = pieces(masks, release.best)
    value = masks.instance.value(release.cost)
    if run.value is not None and isclose(run.value, value, rel_tol=1e-12):
        # The search adds up changes; what it has told and what is added up at the end differ in the last digit.
        value = min(value, run.value)
    bound = None if release.bound is None else min(value, masks.instance.value(release.bound))
    if release.optimal:
        run.finish(StopReason.OPTIMAL)
    return Recoding(
        value=value,
        bound=value if release.optimal else bound,
        optimal=release.optimal,
        reason=release.reason,
        scope="blanks",
        **made,
        **run.closing(),
    )


class _Release:
    """The best release so far, with the bound on all."""

    def __init__(self, masks: Masks, run: Run, rounds: int | None) -> None:
        self.short = rounds is None
        self.rounds = _ROUNDS if rounds is None else rounds
        #: What programmes took, in changes.
        self.proving = 0
        self.unproved = False
        self.masks = masks
        self.instance = masks.instance
        self.run = run
        self.best = Assignment(*(np.zeros(0, dtype=np.int64),) * 3)
        self.cost = np.inf
        problem = self.instance.problem
        self.least = least_costs(masks)
        # Bits that are lost with records left out depend on which these are.
        self.known = problem.measure != "entropy" or problem.limit == 0
        self.lower = float((self.least * self.instance.records).sum())

    @property
    def bound(self) -> float | None:
        """What no release can cost less than, in units."""
        return self._rounded(self.lower) if self.known else None

    def _rounded(self, bound: float) -> float:
        if self.instance.whole:
            return float(ceil(bound - 1e-6))
        return bound - _EQUAL * max(1.0, abs(bound))

    @property
    def optimal(self) -> bool:
        """Whether nothing better can exist."""
        return self.known and self.cost <= self._rounded(self.lower) + 2 * _EQUAL * max(1.0, abs(self.cost))

    @property
    def reason(self) -> str:
        """That a longer proof might show more, where the usual one came to its end."""
        if self.optimal or not self.unproved:
            return ""
        goes_on = parameter("options", f"rounds={_ROUNDS}")
        return f"the proof stopped at about the work of the search, with a bound; {goes_on} goes on with it"

    def take(self, release: Assignment) -> None:
        """Keep a release if it is better."""
        cost = release.cost(self.masks)
        if cost < self.cost:
            self.best, self.cost = release, cost
        self._tell("")

    def _tell(self, phase: str, cost: float = np.inf) -> None:
        value = self.instance.value(min(self.cost, cost))
        bound = None if self.bound is None else min(value, self.instance.value(self.bound))
        self.run.report(value, bound=bound, phase=phase)

    def search(self, patterns: Patterns, seeds: Seeds) -> None:
        """Improve and bound the release in turns, until it is proved or the budget is spent."""
        improvement = Improvement(self.masks, patterns, seeds.child("search").state())
        improvement.begin()
        self.take(improvement.assignment)
        self._improve(improvement, _FIRST * min(1.0, self.instance.size / _SOON_PROVED))
        if not self.instance.plain or self.rounds == 0:
            self._improve(improvement, 1.0)
            return
        relaxation, rounds = self._bounded(patterns)
        count = _FEW
        while self._programme(relaxation, patterns, improvement, count):
            self._relax(relaxation, rounds // 2)
            count *= 4
        self._improve(improvement, 1.0)

    def _bounded(self, patterns: Patterns) -> tuple[Relaxation, int]:
        relaxation = Relaxation(self.masks, patterns, self.least)
        looks = _SHORT_LOOKS if self.short else _LOOKS
        rounds = min(self.rounds, looks // max(1, patterns.members.size))
        self._relax(relaxation, rounds)
        return relaxation, rounds

    def meet_models(self, seeds: Seeds) -> None:
        """Blank whole combinations until classes meet all models; the bound looks at k alone."""
        masks = self.masks
        made = first_release(masks)
        if not average_allowed(masks, made):
            masks = with_larger_classes(masks)
            made = first_release(masks)
        self.take(made)
        if self.instance.plain and self.instance.size * masks.size <= MOST_PAIRS:
            self._bounded(patterns_of(self.masks))
        joining = Joining(masks, made, seeds.child("joining").state())
        while not (joining.idle or self.optimal) and (chunk := self.run.chunk(50)):
            joining.step(chunk)
            self.run.spend(chunk)
            now = joining.assignment
            if average_allowed(masks, now):
                self.take(now)

    def _share(self) -> float:
        """How much of the budget is used."""
        budget, used = self.run.budget, [0.0]
        if budget.iterations:
            used.append(self.run.work / budget.iterations)
        if budget.seconds:
            used.append(self.run.seconds / budget.seconds)
        return max(used)

    def _improve(self, improvement: Improvement, share: float) -> None:
        while not (improvement.idle or self.optimal) and self._share() < share:
            most = 200
            if self.run.budget.iterations is not None:
                most = min(most, ceil(share * self.run.budget.iterations) - self.run.work)
            chunk = self.run.chunk(max(1, most))
            if not chunk:
                break
            improvement.step(chunk)
            self.run.spend(chunk)
            self._tell("search", improvement.cost)
        self.take(improvement.assignment)

    def _relax(self, relaxation: Relaxation, rounds: int) -> None:
        # The last third is for what only the programme can find.
        while (
            rounds > 0
            and not self.optimal
            and not relaxation.settled
            and self._share() < 0.66
            and self._affordable(_ROUND)
        ):
            relaxation.improve(1, self.cost)
            rounds -= 1
            self.run.spend(_ROUND)
            if relaxation.bound > self.lower:
                self.lower = relaxation.bound
                self._tell("bound")

    def _affordable(self, work: int) -> bool:
        iterations = self.run.budget.iterations
        return not self.run.stopped and (iterations is None or self.run.work + work <= iterations)

    def _programme(
        self, relaxation: Relaxation, patterns: Patterns, improvement: Improvement, count: int
    ) -> bool:
        """Solve over about so many pairs that are least above the bound; whether more of them could bring more.

        Where these are all that a better release can use, the programme proves the best.
        """
        if self.optimal or not np.isfinite(relaxation.bound):
            return False
        searched = min(_WORK, _LEAST_WORK + _WORK_OF_EACH * self.instance.problem.records.size)
        if self.instance.size > _MOST_COMBINATIONS or (self.short and self.proving >= searched):
            self.unproved = self.short
            return False
        unit = 1.0 if self.instance.whole else 0.0
        gap = max(0.0, self.cost - unit - relaxation.bound) + _EQUAL * max(1.0, self.cost)
        pairs = pairs_within(relaxation, gap, count)
        if not pairs.all:
            pairs = cheapest_pairs(relaxation, gap, count)
        pairs = with_release(patterns, pairs, self.best)
        work = 20 + pairs.rows.size
        if not self._affordable(work):
            return False
        left = self.run.remaining().seconds
        before = self.cost
        found, bound, iterations = best_of_pairs(
            self.masks,
            patterns,
            pairs,
            self.best,
            self.run,
            nodes=_SHORT_NODES if self.short else _NODES,
            seconds=None if left is None else (left if pairs.all else 0.6 * left),
        )
        self.run.spend(work)
        self.proving += _ITERATION * iterations
        self.unproved = self.short
        if pairs.all:
            self.lower = max(self.lower, min(before, bound))
        if found is not None:
            self.take(found)
            improvement.restart(self.best)
        self._tell("programme")
        return not pairs.all
