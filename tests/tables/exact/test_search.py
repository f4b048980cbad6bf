"""The exact method equals an independent integer programme; cuts never cut off the optimum; bounds are bounds."""

import signal
from typing import Any

import numpy as np
import pytest
from tests.tables.oracle import cube, hierarchy, optimum, random_plane

from shoal.errors import Infeasible
from shoal.generate.table import table
from shoal.runtime import Budget, Seeds, silent
from shoal.tables.exact import search
from shoal.tables.exact import thread_parts as hands
from shoal.tables.exact.lp_cuts import AttackerCuts
from shoal.tables.exact.network_cuts import NetworkCuts
from shoal.tables.exact.refusal import is_safe, violated
from shoal.tables.exact.relaxation import Relaxation
from shoal.tables.problem import Problem
from shoal.tables.verify import verify


def solve(problem: Problem, **options: int):
    settings = search.ExactOptions(**options)
    return search.solve(problem, settings, budget=Budget(), seeds=Seeds(0), observer=silent)


def check(problem: Problem) -> None:
    best = optimum(problem)
    if not np.isfinite(best):
        with pytest.raises(Infeasible):
            solve(problem)
        return
    found = solve(problem, improvements=20)
    verify(problem, found)
    assert found.optimal
    assert found.value == pytest.approx(best, rel=1e-6)


def plane(seed: int) -> Problem:
    rng = np.random.default_rng(seed)
    rows, columns = rng.integers(3, 7, 2)
    problem = random_plane(
        rng, int(rows), int(columns), int(rng.integers(1, 4)), protection=float(rng.uniform(0, 0.4))
    )
    if seed % 4 == 1:
        problem = problem.with_changes(cost=np.ones(problem.table.cells))
    if seed % 4 == 2:
        problem = problem.with_changes(sliding=0.5 * problem.table.values[problem.sensitive])
    if seed % 4 == 3:
        problem = problem.with_changes(high=2.0 * problem.table.values + 1.0)
    return problem


def _blocks(few: int, many: int) -> list[Any]:
    """So many blocks of instances, and more of them at length."""
    return [pytest.param(block, marks=[pytest.mark.long] * (block >= few)) for block in range(many)]


@pytest.mark.parametrize("block", _blocks(5, 10))
def test_two_dimensional_optimum(block: int) -> None:
    for seed in range(20 * block, 20 * block + 20):
        check(plane(seed))


@pytest.mark.long
@pytest.mark.parametrize("block", range(100))
def test_two_dimensional_optimum_at_length(block: int) -> None:
    for seed in range(1000 + 30 * block, 1030 + 30 * block):
        check(plane(seed))


@pytest.mark.parametrize("seed", range(5))
def test_general_optimum(seed: int) -> None:
    check(cube(np.random.default_rng(seed)))
    check(hierarchy(np.random.default_rng(seed)))


@pytest.mark.parametrize("seed", range(6))
def test_optimum_with_insiders(seed: int) -> None:
    rng = np.random.default_rng(seed)
    problem = random_plane(rng, 4, 5, 3)
    known = tuple(np.array([cell]) for cell in problem.sensitive)
    check(problem.with_changes(insiders=known))


@pytest.mark.parametrize("seed", range(12))
def test_no_inequality_cuts_off_the_optimum(seed: int) -> None:
    rng = np.random.default_rng(100 + seed)
    problem = random_plane(rng, 6, 6, 3)
    if seed >= 6:
        problem = cube(rng) if seed % 2 == 0 else hierarchy(rng)
    best = solve(problem)
    network = problem.table.network
    separator = NetworkCuts(problem, network) if network is not None else AttackerCuts(problem)
    columns = np.flatnonzero(problem.candidates)
    relaxation = Relaxation(problem, separator, columns)
    relaxation.tighten(Budget().start())
    assert relaxation.bound <= best.value * (1 + 1e-9)
    point = np.zeros(problem.table.cells)
    point[best.complementary] = 1.0
    rows = separator.write(range(len(separator.records)), columns)
    assert len(rows) > 0
    for cells, values, rhs in zip(rows.cells, rows.values, rows.rhs, strict=True):
        assert values @ point[cells] >= rhs - 1e-6


def test_a_cell_that_a_relation_gives_away_is_refused_without_another_one_beside_it() -> None:
    problem = cube(np.random.default_rng(5))
    table = problem.table
    separator = AttackerCuts(problem)
    everything = np.flatnonzero(problem.candidates)
    lonely = 0
    for relation in range(table.relations):
        cells = table.relation(relation)
        inside = cells[problem.candidates[cells]]
        if problem.is_sensitive[cells].any() or inside.size < 2:
            continue
        lonely += 1
        own = inside[0]
        point = np.zeros(table.cells)
        point[everything] = 0.5
        point[inside] = 0.0
        point[own] = 0.5
        point[problem.sensitive] = 1.0
        rows = separator.separate(point, everything)
        expected = {(int(own), -1.0)} | {(int(cell), 1.0) for cell in inside[1:]}
        found = [
            set(zip(cells.tolist(), values.tolist(), strict=True))
            for cells, values, rhs in zip(rows.cells, rows.values, rows.rhs, strict=True)
            if rhs == 0.0
        ]
        assert expected in found
    assert lonely > 0


def test_a_share_of_a_large_cell_counts_for_no_more_than_that_share_of_what_is_needed() -> None:
    """All others hidden by four tenths let more than enough through, but no pattern of whole cells does with so few."""
    problem = table(5, 5, 1, Seeds(0))
    columns = np.flatnonzero(problem.candidates & problem.table.internal)
    point = np.zeros(problem.table.cells)
    point[columns] = 0.4 / 4
    point[problem.sensitive] = 1.0
    network = problem.table.network
    assert network is not None
    rows = NetworkCuts(problem, network).separate(point, columns)
    assert any(
        rhs - values @ point[cells] > 0.5
        for cells, values, rhs in zip(rows.cells, rows.values, rows.rhs, strict=True)
    )


def test_deep_in_a_tree_known_inequalities_that_are_violated_are_enough() -> None:
    problem = cube(np.random.default_rng(5))
    separator = AttackerCuts(problem)
    columns = np.flatnonzero(problem.candidates)
    point = np.where(problem.is_sensitive, 1.0, 0.05)
    assert len(separator.separate(point, columns))
    before = separator.solved
    assert len(separator.separate(point, columns, bridges=False))
    assert separator.solved == before


@pytest.mark.parametrize(("largest", "expected"), [(-1, True), (10**6, False)])
def test_general_tables_are_improved_by_windows_only_if_they_are_not_branched_on(
    largest: int, expected: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[Relaxation] = []
    monkeypatch.setattr(search, "LARGEST_TREE", largest)
    monkeypatch.setattr(search._Search, "_windows", lambda self, relaxation: asked.append(relaxation))
    monkeypatch.setattr(search._Search, "_improve_on", lambda self: None)
    for seed in (0, 6, 11):
        solve(cube(np.random.default_rng(seed)))
    assert bool(asked) == expected


def test_rounds_in_whole_numbers_come_again_with_a_better_pattern(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[tuple[float, float]] = []

    def ask(self: search._Search, relaxation: Relaxation, share: float, for_pattern: float) -> float:
        asked.append((share, for_pattern))
        return relaxation.bound

    monkeypatch.setattr(search, "FEWEST_WHOLE", 0)
    monkeypatch.setattr(search._Search, "_whole_rounds", ask)
    assert solve(cube(np.random.default_rng(0))).optimal
    assert asked == [(search.FOR_ROUNDS, search.FOR_MENDING), (search.FOR_LAST_ROUNDS, 0.0)]


@pytest.mark.parametrize("seed", [0, 2])
def test_threads_change_nothing(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(hands, "FEWEST_EACH", 1)
    rng = np.random.default_rng(seed)
    for problem in (cube(rng), table(12, 12, 8, Seeds(seed))):
        found = [
            search.solve(
                problem,
                search.ExactOptions(improvements=20),
                budget=Budget(iterations=400),
                seeds=Seeds(seed),
                threads=threads,
                observer=silent,
            )
            for threads in (1, 2, 3)
        ]
        verify(problem, found[0])
        for other in found[1:]:
            assert (other.value, other.bound, other.work) == (
                found[0].value,
                found[0].bound,
                found[0].work,
            )
            assert other.complementary.tolist() == found[0].complementary.tolist()


def test_pricing_gives_the_bound_of_all_columns() -> None:
    problem = random_plane(np.random.default_rng(3), 12, 12, 6)
    every = np.flatnonzero(problem.candidates)
    some = every[np.argsort(problem.cost[every])[:60]]
    bounds = []
    for columns in (every, some):
        relaxation = Relaxation(problem, NetworkCuts(problem, problem.table.network), columns)
        relaxation.tighten(Budget().start(), patience=8, gain=1e-6)
        bounds.append(relaxation.bound)
    assert bounds[1] == pytest.approx(bounds[0], rel=0.02)
    assert bounds[1] <= solve(problem).value * (1 + 1e-9)


def test_a_spent_budget_still_returns_a_pattern_and_a_bound() -> None:
    problem = random_plane(np.random.default_rng(9), 20, 20, 8)
    early = search.solve(
        problem, search.ExactOptions(), budget=Budget(iterations=12), seeds=Seeds(0), observer=silent
    )
    verify(problem, early)
    late = solve(problem)
    assert late.optimal and early.bound <= late.value <= early.value


def with_insiders(seed: int) -> Problem:
    """A table in which firms know cells that are not sensitive as well."""
    rng = np.random.default_rng([77, seed])
    problem = plane(seed) if seed % 3 else hierarchy(rng)
    cells = np.flatnonzero(problem.candidates | problem.is_sensitive)
    known = tuple(np.sort(rng.choice(cells, int(rng.integers(1, 4)), replace=False)) for _ in range(4))
    return problem.with_changes(insiders=known)


@pytest.mark.parametrize("block", range(4))
def test_every_refused_pattern_is_cut_off(block: int) -> None:
    refused = 0
    for seed in range(15 * block, 15 * block + 15):
        problem = with_insiders(seed)
        network = problem.table.network
        separator = NetworkCuts(problem, network) if network is not None else AttackerCuts(problem)
        columns = np.flatnonzero(problem.candidates)
        rng = np.random.default_rng(seed)
        for _ in range(30):
            pattern = columns[rng.random(columns.size) < rng.uniform(0.2, 0.9)]
            rows, _ = violated(problem, separator, pattern, columns)
            if len(rows) == 0:
                assert is_safe(problem, pattern)
                continue
            refused += 1
            assert len(set(rows.numbers)) == len(rows.numbers) or -1 in rows.numbers
            inside = np.isin(np.arange(problem.table.cells), pattern).astype(float)
            lack = [
                rhs - values @ inside[cells] for cells, values, rhs in zip(rows.cells, rows.values, rows.rhs)
            ]
            assert max(lack) > 0.009
    assert refused > 100


@pytest.mark.parametrize("block", _blocks(2, 4))
def test_optimum_against_firms_that_know_several_cells(block: int) -> None:
    for seed in range(10 * block, 10 * block + 10):
        check(with_insiders(seed))


def test_an_interrupt_in_the_tree_reaches_the_run(
    capfd: pytest.CaptureFixture[str],
) -> None:
    problem = table(30, 30, 20, Seeds(0))
    caught = []

    def press(progress) -> None:  # type: ignore[no-untyped-def]
        if progress.phase == "branch and cut" and not caught:
            signal.raise_signal(signal.SIGINT)

    before = signal.signal(signal.SIGINT, lambda number, frame: caught.append(number))
    try:
        found = search.solve(
            problem, search.ExactOptions(improvements=0), budget=Budget(), seeds=Seeds(0), observer=press
        )
    finally:
        signal.signal(signal.SIGINT, before)
    assert caught == [signal.SIGINT]
    assert capfd.readouterr().out == ""
    verify(problem, found)


def test_rounds_that_gain_less_than_they_must_are_not_gone_on_with() -> None:
    problem = table(20, 20, 12, Seeds(3))
    network = problem.table.network
    assert network is not None
    bounds = []
    for least in (0.0, 1e9):
        relaxation = Relaxation(problem, NetworkCuts(problem, network), np.flatnonzero(problem.candidates))
        run = Budget().start()
        assert relaxation.tighten(run, patience=1, least=least)
        bounds.append((run.work, relaxation.bound))
    (more, high), (fewer, low) = bounds
    assert fewer < more and low <= high
