"""Microaggregation of very many records: small blocks, then local search across their borders.

The records are split in half again and again into blocks of near records, and MDAV groups each block. Then
come rounds: the means of the groups are turned at random and split into blocks of whole groups, and a local
search (LSC of Bierman 2020) improves each block by itself. As every round looks along other axes, each
border of one round lies inside a block of another. Blocks are independent, so threads share them; time
grows with n log n.
"""

from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np
from pydantic import Field

from shoal.microdata.microaggregation.construct.mdav import mdav_labels
from shoal.microdata.microaggregation.problem import Problem
from shoal.microdata.microaggregation.search.kd_tree import split
from shoal.microdata.microaggregation.search.kernels.groups import (
    ERROR,
    RADIUS,
    REACH,
    empty_groups,
    load,
    total_error,
)
from shoal.microdata.microaggregation.search.kernels.iterated import DECISIONS, ENDLESS, Rules, iterate
from shoal.microdata.microaggregation.search.kernels.pairs import CALLS, descend, new_search, screen, visit
from shoal.microdata.microaggregation.search.kernels.space import Space, project, working_space
from shoal.microdata.microaggregation.search.kernels.vectors import squared_distance
from shoal.microdata.microaggregation.sizes import checked_start, within_largest
from shoal.microdata.microaggregation.solution import (
    Partition,
    numbered_by_appearance,
    squared_error,
)
from shoal.runtime import Budget, Run, Seeds
from shoal.runtime.in_rows import in_rows
from shoal.runtime.kernels import kernel
from shoal.runtime.solver import Options, SearchContext, solver

# Groups in a block that a round improves.
GROUPS = 260


class BlocksOptions(Options):
    """Options of ``blocks``; its iterations are rounds."""

    block: int = Field(default=1000, ge=2, description="records in a block that is first grouped by MDAV")
    groups: int = Field(default=GROUPS, ge=2, description="groups in a block that a round improves")
    refinement: int = Field(
        default=0, ge=0, description="iterations of iterated local search in each block of a round"
    )
    costly: int = Field(
        default=0,
        ge=0,
        description="the same in the mean over blocks, more where more is lost; in the last usual round and later",
    )


# Of the squared distance from which on two groups surely have nothing to exchange: beyond this share
# exchanges are so rare that looking for them costs more than it gains (losses stay within 0.2 %, time falls
# by a quarter).
REACH_TRIED = 0.64
# Up to here all blocks can be refined alike.
FEW = 100_000
# How a block is refined: ILSMC with biased dissolving and dynamic acceptance.
_RULES = Rules(everything=False, sample=5, chance=0.0, temperature=1e-5)


class State(NamedTuple):
    """The groups between two rounds: their records, how many, and the block they were last tested in.

    ``met`` is −1 for a group that changed since it met its neighbours. Means and errors are kept because finding a
    group's records anew costs more, in very many records, than all that is done with them.
    """

    members: np.ndarray
    sizes: np.ndarray
    met: np.ndarray
    means: np.ndarray
    errors: np.ndarray


# Made inside compiled code here, so that blocks need no arrays from outside.
_new_groups = kernel(empty_groups)
_new_search = kernel(new_search)


@solver(BlocksOptions)
def solve(problem: Problem, options: BlocksOptions, context: SearchContext) -> Partition:
    """Group in blocks, then improve for as many rounds as the budget allows (by default three to eight).

    >>> problem = Problem(np.array([[0.0], [1.0], [5.0], [6.0], [20.0], [22.0]]), k=2)
    >>> solve(problem).labels.tolist()
    [0, 0, 1, 1, 2, 2]
    """
    rounds = default_rounds(problem.n, options.groups)
    run = context.run(rounds)
    with ThreadPoolExecutor(max(1, context.threads)) as pool:
        space = working_space(problem.points, problem.k, pool)
        # From here on records are known by their places in this order, so that near ones share memory.
        order, ends = _arrange(space.points, max(options.block, 2 * problem.k), problem.k, pool)
        points = _taken(space.points, order, pool)
        space = space._replace(points=points)
        labels = np.empty(problem.n, dtype=np.int32)
        begin = checked_start(problem, context.start)
        if begin is None:
            labels[order] = first_labels(points[:, : problem.d], ends, problem.k, pool, run)
            labels = within_largest(problem, labels)
        else:
            labels[:] = begin
        capacity = problem.largest or max(2 * problem.k - 1, int(np.bincount(labels).max()))
        state = state_of(labels[order], capacity, points, problem.d, pool)
        # What is told on the way is rounded up: the final value comes from other sums over the same groups.
        unit, rounding = space.unit * (1 + 1e-10), 1e-15 * problem.sst
        run.report(float(state.errors.sum()) * unit + rounding, phase="blocks")
        while run.chunk(1):
            # Counted from the usual end, so that a run that time ended can be repeated by its number of rounds.
            late = options.costly if run.work >= rounds - 1 else 0
            state = _round(space, problem, state, options, late, context.seeds.child(run.work), run, pool)
            run.spend(1)
            run.report(float(state.errors.sum()) * unit + rounding, phase="rounds")
        labels[order] = labels_of(state.members, state.sizes, problem.n)
        labels = numbered_by_appearance(labels)
        value = squared_error(problem.points, labels, pool)
    run.report(value)
    return Partition(value=value, labels=labels, sst=problem.sst, **run.closing())


def default_rounds(n: int, groups: int = GROUPS) -> int:
    """As many rounds as stay well below the time of MDAV, up to where they gain little.

    Very many records get fewer, unless their blocks are small: then a round costs half, and gains little less.

    >>> default_rounds(20_000), default_rounds(60_000), default_rounds(1_000_000), default_rounds(1_000_000, 110)
    (3, 8, 6, 8)
    """
    return min(8 if n <= FEW or groups <= GROUPS // 2 else 6, max(3, n // 6000))


def first_labels(
    points: np.ndarray, ends: np.ndarray, k: int, pool: ThreadPoolExecutor, run: Run
) -> np.ndarray:
    """MDAV in blocks of consecutive points; all blocks but the last hold a multiple of k.

    Without time for MDAV a block is cut into groups as its points lie, which are near one another.
    """
    n = points.shape[0]
    # The last group takes what is left over.
    labels = np.minimum(np.arange(n, dtype=np.int32) // k, n // k - 1).astype(np.int32)

    def work(piece: range) -> None:
        for b in piece:
            first = ends[b - 1] if b > 0 else 0
            if not run.out_of_time:
                labels[first : ends[b]] = first // k + mdav_labels(points[first : ends[b]], k)

    list(pool.map(work, _pieces(len(ends))))
    return labels


def _pieces(count: int, size: int = 16) -> list[range]:
    return [range(first, min(first + size, count)) for first in range(0, count, size)]


def _split(
    points: np.ndarray,
    order: np.ndarray,
    leaf: int,
    multiple: int,
    parts: np.ndarray,
    pool: ThreadPoolExecutor,
) -> np.ndarray:
    """Rearrange the order of the points into blocks, and tell their ends; each part (given by its end) is split by itself."""
    # A block that was cut off has at least half of the leaf's points, less a multiple.
    least = max(1, (leaf + 1) // 2 - multiple)

    def work(b: int) -> np.ndarray:
        first, last = int(parts[b - 1]) if b > 0 else 0, int(parts[b])
        ends = np.empty((last - first) // least + 2, dtype=np.int64)
        return ends[: split(points, order, first, last, leaf, multiple, ends)]

    return np.concatenate(list(pool.map(work, range(len(parts)))))


def _arrange(
    points: np.ndarray, leaf: int, multiple: int, pool: ThreadPoolExecutor
) -> tuple[np.ndarray, np.ndarray]:
    """The order in which the points of a block come together, and the ends of the blocks.

    Coarse parts first: once these are together in memory, splitting them further is quick. And halves before those, so that
    threads can share what comes after.
    """
    n = points.shape[0]
    coarse, fine = (np.arange(n, dtype=np.int64) for _ in range(2))
    parts = np.array([n])
    for largest in (n // 2 + multiple, n // 64):
        parts = _split(points, coarse, max(leaf, largest), multiple, parts, pool)
    ends = _split(_taken(points, coarse, pool), fine, leaf, multiple, parts, pool)
    return _taken(coarse, fine, pool), ends


def _taken(values: np.ndarray, order: np.ndarray, pool: ThreadPoolExecutor) -> np.ndarray:
    """The rows in this order."""
    found = np.empty((order.size, *values.shape[1:]), dtype=values.dtype)
    # Without a check of each index, which would make a copy of what is written.
    in_rows(pool, order.size, lambda part: values.take(order[part], axis=0, out=found[part], mode="clip"))
    return found


def state_of(
    labels: np.ndarray, capacity: int, points: np.ndarray, d: int, pool: ThreadPoolExecutor | None = None
) -> State:
    """The groups that the labels 0, 1, … tell, none of which has met another; points have d coordinates, and zeros."""
    sizes = np.bincount(labels).astype(np.int32)
    state = _room(sizes.size, capacity, d)
    state.sizes[:] = sizes
    _fill_members(labels, state.members, np.zeros(sizes.size, dtype=np.int32))

    def fill(part: slice) -> None:
        _fill_means(points, State(*(array[part] for array in state)), np.zeros((1, points.shape[1])))

    in_rows(pool, sizes.size, fill)
    return state


def _room(groups: int, capacity: int, d: int) -> State:
    return State(
        np.zeros((groups, capacity), dtype=np.int32),
        np.zeros(groups, dtype=np.int32),
        np.full(groups, -1, dtype=np.int32),
        np.zeros((groups, d)),
        np.zeros(groups),
    )


@kernel
def _fill_members(labels, members, filled):  # type: ignore[no-untyped-def]
    for i in range(labels.shape[0]):
        g = labels[i]
        members[g, filled[g]] = i
        filled[g] += 1


@kernel
def _fill_means(points, state, mean):  # type: ignore[no-untyped-def]
    """The mean and the squared error of each group; ``mean`` is room for one."""
    for g in range(state.sizes.shape[0]):
        mean[:] = 0.0
        for m in range(state.sizes[g]):
            for a in range(points.shape[1]):
                mean[0, a] += points[state.members[g, m], a]
        for a in range(points.shape[1]):
            mean[0, a] /= state.sizes[g]
        for a in range(state.means.shape[1]):
            state.means[g, a] = mean[0, a]
        error = 0.0
        for m in range(state.sizes[g]):
            error += squared_distance(points, state.members[g, m], mean, 0)
        state.errors[g] = error


def shares(lost: np.ndarray, total: int) -> np.ndarray:
    """So many iterations given out to blocks by what each has lost, whole ones.

    >>> shares(np.array([0.1, 6.0, 3.9]), 10).tolist()
    [0, 6, 4]
    """
    everything = float(lost.sum())
    if everything <= 0.0:
        return np.zeros(lost.size, dtype=np.int64)
    return np.round(lost * (total / everything)).astype(np.int64)


@kernel
def labels_of(members, sizes, n):  # type: ignore[no-untyped-def]
    """The row in which each record is found."""
    labels = np.empty(n, dtype=np.int32)
    for g in range(sizes.shape[0]):
        for m in range(sizes[g]):
            labels[members[g, m]] = g
    return labels


def random_axes(dimensions: int, seeds: Seeds) -> np.ndarray:
    """Orthogonal axes in random directions, as columns; by Gram and Schmidt, the same on every machine."""
    drawn = seeds.generator().standard_normal((dimensions, dimensions))
    axes: list[np.ndarray] = []
    for direction in drawn:
        for axis in axes:
            direction = direction - np.multiply(direction, axis).sum() * axis
        length = np.sqrt(np.square(direction).sum())
        axes.append(direction / length)
    return np.ascontiguousarray(np.stack(axes, axis=1))


def _round(
    space: Space,
    problem: Problem,
    state: State,
    options: BlocksOptions,
    costly: int,
    seeds: Seeds,
    run: Run,
    pool: ThreadPoolExecutor,
) -> State:
    """Improve every block of a new division; blocks that are not reached in time stay as they are.

    ``costly`` is how many iterations blocks are refined for in the mean, each by its share of the loss.
    """
    turned = np.empty_like(state.means)
    axes = random_axes(problem.d, seeds)
    in_rows(pool, len(turned), lambda part: project(state.means[part], axes, turned[part]))
    order, ends = _arrange(turned, options.groups, 1, pool)
    starts = np.concatenate(([0], ends[:-1]))
    # A block of r records can end up with at most ⌊r/k⌋ groups: that much room is kept for it.
    room = np.add.reduceat(state.sizes[order].astype(np.int64), starts) // problem.k
    rows = np.concatenate(([0], np.cumsum(room)[:-1]))
    after = _room(int(room.sum()), state.members.shape[1], problem.d)
    efforts = np.full(len(ends), options.refinement, dtype=np.int64)
    if costly:
        efforts += shares(np.add.reduceat(state.errors[order], starts), costly * len(ends))
    unused = seeds.state()

    def work(piece: range) -> None:
        for b in piece:
            effort = -1 if run.out_of_time else efforts[b]
            random = seeds.child("block", b).state() if effort > 0 else unused
            block = order[starts[b] : ends[b]]
            improve_block(space, state, block, b, effort, random, after, rows[b], room[b])

    list(pool.map(work, _pieces(len(ends))))
    used = after.sizes > 0
    return after if used.all() else State(*(part[used] for part in after))


@kernel(error_model="numpy")
def one_pass(space, groups, met, changed, counts):  # type: ignore[no-untyped-def]
    """Test every pair of groups once and make the moves that gain; groups that changed are marked.

    Two groups with the same ``met`` (not negative) were tested before and are as they were.
    """
    points, k, tolerance, _ = space
    number, sizes, members, away, centres, facts = groups
    count = number[0]
    slack, near = np.empty(count), np.empty(count + 1, dtype=np.int64)
    for i in range(count):
        begin = i + 1
        while begin < count:
            found = screen(facts, i, begin, count, REACH_TRIED, slack, near)
            begin = count
            for c in range(found):
                j = near[c]
                if met[i] >= 0 and met[i] == met[j]:
                    continue
                square = squared_distance(centres, i, centres, j)
                limit = max(facts[RADIUS, i] + facts[RADIUS, j], facts[REACH, i], facts[REACH, j])
                if square >= REACH_TRIED * limit * limit:
                    continue
                if visit(points, k, tolerance, sizes, members, away, centres, facts, i, j, square, counts):
                    changed[i] = changed[j] = True
                    met[i] = met[j] = -1
                    # Group i is another one now: judge anew which of the groups to come are in its reach.
                    begin = j + 1
                    break


@kernel(error_model="numpy")
def improve_block(space, before, block, number, effort, random, after, row, room):  # type: ignore[no-untyped-def]
    """Local search among the groups of a block; those found go to the ``room`` rows kept for it.

    With ``effort`` 0 that is one pass over the pairs: what it leaves undone, the next round does, with other
    neighbours at hand. Above 0, a full local search and so many iterations of iterated local search; below 0,
    nothing.
    """
    members, sizes = before.members, before.sizes
    width = space.points.shape[1]
    capacity = members.shape[1]
    count = block.shape[0]
    records = 0
    for c in range(count):
        records += sizes[block[c]]
    local = np.empty((records, width))
    origin = np.empty(records, dtype=np.int32)
    labels = np.empty(records, dtype=np.int32)
    met = np.empty(count, dtype=np.int32)
    filled = 0
    for c in range(count):
        g = block[c]
        met[c] = before.met[g]
        for m in range(sizes[g]):
            origin[filled] = members[g, m]
            labels[filled] = c
            filled += 1
    # Records lie far apart in memory: a loop of nothing else fetches many at once.
    for i in range(records):
        for a in range(width):
            local[i, a] = space.points[origin[i], a]
    groups = _new_groups(room, capacity, width)
    inner = Space(local, space.k, space.tolerance, space.unit)
    load(inner, groups, labels, count)
    changed = np.zeros(room, dtype=np.bool_)
    if effort == 0:
        one_pass(inner, groups, met, changed, np.zeros(CALLS + 1, dtype=np.int64))
    elif effort > 0:
        search = _new_search(room, records, random)
        search.changed[:count] = True
        descend(inner, groups, search, _RULES.everything, ENDLESS)
        # All records must have room in the fewest groups there may be.
        fewest = max(2, room - max(1, room // 10), -(-records // capacity))
        if fewest < room:
            best = _new_groups(room, capacity, width)
            search.dirty[:] = False
            _copy(groups, best)
            best_error = np.full(1, total_error(groups))
            decisions = np.zeros(DECISIONS, dtype=np.int64)
            course = np.empty(effort)
            iterate(inner, groups, search, best, best_error, _RULES, fewest, room, decisions, course)
            _copy(best, groups)
    for c in range(groups.number[0]):
        after.sizes[row + c] = groups.sizes[c]
        after.errors[row + c] = groups.facts[ERROR, c]
        after.met[row + c] = number if effort == 0 and not changed[c] else -1
        for a in range(after.means.shape[1]):
            after.means[row + c, a] = groups.centres[c, a]
        for m in range(groups.sizes[c]):
            after.members[row + c, m] = origin[groups.members[c, m]]


@kernel
def _copy(source, target):  # type: ignore[no-untyped-def]
    target.number[:] = source.number
    target.sizes[:] = source.sizes
    target.members[:] = source.members
    target.away[:] = source.away
    target.centres[:] = source.centres
    target.facts[:] = source.facts


def warm_up() -> None:
    """Compile the kernels."""
    problem = Problem(np.random.default_rng(0).random((60, 2)), 2)
    solve(problem, BlocksOptions(block=10, groups=6, refinement=2, costly=1), budget=Budget(iterations=1))
