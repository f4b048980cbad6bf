"""The search over groups: block after block of near groups, in each of which many small pools are parted anew.

Several blocks that share no group are searched at the same time, each with random numbers of its own, so that the number of
threads changes nothing.
"""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np

from shoal.microdata.recoding.local_recoding.neighbourhood_kernels import (
    Field,
    chained,
    regroup,
    surroundings,
)
from shoal.microdata.recoding.local_recoding.release import Grouping
from shoal.search import Run, Seeds

# Groups in a block, blocks at a time, and pools that are tried in each.
_BLOCK = 64
_BLOCKS = 8
_POOLS = 200
# Numbers of groups a block may add.
_SPARE = 8


def improved(found: Grouping, run: Run, seeds: Seeds, threads: int, *, bound: float | None) -> Grouping:
    """Better groups, or the same; everything that was allowed stays so."""
    search = _Search(found)
    with ThreadPoolExecutor(max_workers=max(1, threads)) as pool:
        number = 0
        while not run.stopped:
            left = None if run.budget.iterations is None else run.budget.iterations - run.work
            spent = search.turn(seeds.child("blocks", number), left, pool)
            if spent == 0:
                break
            number += 1
            run.spend(spent)
            run.report(search.value, bound=bound)
    return replace(found, groups=search.groups())


class _Search:
    """The groups while they change; those of too few people, by the cautious count, stay as they are."""

    def __init__(self, found: Grouping) -> None:
        items, pieces = found.items, found.pieces
        problem = items.problem
        self.found, self.spans, self.k = found, items.spans, problem.k
        described = found.described()
        self.fixed = np.append(described.people < problem.k, False)[found.groups] & (found.groups >= 0)
        free = np.where(self.fixed, -1, found.groups)
        size = found.size + max(0, problem.units // problem.k - found.size) + _SPARE
        heads, nexts = chained(free, size)
        firsts = np.zeros((size, pieces.keys.shape[1]), dtype=np.int32)
        lasts = firsts.copy()
        firsts[: found.size], lasts[: found.size] = described.firsts, described.lasts
        alive = described.people >= problem.k
        self.field = Field(
            pieces.keys,
            pieces.people,
            pieces.records,
            free.astype(np.int64),
            nexts,
            heads,
            firsts,
            lasts,
            _filled(np.where(alive, described.people, 0), size),
            _filled(np.where(alive, described.records, 0), size),
            _filled(np.where(alive, described.rates, 0.0), size),
        )
        self.room = 0 if problem.keep_suppressed else problem.limit - found.people(kept=False)
        self.most = size
        for risk in problem.average_risks:
            # With nobody more left out and no more groups than now allowed, the average risk stays within its limit.
            self.room = 0
            self.most = min(self.most, int(risk.limit * found.people(kept=True)))
        if problem.spread is not None:
            self.room = 0

    def turn(self, seeds: Seeds, left: int | None, pool: ThreadPoolExecutor) -> int:
        """Search several blocks; returns how many pools were tried."""
        field = self.field
        costly = np.flatnonzero((field.sizes > 0) & (field.rates > 0.0))
        if costly.size == 0:
            return 0
        total = _BLOCKS * _POOLS if left is None else min(left, _BLOCKS * _POOLS)
        tasks = min(_BLOCKS, max(1, total // 20))
        centres = costly[seeds.generator().permutation(costly.size)[:tasks]]
        taken = np.zeros(field.sizes.size, dtype=bool)
        blocks = [
            surroundings(field, self.spans, centre, _BLOCK, taken)
            for centre in centres.tolist()
            if not taken[centre]
        ]
        spare = np.flatnonzero(field.sizes == 0)
        spare = spare[: max(0, self.most - int((field.sizes > 0).sum()))]
        shares = [spare[number :: len(blocks)][:_SPARE] for number in range(len(blocks))]
        pools = [total // len(blocks) + (number < total % len(blocks)) for number in range(len(blocks))]
        full, room = self.found.items.loss.full, max(0, self.room) // len(blocks)

        def search(number: int) -> int:
            state = seeds.child(number).state()
            return int(
                regroup(
                    field,
                    self.spans,
                    blocks[number],
                    shares[number],
                    self.k,
                    full,
                    room,
                    pools[number],
                    state,
                )
            )

        self.room -= sum(pool.map(search, range(len(blocks))))
        return total

    @property
    def value(self) -> float:
        """The loss now."""
        return replace(self.found, groups=self.groups()).value

    def groups(self) -> np.ndarray:
        """The group of each piece."""
        return np.where(self.fixed, self.found.groups, self.field.groups)


def _filled(values: np.ndarray, size: int) -> np.ndarray:
    """An array of a larger size, the rest of it 0."""
    found = np.zeros(size, dtype=values.dtype)
    found[: values.size] = values
    return found
