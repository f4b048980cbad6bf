"""Rules for counts: what a whole group has in common, and what nobody has."""

from collections.abc import Iterator

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import Bounds, LinearConstraint, milp

import shoal
from shoal.errors import Infeasible, InputError
from shoal.runtime import Budget, silent
from shoal.tables.checked_search import solve_whole
from shoal.tables.methods import METHODS
from shoal.tables.model.rules import parse_rule
from shoal.tables.model.tabulated import Tabulation
from shoal.tables.safety.audit import GROUPS, audit
from shoal.tables.safety.groups import known_groups
from shoal.tables.safety.watching import watched
from shoal.tables.safety.whole_numbers import integer_failures
from shoal.tables.solution import Pattern
from shoal.tables.verify import verify


def people(counts: list[list[int]]) -> pl.DataFrame:
    rows = [
        {"area": f"a{i}", "job": f"j{j}"}
        for i, line in enumerate(counts)
        for j, n in enumerate(line)
        for _ in range(n)
    ]
    return pl.DataFrame(rows)


COUNTS = [[7, 0, 0], [4, 5, 6], [3, 1, 9]]


def test_all_of_a_row_in_one_category_is_sensitive() -> None:
    made = shoal.tabulate(people(COUNTS), ["area", "job"], rules=["group(1)"])
    assert [made.table.key(int(cell)) for cell in made.sensitive] == [{"area": "a0", "job": "j0"}]
    assert made.by_rule == {"group(1)": 1}
    cell = int(made.sensitive[0])
    assert made.lower[cell] == 1.0 and made.upper[cell] == 0.0
    # The empty cells beside it may be hidden, others stay published.
    assert {str(made.status[made.table.find("a0", job)]) for job in ("j1", "j2")} == {"s"}


def test_a_few_others_are_no_crowd() -> None:
    made = shoal.tabulate(people([[7, 1, 0], [4, 5, 6], [3, 2, 9]]), ["area", "job"], rules=["group(2)"])
    cell = made.table.find("a0", "j0")
    assert made.status[cell] == "u" and made.lower[cell] == 1.0
    assert made.status[made.table.find("a1", "j0")] != "u"


def test_what_nobody_has_is_sensitive() -> None:
    made = shoal.tabulate(people(COUNTS), ["area", "job"], rules=["empty(2)"])
    assert sorted(made.table.key(int(c))["job"] for c in made.sensitive) == ["j1", "j2"]
    assert set(made.upper[made.sensitive]) == {2.0} and set(made.lower[made.sensitive]) == {0.0}


@pytest.mark.parametrize("rule", ["group(1)", "empty(1)"])
def test_suppression_leaves_the_group_uncertain(rule: str) -> None:
    made = shoal.tabulate(people(COUNTS), ["area", "job"], rules=[rule])
    found = shoal.suppress(made)
    assert found.audit.safe
    low, _ = found.audit.bounds(made.table.index[("a0", "j0")] * np.ones(1, dtype=int))
    if rule == "group(1)":
        total = made.table.values[made.table.find("a0", "total")]
        assert low[0] <= 6.0 < total
    else:
        cells = made.sensitive
        assert (found.audit.bounds(cells)[1] >= 1.0).all()


@settings(max_examples=60)
@given(
    st.lists(st.lists(st.integers(0, 4), min_size=3, max_size=3), min_size=2, max_size=3), st.integers(1, 3)
)
def test_group_rule_is_what_it_says(counts: list[list[int]], others: int) -> None:
    if not all(sum(line) for line in counts) or not all(sum(column) for column in zip(*counts, strict=True)):
        return
    made = shoal.tabulate(people(counts), ["area", "job"], rules=[f"group({others})"])
    for cell in range(made.table.cells):
        key = made.table.key(cell)
        own = made.table.values[cell]
        totals = [
            made.table.values[made.table.find(*{**key, name: "total"}.values())]
            for name in key
            if key[name] != "total"
        ]
        wanted = own > 0 and any(total - own < others for total in totals)
        assert (made.status[cell] == "u") == wanted, key


def test_they_are_for_counts_and_need_their_number() -> None:
    assert str(parse_rule("group(2)")) == "group(2)" and str(parse_rule("empty(1)")) == "empty(1)"
    for text in ("group", "group(0)", "empty(1.5)", "group(1,2)"):
        with pytest.raises(InputError):
            parse_rule(text)
    frame = people(COUNTS).with_columns(v=pl.lit(2.0))
    with pytest.raises(InputError, match="are for tables that count records"):
        shoal.tabulate(frame, ["area", "job"], value="v", rules=["group(1)"])


def most_others(made: Tabulation, hidden: set[int], cell: int, total: int) -> float:
    """How many others of a group there may be for somebody who sees all but the hidden cells: over all whole tables."""
    table = made.table
    bounds = Bounds(
        [0.0 if c in hidden else table.values[c] for c in range(table.cells)],
        [1e4 if c in hidden else table.values[c] for c in range(table.cells)],
    )
    goal = np.zeros(table.cells)
    goal[total], goal[cell] = -1.0, 1.0
    found = milp(
        goal,
        constraints=LinearConstraint(table.matrix, 0.0, 0.0),
        bounds=bounds,
        integrality=np.ones(table.cells),
    )
    return -float(found.fun)


def groups(made: Tabulation, others: int) -> list[tuple[int, int]]:
    """The cells with all of a total, but for fewer than so many others, and that total."""
    found = []
    for cell in range(made.table.cells):
        key = made.table.key(cell)
        for name in key:
            if key[name] != "total" and made.table.values[cell] > 0:
                total = made.table.find(*{**key, name: "total"}.values())
                if made.table.values[total] - made.table.values[cell] < others:
                    found.append((cell, total))
    return found


def test_a_cell_that_falls_with_its_total_protects_no_group() -> None:
    made = shoal.tabulate(people(COUNTS), ["area", "job"], rules=["group(1)"])
    with_total = [("a0", "j0"), ("a0", "total"), ("a1", "j0"), ("a1", "total")]
    found = shoal.audit(made, with_total)
    # The cell may be anything, but the two beside it are shown as empty: all of a0 are in j0.
    assert not found.safe and found.unsafe.tolist() == [made.table.find("a0", "j0")]
    beside = [("a0", "j0"), ("a0", "j1"), ("a1", "j0"), ("a1", "j1")]
    assert shoal.audit(made, beside).safe
    both = [*with_total, ("a0", "j1"), ("total", "j1"), ("total", "total"), ("total", "j0")]
    assert shoal.audit(made, both).safe


def test_verification_knows_groups() -> None:
    made = shoal.tabulate(people(COUNTS), ["area", "job"], rules=["group(1)"])
    problem = made.problem(insiders=False)
    names = [("a0", "total"), ("a1", "j0"), ("a1", "total")]
    cells = np.sort([made.table.find(*name) for name in names])
    pattern = Pattern(complementary=cells, value=problem.total_cost(cells), bound=None)
    with pytest.raises(AssertionError, match="whole group"):
        verify(problem, pattern)


@settings(max_examples=25, deadline=None)
@given(
    st.lists(st.lists(st.integers(0, 5), min_size=3, max_size=3), min_size=3, max_size=3),
    st.integers(1, 3),
    st.booleans(),
)
def test_suppression_gives_no_group_away(counts: list[list[int]], others: int, few: bool) -> None:
    if not all(sum(line) for line in counts) or not all(sum(column) for column in zip(*counts, strict=True)):
        return
    rules = [f"group({others})", *(["frequency(3)"] if few else [])]
    made = shoal.tabulate(people(counts), ["area", "job"], rules=rules)
    try:
        found = shoal.suppress(made)
    except Infeasible:
        return
    hidden = {made.table.find(*row) for row in found.pattern.select("area", "job").rows()}
    for cell, total in groups(made, others):
        assert most_others(made, hidden, cell, total) >= min(others, made.table.values[total]) - 1e-6
    # What was hidden for the group's sake is no cell that somebody forgot to ask for.
    again = shoal.audit(made, found.pattern)
    assert again.safe and not again.unasked


def test_several_cells_beside_a_group_make_room_where_one_cannot() -> None:
    """None of the cells beside can rise by three for an attacker who knows that no count is more than doubled, and one."""
    counts = {(2, 2): 3, (0, 3): 2, (2, 1): 2, (1, 3): 1, (3, 2): 1, (3, 3): 1}
    rows = [(f"a{a}", f"j{j}") for (a, j), count in counts.items() for _ in range(count)]
    made = shoal.tabulate(
        pl.DataFrame(rows, schema=["area", "job"], orient="row"), ["area", "job"], rules=["group(3)"]
    )
    problem = made.problem(insiders=False)
    problem = problem.with_changes(high=2.0 * problem.table.values + 1.0)
    found = solve_whole(problem, METHODS["auto"], None, Budget(), 0, 1, silent, counts=True)
    verify(problem, found)
    assert not known_groups(problem, problem.hidden_mask(found.complementary)).size
    # The bound is that of the levels alone.
    assert 0 < found.bound < found.value and not found.optimal


def test_groups_that_there_is_no_time_for_are_named_and_nothing_is_safe() -> None:
    problem = shoal.tabulate(people(COUNTS), ["area", "job"], rules=["group(1)"]).problem(insiders=False)
    everything = np.flatnonzero(problem.candidates)
    assert audit(problem, everything).safe
    ticks = iter(range(10**6))
    seen = [
        audit(
            problem, everything, watch=watched(Budget(seconds=float(end), clock=lambda: float(next(ticks))))
        )
        for end in range(1, 60)
    ]
    missed = [one for one in seen if GROUPS in one.not_looked_at]
    assert missed and not any(one.safe for one in missed)


def cheaper_than(problem, cost: float) -> Iterator[np.ndarray]:
    """All patterns that cost less."""
    cells = np.flatnonzero(problem.candidates)

    def more(first: int, left: float, chosen: list[int]) -> Iterator[np.ndarray]:
        yield np.array(chosen, dtype=np.int64)
        for place in range(first, cells.size):
            price = float(problem.cost[cells[place]])
            if price < left - 1e-9:
                yield from more(place + 1, left - price, [*chosen, int(cells[place])])

    return more(0, cost, [])


def test_patterns_of_groups_come_with_a_bound_that_none_is_below() -> None:
    """The first search is of a problem that asks for less, so what it proves holds."""
    proved = searched = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        counts = rng.multinomial(12, np.ones(8) / 8).reshape(2, 4)
        made = shoal.tabulate(people(counts.tolist()), ["area", "job"], rules=["group(2)"])
        if made.table.cells < 15 or not made.sensitive.size:
            continue
        try:
            found = shoal.suppress(made)
        except Infeasible:
            continue
        searched += 1
        assert found.bound is not None and 0 <= found.bound <= found.cost
        assert found.solution.optimal == (found.bound == found.cost)
        proved += found.solution.optimal
        for cells in cheaper_than(found.problem, found.bound):
            judged = audit(found.problem, cells)
            assert not judged.safe or integer_failures(found.problem, cells)
    assert searched > proved > 0
