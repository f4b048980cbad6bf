"""Patterns on networks from the compiled kernels: build, thin out, improve; with or without guidance by a relaxation."""

from collections.abc import Callable

import numpy as np

from shoal.runtime import Run, Seeds
from shoal.tables.heuristic.guided import Guided
from shoal.tables.heuristic.network_state import Graph, Noise, State, hide_all, new_scratch, new_state
from shoal.tables.heuristic.protection_kernels import build, protect_all, shuffled
from shoal.tables.heuristic.redundancy_kernels import drop_redundant
from shoal.tables.heuristic.repair_kernels import Cooling, improve
from shoal.tables.heuristic.requirement_kernels import holds
from shoal.tables.model.network import Network
from shoal.tables.problem import TOLERANCE, Problem
from shoal.tables.safety.audit import arcs_of, as_wanted, failing_insiders, scales
from shoal.tables.safety.sums import add_for_sums

# So many requirements are met, or cells looked at, between two looks at the clock; fewer are dealt with in one go.
_PIECE = 256


class NetworkHeuristic(Guided):
    """The kernels with all they need for one problem; when the time of ``run`` is over, patterns stay as they are."""

    def __init__(self, problem: Problem, network: Network, *, run: Run | None = None) -> None:
        self.network = network
        self._run = run
        _, self._tiny = scales(problem)
        self._arcs = arcs_of(problem, network)
        super().__init__(problem)

    def _renew(self) -> None:
        problem, network = self.problem, self.network
        keep = (self.usable | problem.is_sensitive) & (network.tail != network.head)
        entries = keep[network.arcs]
        node = np.repeat(np.arange(network.nodes), np.diff(network.starts))
        counts = np.bincount(node[entries], minlength=network.nodes)
        first = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        self.graph = Graph(
            self._arcs,
            as_wanted(problem, self.wanted),
            0.5 * TOLERANCE * self.wanted.need,
            np.ascontiguousarray(problem.cost),
            # A copy, also of costs that may not be written to: machine code is made for each kind of array by itself.
            np.array(self.price, dtype=np.float64),
            np.ascontiguousarray(problem.is_sensitive),
            first,
            np.ascontiguousarray(network.arcs[entries]),
            self._tiny,
        )
        self.scratch = new_scratch(self.graph, network.nodes)

    def state(self, complementary: np.ndarray | None = None) -> State:
        """A state in which these cells are hidden besides the sensitive ones."""
        if complementary is not None and not self.usable[complementary].all():
            # The kernels' lists have room for the cells looked at only.
            self.usable = self.usable.copy()
            self.usable[complementary] = True
            self._renew()
        state = new_state(self.graph, self.network.nodes)
        if complementary is not None:
            hide_all(self.graph, state, complementary)
        return state

    def build(
        self, rng: np.ndarray, start: np.ndarray | None = None, noise: float = 0.0
    ) -> np.ndarray | None:
        """A safe pattern, from nothing or from the cells of ``start``; ``None`` if there is none.

        It is minimal unless time runs out.
        """
        state = self.state(start)
        if not self._protected(state, rng, noise):
            return None
        return self._without_insiders(state, rng)

    def _protected(self, state: State, rng: np.ndarray, noise: float) -> bool:
        """Meet all requirements and clean up; false if one cannot be met. In pieces where that may take long."""
        if self.wanted.size <= _PIECE:
            return bool(build(self.graph, state, self.scratch, rng, noise) >= 0)
        return self.protect_in_pieces(state, rng, noise)

    def protect_in_pieces(self, state: State, rng: np.ndarray, noise: float) -> bool:
        """The same with looks at the clock on the way."""
        graph, scratch = self.graph, self.scratch
        order, salt = shuffled(graph, rng)
        # Compiled code counts a small whole number from Python among the signed ones.
        disturbed = Noise(np.uint64(salt), noise)
        for piece in _pieces(order):
            if not protect_all(graph, state, scratch, rng, piece, disturbed):
                return False
            self._tell("protecting")
        self._clean_up(state)
        return True

    def _clean_up(self, state: State) -> None:
        cells = np.flatnonzero((state.hidden != 0) & (self.graph.fixed == 0))
        dearest_first = cells[np.argsort(-self.graph.cost[cells], kind="stable")]
        for piece in _pieces(dearest_first):
            if self._out_of_time:
                return
            drop_redundant(self.graph, state, self.scratch, piece)
            self._tell("thinning")

    @property
    def _out_of_time(self) -> bool:
        return self._run is not None and self._run.out_of_time

    def _tell(self, phase: str) -> None:
        if self._run is not None:
            self._run.report(phase=phase)

    def _without_insiders(self, state: State, rng: np.ndarray) -> np.ndarray | None:
        # Insiders are met one failure at a time; there are far too many to require all from the start.
        while True:
            found = self.pattern(state)
            before = self.wanted.size
            self.require(failing_insiders(self.problem, state.hidden, self.network))
            if self.wanted.size == before:
                # Nothing fails; or all are required already and fail by rounding only: the check of the whole pattern decides.
                return add_for_sums(self.problem, found, self.problem.cost)
            state = self.state(found)
            if not self._protected(state, rng, 0.0):
                return None

    def thin(self, complementary: np.ndarray) -> np.ndarray:
        """A safe pattern without its redundant cells, as far as time allows."""
        if self._out_of_time:
            return complementary
        state = self.examined(complementary)
        self._clean_up(state)
        return self.pattern(state)

    def examined(self, complementary: np.ndarray) -> State:
        """The state of a pattern, with the cells that each requirement uses."""
        state = self.state(complementary)
        for requirement in range(self.wanted.size):
            holds(self.graph, state, self.scratch, requirement)
        return state

    def pattern(self, state: State) -> np.ndarray:
        """The complementary cells of a state."""
        return np.flatnonzero(state.hidden & ~self.problem.is_sensitive)

    def improve(
        self,
        start: np.ndarray,
        steps: int,
        seeds: Seeds,
        run: Run,
        keep: Callable[[np.ndarray], None],
        *,
        cycle: int = 400,
        patience: int = 600,
    ) -> np.ndarray:
        """Destroy and repair ``steps`` times, or until the run stops; the best pattern found."""
        rng = seeds.state()
        state = self.examined(start)
        backup = new_state(self.graph, self.network.nodes)
        current = best = self.problem.total_cost(start)
        best_hidden = state.hidden.copy()
        cooling = Cooling(cycle, max(1e-9, 0.01 * best), max(1e-10, 0.0004 * best))
        done = improved = 0
        while done < steps and best > 0 and done - improved < patience:
            # Always whole pieces of ten, so that how often the clock is looked at does not decide when to give up.
            if run.chunk(10) == 0:
                break
            left = run.remaining().iterations
            chunk = min(10, steps - done) if left is None else min(10, steps - done, left)
            before = best
            current, best = improve(
                self.graph,
                state,
                backup,
                self.scratch,
                rng,
                current,
                best,
                best_hidden,
                np.arange(done, done + chunk),
                cooling,
            )
            done += chunk
            run.spend(chunk)
            if best < before:
                improved = done
                keep(np.flatnonzero(best_hidden & ~self.problem.is_sensitive))
            run.report(phase="improve")
        found = np.flatnonzero(best_hidden & ~self.problem.is_sensitive)
        if self.problem.insiders or self.problem.sums is not None:
            safe = self._without_insiders(self.state(found), rng)
            found = found if safe is None else safe
        return found


def _pieces(items: np.ndarray) -> list[np.ndarray]:
    return [items[first : first + _PIECE] for first in range(0, items.size, _PIECE)]
