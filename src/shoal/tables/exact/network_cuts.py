"""Separation on networks: minimum cuts (Fischetti and Salazar 1999), strengthened, and inequalities against bridges."""

from collections.abc import Iterable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from shoal.search.kernels import kernel
from shoal.tables.exact.combining import Combination, Rowwise, Sums, combination, sums
from shoal.tables.exact.hands import hands, worthwhile
from shoal.tables.exact.inequalities import Remembered, Rows
from shoal.tables.exact.knapsacks import MOST_CELLS, Weights, lifted, lightest
from shoal.tables.exact.strengthening import best_two, coefficient
from shoal.tables.model.network import Network
from shoal.tables.problem import Problem
from shoal.tables.safety.audit import arcs_of, as_wanted, scales
from shoal.tables.safety.flow_kernels import (
    NOBODY,
    Arcs,
    Flow,
    Wanted,
    clear,
    ends,
    flow_through,
    know,
    max_flow,
)

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


class Cuts(NamedTuple):
    """Cuts: the requirement each belongs to, what it must carry, and its node set.

    A node is in the set (bit 1); of a width, bit 2 is for the cut of the second direction.
    """

    owner: np.ndarray
    must: np.ndarray
    sets: np.ndarray

    def at(self, places: Any) -> "Cuts":
        """Some of them."""
        return Cuts(*(array[places] for array in self))

    def and_those_of(self, more: "Cuts") -> "Cuts":
        """These and others behind them."""
        return Cuts(*(np.concatenate(pair) for pair in zip(self, more, strict=True)))


class Record(NamedTuple):
    """All that is needed to write an inequality again over other columns: the cut of cell ``own``, less the cells that were
    ``moved`` to the right-hand side and those that the ``insider`` knows.
    """

    own: int
    members: np.ndarray
    need: float
    divisor: float
    moved: np.ndarray
    insider: np.ndarray
    bridge: bool = False


class Knapsack(NamedTuple):
    """The deepest inequality of the cut of cell ``own``: weights of the cells ``inside``, and of others by their capacity."""

    own: int
    members: np.ndarray
    need: float
    insider: np.ndarray
    inside: np.ndarray
    weights: Weights


@kernel
def _mark_reaching(flow: Flow, sink: int, skip: int, scenario: int, mark: np.ndarray) -> Any:
    # Marks the nodes from which the sink can be reached in the residual network.
    tail, head, up, down = flow.arcs
    change, queue = flow.change, flow.work[2]
    mark[:] = 0
    mark[sink] = 1
    queue[0] = sink
    read, written = 0, 1
    while read < written:
        v = queue[read]
        read += 1
        for at in range(flow.first[v], flow.first[v] + flow.degree[v]):
            e = flow.listed[at]
            if e == skip or flow.known[e] == scenario:
                continue
            w = tail[e] + head[e] - v
            room = up[e] - change[e] if tail[e] == w else down[e] + change[e]
            if room > flow.tiny and mark[w] == 0:
                mark[w] = 1
                queue[written] = w
                written += 1


# Machine code of kernels that return no arrays is kept; these write into arrays that they are given.
@kernel
def _minimum_cuts(
    nodes: int,
    arcs: Arcs,
    x: np.ndarray,
    support: np.ndarray,
    wanted: Wanted,
    beyond: float,
    tiny: float,
    found: Cuts,
) -> Any:
    at_x = Arcs(arcs.tail, arcs.head, np.zeros(x.shape[0]), np.zeros(x.shape[0]))
    flow = flow_through(nodes, at_x, support, tiny)
    mark = np.zeros(nodes, dtype=np.int64)
    count = wanted.cell.shape[0]
    owner, must, sets = found.owner, found.must, found.sets
    size = 0
    worst = 1.0
    for r in range(count):
        k, kind, need, scenario = wanted.cell[r], wanted.kind[r], wanted.need[r], wanted.scenario[r]
        know(flow.known, wanted, scenario, scenario)
        for e in support:
            at_x.up[e] = min(arcs.up[e], need) * x[e]
            at_x.down[e] = min(arcs.down[e], need) * x[e]
        sets[size : size + 2] = 0
        left = need
        total = 0.0
        for direction in range(2):
            if kind != 2 and kind != direction:
                continue
            source, sink, own = ends(arcs, k, direction)
            bit = np.uint8(1 if kind != 2 or direction == 0 else 2)
            sent = max_flow(flow, source, sink, min(own, beyond * need), k, scenario)
            total += sent
            if sent >= own - tiny:
                left -= own
            else:
                reachable = flow.work[0]
                for v in range(nodes):
                    if reachable[v] > 0:
                        sets[size, v] |= bit
                _mark_reaching(flow, sink, k, scenario, mark)
                for v in range(nodes):
                    if mark[v] == 0 and size + 1 < 2 * count:
                        sets[size + 1, v] |= bit
            clear(flow)
        know(flow.known, wanted, scenario, NOBODY)
        if need > 0.0:
            worst = min(worst, total / need)
        if total < beyond * need - tiny and left > 0.0:
            several = 1
            for v in range(nodes):
                if sets[size, v] != sets[size + 1, v]:
                    several = 2
            owner[size : size + several] = r
            must[size : size + several] = left
            size += several
    return size, worst


def minimum_cuts(
    nodes: int, arcs: Arcs, x: np.ndarray, support: np.ndarray, wanted: Wanted, beyond: float, tiny: float
) -> tuple[Cuts, float]:
    """Two minimum cuts for each requirement whose flow at the point ``x`` is below ``beyond`` times its need.

    An arc lets through what its cell counts for in the inequality: no more than is needed. Returns the cuts, and the least
    share of a need that flows.
    """
    most = 2 * wanted.cell.size
    found = Cuts(np.empty(most, dtype=np.int64), np.empty(most), np.zeros((most, nodes), dtype=np.uint8))
    size, worst = _minimum_cuts(nodes, arcs, x, support, wanted, beyond, tiny, found)
    return found.at(slice(0, size)), worst


@kernel
def capacity(arcs: Arcs, members: np.ndarray, e: int) -> Any:
    """What arc e contributes to the cut (or two cuts) whose node set is ``members``."""
    t, h = members[arcs.tail[e]], members[arcs.head[e]]
    total = 0.0
    if t != h:
        for bit in (np.uint8(1), np.uint8(2)):
            if (t & bit) != 0 and (h & bit) == 0:
                total += arcs.up[e]
            elif (h & bit) != 0 and (t & bit) == 0:
                total += arcs.down[e]
    return total


@kernel
def _strengthen(
    arcs: Arcs,
    x: np.ndarray,
    support: np.ndarray,
    fixed: np.ndarray,
    cuts: Cuts,
    wanted: Wanted,
    least: float,
    violated: np.ndarray,
) -> Any:
    known = np.full(x.shape[0], NOBODY, dtype=np.int64)
    caps = np.empty(support.shape[0])
    shares = np.empty(support.shape[0])
    size = 0
    for c in range(cuts.owner.shape[0]):
        r = cuts.owner[c]
        scenario = wanted.scenario[r]
        know(known, wanted, scenario, scenario)
        left = cuts.must[c]
        length = 0
        for e in support:
            if e == wanted.cell[r] or known[e] == scenario:
                continue
            cap = capacity(arcs, cuts.sets[c], e)
            if cap > 0.0:
                if fixed[e]:
                    left -= cap
                else:
                    caps[length] = cap
                    shares[length] = x[e]
                    length += 1
        if left > 1e-9 * cuts.must[c]:
            pair = best_two(caps, shares, length, left, least)
            for i in range(2):
                if pair[i, 0] > least:
                    violated[size, 0] = c
                    for part in range(1, 4):
                        violated[size, part] = pair[i, part]
                    violated[size, 4] = pair[i, 0]
                    size += 1
        know(known, wanted, scenario, NOBODY)
    return size


def strengthen(
    arcs: Arcs,
    x: np.ndarray,
    support: np.ndarray,
    fixed: np.ndarray,
    cuts: Cuts,
    wanted: Wanted,
    least: float,
) -> np.ndarray:
    """The violated inequalities among the strengthened forms of each cut: rows (cut, threshold, need, divisor, violation)."""
    violated = np.empty((2 * cuts.owner.size, 5))
    return violated[: _strengthen(arcs, x, support, fixed, cuts, wanted, least, violated)]


@kernel
def _expand(arcs: Arcs, columns: np.ndarray, record: Record, cells: np.ndarray, values: np.ndarray) -> Any:
    size = 0
    for e in columns:
        if e == record.own:
            continue
        cap = capacity(arcs, record.members, e)
        if cap <= 0.0 or e in record.moved or e in record.insider:
            continue
        cells[size] = e
        values[size] = coefficient(cap, record.need, record.divisor)
        size += 1
    return size


def expand(arcs: Arcs, columns: np.ndarray, record: Record) -> tuple[np.ndarray, np.ndarray]:
    """Cells and coefficients of one inequality over the given columns."""
    cells, values = np.empty(columns.size, dtype=np.int32), np.empty(columns.size)
    size = _expand(arcs, columns, record, cells, values)
    return cells[:size].copy(), values[:size].copy()


@kernel
def _bridge_cuts(
    nodes: int,
    arcs: Arcs,
    x: np.ndarray,
    support: np.ndarray,
    fixed: np.ndarray,
    tiny: float,
    least: float,
    owner: np.ndarray,
    sets: np.ndarray,
) -> Any:
    used = np.empty(x.shape[0])
    for e in range(x.shape[0]):
        used[e] = 1.0 if fixed[e] else x[e]
    flow = flow_through(nodes, Arcs(arcs.tail, arcs.head, used, used), support, tiny)
    size = 0
    for e in support:
        if fixed[e] or x[e] < 0.05 or arcs.tail[e] == arcs.head[e]:
            continue
        if max_flow(flow, arcs.tail[e], arcs.head[e], x[e], e, -1) < x[e] - least:
            owner[size] = e
            for v in range(nodes):
                sets[size, v] = flow.work[0, v] > 0
            size += 1
        clear(flow)
    return size


def bridge_cuts(
    nodes: int, arcs: Arcs, x: np.ndarray, support: np.ndarray, fixed: np.ndarray, tiny: float, least: float
) -> tuple[np.ndarray, np.ndarray]:
    """For cells that the point uses more than any cycle through them allows: the cell and the node set."""
    owner, sets = np.empty(support.size, dtype=np.int64), np.zeros((support.size, nodes), dtype=np.uint8)
    size = _bridge_cuts(nodes, arcs, x, support, fixed, tiny, least, owner, sets)
    return owner[:size].copy(), sets[:size].copy()


@kernel
def reduced_costs(
    arcs: Arcs,
    cost: np.ndarray,
    asked: np.ndarray,
    duals: np.ndarray,
    own: np.ndarray,
    need: np.ndarray,
    divisor: np.ndarray,
    sets: np.ndarray,
    bridge: np.ndarray,
) -> Any:
    """Cost minus what the weighted rows ask of each cell; the cells are in no row yet."""
    reduced = np.empty(asked.shape[0])
    for i in range(asked.shape[0]):
        e = asked[i]
        total = cost[e]
        for r in range(duals.shape[0]):
            members = sets[r]
            if members[arcs.tail[e]] == members[arcs.head[e]] or own[r] == e:
                continue
            if bridge[r]:
                total -= duals[r]
            else:
                cap = capacity(arcs, members, e)
                if cap > 0.0:
                    total -= duals[r] * coefficient(cap, need[r], divisor[r])
        reduced[i] = total
    return reduced


@kernel
def _coefficients(arcs: Arcs, cells: np.ndarray, record: Record, values: np.ndarray) -> Any:
    for i in range(cells.shape[0]):
        e = cells[i]
        cap = capacity(arcs, record.members, e)
        values[i] = 0.0
        if e != record.own and cap > 0.0 and e not in record.moved and e not in record.insider:
            values[i] = coefficient(cap, record.need, record.divisor)


@kernel
def _shared_out(
    arcs: Arcs,
    cells: np.ndarray,
    sensitive: np.ndarray,
    members: np.ndarray,
    must: float,
    own: int,
    known: np.ndarray,
    scenario: int,
    shares: np.ndarray,
) -> Any:
    # What each cell lets through a cut, as a share of what sensitive cells leave of the need, which is returned.
    need = must
    for e in sensitive:
        if e != own and known[e] != scenario:
            need -= capacity(arcs, members, e)
    for i in range(cells.shape[0]):
        shares[i] = 0.0
        if need > 1e-6 * must and cells[i] != own and known[cells[i]] != scenario:
            shares[i] = min(1.0, capacity(arcs, members, cells[i]) / need)
    return need if need > 1e-6 * must else 0.0


@kernel
def _in_order(items: np.ndarray, count: int, keys: np.ndarray) -> Any:
    # Sorts the first items by their keys; equal ones stay as they are.
    for i in range(1, count):
        item = items[i]
        place = i
        while place > 0 and keys[items[place - 1]] > keys[item]:
            items[place] = items[place - 1]
            place -= 1
        items[place] = item


@kernel
def _deepest(
    arcs: Arcs,
    x: np.ndarray,
    cells: np.ndarray,
    sensitive: np.ndarray,
    cuts: Cuts,
    wanted: Wanted,
    least: float,
    marks: np.ndarray,
    found: np.ndarray,
    inside: np.ndarray,
    weights: np.ndarray,
) -> Any:
    # Cuts whose mark is among those given, which are sorted, were of no use where the point was the same.
    known = np.full(x.shape[0], NOBODY, dtype=np.int64)
    shares = np.empty(cells.shape[0])
    keys = np.empty(cells.shape[0])
    few = np.empty(cells.shape[0], dtype=np.int64)
    size = 0
    for c in range(cuts.owner.shape[0]):
        r = cuts.owner[c]
        scenario = wanted.scenario[r]
        know(known, wanted, scenario, scenario)
        need = _shared_out(
            arcs, cells, sensitive, cuts.sets[c], cuts.must[c], wanted.cell[r], known, scenario, shares
        )
        know(known, wanted, scenario, NOBODY)
        missing = 1.0
        count = 0
        mark = 0.0
        for i in range(cells.shape[0]):
            if shares[i] == 1.0:
                missing -= x[cells[i]]
            elif shares[i] > 0.0:
                few[count] = i
                count += 1
                mark += (shares[i] + 3.7 * x[cells[i]]) * np.sqrt(2.0 + cells[i])
        found[c, 0] = 0.0
        found[c, 2] = mark + missing
        if need <= 0.0 or count < 2 or missing <= least:
            continue
        place = np.searchsorted(marks, found[c, 2])
        if place < marks.shape[0] and marks[place] == found[c, 2]:
            continue
        if count > MOST_CELLS:
            # Those that carry most at the point.
            for i in range(count):
                keys[few[i]] = -x[cells[few[i]]] * shares[few[i]]
            _in_order(few, count, keys)
            count = MOST_CELLS
        _in_order(few, count, shares)
        chosen = few[:count].copy()
        own = np.zeros(count)
        if lightest(shares[chosen], x[cells[chosen]], missing - least, own) < missing - least:
            found[c, 0] = count
            found[c, 1] = need
            inside[c, :count] = cells[chosen]
            weights[c, :count] = own
            size += 1
    return size


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
    ) -> Rows:
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

    def fill(self, x: np.ndarray, columns: np.ndarray, *, least: float = 0.01) -> Rows:
        """The deepest inequalities of single cuts that the last point separated from violates, over the given columns."""
        wanted = as_wanted(self.problem, self.wanted)
        cells = np.flatnonzero((x > 1e-7) & ~self._fixed)
        cuts = self._cuts
        if cells.size == 0 or cuts.owner.size == 0:
            return Rows()
        most = cuts.owner.size
        found, inside = np.zeros((most, 3)), np.zeros((most, MOST_CELLS), dtype=np.int64)
        weights = np.zeros((most, MOST_CELLS))
        if len(self._useless) > _USELESS:
            self._useless.clear()
        marks = np.sort(np.array(list(self._useless), dtype=np.float64))
        _deepest(
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
        _coefficients(self._arcs, cells, plain, shares)
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
        self, rows: Rows, slack: np.ndarray, x: np.ndarray, columns: np.ndarray, *, least: float = 0.003
    ) -> Rows:
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
            return Rows()
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
                _coefficients(self._arcs, cells, record, values)
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

    def refuse(self, x: np.ndarray, columns: np.ndarray, places: np.ndarray, least: float) -> Rows:
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

    def write(self, numbers: Iterable[int], columns: np.ndarray) -> Rows:
        """The inequalities of these numbers over the given columns."""
        rows = Rows()
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
