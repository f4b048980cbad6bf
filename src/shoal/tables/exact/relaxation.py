"""The linear relaxation of the suppression problem, tightened by cutting planes until they bring no more."""

from collections.abc import Iterable
from typing import Protocol

import numpy as np

from shoal.runtime import Run
from shoal.runtime.linear_programmes import is_optimal, programme, quiet_highs
from shoal.tables.exact.inequalities import Inequalities
from shoal.tables.problem import Problem, Requirements

_NEARLY_MET = 0.9
# Rounds between two looks at the cells that are no columns, where rounds are many.
_PRICED = 20
# While so many inequalities of single cuts are violated no sums are sought.
_ENOUGH = 25


class Separator(Protocol):
    """A routine that finds violated inequalities, and writes and prices those it found before."""

    wanted: Requirements
    # The smallest share of a requirement that the last point meets.
    worst: float
    # How many linear programmes were solved to find inequalities.
    solved: int
    # Whether only the most violated inequality of each requirement is wanted.
    few: bool
    # Whether no inequality is wanted that takes all relations of the table to find.
    near: bool

    def separate(
        self, x: np.ndarray, columns: np.ndarray, *, least: float = 0.01, bridges: bool = True
    ) -> Inequalities:
        """Violated inequalities at a point, also those given out before."""

    def refuse(self, x: np.ndarray, columns: np.ndarray, places: np.ndarray, least: float) -> Inequalities:
        """Inequalities that a pattern violates because it fails the requirements at these places."""

    def fill(self, x: np.ndarray, columns: np.ndarray, *, least: float = 0.01) -> Inequalities:
        """The deepest inequalities of what separated a point last, as far as the point violates them."""

    def combine(
        self,
        rows: Inequalities,
        slack: np.ndarray,
        x: np.ndarray,
        columns: np.ndarray,
        *,
        least: float = 0.003,
    ) -> Inequalities:
        """Violated inequalities made of those known, of which the point more than meets each by its slack."""

    def require(self, more: Requirements) -> None:
        """Take further requirements into account."""

    def write(self, numbers: Iterable[int], columns: np.ndarray) -> Inequalities:
        """Known inequalities over other columns."""

    def price(self, numbers: np.ndarray, duals: np.ndarray, cells: np.ndarray) -> np.ndarray:
        """Reduced costs of cells that are no columns."""


class Relaxation:
    """min cost·y, 0 ≤ y ≤ 1, over all inequalities found so far; a resident model that is solved again from its basis."""

    def __init__(self, problem: Problem, separator: Separator, columns: np.ndarray) -> None:
        self.problem = problem
        self.separator = separator
        self.columns = np.sort(columns).astype(np.int64)
        self.bound = 0.0
        self.value = 0.0
        # What the reduced costs of the last solution prove.
        self.proved = -np.inf
        self.duals = np.zeros(0)
        self.x = np.zeros(problem.table.cells)
        self.reduced = problem.cost.copy()
        self._pass([])

    def _pass(self, numbers: list[int]) -> None:
        self.place = np.full(self.problem.table.cells, -1, dtype=np.int32)
        self.place[self.columns] = np.arange(self.columns.size)
        none = np.zeros(0)
        size = self.columns.size
        model = programme(
            self.problem.cost[self.columns],
            np.zeros(size),
            np.ones(size),
            (np.zeros(1, dtype=np.int32), none.astype(np.int32), none),
            none,
            none,
        )
        self.solver = quiet_highs(model, presolve="off")
        self.rows = Inequalities()
        self.add(self.separator.write(numbers, self.columns))

    def add(self, rows: Inequalities) -> None:
        """Append inequalities."""
        if not len(rows):
            return
        starts = np.concatenate([[0], np.cumsum([cells.size for cells in rows.cells])]).astype(np.int32)
        index = self.place[np.concatenate(rows.cells)]
        values = np.concatenate(rows.values)
        self.solver.addRows(
            len(rows),
            np.array(rows.rhs),
            np.full(len(rows), np.inf),
            values.size,
            starts[:-1],
            index,
            values,
        )
        self.rows.extend(rows)

    @property
    def numbers(self) -> list[int]:
        """The numbers of the inequalities it holds."""
        return self.rows.numbers

    @property
    def complete(self) -> bool:
        """Whether every cell that may be hidden is a column."""
        return self.columns.size == int(self.problem.candidates.sum())

    def solve(self) -> bool:
        """Solve what there is; ``x``, ``value`` and ``reduced`` are then up to date. False if that failed."""
        self.solver.run()
        if not is_optimal(self.solver):
            return False
        solution = self.solver.getSolution()
        self.value = float(self.solver.getInfo().objective_function_value)
        self.x[:] = 0.0
        self.x[self.columns] = np.clip(np.array(solution.col_value), 0.0, 1.0)
        self.duals = np.array(solution.row_dual)
        self.row_values = np.array(solution.row_value)
        self.reduced = self.problem.cost.copy()
        self.reduced[self.columns] = np.array(solution.col_dual)
        self.x[self.problem.sensitive] = 1.0
        self.proved = self.value if self.complete else -np.inf
        return True

    def purge(self) -> None:
        """Drop inequalities that are far from tight."""
        slack = self.row_values - np.array(self.rows.rhs)
        drop = np.flatnonzero((slack > 0.02) & (np.abs(self.duals) < 1e-9))
        if drop.size <= 0.15 * len(self.numbers):
            return
        self.solver.deleteRows(drop.size, drop.astype(np.int32))
        keep = np.ones(len(self.numbers), dtype=bool)
        keep[drop] = False
        self.rows = self.rows.at(np.flatnonzero(keep))

    def price(self) -> float:
        """Reduced costs of the cells outside; returns the valid bound, and takes in cells that pay."""
        outside = np.flatnonzero(self.problem.candidates & (self.place < 0))
        if outside.size == 0:
            self.bound = max(self.bound, self.value)
            return self.bound
        found = self.separator.price(np.array(self.numbers), self.duals, outside)
        self.reduced[outside] = found
        self.proved = self.value + float(np.minimum(found, 0.0).sum())
        self.bound = max(self.bound, self.proved)
        paying = outside[found < -1e-9 * max(1.0, self.value)]
        if paying.size:
            self._take_in(paying)
        return self.bound

    def _take_in(self, cells: np.ndarray) -> None:
        """Further columns behind the others; the solver keeps its basis."""
        self.place[cells] = self.columns.size + np.arange(cells.size)
        self.columns = np.concatenate([self.columns, cells])
        more = self.separator.write(self.numbers, cells)
        sizes = [own.size for own in more.cells]
        of_row = np.repeat(np.arange(len(more)), sizes).astype(np.int32)
        index = np.concatenate([np.empty(0, dtype=np.int32), *more.cells])
        values = np.concatenate([np.empty(0), *more.values])
        order = np.argsort(self.place[index], kind="stable")
        starts = np.searchsorted(self.place[index][order], self.place[cells]).astype(np.int32)
        none, ones = np.zeros(cells.size), np.ones(cells.size)
        cost = self.problem.cost[cells]
        self.solver.addCols(
            cells.size,
            cost,
            none,
            ones,
            index.size,
            starts,
            of_row[order],
            np.ascontiguousarray(values[order]),
        )
        for place in range(len(more)):
            self.rows.cells[place] = np.concatenate([self.rows.cells[place], more.cells[place]])
            self.rows.values[place] = np.concatenate([self.rows.values[place], more.values[place]])

    def narrow(self, most: int) -> None:
        """Keep the columns of the smallest reduced costs alone: what the others cost is seen when they are priced."""
        if self.columns.size > most:
            order = np.argsort(self.reduced[self.columns], kind="stable")
            self.columns = np.sort(self.columns[order[:most]])
            self._pass(self.numbers)

    def _price_last(self, due: bool) -> None:
        # What many rounds have gained counts only once all cells are priced.
        if due and not self.complete and self.numbers and self.solve():
            self.price()

    def tighten(
        self,
        run: Run,
        *,
        rounds: int = 300,
        patience: int = 4,
        gain: float = 5e-4,
        least: float = 0.0,
        sums: bool = False,
    ) -> bool:
        """Separate and solve until no inequality is violated or they gain too little; whether it ended by itself.

        A round gains too little if it is less than the share ``gain`` of the bound, or less than ``least``. With ``sums`` also
        inequalities from those it holds. One round is one unit of work.
        """
        before, poor = -1.0, 0
        for number in range(rounds):
            if not run.chunk(1):
                self._price_last(sums)
                return False
            solved = self.solve()
            if solved and number % 5 == 4:
                self.purge()
                solved = self.solve()
            run.spend(1)
            if not solved:
                return False
            if self.complete:
                self.bound = max(self.bound, self.value)
            elif sums and number % _PRICED == _PRICED - 1:
                size = self.columns.size
                self.price()
                if self.columns.size > size:
                    continue
            rows = self.separator.separate(self.x, self.columns)
            deepest = self.separator.fill(self.x, self.columns) if sums else Inequalities()
            rows.extend(deepest)
            if sums and len(deepest) < _ENOUGH:
                slack = self.row_values - np.array(self.rows.rhs)
                rows.extend(self.separator.combine(self.rows, slack, self.x, self.columns))
            # While requirements are far from met the bound may rise slowly for long and then at once.
            slow = self.value < before + max(gain * max(1e-9, abs(self.value)), least)
            poor = poor + 1 if slow and self.separator.worst >= _NEARLY_MET else 0
            before = max(before, self.value)
            if len(rows) == 0 or poor >= patience:
                size = self.columns.size
                self.price()
                if self.columns.size == size:
                    run.report(bound=self.bound, phase="cuts")
                    return True
                poor = 0
                continue
            self.add(rows)
            run.report(bound=self.bound if self.bound > 0.0 else None, phase="cuts")
        if self.solve():
            self.price()
        return True
