"""Seating part after part anew: rules are kept, K never falls, and crowds outside of a window stay as they are."""

import numpy as np
import pytest

from shoal.appointments.api import assign_sizes
from shoal.appointments.problem import Problem
from shoal.appointments.solvers import constraint, filling, windows
from shoal.runtime import Budget, Seeds


def drawn(seed, groups=18, slots=13, slack=0):
    generator = np.random.default_rng(seed)
    sizes = generator.integers(6, 13, groups)
    seats = generator.multinomial(sizes.sum() - 3 * slots, np.ones(slots) / slots) + 3
    seats[0] += slack
    return Problem(sizes, seats)


def raised(problem, matrix, seed, units=400):
    run = Budget(iterations=units).start(direction=problem.direction)
    return windows.raise_k(problem, matrix, int(problem.sizes.min()), run, Seeds(seed), units), run


@pytest.mark.parametrize("seed", range(4))
def test_a_plan_never_gets_worse_and_keeps_the_rules(seed):
    problem = drawn(seed, slack=seed % 3)
    before = filling.better_rule(problem)
    after, run = raised(problem, before, seed)
    assert problem.value(after) >= problem.value(before)
    assert (after >= 0).all()
    assert (after.sum(axis=1) == problem.sizes).all()
    assert (after.sum(axis=0) <= problem.capacities).all()
    assert run.work <= 400
    again, _ = raised(problem, before, seed)
    assert (again == after).all()


@pytest.mark.parametrize("seed", range(60))
def test_a_window_cuts_no_crowd_off(seed):
    generator = np.random.default_rng(seed)
    matrix = filling.better_rule(drawn(seed))
    target = int(matrix[matrix > 0].min()) + 1
    slots = windows._window(matrix, target, generator)
    if slots is None:
        return
    assert len(set(slots.tolist())) == slots.size <= windows._SLOTS + windows._MORE
    people = matrix[:, slots].sum(axis=1)
    assert ((people == 0) | (people >= target)).all()
    small = (matrix > 0) & (matrix < target)
    assert small[:, slots].any()


def test_only_the_window_changes(monkeypatch):
    problem = drawn(3)
    before = filling.better_rule(problem)
    asked = []
    decide = constraint.decide

    def watched(part, *rest, **more):
        answer, found = decide(part, *rest, **more)
        asked.append((part, answer, found))
        return answer, found

    monkeypatch.setattr(constraint, "decide", watched)
    after, _ = raised(problem, before, 3)
    solved = [part for part, answer, _ in asked if answer]
    assert solved
    touched = {int(size) for part in solved for size in part.capacities}
    changed = (before != after).any(axis=0)
    assert set(problem.capacities[changed].tolist()) <= touched


def test_seats_without_any_to_spare_are_filled_to_a_proved_k():
    generator = np.random.default_rng([1, 50, 30])
    sizes = generator.integers(60, 119, 50, endpoint=True)
    weights = generator.uniform(0.5, 1.5, 30)
    seats = np.floor(weights / weights.sum() * sizes.sum()).astype(int)
    seats[: sizes.sum() - seats.sum()] += 1
    plan = assign_sizes(sizes.tolist(), seats.tolist(), iterations=6000)
    assert plan.k >= 0.95 * plan.k_bound
