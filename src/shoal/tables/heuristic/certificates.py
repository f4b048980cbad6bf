"""A pattern under construction, with the evidence that it is safe: for each requirement, cells whose change meets it.

A requirement stays met as long as the cells of its certificate stay hidden; so a cell that is in no certificate can be
shown again at once, and for one that is, only the requirements that use it have to be met anew.
"""

import numpy as np

from shoal.tables.heuristic.neighbourhood import Change, Neighbourhoods
from shoal.tables.problem import DOWN, UP, WIDTH, Problem, Requirements

# How many cells a neighbourhood has at first; it grows by this factor until a change is found in it.
_NEAR = 2000
_GROWTH = 4
# A change shows requirements down to this share of the one it was made for.
_SAID = 1e-4


class Certified:
    """Hidden cells and one certificate per requirement (``None``: not met yet)."""

    def __init__(self, problem: Problem, wanted: Requirements, search: Neighbourhoods) -> None:
        self.problem = problem
        self.wanted = wanted
        self.search = search
        self.hidden = problem.is_sensitive.copy()
        self.moved: list[np.ndarray | None] = [None] * wanted.size
        self.users: dict[int, set[int]] = {}
        # Who knows a cell; what was changed since ``begin``, to take it back.
        self._knowers: dict[int, list[int]] = {}
        for number, known in enumerate(problem.insiders):
            for cell in known.tolist():
                self._knowers.setdefault(cell, []).append(number)
        self._log: list[tuple[int, np.ndarray | None]] | None = None
        self._was: dict[int, bool] = {}

    def require(self, wanted: Requirements) -> None:
        """Take a longer list of requirements, which begins with the present one."""
        self.moved += [None] * (wanted.size - self.wanted.size)
        self.wanted = wanted

    @property
    def complementary(self) -> np.ndarray:
        """The hidden cells that are not sensitive."""
        return np.flatnonzero(self.hidden & ~self.problem.is_sensitive)

    @property
    def cost(self) -> float:
        """What the complementary cells cost."""
        return self.problem.total_cost(self.complementary)

    def hide(self, cells: np.ndarray) -> None:
        """Hide further cells."""
        new = cells[~self.hidden[cells]]
        self._note(new)
        self.hidden[new] = True

    def show(self, cell: int) -> None:
        """Show a cell again."""
        self._note(np.array([cell]))
        self.hidden[cell] = False

    def _note(self, cells: np.ndarray) -> None:
        if self._log is not None:
            for cell in cells.tolist():
                self._was.setdefault(cell, bool(self.hidden[cell]))

    def begin(self) -> None:
        """Remember the present state, to come back to it."""
        self._log, self._was = [], {}

    def rollback(self) -> None:
        """Back to where ``begin`` was called."""
        log, self._log = self._log or [], None
        for place, cells in reversed(log):
            if cells is None:
                self.forget(place)
            else:
                self.certify(place, cells)
        for cell, hidden in self._was.items():
            self.hidden[cell] = hidden

    def commit(self) -> None:
        """Keep what was changed since ``begin``."""
        self._log = None

    @property
    def difference(self) -> float:
        """By how much the cost has grown since ``begin``."""
        cost = self.problem.cost
        return float(
            sum(
                (float(self.hidden[cell]) - float(was)) * cost[cell]
                for cell, was in sorted(self._was.items())
            )
        )

    def touched(self) -> np.ndarray:
        """Hidden cells of certificates that were changed since ``begin``."""
        found: set[int] = set()
        for place, old in self._log or []:
            for cells in (old, self.moved[place]):
                if cells is not None:
                    found.update(cells.tolist())
        cells = np.array(sorted(found), dtype=np.int64)
        return cells[self.problem.candidates[cells] & self.hidden[cells]]

    def changed(self) -> list[int]:
        """The requirements whose certificate was changed since ``begin``."""
        return sorted({place for place, _ in self._log or []})

    def certify(self, requirement: int, cells: np.ndarray) -> None:
        """Let these cells be the certificate of a requirement."""
        self.forget(requirement)
        if self._log is not None:
            self._log.append((requirement, None))
        self.moved[requirement] = cells
        for cell in cells[self.problem.candidates[cells]].tolist():
            self.users.setdefault(cell, set()).add(requirement)

    def forget(self, requirement: int) -> None:
        """Take the certificate of a requirement away."""
        old = self.moved[requirement]
        if old is not None:
            if self._log is not None:
                self._log.append((requirement, old))
            for cell in old[self.problem.candidates[old]].tolist():
                self.users[cell].discard(requirement)
        self.moved[requirement] = None

    def uses(self, cell: int) -> list[int]:
        """The requirements whose certificate has a cell, in order."""
        return sorted(self.users.get(int(cell), ()))

    def find(
        self,
        requirement: int,
        allowed: np.ndarray,
        free: np.ndarray,
        price: np.ndarray,
        most: int | None = None,
    ) -> Change | None:
        """The cheapest change of allowed cells that meets a requirement; of the ``most`` cells around, if given."""
        wanted = self.wanted
        cell, kind, need = (
            int(wanted.cell[requirement]),
            int(wanted.kind[requirement]),
            float(wanted.need[requirement]),
        )
        if wanted.scenario[requirement] >= 0:
            allowed = allowed.copy()
            allowed[self.problem.insiders[wanted.scenario[requirement]]] = False
        # A cell that can fall by little only is of little use however cheap it is.
        worth = np.where(free, 0.0, price) * np.maximum(
            1.0, need / np.maximum(self.problem.down, 1e-9 * need)
        )
        step = np.where(allowed, 2.0 + np.log1p(worth), np.inf)
        size = _NEAR if most is None else most
        while True:
            around, whole = self.search.near(cell, step, size)
            found = self._within(cell, kind, need, around, free, price)
            if found is not None or whole or most is not None:
                return found
            size *= _GROWTH

    def _within(
        self, cell: int, kind: int, need: float, around: np.ndarray, free: np.ndarray, price: np.ndarray
    ) -> Change | None:
        search = self.search
        if kind != WIDTH:
            return search.cheapest(cell, kind, need, around, free, price)
        ways = [search.cheapest(cell, direction, need, around, free, price) for direction in (UP, DOWN)]
        found = [way for way in ways if way is not None]
        if found:
            return min(found, key=lambda way: way.cost)
        # Neither direction suffices: as far up as it goes, and the rest down.
        top = search.furthest(cell, UP, around)
        up = (
            search.cheapest(cell, UP, min(need, top) * (1.0 - 1e-9), around, free, price) if top > 0 else None
        )
        left = need - (top if up is not None else 0.0)
        down = search.cheapest(cell, DOWN, left, around, free, price)
        if up is None or down is None:
            return down if up is None else None
        cells = np.union1d(up.cells, down.cells)
        # Amounts in two directions prove nothing for other cells.
        return Change(cells, np.zeros(cells.size), up.cost + down.cost)

    def protect(self, requirement: int, usable: np.ndarray, price: np.ndarray) -> bool:
        """Meet one requirement as cheaply as possible, and note what else the change shows."""
        if self.wanted.scenario[requirement] >= 0 and self.together(requirement):
            return True
        found = self.find(requirement, self.hidden | usable, self.hidden, price)
        if found is not None:
            self.hide(found.cells)
        return self._accept(requirement, found)

    def meet(self, requirement: int) -> bool:
        """Find a certificate for a requirement among the hidden cells."""
        return self._accept(
            requirement, self.find(requirement, self.hidden, self.problem.is_sensitive, self.problem.cost)
        )

    def together(self, requirement: int) -> bool:
        """Try to meet a requirement against all insiders it is still open for by one change of hidden cells."""
        wanted = self.wanted
        same = (wanted.cell == wanted.cell[requirement]) & (wanted.kind == wanted.kind[requirement])
        open_ = [other for other in np.flatnonzero(same).tolist() if self.moved[other] is None]
        allowed = self.hidden.copy()
        for other in open_:
            if wanted.scenario[other] >= 0:
                allowed[self.problem.insiders[wanted.scenario[other]]] = False
        found = self.find(requirement, allowed, self.problem.is_sensitive, self.problem.cost, _NEAR)
        return self._accept(requirement, found)

    def _accept(self, requirement: int, change: Change | None) -> bool:
        """Let a change certify a requirement and all others that it meets; false if there is none."""
        if change is None:
            return False
        self.certify(requirement, change.cells)
        wanted = self.wanted
        amounts = np.zeros(self.problem.table.cells)
        amounts[change.cells] = change.amounts
        amount = wanted.reached_by(amounts[wanted.cell])
        informed = self._informed(change.cells)
        # The change was computed in units of its own need: of much smaller ones it says nothing.
        shown = (amount >= wanted.need) & (wanted.need >= _SAID * wanted.need[requirement])
        for other in np.flatnonzero(shown).tolist():
            if self.moved[other] is None and wanted.scenario[other] not in informed:
                self.certify(other, change.cells)
        return True

    def _informed(self, cells: np.ndarray | None) -> set[int]:
        """The insiders who know one of these cells."""
        if not self._knowers or cells is None:
            return set()
        return {number for cell in cells.tolist() for number in self._knowers.get(cell, ())}

    def against_insiders(self, places: list[int] | None = None) -> Requirements:
        """What insiders could learn because they know cells that a certificate moves."""
        wanted = self.wanted
        pairs = (
            (place, number)
            for place in (range(wanted.size) if places is None else places)
            if self._knowers and wanted.scenario[place] < 0
            for number in self._informed(self.moved[place])
        )
        return self.problem.against_insiders(wanted, pairs)

    def drop_unused(self) -> None:
        """Show all cells again that no certificate needs."""
        for cell in self.complementary.tolist():
            if not self.users.get(cell):
                self.show(cell)

    def without(self, cell: int, price: np.ndarray, witness: dict[int, int], most: int) -> bool:
        """Show a cell again if every requirement that uses it can be met by the other hidden cells."""
        mine = self.uses(cell)
        last = witness.get(cell, -1)
        if last in mine:
            mine.remove(last)
            mine.insert(0, last)
        self.show(cell)
        fresh: list[tuple[int, np.ndarray]] = []
        for place in mine:
            found = self.find(place, self.hidden, self.problem.is_sensitive, price, most)
            if found is None:
                self.hide(np.array([cell]))
                witness[cell] = place
                return False
            fresh.append((place, found.cells))
        for place, cells in fresh:
            self.certify(place, cells)
        return True
