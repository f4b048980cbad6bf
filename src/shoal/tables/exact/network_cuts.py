"""Separation on networks: minimum cuts (Fischetti and Salazar 1999), strengthened, and inequalities against bridges."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from shoal.search.kernels import kernel
from shoal.tables.exact.inequalities import Rows
from shoal.tables.exact.strengthening import best_two, coefficient
from shoal.tables.model.network import Network
from shoal.tables.problem import Problem, Requirements
from shoal.tables.safety.audit import bounded, groups, scales
from shoal.tables.safety.flow_kernels import max_flow, subgraph

# Cuts that are not violated themselves can have violated strengthened forms; flows are computed up to this much more.
_BEYOND = 1.3
# How many of the latest node sets are tried again at every point.
_POOL = 2000


@kernel
def _reached_from(
    first: np.ndarray,
    degree: np.ndarray,
    arcs: np.ndarray,
    tail: np.ndarray,
    head: np.ndarray,
    up: np.ndarray,
    down: np.ndarray,
    change: np.ndarray,
    start: int,
    skip: int,
    known: np.ndarray,
    scenario: int,
    tiny: float,
    queue: np.ndarray,
    mark: np.ndarray,
) -> Any:
    # Marks the nodes from which ``start`` can be reached in the residual network.
    mark[:] = 0
    mark[start] = 1
    queue[0] = start
    read, written = 0, 1
    while read < written:
        v = queue[read]
        read += 1
        for position in range(first[v], first[v] + degree[v]):
            e = arcs[position]
            if e == skip or known[e] == scenario:
                continue
            if head[e] == v:
                w = tail[e]
                room = up[e] - change[e]
            else:
                w = head[e]
                room = down[e] + change[e]
            if room > tiny and mark[w] == 0:
                mark[w] = 1
                queue[written] = w
                written += 1


@kernel
def minimum_cuts(
    nodes: int,
    tail: np.ndarray,
    head: np.ndarray,
    up: np.ndarray,
    down: np.ndarray,
    x: np.ndarray,
    support: np.ndarray,
    cell: np.ndarray,
    kind: np.ndarray,
    need: np.ndarray,
    scenario: np.ndarray,
    group_first: np.ndarray,
    group_cells: np.ndarray,
    beyond: float,
    tiny: float,
) -> Any:
    """Two minimum cuts for each requirement whose flow at the point ``x`` is below ``beyond`` times its need.

    Returns for each cut its requirement, what the cut must carry, and its node sets (bit 1, and bit 2 for the second
    direction of a width).
    """
    up_x = np.zeros(tail.shape[0])
    down_x = np.zeros(tail.shape[0])
    for e in support:
        up_x[e] = up[e] * x[e]
        down_x[e] = down[e] * x[e]
    first, degree, arcs = subgraph(nodes, tail, head, support)
    change = np.zeros(tail.shape[0])
    known = np.full(tail.shape[0], -2, dtype=np.int64)
    work = np.zeros((4, nodes + 1), dtype=np.int64)
    mark = np.zeros(nodes, dtype=np.int64)
    count = cell.shape[0]
    owner = np.empty(2 * count, dtype=np.int64)
    must = np.empty(2 * count)
    sets = np.zeros((2 * count, nodes), dtype=np.uint8)
    size = 0
    worst = 1.0
    for r in range(count):
        k = cell[r]
        s = scenario[r]
        if s >= 0:
            for p in range(group_first[s], group_first[s + 1]):
                known[group_cells[p]] = s
        sets[size : min(size + 2, 2 * count)] = 0
        left = need[r]
        total = 0.0
        for direction in range(2):
            if kind[r] != 2 and kind[r] != direction:
                continue
            source, sink = (head[k], tail[k]) if direction == 0 else (tail[k], head[k])
            own = up[k] if direction == 0 else down[k]
            cap = min(own, beyond * need[r])
            bit = np.uint8(1 if kind[r] != 2 or direction == 0 else 2)
            sent = 0.0
            if cap > 0.0:
                sent = max_flow(
                    first,
                    degree,
                    arcs,
                    tail,
                    head,
                    up_x,
                    down_x,
                    change,
                    source,
                    sink,
                    cap,
                    k,
                    known,
                    s,
                    tiny,
                    work,
                )
            total += sent
            if sent >= own - tiny:
                left -= own
            else:
                for v in range(nodes):
                    if work[0, v] > 0:
                        sets[size, v] |= bit
                _reached_from(
                    first,
                    degree,
                    arcs,
                    tail,
                    head,
                    up_x,
                    down_x,
                    change,
                    sink,
                    k,
                    known,
                    s,
                    tiny,
                    work[2],
                    mark,
                )
                for v in range(nodes):
                    if mark[v] == 0 and size + 1 < 2 * count:
                        sets[size + 1, v] |= bit
            for e in support:
                change[e] = 0.0
        if s >= 0:
            for p in range(group_first[s], group_first[s + 1]):
                known[group_cells[p]] = -2
        if need[r] > 0.0:
            worst = min(worst, total / need[r])
        if total < beyond * need[r] - tiny and left > 0.0:
            owner[size] = r
            must[size] = left
            same = True
            for v in range(nodes):
                if sets[size, v] != sets[size + 1, v]:
                    same = False
                    break
            size += 1
            if not same:
                owner[size] = r
                must[size] = left
                size += 1
    return owner[:size].copy(), must[:size].copy(), sets[:size].copy(), worst


@kernel
def capacity(
    members: np.ndarray, e: int, tail: np.ndarray, head: np.ndarray, up: np.ndarray, down: np.ndarray
) -> Any:
    """What arc e contributes to the cut (or two cuts) whose node set is ``members``."""
    t, h = members[tail[e]], members[head[e]]
    total = 0.0
    if t != h:
        for bit in (np.uint8(1), np.uint8(2)):
            if (t & bit) != 0 and (h & bit) == 0:
                total += up[e]
            elif (h & bit) != 0 and (t & bit) == 0:
                total += down[e]
    return total


@kernel
def strengthen(
    tail: np.ndarray,
    head: np.ndarray,
    up: np.ndarray,
    down: np.ndarray,
    x: np.ndarray,
    support: np.ndarray,
    fixed: np.ndarray,
    owner: np.ndarray,
    must: np.ndarray,
    sets: np.ndarray,
    cell: np.ndarray,
    scenario: np.ndarray,
    group_first: np.ndarray,
    group_cells: np.ndarray,
    least: float,
) -> Any:
    """The violated inequalities among the strengthened forms of each cut: rows (cut, threshold, need, divisor)."""
    known = np.full(tail.shape[0], -2, dtype=np.int64)
    caps = np.empty(support.shape[0])
    shares = np.empty(support.shape[0])
    found = np.empty((2 * owner.shape[0], 4))
    size = 0
    for c in range(owner.shape[0]):
        r = owner[c]
        s = scenario[r]
        if s >= 0:
            for p in range(group_first[s], group_first[s + 1]):
                known[group_cells[p]] = s
        left = must[c]
        length = 0
        for e in support:
            if e == cell[r] or known[e] == s:
                continue
            cap = capacity(sets[c], e, tail, head, up, down)
            if cap > 0.0:
                if fixed[e]:
                    left -= cap
                else:
                    caps[length] = cap
                    shares[length] = x[e]
                    length += 1
        if left > 1e-9 * must[c]:
            pair = best_two(caps, shares, length, left, least)
            for i in range(2):
                if pair[i, 0] > least:
                    found[size, 0] = c
                    found[size, 1] = pair[i, 1]
                    found[size, 2] = pair[i, 2]
                    found[size, 3] = pair[i, 3]
                    size += 1
        if s >= 0:
            for p in range(group_first[s], group_first[s + 1]):
                known[group_cells[p]] = -2
    return found[:size].copy()


@kernel
def expand(
    tail: np.ndarray,
    head: np.ndarray,
    up: np.ndarray,
    down: np.ndarray,
    columns: np.ndarray,
    own: int,
    members: np.ndarray,
    moved: np.ndarray,
    insider: np.ndarray,
    need: float,
    divisor: float,
) -> Any:
    """Cells and coefficients of one inequality over the given columns."""
    cells = np.empty(columns.shape[0], dtype=np.int32)
    values = np.empty(columns.shape[0])
    size = 0
    for e in columns:
        if e == own or members[tail[e]] == members[head[e]]:
            continue
        cap = capacity(members, e, tail, head, up, down)
        if cap <= 0.0:
            continue
        skip = False
        for other in moved:
            if other == e:
                skip = True
        for other in insider:
            if other == e:
                skip = True
        if not skip:
            cells[size] = e
            values[size] = coefficient(cap, need, divisor)
            size += 1
    return cells[:size].copy(), values[:size].copy()


@kernel
def bridge_cuts(
    nodes: int,
    tail: np.ndarray,
    head: np.ndarray,
    x: np.ndarray,
    support: np.ndarray,
    fixed: np.ndarray,
    tiny: float,
    least: float,
) -> Any:
    """For cells that the point uses more than any cycle through them allows: the cell and the node set."""
    room = np.zeros(tail.shape[0])
    for e in support:
        room[e] = 1.0 if fixed[e] else x[e]
    first, degree, arcs = subgraph(nodes, tail, head, support)
    change = np.zeros(tail.shape[0])
    known = np.full(tail.shape[0], -2, dtype=np.int64)
    work = np.zeros((4, nodes + 1), dtype=np.int64)
    owner = np.empty(support.shape[0], dtype=np.int64)
    sets = np.zeros((support.shape[0], nodes), dtype=np.uint8)
    size = 0
    for e in support:
        if fixed[e] or x[e] < 0.05 or tail[e] == head[e]:
            continue
        sent = max_flow(
            first,
            degree,
            arcs,
            tail,
            head,
            room,
            room,
            change,
            tail[e],
            head[e],
            x[e],
            e,
            known,
            -1,
            tiny,
            work,
        )
        if sent < x[e] - least:
            owner[size] = e
            for v in range(nodes):
                sets[size, v] = 1 if work[0, v] > 0 else 0
            size += 1
        for f in support:
            change[f] = 0.0
    return owner[:size].copy(), sets[:size].copy()


@kernel
def reduced_costs(
    tail: np.ndarray,
    head: np.ndarray,
    up: np.ndarray,
    down: np.ndarray,
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
    found = np.empty(asked.shape[0])
    for i in range(asked.shape[0]):
        e = asked[i]
        total = cost[e]
        for r in range(duals.shape[0]):
            members = sets[r]
            if members[tail[e]] == members[head[e]] or own[r] == e:
                continue
            if bridge[r]:
                total -= duals[r]
            else:
                cap = capacity(members, e, tail, head, up, down)
                if cap > 0.0:
                    total -= duals[r] * coefficient(cap, need[r], divisor[r])
        found[i] = total
    return found


@dataclass(frozen=True)
class _Record:
    """All that is needed to write an inequality again over other columns."""

    own: int
    members: np.ndarray
    need: float
    divisor: float
    moved: np.ndarray
    insider: np.ndarray
    bridge: bool = False


class NetworkCuts:
    """The separation routine of a network problem; it remembers every inequality it gave out."""

    def __init__(self, problem: Problem, network: Network) -> None:
        self.problem = problem
        self.network = network
        self.wanted = problem.requirements
        self._groups = groups(problem)
        _, self._tiny = scales(problem)
        self._up, self._down = bounded(problem.up), bounded(problem.down)
        self._fixed = np.ascontiguousarray(problem.is_sensitive)
        self._known: dict[bytes, int] = {}
        self.records: list[_Record] = []
        self.worst = 0.0
        self.solved = 0
        self._pooled: set[bytes] = set()
        self._pool_owner = np.empty(0, dtype=np.int64)
        self._pool_must = np.empty(0)
        self._pool_sets = np.empty((0, network.nodes), dtype=np.uint8)

    def require(self, more: Requirements) -> None:
        """Take further requirements into account."""
        self.wanted = self.wanted.with_more(more)

    def separate(
        self, x: np.ndarray, columns: np.ndarray, *, least: float = 0.01, bridges: bool = True
    ) -> Rows:
        """Violated inequalities at the point ``x`` (one number per cell), over the given columns."""
        network, wanted = self.network, self.wanted
        support = np.flatnonzero((x > 1e-7) | self._fixed)
        tail, head = network.tail, network.head
        scenario = wanted.scenario
        owner, must, sets, self.worst = minimum_cuts(
            network.nodes,
            tail,
            head,
            self._up,
            self._down,
            x,
            support,
            wanted.cell,
            wanted.kind,
            wanted.need,
            scenario,
            *self._groups,
            _BEYOND,
            self._tiny,
        )
        owner, must, sets = self._with_pool(owner, must, sets)
        chosen = strengthen(
            tail,
            head,
            self._up,
            self._down,
            x,
            support,
            self._fixed,
            owner,
            must,
            sets,
            wanted.cell,
            scenario,
            *self._groups,
            least,
        )
        fresh: list[_Record] = []
        for cut, above, need, divisor in chosen:
            r = owner[int(cut)]
            members = sets[int(cut)]
            insider = self._insider(int(scenario[r]))
            moved = np.empty(0, dtype=np.int64)
            if above < 2.0:
                inside = support[(x[support] >= above) & ~self._fixed[support]]
                moved = inside[members[tail[inside]] != members[head[inside]]].astype(np.int64)
            fresh.append(_Record(int(wanted.cell[r]), members, float(need), float(divisor), moved, insider))
        # A cell can also be hidden only to keep a sum from being given away; then it need not be part of a circuit.
        if bridges and self.problem.sums is None:
            cells, bridge_sets = bridge_cuts(network.nodes, tail, head, x, support, self._fixed, 1e-9, 0.02)
            none = np.empty(0, dtype=np.int64)
            fresh += [
                _Record(int(e), members, 1.0, 0.0, none, none, bridge=True)
                for e, members in zip(cells, bridge_sets, strict=True)
                if not self._crosses_fixed(members, int(e))
            ]
        numbers = []
        for record in fresh:
            mark = b"|".join(
                (
                    record.members.tobytes(),
                    repr((record.own, record.need, record.divisor)).encode(),
                    record.moved.tobytes(),
                    record.insider.tobytes(),
                )
            )
            number = self._known.setdefault(mark, len(self.records))
            if number == len(self.records):
                self.records.append(record)
            numbers.append(number)
        return self.write(dict.fromkeys(numbers), columns)

    def _with_pool(
        self, owner: np.ndarray, must: np.ndarray, sets: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The cuts of this point and the latest of earlier points, each once."""
        marks = [b"%d|" % r + members.tobytes() for r, members in zip(owner, sets, strict=True)]
        new = [place for place, mark in enumerate(marks) if mark not in self._pooled]
        self._pooled.update(marks)
        self._pool_owner = np.concatenate([self._pool_owner, owner[new]])[-_POOL:]
        self._pool_must = np.concatenate([self._pool_must, must[new]])[-_POOL:]
        self._pool_sets = np.concatenate([self._pool_sets, sets[new]])[-_POOL:]
        old = [place for place, mark in enumerate(marks) if place not in set(new)]
        return (
            np.concatenate([owner[old], self._pool_owner]),
            np.concatenate([must[old], self._pool_must]),
            np.concatenate([sets[old], self._pool_sets]),
        )

    def _insider(self, scenario: int) -> np.ndarray:
        if scenario < 0:
            return np.empty(0, dtype=np.int64)
        return self.problem.insiders[scenario].astype(np.int64)

    def _crosses_fixed(self, members: np.ndarray, e: int) -> bool:
        cells = self.problem.sensitive
        return bool((members[self.network.tail[cells]] != members[self.network.head[cells]]).any())

    def write(self, numbers: Iterable[int], columns: np.ndarray) -> Rows:
        """The inequalities of these numbers over the given columns."""
        rows = Rows.empty()
        network = self.network
        for number in numbers:
            record = self.records[number]
            if record.bridge:
                crossing = columns[
                    record.members[network.tail[columns]] != record.members[network.head[columns]]
                ]
                cells = crossing.astype(np.int32)
                values = np.where(cells == record.own, -1.0, 1.0)
                rows.add(number, cells, values, 0.0)
                continue
            cells, values = expand(
                network.tail,
                network.head,
                self._up,
                self._down,
                columns,
                record.own,
                record.members,
                record.moved,
                record.insider,
                record.need,
                record.divisor,
            )
            rows.add(number, cells, values, 1.0)
        return rows

    def price(self, numbers: np.ndarray, duals: np.ndarray, cells: np.ndarray) -> np.ndarray:
        """Reduced costs of cells outside the columns, given the duals of the inequalities of these numbers.

        Cells that an insider knows are priced as if they were unknown, which can only make the bound weaker.
        """
        network = self.network
        active = np.flatnonzero(np.abs(duals) > 1e-12)
        records = [self.records[number] for number in numbers[active]]
        if not records:
            return self.problem.cost[cells].copy()
        return reduced_costs(
            network.tail,
            network.head,
            self._up,
            self._down,
            np.ascontiguousarray(self.problem.cost),
            cells,
            np.maximum(duals[active], 0.0),
            np.array([record.own for record in records]),
            np.array([record.need for record in records]),
            np.array([record.divisor for record in records]),
            np.stack([record.members for record in records]),
            np.array([record.bridge for record in records]),
        )
