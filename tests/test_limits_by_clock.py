"""Searches end soon after their limit, told by a clock that goes on whenever somebody looks at it.

``round`` and ``adjust`` hand what is left of their time to a solver that has a clock of its own, ``adjust`` less than that. In
place of every method one is tried that goes on until its budget stops it, which is counted in looks at the budget.
"""

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.cli.progress import watched
from shoal.operations import OPERATIONS
from shoal.runtime import Budget
from shoal.runtime.budget import TimeIsOver
from shoal.runtime.control import Control
from shoal.runtime.linear_programmes import solve_within
from shoal.runtime.observer import CHECKING, VERIFICATION, Progress
from shoal.runtime.registry import Method
from shoal.runtime.stages import stage_of
from shoal.tables.rounding import whole_programmes
from shoal.tables.rounding.adjustment import flips
from shoal.tables.rounding.controlled_rounding import exact
from shoal.tables.safety import watching

LIMIT = 1.0


class Ticking:
    """A clock on which a look takes a while, and which remembers when search and bound were last heard of."""

    def __init__(self, look: float) -> None:
        self.look = look
        self.now = 0.0
        self.heard = 0.0

    def __call__(self) -> float:
        self.now += self.look
        return self.now

    def observe(self, progress: Any) -> None:
        if stage_of(progress.phase) in ("search", "bound"):
            self.heard = self.now


GENERATOR = np.random.default_rng(8)
TABLE = GENERATOR.integers(1, 400, (14, 14)).astype(float)
HIDDEN = [(str(row + 1), str(column + 1)) for row, column in GENERATOR.integers(0, 14, (12, 2))]
PEOPLE = pl.DataFrame({name: GENERATOR.integers(0, 30, 400) for name in "abcd"})
NUMBERS = pl.DataFrame(GENERATOR.normal(size=(120, 8)), schema=list("abcdefgh"))
MOVED = NUMBERS.with_columns(pl.all() + pl.Series(GENERATOR.normal(size=120)))
# No network, so that every interval is two linear programmes.
CUBE = pl.DataFrame(
    [(a, b, c, int(GENERATOR.integers(5, 400))) for a in "pqrst" for b in "uvwxy" for c in "klmno"],
    schema=["a", "b", "c", "value"],
    orient="row",
)
CELLS = [row[:3] for row in CUBE.rows()[::2]]
SIZES = [int(size) for size in GENERATOR.integers(3, 40, 50)]
# Without a seat to spare.
SLOTS = [sum(SIZES) // 30 + (number < sum(SIZES) % 30) for number in range(30)]

# Each with how long a look takes, so that none is done before its time is over.
SEARCHES: dict[str, tuple[float, Callable[..., Any]]] = {
    "recode": (0.01, lambda **how: shoal.recode(PEOPLE, k=5, quasi=list("abcd"), **how)),
    "group": (0.01, lambda **how: shoal.group_attributes(NUMBERS, 5, **how)),
    "assign": (0.04, lambda **how: shoal.assign_sizes(SIZES, SLOTS, **how)),
    "risk": (
        0.01,
        lambda threads, **how: shoal.risk(PEOPLE, list("abcd"), population=9000, special_uniques=True, **how),
    ),
    "compare": (0.02, lambda **how: shoal.compare(NUMBERS, MOVED, paired_by_position=True, **how)),
    "audit": (
        0.01,
        lambda threads, **how: shoal.audit(
            CUBE, CELLS, sensitive=CELLS[:20], dimensions=list("abc"), value="value", **how
        ),
    ),
    "suppress": (0.03, lambda **how: shoal.suppress(TABLE, sensitive=HIDDEN, protection=0.2, **how)),
}


@pytest.mark.parametrize("name", SEARCHES)
def test_nothing_is_heard_of_a_search_long_after_its_limit(name: str) -> None:
    look, search = SEARCHES[name]
    clock = Ticking(look)
    search(budget=Budget(seconds=LIMIT, clock=clock), observer=clock.observe, threads=1)
    assert clock.now >= LIMIT
    assert 0.0 < clock.heard <= 1.2 * LIMIT


def test_an_adjustment_leaves_time_to_look_what_can_be_computed_from_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    limits = []

    def noted(solver: Any, run: Any, seconds: float | None, **how: Any) -> None:
        limits.append(seconds)
        solve_within(solver, run, seconds, **how)

    monkeypatch.setattr(whole_programmes, "solve_within", noted)
    budget = Budget(seconds=100.0, clock=lambda: 0.0)
    shoal.adjust_table(TABLE, sensitive=HIDDEN[:3], budget=budget, seed=1)
    assert limits
    assert max(limits) <= 80.0


@pytest.mark.parametrize("method", ["exact", "flips"])
def test_whether_another_limit_would_help_is_asked_within_the_time_limit(method, monkeypatch) -> None:
    """Of a table without a safe adjustment: once time is over nobody looks further, and nothing is said of other limits."""
    asked: list[float | None] = []

    def within(solver: Any, run: Any, seconds: float | None = None, **how: Any) -> None:
        asked.append(seconds)
        solve_within(solver, run, seconds, **how)

    monkeypatch.setattr(flips, "solve_within", within)
    table = np.array([[10.0, 20.0], [30.0, 40.0]])
    how: dict[str, Any] = {"sensitive": [("1", "1")], "protection": 0.9, "limit": 0.01, "method": method}
    with pytest.raises(shoal.Infeasible, match="try a larger limit="):
        shoal.adjust_table(table, seed=1, **how)
    assert asked == [None]
    with pytest.raises(shoal.Infeasible, match="try a larger limit="):
        shoal.adjust_table(table, seed=1, budget=Budget(seconds=1000.0, clock=Ticking(0.01)), **how)
    assert asked[1] is not None and 0 < asked[1] < 1000
    # A look takes longer than there is time: it is over before anything can be asked.
    with pytest.raises(shoal.Infeasible):
        shoal.adjust_table(table, seed=1, budget=Budget(seconds=1.0, clock=Ticking(2.0)), **how)
    assert len(asked) == 2


ENDLESS: dict[str, Callable[..., Any]] = {
    "microaggregate": lambda **how: shoal.microaggregate(
        NUMBERS, 5, columns=["a", "b"], method="mdav", **how
    ),
    "recode": SEARCHES["recode"][1],
    "group": SEARCHES["group"][1],
    "assign": SEARCHES["assign"][1],
    "suppress": SEARCHES["suppress"][1],
    "round": lambda **how: shoal.round_table(TABLE, 100, sensitive=HIDDEN[:3], seed=1, **how),
    "adjust": lambda **how: shoal.adjust_table(TABLE, sensitive=HIDDEN[:3], seed=1, **how),
}


@pytest.mark.parametrize("how", ["limit", "interrupt"])
@pytest.mark.parametrize("name", ENDLESS)
def test_a_method_without_an_end_is_ended_by_its_budget(
    name: str, how: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    control, looks, solve = Control(), 0, Method.solve

    def endless(self: Method, problem: Any, options: Any = None, *, budget: Budget, **given: Any) -> Any:
        nonlocal looks
        run = budget.start()
        while not run.out_of_time:
            looks += 1
            assert looks <= 200, "the method was not told to end"
            if how == "interrupt" and looks == 100:
                control.cancel()
        return solve(self, problem, options, budget=Budget(iterations=1), **given)

    monkeypatch.setattr(Method, "solve", endless)
    # A look takes a second, where there is a limit.
    clock = Ticking(1.0 if how == "limit" else 0.0)
    limit = 100.0 if how == "limit" else None
    ENDLESS[name](budget=Budget(seconds=limit, control=control, clock=clock), threads=1)
    assert 70 <= looks <= 100


class Pressed(Control):
    """Somebody presses Ctrl-C after so many looks; later ones are counted, too."""

    def __init__(self, after: int) -> None:
        super().__init__()
        self.after, self.looks = after, 0

    @property
    def cancelled(self) -> bool:
        self.looks += 1
        return self.looks > self.after


@pytest.mark.parametrize("name", ["risk", "compare", "audit"])
def test_what_has_no_methods_ends_a_few_looks_after_ctrl_c(name: str) -> None:
    control = Pressed(20)
    SEARCHES[name][1](budget=Budget(control=control), threads=1)
    assert 20 < control.looks <= 40


def test_every_function_with_a_budget_is_tried() -> None:
    """Those whose methods loop without an end, and those that have none and are watched on a clock."""
    tried = {
        "assign": "assign",
        "assign_sizes": "assign",
        "group_attributes": "group",
        "round_table": "round",
        "adjust_table": "adjust",
    }
    functions = {
        name
        for name in shoal.__all__
        if inspect.isfunction(getattr(shoal, name))
        and "budget" in inspect.signature(getattr(shoal, name)).parameters
    }
    assert {tried.get(name, name) for name in functions} == {*ENDLESS, "risk", "compare", "audit"}
    assert {"risk", "compare", "audit"} <= set(SEARCHES)
    limited = {name for name, item in OPERATIONS.items() if "time_limit" in item.settings.model_fields}
    assert limited == {*ENDLESS, "risk", "compare", "audit"}


EXPECTED: dict[str, Callable[..., Any]] = {
    **{name: ENDLESS[name] for name in ("round", "adjust")},
    "suppress": lambda **how: shoal.suppress(TABLE, sensitive=HIDDEN, protection=0.2, counts=True, **how),
}


def _last_heard(search: Callable[..., Any]) -> Any:
    heard: list[Any] = []
    search(budget=Budget(iterations=20), observer=heard.append, threads=1)
    *_, last = (progress for progress in heard if progress.phase == VERIFICATION)
    return last


@pytest.mark.parametrize("name", EXPECTED)
def test_how_long_the_check_takes_is_announced_when_the_search_is_over(name: str) -> None:
    last = _last_heard(EXPECTED[name])
    assert last.expected is not None and last.expected >= 0.0


@pytest.mark.parametrize("name", ["microaggregate", "recode"])
def test_no_time_is_promised_that_was_not_measured(name: str) -> None:
    """Nothing in the search is like the check that follows, and how fast a machine is nobody knows beforehand."""
    assert _last_heard(ENDLESS[name]).expected is None


@pytest.mark.parametrize(
    ("expected", "words"),
    [
        (None, "its result is verified and written, which no time limit ends"),
        (0.2, "its result is verified and written, which no time limit ends"),
        (12.6, "its result is verified, which takes about 13 s, and written, which no time limit ends"),
    ],
)
def test_what_follows_a_search_is_announced_in_the_terminal(
    expected: float | None, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with watched("recode", Budget(), quiet=False) as observe:
        observe(Progress(1, 3.0, phase=VERIFICATION, expected=expected))
    assert capsys.readouterr().err == ""
    with watched("recode", Budget(), quiet=False) as observe:
        observe(Progress(1, 30.0, phase=VERIFICATION, expected=expected))
    assert words in " ".join(capsys.readouterr().err.split())


def test_a_rounding_that_is_not_found_in_time_is_called_so(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is said of whether there is one, and steps that are larger are not tried in its place."""
    tried = []

    def late(problem: Any, *rest: Any) -> Any:
        tried.append(problem.steps)
        raise TimeIsOver

    monkeypatch.setattr(exact, "broken", late)
    control = Control()
    control.cancel()
    how: dict[str, Any] = {"sensitive": HIDDEN[:3], "seed": 1}
    with pytest.raises(shoal.Infeasible, match="the search ended before it found a rounding"):
        shoal.round_table(TABLE, 100, budget=Budget(seconds=1.0, clock=Ticking(1.0)), **how)
    with pytest.raises(KeyboardInterrupt):
        shoal.round_table(TABLE, 100, budget=Budget(control=control), **how)
    assert tried == [1, 1]


def test_looking_at_whole_numbers_ends_when_somebody_presses_ctrl_c() -> None:
    """Four dimensions of counts, whose programmes took minutes that nothing could end."""
    draw = np.random.default_rng(1)
    people = pl.DataFrame({name: draw.choice(list("abc"), 150) for name in "pqrs"})
    control, heard = Control(), []

    def press(progress: Any) -> None:
        heard.append(progress.phase)
        if progress.phase == CHECKING:
            control.cancel()

    how: dict[str, Any] = {"dimensions": list("pqrs"), "rules": ["frequency(3)"], "small_totals": True}
    monkey = pytest.MonkeyPatch()
    with monkey.context() as patched:
        patched.setattr(watching, "LAST_SECONDS", -1.0)
        with pytest.raises(KeyboardInterrupt):
            shoal.round_table(people, 5, seed=1, budget=Budget(control=control), observer=press, **how)
    assert heard[-1] == CHECKING
