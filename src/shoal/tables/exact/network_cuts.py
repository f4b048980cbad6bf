"""Separation on networks: minimum cuts (Fischetti and Salazar 1999), strengthened, and inequalities against bridges."""

from collections.abc import Iterable
from itertools import pairwise
from typing import Any

import numpy as np

from shoal.tables.exact.combining import Combination, Rowwise, Sums, combination, sums
from shoal.tables.exact.cut_rows import (
    Knapsack,
    Record,
    coefficients,
    deepest,
    expand,
    reduced_costs,
    strengthen,
)
from shoal.tables.exact.inequalities import Inequalities, Remembered
from shoal.tables.exact.knapsacks import MOST_CELLS, Weights, lifted
from shoal.tables.exact.minimum_cuts import Cuts, bridge_cuts, minimum_cuts
from shoal.tables.exact.thread_parts import hands, worthwhile
from shoal.tables.model.network import Network
from shoal.tables.problem import Problem
from shoal.tables.safety.audit import arcs_of, as_wanted, scales
from shoal.tables.safety.flow_kernels import Wanted

# Cuts that are not violated themselves can have violated strengthened forms; flows are computed up to this much more.
_BEYOND = 1.3
# How many of the latest node sets are tried again at every point.
_POOL = 2000
# Rows with more to spare are in no sum; most sums that are kept of a point; how often a row is made of rows made of rows.
_TIGHT = 0.05
_SUMS = 400
_GENERATIONS = 8
# So many cuts that gave nothing are remembered.
_USELESS = 10_000
# Cells over which sums are written at once.
_BLOCK = 2048


class NetworkCuts(Remembered[Record | Combination | Knapsack]):
    """The separation routine of a network problem; it remembers every inequality it gave out."""

    def __init__(self, problem: Problem, network: Network, threads: int = 1) -> None:
        super().__init__(problem)
        self.network = network
        self.threads = threads
        _, self._tiny = scales(problem)
        self._arcs = arcs_of(problem, network)
        self._fixed = np.ascontiguousarray(problem.is_sensitive)
        self._pooled: set[bytes] = set()
        self._generations: dict[int, int] = {}
        no_sets = np.empty((0, network.nodes), dtype=np.uint8)
        self._pool = Cuts(np.empty(0, dtype=np.int64), np.empty(0), no_sets)
        # Those of the last point, and the pool.
        self._cuts = self._pool
        self._useless: set[float] = set()

    def separate(
        self, x: np.ndarray, columns: np.ndarray, *, least: float = 0.01, bridges: bool = True
    ) -> Inequalities:
        """Violated inequalities at the point ``x`` (one number per cell), over the given columns."""
        nodes, arcs, fixed = self.network.nodes, self._arcs, self._fixed
        support = np.flatnonzero((x > 1e-7) | fixed)
        wanted = as_wanted(self.problem, self.wanted)
        pooled = self._cuts = self._with_pool(self._minimum_cuts(x, support, wanted))
        fresh: list[Record] = []
        none = np.empty(0, dtype=np.int64)
        for cut, above, need, divisor, _ in self._strengthened(x, support, pooled, wanted, least):
            r, members = pooled.owner[int(cut)], pooled.sets[int(cut)]
            scenario = wanted.scenario[r]
            insider = none if scenario < 0 else self.problem.insiders[scenario].astype(np.int64)
            moved = none
            if above < 2.0:
                inside = support[(x[support] >= above) & ~fixed[support]]
                moved = inside[self._crossing(members, inside)].astype(np.int64)
            fresh.append(Record(int(wanted.cell[r]), members, float(need), float(divisor), moved, insider))
        # A cell can also be hidden only to keep a sum from being given away; then it need not be part of a circuit.
        if bridges and self.problem.sums is None:
            cells, bridge_sets = bridge_cuts(nodes, arcs, x, support, fixed, 1e-9, 0.02)
            fresh += [
                Record(int(e), members, 1.0, 0.0, none, none, bridge=True)
                for e, members in zip(cells, bridge_sets, strict=True)
                if not self._crossing(members, self.problem.sensitive).any()
            ]
        numbers = [
            self.number(record, record.members, record[:1] + record[2:4], record.moved, record.insider)
            for record in fresh
        ]
        return self.write(dict.fromkeys(numbers), columns)

    def fill(self, x: np.ndarray, columns: np.ndarray, *, least: float = 0.01) -> Inequalities:
        """The deepest inequalities of single cuts that the last point separated from violates, over the given columns."""
        wanted = as_wanted(self.problem, self.wanted)
        cells = np.flatnonzero((x > 1e-7) & ~self._fixed)
        cuts = self._cuts
        if cells.size == 0 or cuts.owner.size == 0:
            return Inequalities()
        most = cuts.owner.size
        found, inside = np.zeros((most, 3)), np.zeros((most, MOST_CELLS), dtype=np.int64)
        weights = np.zeros((most, MOST_CELLS))
        if len(self._useless) > _USELESS:
            self._useless.clear()
        marks = np.sort(np.array(list(self._useless), dtype=np.float64))
        deepest(
            self._arcs,
            x,
            cells,
            np.flatnonzero(self._fixed),
            cuts,
            wanted,
            least,
            marks,
            found,
            inside,
            weights,
        )
        self._useless.update(found[found[:, 0] == 0.0, 2].tolist())
        _, first = np.unique(found[:, 2], return_index=True)
        numbers: dict[int, None] = {}
        for cut in np.sort(first[found[first, 0] > 0.0]).tolist():
            size, owner = int(found[cut, 0]), cuts.owner[cut]
            scenario = int(wanted.scenario[owner])
            insider = np.empty(0, dtype=np.int64)
            if scenario >= 0:
                insider = self.problem.insiders[scenario].astype(np.int64)
            order = np.argsort(inside[cut, :size])
            few, own = inside[cut, :size][order], weights[cut, :size][order]
            record = Knapsack(
                int(wanted.cell[owner]),
                cuts.sets[cut].copy(),
                float(found[cut, 1]),
                insider,
                few,
                Weights.none(own),
            )
            made = lifted(self._carried(record, few), own)
            if made is None:
                continue
            record = record._replace(weights=made)
            if self._weights(record, cells) @ x[cells] < 1.0 - least:
                content = (record.own, record.members, record.need, insider, few, made.own)
                numbers[self.number(record, *content)] = None
        return self.write(numbers, columns)

    def _carried(self, record: Knapsack, cells: np.ndarray) -> np.ndarray:
        """What each cell lets through the cut of such an inequality, as a share of the need."""
        shares, none = np.empty(cells.size), np.empty(0, dtype=np.int64)
        plain = Record(record.own, record.members, record.need, 0.0, none, record.insider)
        coefficients(self._arcs, cells, plain, shares)
        return shares

    def _weights(self, record: Knapsack, cells: np.ndarray) -> np.ndarray:
        """The coefficients of such an inequality, one for each cell."""
        shares = self._carried(record, cells)
        values = np.zeros(cells.size)
        held = np.flatnonzero(shares > 0.0)
        values[held] = record.weights.of_others(shares[held])
        place = np.minimum(np.searchsorted(record.inside, cells), record.inside.size - 1)
        mine = np.flatnonzero(record.inside[place] == cells)
        values[mine] = record.weights.own[place[mine]]
        return values

    def combine(
        self,
        rows: Inequalities,
        slack: np.ndarray,
        x: np.ndarray,
        columns: np.ndarray,
        *,
        least: float = 0.003,
    ) -> Inequalities:
        """Violated inequalities that are rounded sums of known ones, over the given columns.

        ``slack`` is by how much the point ``x`` more than meets each of the known rows.
        """
        usable = [
            place
            for place, number in enumerate(rows.numbers)
            if slack[place] <= _TIGHT and self._generation(number) < _GENERATIONS
        ]
        support = np.flatnonzero((x > 1e-7) & ~self._fixed)
        if not usable or support.size == 0:
            return Inequalities()
        at = np.full(x.size, -1, dtype=np.int64)
        at[support] = np.arange(support.size)
        cells = [at[rows.cells[place]] for place in usable]
        inside = [places >= 0 for places in cells]
        tight = Rowwise(
            np.concatenate([[0], np.cumsum([here.sum() for here in inside])]).astype(np.int64),
            np.concatenate([places[here] for places, here in zip(cells, inside, strict=True)]),
            np.concatenate([rows.values[place][here] for place, here in zip(usable, inside, strict=True)]),
        )
        found = self._sums(tight, np.ascontiguousarray(slack[usable]), x[support], least)
        fresh: dict[int, None] = {}
        for place in np.argsort(-found.depth, kind="stable")[: 2 * _SUMS]:
            chain = found.rows[place]
            parts = np.sort(chain[chain >= 0])
            total = np.zeros(support.size)
            for row in parts:
                entries = slice(tight.starts[row], tight.starts[row + 1])
                total[tight.cells[entries]] += tight.values[entries]
            held = np.flatnonzero(total)
            numbers = tuple(rows.numbers[usable[row]] for row in parts)
            made = combination(numbers, support[held], total[held], x[support[held]], least)
            if made is not None:
                number = self.number(made, numbers, made.turned, made.divisor)
                self._generations[number] = 1 + max(self._generation(part) for part in numbers)
                fresh[number] = None
            if len(fresh) == _SUMS:
                break
        return self.write(fresh, columns)

    def _sums(self, tight: Rowwise, slack: np.ndarray, x: np.ndarray, least: float) -> Sums:
        """The sums that begin with each row in turn."""
        shares = self._shares(slack.size)
        found: list[Any] = [None] * len(shares)

        def work(part: int) -> None:
            first = np.arange(shares[part].start, shares[part].stop)
            found[part] = sums(tight, slack, x, first, least)

        with hands(len(shares) or 1) as at_once:
            at_once(work, len(shares))
        return Sums(*(np.concatenate(pair) for pair in zip(*found, strict=True)))

    def _generation(self, number: int) -> int:
        """How often an inequality is made of others; those against bridges and rows without a number are in no sum."""
        if number < 0:
            return _GENERATIONS
        record = self.records[number]
        if isinstance(record, Combination):
            return self._generations[number]
        return _GENERATIONS if isinstance(record, Record) and record.bridge else 0

    def _over(self, number: int, cells: np.ndarray, known: dict[int, np.ndarray]) -> np.ndarray:
        """The coefficients of an inequality, one for each cell; ``known`` has those computed before."""
        if number not in known:
            record = self.records[number]
            if isinstance(record, Combination):
                total = np.zeros(cells.size)
                for part in record.parts:
                    total += self._over(part, cells, known)
                known[number] = record.coefficients(total, np.isin(cells, record.turned))
            elif isinstance(record, Knapsack):
                known[number] = self._weights(record, cells)
            else:
                values = np.empty(cells.size)
                coefficients(self._arcs, cells, record, values)
                known[number] = values
        return known[number]

    def _is_sum(self, number: int) -> bool:
        return isinstance(self.records[number], Combination | Knapsack)

    def _written(self, numbers: list[int], columns: np.ndarray) -> dict[int, tuple[np.ndarray, np.ndarray]]:
        """Cells and coefficients of sums, by their numbers."""
        parts: dict[int, list[tuple[np.ndarray, np.ndarray]]] = {number: [] for number in numbers}
        for begin in range(0, columns.size if numbers else 0, _BLOCK):
            cells = columns[begin : begin + _BLOCK]
            known: dict[int, np.ndarray] = {}
            for number in parts:
                every = self._over(number, cells, known)
                held = np.flatnonzero(every > 1e-9)
                parts[number].append((cells[held].astype(np.int32), every[held]))
        return {
            number: (
                np.concatenate([np.empty(0, dtype=np.int32), *(cells for cells, _ in made)]),
                np.concatenate([np.empty(0), *(values for _, values in made)]),
            )
            for number, made in parts.items()
        }

    def refuse(self, x: np.ndarray, columns: np.ndarray, places: np.ndarray, least: float) -> Inequalities:
        """Inequalities that a pattern violates; flows are so quick that all requirements are looked at."""
        return self.separate(x, columns, least=least, bridges=False)

    def _shares(self, count: int) -> list[slice]:
        """Equal parts of a list, one for each thread."""
        threads = worthwhile(self.threads, count)
        edges = [count * part // threads for part in range(threads + 1)]
        return [slice(begin, end) for begin, end in pairwise(edges) if end > begin]

    def _minimum_cuts(self, x: np.ndarray, support: np.ndarray, wanted: Wanted) -> Cuts:
        """The cuts of every requirement in turn: no flow knows of another, so that threads change nothing."""
        shares = self._shares(wanted.cell.size)
        found: list[Any] = [None] * len(shares)

        def work(part: int) -> None:
            mine = wanted._replace(
                **{name: getattr(wanted, name)[shares[part]] for name in ("cell", "kind", "need", "scenario")}
            )
            found[part] = minimum_cuts(self.network.nodes, self._arcs, x, support, mine, _BEYOND, self._tiny)

        with hands(len(shares) or 1) as at_once:
            at_once(work, len(shares))
        self.worst = min([1.0, *(worst for _, worst in found)])
        cuts = Cuts(np.empty(0, dtype=np.int64), np.empty(0), self._pool.sets[:0])
        for share, (own, _) in zip(shares, found, strict=True):
            cuts = cuts.and_those_of(own._replace(owner=own.owner + share.start))
        return cuts

    def _strengthened(
        self, x: np.ndarray, support: np.ndarray, cuts: Cuts, wanted: Wanted, least: float
    ) -> np.ndarray:
        """The violated forms of each cut in turn."""
        shares = self._shares(cuts.owner.size)
        found: list[np.ndarray] = [np.empty((0, 5))] * len(shares)

        def work(part: int) -> None:
            rows = strengthen(self._arcs, x, support, self._fixed, cuts.at(shares[part]), wanted, least)
            rows[:, 0] += shares[part].start
            found[part] = rows

        with hands(len(shares) or 1) as at_once:
            at_once(work, len(shares))
        violated = np.concatenate([np.empty((0, 5)), *found])
        if self.few:
            owner = cuts.owner[violated[:, 0].astype(np.int64)]
            order = np.lexsort((-violated[:, 4], owner))
            first = np.diff(owner[order], prepend=-1) > 0
            violated = violated[np.sort(order[first])]
        return violated

    def _with_pool(self, cuts: Cuts) -> Cuts:
        """The cuts of this point and the latest of earlier points, each once."""
        marks = [b"%d|" % r + members.tobytes() for r, members in zip(cuts.owner, cuts.sets, strict=True)]
        new = np.array([mark not in self._pooled for mark in marks], dtype=bool)
        self._pooled.update(marks)
        self._pool = self._pool.and_those_of(cuts.at(new)).at(slice(-_POOL, None))
        return cuts.at(~new).and_those_of(self._pool)

    def _crossing(self, members: np.ndarray, cells: np.ndarray) -> np.ndarray:
        """Which of the cells have one end inside a node set and one outside."""
        crossing: np.ndarray = members[self._arcs.tail[cells]] != members[self._arcs.head[cells]]
        return crossing

    def write(self, numbers: Iterable[int], columns: np.ndarray) -> Inequalities:
        """The inequalities of these numbers over the given columns."""
        rows = Inequalities()
        numbers = list(numbers)
        sums = self._written([number for number in numbers if self._is_sum(number)], columns)
        for number in numbers:
            record = self.records[number]
            if isinstance(record, Combination | Knapsack):
                rows.add(number, *sums[number], 1.0)
            elif record.bridge:
                cells = columns[self._crossing(record.members, columns)].astype(np.int32)
                rows.add(number, cells, np.where(cells == record.own, -1.0, 1.0), 0.0)
            else:
                cells, values = expand(self._arcs, columns, record)
                rows.add(number, cells, values, 1.0)
        return rows

    def price(self, numbers: np.ndarray, duals: np.ndarray, cells: np.ndarray) -> np.ndarray:
        """Reduced costs of cells outside the columns, given the duals of the inequalities of these numbers.

        Cells that an insider knows are priced as if they were unknown, which can only make the bound weaker.
        """
        active = np.flatnonzero(np.abs(duals) > 1e-12)
        reduced = self.problem.cost[cells].copy()
        records: list[Record] = []
        plain: list[int] = []
        combined: list[int] = []
        for place in active.tolist():
            record = self.records[numbers[place]]
            if isinstance(record, Combination | Knapsack):
                combined.append(place)
            else:
                records.append(record)
                plain.append(place)
        if records:
            reduced = reduced_costs(
                self._arcs,
                np.ascontiguousarray(self.problem.cost),
                cells,
                np.maximum(duals[plain], 0.0),
                np.array([record.own for record in records]),
                np.array([record.need for record in records]),
                np.array([record.divisor for record in records]),
                np.stack([record.members for record in records]),
                np.array([record.bridge for record in records]),
            )
        for begin in range(0, cells.size if combined else 0, _BLOCK):
            known: dict[int, np.ndarray] = {}
            block = slice(begin, begin + _BLOCK)
            for place in combined:
                reduced[block] -= max(duals[place], 0.0) * self._over(
                    int(numbers[place]), cells[block], known
                )
        return reduced
