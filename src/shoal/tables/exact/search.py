"""Exact suppression: a tightened relaxation, patterns guided by it, and branch and cut on what remains.

Follows Fischetti and Salazar (Mathematical Programming 84, 1999; Management Science 47, 2001): capacity inequalities
separated by maximum flows (or, on general tables, by the attacker's linear programmes), strengthened; a restricted set
of columns with pricing; reduced-cost fixing from a good pattern; every pattern audited. The bound is valid whenever the
search ends.
"""

from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from pydantic import Field

from shoal.runtime import Budget, Observer, Run, Seeds, StopReason, informative
from shoal.runtime.options import Options
from shoal.tables.exact.first_pattern import first_pattern
from shoal.tables.exact.inequalities import Inequalities
from shoal.tables.exact.lp_cuts import AttackerCuts
from shoal.tables.exact.network_cuts import NetworkCuts
from shoal.tables.exact.presolve import on_smaller
from shoal.tables.exact.refusal import Judge, is_safe
from shoal.tables.exact.relaxation import Relaxation
from shoal.tables.exact.tree import Hooks, Incumbent, branch_and_cut
from shoal.tables.exact.whole_rounds import WholeProgramme, mend, raise_bound
from shoal.tables.exact.windows import WORK as WINDOW_WORK
from shoal.tables.exact.windows import Windows
from shoal.tables.heuristic.general import LpHeuristic
from shoal.tables.heuristic.networks import NetworkHeuristic
from shoal.tables.problem import Problem
from shoal.tables.solution import Pattern


class ExactOptions(Options):
    """How the work is shared between improving the pattern and proving the bound."""

    improvements: int = Field(default=1500, ge=0, description="steps that improve a pattern, at most")
    roundings: int = Field(default=12, ge=0, description="patterns made from the solution of the relaxation")


# Work beyond which a search without limits ends: steps of improvement, rounds of cuts and nodes together.
DEFAULT_WORK = 6000
# Relaxations with more entries than this are not branched on: improving the pattern gains more.
LARGEST_TREE = 600_000
# Nor are general tables, or networks, with more cells left than this.
LARGEST_GENERAL_TREE, LARGEST_NETWORK_TREE = 5000, 12_000
# A tree of a network begins with all its inequalities if they have at most so many entries.
LARGEST_NETWORK_ROWS = 150_000
# Tables with more cells than this are improved window by window only.
LARGEST_ANNEALED = 25_000
# Columns of the relaxation of a network that are kept at least while sums of its rows are sought.
MOST_COLUMNS = 3000
# The share of the time left that these sums get at first, on tables that will hardly be branched on and on others, and how
# many rounds without a limit of time.
FOR_SUMS, FOR_SUMS_BEFORE_TREE, ROUNDS_OF_SUMS = 0.4, 0.1, 60
# Before a tree a round of sums is worth its time if it closes this share of the gap.
WORTH_OF_SUMS = 0.004
# The inequalities of general tables with so many cells are solved in whole numbers: with fewer the tree proves more, with
# more a round takes too long.
FEWEST_WHOLE, LARGEST_WHOLE = 1000, 5000
# The shares of what is left for such rounds at first, for making a pattern of their last answer, and for rounds with the
# better pattern.
FOR_ROUNDS, FOR_MENDING, FOR_LAST_ROUNDS = 0.4, 0.4, 0.8
# With fewer cells left the tree is sooner at its end than a few windows; on general tables it hardly ever is.
FEWEST_FOR_WINDOWS = 400
FEWEST_GENERAL_FOR_WINDOWS = 150


def solve(
    problem: Problem,
    options: ExactOptions,
    *,
    budget: Budget,
    seeds: Seeds,
    threads: int = 1,
    observer: Observer,
    start: Pattern | None = None,
) -> Pattern:
    """Find the cheapest safe pattern, or the best found with a valid bound when the budget ends first."""

    def solve_small(problem: Problem, budget: Budget, observer: Observer, start: Pattern | None) -> Pattern:
        run = budget.or_iterations(DEFAULT_WORK).start(observer)
        return _Search(problem, options, run, seeds, threads).go(start)

    return on_smaller(problem, solve_small, budget=budget, observer=observer, start=start)


class _Search:
    def __init__(
        self, problem: Problem, options: ExactOptions, run: Run, seeds: Seeds, threads: int = 1
    ) -> None:
        self.problem = problem
        self.options = options
        self.run = run
        self.seeds = seeds
        self.network = problem.table.network
        self.rng = seeds.child("exact").state()
        self.heuristic: NetworkHeuristic | LpHeuristic
        self.separator: NetworkCuts | AttackerCuts
        if self.network is not None:
            self.heuristic = NetworkHeuristic(problem, self.network, run=run)
            self.separator = NetworkCuts(problem, self.network, threads)
        else:
            self.heuristic = LpHeuristic(problem, run=run)
            self.separator = AttackerCuts(problem, run, threads)
        self.best: Incumbent
        self.judge = Judge(problem, self.separator)
        # Those of the relaxation of a network that are no sums of others.
        self._plain: list[int] = []
        # The last answer in whole numbers, which may be unsafe.
        self._answer: np.ndarray | None = None

    def go(self, start: Pattern | None) -> Pattern:
        """Run all phases that the budget allows."""
        problem, run = self.problem, self.run
        first = (
            start.complementary
            if start is not None
            else first_pattern(self.heuristic, problem, self.seeds, run)
        )
        self.best = Incumbent(first, problem.total_cost(first))
        run.report(self.best.cost, phase="first pattern")
        bound, proved = 0.0, self.best.cost <= 0.0
        if not proved and not run.stopped:
            bound, proved = self._improve_and_prove()
        if proved:
            bound = self.best.cost
            run.finish(StopReason.OPTIMAL)
        bound = min(self._rounded_up(bound), self.best.cost) + 0.0
        if self.best.cost - bound <= 1e-6 * max(1.0, self.best.cost):
            bound, proved = self.best.cost, True
            run.finish(StopReason.OPTIMAL)
        run.report(self.best.cost, bound=informative(bound, self.best.cost))
        return Pattern(
            value=self.best.cost,
            bound=bound,
            optimal=proved,
            complementary=self.best.pattern,
            **run.closing(),
        )

    def _improve_and_prove(self) -> tuple[float, bool]:
        problem, run = self.problem, self.run
        relaxation = Relaxation(problem, self.separator, self._columns())
        self._tighten(relaxation)
        bound = relaxation.bound
        known = min(self._rounded_up(bound), self.best.cost)
        run.report(bound=informative(known, self.best.cost), phase="relaxation")
        if self._closed(bound):
            return bound, True
        if self._in_whole_numbers:
            bound = max(bound, self._whole_rounds(relaxation, FOR_ROUNDS, FOR_MENDING))
        if not self._closed(bound) and not run.stopped:
            self._guided(relaxation)
        if self._closed(bound) or run.stopped:
            return bound, self._closed(bound)
        keep, rows = self._remaining(relaxation)
        # A window takes as long as many nodes, and the tree finds better patterns.
        if self._large or self._in_whole_numbers or not self._branches(keep, rows):
            self._windows(relaxation)
            if self._closed(bound) or run.stopped:
                return bound, self._closed(bound)
        if self._in_whole_numbers:
            bound = max(bound, self._whole_rounds(relaxation, FOR_LAST_ROUNDS, 0.0))
            if self._closed(bound) or run.stopped:
                return bound, self._closed(bound)
        keep, rows = self._remaining(relaxation)
        if not self._branches(keep, rows):
            if self.network is not None and run.budget.seconds is not None:
                return self._alternate(relaxation)
            self._improve_on()
            return bound, self._closed(bound)
        found, closed = branch_and_cut(problem, self.separator, keep, rows, self.best, self._hooks(keep), run)
        return max(bound, found), closed

    def _alternate(self, relaxation: Relaxation) -> tuple[float, bool]:
        """Raise the bound of a large network and improve its pattern in turn until the time is over."""
        run = self.run
        before = (0.0, 0.0)
        while not run.stopped and not self._closed(relaxation.bound):
            if before == (self.best.cost, relaxation.bound):
                self._improve_on()
                break
            before = (self.best.cost, relaxation.bound)
            self._sums(relaxation, 0.5)
            known = min(relaxation.bound, self.best.cost)
            run.report(bound=informative(known, self.best.cost), phase="relaxation")
            if not run.stopped:
                self._windows(relaxation)
        return relaxation.bound, self._closed(relaxation.bound)

    def _hooks(self, columns: np.ndarray) -> Hooks:
        return Hooks(
            self.judge.safe,
            lambda pattern: self.judge.violated(pattern, columns),
            lambda pattern: self.judge.still_violated(pattern, columns),
            self._round,
            self._offer,
        )

    def _whole_rounds(self, relaxation: Relaxation, share: float, for_pattern: float) -> float:
        """Raise the bound in whole numbers with a share of what is left, and leave the lessons to the relaxation.

        With a share of what is left then the last answer becomes a pattern, or nearly one.
        """
        keep, rows = self._remaining(relaxation)
        whole = WholeProgramme(self.problem, keep, rows)
        whole.bound = relaxation.bound
        hooks = self._hooks(keep)
        with self._part_of_run("whole rounds", share) as inner:
            closed = raise_bound(whole, self.best, hooks, self._rounded_up, relaxation.x, inner)
        if closed:
            return self.best.cost
        self._answer = whole.answer
        if for_pattern:
            with self._part_of_run("mending", for_pattern) as inner:
                self._answer = mend(whole, relaxation.x, hooks, inner)
        known = set(relaxation.numbers)
        numbers = [number for number in self.judge.refusing if number not in known]
        relaxation.add(self.separator.write(numbers, relaxation.columns))
        if numbers and relaxation.solve():
            relaxation.price()
        return max(relaxation.bound, min(whole.bound, self.best.cost))

    @contextmanager
    def _part_of_run(self, phase: str, share: float) -> Iterator[Run]:
        """A run with this share of what is left."""
        run, limit = self.run, self.run.budget.seconds
        inner = run.remaining(
            iterations=int(share * self._left()),
            seconds=None if limit is None else max(1e-9, share * (limit - run.seconds)),
        ).start(run.nested(phase))
        yield inner
        run.spend(inner.work)

    def _remaining(self, relaxation: Relaxation) -> tuple[np.ndarray, Inequalities]:
        """The cells that a cheaper pattern can contain, and the inequalities over them."""
        # Fixing by reduced costs rests on the solution they belong to, not on the best bound so far.
        gap = self.best.cost - relaxation.proved
        margin = 1e-7 * max(1.0, self.best.cost)
        keep = np.flatnonzero(self.problem.candidates & (relaxation.reduced <= gap + margin))
        if self.network is not None and keep.size > self._largest_tree:
            # Too many to branch on: writing them would be for nothing.
            return keep, Inequalities()
        rows = self.separator.write(dict.fromkeys([*relaxation.numbers, *self.judge.refusing]), keep)
        if self.network is not None and rows.entries > LARGEST_NETWORK_ROWS:
            # The tree finds again what else it needs, sooner than it carries all of it along.
            rows = self.separator.write(self._binding(relaxation), keep)
        return keep, rows

    def _branches(self, keep: np.ndarray, rows: Inequalities) -> bool:
        return keep.size <= self._largest_tree and rows.entries <= LARGEST_TREE

    @property
    def _largest_tree(self) -> int:
        return LARGEST_GENERAL_TREE if self.network is None else LARGEST_NETWORK_TREE

    def _tighten(self, relaxation: Relaxation) -> None:
        run, limit = self.run, self.run.budget.seconds
        if self.network is not None:
            relaxation.tighten(run)
            self._plain = list(relaxation.numbers)
            if not self._closed(relaxation.bound) and not run.stopped:
                # What is left to gain is known once there is a good pattern.
                self._guide(relaxation.x, self._usable(relaxation), 0)
                relaxation.narrow(max(MOST_COLUMNS, relaxation.columns.size // 4))
                if self._large:
                    self._sums(relaxation, FOR_SUMS)
                else:
                    worth = WORTH_OF_SUMS * (self.best.cost - relaxation.bound)
                    self._sums(relaxation, FOR_SUMS_BEFORE_TREE, patience=4, least=worth)
            return
        # What comes late in fractions comes sooner in whole numbers.
        patience = 1 if self._in_whole_numbers else 8
        self.separator.near = self._in_whole_numbers
        if limit is None:
            relaxation.tighten(run, patience=patience)
        else:
            # General tables are rarely proved: half of the time is for the bound, half for the pattern.
            inner = run.remaining(seconds=max(1e-9, 0.5 * (limit - run.seconds))).start(run.nested("cuts"))
            relaxation.tighten(inner, patience=patience)
            run.spend(inner.work)
        self.separator.near = False

    def _sums(self, relaxation: Relaxation, share: float, *, patience: int = 8, least: float = 0.0) -> None:
        """Tighten the relaxation of a network by sums of its rows, with this share of the time that is left."""
        run, limit = self.run, self.run.budget.seconds
        if limit is None:
            relaxation.tighten(
                run, rounds=ROUNDS_OF_SUMS, patience=patience, gain=5e-5, least=least, sums=True
            )
            return
        inner = run.remaining(seconds=max(1e-9, share * (limit - run.seconds))).start(run.nested("cuts"))
        relaxation.tighten(inner, patience=patience, gain=5e-5, least=least, sums=True)
        run.spend(inner.work)

    def _columns(self) -> np.ndarray:
        problem = self.problem
        everything = np.flatnonzero(problem.candidates)
        if self.network is None or everything.size <= 3000:
            return everything
        dearest = float(problem.cost[self.best.pattern].max(initial=0.0))
        order = everything[np.argsort(problem.cost[everything], kind="stable")]
        count = int(np.searchsorted(problem.cost[order], 1.2 * dearest, side="right"))
        count = max(2000, min(count, everything.size // 7))
        return np.union1d(order[:count], self.best.pattern)

    def _guided(self, relaxation: Relaxation) -> None:
        problem, run, options = self.problem, self.run, self.options
        limit = run.budget.seconds
        general = isinstance(self.heuristic, LpHeuristic)
        several = options.roundings
        if self._large:
            several = min(several, 4)
        if general:
            # A rounding takes as long as the first pattern; windows gain more.
            several = min(several, 1)
        usable = self._usable(relaxation)
        for place in range(several):
            if run.stopped:
                return
            self._guide(relaxation.x, usable, place)
        x = relaxation.x
        self.heuristic.focus(usable, problem.cost * (1.0 - 0.6 * x) + 1e-9)
        if general and problem.size >= FEWEST_GENERAL_FOR_WINDOWS:
            return
        # Small tables are proved sooner than improved.
        size = int(usable.sum())
        steps = min(options.improvements, size // 2 if general else 50 + 2 * size, max(0, self._left() // 2))
        if steps and not self._large and not run.stopped:
            inner = run if limit is None else run.remaining(seconds=0.25 * limit).start(run.nested("improve"))
            self.heuristic.improve(self.best.pattern, steps, self.seeds.child("improve"), inner, self._offer)
            if inner is not run:
                run.spend(inner.work)

    def _usable(self, relaxation: Relaxation) -> np.ndarray:
        """The cells by which a pattern may well become cheaper."""
        gap = max(self.best.cost - relaxation.bound, 1e-9)
        near: np.ndarray = relaxation.reduced <= min(gap, 0.25 * gap + 0.01 * self.best.cost)
        return self.problem.candidates & near

    def _guide(self, x: np.ndarray, usable: np.ndarray, way: int) -> None:
        """Make a pattern of usable cells near the point ``x``; ``way`` is the number of the way to do so."""
        problem = self.problem
        usable[self.best.pattern] = True
        strength = (0.7, 0.8, 0.9)[way % 3]
        above = (0.5, 0.3, 0.9)[way // 3 % 3]
        chosen, near = np.flatnonzero((x > above) & problem.candidates), x
        if self._answer is not None:
            chosen = self._answer
            usable[chosen] = True
            near = np.isin(np.arange(problem.table.cells), chosen)
        self.heuristic.focus(usable, problem.cost * (1.0 - strength * near) + 1e-9)
        found = self.heuristic.build(self.rng, chosen, noise=0.0 if way < 3 else 0.3)
        if found is not None:
            self._offer(found)

    @property
    def _in_whole_numbers(self) -> bool:
        return self.network is None and FEWEST_WHOLE <= self.problem.size <= LARGEST_WHOLE

    @property
    def _large(self) -> bool:
        # Here destroying and repairing costs more than solving a part of the pattern as an integer programme.
        return self.problem.size > LARGEST_ANNEALED

    def _windows(self, relaxation: Relaxation) -> None:
        """Solve parts of the pattern again until several in a row bring nothing."""
        problem, run = self.problem, self.run
        left = int((problem.candidates & (relaxation.reduced <= self.best.cost - relaxation.bound)).sum())
        fewest = FEWEST_GENERAL_FOR_WINDOWS if self.network is None else FEWEST_FOR_WINDOWS
        if left < fewest or self.best.pattern.size == 0:
            return
        general = self.network is None
        patience = 12 if self._large or (general and not self._in_whole_numbers) else 3
        rng = self.seeds.child("windows").state()
        windows = Windows(
            problem,
            lambda cells: self.separator.write(self._binding(relaxation), cells),
            self.judge.violated,
            # On a general table that takes as long as many windows, and these know of what was refused.
            (lambda pattern: None) if general else lambda pattern: self.heuristic.build(self.rng, pattern),
            relaxation.x,
            relaxation.reduced,
            self.best.pattern,
        )
        self.heuristic.focus(np.isin(np.arange(problem.table.cells), windows.cells))
        failed = 0
        limit = run.budget.seconds
        share = 0.5 if general else 0.2
        until = None if limit is None or self._large else run.seconds + share * limit
        while failed < patience and run.chunk(WINDOW_WORK):
            if until is not None and run.seconds > until:
                break
            before = self.best.cost
            pattern = self.best.pattern
            released = windows.release(pattern, rng)
            if self._answer is not None:
                # First all that the last answer in whole numbers does without.
                released, self._answer = np.setdiff1d(pattern, self._answer), None
            found = windows.solve(pattern, released, run)
            if found is not None:
                self._offer(found)
            failed = 0 if self.best.cost < before else failed + 1
            run.spend(min(WINDOW_WORK, self._left()))
            run.report(phase="windows")

    def _binding(self, relaxation: Relaxation) -> dict[int, None]:
        """The inequalities of a window: of very many those that hold the bound up; what else a pattern violates comes later."""
        numbers = relaxation.numbers
        if self.network is not None and len(numbers) == relaxation.duals.size:
            binding = np.flatnonzero(np.abs(relaxation.duals) > 1e-9)
            numbers = [*self._plain, *(numbers[place] for place in binding)]
        return dict.fromkeys([*numbers, *self.judge.refusing])

    def _improve_on(self) -> None:
        """Spend the rest of a limited budget on the pattern."""
        turn = 0
        while not self.run.stopped and turn < 50:
            turn += 1
            before = self.best.cost
            steps = min(self.options.improvements, self._left())
            seeds = self.seeds.child("improve", turn)
            self.heuristic.improve(self.best.pattern, steps, seeds, self.run, self._offer)
            if self.run.budget.seconds is None and self.best.cost >= before:
                return

    def _left(self) -> int:
        total = self.run.budget.iterations
        return 10**9 if total is None else total - self.run.work

    def _offer(self, pattern: np.ndarray) -> None:
        problem = self.problem
        if problem.total_cost(pattern) >= self.best.cost:
            return
        # Thinning looks at intervals only: if a sum or an insider needs the cells it took, the pattern counts as it came.
        thinner = [self.heuristic.thin(pattern)] if isinstance(self.heuristic, NetworkHeuristic) else []
        for found in (*thinner, pattern):
            cost = problem.total_cost(found)
            if cost < self.best.cost and is_safe(problem, found):
                self.best.pattern, self.best.cost = found, cost
                self.run.report(cost)
                return

    def _round(self, x: np.ndarray) -> np.ndarray | None:
        problem = self.problem
        self.heuristic.focus(self.heuristic.usable, problem.cost * (1.0 - 0.8 * x) + 1e-9)
        chosen = np.flatnonzero((x > 0.5) & problem.candidates & self.heuristic.usable)
        return self.heuristic.build(self.rng, chosen, noise=0.2)

    def _closed(self, bound: float) -> bool:
        return self.best.cost - self._rounded_up(bound) <= 1e-6 * max(1.0, self.best.cost)

    def _rounded_up(self, bound: float) -> float:
        # Sums of whole numbers are whole.
        cost = self.problem.cost[self.problem.candidates]
        if (cost == np.round(cost)).all() and cost.sum() < 1e12:
            return float(np.ceil(bound - 1e-6 * max(1.0, abs(bound))))
        return bound
