"""What an attacker can compute from a published table: exact intervals, and whether they are wide enough.

On networks each bound is a maximum flow (Gusfield 1988); on other tables it is a linear programme. Beyond the
sensitive cells the audit finds hidden cells that are disclosed exactly, what insiders learn, sums that one relation gives
away, and, for counts, cells whose interval holds no other whole numbers.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from shoal.report.glance import Glance
from shoal.runtime.budget import StopReason
from shoal.tables.model.distinct import distinct
from shoal.tables.model.network import Network
from shoal.tables.model.units import ordinary
from shoal.tables.problem import TOLERANCE, Problem, Requirements
from shoal.tables.safety.attacker import Attacker, View, allowed
from shoal.tables.safety.flow_kernels import UNLIMITED, Arcs, Wanted, intervals, reach
from shoal.tables.safety.groups import known_groups
from shoal.tables.safety.insiders import broken_by_insiders
from shoal.tables.safety.narrowest import Narrowest, in_words
from shoal.tables.safety.sums import failing_sums
from shoal.tables.safety.watching import TimeIsOver, Watch, unwatched

if TYPE_CHECKING:
    from shoal.tables.safety.judging import JointDisclosure


@dataclass(frozen=True, eq=False, repr=False)
class Audit(Glance):
    """Intervals of all hidden cells and the verdict for every sensitive one.

    ``cells`` are the hidden cells, ``low`` and ``high`` what the attacker can narrow them down to. ``unsafe`` are sensitive
    cells whose interval is too narrow, among them those the pattern does not hide at all (``published``);
    ``disclosed`` are other hidden cells that are given away exactly, ``insider`` (cell, insider) pairs, ``sums``
    relations that give away a sensitive sum, ``integer`` count cells that whole numbers give away, ``together`` what is given
    away with other tables that everybody can see, ``unasked`` cells that the pattern calls primary and nothing else sensitive.
    Where ``sensitive_unknown``, as of a published table, none of the hidden cells may be given away.

    Where the time was over before the end, ``not_judged`` are hidden cells whose interval was not computed (their ``low`` and
    ``high`` are NaN), ``not_looked_at`` says in words what else was not, and ``stopped_by`` why: then nothing is safe.
    """

    problem: Problem
    cells: np.ndarray
    low: np.ndarray
    high: np.ndarray
    unsafe: np.ndarray
    disclosed: np.ndarray
    insider: tuple[tuple[int, int], ...] = ()
    sums: tuple[int, ...] = ()
    integer: tuple[int, ...] = ()
    published: tuple[int, ...] = ()
    together: "tuple[JointDisclosure, ...]" = ()
    unasked: tuple[int, ...] = ()
    not_judged: tuple[int, ...] = ()
    not_looked_at: tuple[str, ...] = ()
    stopped_by: StopReason | None = None
    sensitive_unknown: bool = False

    def glance(self) -> dict[str, Any]:
        """The verdict in numbers of cells."""
        return {
            "safe": self.safe,
            "hidden": int(self.cells.size),
            "sensitive": int(self.problem.sensitive.size),
            "unsafe": int(self.unsafe.size),
            "published": len(self.published),
            "disclosed": int(self.disclosed.size),
            **({} if self.complete else {"not_judged": len(self.not_judged)}),
        }

    @property
    def complete(self) -> bool:
        """Whether there was time for everything."""
        return not (self.not_judged or self.not_looked_at)

    @property
    def safe(self) -> bool:
        """Whether every requirement holds; what cannot be judged, or was not for want of time, is not safe."""
        given_away = any(item.discloses is not False for item in self.together)
        failing = self.unsafe.size or self.insider or self.sums or self.integer or given_away
        # Of a published table any hidden cell may be a sensitive one.
        failing = failing or (self.sensitive_unknown and self.disclosed.size)
        return self.complete and not failing

    def without_time_for(self, what: str, reason: StopReason) -> "Audit":
        """The same where there was no time to look at something."""
        return replace(self, not_looked_at=(*self.not_looked_at, what), stopped_by=reason)

    @property
    def complementary(self) -> np.ndarray:
        """The hidden cells that are not sensitive."""
        return np.setdiff1d(self.cells, self.problem.sensitive)

    @cached_property
    def place(self) -> dict[int, int]:
        """Where a hidden cell stands in ``cells``."""
        return {int(cell): place for place, cell in enumerate(self.cells)}

    def bounds(self, cells: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """What the attacker can narrow these cells down to; a published one is known."""
        low, high = self.problem.table.values.copy(), self.problem.table.values.copy()
        low[self.cells], high[self.cells] = self.low, self.high
        return low[cells], high[cells]

    @property
    def smallest_margin(self) -> float | None:
        """The least that any interval exceeds what it needs by, in percent of the cell's value; ``None`` if one is not known."""
        problem = self.problem
        if problem.sensitive.size == 0 or np.isin(problem.sensitive, self.not_judged).any():
            return None
        low, high = self.bounds(problem.sensitive)
        values = problem.table.values[problem.sensitive]
        over = np.minimum(high - values - problem.upper, values - problem.lower - low)
        return float(100.0 * (over / np.maximum(np.abs(values), 1e-300)).min())

    @cached_property
    def narrowest(self) -> Narrowest | None:
        """The narrowest interval of all hidden sensitive cells, whatever they need."""
        return self._narrowest(np.ones(self.problem.sensitive.size, dtype=bool))

    @cached_property
    def narrowest_without_range(self) -> Narrowest | None:
        """The same of those whose levels ask only that they are not known exactly; ``None`` if there are none."""
        return self._narrowest(self.problem.without_range)

    @cached_property
    def narrowest_of_tiny_range(self) -> Narrowest | None:
        """The same of those whose levels are above 0 and ask for no more than a point is wide; ``None`` if there are none."""
        return self._narrowest(self.problem.tiny_range)

    def _narrowest(self, some: np.ndarray) -> Narrowest | None:
        cells = distinct(self.problem.sensitive[some]).astype(np.int64)
        cells = cells[~np.isin(cells, np.array(self.published, dtype=np.int64))]
        if np.isin(cells, np.array(self.not_judged, dtype=np.int64)).any():
            return None
        low, high = self.bounds(cells)
        failing = {*self.unsafe.tolist(), *(cell for cell, _ in self.insider), *self.integer}
        unsafe = len(failing.intersection(cells.tolist()))
        return Narrowest.of(self.problem.table.values[cells], high - low, unsafe)

    def reached(self) -> dict[str, Any]:
        """How narrow the intervals are in the end, as the command line prints it."""
        found = {
            "narrowest": self.narrowest,
            "without_range": self.narrowest_without_range,
            "tiny_range": self.narrowest_of_tiny_range,
        }
        return {name: None if item is None else item.to_dict() for name, item in found.items()}

    def reached_in_words(self) -> list[tuple[str, str]]:
        """How narrow the intervals are in the end and what was asked, as pairs of a name and a sentence."""
        return list(in_words(self.narrowest, self.narrowest_without_range, self.narrowest_of_tiny_range))


def audit(
    problem: Problem,
    complementary: np.ndarray,
    *,
    all_cells: bool = True,
    published: np.ndarray | None = None,
    watch: Watch = unwatched,
) -> Audit:
    """Compute the intervals; with ``all_cells`` false only those of the sensitive cells.

    ``published`` are sensitive cells that the pattern fails to hide; ``watch`` is told how many cells are done, of how many.
    """
    if published is not None and published.size:
        found = audit(without(problem, published), complementary, all_cells=all_cells, watch=watch)
        unsafe = np.union1d(found.unsafe, published).astype(np.int64)
        shown = tuple(int(cell) for cell in np.sort(published))
        return replace(found, problem=problem, unsafe=unsafe, published=shown)
    given, (problem, unit, _) = problem, ordinary(problem)
    mask = problem.hidden_mask(complementary)
    cells = np.flatnonzero(mask) if all_cells else np.sort(problem.sensitive)
    rise, fall = _in_order_of_need(problem, mask, cells, watch)
    judged = ~np.isnan(rise)
    verdict = _too_narrow(problem, cells, rise, fall)
    point = rise + fall <= 0.1 * problem.point(cells)
    found = Audit(
        given,
        cells,
        given.table.values[cells] - fall / unit,
        given.table.values[cells] + rise / unit,
        verdict,
        disclosed=cells[point & ~problem.is_sensitive[cells]],
        not_judged=tuple(cells[~judged].tolist()),
    )
    return _with_insiders_and_sums(found, problem, mask, watch)


#: What an audit looks at beside intervals, in words for those who miss it.
INSIDERS, SUMS = "what sole contributors can work out", "sums that one relation gives away"
GROUPS = "whole groups in one cell"
WHOLE_NUMBERS = "what follows since counts are whole numbers"


def _in_order_of_need(
    problem: Problem, hidden: np.ndarray, cells: np.ndarray, watch: Watch
) -> tuple[np.ndarray, np.ndarray]:
    """How far the cells can rise and fall; if there may be no time for all, the sensitive ones come first."""
    if not watch.limited:
        return rise_and_fall(problem, hidden, cells, watch)
    order = np.argsort(~problem.is_sensitive[cells], kind="stable")
    rise, fall = np.empty(cells.size), np.empty(cells.size)
    rise[order], fall[order] = rise_and_fall(problem, hidden, cells[order], watch)
    return rise, fall


def _with_insiders_and_sums(audit: Audit, problem: Problem, hidden: np.ndarray, watch: Watch) -> Audit:
    """The audit with what is given away besides, as far as there is time."""
    if audit.not_judged:
        audit = replace(audit, stopped_by=watch.reason)
    if problem.groups:
        try:
            known = known_groups(audit.problem, hidden, watch)
            audit = replace(audit, unsafe=distinct(np.concatenate([audit.unsafe, known]).astype(np.int64)))
        except TimeIsOver:
            audit = audit.without_time_for(GROUPS, watch.reason)
    if problem.insiders:
        try:
            watch.look()
            failing = failing_insiders(problem, hidden, watch=watch)
            pairs = sorted({(int(c), int(s)) for c, s in zip(failing.cell, failing.scenario, strict=True)})
            audit = replace(audit, insider=tuple(pairs))
        except TimeIsOver:
            audit = audit.without_time_for(INSIDERS, watch.reason)
    if problem.sums is not None:
        if watch.late():
            return audit.without_time_for(SUMS, watch.reason)
        audit = replace(audit, sums=tuple(failing_sums(problem, hidden)))
    return audit


def without(problem: Problem, cells: np.ndarray) -> Problem:
    """The problem as if these sensitive cells were published ones."""
    keep = ~np.isin(problem.sensitive, cells)
    return problem.with_changes(
        sensitive=problem.sensitive[keep],
        lower=problem.lower[keep],
        upper=problem.upper[keep],
        sliding=problem.sliding[keep],
    )


def rise_and_fall(
    problem: Problem, hidden: np.ndarray, cells: np.ndarray, watch: Watch = unwatched
) -> tuple[np.ndarray, np.ndarray]:
    """How far each of the cells can rise and fall while exactly the ``hidden`` ones are unknown.

    Where the time is over before the last one, NaN stands for the rest of them.
    """
    network = problem.table.network
    if network is None:
        return View(problem, hidden, watch).intervals(cells)
    limit, tiny = scales(problem)
    # Cells that are not sensitive may be smaller than any that is.
    tiny = min(tiny, 1e-15 * float(np.abs(problem.table.values).max()))
    arcs, unknown = arcs_of(problem, network), np.flatnonzero(hidden)
    rise, fall = np.full(cells.size, np.nan), np.full(cells.size, np.nan)
    first = 0
    try:
        while first < cells.size:
            watch(first, cells.size)
            part = slice(first, first + watch.chunk())
            some = cells[part].astype(np.int64)
            rise[part], fall[part] = furthest_flows(network, arcs, unknown, some, limit, tiny)
            first += some.size
            watch.spend(some.size)
        watch(cells.size, cells.size)
    except TimeIsOver:
        pass
    return rise, fall


def furthest_flows(
    network: Network, arcs: Arcs, hidden: np.ndarray, cells: np.ndarray, limit: float, tiny: float
) -> tuple[np.ndarray, np.ndarray]:
    """How far cells of a network can rise and fall; beyond ``limit`` they have no end, or one that bounds far out set."""
    found = intervals(network.nodes, arcs, hidden, cells, limit, tiny)
    rooms = np.concatenate([arcs.up[hidden], arcs.down[hidden]])
    # No flow that ends is larger than all rooms that end.
    most = 2.0 * float(rooms[rooms < UNLIMITED].sum())
    far = np.flatnonzero((found[0] >= limit) | (found[1] >= limit))
    if far.size and most > limit:
        # Digits that all figures share are enough for what is larger than all of them.
        further = intervals(network.nodes, arcs, hidden, cells[far], most, max(tiny, 1e-13 * most))
        for reached, more in zip(found, further, strict=True):
            reached[far] = np.where(reached[far] >= limit, np.maximum(more, limit), reached[far])
    end = max(limit, most)
    for reached in found:
        reached[reached >= end] = np.inf
    return found


def scales(problem: Problem) -> tuple[float, float]:
    """A flow beyond which only bounds far out can end a cell, more than any is asked for; and the size of a rounding error."""
    values = np.abs(problem.table.values)
    needs = problem.requirements.need
    least = float(needs.min(initial=np.inf))
    limit = max(4.0 * float(values.sum()), 2.0 * float(needs.max(initial=0.0)))
    return limit if limit > 0.0 else 1.0, min(1e-13 * float(values.max()), 1e-9 * least)


def arcs_of(problem: Problem, network: Network) -> Arcs:
    """The cells as arcs; those that can move without limit have a large number in place of infinity."""
    up, down = np.minimum(problem.up, UNLIMITED), np.minimum(problem.down, UNLIMITED)
    return Arcs(network.tail, network.head, up, down)


def as_wanted(problem: Problem, wanted: Requirements) -> Wanted:
    """Requirements as the kernels take them, with the cells of all insiders as one list with starts."""
    sizes = [known.size for known in problem.insiders]
    first = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
    cells = np.concatenate(problem.insiders) if problem.insiders else np.empty(0)
    # A column of a larger array would have the kernels compiled once more.
    cell, kind, need, scenario = map(np.ascontiguousarray, wanted)
    return Wanted(cell, kind, need, scenario, first, cells.astype(np.int64))


def _too_narrow(problem: Problem, cells: np.ndarray, rise: np.ndarray, fall: np.ndarray) -> np.ndarray:
    where = np.searchsorted(cells, problem.sensitive)
    up, down = rise[where], fall[where]
    share = 1.0 - TOLERANCE
    narrow = (
        (up < share * problem.upper)
        | (down < share * problem.lower)
        | (up + down < share * problem.required_width)
    )
    return problem.sensitive[narrow]


def failing(
    problem: Problem,
    hidden: np.ndarray,
    wanted: Requirements,
    network: Network | None = None,
    *,
    watch: Watch = unwatched,
) -> np.ndarray:
    """Which of the requirements a set of hidden cells fails."""
    if network is None and problem.table.network is None:
        return View(problem, hidden, watch).unmet(wanted)
    reached, _, _ = met(problem, hidden, wanted, network)
    return np.flatnonzero(reached < allowed(wanted))


def met(
    problem: Problem, hidden: np.ndarray, wanted: Requirements, network: Network | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """How far each requirement is met, and which cells show it (starts and cells)."""
    network = network or problem.table.network
    if network is None:
        return Attacker(problem, np.flatnonzero(hidden)).met(wanted)
    _, tiny = scales(problem)
    arcs = arcs_of(problem, network)
    return reach(network.nodes, arcs, np.flatnonzero(hidden), as_wanted(problem, wanted), tiny)


def failing_insiders(
    problem: Problem, hidden: np.ndarray, network: Network | None = None, *, watch: Watch = unwatched
) -> Requirements:
    """The requirements that some insider breaks; ``TimeIsOver`` if there is no time for all.

    Only those are looked at whose way of being met moves a cell the insider knows; all others hold for the insider too.
    """
    wanted = problem.requirements
    if not problem.insiders:
        return problem.against_insiders(wanted, ())
    if network is None and problem.table.network is None:
        return broken_by_insiders(problem, hidden, watch)
    starts, support = _ways(problem, hidden, wanted, network, watch)
    owner = np.repeat(np.arange(wanted.size), np.diff(starts))
    insiders_of: dict[int, list[int]] = {}
    for number, known in enumerate(problem.insiders):
        for cell in known[hidden[known]].tolist():
            insiders_of.setdefault(cell, []).append(number)
    pairs = (
        (requirement, number)
        for requirement, cell in zip(owner.tolist(), support.tolist(), strict=True)
        for number in insiders_of.get(cell, ())
    )
    doubtful = problem.against_insiders(wanted, pairs)
    bad = [
        part.start + failing(problem, hidden, doubtful.at(part), network)
        for part in _parts(doubtful.size, watch)
    ]
    return doubtful.at(np.concatenate(bad)) if bad else doubtful


def _ways(
    problem: Problem, hidden: np.ndarray, wanted: Requirements, network: Network | None, watch: Watch
) -> tuple[np.ndarray, np.ndarray]:
    """The cells of one way in which each requirement of a network is met: starts and cells."""
    found = [met(problem, hidden, wanted.at(part), network)[1:] for part in _parts(wanted.size, watch)]
    sizes = np.concatenate([np.zeros(1, dtype=np.int64), *(np.diff(starts) for starts, _ in found)])
    return np.cumsum(sizes), np.concatenate([np.empty(0, dtype=np.int64), *(cells for _, cells in found)])


def _parts(count: int, watch: Watch) -> Iterator[slice]:
    """So many things part by part, as long as there is time; all at once if that has no end."""
    first = 0
    while first < count:
        watch.look()
        part = slice(first, min(count, first + watch.chunk()) if watch.limited else count)
        yield part
        watch.spend(part.stop - first)
        first = part.stop


def hopeless(problem: Problem) -> np.ndarray:
    """The sensitive cells that stay unprotected even if everything that may be hidden is."""
    everything = problem.candidates | problem.is_sensitive
    short = failing(problem, everything, problem.requirements)
    cells = set(problem.requirements.cell[short].tolist())
    cells.update(failing_insiders(problem, everything).cell.tolist())
    return np.array(sorted(cells), dtype=np.int64)
