"""Improving patterns on networks: whatever the focus and the pace, the result is the same and safe; cuts come back."""

import numpy as np
import pytest
from tests.tables.oracle import cube, hierarchy

from shoal.generate.table import table
from shoal.search import Budget, Seeds, silent
from shoal.tables.exact.lp_cuts import AttackerCuts
from shoal.tables.exact.network_cuts import NetworkCuts
from shoal.tables.exact.search import is_safe
from shoal.tables.heuristic.networks import NetworkHeuristic
from shoal.tables.problem import Problem


def heuristic(problem: Problem) -> NetworkHeuristic:
    network = problem.table.network
    assert network is not None
    return NetworkHeuristic(problem, network)


@pytest.mark.parametrize("seed", range(5))
def test_a_pattern_outside_of_the_focus_is_thinned_out_like_any_other(seed: int) -> None:
    problem = table(15, 12, 12, Seeds(seed))
    everything = np.flatnonzero(problem.candidates)
    wide, narrow = heuristic(problem), heuristic(problem)
    narrow.focus(problem.candidates & (problem.cost < 100.0), problem.cost)
    found = narrow.thin(everything)
    assert is_safe(problem, found)
    assert found.tolist() == wide.thin(everything).tolist()


@pytest.mark.parametrize("pace", [1, 3, 10])
def test_how_often_the_clock_is_looked_at_changes_nothing(pace: int, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = table(20, 20, 12, Seeds(1))
    found = []
    for pieces in (None, pace):
        run = Budget(iterations=137).start(silent)
        if pieces is not None:
            chunk = run.chunk
            monkeypatch.setattr(
                run, "chunk", lambda preferred, chunk=chunk, pieces=pieces: min(chunk(preferred), pieces)
            )
        first = heuristic(problem).build(Seeds(2).state())
        assert first is not None
        found.append(heuristic(problem).improve(first, 200, Seeds(3), run, lambda pattern: None).tolist())
        assert run.work == 137
    assert found[0] == found[1]


@pytest.mark.parametrize("kind", ["network", "general"])
def test_an_inequality_is_given_out_again_as_long_as_the_point_violates_it(kind: str) -> None:
    rng = np.random.default_rng(4)
    problem = hierarchy(rng) if kind == "network" else cube(rng)
    network = problem.table.network
    separator = NetworkCuts(problem, network) if network is not None else AttackerCuts(problem)
    assert (network is not None) == (kind == "network")
    columns = np.flatnonzero(problem.candidates)
    nothing = problem.is_sensitive.astype(float)
    first = separator.separate(nothing, columns)
    again = separator.separate(nothing, columns)
    assert len(first)
    assert set(first.numbers) <= set(again.numbers)
