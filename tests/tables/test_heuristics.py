"""What the published heuristics must obey: validity, minimality, crossover, mutation, termination, portfolio."""

from itertools import combinations

import numpy as np
import pytest
from tests.tables.oracle import cube, optimum, random_plane

from shoal.errors import Infeasible, InputError
from shoal.runtime import Budget, Seeds, silent
from shoal.tables.exact.refusal import is_safe
from shoal.tables.from_papers.circuits import Plane, find_exchange
from shoal.tables.from_papers.heurgene import Breeder, HeurGeneOptions, strategies
from shoal.tables.from_papers.hypercube_kernels import JOINT, SPLIT, best_rectangle
from shoal.tables.heuristic.network_state import new_state
from shoal.tables.heuristic.networks import NetworkHeuristic
from shoal.tables.heuristic.protection_kernels import lay_paths
from shoal.tables.heuristic.requirement_kernels import holds
from shoal.tables.methods import METHODS
from shoal.tables.model.table import Table
from shoal.tables.problem import Problem
from shoal.tables.verify import verify

SQUARE = random_plane(np.random.default_rng(12), 25, 25, 14)


def run(method: str, problem: Problem, seed: int = 0, **options):
    return METHODS[method].solve(problem, options, budget=Budget(), seeds=Seeds(seed), observer=silent)


@pytest.mark.parametrize("method", list(METHODS))
def test_solutions_are_valid(method: str) -> None:
    found = run(method, SQUARE)
    verify(SQUARE, found)
    assert SQUARE.table.internal[found.complementary].all()
    assert not np.isin(found.complementary, SQUARE.sensitive).any()
    assert found.value == pytest.approx(np.abs(SQUARE.table.values[found.complementary]).sum())


@pytest.mark.parametrize("rectangles", ["joint", "split"])
def test_nothing_is_redundant_after_clean_up(rectangles: str) -> None:
    found = run("hypercube", SQUARE, rectangles=rectangles).complementary
    for cell in found:
        assert not is_safe(SQUARE, found[found != cell])


@pytest.mark.parametrize("fresh", [False, True])
def test_the_rectangle_is_the_cheapest(fresh: bool) -> None:
    plane = Plane(SQUARE, "hypercube", JOINT)
    state = new_state(plane.graph, plane.heuristic.network.nodes)
    grid = SQUARE.table.values.reshape(26, 26)
    for s in range(plane.sensitive.size):
        r, c = divmod(int(plane.sensitive[s]), 26)
        rise, fall = plane.grid.rise[s], plane.grid.fall[s]
        found = best_rectangle(plane.graph, state, plane.grid, plane.sensitive[s], rise, fall, fresh)
        best = np.inf
        for a in range(25):
            for b in range(25):
                if a == r or b == c:
                    continue
                if grid[r, b] >= rise and grid[a, c] >= rise and grid[a, b] >= fall:
                    corners = [(r, b), (a, c), (a, b)]
                    cost = sum(0.0 if SQUARE.is_sensitive[x * 26 + y] else grid[x, y] for x, y in corners)
                    adds = any(not SQUARE.is_sensitive[x * 26 + y] for x, y in corners)
                    best = min(best, cost) if adds or not fresh else best
        corners = [divmod(int(e), 26) for e in found]
        assert sum(
            0.0 if SQUARE.is_sensitive[x * 26 + y] else grid[x, y] for x, y in corners
        ) == pytest.approx(best)


def exchanges(seeds: range, wanted: int) -> int:
    """Check accepted crossovers until there are enough; returns how many there were."""
    accepted = 0
    for seed in seeds:
        problem = random_plane(np.random.default_rng(seed), 30, 30, 20)
        plane = Plane(problem, "heurgene", SPLIT)
        breeder = Breeder(plane, HeurGeneOptions())
        founders = breeder.founders(Seeds(seed))
        state = Seeds(seed).child("test").state()
        for one, two in combinations(founders, 2):
            before = len(breeder.tally.accepted)
            children = breeder.children(state, one, two)
            if not children:
                continue
            accepted += 1
            for child in children:
                cells = np.flatnonzero(child.hidden)
                assert is_safe(problem, cells)
                assert child.cost == pytest.approx(problem.total_cost(cells))
                counted = np.zeros_like(child.uses)
                for s, length in enumerate(child.lengths):
                    assert child.hidden[child.circuits[s, : max(0, length)]].all()
                    counted[child.circuits[s, : max(0, length)]] += 1
                assert (counted == child.uses).all()
            cheapest, first, second = breeder.tally.accepted[before]
            assert min(first, second) < cheapest
        if accepted >= wanted:
            break
    return accepted


def test_accepted_crossovers_are_safe_and_cheaper() -> None:
    assert exchanges(range(10), 50) >= 50


@pytest.mark.long
def test_a_thousand_accepted_crossovers_are_safe_and_cheaper() -> None:
    assert exchanges(range(400), 1000) >= 1000


def test_exchanging_any_circuit_keeps_a_pattern_safe() -> None:
    checked = 0
    for seed in range(3):
        problem = random_plane(np.random.default_rng(seed), 30, 30, 20)
        plane = Plane(problem, "heurgene", JOINT)
        breeder = Breeder(plane, HeurGeneOptions())
        founders = breeder.founders(Seeds(seed))
        for one, two in combinations(founders, 2):
            for s in range(0, plane.sensitive.size, 2):
                child = breeder.cross(one, two, s)
                assert is_safe(problem, np.flatnonzero(child.hidden))
                checked += 1
    assert checked >= 1000


def test_mutation_removes_at_most_one_cell_and_never_costs() -> None:
    plane = Plane(SQUARE, "heurgene", JOINT)
    breeder = Breeder(plane, HeurGeneOptions())
    founder = breeder.founders(Seeds(3))[0]
    loose = plane.heuristic.state(np.flatnonzero(founder.hidden | (SQUARE.candidates & (SQUARE.cost < 60))))
    for place in range(SQUARE.requirements.size):
        assert holds(plane.graph, loose, plane.scratch, place)
    child = plane.chromosome(loose)
    removed = 0
    for s in range(plane.sensitive.size):
        after = breeder.mutated(child, s)
        gone = int(child.hidden.sum() - after.hidden.sum())
        assert gone in (0, 1) and after.cost <= child.cost
        assert is_safe(SQUARE, np.flatnonzero(after.hidden))
        for t, length in enumerate(after.lengths):
            assert after.hidden[after.circuits[t, : max(0, length)]].all()
        removed += gone
        child = after
    assert removed > 0


def test_attempts_and_circuit_sizes_are_limited_and_equal_circuits_stay() -> None:
    plane = Plane(SQUARE, "heurgene", SPLIT)
    founders = Breeder(plane, HeurGeneOptions()).founders(Seeds(0))
    everyone = np.arange(plane.sensitive.size)
    accepted = 0
    for largest, attempts in ((2, 100), (96, 3), (96, 100)):
        for one, two in combinations(founders, 2):
            s, tries = find_exchange(SQUARE.cost, everyone, attempts, largest, one, two)
            assert tries <= min(attempts, everyone.size)
            if s < 0:
                continue
            accepted += 1
            circuits = [mother.circuits[s, : mother.lengths[s]] for mother in (one, two)]
            assert max(map(len, circuits)) <= largest
            assert SQUARE.cost[circuits[0]].sum() != pytest.approx(SQUARE.cost[circuits[1]].sum())
    assert accepted > 0


def test_evolution_ends_a_hundred_generations_after_the_last_improvement() -> None:
    record = run("heurgene", SQUARE).record
    assert record["generations"] == record["last_improvement"] + 100 or record["generations"] == 1000
    short = run("heurgene", SQUARE, generations=7).record
    assert short["generations"] <= 7


def test_the_portfolio_has_its_shares() -> None:
    portfolio = strategies(HeurGeneOptions())
    state = Seeds(4).state()
    counts: dict[str, int] = {}
    pairs = set()
    for _ in range(10_000):
        strategy = portfolio.draw(state)
        names = type(strategy.select).__name__, type(strategy.replace).__name__
        pairs.add(names)
        for name in names:
            counts[name] = counts.get(name, 0) + 1
    assert abs(counts["EliteParents"] - 1000) <= 100
    for name in ("RouletteParents", "TournamentParents", "KillTournament", "ReplaceSimilar"):
        assert abs(counts[name] - 4500) <= 150
    assert ("EliteParents", "ReplaceByElite") in pairs and len(pairs) == 5


@pytest.mark.parametrize(
    "configuration",
    [
        "roulette/kill",
        "roulette/similar",
        "tournament/kill",
        "tournament/similar",
        "elite/elite",
        "portfolio",
    ],
)
def test_all_configurations_run(configuration: str) -> None:
    found = run("heurgene", SQUARE, configuration=configuration, patience=15)
    verify(SQUARE, found)
    assert found.value <= found.record["best_founder"] + 1e-9


def test_the_genetic_algorithms_are_never_below_the_optimum() -> None:
    gaps = []
    for seed in range(50):
        rng = np.random.default_rng(seed)
        problem = random_plane(rng, 5, 5, int(rng.integers(2, 4)))
        found = run("heurgene", problem, patience=10)
        best = optimum(problem)
        assert found.value >= best - 1e-6
        gaps.append(found.value / best - 1.0)
    assert 0.0 <= np.mean(gaps) < 1.0


def test_crossover_of_single_cells_needs_repair() -> None:
    record = run("gensup", random_plane(np.random.default_rng(2), 40, 40, 20), patience=30).record
    assert record["infeasible"] > 0


def test_circuit_heuristics_want_a_plain_table() -> None:
    for method in ("hypercube", "heurgene", "gensup"):
        with pytest.raises(InputError, match="plain two-dimensional"):
            run(method, cube(np.random.default_rng(0)))


def test_a_method_that_fails_says_so() -> None:
    table = Table.from_matrix([[5.0, 0.0, 0.0], [0.0, 7.0, 8.0], [0.0, 9.0, 4.0]])
    problem = Problem.of(table, [table.find("1", "1")], candidates=table.internal & (table.values > 0))
    for method in METHODS:
        with pytest.raises(Infeasible):
            run(method, problem)


@pytest.mark.parametrize("seed", range(20))
def test_a_cell_that_is_protected_already_gets_nothing_added_by_its_paths(seed: int) -> None:
    problem = random_plane(np.random.default_rng(seed), 8, 9, 7)
    heuristic = NetworkHeuristic(problem, problem.table.network)
    graph, scratch = heuristic.graph, heuristic.scratch
    state, skipping = heuristic.state(), heuristic.state()
    for r in range(heuristic.wanted.size):
        protected = holds(graph, state, scratch, r)
        before = state.hidden.copy()
        assert lay_paths(graph, state, scratch, r) == 0
        assert not protected or (before == state.hidden).all()
        # Looking at the bounds before every cell therefore changes no pattern.
        if not holds(graph, skipping, scratch, r):
            lay_paths(graph, skipping, scratch, r)
        assert (skipping.hidden == state.hidden).all()
    assert "castro" not in list(METHODS)


def test_children_of_heurgene_are_counted_as_safe() -> None:
    found = run("heurgene", SQUARE, check_children=True, patience=20).record
    assert found["children"] == 2 * found["crossovers"] and found["infeasible"] == 0
    breeder = Breeder(Plane(SQUARE, "heurgene", JOINT), HeurGeneOptions(check_children=True))
    # An empty pattern protects nobody, so it would be counted.
    breeder.tally.children.append(np.zeros(SQUARE.table.cells, dtype=bool))
    assert breeder.unsafe_children() == 1


@pytest.mark.parametrize(
    "options", [{"seeding": "diverse"}, {"mutation": "add"}, {"least_benefit": 1e12, "window": 2}]
)
def test_what_the_work_left_to_others_is_safe_and_never_above_its_founders(options) -> None:
    found = run("heurgene", SQUARE, patience=10, **options)
    verify(SQUARE, found)
    assert found.value <= found.record["best_founder"] + 1e-9
    if "least_benefit" in options:
        assert found.record["generations"] <= 4


def test_diverse_founders_differ_more() -> None:
    def spread(**options) -> float:
        breeder = Breeder(Plane(SQUARE, "heurgene", JOINT), HeurGeneOptions(**options))
        founders = breeder.founders(Seeds(5))
        return float(np.mean([(a.hidden != b.hidden).sum() for a, b in combinations(founders, 2)]))

    assert spread(seeding="diverse") > spread()
