"""The method for people who do not want to choose one: cheap ideas first, proofs as soon as they are within reach."""

from typing import Any

import numpy as np

from shoal.appointments.bounds import cutting_patterns
from shoal.appointments.bounds.limits import best_vector, largest_k
from shoal.appointments.problem import Problem
from shoal.appointments.solution import Assignment, settle
from shoal.appointments.solvers import annealing, constraint, dynamic, fill_kernels, lexicographic
from shoal.search import Budget, Observer, Run, Seeds, silent
from shoal.search.budget import StopReason
from shoal.search.options import NoOptions

AutoOptions = NoOptions

DEFAULT_UNITS = 10_000

# Fills tried per unit of work, and the largest matrix that a constraint model is built for.
TRIALS_PER_UNIT, MOST_CELLS = 50, 20_000

# How much work goes into a better vector once K is settled, and up to how many cells.
POLISH_UNITS, MOST_POLISHED = 50, 10_000


def solve(
    problem: Problem,
    options: NoOptions,
    *,
    budget: Budget,
    seeds: Seeds,
    threads: int = 1,
    observer: Observer = silent,
    start: Any = None,
) -> Assignment:
    """Greedy rules, fills that wrap around, annealing, and exact search in turn; work counts thousandths of seconds or so."""
    budget = budget.or_iterations(DEFAULT_UNITS)
    run = budget.start(observer, direction=problem.direction)
    matrix = (
        np.array(start.matrix)
        if start is not None
        else constraint.seat_anyhow(problem, run, seeds.child("start"))
    )
    assert matrix is not None
    if problem.objective == "k":
        matrix, bound = _largest_k(problem, matrix, run, seeds)
        matrix = _polish(problem, matrix, run, seeds.child("polish"))
    else:
        matrix, bound = _best_vector(problem, matrix, run, seeds)
    run.report(problem.value(matrix), bound=bound)
    if problem.value(matrix) == bound:
        run.finish(StopReason.OPTIMAL)
    return settle(problem, matrix, bound=bound, **run.closing())


def _largest_k(problem: Problem, matrix: np.ndarray, run: Run, seeds: Seeds) -> tuple[np.ndarray, int]:
    bound = largest_k(problem)
    run.report(problem.value(matrix), bound=bound, phase="greedy")
    if problem.plain:
        matrix = wrap_up(problem, matrix, bound, run, seeds.child("wrap"))
    effort, lowered = 5, False
    while problem.value(matrix) < bound and not run.stopped:
        place = seeds.child("round", effort)
        if not problem.diverse:
            # Moving pieces about is what finds plans; deciding K is what proves them.
            inner = lexicographic.inner_run(run, 4 * effort, lexicographic.STEPS_PER_UNIT)
            limit = 4 * effort * lexicographic.STEPS_PER_UNIT
            cooling = annealing.AnnealingOptions(schedule=limit // 8)
            matrix = annealing.raise_k(problem, matrix, bound, cooling, inner, place.child("anneal"), limit)
            run.spend(-(-inner.work // lexicographic.STEPS_PER_UNIT))
            run.report(problem.value(matrix), phase="annealing")
        if not lowered and cutting_patterns.applies(problem):
            bound, lowered = cutting_patterns.lower(problem, problem.value(matrix), bound, run), True
            run.report(bound=bound, phase="patterns")
        if problem.rows * problem.slots <= MOST_CELLS:
            matrix, bound = constraint.close_in(problem, matrix, bound, run, place.child("decide"), effort)
        effort *= 2
    return matrix, bound


def _polish(problem: Problem, matrix: np.ndarray, run: Run, seeds: Seeds) -> np.ndarray:
    """Of plans with the same K one with a better vector: where K is small whatever one does, the rest still counts."""
    if problem.diverse or problem.pinned.size > MOST_POLISHED or run.stopped:
        return matrix
    by_vector = problem.with_objective("vector")
    bound = best_vector(by_vector)
    if by_vector.value(matrix) == bound:
        return matrix
    matrix = annealing.best_of(problem, [matrix, fill_kernels.fit(problem), fill_kernels.greedy(problem)])
    inner = lexicographic.inner_run(run, POLISH_UNITS, lexicographic.STEPS_PER_UNIT)
    inner.direction = by_vector.direction
    options = annealing.AnnealingOptions(schedule=POLISH_UNITS * lexicographic.STEPS_PER_UNIT // 2)
    limit = POLISH_UNITS * lexicographic.STEPS_PER_UNIT
    found = annealing.better_vector(by_vector, matrix, options, inner, seeds, limit, bound)
    run.spend(-(-inner.work // lexicographic.STEPS_PER_UNIT))
    return found


def wrap_up(problem: Problem, matrix: np.ndarray, bound: int, run: Run, seeds: Seeds) -> np.ndarray:
    """Fills that wrap around, first for the bound itself, then for what bisection finds within reach."""
    state = seeds.state()
    low, high, trials = problem.value(matrix), bound, 2_000
    k = bound
    while low < high and not run.stopped:
        found = False
        for _ in range(trials // TRIALS_PER_UNIT):
            if not run.chunk(1):
                return matrix
            trial, candidate = fill_kernels.wrap_around(
                problem.sizes, problem.capacities, k, TRIALS_PER_UNIT, state
            )
            run.spend(1)
            if trial:
                matrix, found = candidate, True
                run.report(problem.value(matrix), phase="filling")
                break
        if found:
            low = max(problem.value(matrix), k)
        else:
            high = k - 1
        k, trials = (low + high + 1) // 2, 500
    return matrix


def _best_vector(problem: Problem, matrix: np.ndarray, run: Run, seeds: Seeds) -> tuple[np.ndarray, Any]:
    base = best_vector(problem)
    bound = base
    run.report(problem.value(matrix), bound=bound, phase="greedy")
    frozen: list[tuple[int, int]] = []
    effort = 25
    while problem.value(matrix) != bound and not run.stopped:
        place = seeds.child("round", effort)
        if not problem.diverse:
            matrix = lexicographic.anneal(problem, matrix, effort, bound, run, place.child("anneal"))
        if problem.value(matrix) != bound and dynamic.fits(problem):
            matrix, proved = lexicographic.by_states(problem, matrix, 40 * effort, run)
            if proved:
                return matrix, problem.value(matrix)
        if problem.value(matrix) != bound and problem.rows * problem.slots <= MOST_CELLS:
            frozen = _still_frozen(problem, matrix, frozen)
            matrix, bound = lexicographic.by_levels(
                problem, matrix, base, run, place.child("levels"), most=4 * effort, frozen=frozen
            )
            run.report(problem.value(matrix), bound=bound, phase="levels")
        effort *= 2
    return matrix, bound


def _still_frozen(
    problem: Problem, matrix: np.ndarray, frozen: list[tuple[int, int]]
) -> list[tuple[int, int]]:
    """The proved levels; a plan at least as good as the one they were proved with has them, too."""
    levels = list(problem.value(matrix).items())
    assert levels[: len(frozen)] == frozen
    return frozen
