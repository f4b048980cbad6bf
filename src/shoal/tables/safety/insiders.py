"""What insiders learn from a pattern of a general table, asked only where it is in doubt.

A short change of hidden cells that meets a requirement meets it for every insider who knows none of the cells it moves;
only for the few others a further change is looked for, at first one that avoids all of them at once.
"""

import numpy as np

from shoal.tables.heuristic.certificates import Certified
from shoal.tables.heuristic.neighbourhood import Neighbourhoods
from shoal.tables.problem import Problem, Requirements
from shoal.tables.safety.attacker import View
from shoal.tables.safety.watching import Watch, unwatched


def broken_by_insiders(problem: Problem, hidden: np.ndarray, watch: Watch = unwatched) -> Requirements:
    """The requirements that some insider breaks, each with the number of the insider."""
    wanted = problem.requirements
    view = View(problem, hidden, watch)
    pairs = _known_by_ties(problem, view)
    if view.ties.groups:
        small, owner = view.on_groups(wanted)
        most = _largest(small)
        for group, kind, number in _broken(view.small, most, view, watch):
            same = np.flatnonzero((small.cell == group) & (small.kind == kind))
            pairs.update((int(which), number) for which in np.flatnonzero(np.isin(owner, same)))
    doubtful = problem.against_insiders(wanted, pairs)
    # Tied cells may need less than the one among them that needs most.
    return doubtful.at(view.unmet(doubtful))


def _largest(wanted: Requirements) -> Requirements:
    """Of the requirements on one cell in one direction, the one that asks most."""
    order = np.lexsort((-wanted.need, wanted.kind, wanted.cell))
    pairs = np.stack([wanted.cell[order], wanted.kind[order]], axis=1)
    first = np.ones(order.size, dtype=bool)
    first[1:] = (pairs[1:] != pairs[:-1]).any(axis=1)
    return wanted.at(order[first])


def _known_by_ties(problem: Problem, view: View) -> set[tuple[int, int]]:
    """Requirements on cells that are tied to one an insider knows."""
    group = view.ties.group[problem.requirements.cell]
    pairs: set[tuple[int, int]] = set()
    for number, cells in enumerate(problem.insiders):
        mine = np.unique(view.ties.group[cells])
        tied = np.flatnonzero(np.isin(group, mine[mine >= 0]))
        pairs.update((int(which), number) for which in tied)
    return pairs


def _broken(problem: Problem, wanted: Requirements, view: View, watch: Watch) -> list[tuple[int, int, int]]:
    """Group, kind and insider of what insiders break, among groups that are all hidden."""
    state = Certified(problem, wanted, Neighbourhoods(problem))
    state.hidden[:] = True
    for place in np.argsort(-wanted.need, kind="stable").tolist():
        watch.look()
        if state.moved[place] is None:
            state.meet(place)
    watch.look()
    more = state.against_insiders()
    every = wanted.with_more(more)
    state.require(every)
    doubtful = []
    for place in range(wanted.size, every.size):
        watch.look()
        if state.moved[place] is None and not state.together(place) and not state.meet(place):
            doubtful.append(place)
    at = np.array(doubtful, dtype=np.int64)
    bad = every.at(at[view.attacker.unmet(every.at(at))] if at.size else at)
    return list(zip(bad.cell.tolist(), bad.kind.tolist(), bad.scenario.tolist(), strict=True))
