"""A domain small enough to be broken in every way: choose k of n numbers so that their sum is least.

``honest`` is a solver as it should be; each of the others does one thing wrong.
"""

import random
from dataclasses import dataclass, replace
from itertools import count

import numpy as np
from pydantic import BaseModel

from shoal.errors import InputError
from shoal.runtime import Budget, History, Method, Point, Registry, Solution, StopReason
from shoal.runtime.conformance import Suite
from shoal.runtime.options import NoOptions


@dataclass(frozen=True)
class Problem:
    numbers: np.ndarray
    k: int


@dataclass(frozen=True, kw_only=True)
class Choice(Solution):
    chosen: tuple[int, ...] = ()


def verify(problem: Problem, choice: Choice) -> None:
    assert len(set(choice.chosen)) == len(choice.chosen) == problem.k
    total = sum(int(problem.numbers[place]) for place in choice.chosen)
    assert choice.value == total, f"{choice.value} is not the sum of the chosen, {total}"


class Search:
    """Swaps a chosen number for another at random, and keeps what is better."""

    def __init__(self, problem, seeds):
        self.numbers = problem.numbers.tolist()
        self.chosen, self.others = list(range(problem.k)), list(range(problem.k, len(self.numbers)))
        self.random = seeds.generator()

    @property
    def value(self):
        return sum(self.numbers[place] for place in self.chosen)

    def step(self):
        i, j = self.random.integers(len(self.chosen)), self.random.integers(len(self.others))
        if self.numbers[self.others[j]] < self.numbers[self.chosen[i]]:
            self.chosen[i], self.others[j] = self.others[j], self.chosen[i]


def _refuse(problem):
    if not 0 < problem.k < len(problem.numbers):
        raise InputError(f"k must be between 1 and {len(problem.numbers) - 1}, not {problem.k}")


def _searched(problem, budget, seeds, observer, *, after_chunk=lambda search: None):
    search, run = Search(problem, seeds), budget.start(observer)
    run.report(search.value, bound=problem.k * int(problem.numbers.min()))
    while chunk := run.chunk(16):
        for _ in range(chunk):
            search.step()
        run.spend(chunk)
        run.report(search.value)
        after_chunk(search)
    return search, run


def _choice(search, run, **fields):
    return Choice(
        **{"value": search.value, "chosen": tuple(sorted(search.chosen)), **run.closing(), **fields}
    )


def honest(problem, options, *, budget, seeds, threads, observer):
    _refuse(problem)
    search, run = _searched(problem, budget.or_iterations(100), seeds, observer)
    return _choice(search, run, bound=run.bound)


def _honest_but(**fields):
    def solve(problem, options, **keywords):
        return replace(honest(problem, options, **keywords), **fields)

    return solve


def wrong_value(problem, options, **keywords):
    choice = honest(problem, options, **keywords)
    return replace(choice, value=choice.value + 1)


says_time = _honest_but(stopped_by=StopReason.TIME)
says_stopped_by_optimum = _honest_but(stopped_by=StopReason.OPTIMAL)
forgets_history = _honest_but(history=History())


def endless_without_a_limit(problem, options, *, budget, seeds, threads, observer):
    search, run = _searched(problem, budget, seeds, observer)
    return _choice(search, run)


def says_interrupted_without_a_limit(problem, options, *, budget, **keywords):
    choice = honest(problem, options, budget=budget, **keywords)
    return choice if budget.iterations else replace(choice, stopped_by=StopReason.INTERRUPT)


def bound_too_high(problem, options, **keywords):
    choice = honest(problem, options, **{**keywords, "budget": Budget(iterations=0)})
    return replace(choice, bound=choice.value)


def too_good(problem, options, **keywords):
    return replace(honest(problem, options, **keywords), value=-100, bound=None)


def says_optimal(problem, options, **keywords):
    return replace(honest(problem, options, **{**keywords, "budget": Budget(iterations=0)}), optimal=True)


def unseeded(problem, options, *, budget, seeds, threads, observer):
    return honest(
        problem, options, budget=budget, seeds=seeds.child(next(_CALLS)), threads=1, observer=observer
    )


_CALLS = count()


def depends_on_threads(problem, options, *, budget, seeds, threads, observer):
    return honest(problem, options, budget=budget, seeds=seeds.child(threads), threads=1, observer=observer)


def depends_on_chunks(problem, options, *, budget, seeds, threads, observer):
    calls = count()

    def sow(search):
        search.random = seeds.child("chunk", next(calls)).generator()

    search, run = _searched(problem, budget, seeds, observer, after_chunk=sow)
    return _choice(search, run)


def ignores_iterations(problem, options, *, budget, **keywords):
    return honest(problem, options, budget=replace(budget, iterations=50), **keywords)


def ignores_clock(problem, options, *, budget, **keywords):
    return honest(problem, options, budget=replace(budget, seconds=None, clock=lambda: 0.0), **keywords)


def looks_at_clock_but_goes_on(problem, options, *, budget, seeds, threads, observer):
    search, run = Search(problem, seeds), budget.start(observer)
    run.report(search.value)
    while run.seconds >= 0:
        search.step()
    return _choice(search, run)


def ignores_cancellation(problem, options, *, budget, **keywords):
    return honest(problem, options, budget=replace(budget, control=type(budget.control)()), **keywords)


def starts_in_spite_of_cancellation(problem, options, *, budget, **keywords):
    if budget.control.cancelled:
        budget = replace(budget, control=type(budget.control)())
    return honest(problem, options, budget=budget, **keywords)


def loses_best_on_cancellation(problem, options, *, budget, seeds, threads, observer):
    search, run = Search(problem, seeds), budget.start(observer)
    for _ in range(200):
        search.step()
    run.report(search.value)
    return _choice(Search(problem, seeds) if budget.control.cancelled else search, run)


def tells_nothing(problem, options, *, budget, seeds, threads, observer):
    search, run = Search(problem, seeds), budget.start(observer)
    return _choice(search, run)


def _with_history(*points):
    def solve(problem, options, **keywords):
        choice = honest(problem, options, **keywords)
        return replace(choice, history=History(tuple(Point(*point) for point in points)))

    return solve


value_goes_up = _with_history((0, 0.0, 900), (1, 0.1, 901))
work_goes_back = _with_history((5, 0.0, 900), (1, 0.1, 890))
time_goes_back = _with_history((0, 0.5, 900), (1, 0.1, 890))
bound_gets_looser = _with_history((0, 0.0, 900, -5), (1, 0.1, 890, -6))
saw_better_than_it_returns = _with_history((0, 0.0, 900), (1, 0.1, -1000))


def sorts_the_input(problem, options, **keywords):
    choice = honest(problem, options, **keywords)
    problem.numbers.sort()
    return choice


def takes_anything(problem, options, *, budget, seeds, threads, observer):
    return Choice(value=0)


def refuses_at_length(problem, options, **keywords):
    try:
        return honest(problem, options, **keywords)
    except InputError as error:
        raise InputError(f"{error}\nand much more") from None


def crashes(problem, options, *, budget, seeds, threads, observer):
    raise IndexError("list index out of range")


class LooseOptions(BaseModel):
    """Options that can be changed after the fact."""

    size: int = 3


def suite(solver: str, *, options: type[BaseModel] = NoOptions, accepts=True, traits=()) -> Suite:
    """The battery for one solver of this file."""
    path = f"{options.__module__}:{options.__name__}"
    method = Method(solver, f"tests.runtime.toy:{solver}", path, "a toy", traits=frozenset(traits))
    few = [12, 3, 8, 1, 9, 30, 2, 4, 17, 5]
    many = random.Random(1).sample(range(1000), 40)
    return Suite(
        registry=Registry("choosing", [method]),
        problems=[lambda: Problem(np.array(few), 3), lambda: Problem(np.array(many), 10)],
        verify=verify,
        payload=lambda choice: (choice.value, choice.chosen),
        refused=[lambda: Problem(np.array(few), 0), lambda: Problem(np.array(few), 11)],
        accepts=lambda method, problem: accepts,
        edges=[lambda n=n: Problem(np.arange(n), 1) for n in (2, 3)],
        optima={0: 1 + 2 + 3, 1: sum(sorted(many)[:10])},
    )
