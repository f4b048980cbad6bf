"""Searches within searches look at the budget of the whole: its seconds and its control, not ones of their own."""

import numpy as np
import pytest
from ortools.sat.python import cp_model

from shoal.appointments.problem import Problem as Seating
from shoal.appointments.solvers import constraint
from shoal.microdata.grouping import genetic
from shoal.microdata.grouping.api import _each_alone
from shoal.microdata.microaggregation.bounds import column_generation
from shoal.microdata.microaggregation.problem import Problem as Grouping
from shoal.runtime import Budget, Control, Seeds, silent
from shoal.runtime.linear_programmes import is_optimal, programme, quiet_highs, solve_within


def test_the_first_partition_of_a_bound_shares_control_and_time(monkeypatch) -> None:
    given: list[Budget] = []
    own = column_generation.ilsmc

    def recorded(problem, *, budget):
        given.append(budget)
        return own(problem, budget=budget)

    monkeypatch.setattr(column_generation, "ilsmc", recorded)
    points = np.random.default_rng(0).normal(size=(24, 2))
    budget = Budget(seconds=500.0, clock=lambda: 0.0)
    column_generation.column_generation_bound(Grouping(points, 3), budget=budget)
    assert [one.control is budget.control for one in given] == [True]
    assert given[0].iterations == 500 and given[0].seconds == 500.0


@pytest.mark.parametrize("looks", [0, 1, 2, 3, 5, 8, 13])
def test_a_bound_that_is_interrupted_is_valid(looks) -> None:
    class Cancelled(Control):
        """Cancelled when somebody has looked so many times."""

        seen = 0

        @property
        def cancelled(self) -> bool:
            self.seen += 1
            return self.seen > looks

    problem = Grouping(np.random.default_rng(0).normal(size=(24, 2)), 3)
    whole = column_generation.column_generation_bound(problem)
    found = column_generation.column_generation_bound(problem, budget=Budget(control=Cancelled()))
    assert 0.0 <= found <= whole * (1.0 + 1e-9)


@pytest.mark.parametrize("cancelled", [False, True])
def test_a_first_plan_that_cannot_be_found_ends_with_the_run(monkeypatch, cancelled) -> None:
    limits: list[float] = []

    def unknown(solver, model):
        limits.append(solver.parameters.max_time_in_seconds)
        return cp_model.UNKNOWN

    monkeypatch.setattr(constraint, "diverse_enough", lambda problem, matrix: False)
    monkeypatch.setattr(cp_model.CpSolver, "solve", unknown)
    problem = Seating([2, 2], [2, 2], crowds=[0, 0], kinds=[0, 1], diversity=2)
    control = Control()
    if cancelled:
        control.cancel()
    run = Budget(seconds=7000.0, control=control).start()
    with pytest.raises(KeyboardInterrupt if cancelled else constraint.Infeasible):
        constraint.seat_anyhow(problem, run, Seeds(0))
    # What is left by then of the time of the whole.
    assert len(limits) == 1 and 0.0 < limits[0] <= 7000.0


def test_operators_alone_take_together_as_long_as_the_search(monkeypatch) -> None:
    given: list[Budget] = []
    monkeypatch.setattr(genetic, "solve_as_published", lambda *_, budget, **__: given.append(budget))
    budget = Budget(seconds=60.0)
    _each_alone(None, budget, 0, 1, silent)
    assert len(given) > 1 and sum(one.seconds for one in given) == pytest.approx(60.0)
    assert all(one.control is budget.control for one in given)


@pytest.mark.parametrize("wall", [False, True])
def test_a_solver_counts_the_seconds_of_the_run(wall) -> None:
    """Its own limit is one of the wall; by another clock it is asked at every look, and ends when that says so."""
    looks: list[float] = []

    def clock() -> float:
        looks.append(0.0)
        return 100.0 * len(looks)

    generator = np.random.default_rng(0)
    weights = generator.integers(10_000, 99_999, (12, 60)).astype(float)
    rows = np.arange(0, 12 * 60 + 1, 60), np.tile(np.arange(60), 12), weights.ravel()
    half = np.floor(weights.sum(axis=1) / 2)
    model = programme(np.ones(60), np.zeros(60), np.ones(60), rows, half, half, whole=True)
    # What would take hours.
    solver = quiet_highs(model)
    run = (Budget(seconds=1e-3) if wall else Budget(seconds=350.0, clock=clock)).start()
    solve_within(solver, run, 1e-3 if wall else 350.0)
    assert not is_optimal(solver)
    assert (solver.getOptionValue("time_limit")[1] == 1e-3) is wall
    assert wall or len(looks) < 10
