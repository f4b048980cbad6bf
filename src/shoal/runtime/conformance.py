"""One battery of checks that every registered solver of a domain must pass.

In the spirit of scikit-learn's estimator checks: a domain describes its problems once, and a new method is
tested by being registered. A test file is three lines::

    @pytest.mark.parametrize("check", conformance.checks(SUITE), ids=str)
    def test_conformance(check):
        check()

A check raises ``AssertionError`` with the method's name and what it did wrong.
"""

import pickle
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from shoal.errors import ShoalError
from shoal.runtime.budget import Budget, StopReason
from shoal.runtime.control import Control
from shoal.runtime.direction import better
from shoal.runtime.observer import Progress, silent
from shoal.runtime.registry import Method, Registry
from shoal.runtime.seeds import Seeds


@dataclass(frozen=True)
class Suite:
    """What the battery has to know of a domain.

    ``problems`` make fresh small problems; ``verify`` raises when a solution does not hold; ``payload`` is
    what two runs with one seed must agree on; ``refused`` make problems that no method can solve; ``accepts`` says
    whether a method takes a problem at all (the others it must refuse); ``optima`` are known best values, by the
    problem's place; ``edges`` make the smallest problems there are and those around every size at which
    a method does something else, which are solved with default options and budgets.
    """

    registry: Registry
    problems: Sequence[Callable[[], Any]]
    verify: Callable[[Any, Any], None]
    payload: Callable[[Any], Any]
    refused: Sequence[Callable[[], Any]] = ()
    accepts: Callable[[Method, Any], bool] = lambda method, problem: True
    optima: dict[int, Any] = field(default_factory=dict)
    options: dict[str, dict[str, Any]] = field(default_factory=dict)
    iterations: int = 60
    edges: Sequence[Callable[[], Any]] = ()


@dataclass(frozen=True)
class Check:
    """One check of one method; call it to run it."""

    suite: Suite
    method: Method
    name: str
    run: Callable[[Suite, Method], None] = field(repr=False)

    def __call__(self) -> None:
        """Run the check."""
        self.run(self.suite, self.method)

    def __str__(self) -> str:
        return f"{self.method.name}-{self.name}"


def checks(suite: Suite) -> list[Check]:
    """Every check for every registered method of the domain."""
    return [
        Check(suite, method, name, run)
        for method in suite.registry.values()
        for name, run in _BATTERY.items()
        if run is not _check_bad_problems_are_refused or _bad_problems(suite, method)
    ]


@dataclass(frozen=True)
class _Case:
    """A method on a problem of the suite."""

    suite: Suite
    method: Method
    number: int
    problem: Any

    def solve(self, iterations: int | None = None, **settings: Any) -> Any:
        """What the method makes of it; with the iterations of the suite if nothing else is said."""
        budget = Budget(iterations=self.suite.iterations if iterations is None else iterations)
        usual = {"budget": budget, "seeds": Seeds(0), "threads": 1, "observer": silent}
        options = self.suite.options.get(self.method.name)
        return self.method.solve(self.problem, options, **usual | settings)

    def verified(self, iterations: int | None = None, **settings: Any) -> Any:
        """The same, if it holds."""
        solution = self.solve(iterations, **settings)
        self.suite.verify(self.problem, solution)
        return solution

    def payload(self, **settings: Any) -> bytes:
        """What two runs must agree on."""
        return pickle.dumps(self.suite.payload(self.solve(**settings)))

    def expect(self, holds: object, otherwise: str) -> None:
        """Raise, in the name of the method, unless something holds."""
        assert holds, f"{self.method.name}: {otherwise}"

    def stopped_early(self, solution: Any, *, after: int = 0) -> bool:
        """Whether a search ended soon after so much work, unless nothing was left to do."""
        free = solution.optimal or "constructive" in self.method.traits
        return free or solution.work <= after + self.suite.iterations


def _cases(suite: Suite, method: Method) -> list[_Case]:
    made = [_Case(suite, method, number, make()) for number, make in enumerate(suite.problems)]
    return [case for case in made if suite.accepts(method, case.problem)]


def _check_takes_some_problem(suite: Suite, method: Method) -> None:
    assert _cases(suite, method), f"{method.name}: the suite has no problem this method accepts"


def _check_result_is_verified(case: _Case) -> None:
    solution = case.verified()
    reason, ended = solution.stopped_by, (StopReason.OPTIMAL, StopReason.ITERATIONS)
    case.expect(reason in ended, f"stopped_by is {reason!r} under a budget of iterations alone")
    case.expect(
        solution.optimal or reason is not StopReason.OPTIMAL,
        "stopped because the optimum is proved, but does not call its result optimal",
    )


def _check_defaults_end_on_small_problems(suite: Suite, method: Method) -> None:
    # No limit and no option is given, as a user would begin; the clock stands still, so that only work can end it.
    for problem in filter(lambda problem: suite.accepts(method, problem), (make() for make in suite.edges)):
        budget = Budget(clock=_Clock(step=0.0, patience=30_000))
        solution = method.solve(problem, None, budget=budget, seeds=Seeds(0), threads=1, observer=silent)
        suite.verify(problem, solution)
        assert solution.stopped_by in (StopReason.OPTIMAL, StopReason.ITERATIONS), (
            f"{method.name}: stopped_by is {solution.stopped_by!r} with nothing but defaults"
        )


def _check_bound_is_not_crossed(case: _Case) -> None:
    solution = case.solve()
    value, bound, direction = solution.value, solution.bound, solution.direction
    if bound is not None:
        case.expect(not better(value, bound, direction), f"value {value} is better than its bound {bound}")
    if case.number in case.suite.optima:
        best, where = case.suite.optima[case.number], f"problem {case.number}"
        no_better = not better(value, best, direction)
        case.expect(no_better, f"value {value} is better than the optimum {best} of {where}")
        no_cut = bound is None or not better(best, bound, direction)
        case.expect(no_cut, f"bound {bound} cuts off the optimum {best} of {where}")
        reached = not solution.optimal or not better(best, value, direction)
        case.expect(reached, f"says optimal at {value}, but {best} exists ({where})")


def _check_same_seed_same_result(case: _Case) -> None:
    first = case.payload()
    case.expect(first == case.payload(), "the same seed gave two results")
    case.expect(first == case.payload(threads=2), "one thread and two gave different results")


def _check_speed_does_not_matter(case: _Case) -> None:
    # On a machine without limits chunks are as large as a solver likes, on the slowest they are of size one.
    iterations = case.suite.iterations
    fast = Budget(iterations=iterations, clock=lambda: 0.0)
    slow = Budget(iterations=iterations, clock=_Clock(step=1e6, patience=10**9))
    same = case.payload(budget=fast) == case.payload(budget=slow)
    case.expect(same, "the result depends on how fast the machine is")


def _check_iterations_are_obeyed(case: _Case) -> None:
    for allowed in (0, 1, 7):
        solution = case.verified(allowed)
        obeyed = solution.work <= allowed or solution.optimal or "constructive" in case.method.traits
        case.expect(obeyed, f"spent {solution.work} of {allowed} iterations")


def _check_time_is_obeyed(case: _Case) -> None:
    # The clock is turned by hand: a solver that looks at the budget's clock stops, whatever the machine does.
    iterations = _LONG * case.suite.iterations
    over = Budget(seconds=1.0, iterations=iterations, clock=_Clock(step=1e6, patience=5000))
    solution = case.verified(budget=over)
    late = f"went on for {solution.work} iterations after its time was over"
    case.expect(case.stopped_early(solution), late)
    case.verified(budget=Budget(seconds=1.0, iterations=10**9, clock=_Clock(step=0.05, patience=5000)))


def _check_interrupt_keeps_the_best(case: _Case) -> None:
    seen: list[Progress] = []
    control = Control()

    def cancel_soon(progress: Progress) -> None:
        if not control.cancelled:
            seen.append(progress)
        if progress.value is not None:
            control.cancel()

    iterations = _LONG * case.suite.iterations
    solution = case.verified(budget=Budget(iterations=iterations, control=control), observer=cancel_soon)
    case.expect(seen, "tells its observer nothing")
    work, value = seen[-1].work, seen[-1].value
    early = case.stopped_early(solution, after=work)
    case.expect(early, f"cancelled at {work} iterations, it went on to {solution.work}")
    kept = value is None or not better(value, solution.value, solution.direction)
    case.expect(kept, f"had {value} when it was cancelled, but returns {solution.value}")
    cancelled = Control()
    cancelled.cancel()
    solution = case.verified(budget=Budget(iterations=iterations, control=cancelled))
    late = f"cancelled before it began, it went on for {solution.work} iterations"
    case.expect(case.stopped_early(solution), late)


def _check_history_is_monotone(case: _Case) -> None:
    solution = case.solve()
    points, direction = list(solution.history), solution.direction
    case.expect(points, "the history is empty; a solver reports what it finds")
    for before, after in pairwise(points):
        case.expect(after.work >= before.work, "work goes back in the history")
        case.expect(after.seconds >= before.seconds, "time goes back in the history")
        worse = before.value is not None and better(before.value, after.value, direction)
        case.expect(not worse, "the best value gets worse in the history")
        if before.bound is not None:
            tight = after.bound is not None and not better(after.bound, before.bound, direction)
            case.expect(tight, "the bound gets looser in the history")
    values = [point.value for point in points if point.value is not None]
    if values:
        lost = better(values[-1], solution.value, direction)
        case.expect(not lost, f"the history saw {values[-1]}, the solution has only {solution.value}")


def _check_input_is_not_modified(case: _Case) -> None:
    before = pickle.dumps(case.problem)
    case.solve()
    case.expect(pickle.dumps(case.problem) == before, "modified the problem it was given")


def _bad_problems(suite: Suite, method: Method) -> list[Any]:
    problems = [make() for make in suite.problems]
    return [
        *(make() for make in suite.refused),
        *(problem for problem in problems if not suite.accepts(method, problem)),
    ]


def _check_bad_problems_are_refused(suite: Suite, method: Method) -> None:
    for number, problem in enumerate(_bad_problems(suite, method)):
        case = _Case(suite, method, number, problem)
        try:
            solution = case.solve()
        except ShoalError as error:
            text = str(error)
            case.expect(text and "\n" not in text, f"refusal {number} is not one line: {text!r}")
        else:
            case.expect(None, f"accepted bad problem {number} and returned {solution.value!r}")


def _check_options_are_frozen(suite: Suite, method: Method) -> None:
    options = method.configure()
    assert options.model_config.get("frozen"), f"{method.name}: its options can be changed after the fact"
    try:
        method.configure({"no such option": 1})
    except ShoalError:
        return
    raise AssertionError(f"{method.name}: takes an option that does not exist")


# A search that ought to stop early is given this many times the suite's iterations, so that going on shows.
_LONG = 20


class _Clock:
    """A clock that moves one step each time somebody looks, and complains when that has no effect."""

    def __init__(self, *, step: float, patience: int) -> None:
        self.step = step
        self.patience = patience
        self.looks = 0

    def __call__(self) -> float:
        self.looks += 1
        assert self.looks < self.patience, f"a solver looked at the clock {self.looks} times and did not stop"
        return self.step * self.looks


def _on_each(check: Callable[[_Case], None]) -> Callable[[Suite, Method], None]:
    def check_each(suite: Suite, method: Method) -> None:
        for case in _cases(suite, method):
            check(case)

    return check_each


_BATTERY: dict[str, Callable[[Suite, Method], None]] = {
    "takes-some-problem": _check_takes_some_problem,
    "result-is-verified": _on_each(_check_result_is_verified),
    "defaults-end-on-small-problems": _check_defaults_end_on_small_problems,
    "bound-is-not-crossed": _on_each(_check_bound_is_not_crossed),
    "same-seed-same-result": _on_each(_check_same_seed_same_result),
    "speed-does-not-matter": _on_each(_check_speed_does_not_matter),
    "iterations-are-obeyed": _on_each(_check_iterations_are_obeyed),
    "time-is-obeyed": _on_each(_check_time_is_obeyed),
    "interrupt-keeps-the-best": _on_each(_check_interrupt_keeps_the_best),
    "history-is-monotone": _on_each(_check_history_is_monotone),
    "input-is-not-modified": _on_each(_check_input_is_not_modified),
    "bad-problems-are-refused": _check_bad_problems_are_refused,
    "options-are-frozen": _check_options_are_frozen,
}
