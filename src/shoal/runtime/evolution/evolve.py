"""A genetic algorithm on chromosomes that are Python objects."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Generic

import numpy as np

from shoal.runtime.budget import Run
from shoal.runtime.evolution.keys import fitter
from shoal.runtime.evolution.operators import Operator, SwitchOff
from shoal.runtime.evolution.policies import Portfolio, Strategy
from shoal.runtime.evolution.population import Chromosome, Population, as_keys
from shoal.runtime.evolution.statistics import Ledger, OperatorStatistics
from shoal.runtime.seeds import Seeds


def first_column(key: np.ndarray) -> float:
    """The cost that the statistics compare, unless told otherwise."""
    return float(key[0])


def plain(key: np.ndarray) -> Any:
    """A key as a value to report: a number if it has one column, else a tuple."""
    return key[0].item() if len(key) == 1 else tuple(key.tolist())


class Evolution(Generic[Chromosome]):
    """A population that changes generation by generation.

    In one ``step`` a strategy is drawn, every operator makes its children, they are evaluated by ``mapping``
    (``map``, or that of an executor: results in the order of the children) and let into the population by the
    strategy's replacement. ``evaluate`` returns a number, or a row of numbers compared column by column; smaller
    is fitter. ``best`` is the fittest chromosome ever seen, the first of several, even if the population lost it.

    >>> import numpy as np
    >>> from shoal.runtime.evolution.policies import AnyParents, MergeAndTruncate
    >>> from shoal.runtime.randomness import below
    >>> halve = Operator("halve", lambda state, parent: [parent // 2], times=3)
    >>> strategy = Strategy(AnyParents(), MergeAndTruncate())
    >>> search = Evolution([40, 70, 90], lambda number: number, [halve], strategy, Seeds(1))
    >>> for _ in range(20):
    ...     search.step()
    >>> search.best, search.evaluations
    (0, 63)
    """

    def __init__(
        self,
        founders: Iterable[Chromosome],
        evaluate: Callable[[Chromosome], Any],
        operators: Sequence[Operator[Chromosome]],
        strategy: Strategy | Portfolio,
        seeds: Seeds,
        *,
        mapping: Callable[..., Iterable[Any]] = map,
        switch_off_after: int | None = None,
        cost: Callable[[np.ndarray], float] = first_column,
    ) -> None:
        members = list(founders)
        keys = as_keys(mapping(evaluate, members))
        self.population = Population(members, keys, np.arange(len(members)))
        self.operators = tuple(operators)
        self.switch_off = SwitchOff(len(self.operators), switch_off_after)
        self.generation = 0
        self.evaluations = len(members)
        self.improved_at = 0
        self.best: Chromosome = members[self.population.fittest]
        self.best_key: np.ndarray = keys[self.population.fittest].copy()
        self._portfolio = strategy if isinstance(strategy, Portfolio) else Portfolio([strategy])
        self._evaluate = evaluate
        self._mapping = mapping
        self._cost = cost
        self._ledger = Ledger(len(members))
        self._state = seeds.child("generation").state()
        self._streams = [seeds.child("operator", operator.name).state() for operator in self.operators]

    @property
    def over(self) -> bool:
        """Whether every operator is switched off, so that nothing can change any more."""
        return not self.switch_off.active.any()

    @property
    def stalled(self) -> int:
        """The number of generations since the best was last improved."""
        return self.generation - self.improved_at

    @property
    def statistics(self) -> OperatorStatistics:
        """How well each operator has served so far."""
        return self._ledger.statistics([operator.name for operator in self.operators], self.generation)

    def step(self) -> None:
        """One generation."""
        strategy = self._portfolio.draw(self._state)
        children: list[Chromosome] = []
        origins: list[tuple[int, np.ndarray]] = []
        for index in np.flatnonzero(self.switch_off.active).tolist():
            operator, state = self.operators[index], self._streams[index]
            for _ in range(operator.times):
                places = strategy.select(state, self.population, operator.parents)
                made = list(operator.make(state, *(self.population.members[place] for place in places)))
                children += made
                origins += [(index, places)] * len(made)
        keys = as_keys(self._mapping(self._evaluate, children), like=self.population.keys)
        offspring = Population(children, keys, self._enter(origins, keys))
        self._remember_best(offspring)
        self._replace(strategy, offspring, [index for index, _ in origins])
        self.evaluations += len(children)
        self.generation += 1

    def _enter(self, origins: list[tuple[int, np.ndarray]], keys: np.ndarray) -> np.ndarray:
        numbers = np.empty(len(origins), dtype=np.int64)
        for child, (operator, places) in enumerate(origins):
            parents = sum(self._cost(self.population.keys[place]) for place in places) / len(places)
            self._ledger.used(self.population.numbers[places].tolist())
            numbers[child] = self._ledger.born(
                operator=operator, generation=self.generation, cost=self._cost(keys[child]), parents=parents
            )
        return numbers

    def _remember_best(self, offspring: Population[Chromosome]) -> None:
        if len(offspring) and fitter(offspring.keys[offspring.fittest], self.best_key):
            self.best = offspring.members[offspring.fittest]
            self.best_key = offspring.keys[offspring.fittest].copy()
            self.improved_at = self.generation + 1

    def _replace(self, strategy: Strategy, offspring: Population[Chromosome], origins: list[int]) -> None:
        were_there = np.concatenate([self.population.numbers, offspring.numbers])
        strategy.replace(self._state, self.population, offspring)
        died = np.setdiff1d(were_there, self.population.numbers)
        self._ledger.died(died.tolist(), generation=self.generation)
        operators = np.array(origins, dtype=np.int64)
        survivors = operators[np.isin(offspring.numbers, self.population.numbers)]
        made = np.bincount(operators, minlength=len(self.operators))
        self.switch_off.update(made, np.bincount(survivors, minlength=len(self.operators)))


def evolve(
    search: Evolution[Any],
    run: Run,
    *,
    patience: int | None = None,
    value: Callable[[np.ndarray], Any] = plain,
) -> Iterator[int]:
    """Step until the budget is spent, no operator is left, or ``patience`` generations brought no improvement.

    One generation is one iteration of the budget. Yields the number of each generation when it is done, so that
    the caller can watch the population; the run is told the best key as ``value`` makes it.

    >>> from shoal.runtime import Budget
    >>> from shoal.runtime.evolution.policies import AnyParents, MergeAndTruncate
    >>> halve = Operator("halve", lambda state, parent: [parent // 2])
    >>> strategy = Strategy(AnyParents(), MergeAndTruncate())
    >>> search = Evolution([40, 70, 90], lambda number: number, [halve], strategy, Seeds(1))
    >>> run = Budget(iterations=50, target=5).start()
    >>> for generation in evolve(search, run):
    ...     pass
    >>> search.best <= 5, str(run.closing()["stopped_by"])
    (True, 'target')
    """
    run.report(value(search.best_key))
    while not search.over and (patience is None or search.stalled < patience) and run.chunk(1):
        search.step()
        run.spend(1)
        run.report(value(search.best_key))
        yield search.generation
