"""Cooling iterated local searches side by side, whose groups are put together anew between rounds.

Built on ILSMC and the biased dissolving of Bierman (Improvements to Iterated Local Search for Microaggregation, Nova
Southeastern University, 2020), with four changes: a worse partition is compared with the one before it and kept at a
rate that falls over a cycle, whatever the scale of the data; the number of groups is free; groups of 2k or more are
split at once; and after each round the groups of all streams go into a set-partitioning model (``recombination``).

An iteration is one perturbation with its local search, in any of the streams. The streams meet at fixed points of
work, so that neither threads nor interruptions change what they find.
"""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
from pydantic import Field

from shoal.microdata.microaggregation.construct.mdav import mdav_labels
from shoal.microdata.microaggregation.problem import Problem
from shoal.microdata.microaggregation.search.descent import (
    Descent,
    Incumbent,
    SearchedPartition,
    Statistics,
    counted,
    group_limits,
    only_group,
)
from shoal.microdata.microaggregation.search.kernels import annealed
from shoal.microdata.microaggregation.search.kernels.groups import total_error
from shoal.microdata.microaggregation.search.kernels.iterated import copy_dirty
from shoal.microdata.microaggregation.search.kernels.space import Space, working_space
from shoal.microdata.microaggregation.sizes import checked_start, within_largest
from shoal.runtime import Budget, Run, Seeds
from shoal.runtime.solver import Options, SearchContext, solver

DEFAULT_ITERATIONS = 5000
# Beyond this the model over groups is too large to pay.
MOST_RECOMBINED = 6000
# The streams differ in how they choose what to dissolve and in how warm they begin.
_SAMPLES = (5, 2, 3, 8)
_WARMTH = (0.1, 0.1, 0.3, 0.2)
_COLD = 0.01
# With one possible number of groups there are only random starts: when so many of them ended in the best partition
# and none in a better one, more of them are wasted.
_MET = 250
# Simplex iterations spent on recombining for each iteration of the streams.
_EFFORT = 3


class IlsOptions(Options):
    """Options of ``ils``."""

    streams: int = Field(default=2, ge=1, le=64, description="searches that run side by side")
    first_cycle: int = Field(
        default=1000, ge=1, le=10**9, description="iterations of the first cycle of each stream"
    )
    growth: float = Field(
        default=1.5, ge=1, le=100, description="by how much each cycle is longer than the one before"
    )
    span: float = Field(
        default=1.0,
        gt=0,
        le=1,
        description="how much of the range of group numbers, from the top, is searched",
    )
    recombine: bool = Field(
        default=True, description="put groups of all streams together anew between cycles"
    )


class Stream:
    """One cooling search: the partition it works on, the one it kept last, and the best it had."""

    def __init__(self, problem: Problem, space: Space, seeds: Seeds, number: int, span: float) -> None:
        self.number = number
        self.descent = Descent(problem, space, seeds.child("stream", number).state())
        self.home = self.descent.room()
        self.best = self.descent.room()
        self.stale = np.zeros(problem.most_groups + 1, dtype=np.bool_)
        self.numbers = np.zeros(annealed.NUMBERS)
        self.limits = group_limits(problem, span)
        self.ready = False

    @property
    def error(self) -> float:
        """The least squared error it had, in the working space."""
        return float(self.numbers[annealed.BEST]) if self.ready else np.inf

    def begin(self, run: Run, labels: np.ndarray | None) -> None:
        """Go to a given or a random partition and descend from there, forgetting what was best."""
        error = self._descend_from(run, labels)
        copy_dirty(self.descent.groups, self.home, self.descent.search.dirty)
        self.stale[:] = True
        copy_dirty(self.descent.groups, self.best, self.stale)
        # Where the temperature begins matters little: it follows the share of partitions that are kept.
        self.numbers[:] = error, error, 0.01 * error / max(1, int(self.descent.groups.number[0]))
        self.ready = True

    def restart(self, run: Run) -> float:
        """Descend from a random partition, keeping it if it is the best; its squared error."""
        error = self._descend_from(run, None)
        if error < self.numbers[annealed.BEST]:
            self.stale[:] = True
            copy_dirty(self.descent.groups, self.best, self.stale)
            self.numbers[annealed.BEST] = error
        # What was kept before is another partition altogether.
        self.stale[:] = True
        return error

    def _descend_from(self, run: Run, labels: np.ndarray | None) -> float:
        descent = self.descent
        descent.search.standing[:] = 0
        descent.search.done[:] = False
        descent.search.changed[:] = False
        if labels is None:
            descent.begin_at_random(*group_limits(descent.problem, 0.2))
        else:
            descent.begin_at(labels)
        if descent.descend(run) and not run.out_of_time:
            annealed.split_large(descent.space, descent.groups, descent.search)
        descent.search.dirty[:] = True
        return float(total_error(descent.groups))

    def return_to_best(self) -> None:
        """Begin the next cycle from the best partition."""
        copy_dirty(self.best, self.home, self.stale)
        self.descent.search.dirty[:] = True
        copy_dirty(self.home, self.descent.groups, self.descent.search.dirty)
        self.numbers[annealed.HERE] = self.numbers[annealed.BEST]

    def search(self, first: int, iterations: int, length: int) -> None:
        """Some iterations of a cycle."""
        descent = self.descent
        kind = self.number % len(_SAMPLES)
        cooling = annealed.Cooling(length, _WARMTH[kind], _COLD, *self.limits, _SAMPLES[kind])
        state = (descent.groups, descent.search, self.home, self.best, self.stale, self.numbers)
        annealed.anneal(descent.space, *state, cooling, first, iterations)


@solver(IlsOptions)
def solve(problem: Problem, options: IlsOptions, context: SearchContext) -> SearchedPartition:
    """The best partition that cooling iterated local searches and their recombination find.

    >>> import numpy as np
    >>> points = np.random.default_rng(1).normal(size=(40, 2))
    >>> solve(Problem(points, k=3), budget=Budget(iterations=200)).sizes.min()
    np.int64(3)
    """
    first = checked_start(problem, context.start)
    run = context.run(DEFAULT_ITERATIONS)
    if problem.most_groups < 2:
        return only_group(problem, run)
    return _Search(problem, options, run, context.seeds, first).solve(context.threads)


class _Search:
    def __init__(
        self, problem: Problem, options: IlsOptions, run: Run, seeds: Seeds, start: np.ndarray | None
    ) -> None:
        self.problem = problem
        self.options = options
        self.run = run
        self.seeds = seeds
        space = working_space(problem.points, problem.k)
        self.tolerance = space.tolerance
        self.streams = [Stream(problem, space, seeds, s, options.span) for s in range(options.streams)]
        self.best = Incumbent(problem, run)
        self.leading = np.inf
        self.met = 0
        self.cycles = 0
        self.given = start
        self.slice = max(1, min(250, 5000 // problem.k**2))
        self.pool = None
        # Of two groups each is what the other leaves over: there is nothing to choose.
        if options.recombine and problem.most_groups > 2 and problem.n <= MOST_RECOMBINED:
            from shoal.microdata.microaggregation.search.recombination import GroupPool

            self.pool = GroupPool(problem, space)

    def solve(self, threads: int) -> SearchedPartition:
        with ThreadPoolExecutor(max(1, min(threads, len(self.streams)))) as pool:
            list(pool.map(self._begin, self.streams))
            self._take_best()
            length = self.options.first_cycle
            while self._cycle(pool, length) and self._between(pool, length):
                length = int(np.ceil(length * self.options.growth))
        counts = counted(stream.descent.search for stream in self.streams)
        return self.best.partition(Statistics(**counts))

    def _begin(self, stream: Stream) -> None:
        """Stream 0 begins with MDAV's groups, or all but the last with those given; the others at random."""
        labels = None
        if self.given is not None and stream.number < max(1, len(self.streams) - 1):
            labels = self.given
        elif self.given is None and stream.number == 0:
            labels = within_largest(self.problem, mdav_labels(self.problem.points, self.problem.k))
        stream.begin(self.run, labels)

    def _cycle(self, pool: ThreadPoolExecutor, length: int) -> bool:
        """One cycle of all streams, a slice of each at a time; whether it went to its end."""
        # With a single possible number of groups there is nothing to perturb.
        if self.streams[0].limits[0] == self.streams[0].limits[1]:
            return self._restarts(pool, length)
        samples = {length * eighth // 8 for eighth in (5, 6, 7)}
        for first in range(0, length, self.slice):
            if self.run.stopped:
                return False
            size = min(self.slice, length - first)
            limit = self.run.budget.iterations
            left = size * len(self.streams) if limit is None else limit - self.run.work
            parts = [max(0, min(size, left - s * size)) for s in range(len(self.streams))]
            list(
                pool.map(
                    lambda stream, part, first=first: stream.search(first, part, length), self.streams, parts
                )
            )
            self.run.spend(sum(parts))
            self._take_best()
            if self.pool is not None and any(first <= place < first + size for place in samples):
                for stream in self.streams:
                    self.pool.add_partition(stream.descent.labels(stream.home))
        return not self.run.stopped

    def _restarts(self, pool: ThreadPoolExecutor, length: int) -> bool:
        """A cycle of random starts in each stream; whether it went to its end and more may find something better."""
        samples = {length * eighth // 8 for eighth in (5, 6, 7)}
        limit = self.run.budget.iterations
        for number in range(length):
            if self.run.stopped or self.met >= _MET:
                return False
            left = len(self.streams) if limit is None else limit - self.run.work
            streams = self.streams[: min(len(self.streams), left)]
            errors = list(pool.map(lambda stream: stream.restart(self.run), streams))
            self.run.spend(len(streams))
            self._take_best()
            self.met += sum(error <= self.leading + self.tolerance for error in errors)
            if self.pool is not None and number in samples:
                for stream in streams:
                    self.pool.add_partition(stream.descent.labels())
        return not self.run.stopped

    def _take_best(self) -> None:
        """Offer the best partition of the streams if it is better than what is known."""
        leader = min(self.streams, key=lambda stream: stream.error)
        if leader.error < self.leading:
            if leader.error < self.leading - self.tolerance:
                self.met = 0
            self.leading = leader.error
            self.best.offer(leader.descent.labels(leader.best))
        else:
            self.run.report()

    def _between(self, pool: ThreadPoolExecutor, length: int) -> bool:
        """Recombine, and decide where each stream goes on; whether there is time for another cycle.

        The first stream goes on from the best partition known, the others in turn from their own best and from a new
        random one, so that there is always something new to recombine with.
        """
        if self.pool is not None:
            for stream in self.streams:
                self.pool.add_partition(stream.descent.labels(stream.best))
            found = self.pool.recombine(
                self.best.labels,
                lambda: self.run.out_of_time,
                self.seeds.child("regions", length).generator(),
                effort=_EFFORT * length * len(self.streams),
            )
            # What a recombination found that time cut short is not taken: the same work must give the same result.
            if found is not None and not self.run.out_of_time:
                self.best.offer(found, "recombination")
        if self.run.out_of_time:
            return False
        self.cycles += 1
        for stream in self.streams:
            if stream.number == 0:
                stream.begin(self.run, self.best.labels)
            elif (self.cycles + stream.number) % 2:
                stream.begin(self.run, None)
            else:
                stream.return_to_best()
        self._take_best()
        return True


def warm_up() -> None:
    """Compile the kernels."""
    problem = Problem(np.random.default_rng(0).normal(size=(40, 2)), k=3)
    solve(problem, IlsOptions(first_cycle=10), budget=Budget(iterations=100))
