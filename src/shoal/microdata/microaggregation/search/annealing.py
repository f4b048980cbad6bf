"""Shoal's own search: random moves that cool, in the whole file and in regions of it, and the best of all they find.

A round begins from the best partition known, warms all records or a region of them, and lets them cool again by random
moves (``kernels.moves``). What comes out is compared part by part with the best (``kernels.crossover``): of a round that is
worse on the whole, the parts stay in which it is better. Some streams warm all records, in few long rounds, which settle
how dense data are parted; the others regions, in many short ones, which put right what is lost around outliers.

Data have records at very different distances: outliers settle when it is still so warm that dense records would only be
shuffled. So a record moves only while the temperature is within a range that suits the distance of its neighbours, and a
stage lasts as long as there are records for it.

With few records in a group, the groups that rounds ended with are put together anew now and then (``recombination``), which
finds at once what moves would find one after another.

An iteration is five thousand moves, in any of the streams, or the end of a round. Rounds become longer with the work done,
whatever the budget, and the streams meet at fixed points of work, so that neither threads nor interruptions change what
they find.
"""

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

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
    only_group,
)
from shoal.microdata.microaggregation.search.kernels import annealed, crossover, moves
from shoal.microdata.microaggregation.search.kernels.groups import unload
from shoal.microdata.microaggregation.search.kernels.moves import Cooling, Nearness
from shoal.microdata.microaggregation.search.kernels.pricing import nearest_neighbours
from shoal.microdata.microaggregation.search.kernels.space import Space, working_space
from shoal.microdata.microaggregation.sizes import checked_start, within_largest
from shoal.microdata.microaggregation.solution import numbered_by_appearance
from shoal.runtime import Budget, Run, Seeds
from shoal.runtime.solver import Options, SearchContext, solver

if TYPE_CHECKING:
    from shoal.microdata.microaggregation.search.recombining import Recombining

# Iterations where there is no limit: so many for each record, and in all.
_USUAL_BY_RECORD, DEFAULT_ITERATIONS = 4, 4_000
MOVES = 5000
# Iterations of each stream between two looks at the clock.
_SLICE = 20
# Near records that a move may lead to: at least so many, and so many for each record of a group.
_NEAR, _NEAR_BY_SIZE = 16, 3
# A record moves while the temperature is within these multiples of its squared distance to its neighbours.
_WARMEST, _COLDEST = 1.0, 0.05
# What is colder than this share of the mean error of a record changes nothing any more.
_END = 0.0005
# The share of the records that is nearest to its neighbours, perhaps equal to them, counts as no nearer than the next.
_NEAREST = 0.01
# So many records at least move in every stage for each record of a group; a stage with few records lasts a little longer.
_FEWEST, _LONGER = 4, 0.1
_STAGES, _STAGES_OF_REGION = 200, 60
# Of so many streams, or of the rounds of a single one, one warms all records, the others regions.
_ALL_EVERY = 2
# How long a round takes, as a share of the work done before. Where groups are put together anew, several rounds of all
# records bring more than a long one.
_ALL_SHARE, _RECOMBINED_SHARE, _REGION_SHARE = 1.0, 0.4, 0.02
# Groups are put together anew up to this k, and so many records times k: beyond, the programmes are too large for what
# they gain.
_RECOMBINED, _RECOMBINED_RECORDS = 6, 7_500
# The smallest region, and how warm one becomes at least, beside a beginning.
_REGION, _LUKEWARM = 60, 0.05


class AnnealingOptions(Options):
    """Options of ``annealing``."""

    streams: int = Field(default=2, ge=1, le=64, description="searches that run side by side")
    recombine: bool = Field(
        default=True, description="put groups of all rounds together anew, where k and records are few"
    )


@solver(AnnealingOptions)
def solve(problem: Problem, options: AnnealingOptions, context: SearchContext) -> SearchedPartition:
    """The best partition that random moves find while they cool, round by round.

    >>> points = np.random.default_rng(1).normal(size=(40, 2))
    >>> solve(Problem(points, k=3), budget=Budget(iterations=50)).sizes.min()
    np.int64(3)
    """
    first = checked_start(problem, context.start)
    run = context.run(min(DEFAULT_ITERATIONS, _USUAL_BY_RECORD * problem.n))
    if problem.most_groups < 2:
        return only_group(problem, run)
    return _Search(problem, options, run, context.seeds, first).solve(context.threads)


class Stream:
    """One of the searches that run side by side: its partition, and its randomness."""

    def __init__(self, problem: Problem, space: Space, seeds: Seeds, number: int) -> None:
        self.descent = Descent(problem, space, seeds.child("stream", number).state())
        self.of = np.empty(problem.n, dtype=np.int64)
        self.limit = min(2 * problem.k - 1, problem.largest or problem.n)
        self.number = number
        self.rounds = 0
        self.length = self.done = 0
        self.cooling: Cooling | None = None

    @property
    def left(self) -> int:
        """Iterations left of its round."""
        return self.length - self.done

    def begin(self, labels: np.ndarray, cooling: Cooling, length: int) -> None:
        """Begin a round of so many iterations from a partition that is to be warmed."""
        self.descent.begin_at(labels)
        unload(self.descent.groups, self.of)
        self.cooling = cooling
        self.length, self.done = length, 0
        self.rounds += 1

    def move(self, others: np.ndarray, count: int) -> None:
        """Some iterations of the round."""
        descent = self.descent
        where = (descent.space, descent.groups, self.of, others, descent.search.random, self.cooling)
        moves.random_moves(*where, self.done * MOVES, count * MOVES, self.limit)
        self.done += count

    def settle(self, run: Run) -> None:
        """Search on until no move gains, or time is up."""
        descent = self.descent
        descent.search.standing[:] = 0
        descent.search.done[:] = False
        descent.search.changed[:] = True
        if descent.descend(run) and not run.out_of_time:
            annealed.split_large(descent.space, descent.groups, descent.search)


class _Search:
    def __init__(
        self, problem: Problem, options: AnnealingOptions, run: Run, seeds: Seeds, start: np.ndarray | None
    ) -> None:
        self.problem = problem
        self.run = run
        self.seeds = seeds
        self.space = working_space(problem.points, problem.k)
        self.near = nearness(problem, self.space)
        self.order = np.argsort(-self.near.scales, kind="stable").astype(np.int64)
        self.streams = [Stream(problem, self.space, seeds, s) for s in range(options.streams)]
        self.best = Incumbent(problem, run)
        if start is None:
            start = within_largest(problem, mdav_labels(problem.points, problem.k))
        self.labels = numbered_by_appearance(start)
        self.best.offer(self.labels)
        self.end = _END * float(self._errors().sum()) / problem.n
        self.recombining = None
        small = problem.k <= _RECOMBINED and problem.n * problem.k <= _RECOMBINED_RECORDS
        # Of two groups each is what the other leaves over: there is nothing to choose.
        if options.recombine and small and problem.most_groups > 2:
            # Not loaded where it is not needed: it brings the solver of linear programmes.
            from shoal.microdata.microaggregation.search.recombining import Recombining

            self.recombining = Recombining(problem, self.space, run, seeds)

    def solve(self, threads: int) -> SearchedPartition:
        self._settle_first()
        with ThreadPoolExecutor(max(1, min(threads, len(self.streams)))) as pool:
            while not self.run.stopped:
                for stream in self.streams:
                    if not stream.left:
                        self._begin(stream)
                self._move(pool)
                if not self.run.stopped and not self._end_rounds(pool):
                    break
        for stream in self.streams:
            if stream.left:
                self._compare(stream)
        counts = counted(stream.descent.search for stream in self.streams)
        return self.best.partition(Statistics(**counts))

    def _settle_first(self) -> None:
        stream = self.streams[0]
        stream.descent.begin_at(self.labels)
        stream.settle(self.run)
        self._compare(stream)

    def _begin(self, stream: Stream) -> None:
        """Begin the next round of a stream."""
        everywhere = (stream.number if len(self.streams) > 1 else stream.rounds) % _ALL_EVERY == 0
        share = _REGION_SHARE
        if everywhere:
            share = _ALL_SHARE if self.recombining is None else _RECOMBINED_SHARE
        length = max(4, self.problem.n // (50 if everywhere else 100), int(share * self.run.work))
        random = self.seeds.child("round", stream.number, stream.rounds).generator()
        stream.begin(self.labels, self._cooling(random, length * MOVES, everywhere=everywhere), length)

    def _move(self, pool: ThreadPoolExecutor) -> None:
        """A slice of iterations of each stream."""
        parts = []
        left = self.run.budget.iterations
        left = None if left is None else left - self.run.work
        for stream in self.streams:
            part = min(_SLICE, stream.left)
            if left is not None:
                part = min(part, left)
                left -= part
            parts.append(part)
        list(pool.map(lambda stream, part: stream.move(self.near.others, part), self.streams, parts))
        self.run.spend(sum(parts))
        self.run.report()

    def _end_rounds(self, pool: ThreadPoolExecutor) -> bool:
        """Take what is better in the streams whose rounds are over; whether there was time for it."""
        over = [stream for stream in self.streams if not stream.left]
        if not over:
            return True
        list(pool.map(lambda stream: stream.settle(self.run), over))
        # What time cut short is not taken: the same work must give the same result.
        if self.run.out_of_time:
            return False
        for stream in over:
            if self.recombining is not None:
                self.recombining.add(stream.descent.labels())
            self._compare(stream)
        # Counted, so that whoever repeats the run by its work knows whether there was time for it.
        self.run.spend(1)
        if self.recombining is not None and not self.run.stopped and self.recombining.due():
            return self._recombine(self.recombining, over[0])
        return True

    def _recombine(self, recombining: "Recombining", stream: Stream) -> bool:
        """Put groups together anew, and let a stream between rounds search on from there; whether there was time for it."""
        found = recombining.better(self.labels)
        if found is not None:
            stream.descent.begin_at(found)
            stream.settle(self.run)
        if self.run.out_of_time:
            return False
        if found is not None:
            self.labels = found
            self.best.offer(found, "recombination")
            self._compare(stream)
        self.run.spend(1)
        return True

    def _compare(self, stream: Stream) -> None:
        """Take from a stream what it does better."""
        labels, other = self.labels.astype(np.int64), stream.descent.labels().astype(np.int64)
        counts = int(labels.max()) + 1, int(other.max()) + 1
        lower = crossover.take_better_parts(self.space.points, self.space.tolerance, labels, other, *counts)
        if lower > 0.0:
            self.labels = numbered_by_appearance(labels)
            self.best.offer(self.labels)

    def _errors(self) -> np.ndarray:
        errors = np.empty(int(self.labels.max()) + 1)
        crossover.errors_of(self.space.points, self.labels.astype(np.int64), errors)
        return errors

    def _cooling(self, random: np.random.Generator, count: int, *, everywhere: bool) -> Cooling:
        warmth = 1.0
        inside = np.ones(self.problem.n, dtype=np.bool_)
        if not everywhere:
            size = _REGION * max(1.0, self.problem.n / _REGION) ** random.random()
            warmth = _LUKEWARM ** random.random()
            inside = self._region(random, size)
        order = self.order[inside[self.order]]
        stages = _STAGES if everywhere else _STAGES_OF_REGION
        return cooling(self.near.scales, order, inside, self.problem.k, self.end, warmth, stages, count)

    def _region(self, random: np.random.Generator, size: float) -> np.ndarray:
        """Some groups that lie together, as the records in them: around any record, or where more is lost."""
        errors = self._errors()
        group = int(self.labels[random.integers(self.problem.n)])
        if random.random() < 0.5:
            total = np.cumsum(errors + errors.mean())
            group = min(int(np.searchsorted(total, random.random() * total[-1])), errors.size - 1)
        sizes = np.bincount(self.labels)
        middle = self.space.points[self.labels == group].sum(axis=0) / sizes[group]
        away = np.bincount(self.labels, np.square(self.space.points - middle).sum(axis=1)) - errors
        nearest = np.argsort(away / sizes, kind="stable")
        enough = max(3, int(np.searchsorted(np.cumsum(sizes[nearest]), size)) + 1)
        chosen = np.zeros(sizes.size, dtype=np.bool_)
        chosen[nearest[:enough]] = True
        return chosen[self.labels]


def nearness(problem: Problem, space: Space) -> Nearness:
    """Who is near to whom."""
    wanted = min(max(_NEAR, _NEAR_BY_SIZE * problem.k), problem.n - 1)
    others = np.empty((problem.n, wanted), dtype=np.int64)
    nearest_neighbours(space.points, others)
    scales = np.empty(problem.n)
    moves.scales(space.points, others, min(problem.k - 1, wanted), scales)
    least = max(float(np.sort(scales)[int(_NEAREST * problem.n)]), 1e-12)
    return Nearness(others, np.maximum(scales, least))


def cooling(
    scales: np.ndarray,
    order: np.ndarray,
    inside: np.ndarray,
    k: int,
    end: float,
    warmth: float,
    stages: int,
    count: int,
) -> Cooling:
    """How the records in ``order``, those farthest from their neighbours first, cool in ``count`` moves.

    >>> cool = cooling(np.array([4.0, 2.0]), np.array([0, 1]), np.ones(2, dtype=bool), 2, 0.001, 1.0, 3, 90)
    >>> cool.temperatures.round(3).tolist(), cool.ends.tolist()
    ([4.0, 0.632, 0.1], [30, 60, 90])
    """
    falling = -scales[order]
    coldest = max(_COLDEST * -falling[-1], end)
    temperatures = np.geomspace(max(_WARMEST * warmth * -falling[0], 4.0 * coldest), coldest, stages)
    first = np.searchsorted(falling, -temperatures / _COLDEST, side="left")
    last = np.searchsorted(falling, -temperatures / _WARMEST, side="right")
    last = np.minimum(order.size, np.maximum(last, _FEWEST * k))
    first = np.maximum(0, np.minimum(first, last - _FEWEST * k))
    # The end may be too warm for the densest; they move then.
    last[-1] = order.size
    lasting = np.cumsum(last - first + _LONGER * order.size)
    ends = np.floor(lasting / lasting[-1] * count).astype(np.int64)
    ends[-1] = count
    return Cooling(order, inside, temperatures, first.astype(np.int64), last.astype(np.int64), ends)


def warm_up() -> None:
    """Compile the kernels."""
    solve(Problem(np.random.default_rng(0).normal(size=(40, 2)), k=3), budget=Budget(iterations=100))
