"""The search over groups: block after block of near groups, in each of which many small pools are parted anew.

Several blocks that share no group are searched at the same time, each with random numbers of its own, so that the number of
threads changes nothing.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np

from shoal.microdata.models.model import ValueModel
from shoal.microdata.recoding.local_recoding.groups import Groups
from shoal.microdata.recoding.local_recoding.neighbourhood_kernels import (
    Field,
    chained,
    regroup,
    surroundings,
)
from shoal.microdata.recoding.local_recoding.release import Grouping
from shoal.microdata.recoding.local_recoding.requirements import failing
from shoal.runtime import Run, Seeds

# Groups in a block and pools that are tried in each; where there are many groups, to find those near one of them takes longer.
_BLOCK, _POOLS = 64, 200
_MANY, _LARGER = 20_000, 4
_POOLS_WITH_MODELS = 40
# Blocks at a time.
_BLOCKS = 8
# Numbers of groups a block may add.
_SPARE = 8


def improved(grouping: Grouping, run: Run, seeds: Seeds, threads: int, *, bound: float | None) -> Grouping:
    """Better groups, or the same; everything that was allowed stays so."""
    search = _Search(grouping)
    with ThreadPoolExecutor(max_workers=max(1, threads)) as pool:
        number = idle = 0
        # Twice as many turns as it takes to begin at every group once.
        while not run.stopped and idle <= max(50, 2 * search.alive // _BLOCKS):
            left = None if run.budget.iterations is None else run.budget.iterations - run.work
            spent = search.turn(seeds.child("blocks", number), left, pool)
            if spent == 0:
                break
            number += 1
            run.spend(spent)
            idle = 0 if run.value is None or search.value < run.value else idle + 1
            run.report(search.value, bound=bound)
    return replace(grouping, groups=search.groups())


class _Search:
    """The groups while they change; those of too few people, by the cautious count, stay as they are.

    Models of values look at more than the kernels know. With them few pools are tried at a time, and a block with a group that
    fails goes back to what it was.
    """

    def __init__(self, grouping: Grouping) -> None:
        problem = grouping.items.problem
        self.found, self.spans, self.problem = grouping, grouping.items.spans, problem
        described = grouping.described()
        few = np.flatnonzero((described.people < problem.k) & (described.records > 0))
        self.fixed = np.isin(grouping.groups, few)
        self.loss_of_fixed = float((described.records[few] * described.rates[few]).sum())
        self.size = max(grouping.size, problem.units // problem.k) + _SPARE
        self.usable = np.ones(self.size, dtype=bool)
        self.usable[few] = False
        self.field = self._field(np.where(self.fixed, -1, grouping.groups))
        self.models = any(isinstance(model, ValueModel) for model in problem.models)
        self.room = problem.limit - grouping.people(released=False)
        if problem.keep_suppressed or problem.spread is not None or self.models:
            self.room = 0
        self.most = self.size
        for risk in problem.average_risks:
            # With nobody more left out and no more groups than now allowed, the average risk stays within its limit.
            self.room = 0
            self.most = min(self.most, int(risk.limit * grouping.people(released=True)) - few.size)

    @property
    def alive(self) -> int:
        """How many groups there are."""
        return int((self.field.sizes > 0).sum())

    def _field(self, groups: np.ndarray) -> Field:
        pieces = self.found.pieces
        made = Groups.of(self.spans, pieces.keys, pieces.people, pieces.records, groups, self.size)
        heads, nexts = chained(groups, self.size)
        return Field(
            pieces.keys,
            pieces.people,
            pieces.records,
            groups,
            nexts,
            heads,
            made.firsts,
            made.lasts,
            made.people,
            made.records,
            made.rates,
        )

    def turn(self, seeds: Seeds, left: int | None, pool: ThreadPoolExecutor) -> int:
        """Search several blocks; returns how many pools were tried."""
        field, rng = self.field, seeds.generator()
        costly = np.flatnonzero((field.sizes > 0) & (field.rates > 0.0))
        if costly.size == 0:
            return 0
        there = field.sizes[field.sizes > 0]
        larger = _LARGER if there.size > _MANY else 1
        total = larger * _BLOCKS * (_POOLS_WITH_MODELS if self.models else _POOLS)
        total = total if left is None else min(left, total)
        tasks = min(_BLOCKS, max(1, total // 20))
        centres = costly[rng.permutation(costly.size)[:tasks]]
        taken = np.zeros(field.sizes.size, dtype=bool)
        blocks = [
            surroundings(field, self.spans, centre, larger * _BLOCK, taken)
            for centre in centres.tolist()
            if not taken[centre]
        ]
        spare = np.flatnonzero((field.sizes == 0) & self.usable)
        spare = spare[: max(0, self.most - there.size)]
        # In a row, like those of a single block: machine code is made for each kind of array by itself.
        shares = [
            np.ascontiguousarray(spare[number :: len(blocks)][:_SPARE]) for number in range(len(blocks))
        ]
        pools = [total // len(blocks) + (number < total % len(blocks)) for number in range(len(blocks))]
        full, room, k = self.found.items.loss.full, max(0, self.room) // len(blocks), self.problem.k
        if self.models:
            # What must be diverse needs more than k people: as many as there are in some of the groups that hold.
            k = max(k, int(np.quantile(there, rng.uniform(0.0, 0.5))))
        before = field.groups.copy()

        def search(number: int) -> int:
            state = seeds.child(number).state()
            block, free = blocks[number], shares[number]
            return int(regroup(field, self.spans, block, free, k, full, room, pools[number], state))

        self.room -= sum(pool.map(search, range(len(blocks))))
        if self.models and not np.array_equal(before, field.groups):
            self._take_back(before, blocks, shares)
        return total

    def _take_back(self, before: np.ndarray, blocks: list[np.ndarray], shares: list[np.ndarray]) -> None:
        """Undo what happened in blocks where a group fails a model now."""
        bad = failing(self.found.items, self.groups(), self.size)
        groups = self.field.groups.copy()
        for block, share in zip(blocks, shares, strict=True):
            if bad[block].any() or bad[share].any():
                inside = np.isin(before, block)
                groups[inside] = before[inside]
        if not np.array_equal(groups, self.field.groups):
            self.field = self._field(groups)

    @property
    def value(self) -> float:
        """The loss now."""
        items, field = self.found.items, self.field
        if items.problem.measure == "entropy":
            return replace(self.found, groups=self.groups()).value
        out = int(self.found.pieces.records[(field.groups < 0) & ~self.fixed].sum())
        total = self.loss_of_fixed + float((field.counts * field.rates).sum()) + out * items.loss.full
        return total / items.problem.size if items.problem.measure == "loss" else total

    def groups(self) -> np.ndarray:
        """The group of each piece."""
        return np.where(self.fixed, self.found.groups, self.field.groups)
