"""Tables from records: with insiders and sums that one relation gives away, exact is still the cheapest of all patterns."""

from itertools import combinations

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tables.oracle import interval

from shoal.errors import Infeasible
from shoal.runtime import Budget, Seeds, silent
from shoal.tables.api import suppress
from shoal.tables.exact import search
from shoal.tables.exact.refusal import is_safe
from shoal.tables.methods import METHODS
from shoal.tables.model.tabulation import tabulate
from shoal.tables.problem import DOWN, UP, Problem
from shoal.tables.solution import Pattern
from shoal.tables.verify import verify

RULES = ("frequency(2)", "frequency(3)", "p-percent(10)", "dominance(1,75)", "pq(20,50)", "p-percent(10,2)")


def problem_of(seed: int, rule: str, zeros: str) -> Problem | None:
    rng = np.random.default_rng(seed)
    count = int(rng.integers(8, 40))
    records = pl.DataFrame(
        {
            "a": [f"a{i}" for i in rng.integers(0, 3, count)],
            "b": [f"b{i}" for i in rng.integers(0, 3, count)],
            "v": np.exp(rng.normal(3, 1.5, count)).round().tolist(),
            "f": [f"f{i}" for i in rng.integers(0, 20, count)],
        }
    )
    made = tabulate(records, ["a", "b"], value="v", contributor="f", rules=[rule], zeros=zeros)
    return made.problem() if 0 < made.sensitive.size <= 6 else None


def cheapest(problem: Problem) -> float:
    """The cost of the cheapest safe pattern, all patterns tried in the order of their cost."""
    cells = np.flatnonzero(problem.candidates)
    patterns = [list(some) for size in range(cells.size + 1) for some in combinations(cells, size)]
    costs = [problem.total_cost(np.array(pattern, dtype=np.int64)) for pattern in patterns]
    for place in np.argsort(costs, kind="stable"):
        if is_safe(problem, np.array(patterns[place], dtype=np.int64)):
            return costs[place]
    return np.inf


def check(seed: int, rule: str, zeros: str) -> None:
    problem = problem_of(seed, rule, zeros)
    if problem is None or problem.candidates.sum() > 12:
        return
    best = cheapest(problem)
    if not np.isfinite(best):
        with pytest.raises(Infeasible):
            search.solve(problem, search.ExactOptions(), budget=Budget(), seeds=Seeds(0), observer=silent)
        return
    found = search.solve(problem, search.ExactOptions(), budget=Budget(), seeds=Seeds(0), observer=silent)
    verify(problem, found)
    assert found.optimal
    assert found.value == pytest.approx(best)
    assert found.bound <= best + 1e-6 * max(1.0, best)


def test_a_firm_that_gives_most_of_a_cell_does_not_make_it_hopeless() -> None:
    """Alone in a1 with 830 of the 843 of a, a firm knows that a is at least 830; the others' part stays protected."""
    parts = {"a1": [830.0], "a2": [8.0, 3.0, 2.0], "b1": [40.0, 35.0, 30.0, 20.0], "b2": [60.0, 50.0, 45.0]}
    rows = []
    for region in ("r", "s", "t"):
        for sector, amounts in parts.items():
            amounts = amounts if region == "r" else [30.0, 31.0, 29.0, 28.0]
            rows += [(region, sector, x, f"{region}{sector}{i}") for i, x in enumerate(amounts)]
    made = tabulate(
        pl.DataFrame(rows, schema=["region", "sector", "v", "f"], orient="row"),
        ["region", "sector"],
        value="v",
        contributor="f",
        rules=["p-percent(10)"],
        hierarchies={"sector": {"a1": "a", "a2": "a", "b1": "b", "b2": "b", "a": "", "b": ""}},
    )
    problem = made.problem()
    total = problem.table.find("r", "a")
    firm = next(n for n, cells in enumerate(problem.insiders) if problem.table.find("r", "a1") in cells)
    assert total in problem.conceded[firm]
    # What the others gave, 13, is all that can be uncertain below; above nothing is conceded.
    assert problem.need_against(total, DOWN, 70.0, firm) == 13.0
    assert problem.need_against(total, UP, 70.0, firm) == 70.0
    for method in ("exact", "general"):
        found = METHODS[method].solve(problem, None, budget=Budget(), seeds=Seeds(0), observer=silent)
        verify(problem, found)
    with pytest.raises(Infeasible):
        search.solve(
            problem.with_changes(conceded=(), left=()),
            search.ExactOptions(),
            budget=Budget(),
            seeds=Seeds(0),
            observer=silent,
        )


def test_the_cell_at_fault_is_named_not_one_tied_to_it() -> None:
    rows = {"row": ["x", "y", "z"], "A": [100, 5, 0], "B": [1, 40, 35], "C": [0, 30, 25], "D": [0, 20, 30]}
    with pytest.raises(Infeasible, match="row 1, column 'A'"):
        suppress(pl.DataFrame(rows), sensitive=[("x", "A")])


@given(st.integers(0, 10**6), st.sampled_from(RULES), st.sampled_from(("published", "suppressible")))
@settings(max_examples=40, deadline=None)
def test_exact_is_the_cheapest_pattern_against_insiders_too(seed: int, rule: str, zeros: str) -> None:
    check(seed, rule, zeros)


@pytest.mark.long
@given(st.integers(0, 10**6), st.sampled_from(RULES), st.sampled_from(("published", "suppressible")))
@settings(max_examples=1000, deadline=None)
def test_exact_is_the_cheapest_pattern_against_insiders_at_length(seed: int, rule: str, zeros: str) -> None:
    check(seed, rule, zeros)


@pytest.mark.parametrize(
    ("sliding", "levels"), [(0.0, {}), (0.5, {}), (0.0, {"lower": [50.0], "upper": [0.0]})]
)
def test_asking_for_more_never_protects_less_from_a_firm(
    sliding: float, levels: dict[str, list[float]]
) -> None:
    """A gives 60 of the 100 of (x,p) and knows (x,q): if the total of x stood there, it would know what B gave."""
    rows = [("x", "p", "A", 60.0), ("x", "p", "B", 40.0), ("x", "q", "A", 10.0)]
    for place, amount in ((("y", "p"), 30.0), (("y", "q"), 55.0), (("z", "p"), 500.0), (("z", "q"), 500.0)):
        rows += [(*place, f"{''.join(place)}{i}", amount + i) for i in range(3)]
    made = tabulate(
        pl.DataFrame(rows, schema=["a", "b", "firm", "v"], orient="row"),
        ["a", "b"],
        value="v",
        contributor="firm",
        rules=["frequency(2,0)", "manual(0)"],
        apriori=pl.DataFrame({"a": ["x"], "b": ["p"], "status": ["u"], **levels}),
    )
    found = suppress(made, sliding=sliding)
    problem, cell = found.problem, made.table.find("x", "p")
    seen = problem.hidden_mask(found.complementary)
    seen[made.table.find("x", "q")] = False
    low, high = interval(problem, seen, cell)
    assert high - low > 0.01
    assert max(low, 60.0) <= 60.0 or not sliding
    # The pattern that gave B away is refused by the check.
    bad = np.sort([made.table.find("y", "p"), made.table.find("y", "q")])
    with pytest.raises(AssertionError, match="not met"):
        verify(problem, Pattern(value=problem.total_cost(bad), complementary=bad))


@pytest.mark.parametrize("rule", ["frequency(3)", "frequency(3,0)"])
def test_nothing_is_asked_against_a_firm_beside_which_the_others_give_nothing(rule: str) -> None:
    rows = [("x", "p", 5.0, "A"), ("x", "q", 0.0, "B"), ("x", "q", 0.0, "C")]
    rows += [(a, b, 20.0 + n, f"{a}{b}{n}") for a in "yz" for b in "pqr" for n in range(4)]
    frame = pl.DataFrame(rows, schema=["a", "b", "v", "firm"], orient="row")
    found = suppress(tabulate(frame, ["a", "b"], value="v", contributor="firm", rules=[rule]))
    assert found.audit.safe
