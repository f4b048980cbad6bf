"""A generational algorithm on groupings, with a crossover, five mutations and the dynamic control.

A chromosome gives each of n items a label; labels are numbered in the order in which they appear. The cost counts the
pairs of items that are together in one of two groupings only, the chromosome and a hidden one.
"""

from itertools import combinations

import numpy as np
import pytest

from shoal.search import Budget, Seeds, StopReason
from shoal.search.evolution import AnyParents, Evolution, MergeAndTruncate, Operator, Strategy, evolve
from shoal.search.randomness import below

HIDDEN = (0, 1, 0, 2, 1, 3, 0, 2, 1)
N = len(HIDDEN)
STRATEGY = Strategy(AnyParents(), MergeAndTruncate())


def renamed(labels):
    names = {}
    return tuple(names.setdefault(label, len(names)) for label in labels)


def cost(labels):
    return float(
        1 + sum((labels[i] == labels[j]) != (HIDDEN[i] == HIDDEN[j]) for i, j in combinations(range(N), 2))
    )


def _draw(state, items):
    items = list(items)
    return items[int(below(state, len(items)))]


def _subset(state, items, size):
    items = list(items)
    return [items.pop(int(below(state, len(items)))) for _ in range(size)]


def crossover(state, one, other):
    """Groups of one parent are injected into the grouping of the other, and the other way round."""
    children = []
    for giver, taker in ((one, other), (other, one)):
        groups = sorted(set(giver))
        lo, hi = sorted([int(below(state, len(groups))), int(below(state, len(groups)))])
        site = groups[lo : hi + 1]
        children.append(renamed([(0, g) if g in site else (1, t) for g, t in zip(giver, taker, strict=True)]))
    return children


def create(state, parent):
    subset = _subset(state, range(N), 1 + int(below(state, N)))
    return [renamed([-1 if item in subset else parent[item] for item in range(N)])]


def eliminate(state, parent):
    gone = _draw(state, set(parent))
    rest = sorted(set(parent) - {gone})
    if not rest:
        return [parent]
    return [renamed([_draw(state, rest) if label == gone else label for label in parent])]


def split(state, parent):
    group = _draw(state, set(parent))
    items = [item for item in range(N) if parent[item] == group]
    half = _subset(state, items, len(items) // 2)
    return [renamed([-1 if item in half else parent[item] for item in range(N)])]


def swap(state, parent):
    i, j = _subset(state, range(N), 2)
    child = list(parent)
    child[i], child[j] = parent[j], parent[i]
    return [renamed(child)]


def move(state, parent):
    item = int(below(state, N))
    others = sorted(set(parent) - {parent[item]})
    if not others:
        return [parent]
    return [renamed([_draw(state, others) if i == item else parent[i] for i in range(N)])]


def operators(*, crossovers=5, mutations=2):
    return [
        Operator("X", crossover, parents=2, times=crossovers),
        Operator("GC", create, times=mutations),
        Operator("GE", eliminate, times=mutations),
        Operator("GS", split, times=mutations),
        Operator("ES", swap, times=mutations),
        Operator("EM", move, times=mutations),
    ]


def search(seed, **options):
    state = Seeds(seed).child("founders").state()
    founders = [renamed([int(below(state, N)) for _ in range(N)]) for _ in range(40)]
    return Evolution(founders, cost, operators(), STRATEGY, Seeds(seed), **options)


def test_work_is_counted_as_published():
    # 40 founders and 30 generations of 5 crossovers with two children each and 5 × 2 mutations.
    grouping = search(0)
    means = [
        np.mean([len(set(member)) for member in grouping.population.members])
        for _ in evolve(grouping, Budget(iterations=30).start())
    ]
    assert len(means) == 30
    assert grouping.evaluations == 40 + 30 * 20
    statistics = grouping.statistics
    assert statistics.operators == ("X", "GC", "GE", "GS", "ES", "EM")
    assert statistics.made.sum(axis=1).tolist() == [300, 60, 60, 60, 60, 60]
    assert (statistics.improved + statistics.worse + statistics.equal == statistics.made).all()
    assert (statistics.unused[:, -1] == statistics.made[:, -1]).all()
    assert (statistics.survived <= statistics.made).all()


@pytest.mark.parametrize("seed", range(3))
def test_the_hidden_grouping_is_found(seed):
    grouping, run = search(seed), Budget(iterations=150, target=1.0).start()
    best = []
    for _ in evolve(grouping, run):
        keys = grouping.population.keys[:, 0]
        assert (np.diff(keys) >= 0).all()
        best.append(keys[0])
    assert best == sorted(best, reverse=True)
    assert grouping.best == renamed(HIDDEN)
    assert run.closing()["stopped_by"] is StopReason.TARGET


def test_dynamic_control_switches_off_what_has_not_survived_five_times_and_ends_when_nothing_is_left():
    grouping = search(2, switch_off_after=5)
    run = Budget(iterations=2000).start()
    active = [grouping.switch_off.active.copy() for _ in evolve(grouping, run)]
    assert grouping.over
    assert run.work == len(active) < 2000
    statistics = grouping.statistics
    full = np.array([10, 2, 2, 2, 2, 2])
    for operator in range(6):
        barren = 0
        for generation in range(len(active)):
            was_active = generation == 0 or active[generation - 1][operator]
            assert statistics.made[operator, generation] == (full[operator] if was_active else 0)
            if was_active:
                barren = 0 if statistics.survived[operator, generation] else barren + 1
            assert active[generation][operator] == (barren < 5)
    assert grouping.evaluations == 40 + statistics.made.sum() < 40 + 20 * len(active)


def test_without_dynamic_control_all_operators_go_on():
    grouping, run = search(2), Budget(iterations=200).start()
    for _ in evolve(grouping, run):
        pass
    assert grouping.switch_off.active.all()
    assert grouping.evaluations == 40 + 200 * 20


def test_clones_have_no_efficiency():
    clones = Evolution(
        [HIDDEN, (0,) * N], cost, [Operator("clone", lambda state, p: [p], times=3)], STRATEGY, Seeds(0)
    )
    for _ in range(4):
        clones.step()
    statistics = clones.statistics
    assert (statistics.equal == 3).all()
    assert (statistics.highest == 0).all()
    assert (statistics.lowest == 0).all()
    assert np.isnan(statistics.gain).all()
    assert np.isnan(statistics.loss).all()
