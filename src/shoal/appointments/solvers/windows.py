"""A larger K part by part: the people of a few slots are seated anew so that none of their crowds is below K.

Where slots have hardly a seat to spare, no constraint solver finds a plan for all of them at once, and annealing gets stuck. But
the people of seven slots around a crowd that is too small, with the seats of these slots, are a problem of the same kind that
is decided in a moment; whatever is found leaves all other crowds as they are, so a plan never gets worse.
"""

import numpy as np

from shoal.appointments.problem import Problem
from shoal.appointments.solvers import constraint
from shoal.runtime import Run, Seeds

# Slots of a window, how many more it may get so that no crowd in it is cut off from the rest of its people, and the units of
# work that one is worth.
_SLOTS, _MORE, _UNITS = 7, 3, 300
# With fewer slots a decision over all of them is as good.
FEWEST_SLOTS = 12


def applies(problem: Problem) -> bool:
    """Whether crowds are rows and slots are labels, of which there are enough to choose from."""
    return problem.plain and problem.slots >= FEWEST_SLOTS


def raise_k(
    problem: Problem, matrix: np.ndarray, bound: int, run: Run, seeds: Seeds, limit: int
) -> np.ndarray:
    """Seat windows anew until K is the bound, or ``limit`` units of work are spent; a plan at least as good.

    >>> from shoal.runtime import Budget
    >>> problem = Problem([6] * 12, [6] * 12)
    >>> thirds = np.kron(np.eye(4, dtype=int), [[3, 3, 0], [0, 3, 3], [3, 0, 3]])
    >>> run = Budget(iterations=2000).start(direction=problem.direction)
    >>> problem.value(thirds), problem.value(raise_k(problem, thirds, 6, run, Seeds(1), 2000))
    (3, 6)
    """
    generator = seeds.generator()
    began, number = run.work, 0
    while (k := problem.value(matrix)) < bound and run.work - began < limit and run.chunk(1):
        target = k + 1
        slots = _window(matrix, target, generator)
        number += 1
        if slots is None:
            run.spend(1)
            continue
        people = matrix[:, slots].sum(axis=1)
        rows = np.flatnonzero(people)
        part = Problem(people[rows], problem.capacities[slots])
        most = min(_UNITS, limit - (run.work - began))
        answer, found = constraint.decide(part, target, run, seeds.child(number), most=most)
        if answer and found is not None:
            matrix = matrix.copy()
            matrix[np.ix_(rows, slots)] = found
            run.report(problem.value(matrix), phase="windows")
    return matrix


def _window(matrix: np.ndarray, target: int, generator: np.random.Generator) -> np.ndarray | None:
    """All slots of a crowd that is too small somewhere, and others; ``None`` if a crowd in them would need too many more."""
    small = np.argwhere((matrix > 0) & (matrix < target))
    row = small[generator.integers(len(small)), 0]
    chosen = dict.fromkeys(np.flatnonzero(matrix[row]).tolist())
    others = generator.permutation(matrix.shape[1]).tolist()
    if generator.random() < 0.5:
        # Other small crowds may help each other out.
        others = small[generator.permutation(len(small)), 1].tolist() + others
    for slot in others:
        if len(chosen) >= _SLOTS:
            break
        chosen[slot] = None
    slots = np.sort(list(chosen))
    cut_off = _cut_off(matrix, slots, target)
    if cut_off.size:
        slots = np.union1d(slots, np.flatnonzero(matrix[cut_off].sum(axis=0)))
        if slots.size > _SLOTS + _MORE or _cut_off(matrix, slots, target).size:
            return None
    return slots


def _cut_off(matrix: np.ndarray, slots: np.ndarray, target: int) -> np.ndarray:
    """The crowds of which some people, but too few, are in these slots."""
    people = matrix[:, slots].sum(axis=1)
    return np.flatnonzero((people > 0) & (people < target))
