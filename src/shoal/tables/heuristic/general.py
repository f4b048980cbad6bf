"""Patterns for any table: one small linear programme per requirement that is not met yet, then reverse delete.

Every change of cells found on the way is kept as a certificate, so that later only what is touched is looked at again;
the same repair serves destroy and repair (Shaw 1998) to make a pattern cheaper.
"""

from collections.abc import Callable

import numpy as np
from pydantic import Field

from shoal.errors import OutOfTime, parameter
from shoal.runtime import Budget, Observer, Run, Seeds
from shoal.runtime.options import Options
from shoal.runtime.randomness import below, uniform
from shoal.tables.heuristic.certificates import Certified
from shoal.tables.heuristic.guided import Guided
from shoal.tables.heuristic.neighbourhood import Neighbourhoods
from shoal.tables.problem import Problem
from shoal.tables.safety.audit import failing, failing_insiders
from shoal.tables.safety.sums import add_for_sums
from shoal.tables.solution import Pattern

# How many redundancy tests are made at most, and how many hidden cells around a requirement each looks at.
_TESTS = 30_000
_LOOK = 1000
# How many cells each step of destroy and repair tries to show again.
_FEW = 10
# So many programmes are one unit of work.
_PER_UNIT = 8


class GeneralOptions(Options):
    """How hard to look for hidden cells that need not be."""

    tests: int = Field(
        default=_TESTS, ge=0, description="hidden cells that are tested for being redundant, at most"
    )


def solve(
    problem: Problem,
    options: GeneralOptions,
    *,
    budget: Budget,
    seeds: Seeds,
    threads: int = 1,
    observer: Observer,
    start: Pattern | None = None,
) -> Pattern:
    """Screen, repair, thin out; on a table that is a network the compiled repair does the same faster."""
    from shoal.tables.exact.first_pattern import first_pattern
    from shoal.tables.exact.presolve import on_smaller
    from shoal.tables.heuristic.networks import NetworkHeuristic

    def solve_small(problem: Problem, budget: Budget, observer: Observer, start: Pattern | None) -> Pattern:
        run = budget.start(observer)
        network = problem.table.network
        heuristic = (
            LpHeuristic(problem, options.tests, run)
            if network is None
            else NetworkHeuristic(problem, network, run=run)
        )
        pattern = first_pattern(heuristic, problem, seeds, run)
        value = problem.total_cost(pattern)
        run.report(value)
        return Pattern(value=value, complementary=pattern, **run.closing())

    return on_smaller(problem, solve_small, budget=budget, observer=observer, start=start)


class LpHeuristic(Guided):
    """Builds, thins out and repairs patterns of any table; same use as the heuristic for networks.

    With a ``run`` it stops when that does. Only the first safe pattern is built to the end; but what insiders could learn may
    take without end to prevent, and then there is no pattern.
    """

    def __init__(self, problem: Problem, tests: int = _TESTS, run: Run | None = None) -> None:
        super().__init__(problem)
        self.tests = tests
        self.run = run
        self.search = Neighbourhoods(problem)
        self._built = False

    @property
    def _over(self) -> bool:
        return self.run is not None and self.run.stopped

    def build(
        self, rng: np.ndarray, start: np.ndarray | None = None, noise: float = 0.0
    ) -> np.ndarray | None:
        """A safe pattern, minimal unless it is very large; ``None`` if the usable cells do not suffice."""
        problem = self.problem
        state = Certified(problem, self.wanted, self.search)
        if start is not None:
            state.hidden[start] = True
        price = self.price * (
            1.0 + noise * (np.array([uniform(rng) for _ in range(problem.table.cells)]) - 0.5)
        )
        if not self._protect(state, price) or not self._meet_insiders(state, price):
            return None
        state.drop_unused()
        self._thin(state)
        if not self._meet_insiders(state, price) or not self._confirm(state, price):
            return None
        self._built = True
        return add_for_sums(problem, state.complementary, price)

    def _protect(self, state: Certified, price: np.ndarray) -> bool:
        """Meet every requirement that has no certificate, those that need most first."""
        for place in np.argsort(-state.wanted.need, kind="stable").tolist():
            if state.moved[place] is not None:
                continue
            if state.wanted.scenario[place] >= 0:
                self._refuse_without_end()
            if (self._built and self._over) or not state.protect(place, self.usable, price):
                return False
        return True

    def _refuse_without_end(self) -> None:
        """Raise ``OutOfTime`` if the time is over and there is no pattern yet that holds against insiders."""
        if self._built or self.run is None or not self.run.out_of_time:
            return
        raise OutOfTime(
            "the search was over before it found a pattern that is safe from sole contributors, too; whether there is one is "
            f"not known: give it more time ({parameter('time_limit')}), or see {parameter('insiders')}"
        )

    def _meet_insiders(self, state: Certified, price: np.ndarray) -> bool:
        """Meet what insiders could learn, until no certificate rests on cells that one of them knows."""
        while True:
            before = self.wanted.size
            self.require(state.against_insiders())
            if self.wanted.size == before:
                return True
            state.require(self.wanted)
            if not self._protect(state, price):
                return False

    def _confirm(self, state: Certified, price: np.ndarray) -> bool:
        """Ask the attacker; certificates are right but for rounding, and what that spoils is met with a margin."""
        for _ in range(4):
            short = failing(self.problem, state.hidden, state.wanted)
            if short.size == 0:
                return True
            for place in short.tolist():
                if not state.protect(int(place), self.usable, price):
                    return False
        return False

    def _thin(self, state: Certified) -> None:
        """Show redundant cells again, the most expensive first."""
        cells = state.complementary
        witness: dict[int, int] = {}
        first = self.search.solved
        for cell in cells[np.argsort(-self.problem.cost[cells], kind="stable")].tolist():
            if self.search.solved - first >= self.tests or self._over:
                break
            if state.hidden[cell]:
                state.without(cell, self.problem.cost, witness, _LOOK)

    def _certified(self, complementary: np.ndarray) -> Certified | None:
        """A state for a safe pattern; ``None`` if some requirement finds no certificate."""
        state = Certified(self.problem, self.wanted, self.search)
        state.hidden[complementary] = True
        for place in np.argsort(-state.wanted.need, kind="stable").tolist():
            if state.moved[place] is None and (self._over or not state.meet(place)):
                return None
        return state

    def thin(self, complementary: np.ndarray) -> np.ndarray:
        """A safe pattern without its redundant cells, the most expensive tried first."""
        state = self._certified(complementary)
        if state is None:
            return complementary
        before = state.complementary
        self._thin(state)
        if self.problem.insiders and failing_insiders(self.problem, state.hidden).size:
            return before
        return state.complementary

    def improve(
        self,
        start: np.ndarray,
        steps: int,
        seeds: Seeds,
        run: Run,
        keep: Callable[[np.ndarray], None],
        **other: object,
    ) -> np.ndarray:
        """Destroy and repair ``steps`` times, or until the run stops; the best pattern found."""
        state = self._certified(start)
        if state is None:
            return start
        rng = seeds.state()
        best, best_cost, cost, kept = start, state.cost, state.cost, state.cost
        done = number = 0
        while done < steps and best_cost > 0:
            # The work of a step is counted in programmes, as they are what takes the time.
            most = run.chunk(steps - done)
            if most == 0:
                break
            solved = self.search.solved
            heat = 0.002 * best_cost * (1.0 - (number % 200) / 200)
            cost += self._step(state, rng, heat)
            number += 1
            spent = 1 + (self.search.solved - solved) // _PER_UNIT
            left = steps - done if run.budget.iterations is None else run.budget.iterations - run.work
            run.spend(min(spent, left))
            done += spent
            if cost < best_cost - 1e-9 * max(1.0, best_cost):
                best, best_cost = state.complementary, cost
            if number % 10 == 0 and best_cost < kept:
                kept = best_cost
                keep(best)
            run.report(phase="improve")
        if best_cost < kept:
            keep(best)
        return best

    def _step(self, state: Certified, rng: np.ndarray, heat: float) -> float:
        """Show a few cells again and repair; undone if that costs more than ``heat`` allows. Returns the difference."""
        problem = self.problem
        cells = state.complementary
        if cells.size == 0:
            return 0.0
        # Dear cells are tried more often.
        weight = np.cumsum(np.sqrt(problem.cost[cells]) + 1e-12)
        seed = int(cells[min(np.searchsorted(weight, uniform(rng) * weight[-1]), cells.size - 1)])
        gone = {seed}
        mine = state.uses(seed)
        if mine and uniform(rng) < 0.6:
            circuit = state.moved[mine[below(rng, len(mine))]]
            if circuit is not None:
                share = uniform(rng)
                gone.update(
                    cell for cell in circuit.tolist() if problem.candidates[cell] and uniform(rng) < share
                )
        state.begin()
        before = float(problem.cost[sorted(gone)].sum())
        price = self.price * (0.8 + 0.4 * _noise(rng, problem.table.cells))
        price[sorted(gone)] *= 1.0 + uniform(rng)
        if self._replace(state, sorted(gone), price, before + heat):
            difference = state.difference
            accepted = difference <= heat * uniform(rng)
            if accepted and not (problem.insiders and self._broken(state)):
                state.commit()
                return difference
        state.rollback()
        return 0.0

    def _replace(self, state: Certified, gone: list[int], price: np.ndarray, most: float) -> bool:
        """Meet what used the cells that are gone in other ways, and thin out; false if that costs too much."""
        problem = self.problem
        affected: set[int] = set()
        for cell in gone:
            state.show(cell)
            affected.update(state.uses(cell))
        order = sorted(affected, key=lambda position: (-state.wanted.need[position], position))
        for place in order:
            state.forget(place)
        for place in order:
            if state.moved[place] is None:
                if not state.protect(place, self.usable, price):
                    return False
                if state.difference > 0.5 * most:
                    return False
        touched = state.touched()
        for cell in touched[np.argsort(-problem.cost[touched], kind="stable")][:_FEW].tolist():
            if state.hidden[cell]:
                state.without(cell, problem.cost, {}, _LOOK // 2)
        return True

    def _broken(self, state: Certified) -> bool:
        """Whether an insider could learn something from what was changed last."""
        more = state.against_insiders(state.changed())
        return self.wanted.with_more(more).size > self.wanted.size


def _noise(rng: np.ndarray, count: int) -> np.ndarray:
    return np.random.default_rng(int(below(rng, 2**31 - 1))).random(count)
