"""Every loop ends: with its budget, on Ctrl-C, and on numbers that never let it get where it wants to go."""

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from tests.tables.oracle import cube

import shoal
from shoal.errors import Infeasible, OutOfTime
from shoal.runtime import Budget, Control, Seeds, silent
from shoal.tables import api, checked_search
from shoal.tables.from_papers.circuits import Plane
from shoal.tables.from_papers.heurgene import Breeder, HeurGeneOptions
from shoal.tables.from_papers.hypercube import search_of
from shoal.tables.heuristic import networks
from shoal.tables.heuristic.networks import NetworkHeuristic
from shoal.tables.methods import METHODS
from shoal.tables.model.table import Table
from shoal.tables.problem import Problem
from shoal.tables.safety.flow_kernels import Arcs, flow_through, max_flow

RECORDS = pl.DataFrame(
    {
        "r": [*"nsw"] * 16,
        "q": [*"aabbccdd"] * 6,
        "v": [float(3 + (i * 37) % 101) for i in range(48)],
    }
)


def flow(up: list[float], limit: float) -> tuple[float, np.ndarray]:
    """What a path 0 → 1 → 2 with a second, roomier arc at its end carries, and which nodes are left reachable."""
    arcs = Arcs(np.array([0, 1, 1]), np.array([1, 2, 2]), np.array(up), np.zeros(3))
    through = flow_through(3, arcs, np.arange(3), 1e-9)
    sent = max_flow(through, 0, 2, limit, -1, -1)
    return float(sent), through.work[0]


def test_a_flow_of_numbers_is_found() -> None:
    assert flow([5.0, 3.0, 9.0], 100.0)[0] == 5.0 and flow([5.0, 3.0, 9.0], 4.0)[0] == 4.0


@pytest.mark.parametrize(
    ("up", "limit"),
    [
        ([5.0, 3.0, 9.0], np.nan),
        ([np.nan, 3.0, 9.0], 100.0),
        ([np.inf, np.inf, np.inf], np.inf),
        ([np.inf, np.inf, np.inf], np.nan),
        ([1e30, 1e30, 1.0], 1e30),
        ([1e300, 1.0, 1e300], 1e308),
    ],
)
def test_a_flow_ends_whatever_the_numbers_are(up, limit) -> None:
    sent, level = flow(up, limit)
    assert np.isnan(sent) or sent >= 0.0
    # What is said to be reachable is a cut, or all was sent.
    assert sent >= limit * (1 - 1e-9) or level[2] == 0


@pytest.mark.parametrize("name", ["high", "low", "upper", "cost"])
@pytest.mark.parametrize("method", list(METHODS))
def test_a_planted_nan_keeps_no_method_from_ending(method, name) -> None:
    made = shoal.tabulate(RECORDS, ["r", "q"], value="v", rules=["p-percent(90)"]).problem(insiders=False)
    matrix = Problem.of(Table.from_matrix(np.arange(1.0, 37.0).reshape(6, 6)), [8, 17, 30])
    for problem in (made, matrix):
        planted = np.array(getattr(problem, name), dtype=float)
        planted[:] = np.nan
        object.__setattr__(problem, name, planted)
        try:
            METHODS[method].solve(
                problem, None, budget=Budget(iterations=30), seeds=Seeds(0), threads=1, observer=silent
            )
        except Exception:
            continue


def test_insiders_that_fail_by_rounding_only_end_the_loop(monkeypatch) -> None:
    made = shoal.tabulate(RECORDS, ["r", "q"], value="v", rules=["p-percent(90)"]).problem()
    heuristic = NetworkHeuristic(made, made.table.network)
    # Somebody who says for ever that what is required already fails.
    monkeypatch.setattr(networks, "failing_insiders", lambda problem, *_: heuristic.wanted)
    assert heuristic.build(Seeds(0).state()) is not None


def test_founders_end_with_the_run() -> None:
    problem = Problem.of(Table.from_matrix(np.arange(1.0, 37.0).reshape(6, 6)), [8, 17, 30])
    breeder = Breeder(Plane(problem, "heurgene", search_of("joint")), HeurGeneOptions(population=50))
    control = Control()
    control.cancel()
    assert len(breeder.founders(Seeds(0), Budget(control=control).start())) == 2
    assert breeder.tally.failures == 0


class Clock:
    """A clock that goes on by a second each time somebody looks."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


def test_searches_repeated_for_counts_share_one_budget(monkeypatch) -> None:
    given: list[Budget] = []
    method = METHODS["general"]

    class Recorded:
        def solve(self, problem, options, *, budget, **keywords):
            given.append(budget)
            return replace(method.solve(problem, options, budget=Budget(), **keywords), work=10)

    monkeypatch.setattr(api, "METHODS", {**METHODS, "general": Recorded()})
    monkeypatch.setattr(
        checked_search, "integer_failures", lambda problem, cells: (int(problem.sensitive[0]),)
    )
    with pytest.raises(Infeasible, match="whole numbers"):
        shoal.suppress(
            np.arange(1.0, 37.0).reshape(6, 6),
            sensitive=[("2", "2")],
            counts=True,
            method="general",
            budget=Budget(iterations=100, seconds=1000.0, clock=Clock()),
        )
    assert [budget.iterations for budget in given] == [100, 90, 80, 70]
    seconds = [budget.seconds for budget in given]
    assert seconds == sorted(seconds, reverse=True) and len(set(seconds)) == 4


@pytest.mark.parametrize("method", ["general", "exact"])
@pytest.mark.parametrize("cancelled", [False, True])
def test_what_insiders_could_learn_is_prevented_in_time_or_not_at_all(method, cancelled) -> None:
    problem = cube(np.random.default_rng(1), size=4, sensitive=2)
    budget = Budget(seconds=1.0, clock=Clock())
    if cancelled:
        control = Control()
        control.cancel()
        budget = Budget(control=control)
    how = {"budget": budget, "seeds": Seeds(0), "threads": 1, "observer": silent}
    alone = METHODS[method].solve(problem, None, **how)
    assert alone.complementary.size
    inside = np.flatnonzero(problem.table.internal)
    watched = problem.with_changes(
        insiders=tuple(np.array([cell]) for cell in inside if not problem.is_sensitive[cell])
    )
    with pytest.raises(
        OutOfTime, match="safe from sole contributors, too; whether there is one is not known"
    ):
        METHODS[method].solve(watched, None, **how)
    assert METHODS["general"].solve(watched, None, **{**how, "budget": Budget()}).complementary.size
