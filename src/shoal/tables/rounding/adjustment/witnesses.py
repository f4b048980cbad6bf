"""True tables from which an adjusted one may have come, found to show that no sensitive cell is known too well.

Part of the check: nothing here is shared with the search or with the audit it uses. A table counts only after it was looked at
cell by cell; how it was found does not matter. Whoever sees the adjusted table knows the relations, the bounds, which cells are
sensitive and that each was moved by its levels at least, how far others may have moved, and perhaps some cells.
"""

from collections.abc import Iterable
from copy import copy
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from shoal.tables.rounding.adjustment.problem import AdjustmentProblem

_ENOUGH = 1.0 - 1e-7
# A table may break relations and bounds by this share of the least that it is to show, which is by rounding errors only.
_OFF = 1e-6
# What moves further than so many times what is to be shown does not matter for it.
_FAR = 1e6
_NOBODY = np.empty(0, dtype=np.int64)


@dataclass(frozen=True)
class Need:
    """Something that must be possible: the cell differs from its true figure by one of ``spans``, each from low to high."""

    cell: int
    spans: tuple[tuple[float, float], ...]
    rising: bool


class Possible:
    """Differences from the true table that somebody holds possible who sees the adjusted one."""

    def __init__(self, problem: AdjustmentProblem, change: np.ndarray) -> None:
        self._problem, self._change = problem, change
        protect = problem.protect
        self._sensitive = protect.sensitive.tolist()
        self._levels = {
            cell: (float(lower), float(upper))
            for cell, lower, upper in zip(self._sensitive, protect.lower, protect.upper, strict=True)
        }
        self.low, self.high = self._bounds()
        sizes = np.abs(problem.table.values[problem.table.values != 0])
        # Tolerances of the solver are absolute; whole numbers are left as they are.
        self._unit = 1.0 if problem.whole or not sizes.size else float(np.median(sizes)) / 100.0
        self._own_low, self._own_high = self.low.copy(), self.high.copy()
        self._twins = self._moving_alike()
        for cell, (lower, upper) in self._levels.items():
            # The others of the sensitive cells stay on the side that they came from.
            if change[cell] > 0:
                self.high[cell] = min(self.high[cell], max(change[cell] - upper, 0.0))
            else:
                self.low[cell] = max(self.low[cell], -max(-change[cell] - lower, 0.0))
        self._widths = dict(zip(self._sensitive, protect.required_width.tolist(), strict=True))
        self._found: list[tuple[set[tuple[int, bool]], np.ndarray]] = []
        self._lines: list[np.ndarray] = []
        self._solver: Any = None

    def _bounds(self) -> tuple[np.ndarray, np.ndarray]:
        """How far below and above its true figure each cell may be by itself."""
        problem, protect = self._problem, self._problem.protect
        values, seen = problem.table.values, problem.table.values + self._change
        low, high = protect.low.astype(float), protect.high.astype(float)
        others = np.ones(values.size, dtype=bool)
        others[protect.sensitive] = False
        if problem.limit is not None:
            one, two = seen / (1.0 + problem.limit), seen / (1.0 - problem.limit)
            least, most = np.minimum(one, two), np.maximum(one, two)
            if problem.unit is not None:
                least = np.ceil(least / problem.unit - 1e-9) * problem.unit
                most = np.floor(most / problem.unit + 1e-9) * problem.unit
            low = np.where(others, np.fmax(low, least), low)
            high = np.where(others, np.fmin(high, most), high)
        known = ~problem.movable | (others & (seen == 0))
        low, high = np.where(known, values, low), np.where(known, values, high)
        below, above = np.minimum(low - values, 0.0), np.maximum(high - values, 0.0)
        if problem.whole:
            below, above = np.ceil(below - 1e-9), np.floor(above + 1e-9)
        return below, above

    def _moving_alike(self) -> dict[int, list[int]]:
        """The sensitive cells that change by the same as each of them: they are all that is left of a relation."""
        leader = list(range(self.low.size))

        def lead(cell: int) -> int:
            while leader[cell] != cell:
                leader[cell] = leader[leader[cell]]
                cell = leader[cell]
            return cell

        rows = self._problem.table.matrix.tocsr()
        moves = self._own_high > self._own_low
        for start, end in zip(rows.indptr[:-1], rows.indptr[1:], strict=True):
            inside = moves[rows.indices[start:end]]
            if inside.sum() == 2 and rows.data[start:end][inside].sum() == 0:
                one, two = rows.indices[start:end][inside].tolist()
                # What is taken to be known beside them may have moved all the same.
                if abs(self._change[one] - self._change[two]) <= _OFF * abs(self._change[one]):
                    leader[lead(one)] = lead(two)
        groups: dict[int, list[int]] = {}
        for cell in self._sensitive:
            groups.setdefault(lead(cell), []).append(cell)
        return {cell: groups[lead(cell)] for cell in self._sensitive}

    def _apart(self, cell: int) -> tuple[float, float]:
        """How far the cell and those that move alike are from what is published, from above and from below."""
        levels = [self._levels[one] for one in self._twins[cell]]
        return max(lower for lower, _ in levels), max(upper for _, upper in levels)

    def needs(self) -> list[Need]:
        """What must be possible of the sensitive cells: to be as low, and as high, as their levels ask."""
        found = []
        for cell in self._sensitive:
            lower, upper = self._levels[cell]
            over, under = self._apart(cell)
            moved = float(self._change[cell])
            bottom, top = float(self._own_low[cell]), float(self._own_high[cell])
            if lower > 0:
                spans = [(bottom, -lower)]
                if moved <= 0:
                    spans = [(moved + over, -lower), (bottom, moved - under)]
                found.append(Need(cell, _usable(spans), rising=False))
            if upper > 0:
                spans = [(upper, top)]
                if moved > 0:
                    spans = [(upper, moved - under), (moved + over, top)]
                found.append(Need(cell, _usable(spans), rising=True))
        self._look_along(found)
        return found

    def _look_along(self, needs: list[Need]) -> None:
        """Tables that add up since the change does: some of it taken back before it began, or made again on top of it.

        On top of it every sensitive cell is beyond the published figure, which is as far from it as its levels on that side ask.
        """
        self._lines = []
        back = over = 0.0
        for cell, (lower, upper) in self._levels.items():
            moved = float(self._change[cell])
            if moved == 0.0:
                return
            same, other = (lower, upper) if moved > 0 else (upper, lower)
            back, over = max(back, same / abs(moved)), max(over, same / abs(moved), other / abs(moved) - 1.0)
        least = min((_away(span) for need in needs for span in need.spans if _away(span) > 0), default=0.0)
        shares = {-1.0, 2.0} if self._problem.whole else {-1.0, 2.0, -back, 1.0 + over}
        for share in sorted(shares):
            found = share * self._change
            if share and self._holds(found, _NOBODY, least or self._unit):
                met = {
                    (need.cell, need.rising)
                    for need in needs
                    if any(low <= found[need.cell] <= high for low, high in need.spans)
                }
                self._found.append((met, np.flatnonzero(found)))
                self._lines.append(found)

    def narrow(self, cells: Iterable[int], known: np.ndarray = _NOBODY) -> list[int]:
        """Which of some sensitive cells have too narrow an interval, where a width is asked for beyond their levels."""
        found = []
        for cell in cells:
            width = self._widths[cell]
            if width > sum(self._levels[cell]) * (1.0 + 1e-9):
                least, most = self._close_up(width).span(cell, known)
                if most - least < width * (1.0 - _OFF):
                    found.append(cell)
        return found

    def closer(self, cell: int, rest: float, known: np.ndarray) -> bool:
        """Whether somebody who gives all but ``rest`` of a sensitive cell knows it closer than that rest and its levels allow."""
        lower, upper = self._levels[cell]
        wide, below = min(self._widths[cell], upper + rest), min(lower, rest)
        least, most = self._close_up(min(wide, below) or max(wide, below) or 1.0).span(cell, known)
        return -least < below * (1.0 - _OFF) or most - least < wide * (1.0 - _OFF)

    @cached_property
    def _other_way(self) -> "Possible":
        """The same, but the others of the sensitive cells are beyond what is published: they were moved the other way."""
        other = copy(self)
        other._solver = None
        other.low, other.high = self._own_low.copy(), self._own_high.copy()
        for cell, (lower, upper) in self._levels.items():
            moved = float(self._change[cell])
            if moved > 0:
                other.low[cell] = min(moved + lower, other.high[cell])
            else:
                other.high[cell] = max(moved - upper, other.low[cell])
        return other

    def _close_up(self, amount: float) -> "Possible":
        """The same where an amount is the unit, and nothing moves much further than that; whole numbers have their unit."""
        if self._problem.whole:
            return self
        near = copy(self)
        near.__dict__.pop("_other_way", None)
        near._unit, near._solver, far = amount, None, _FAR * amount
        near.low, near._own_low = np.maximum(self.low, -far), np.maximum(self._own_low, -far)
        near.high, near._own_high = np.minimum(self.high, far), np.minimum(self._own_high, far)
        return near

    def span(self, cell: int, known: np.ndarray) -> tuple[float, float]:
        """The least and the most a sensitive cell can differ by."""
        over, under = self._apart(cell)
        moved = float(self._change[cell])
        pieces = [(float(self.low[cell]), float(self.high[cell]))]
        if moved > 0:
            pieces.append((moved + over, float(self._own_high[cell])))
        else:
            pieces.append((float(self._own_low[cell]), moved - under))
        ends = [0.0, *(float(line[cell]) for line in self._lines if not line[known].any())]
        for tables in (self, self._other_way):
            for low, high in pieces:
                if low > high:
                    continue
                for sign in (1.0, -1.0):
                    end = tables._furthest(cell, low, high, sign, known)
                    if end is not None:
                        ends.append(end)
        return min(ends), max(ends)

    def failing(self, needs: list[Need], known: np.ndarray = _NOBODY) -> list[Need]:
        """The needs for which no table is found; many are tried at once, and halves of them where that fails."""
        leaders = {
            cell: place for place, cell in enumerate(dict.fromkeys(one[0] for one in self._twins.values()))
        }
        number = {cell: leaders[alike[0]] for cell, alike in self._twins.items()}
        needs = [need for need in needs if not self._met_without(need, known)]
        # Where one cell rises the next falls, so that totals need not move far; every cell is in a group once, and what moves
        # alike in the same one.
        mixed = [
            [need for need in needs if (number[need.cell] % 2 == turn) == need.rising] for turn in (0, 1)
        ]
        failed: list[Need] = []
        pending = [group for group in mixed if group]
        while pending:
            group = pending.pop()
            if self._shown(group, known):
                continue
            if len(group) == 1:
                failed.append(group[0])
            else:
                pending += [group[: len(group) // 2], group[len(group) // 2 :]]
        return failed

    def _met_without(self, need: Need, known: np.ndarray) -> bool:
        """Whether a table that was found already meets the need and leaves the known cells as they are."""
        return any(
            (need.cell, need.rising) in met and not np.isin(known, moved).any() for met, moved in self._found
        )

    def _shown(self, group: list[Need], known: np.ndarray) -> bool:
        """Whether one table meets all needs of a group; a single one is tried in all its spans."""
        if any(not need.spans for need in group):
            return False
        choices = (
            [[span] for span in group[0].spans] if len(group) == 1 else [[need.spans[0] for need in group]]
        )
        cells = [need.cell for need in group]
        for spans in choices:
            least = min(_away(span) for span in spans)
            found = self._witness(cells, spans, known, least)
            if found is None and len(group) == 1:
                found = self._other_way._witness(cells, spans, known, least)
            if found is None and len(group) == 1 and least > 0.0:
                near = self._close_up(least)
                found = near._witness(cells, spans, known, least)
                if found is None:
                    found = near._other_way._witness(cells, spans, known, least)
            if found is not None:
                met = {(need.cell, need.rising) for need in group}
                self._found.append((met, np.flatnonzero(np.abs(found) > 1e-9 * (least or self._unit))))
                return True
        return False

    def _witness(
        self, cells: list[int], spans: list[tuple[float, float]], known: np.ndarray, least: float
    ) -> np.ndarray | None:
        """Differences in which the cells lie in their spans, looked at one by one; ``None`` if there are none.

        They may be off by no more than a small share of ``least``.
        """
        solver, asked = self._programme(), list(zip(cells, spans, strict=True))
        ends: dict[int, tuple[float, float]] = {}
        for cell, (start, end) in asked:
            for one in self._twins[cell]:
                first, last = ends.get(one, (start, end))
                ends[one] = max(first, start), min(last, end)
        cells = list(ends)
        low, high = np.clip(np.array(list(ends.values())).T, self._own_low[cells], self._own_high[cells])
        if (low > high).any():
            return None
        if self._problem.whole:
            low, high = np.ceil(low - 1e-9), np.floor(high + 1e-9)
            if (low > high).any():
                return None
        self._set(np.array(cells), low, high)
        self._set(known, np.zeros(known.size), np.zeros(known.size))
        solver.run()
        ended = str(solver.modelStatusToString(solver.getModelStatus()))
        found = None
        if ended == "Optimal":
            values = np.array(solver.getSolution().col_value) * self._unit
            found = values[: self.low.size] - values[self.low.size :]
        own = np.array(cells)
        self._set(own, self.low[own], self.high[own])
        self._set(known, self.low[known], self.high[known])
        if found is None or not self._holds(found, known, least or self._unit):
            return None
        near = _OFF * (least or self._unit)
        shown = all(start - near <= found[cell] <= end + near for cell, (start, end) in asked)
        return found if shown else None

    def _furthest(self, cell: int, low: float, high: float, sign: float, known: np.ndarray) -> float | None:
        """The end of a piece that the cell can reach, by one programme."""
        solver, size = self._programme(), self.low.size
        own = np.array(self._twins[cell])
        self._set(own, np.full(own.size, low), np.full(own.size, high))
        self._set(known, np.zeros(known.size), np.zeros(known.size))
        every = np.arange(2 * size, dtype=np.int32)
        goal = np.zeros(2 * size)
        goal[cell], goal[size + cell] = sign, -sign
        solver.changeColsCost(2 * size, every, goal)
        solver.run()
        ended = str(solver.modelStatusToString(solver.getModelStatus()))
        values = np.array(solver.getSolution().col_value) * self._unit
        solver.changeColsCost(2 * size, every, np.ones(2 * size))
        self._set(own, self.low[own], self.high[own])
        self._set(known, self.low[known], self.high[known])
        # What a solver calls unbounded proves nothing, and far out there are bounds.
        if ended != "Optimal":
            return None
        found = values[:size] - values[size:]
        return float(found[cell]) if self._holds(found, known, self._unit) else None

    def _holds(self, differences: np.ndarray, known: np.ndarray, least: float) -> bool:
        """Whether these differences are possible: every relation, every bound, and no sensitive cell nearer than its levels."""
        table = self._problem.table
        # Not a share of the figures: what is nothing beside the largest of them may be all that a small cell has to move.
        near = _OFF * least
        if (np.abs(table.matrix @ differences) > near).any():
            return False
        inside = (differences >= self._own_low - near) & (differences <= self._own_high + near)
        if not inside.all() or (np.abs(differences[known]) > near).any():
            return False
        if self._problem.whole and (np.abs(differences - np.rint(differences)) > 1e-5).any():
            return False
        for cell, (lower, upper) in self._levels.items():
            away = float(self._change[cell]) - float(differences[cell])
            if not (away >= upper - near or -away >= lower - near):
                return False
        return True

    def _programme(self) -> Any:
        """Rises and falls of all cells with the least sum, as one resident programme."""
        if self._solver is not None:
            return self._solver
        import highspy
        from scipy.sparse import csr_matrix, hstack

        table, size = self._problem.table, self.low.size
        plain = csr_matrix(table.matrix)
        rows = hstack([plain, -plain], format="csr")
        model = highspy.HighsLp()
        model.num_col_, model.num_row_ = 2 * size, rows.shape[0]
        model.col_cost_ = np.ones(2 * size)
        # What has to rise does not fall, and the other way round.
        model.col_lower_ = np.maximum(np.concatenate([self.low, -self.high]), 0.0) / self._unit
        model.col_upper_ = np.maximum(np.concatenate([self.high, -self.low]), 0.0) / self._unit
        model.row_lower_ = model.row_upper_ = np.zeros(rows.shape[0])
        model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        model.a_matrix_.start_, model.a_matrix_.index_, model.a_matrix_.value_ = (
            rows.indptr,
            rows.indices,
            rows.data,
        )
        if self._problem.whole and table.network is None:
            model.integrality_ = [highspy.HighsVarType.kInteger] * (2 * size)
        solver = highspy.Highs()
        for option, value in {"output_flag": False, "threads": 1}.items():
            solver.setOptionValue(option, value)
        solver.passModel(model)
        self._solver = solver
        return solver

    def _set(self, cells: np.ndarray, low: np.ndarray, high: np.ndarray) -> None:
        """Let cells differ by so much; what has to rise does not fall, and the other way round."""
        if not cells.size:
            return
        size = self.low.size
        rises = np.stack([np.maximum(low, 0.0), np.maximum(high, 0.0)]) / self._unit
        falls = np.stack([np.maximum(-high, 0.0), np.maximum(-low, 0.0)]) / self._unit
        self._solver.changeColsBounds(cells.size, cells.astype(np.int32), rises[0], rises[1])
        self._solver.changeColsBounds(cells.size, (cells + size).astype(np.int32), falls[0], falls[1])


def _away(span: tuple[float, float]) -> float:
    """How far from the true figure a span begins."""
    low, high = span
    return max(low, -high, 0.0)


def _usable(spans: list[tuple[float, float]]) -> tuple[tuple[float, float], ...]:
    """The spans that are not turned round; needs are a little smaller than they are, by rounding errors."""
    found = []
    for low, high in spans:
        least, most = low * _ENOUGH if low > 0 else low, high * _ENOUGH if high < 0 else high
        if least <= most:
            found.append((least, most))
    return tuple(found)
