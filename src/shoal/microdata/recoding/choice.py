"""The best choice of who is left out at given levels, where what must hold concerns all classes together.

Classes that fail are left out in any case. A limit on the average risk, or a class of those left out that is released without
keys, may need further ones: those with which the least is lost are a programme of whole numbers. By ``entropy`` the loss of
those left out is no sum over classes, but has x log x of how many of them share a value. There the programme takes chords for
it, more of them where its own solutions lie, until it says of a solution what that loses.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from shoal.microdata.recoding.classes import Classes
from shoal.microdata.recoding.loss_tables import Loss
from shoal.microdata.recoding.release_of_levels import ReleaseOfLevels, is_allowed
from shoal.runtime import Run
from shoal.runtime.linear_programmes import LinearProgramme, programme, quiet_highs, solve_within

# Classes among which is chosen at most; of more of them the smallest are left out, without a proof.
_MOST_CLASSES = 5_000
# Programmes for one choice, how many nodes each may have, and what it counts for besides these among the boxes of the lattice.
_ROUNDS = 4
_NODES = 1_000
_WORK = 20
# Tangents with which a programme begins.
_TANGENTS = 8
# Sums of rounded numbers are the same within this share of them.
_EQUAL = 1e-9


def best_choice(release: ReleaseOfLevels, loss: Loss, run: Run, enough: float) -> ReleaseOfLevels:
    """The release at the same levels that loses least, or the best found with a bound.

    Once the bound reaches ``enough``, nothing more is looked for.
    """
    choice = _Choice.of(release, loss)
    if choice.open.size > _MOST_CLASSES:
        return release
    if choice.open.size == 0:
        return replace(release, least=np.inf)
    if choice.is_sum:
        return _improved(release, loss, *_solved(choice, release, run, choice.costs))
    release = _descended(choice, release, loss, run)
    points = _Points(choice)
    if release.allowed:
        points.add(release.left_out)
    for _ in range(_ROUNDS):
        if run.stopped or release.least >= min(enough, release.value):
            break
        left_out, bound = _solved(choice, release, run, points=points)
        release = _improved(release, loss, left_out, bound)
        if left_out is None or not points.add(left_out):
            break
    return release


def _improved(
    release: ReleaseOfLevels, loss: Loss, left_out: np.ndarray | None, cost: float
) -> ReleaseOfLevels:
    """The release with another choice, if that is allowed and loses less; no choice costs less than ``cost``."""
    classes = release.classes
    if (
        left_out is not None
        and (value := loss.of(classes, left_out)) < release.value
        and is_allowed(classes, left_out)
    ):
        people = classes.people_in(left_out)
        release = replace(release, left_out=left_out, people_left_out=people, value=value)
    least = loss.with_cost(classes, classes.failing, cost)
    if least >= release.value - _EQUAL * max(1.0, abs(release.value)):
        least = release.value
    return replace(release, least=max(release.least, least))


def _descended(choice: "_Choice", release: ReleaseOfLevels, loss: Loss, run: Run) -> ReleaseOfLevels:
    """A better choice by bits, which grow less than their tangents say: what is best by these is better."""
    while release.allowed and not run.stopped:
        costs = np.zeros(choice.open.size)
        for weight, nodes in choice.by_key():
            records = release.classes.records
            counts = np.bincount(nodes[release.left_out], records[release.left_out], nodes.max() + 1)
            costs += (
                weight * choice.records * np.log2(counts.sum() / np.maximum(1, counts))[nodes[choice.open]]
            )
        left_out, _ = _solved(choice, release, run, costs)
        better = _improved(release, loss, left_out, -np.inf)
        if better.value >= release.value:
            break
        release = better
    return release


@dataclass(frozen=True, eq=False)
class _Choice:
    """The classes that may be left out besides those that fail, and what must hold of them together.

    Each brings its ``gains``, of which so much is ``needed``, and its people, from ``fewest`` to ``most`` in all; ``costs`` are
    what is lost with each where the loss is a sum. A person who is lost to the release as a whole takes back ``share``.
    """

    classes: Classes
    failing: np.ndarray
    open: np.ndarray
    gains: np.ndarray
    needed: float
    share: float
    fewest: int
    most: int
    costs: np.ndarray

    @classmethod
    def of(cls, release: ReleaseOfLevels, loss: Loss) -> "_Choice":
        classes, problem = release.classes, release.classes.problem
        failing = classes.failing
        touched, kept = classes.people_in(failing), ~failing & (classes.records > 0)
        most, share = (
            problem.limit - touched,
            min((risk.share for risk in problem.average_risks), default=0.0),
        )
        gains, needed, fewest = np.ones(classes.size), -np.inf, 0
        if problem.keep_suppressed:
            fewest = max(0, problem.k - touched)
            if problem.average_risks:
                # Those left out are one class more, and nobody is missing.
                needed, share = kept.sum() + 1 - share * problem.units, 0.0
        else:
            gains -= share * classes.alone
            needed = kept.sum() - share * (problem.units - int(classes.alone[failing].sum()))
        of_use = kept & (classes.alone <= most) & ((gains > 0) | problem.keep_suppressed)
        chosen = np.flatnonzero(of_use)
        costs = loss.costs(classes)[chosen]
        return cls(classes, failing, chosen, gains[chosen], float(needed), share, fewest, most, costs)

    @property
    def is_sum(self) -> bool:
        """Whether the loss adds up what is lost with each class."""
        return self.classes.problem.measure != "entropy"

    @property
    def plain(self) -> bool:
        """Whether everybody is in one class."""
        return self.classes.entries is None

    @property
    def people(self) -> np.ndarray:
        """Those of each open class who are in no other tuple."""
        return self.classes.alone[self.open]

    @property
    def records(self) -> np.ndarray:
        """The records of each open class."""
        return self.classes.records[self.open]

    def by_key(self) -> list[tuple[float, np.ndarray]]:
        """The importance of each key that does not show all alike, with the node of each class."""
        every = zip(self.classes.problem.weights.tolist(), self.classes.nodes.T, strict=True)
        return [(weight, nodes) for weight, nodes in every if weight and (nodes != nodes[0]).any()]

    def persons(self) -> list[tuple[list[int], bool, bool]]:
        """Of everybody with several tuples the open classes, and whether any and whether all others fail."""
        if self.classes.entries is None or self.classes.problem.spread is None:
            return []
        number = np.full(self.classes.size, -1, dtype=np.int64)
        number[self.open] = np.arange(self.open.size)
        found = []
        for entries in np.split(self.classes.entries, self.classes.problem.spread.starts[1:-1]):
            own = np.unique(entries)
            others = self.failing[own[number[own] < 0]]
            found.append((number[own[number[own] >= 0]].tolist(), bool(others.any()), bool(others.all())))
        return found


class _Points:
    """Where the chords of x log x end, for each key and node, and where tangents touch it for all that is left out."""

    def __init__(self, choice: _Choice) -> None:
        self.keys = choice.by_key()
        self.records = choice.classes.records
        self.failing = choice.failing
        least = float(self.records[choice.failing].sum())
        most = least + float(choice.records.sum())
        if choice.plain and (choice.people == choice.records).all():
            most = min(most, least + choice.most)
        self.touching = set(np.linspace(max(1.0, least), max(1.0, most), _TANGENTS).tolist())
        self.ends: dict[tuple[int, int], list[float]] = {}
        for key, (_, nodes) in enumerate(self.keys):
            before = self.counted(choice.failing, nodes)
            after = before + np.bincount(nodes[choice.open], choice.records, before.size)
            for node in np.unique(nodes[choice.open]).tolist():
                end = min(after[node], before[node] + most - least)
                self.ends[key, node] = [float(before[node]), float(end)]

    def counted(self, left_out: np.ndarray, nodes: np.ndarray) -> np.ndarray:
        """The records left out by node."""
        return np.bincount(nodes[left_out], self.records[left_out], nodes.max() + 1)

    def add(self, left_out: np.ndarray) -> bool:
        """Let the programme say what this choice loses; ``False`` if it does."""
        before = len(self.touching) + sum(len(ends) for ends in self.ends.values())
        self.touching.add(float(self.records[left_out].sum()))
        for key, (_, nodes) in enumerate(self.keys):
            counts = self.counted(left_out, nodes)
            for (own, node), ends in self.ends.items():
                if own == key:
                    ends[:] = sorted({*ends, float(counts[node])})
        return len(self.touching) + sum(len(ends) for ends in self.ends.values()) > before


def _x_log_x(value: float) -> float:
    return value * float(np.log2(value)) if value > 0.0 else 0.0


def _solved(
    choice: _Choice,
    release: ReleaseOfLevels,
    run: Run,
    costs: np.ndarray | None = None,
    *,
    points: _Points | None = None,
) -> tuple[np.ndarray | None, float]:
    """What a programme leaves out (``None`` if it found nothing), and a bound on the cost: a sum of ``costs``, or bits."""
    import highspy

    rows = _Rows()
    # Classes that are all the same to the programme are one column.
    alike = np.arange(choice.open.size)[:, None]
    if costs is not None and choice.plain:
        alike = np.stack([choice.people, costs], axis=1)
    first, groups, often = np.unique(
        alike, axis=0, return_index=True, return_inverse=True, return_counts=True
    )[1:]
    for one, count in zip(first.tolist(), often.tolist(), strict=True):
        rows.column(0.0 if costs is None else float(costs[one]), 0.0, float(count), whole=True)
    _add_demands(rows, choice, first)
    constant = 0.0 if points is None else _add_bits(rows, choice, points)
    solver = quiet_highs(
        rows.programme(),
        mip_max_nodes=_NODES,
        mip_rel_gap=0.0,
        mip_abs_gap=_EQUAL,
        mip_feasibility_tolerance=1e-9,
    )
    solve_within(solver, run, run.remaining().seconds)
    info = solver.getInfo()
    run.spend(_WORK + max(0, int(info.mip_node_count)))
    if solver.getModelStatus() == highspy.HighsModelStatus.kInfeasible:
        return None, np.inf
    bound = float(info.mip_dual_bound) + constant
    if info.primal_solution_status != highspy.SolutionStatus.kSolutionStatusFeasible:
        return None, bound
    number = np.rint(np.array(solver.getSolution().col_value)[: first.size])
    left_out = choice.failing.copy()
    # Of classes that are alike the first ones.
    order = np.argsort(groups.ravel(), kind="stable")
    rank = np.empty(order.size, dtype=np.int64)
    rank[order] = np.arange(order.size) - np.repeat(np.cumsum(often) - often, often)
    left_out[choice.open[rank < number[groups.ravel()]]] = True
    return left_out, bound


class _Rows:
    """Columns and rows of a programme, one after the other."""

    def __init__(self) -> None:
        self.columns: list[tuple[float, float, float, bool]] = []
        self.rows: list[tuple[np.ndarray, np.ndarray, float, float]] = []

    def column(self, cost: float, least: float, most: float, *, whole: bool = False) -> int:
        """Add a column; its number."""
        self.columns.append((cost, least, most, whole))
        return len(self.columns) - 1

    def row(self, places: Sequence[int], values: Sequence[float], least: float, most: float) -> None:
        """Add a row."""
        self.rows.append((np.asarray(places, dtype=np.int32), np.asarray(values, dtype=float), least, most))

    def programme(self) -> LinearProgramme:
        """All of them."""
        cost, least, most, whole = (np.array(own) for own in zip(*self.columns, strict=True))
        starts = np.cumsum([0, *[places.size for places, *_ in self.rows]]).astype(np.int32)
        places = np.concatenate([places for places, *_ in self.rows])
        values = np.concatenate([values for _, values, *_ in self.rows])
        lower, upper = (np.array([row[end] for row in self.rows], dtype=float) for end in (2, 3))
        return programme(cost, least, most, (starts, places, values), lower, upper, whole=whole)


def _add_demands(rows: _Rows, choice: _Choice, first: np.ndarray) -> None:
    """What must hold of gains and people; ``first`` are the classes that the columns stand for."""
    places = list(range(first.size))
    people, gains = choice.people[first].astype(float).tolist(), choice.gains[first].tolist()
    touching, losing, needed = list(places), list(places), choice.needed
    for own, touched, gone in choice.persons():
        size = len(own)
        if own and not touched:
            # Whoever has a record in one of these classes is left out with it.
            touching.append(rows.column(0.0, 0.0, 1.0))
            people.append(1.0)
            for one in own:
                rows.row([touching[-1], one], [1.0, -1.0], 0.0, np.inf)
            rows.row([touching[-1], *own], [1.0, *[-1.0] * size], -np.inf, 0.0)
        if gone and not own:
            needed += choice.share
        elif gone and choice.share:
            losing.append(rows.column(0.0, 0.0, 1.0))
            gains.append(-choice.share)
            rows.row([losing[-1], *own], [1.0, *[-1.0] * size], 1.0 - size, np.inf)
    rows.row(touching, people, choice.fewest, choice.most)
    rows.row(losing, gains, needed - _EQUAL * max(1.0, abs(needed)), np.inf)


def _add_bits(rows: _Rows, choice: _Choice, points: _Points) -> float:
    """The bits of those left out, or less: tangents of x log x in each key, less chords of it at each node; the constant part."""
    records, out = choice.classes.records, float(choice.classes.records[choice.failing].sum())
    every = list(range(choice.open.size))
    total = rows.column(0.0, 0.0, np.inf)
    rows.row([*every, total], [*choice.records.tolist(), -1.0], -out, -out)
    bits = rows.column(sum(weight for weight, _ in points.keys), 0.0, np.inf)
    for at in sorted(points.touching):
        slope = float(np.log2(at)) + 1.0 / float(np.log(2.0))
        rows.row([bits, total], [1.0, -slope], _x_log_x(at) - slope * at, np.inf)
    constant = 0.0
    for key, (weight, nodes) in enumerate(points.keys):
        before = points.counted(choice.failing, nodes).tolist()
        for node, count in enumerate(before):
            ends = points.ends.get((key, node))
            if ends is None:
                constant -= weight * _x_log_x(count)
                continue
            own = np.flatnonzero(nodes[choice.open] == node).tolist()
            parts, used = [], []
            for low, high in pairwise(ends):
                slope = (_x_log_x(high) - _x_log_x(low)) / (high - low)
                parts.append(rows.column(-weight * slope, 0.0, np.inf))
                used.append(
                    rows.column(weight * (slope * low - _x_log_x(low)), 0.0, 1.0, whole=len(ends) > 2)
                )
                rows.row([parts[-1], used[-1]], [1.0, -high], -np.inf, 0.0)
                rows.row([parts[-1], used[-1]], [1.0, -low], 0.0, np.inf)
            rows.row(used, [1.0] * len(used), 1.0, 1.0)
            rows.row(
                [*own, *parts], [*records[choice.open[own]].tolist(), *[-1.0] * len(parts)], -count, -count
            )
    return constant
