"""Simulated annealing on the pieces of crowds: towards a target K, or towards the best anonymity vector."""

from typing import Any

import numpy as np
from pydantic import Field

from shoal.appointments.bounds.limits import best_value
from shoal.appointments.problem import Problem
from shoal.appointments.solvers import filling
from shoal.appointments.solvers.annealing_kernels import (
    BAD,
    FOUND,
    OCCUPIED,
    STEP,
    Cooling,
    Seating,
    cool,
    more_anonymous,
    sorted_cells,
)
from shoal.appointments.solvers.method import SearchResult, method, refuse_diversity
from shoal.runtime import Run, Seeds
from shoal.runtime.options import Options


class AnnealingOptions(Options):
    """How a run cools: steps per cooling, and the temperatures between which it falls."""

    schedule: int = Field(default=200_000, ge=100, description="steps of one cooling")
    hot: float = Field(default=0.3, gt=0, description="temperature at which a cooling begins")
    cold: float = Field(default=0.003, gt=0, description="temperature at which it ends")


DEFAULT_STEPS = 2_000_000


class Annealer:
    """One cooling of a matrix, in chunks."""

    def __init__(
        self,
        problem: Problem,
        matrix: np.ndarray,
        options: AnnealingOptions,
        state: np.ndarray,
        *,
        target: int = 0,
        tau: float = 1.0,
    ) -> None:
        self.cooling = Cooling(target, tau, options.schedule, options.hot, options.cold)
        entries = np.flatnonzero(matrix)
        occupied, where = np.full((2, matrix.size), -1, np.int64)
        occupied[: entries.size] = entries
        where[entries] = np.arange(entries.size)
        cells = problem.cells(matrix)
        self._memory = np.zeros(8, np.int64)
        self._memory[OCCUPIED] = entries.size
        self._memory[BAD] = int(((cells > 0) & (cells < target)).sum())
        self.seating = Seating(
            matrix=matrix.copy(),
            cells=cells,
            room=problem.capacities - matrix.sum(axis=0),
            best=matrix.copy(),
            occupied=occupied,
            where=where,
            memory=self._memory,
            heat=np.zeros(1),
            state=state,
            crowds=problem.crowds,
            labels=problem.labels,
            eligible=problem.eligible,
        )

    @property
    def best(self) -> np.ndarray:
        """The best matrix so far."""
        return self.seating.best

    @property
    def done(self) -> bool:
        """Whether the schedule is over, or the target is met."""
        return self._memory[STEP] >= self.cooling.schedule or bool(self.cooling.target and self.improved)

    @property
    def improved(self) -> bool:
        """Whether ``best`` is better than the start (or meets the target)."""
        return bool(self._memory[FOUND])

    def steps(self, number: int) -> int:
        """Do some steps; returns how many were done."""
        number = min(number, self.cooling.schedule - int(self._memory[STEP]))
        return int(cool(self.seating, self.cooling, number))

    def run(self, run: Run, most: int) -> int:
        """Go on until the schedule, the steps allowed or the budget are over; returns the steps done."""
        spent = 0
        while not self.done and spent < most and (chunk := run.chunk(min(20_000, most - spent))):
            done = self.steps(chunk)
            run.spend(done)
            spent += done
        return spent


def raise_k(
    problem: Problem,
    matrix: np.ndarray,
    bound: int,
    options: AnnealingOptions,
    run: Run,
    seeds: Seeds,
    limit: int,
) -> np.ndarray:
    """Anneal towards larger and larger K until the bound, the limit of steps or the budget is reached.

    The target climbs by steps that double on success and halve on failure.
    """
    best = matrix
    step, spent, attempt = max(1, (bound - problem.value(best)) // 2), 0, 0
    while (k := problem.value(best)) < bound and spent < limit and not run.stopped:
        begin = best if attempt % 2 == 0 else _random_fit(problem, seeds.child(attempt))
        state = seeds.child("cool", attempt).state()
        annealer = Annealer(problem, begin, options, state, target=min(bound, k + step))
        attempt += 1
        spent += annealer.run(run, limit - spent)
        if annealer.improved:
            best = annealer.best
            run.report(problem.value(best), phase="annealing")
            step *= 2
        else:
            step = max(1, step // 2)
    return best


def _random_fit(problem: Problem, seeds: Seeds) -> np.ndarray:
    return filling.fit(problem, seeds.generator().permutation(problem.pinned.shape[0]))


def better_vector(
    problem: Problem,
    matrix: np.ndarray,
    options: AnnealingOptions,
    run: Run,
    seeds: Seeds,
    limit: int,
    bound: Any,
) -> np.ndarray:
    """Anneal towards a better anonymity vector, with finer and coarser eyes for small crowds in turn."""
    best, best_cells = matrix, sorted_cells(problem.cells(matrix))
    mean = float(problem.crowd_sizes[problem.crowd_sizes > 0].mean())
    scales = (0.15, 0.4, 0.08, 0.25)
    spent, attempt = 0, 0
    while problem.value(best) != bound and spent < limit and not run.stopped:
        begin = best if attempt % 4 < 2 else _random_fit(problem, seeds.child(attempt))
        state = seeds.child("cool", attempt).state()
        tau = max(0.5, scales[attempt % len(scales)] * mean)
        annealer = Annealer(problem, begin, options, state, tau=tau)
        attempt += 1
        spent += annealer.run(run, limit - spent)
        cells = sorted_cells(problem.cells(annealer.best))
        if more_anonymous(cells, best_cells):
            best, best_cells = annealer.best, cells
            run.report(problem.value(best), phase="annealing")
    return best


@method(DEFAULT_STEPS)
def solve(problem: Problem, options: AnnealingOptions, run: Run, seeds: Seeds) -> SearchResult:
    """Start from the better of two greedy rules and move pieces of crowds about, sometimes for the worse."""
    refuse_diversity(problem, "annealing")
    matrix = filling.better_rule(problem)
    bound = best_value(problem)
    run.report(problem.value(matrix), bound=bound, phase="greedy")
    limit = run.budget.iterations if run.budget.iterations is not None else 10**15
    improve = raise_k if problem.objective == "k" else better_vector
    return SearchResult(
        improve(problem, matrix, bound=bound, options=options, run=run, seeds=seeds, limit=limit), bound
    )


def warm_up() -> None:
    """Compile the kernels on a tiny problem."""
    for objective, target in (("k", 3), ("vector", 0)):
        problem = Problem([2, 3], [3, 3], objective)
        state = np.arange(1, 5, dtype=np.uint64)
        Annealer(problem, filling.fit(problem), AnnealingOptions(), state, target=target).steps(10)
    more_anonymous(sorted_cells(np.ones((1, 1), np.int64)), np.ones(1, np.int64))
