"""Improving patterns on networks: whatever the focus and the pace, the result is the same and safe; cuts come back."""

import numpy as np
import pytest
from tests.runtime.clocks import Clock
from tests.tables.oracle import cube, hierarchy

from shoal.generate.table import table
from shoal.runtime import Budget, Seeds, silent
from shoal.tables.exact.lp_cuts import AttackerCuts
from shoal.tables.exact.network_cuts import NetworkCuts
from shoal.tables.exact.refusal import is_safe
from shoal.tables.heuristic import networks
from shoal.tables.heuristic.networks import NetworkHeuristic
from shoal.tables.heuristic.requirement_kernels import _short_way, holds
from shoal.tables.problem import Problem
from shoal.tables.safety.flow_kernels import moving, note_move


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


@pytest.mark.parametrize("seed", range(6))
def test_meeting_requirements_in_pieces_changes_nothing(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    problem = table(15, 12, 14, Seeds(seed))
    whole = heuristic(problem).build(Seeds(2).state(), noise=0.2)
    monkeypatch.setattr(networks, "_PIECE", 3)
    pieces = heuristic(problem).build(Seeds(2).state(), noise=0.2)
    assert whole is not None and pieces is not None
    assert whole.tolist() == pieces.tolist()


@pytest.mark.parametrize("seed", range(4))
def test_without_time_a_pattern_is_safe_though_not_thinned_out(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(networks, "_PIECE", 3)
    problem = table(15, 12, 14, Seeds(seed))
    network = problem.table.network
    assert network is not None
    clock = Clock()
    run = Budget(seconds=1.0, clock=clock).start(silent)
    clock.forward(2.0)
    found = NetworkHeuristic(problem, network, run=run).build(Seeds(2).state())
    assert found is not None and is_safe(problem, found)
    thinned = heuristic(problem).build(Seeds(2).state())
    assert thinned is not None and set(thinned) <= set(found)


@pytest.mark.parametrize("seed", range(40))
def test_a_short_way_is_one_that_a_flow_finds_and_so_is_what_it_uses(seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem = hierarchy(rng) if seed % 2 else table(9, 8, 8, Seeds(seed))
    made = heuristic(problem)
    hidden = np.flatnonzero(problem.candidates & (rng.random(problem.table.cells) < 0.5))
    for requirement in range(made.wanted.size):
        if made.wanted.kind[requirement] == 2:
            continue
        state = made.state(hidden)
        if not _short_way(made.graph, state, made.scratch, requirement):
            continue
        assert holds(made.graph, made.state(hidden), made.scratch, requirement)
        used = state.uses[requirement, : state.length[requirement]]
        assert used.size <= 3 and state.hidden[used].all()
        # With these cells alone, besides the sensitive ones, the requirement holds, too.
        alone = made.state(np.sort(used).astype(np.int64))
        assert holds(made.graph, alone, made.scratch, requirement)
    assert not made.scratch.change.any() and not made.scratch.flow[4].any()


def test_a_list_of_moves_that_is_too_short_means_all_arcs() -> None:
    moved = np.zeros(3, dtype=np.int32)
    first, degree = np.array([0, 2]), np.array([2, 1])
    listed = np.array([4, 7, 7], dtype=np.int32)
    for arc in (7, 4):
        note_move(moved, arc)
    assert sorted(moving(moved, first, degree, listed).tolist()) == [4, 7] and moved[0] == 0
    for arc in (7, 4, 9):
        note_move(moved, arc)
    assert moved[0] == -1
    assert moving(moved, first, degree, listed).tolist() == [4, 7, 7] and moved[0] == 0
