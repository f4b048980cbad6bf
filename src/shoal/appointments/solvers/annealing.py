"""Simulated annealing on the pieces of crowds: towards a target K, or towards the best anonymity vector."""

from typing import Any

import numpy as np
from pydantic import Field

from shoal.appointments.bounds.limits import best_vector, largest_k
from shoal.appointments.problem import Problem
from shoal.appointments.solution import Assignment, settle
from shoal.appointments.solvers import fill_kernels
from shoal.appointments.solvers.annealing_kernels import (
    BAD,
    FOUND,
    OCCUPIED,
    STEP,
    cool,
    more_anonymous,
    sorted_cells,
)
from shoal.errors import InputError
from shoal.search import Budget, Observer, Run, Seeds, silent
from shoal.search.budget import StopReason
from shoal.search.options import Options


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
        self.problem = problem
        self.options = options
        self.target = target
        self.tau = tau
        self.best = matrix.copy()
        self._state = state
        self._matrix = matrix.copy()
        self._cells = problem.cells(matrix)
        self._room = problem.capacities - matrix.sum(axis=0)
        self._memory = np.zeros(8, np.int64)
        self._heat = np.zeros(1)
        entries = np.flatnonzero(matrix)
        self._occupied = np.full(matrix.size, -1, np.int64)
        self._occupied[: entries.size] = entries
        self._where = np.full(matrix.size, -1, np.int64)
        self._where[entries] = np.arange(entries.size)
        self._memory[OCCUPIED] = entries.size
        occupied = self._cells[self._cells > 0]
        self._memory[BAD] = int((occupied < target).sum())

    @property
    def done(self) -> bool:
        """Whether the schedule is over, or the target is met."""
        return self._memory[STEP] >= self.options.schedule or bool(self.target and self._memory[FOUND])

    @property
    def found(self) -> bool:
        """Whether ``best`` is better than the start (or meets the target)."""
        return bool(self._memory[FOUND])

    def steps(self, number: int) -> int:
        """Do some steps; returns how many were done."""
        number = min(number, self.options.schedule - int(self._memory[STEP]))
        return int(
            cool(
                self._matrix,
                self._cells,
                self._room,
                self.problem.crowds,
                self.problem.labels,
                self.problem.eligible,
                self.best,
                self._memory,
                self._occupied,
                self._where,
                self._heat,
                self._state,
                self.target,
                self.tau,
                number,
                self.options.schedule,
                self.options.hot,
                self.options.cold,
            )
        )


def start_of(problem: Problem, start: Any = None) -> np.ndarray:
    """A matrix to begin with: the one given, or the better of the greedy and the best-fit rule."""
    if start is not None:
        return np.array(getattr(start, "matrix", start), np.int64)
    candidates = [fill_kernels.fit(problem), fill_kernels.greedy(problem)]
    return best_of(problem, candidates)


def best_of(problem: Problem, candidates: list[np.ndarray]) -> np.ndarray:
    """The matrix with the best anonymity vector (which also has the best K); the first of equals."""
    best, best_cells = candidates[0], sorted_cells(problem.cells(candidates[0]))
    for candidate in candidates[1:]:
        cells = sorted_cells(problem.cells(candidate))
        if more_anonymous(cells, best_cells):
            best, best_cells = candidate, cells
    return best


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
    while (k := problem.value(best)) < bound and spent < limit:
        target = min(bound, k + step)
        begin = (
            best
            if attempt % 2 == 0
            else fill_kernels.fit(problem, _random_priority(problem, seeds.child(attempt)))
        )
        annealer = Annealer(problem, begin, options, seeds.child("cool", attempt).state(), target=target)
        attempt += 1
        while not annealer.done and spent < limit:
            chunk = run.chunk(min(20_000, limit - spent))
            if not chunk:
                return best
            done = annealer.steps(chunk)
            run.spend(done)
            spent += done
        if annealer.found:
            best = annealer.best
            run.report(problem.value(best), phase="annealing")
            step *= 2
        else:
            step = max(1, step // 2)
    return best


def _random_priority(problem: Problem, seeds: Seeds) -> np.ndarray:
    return seeds.generator().permutation(problem.pinned.shape[0])


def better_vector(
    problem: Problem,
    matrix: np.ndarray,
    options: AnnealingOptions,
    run: Run,
    seeds: Seeds,
    limit: int,
    bound: Any = None,
) -> np.ndarray:
    """Anneal towards a better anonymity vector, with finer and coarser eyes for small crowds in turn."""
    best, best_cells = matrix, sorted_cells(problem.cells(matrix))
    mean = float(problem.crowd_sizes[problem.crowd_sizes > 0].mean())
    scales = (0.15, 0.4, 0.08, 0.25)
    spent, attempt = 0, 0
    reached = bound is not None and problem.value(best) == bound
    while spent < limit and not reached:
        scale = scales[attempt % len(scales)]
        begin = (
            best
            if attempt % 4 < 2
            else fill_kernels.fit(problem, _random_priority(problem, seeds.child(attempt)))
        )
        annealer = Annealer(
            problem, begin, options, seeds.child("cool", attempt).state(), tau=max(0.5, scale * mean)
        )
        attempt += 1
        while not annealer.done and spent < limit:
            chunk = run.chunk(min(20_000, limit - spent))
            if not chunk:
                break
            done = annealer.steps(chunk)
            run.spend(done)
            spent += done
        cells = sorted_cells(problem.cells(annealer.best))
        if more_anonymous(cells, best_cells):
            best, best_cells = annealer.best, cells
            run.report(problem.value(best), phase="annealing")
            reached = bound is not None and problem.value(best) == bound
        if run.stopped:
            break
    return best


def solve(
    problem: Problem,
    options: AnnealingOptions,
    *,
    budget: Budget,
    seeds: Seeds,
    threads: int = 1,
    observer: Observer = silent,
    start: Any = None,
) -> Assignment:
    """Start from the better of two greedy rules and move pieces of crowds about, sometimes for the worse."""
    if problem.diverse:
        raise InputError("method 'annealing' knows no diversity; use constraint, lexicographic or auto")
    budget = budget.or_iterations(DEFAULT_STEPS)
    run = budget.start(observer, direction=problem.direction)
    matrix = start_of(problem, start)
    bound = largest_k(problem) if problem.objective == "k" else best_vector(problem)
    run.report(problem.value(matrix), bound=bound, phase="greedy")
    limit = budget.iterations if budget.iterations is not None else 10**15
    if problem.objective == "k":
        matrix = raise_k(problem, matrix, bound, options, run, seeds, limit)
    else:
        matrix = better_vector(problem, matrix, options, run, seeds, limit, bound)
    if problem.value(matrix) == bound:
        run.finish(StopReason.OPTIMAL)
    return settle(problem, matrix, bound=bound, **run.closing())


def warm_up() -> None:
    """Compile the kernels on a tiny problem."""
    for objective, target in (("k", 3), ("vector", 0)):
        problem = Problem([2, 3], [3, 3], objective)
        annealer = Annealer(
            problem,
            fill_kernels.fit(problem),
            AnnealingOptions(),
            np.arange(1, 5, dtype=np.uint64),
            target=target,
        )
        annealer.steps(10)
    more_anonymous(sorted_cells(np.ones((1, 1), np.int64)), np.ones(1, np.int64))
