"""The method for people who do not want to choose one: cheap ideas first, proofs as soon as they are within reach."""

from typing import Any

import numpy as np

from shoal.appointments.bounds import cutting_patterns
from shoal.appointments.bounds.limits import best_vector, largest_k
from shoal.appointments.problem import Problem
from shoal.appointments.solvers import constraint, dynamic, filling, lexicographic, overflow, windows
from shoal.appointments.solvers.annealing import AnnealingOptions, better_vector, raise_k
from shoal.appointments.solvers.fill_kernels import wrap_around
from shoal.appointments.solvers.lexicographic import STEPS_PER_UNIT, finer
from shoal.appointments.solvers.method import SearchResult, method
from shoal.runtime import Run, Seeds
from shoal.runtime.kernels import in_plain_python
from shoal.runtime.options import NoOptions

AutoOptions = NoOptions

DEFAULT_UNITS = 10_000

# Fills tried per unit of work, and the largest matrix that a constraint model is built for.
TRIALS_PER_UNIT, MOST_CELLS = 50, 20_000

# How much more work than deciding one K goes into slots that overflow, and into seating part after part anew.
OVERFLOW, WINDOWS = 20, 25

# Units of fills that are worth trying before compiled kernels are loaded for them.
PLAIN_FILLS = 2

# How much work goes into a better vector once K is settled, and up to how many cells.
POLISH_UNITS, MOST_POLISHED = 50, 10_000


@method(DEFAULT_UNITS)
def solve(problem: Problem, options: NoOptions, run: Run, seeds: Seeds) -> SearchResult:
    """Greedy rules, fills that wrap around, annealing, and exact search in turn; work counts thousandths of seconds or so."""
    matrix = constraint.seat_anyhow(problem, run, seeds.child("start"))
    if problem.objective == "vector":
        return SearchResult(*_best_vector(problem, matrix, run, seeds))
    matrix, bound = _largest_k(problem, matrix, run, seeds)
    return SearchResult(_polish(problem, matrix, run, seeds.child("polish")), bound)


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
            limit = 4 * effort * STEPS_PER_UNIT
            cooling = AnnealingOptions(schedule=limit // 8)
            with finer(run, 4 * effort, STEPS_PER_UNIT) as inner:
                matrix = raise_k(problem, matrix, bound, cooling, inner, place.child("anneal"), limit)
            run.report(problem.value(matrix), phase="annealing")
        if not lowered and cutting_patterns.applies(problem):
            bound, lowered = cutting_patterns.lower(problem, problem.value(matrix), bound, run), True
            run.report(bound=bound, phase="patterns")
        if overflow.applies(problem, bound) and problem.value(matrix) < bound:
            matrix = _overflow(problem, matrix, bound, OVERFLOW * effort, run, place.child("overflow"))
        if windows.applies(problem) and problem.value(matrix) < bound:
            limit = WINDOWS * effort
            matrix = windows.raise_k(problem, matrix, bound, run, place.child("windows"), limit)
        if problem.rows * problem.slots <= MOST_CELLS:
            matrix, bound = constraint.close_in(problem, matrix, bound, run, place.child("decide"), effort)
        effort *= 2
    return matrix, bound


def _overflow(
    problem: Problem, matrix: np.ndarray, bound: int, units: int, run: Run, seeds: Seeds
) -> np.ndarray:
    limit = units * overflow.STEPS_PER_UNIT
    with finer(run, units, overflow.STEPS_PER_UNIT) as inner:
        matrix = overflow.raise_k(problem, matrix, bound, inner, seeds, limit)
    run.report(problem.value(matrix), phase="overflow")
    return matrix


def _polish(problem: Problem, matrix: np.ndarray, run: Run, seeds: Seeds) -> np.ndarray:
    """Of plans with the same K one with a better vector: where K is small whatever one does, the rest still counts."""
    if problem.diverse or problem.pinned.size > MOST_POLISHED or run.stopped:
        return matrix
    by_vector = problem.with_objective("vector")
    bound = best_vector(by_vector)
    if by_vector.value(matrix) == bound:
        return matrix
    matrix = filling.best_of(problem, [matrix, filling.fit(problem), filling.greedy(problem)])
    limit = POLISH_UNITS * STEPS_PER_UNIT
    with finer(run, POLISH_UNITS, STEPS_PER_UNIT) as inner:
        inner.direction = by_vector.direction
        cooling = AnnealingOptions(schedule=limit // 2)
        return better_vector(by_vector, matrix, cooling, inner, seeds, limit, bound)


def wrap_up(problem: Problem, matrix: np.ndarray, bound: int, run: Run, seeds: Seeds) -> np.ndarray:
    """Fills that wrap around, first for the bound itself, then for what bisection finds within reach."""
    state = seeds.state()
    low, high, trials, tried = problem.value(matrix), bound, 2_000, 0
    k = bound
    while low < high and not run.stopped:
        found = False
        for _ in range(trials // TRIALS_PER_UNIT):
            if not run.chunk(1):
                return matrix
            with in_plain_python(where=filling.quick(problem) and tried < PLAIN_FILLS):
                trial, candidate = wrap_around(problem.sizes, problem.capacities, k, TRIALS_PER_UNIT, state)
            tried += 1
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
            # A plan at least as good as the one that levels were proved with has them, too.
            assert [*problem.value(matrix).items()][: len(frozen)] == frozen
            matrix, bound = lexicographic.by_levels(
                problem, matrix, base, run, place.child("levels"), most=4 * effort, frozen=frozen
            )
            run.report(problem.value(matrix), bound=bound, phase="levels")
        effort *= 2
    return matrix, bound
