"""Patterns for any table: screen, one linear programme per failing cell, then reverse delete.

For a cell that is not protected yet, the cheapest change of cells that moves it far enough is a small linear
programme over its neighbourhood (Robertson 1993; Sande 1984): cells hidden already move for free, others at a price
per unit that makes a full use cost as much as hiding the cell.
"""

import numpy as np
from pydantic import Field

from shoal.search import Budget, Observer, Run, Seeds
from shoal.search.options import Options
from shoal.search.randomness import uniform
from shoal.tables.attacker import Attacker
from shoal.tables.audit import add_for_sums, failing, failing_insiders
from shoal.tables.pattern import Pattern
from shoal.tables.problem import DOWN, UP, WIDTH, Problem, Requirements

# How many cells the neighbourhood of a failing cell has at first, and how many redundancy tests are made at most.
_NEAR = 600
_TESTS = 6000


class GeneralOptions(Options):
    """Nothing to choose yet but how many redundancy tests are made at most."""

    tests: int = Field(
        default=_TESTS, ge=0, description="hidden cells that are tested for being redundant, at most"
    )


def solve(
    problem: Problem,
    options: GeneralOptions,
    *,
    budget: Budget,
    seeds: Seeds,
    threads: int = 1,
    observer: Observer,
    start: Pattern | None = None,
) -> Pattern:
    """Screen, repair, thin out; on a table that is a network the compiled repair does the same faster."""
    from shoal.tables.exact import first_pattern
    from shoal.tables.improvement import Workshop

    run = budget.start(observer)
    network = problem.table.network
    workshop = GeneralWorkshop(problem, options.tests) if network is None else Workshop(problem, network)
    pattern = first_pattern(workshop, problem, seeds)
    value = problem.total_cost(pattern)
    run.report(value)
    return Pattern(value=value, complementary=pattern, **run.closing())


class GeneralWorkshop:
    """Builds, thins out and repairs patterns of any table; same use as the workshop for networks."""

    def __init__(self, problem: Problem, tests: int = _TESTS) -> None:
        import highspy

        self.problem = problem
        self.tests = tests
        self.wanted = problem.requirements
        self.usable = problem.candidates.copy()
        self.price = problem.cost
        table = problem.table
        self._by_relation = table.matrix
        self._by_cell = table.matrix.tocsc()
        self._solver = highspy.Highs()
        for option, value in (("output_flag", False), ("threads", 1), ("random_seed", 0)):
            self._solver.setOptionValue(option, value)
        self._highs = highspy
        self._mark = np.zeros(table.cells, dtype=bool)

    def focus(self, usable: np.ndarray | None = None, price: np.ndarray | None = None) -> None:
        """Look only at these cells from now on, at these prices."""
        self.usable = self.problem.candidates if usable is None else usable & self.problem.candidates
        self.price = self.problem.cost if price is None else price

    def require(self, more: Requirements) -> None:
        """Take further requirements into account."""
        self.wanted = self.wanted.with_more(more)

    def build(
        self, rng: np.ndarray, start: np.ndarray | None = None, noise: float = 0.0
    ) -> np.ndarray | None:
        """A safe pattern, minimal unless it is very large; ``None`` if the usable cells do not suffice."""
        problem = self.problem
        hidden = problem.is_sensitive.copy()
        if start is not None:
            hidden[start] = True
        price = self.price * (1.0 + noise * (np.array([uniform(rng) for _ in range(hidden.size)]) - 0.5))
        while True:
            if not self._protect_all(hidden, price):
                return None
            broken = failing_insiders(problem, hidden)
            if broken.size == 0:
                break
            self.require(broken)
        pattern = self.thin(np.flatnonzero(hidden & ~problem.is_sensitive))
        return self._without_sums(pattern, price)

    def _protect_all(self, hidden: np.ndarray, price: np.ndarray) -> bool:
        for sweep in range(30):
            if sweep == 0:
                # At first most cells fail: what cannot be shown at once is left to the programmes that follow.
                short = Attacker(self.problem, np.flatnonzero(hidden)).unproven(self.wanted)
            else:
                short = failing(self.problem, hidden, self.wanted)
            if short.size == 0:
                return True
            shown = np.zeros(self.wanted.size, dtype=bool)
            for place in short:
                if shown[place]:
                    continue
                found = self._cheapest(int(place), hidden, hidden | self.usable, price)
                if found is None:
                    if self.wanted.kind[place] != WIDTH or hidden[self.usable].all():
                        return False
                    # A width that both directions must share is left to the clean-up.
                    hidden |= self.usable
                    break
                cells, change = found
                hidden[cells[self.problem.candidates[cells]]] = True
                self._share(int(place), cells, change, shown)
        return False

    def _share(self, place: int, cells: np.ndarray, change: np.ndarray, shown: np.ndarray) -> None:
        wanted = self.wanted
        if wanted.kind[place] == WIDTH:
            return
        moved = np.zeros(self.problem.table.cells)
        moved[cells] = change
        at = moved[wanted.cell]
        amount = np.where(wanted.kind == UP, at, np.where(wanted.kind == DOWN, -at, np.abs(at)))
        shown |= (amount >= wanted.need) & (wanted.scenario == wanted.scenario[place])

    def _cheapest(
        self, place: int, free: np.ndarray, allowed: np.ndarray, price: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray] | None:
        """The cells to move, and by how much, so that one requirement is met; ``None`` if it cannot be."""
        wanted = self.wanted
        kind = int(wanted.kind[place])
        allowed = allowed.copy()
        if wanted.scenario[place] >= 0:
            allowed[self.problem.insiders[wanted.scenario[place]]] = False
        best = None
        for direction in (UP, DOWN) if kind == WIDTH else (kind,):
            size = _NEAR
            while True:
                near, whole = self._neighbourhood(int(wanted.cell[place]), allowed, size)
                found = self._programme(
                    int(wanted.cell[place]), direction, float(wanted.need[place]), near, free, price
                )
                if found is not None or whole:
                    break
                size *= 8
            if found is not None and (best is None or found[2] < best[2]):
                best = found
        return None if best is None else (best[0], best[1])

    def _neighbourhood(self, cell: int, allowed: np.ndarray, size: int) -> tuple[np.ndarray, bool]:
        """The cells within reach by few relations, and whether these are all there are."""
        mark = self._mark
        found = [np.array([cell])]
        mark[cell] = True
        count, frontier = 1, found[0]
        whole = True
        while frontier.size:
            relations = np.unique(self._by_cell[:, frontier].indices)
            cells = np.unique(self._by_relation[relations].indices)
            frontier = cells[allowed[cells] & ~mark[cells]]
            if count > 60 and count + frontier.size > size:
                whole = frontier.size == 0
                break
            mark[frontier] = True
            found.append(frontier)
            count += frontier.size
        near = np.concatenate(found)
        mark[near] = False
        return np.sort(near), whole

    def _programme(
        self, cell: int, direction: int, need: float, near: np.ndarray, free: np.ndarray, price: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, float] | None:
        problem = self.problem
        own = problem.up[cell] if direction == UP else problem.down[cell]
        if own < need * (1.0 - 1e-9):
            return None
        highs = self._highs
        rows = self._by_cell[:, near].tocsr()
        rows = rows[np.flatnonzero(np.diff(rows.indptr))]
        up, down = np.minimum(problem.up[near], 1e15), np.minimum(problem.down[near], 1e15)
        rate_up = np.where(free[near], 0.0, price[near] / np.maximum(np.minimum(up, need), 1e-12)) + 1e-7
        rate_down = np.where(free[near], 0.0, price[near] / np.maximum(np.minimum(down, need), 1e-12)) + 1e-7
        at = int(np.searchsorted(near, cell))
        # In units of the need all numbers of the programme have about the same size.
        high, low = up / need, down / need
        high[at], low[at] = (1.0, -1.0) if direction == UP else (-1.0, 1.0)
        upper_rise, upper_fall = np.maximum(high, 0.0), np.maximum(low, 0.0)
        lower_rise, lower_fall = np.zeros(near.size), np.zeros(near.size)
        if direction == UP:
            lower_rise[at], upper_fall[at] = 1.0, 0.0
        else:
            lower_fall[at], upper_rise[at] = 1.0, 0.0
        from scipy.sparse import hstack

        matrix = hstack([rows, -rows], format="csc")
        model = highs.HighsLp()
        model.num_col_, model.num_row_ = 2 * near.size, rows.shape[0]
        model.col_cost_ = np.concatenate([rate_up, rate_down]) * need
        model.col_lower_ = np.concatenate([lower_rise, lower_fall])
        model.col_upper_ = np.concatenate([upper_rise, upper_fall])
        model.row_lower_ = model.row_upper_ = np.zeros(rows.shape[0])
        model.a_matrix_.start_ = matrix.indptr
        model.a_matrix_.index_ = matrix.indices
        model.a_matrix_.value_ = matrix.data
        self._solver.clearModel()
        self._solver.passModel(model)
        self._solver.run()
        if self._solver.modelStatusToString(self._solver.getModelStatus()) != "Optimal":
            return None
        value = np.array(self._solver.getSolution().col_value)
        change = (value[: near.size] - value[near.size :]) * need
        moved = np.abs(change) > 1e-7 * need
        cost = float(price[near[moved & ~free[near]]].sum())
        return near[moved], change[moved], cost

    def thin(self, complementary: np.ndarray) -> np.ndarray:
        """A safe pattern without its redundant cells, the most expensive tried first."""
        problem, wanted = self.problem, self.wanted
        if wanted.size > self.tests:
            return complementary
        hidden = problem.hidden_mask(complementary)
        certifier = _Certifier(problem, np.flatnonzero(hidden))
        uses: list[np.ndarray] = []
        users: dict[int, set[int]] = {}
        for place in range(wanted.size):
            cells = certifier.shows(wanted, place)
            if cells is None:
                # Only rounding can make this fail where the screen succeeded: then every cell counts as needed.
                cells = complementary
            uses.append(cells)
            for cell in cells:
                users.setdefault(int(cell), set()).add(place)
        tests = 0
        witness: dict[int, int] = {}
        for cell in complementary[np.argsort(-problem.cost[complementary], kind="stable")]:
            mine = sorted(
                users.get(int(cell), ()), key=lambda place: (place != witness.get(int(cell), -1), place)
            )
            certifier.ban(int(cell))
            fresh: dict[int, np.ndarray] = {}
            for place in mine:
                tests += 1
                found = certifier.shows(wanted, place) if tests <= self.tests else None
                if found is None:
                    certifier.allow(int(cell))
                    break
                fresh[place] = found
            else:
                hidden[cell] = False
                for place, cells in fresh.items():
                    for old in uses[place]:
                        users[int(old)].discard(place)
                    uses[place] = cells
                    for new in cells:
                        users.setdefault(int(new), set()).add(place)
        return np.flatnonzero(hidden & ~problem.is_sensitive)

    def _without_sums(self, pattern: np.ndarray, price: np.ndarray) -> np.ndarray | None:
        """Add cells until no relation gives away a sum that is sensitive itself."""
        return add_for_sums(self.problem, pattern, price)

    def improve(
        self, start: np.ndarray, steps: int, seeds: Seeds, run: Run, keep: object, **other: object
    ) -> np.ndarray:
        """General tables are improved by rounding only."""
        return start


class _Certifier:
    """The shortest change of hidden cells that meets a requirement, as one resident linear programme."""

    def __init__(self, problem: Problem, hidden: np.ndarray) -> None:
        import highspy
        from scipy.sparse import hstack

        self.problem = problem
        self.hidden = hidden
        self.column = np.full(problem.table.cells, -1, dtype=np.int64)
        self.column[hidden] = np.arange(hidden.size)
        rows = problem.table.matrix[:, hidden].tocsr()
        rows = rows[np.flatnonzero(np.diff(rows.indptr))]
        matrix = hstack([rows, -rows], format="csc")
        model = highspy.HighsLp()
        model.num_col_, model.num_row_ = 2 * hidden.size, rows.shape[0]
        model.col_cost_ = np.ones(2 * hidden.size)
        model.col_lower_ = np.zeros(2 * hidden.size)
        self.room = np.minimum(np.concatenate([problem.up[hidden], problem.down[hidden]]), 1e15)
        model.col_upper_ = self.room.copy()
        model.row_lower_ = model.row_upper_ = np.zeros(rows.shape[0])
        model.a_matrix_.start_ = matrix.indptr
        model.a_matrix_.index_ = matrix.indices
        model.a_matrix_.value_ = matrix.data
        self.solver = highspy.Highs()
        for option, value in (
            ("output_flag", False),
            ("threads", 1),
            ("random_seed", 0),
            ("presolve", "off"),
        ):
            self.solver.setOptionValue(option, value)
        self.solver.passModel(model)
        self.banned = np.zeros(hidden.size, dtype=bool)

    def _set(self, column: int, low: tuple[float, float], high: tuple[float, float]) -> None:
        for half in range(2):
            self.solver.changeColBounds(column + half * self.hidden.size, low[half], high[half])

    def _open(self, column: int) -> None:
        if self.banned[column]:
            self._set(column, (0.0, 0.0), (0.0, 0.0))
        else:
            self._set(column, (0.0, 0.0), (self.room[column], self.room[column + self.hidden.size]))

    def ban(self, cell: int) -> None:
        """Let a cell keep its value from now on."""
        column = int(self.column[cell])
        self.banned[column] = True
        self._open(column)

    def allow(self, cell: int) -> None:
        """Let a cell move again."""
        column = int(self.column[cell])
        self.banned[column] = False
        self._open(column)

    def shows(self, wanted: Requirements, place: int) -> np.ndarray | None:
        """The removable cells of a change that meets the requirement; ``None`` if there is none."""
        problem = self.problem
        cell, kind, need = int(wanted.cell[place]), int(wanted.kind[place]), float(wanted.need[place])
        column = int(self.column[cell])
        known = np.empty(0, dtype=np.int64)
        if wanted.scenario[place] >= 0:
            known = self.column[problem.insiders[wanted.scenario[place]]]
            known = known[known >= 0]
            for other in known:
                self._set(int(other), (0.0, 0.0), (0.0, 0.0))
        found = None
        for direction in (UP, DOWN) if kind == WIDTH else (kind,):
            if self.room[column + direction * self.hidden.size] < need:
                continue
            fixed = (need, 0.0) if direction == UP else (0.0, need)
            self._set(column, fixed, fixed)
            self.solver.run()
            status = self.solver.modelStatusToString(self.solver.getModelStatus())
            if status == "Optimal":
                value = np.array(self.solver.getSolution().col_value)
                moved = np.abs(value[: self.hidden.size] - value[self.hidden.size :]) > 1e-7 * need
                moved[column] = False
                cells = self.hidden[moved]
                found = cells[problem.candidates[cells]]
                break
        self._open(column)
        for other in known:
            self._open(int(other))
        return found
