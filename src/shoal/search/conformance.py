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
from shoal.search.budget import Budget, StopReason
from shoal.search.control import Control
from shoal.search.direction import better
from shoal.search.observer import Observer, Progress, silent
from shoal.search.registry import Method, Registry
from shoal.search.seeds import Seeds


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


def _solve(
    suite: Suite,
    method: Method,
    problem: Any,
    *,
    budget: Budget | None = None,
    seed: int = 0,
    threads: int = 1,
    observer: Observer = silent,
) -> Any:
    return method.solve(
        problem,
        suite.options.get(method.name),
        budget=budget or Budget(iterations=suite.iterations),
        seeds=Seeds(seed),
        threads=threads,
        observer=observer,
    )


def _accepted(suite: Suite, method: Method) -> list[tuple[int, Any]]:
    made = [(place, make()) for place, make in enumerate(suite.problems)]
    return [(place, problem) for place, problem in made if suite.accepts(method, problem)]


def _check_takes_some_problem(suite: Suite, method: Method) -> None:
    assert _accepted(suite, method), f"{method.name}: the suite has no problem this method accepts"


def _check_result_is_verified(suite: Suite, method: Method) -> None:
    for _, problem in _accepted(suite, method):
        solution = _solve(suite, method, problem)
        suite.verify(problem, solution)
        assert solution.stopped_by in (StopReason.OPTIMAL, StopReason.ITERATIONS), (
            f"{method.name}: stopped_by is {solution.stopped_by!r} under a budget of iterations alone"
        )
        assert solution.optimal or solution.stopped_by is not StopReason.OPTIMAL, (
            f"{method.name}: stopped because the optimum is proved, but does not call its result optimal"
        )


def _check_defaults_end_on_small_problems(suite: Suite, method: Method) -> None:
    # No limit and no option is given, as a user would begin; the clock stands still, so that only work can end it.
    for problem in filter(lambda problem: suite.accepts(method, problem), (make() for make in suite.edges)):
        solution = method.solve(
            problem,
            None,
            budget=Budget(clock=_Clock(step=0.0, patience=30_000)),
            seeds=Seeds(0),
            threads=1,
            observer=silent,
        )
        suite.verify(problem, solution)
        assert solution.stopped_by in (StopReason.OPTIMAL, StopReason.ITERATIONS), (
            f"{method.name}: stopped_by is {solution.stopped_by!r} with nothing but defaults"
        )


def _check_bound_is_not_crossed(suite: Suite, method: Method) -> None:
    for place, problem in _accepted(suite, method):
        solution = _solve(suite, method, problem)
        if solution.bound is not None:
            assert not better(solution.value, solution.bound, solution.direction), (
                f"{method.name}: value {solution.value} is better than its bound {solution.bound}"
            )
        if place in suite.optima:
            best = suite.optima[place]
            assert not better(solution.value, best, solution.direction), (
                f"{method.name}: value {solution.value} is better than the optimum {best} of problem {place}"
            )
            assert solution.bound is None or not better(best, solution.bound, solution.direction), (
                f"{method.name}: bound {solution.bound} cuts off the optimum {best} of problem {place}"
            )
            if solution.optimal:
                assert not better(best, solution.value, solution.direction), (
                    f"{method.name}: says optimal at {solution.value}, but {best} exists (problem {place})"
                )


def _check_same_seed_same_result(suite: Suite, method: Method) -> None:
    for _, problem in _accepted(suite, method):
        first = suite.payload(_solve(suite, method, problem))
        second = suite.payload(_solve(suite, method, problem))
        both = suite.payload(_solve(suite, method, problem, threads=2))
        assert _same(first, second), f"{method.name}: the same seed gave two results"
        assert _same(first, both), f"{method.name}: one thread and two gave different results"


def _check_speed_does_not_matter(suite: Suite, method: Method) -> None:
    # On a machine without limits chunks are as large as a solver likes, on the slowest they are of size one.
    for _, problem in _accepted(suite, method):
        fast = Budget(iterations=suite.iterations, clock=lambda: 0.0)
        slow = Budget(iterations=suite.iterations, clock=_Clock(step=1e6, patience=10**9))
        first = suite.payload(_solve(suite, method, problem, budget=fast))
        second = suite.payload(_solve(suite, method, problem, budget=slow))
        assert _same(first, second), f"{method.name}: the result depends on how fast the machine is"


def _check_iterations_are_obeyed(suite: Suite, method: Method) -> None:
    for _, problem in _accepted(suite, method):
        for allowed in (0, 1, 7):
            solution = _solve(suite, method, problem, budget=Budget(iterations=allowed))
            suite.verify(problem, solution)
            assert solution.work <= allowed or solution.optimal or "constructive" in method.traits, (
                f"{method.name}: spent {solution.work} of {allowed} iterations"
            )


def _check_time_is_obeyed(suite: Suite, method: Method) -> None:
    # The clock is turned by hand: a solver that looks at the budget's clock stops, whatever the machine does.
    for _, problem in _accepted(suite, method):
        over = Budget(seconds=1.0, iterations=_LONG * suite.iterations, clock=_Clock(step=1e6, patience=5000))
        solution = _solve(suite, method, problem, budget=over)
        suite.verify(problem, solution)
        assert _stopped_early(suite, method, solution), (
            f"{method.name}: went on for {solution.work} iterations after its time was over"
        )
        endless = Budget(seconds=1.0, iterations=10**9, clock=_Clock(step=0.05, patience=5000))
        suite.verify(problem, _solve(suite, method, problem, budget=endless))


def _check_interrupt_keeps_the_best(suite: Suite, method: Method) -> None:
    for _, problem in _accepted(suite, method):
        seen: list[Progress] = []
        control = Control()

        def cancel_soon(progress: Progress, seen: list[Progress] = seen, control: Control = control) -> None:
            if not control.cancelled:
                seen.append(progress)
            if progress.value is not None:
                control.cancel()

        budget = Budget(iterations=_LONG * suite.iterations, control=control)
        solution = _solve(suite, method, problem, budget=budget, observer=cancel_soon)
        suite.verify(problem, solution)
        assert seen, f"{method.name}: tells its observer nothing"
        assert _stopped_early(suite, method, solution, after=seen[-1].work), (
            f"{method.name}: cancelled at {seen[-1].work} iterations, it went on to {solution.work}"
        )
        if seen[-1].value is not None:
            assert not better(seen[-1].value, solution.value, solution.direction), (
                f"{method.name}: had {seen[-1].value} when it was cancelled, but returns {solution.value}"
            )
        control = Control()
        control.cancel()
        budget = Budget(iterations=_LONG * suite.iterations, control=control)
        solution = _solve(suite, method, problem, budget=budget)
        suite.verify(problem, solution)
        assert _stopped_early(suite, method, solution), (
            f"{method.name}: cancelled before it began, it went on for {solution.work} iterations"
        )


def _stopped_early(suite: Suite, method: Method, solution: Any, *, after: int = 0) -> bool:
    free = solution.optimal or "constructive" in method.traits
    return free or solution.work <= after + suite.iterations


def _check_history_is_monotone(suite: Suite, method: Method) -> None:
    for _, problem in _accepted(suite, method):
        solution = _solve(suite, method, problem)
        points = list(solution.history)
        assert points, f"{method.name}: the history is empty; a solver reports what it finds"
        for before, after in pairwise(points):
            assert after.work >= before.work, f"{method.name}: work goes back in the history"
            assert after.seconds >= before.seconds, f"{method.name}: time goes back in the history"
            if before.value is not None:
                assert not better(before.value, after.value, solution.direction), (
                    f"{method.name}: the best value gets worse in the history"
                )
            if before.bound is not None:
                assert after.bound is not None and not better(
                    after.bound, before.bound, solution.direction
                ), f"{method.name}: the bound gets looser in the history"
        values = [point.value for point in points if point.value is not None]
        if values:
            assert not better(values[-1], solution.value, solution.direction), (
                f"{method.name}: the history saw {values[-1]}, the solution has only {solution.value}"
            )


def _check_input_is_not_modified(suite: Suite, method: Method) -> None:
    for _, problem in _accepted(suite, method):
        before = pickle.dumps(problem)
        _solve(suite, method, problem)
        assert pickle.dumps(problem) == before, f"{method.name}: modified the problem it was given"


def _bad_problems(suite: Suite, method: Method) -> list[Any]:
    problems = [make() for make in suite.problems]
    return [
        *(make() for make in suite.refused),
        *(problem for problem in problems if not suite.accepts(method, problem)),
    ]


def _check_bad_problems_are_refused(suite: Suite, method: Method) -> None:
    for place, problem in enumerate(_bad_problems(suite, method)):
        try:
            solution = _solve(suite, method, problem)
        except ShoalError as error:
            text = str(error)
            assert text and "\n" not in text, f"{method.name}: refusal {place} is not one line: {text!r}"
        else:
            raise AssertionError(
                f"{method.name}: accepted bad problem {place} and returned {solution.value!r}"
            )


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


def _same(first: Any, second: Any) -> bool:
    return pickle.dumps(first) == pickle.dumps(second)


_BATTERY: dict[str, Callable[[Suite, Method], None]] = {
    "takes-some-problem": _check_takes_some_problem,
    "result-is-verified": _check_result_is_verified,
    "defaults-end-on-small-problems": _check_defaults_end_on_small_problems,
    "bound-is-not-crossed": _check_bound_is_not_crossed,
    "same-seed-same-result": _check_same_seed_same_result,
    "speed-does-not-matter": _check_speed_does_not_matter,
    "iterations-are-obeyed": _check_iterations_are_obeyed,
    "time-is-obeyed": _check_time_is_obeyed,
    "interrupt-keeps-the-best": _check_interrupt_keeps_the_best,
    "history-is-monotone": _check_history_is_monotone,
    "input-is-not-modified": _check_input_is_not_modified,
    "bad-problems-are-refused": _check_bad_problems_are_refused,
    "options-are-frozen": _check_options_are_frozen,
}
