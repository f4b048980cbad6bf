"""Sums that a relation gives away once what is known anyway is left out, against linear algebra and brute force."""

from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import null_space
from scipy.optimize import linprog
from tests.tables.oracle import interval

import shoal
from shoal.errors import Infeasible
from shoal.runtime import Budget, Seeds, silent
from shoal.tables.exact import search
from shoal.tables.exact.refusal import is_safe
from shoal.tables.methods import METHODS
from shoal.tables.problem import Problem
from shoal.tables.safety.audit import audit
from shoal.tables.safety.sums import failing_sums
from shoal.tables.solution import Pattern
from shoal.tables.verify import verify
from shoal.tables.verify_sums import sensitive_sums

REGIONS = {"a0": "N", "a1": "N", "a2": "S", "a3": "S", "N": "", "S": ""}


def known_sums(problem: Problem, hidden: np.ndarray) -> set[tuple[int, tuple[int, ...]]]:
    """The same by the null space of the relations: what is zero in all of it is known, equal rows move alike."""
    table, cells = problem.table, np.flatnonzero(hidden)
    space = np.zeros((table.cells, 0))
    if cells.size:
        basis = null_space(table.matrix[:, cells].toarray())
        space = np.zeros((table.cells, basis.shape[1]))
        space[cells] = basis
    free = {int(cell) for cell in cells if np.abs(space[cell]).max(initial=0.0) > 1e-8}
    found = set()
    for relation in range(table.relations):
        signs = dict(zip(table.relation(relation).tolist(), table.signs_of(relation).tolist(), strict=True))
        own = [cell for cell in signs if cell in free]
        if len({signs[cell] for cell in own}) > 1:
            own = [cell for cell in own if not cancels(space, signs, own, cell)]
        if len({signs[cell] for cell in own}) != 1:
            continue
        assert np.abs(sum(space[cell] for cell in own)).max(initial=0.0) < 1e-7
        found.add((relation, tuple(sorted(own))))
        for cell in own:
            for other in free - set(own):
                if np.abs(space[cell] - space[other]).max(initial=0.0) < 1e-8:
                    found.add((relation, tuple(sorted({*own, other} - {cell}))))
    return found


def cancels(space: np.ndarray, signs: dict[int, float], own: list[int], cell: int) -> bool:
    total = 0.0
    for other in own:
        for turn in (1.0, -1.0):
            if np.abs(space[cell] - turn * space[other]).max(initial=0.0) < 1e-8:
                total += turn * signs[other]
    return total == 0.0


def made_of(seed: int, shape: str) -> "shoal.tables.model.tabulated.Tabulation":
    rng = np.random.default_rng(seed)
    count = int(rng.integers(10, 40))
    firms = rng.integers(0, int(rng.integers(4, 20)), count)
    columns = {
        "a": [f"a{i}" for i in rng.integers(0, 4 if shape == "hierarchy" else 3, count)],
        "b": [f"b{i}" for i in rng.integers(0, 3 if shape == "plain" else 2, count)],
        "c": [f"c{i}" for i in rng.integers(0, 2, count)],
        "firm": [f"f{i}" for i in firms],
        "v": np.exp(rng.normal(3, 1.2, count)).round() + 1.0,
    }
    return shoal.tabulate(
        pl.DataFrame(columns),
        ["a", "b", "c"] if shape == "cube" else ["a", "b"],
        value="v",
        contributor="firm",
        hierarchies={"a": REGIONS} if shape == "hierarchy" else {},
    )


@settings(max_examples=150, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(("plain", "hierarchy", "cube")))
def test_audit_and_check_find_the_sums_that_linear_algebra_finds(seed: int, shape: str) -> None:
    problem = made_of(seed, shape).problem()
    rng = np.random.default_rng(seed)
    some = problem.candidates & (rng.random(problem.table.cells) < rng.uniform(0.1, 0.8))
    cells = np.flatnonzero(some)
    bad = {
        relation
        for relation, known in known_sums(problem, problem.hidden_mask(cells))
        if not problem.sums(np.array(known))
    }
    assert set(failing_sums(problem, problem.hidden_mask(cells))) == bad
    assert sensitive_sums(problem, cells) == len(bad)


def safe_by_hand(problem: Problem, cells: list[int]) -> bool:
    """By linear algebra for the sums; the levels have brute force of their own."""
    pattern = np.array(cells, dtype=np.int64)
    if not is_safe(problem.with_changes(sums=None), pattern):
        return False
    known = known_sums(problem, problem.hidden_mask(pattern))
    return all(problem.sums(np.array(own)) for _, own in known)


def cheapest_is_found(seed: int, shape: str) -> None:
    problem = made_of(seed, shape).problem()
    if not problem.sensitive.size:
        return
    cells = np.flatnonzero(problem.candidates)
    cells = np.sort(np.random.default_rng(seed).permutation(cells)[:8])
    chosen = np.zeros(problem.table.cells, dtype=bool)
    chosen[cells] = True
    problem = problem.with_changes(candidates=chosen)
    patterns = [list(some) for size in range(cells.size + 1) for some in combinations(cells, size)]
    patterns.sort(key=lambda some: problem.total_cost(np.array(some, dtype=np.int64)))
    best = next((some for some in patterns if safe_by_hand(problem, some)), None)
    arguments = {"budget": Budget(), "seeds": Seeds(0), "observer": silent}
    if best is None:
        with pytest.raises(Infeasible):
            search.solve(problem, search.ExactOptions(), **arguments)
        return
    found = search.solve(problem, search.ExactOptions(), **arguments)
    verify(problem, found)
    assert found.optimal
    assert found.value == pytest.approx(problem.total_cost(np.array(best, dtype=np.int64)))


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(("plain", "hierarchy", "cube")))
def test_exact_is_the_cheapest_pattern_whose_sums_stay_unknown(seed: int, shape: str) -> None:
    cheapest_is_found(seed, shape)


@pytest.mark.long
@settings(max_examples=600, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from(("plain", "hierarchy", "cube")))
def test_exact_is_the_cheapest_pattern_whose_sums_stay_unknown_at_length(seed: int, shape: str) -> None:
    cheapest_is_found(seed, shape)


@pytest.fixture(scope="module")
def two_firms() -> "shoal.tables.model.tabulated.Tabulation":
    """Two cells of row y come from the firms A and B alone, so that their sum is sensitive as well."""
    rows = [("y", "p", "A", 10.0), ("y", "p", "B", 20.0), ("y", "q", "A", 30.0), ("y", "q", "B", 40.0)]
    for place in [("y", "r"), *((a, b) for a in "zw" for b in "pqr")]:
        rows += [(*place, firm, 900.0 - 100.0 * i) for i, firm in enumerate("KLMN")]
    records = pl.DataFrame(rows, schema=["a", "b", "firm", "v"], orient="row")
    return shoal.tabulate(records, ["a", "b"], value="v", contributor="firm")


def test_a_cell_that_its_column_gives_back_protects_no_sum(two_firms) -> None:
    problem = two_firms.problem()
    at = problem.table.find
    vain = np.sort([at("y", "r"), at("z", "p"), at("z", "q")])
    # Everybody can compute (y,r), and with it what A and B gave together: A finds out what B gave.
    low, high = interval(problem, problem.hidden_mask(vain), at("y", "r"))
    assert low == pytest.approx(high)
    assert audit(problem, vain).sums
    with pytest.raises(AssertionError, match="gives away a sum"):
        verify(problem, Pattern(value=problem.total_cost(vain), complementary=vain))


@pytest.mark.parametrize("method", ["auto", "exact", "general", "shortest-path"])
def test_what_two_firms_gave_together_stays_unknown(method: str, two_firms) -> None:
    problem = two_firms.problem()
    found = METHODS[method].solve(
        problem, None, budget=Budget(iterations=50), seeds=Seeds(0), observer=silent
    )
    hidden = np.flatnonzero(problem.hidden_mask(found.complementary))
    matrix = problem.table.matrix[:, hidden]
    together = np.isin(hidden, [problem.table.find("y", "p"), problem.table.find("y", "q")]).astype(float)
    ends = [
        linprog(
            sign * together, A_eq=matrix, b_eq=matrix @ problem.table.values[hidden], bounds=(0, None)
        ).fun
        for sign in (1.0, -1.0)
    ]
    assert -ends[1] - ends[0] > 1.0
