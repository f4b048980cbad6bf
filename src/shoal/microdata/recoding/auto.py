"""The method that chooses: every method that may be used, the cheap ones first, and of all results the least loss.

Each runs as it would by itself, so that the choice is never worse than one of them. A method is passed over where a bound
shows that it cannot beat the best so far. Between whole columns and single values lies a light recoding of columns, with blanks
where it does not suffice; how light is best depends on the data, so the best levels for several shares of people left out are
tried. In the end groups are searched once more, from the best that others have.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from pydantic import Field

from shoal.errors import Infeasible, InputError
from shoal.microdata.recoding.classes import Levels
from shoal.microdata.recoding.lattice import solve as best_levels
from shoal.microdata.recoding.local_recoding.bound import lower_bound
from shoal.microdata.recoding.local_recoding.items import Items
from shoal.microdata.recoding.local_recoding.solve import check as check_groups
from shoal.microdata.recoding.local_recoding.solve import solve as near_groups
from shoal.microdata.recoding.local_suppression.bound import least_loss
from shoal.microdata.recoding.local_suppression.instance import check as check_blanks
from shoal.microdata.recoding.local_suppression.solve import LocalSuppressionOptions
from shoal.microdata.recoding.local_suppression.solve import solve as blank_values
from shoal.microdata.recoding.loss_tables import Loss
from shoal.microdata.recoding.problem import Problem
from shoal.microdata.recoding.shown_keys import with_shown_keys
from shoal.microdata.recoding.solution import Recoding
from shoal.runtime import Budget, Observer, Run, StopReason
from shoal.runtime.budget import decisive
from shoal.runtime.solver import Options, SearchContext, solver

# Shares of people who would be left out at the levels that are tried as a beginning.
_SHARES = (0.0, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0)
# Boxes of the lattice for each of them, and for whole columns before the other methods have shown what they lose.
_BOXES = 20_000
# Changes that the search for blanks tries from the best beginning where nothing is said of it.
_CHANGES = 20_000
# Losses are sums of rounded numbers.
_EQUAL = 1e-9
# The bound of all recodings is another one; that of the blanks alone would not be shown.
_UNPROVED = LocalSuppressionOptions(rounds=0)

Search = Callable[[Budget, Observer], Recoding]


class AutoOptions(Options):
    """Options of ``auto``."""

    candidates: int = Field(
        default=8, ge=1, le=100, description="most recodings of columns that are tried as a beginning"
    )


@solver(AutoOptions)
def solve(problem: Problem, options: AutoOptions, context: SearchContext) -> Recoding:
    """Try all methods that may be used, and take what loses least.

    >>> from shoal.microdata.columns.hierarchies.hierarchy import Hierarchy
    >>> ages = Hierarchy([(str(age), f"{age // 10}0-{age // 10}9") for age in range(30, 50)])
    >>> recoding = solve(Problem.of([np.array([0, 0, 0, 1, 12, 12, 12])], [ages], k=2))
    >>> recoding.chosen, recoding.levels.ravel().tolist()
    ('local', [0, 1, 1, 0])
    """
    if context.start is not None:
        # Levels that were said: what is not safe there is blanked or left out, not made coarser.
        problem = replace(problem, lowest=context.start, uniform=True)
    attempts = _Attempts(problem, context)
    grouped, blanked = _allows(check_groups, problem), _allows(check_blanks, problem)
    steps: list[Callable[[], None]] = [attempts.whole_columns]
    if grouped:
        steps.append(attempts.groups)
    if blanked:
        steps += [attempts.blanks, lambda: attempts.light_columns(options.candidates)]
    if grouped:
        steps.append(attempts.groups_from_others)
    if context.budget.usual:
        steps.append(attempts.whole_columns_to_the_end)
    for number, step in enumerate(steps):
        attempts.steps_left = len(steps) - number
        if attempts.best is None or not attempts.over:
            step()
    if attempts.best is None:
        # No way meets the demands; the search over whole columns says how near one can get.
        best_levels(problem, budget=Budget(iterations=_BOXES))
        raise Infeasible("no recoding was found that meets these demands")
    return attempts.best_recoding(several=grouped or blanked)


def _allows(check: Callable[[Problem], None], problem: Problem) -> bool:
    try:
        check(problem)
    except InputError:
        return False
    return True


@dataclass(frozen=True)
class Attempt:
    """What a method came to: a recoding, or the loss that it cannot fall below, for which it was not searched."""

    name: str
    recoding: Recoding | None
    least: float = 0.0

    def in_words(self, budget: Budget) -> str:
        """The loss, and what was spent on it where methods share a budget."""
        if self.recoding is None:
            return f"{self.name} at least {self.least:.6g} (not searched)"
        spent = ""
        if budget.seconds is not None:
            spent = f" ({self.recoding.seconds:.2g} s)"
        elif budget.iterations is not None:
            spent = f" ({self.recoding.work:,} of {budget.iterations:,} steps)"
        return f"{self.name} {self.recoding.value:.6g}{spent}"


class _Attempts:
    """What each method came to, and the best of it; ``steps_left`` share what is left of a limited budget."""

    def __init__(self, problem: Problem, context: SearchContext) -> None:
        self.problem, self.context = problem, context
        self.run: Run = context.run()
        self.every: list[Attempt] = []
        self.best: Recoding | None = None
        self.bound: float | None = None
        self.steps_left = 1

    @property
    def over(self) -> bool:
        """Whether nothing more is tried: some steps cannot be broken off, so none is begun without time."""
        reached = self.run.budget.target is not None and self.run.stopped
        return (
            self.run.out_of_time or reached or (self.bound is not None and not self._may_improve(self.bound))
        )

    def _may_improve(self, least: float) -> bool:
        return self.best is None or least < self.best.value - _EQUAL * max(1.0, abs(self.best.value))

    def _share(self) -> Budget:
        left = self.run.remaining()
        return replace(
            left,
            iterations=None if left.iterations is None else left.iterations // self.steps_left,
            seconds=None if left.seconds is None else left.seconds / self.steps_left,
        )

    def _try(self, name: str, chosen: str, search: Search) -> Recoding | None:
        """What a method finds with its share; ``None`` where it meets no demands."""
        inside = self.run.nested(name)
        try:
            # A bound of one method is none of all.
            recoding = search(self._share(), lambda progress: inside(replace(progress, bound=None)))
            recoding = with_shown_keys(self.problem, recoding)
        except Infeasible:
            return None
        self.run.spend(recoding.work)
        if not recoding.released.any():
            return None
        self.every.append(Attempt(name, recoding))
        self.run.report(recoding.value)
        if self.best is None or recoding.value < self.best.value:
            self.best = replace(recoding, chosen=chosen)
        return recoding

    def whole_columns(self) -> None:
        """The best levels for whole columns, or the ones that were said."""
        self._levels(_BOXES)

    def whole_columns_to_the_end(self) -> None:
        """The same with all its work, where it might still beat the others."""
        first = next((one.recoding for one in self.every if one.name == "lattice"), None)
        if first is None or first.optimal:
            return
        if first.bound is None or self._may_improve(first.bound):
            self.every = [one for one in self.every if one.recoding is not first]
            self._levels(None)

    def _levels(self, boxes: int | None) -> None:
        problem, said = self.problem, self.context.start
        if said is not None:
            problem = replace(problem, highest=said)

        def search(budget: Budget, observer: Observer) -> Recoding:
            usual = budget.iterations
            most = usual if boxes is None else boxes if usual is None else min(boxes, usual)
            return best_levels(problem, budget=replace(budget, iterations=most), observer=observer)

        self._try("lattice", "lattice", search)

    def groups(self) -> None:
        """Groups of near records; shared keys at the levels that are best for whole columns."""
        self._grouped("local", None)

    def groups_from_others(self) -> None:
        """The same from the best, where that is of others, or with what others left of a budget."""
        best = self.best
        if best is not None and (best.chosen != "local" or not self.run.budget.usual):
            self._grouped("local from there", best)

    def _grouped(self, name: str, start: Recoding | None) -> None:
        problem, context = self.problem, self.context
        if problem.alike:
            whole = next((one.recoding for one in self.every if one.name == "lattice"), None)
            if whole is None or whole.uniform is None:
                return
            problem = problem.with_levels(problem.alike, whole.uniform)

        def search(budget: Budget, observer: Observer) -> Recoding:
            return near_groups(
                problem,
                budget=budget,
                seeds=context.seeds,
                threads=context.threads,
                observer=observer,
                start=start,
            )

        recoding = self._try(name, "local", search)
        if recoding is not None and not problem.alike:
            self.bound = recoding.bound

    def blanks(self) -> None:
        """Single values blanked, and nothing made coarser."""
        problem = self.problem.with_levels(self.problem.alike, self.problem.lowest)
        least = least_loss(problem, np.inf if self.best is None else self.best.value)
        if least is not None and not self._may_improve(least):
            self.every.append(Attempt("local-suppression", None, least))
            return

        def search(budget: Budget, observer: Observer) -> Recoding:
            return self._blanked(problem, LocalSuppressionOptions(), budget, observer)

        self._try("local-suppression", "local-suppression", search)

    def _blanked(
        self, problem: Problem, options: LocalSuppressionOptions, budget: Budget, observer: Observer
    ) -> Recoding:
        seeds, threads = self.context.seeds, self.context.threads
        return blank_values(problem, options, budget=budget, seeds=seeds, threads=threads, observer=observer)

    def light_columns(self, candidates: int) -> None:
        """Columns a little coarser, then single values blanked, from several beginnings."""
        if self.context.start is not None:
            # Levels that were said are where blanks alone begin.
            return

        def search(budget: Budget, observer: Observer) -> Recoding:
            run = budget.start(observer)
            best, begun = None, None
            longest = 0.0
            for levels in self._beginnings(run)[:candidates]:
                before = run.seconds
                problem = self._from(levels)
                least = least_loss(problem, np.inf if self.best is None else self.best.value)
                if least is not None and not self._may_improve(least):
                    continue
                try:
                    # What a search begins with is enough to compare beginnings.
                    recoding = self._blanked(problem, _UNPROVED, run.remaining(iterations=0), observer)
                except Infeasible:
                    continue
                if recoding.released.any() and (best is None or recoding.value < best.value):
                    best, begun = recoding, problem
                longest = max(longest, run.seconds - before)
                if run.out_of_time or _is_too_late(run, longest):
                    break
            if best is None or begun is None:
                raise Infeasible("no light recoding meets these demands, or can be better")
            if not (run.out_of_time or _is_too_late(run, longest)):
                left = run.remaining().or_iterations(_CHANGES)
                best = self._blanked(begun, _UNPROVED, left, observer)
            return replace(best, work=best.work + run.work)

        self._try("columns and blanks", "local-suppression", search)

    def _beginnings(self, run: Run) -> list[Levels]:
        """The levels that are best when some people may be left out, where not already these lose too much."""
        problem, chosen = self.problem, list[Levels]()
        limited = run.budget.iterations
        boxes = _BOXES if limited is None else min(_BOXES, limited // (2 * len(_SHARES)))
        by_level = Loss(problem).by_level
        for share in reversed(_SHARES):
            if run.stopped:
                break
            limit = max(problem.limit, int(share * problem.units))
            try:
                solved = best_levels(
                    replace(problem, limit=limit, keep_suppressed=False),
                    budget=run.remaining(iterations=boxes),
                )
            except Infeasible:
                continue
            run.spend(solved.work)
            levels = solved.uniform
            if levels is None or levels in chosen or levels == problem.lowest:
                continue
            lost = sum(float(own[level]) for own, level in zip(by_level, levels, strict=True))
            if problem.measure != "loss" or self._may_improve(lost / problem.size):
                chosen.append(levels)
        return chosen

    def _from(self, levels: Levels) -> Problem:
        return replace(self.problem, lowest=levels).with_levels(self.problem.alike, levels)

    def best_recoding(self, *, several: bool) -> Recoding:
        """The best with the reason, and a bound that holds for every recoding of single records."""
        best, run, problem = self.best, self.run, self.problem
        assert best is not None
        bound = self.bound
        if bound is None:
            items = Items.of(problem) if several else None
            bound = best.bound if items is None else lower_bound(items, np.full(items.size, items.loss.full))
        run.report(best.value, bound=bound)
        optimal = bound is not None and bound >= best.value - _EQUAL * max(1.0, abs(best.value))
        if not run.stopped:
            # What was chosen may be the best of its kind; that of all kinds is proved by the bound alone.
            ended = [one.recoding.stopped_by for one in self.every if one.recoding is not None]
            unproved = [reason for reason in ended if reason is not StopReason.OPTIMAL]
            run.finish(StopReason.OPTIMAL if optimal else decisive([StopReason.ITERATIONS, *unproved]))
        return replace(
            best,
            bound=None if bound is None else min(bound, best.value),
            optimal=optimal,
            reason=self._reason(several),
            scope="records" if several else best.scope,
            **run.closing(),
        )

    def _reason(self, several: bool) -> str:
        if not several:
            return "only whole columns can be recoded by this measure or under these models; single values were not tried"
        assert self.best is not None
        losses = ", ".join(one.in_words(self.run.budget) for one in self.every)
        return f"chosen: {self.best.chosen}, which loses least ({losses})"


def _is_too_late(run: Run, needed: float) -> bool:
    """Whether a time limit leaves less than is needed."""
    limit = run.budget.seconds
    return limit is not None and run.seconds + needed > limit
