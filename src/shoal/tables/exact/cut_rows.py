"""Inequalities of cuts: strengthened forms of a cut that a point violates, and their coefficients over any cells."""

from typing import Any, NamedTuple

import numpy as np

from shoal.runtime.kernels import kernel
from shoal.tables.exact.knapsacks import MOST_CELLS, Weights, lightest
from shoal.tables.exact.minimum_cuts import Cuts
from shoal.tables.exact.strengthening import best_two, coefficient
from shoal.tables.safety.flow_kernels import NOBODY, Arcs, Wanted, know


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
def reduced_costs(
    arcs: Arcs,
    cost: np.ndarray,
    cells: np.ndarray,
    duals: np.ndarray,
    own: np.ndarray,
    need: np.ndarray,
    divisor: np.ndarray,
    sets: np.ndarray,
    bridge: np.ndarray,
) -> Any:
    """Cost minus what the weighted rows ask of each cell; the cells are in no row yet."""
    reduced = np.empty(cells.shape[0])
    for i in range(cells.shape[0]):
        e = cells[i]
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
def coefficients(arcs: Arcs, cells: np.ndarray, record: Record, values: np.ndarray) -> Any:
    """Write the coefficients of one inequality, one for each cell."""
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
def deepest(
    arcs: Arcs,
    x: np.ndarray,
    cells: np.ndarray,
    sensitive: np.ndarray,
    cuts: Cuts,
    wanted: Wanted,
    least: float,
    marks: np.ndarray,
    values: np.ndarray,
    inside: np.ndarray,
    weights: np.ndarray,
) -> Any:
    """The deepest inequality of each cut over the few cells that carry most: how many, the need and a mark, in ``values``.

    Cuts whose mark is among the ``marks``, which are sorted, were of no use where the point was the same. Returns how many cuts
    have one that the point violates.
    """
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
        values[c, 0] = 0.0
        values[c, 2] = mark + missing
        if need <= 0.0 or count < 2 or missing <= least:
            continue
        place = np.searchsorted(marks, values[c, 2])
        if place < marks.shape[0] and marks[place] == values[c, 2]:
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
            values[c, 0] = count
            values[c, 1] = need
            for i in range(count):
                inside[c, i] = cells[chosen[i]]
                weights[c, i] = own[i]
            size += 1
    return size
