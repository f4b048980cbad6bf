"""A larger K by slots that overflow: no piece of a crowd is ever below the K aimed at, and who has no seat is the cost.

Where hardly a seat is to spare, plans that keep to the seats and may have crowds below K are far apart from each other: every
step between two of them must empty and fill slots exactly. The other way round steps are small. Crowds lie in pieces of at
least K, whole or cut, and slots hold whatever lies in them; what is annealed is the number of people beyond the seats. A
piece that is cut can give way a little to either side, so that what is too much here is passed on to where it is too little.
A plan without such people has the K that was aimed at.
"""

import numpy as np

from shoal.appointments.problem import Problem
from shoal.appointments.solvers.overflow_kernels import OVERFLOW, STEP, Crowding, Relief, relieve
from shoal.runtime import Run, Seeds

# Steps that take as long as a unit of work.
STEPS_PER_UNIT = 20_000

# Temperatures at which coolings begin and end, in mean crowds: plans of any scale are the same to the search.
_HOT, _COLD = 1 / 15, 1 / 1200
# People come one by one; below this nothing moves any more.
_COLDEST = 0.05
# How many pieces of the K aimed at a mean crowd may have: of more, seating part after part anew makes better plans.
_PIECES = 2.5
# How many coolings the steps allowed are for: many short ones find more than few long ones.
_COOLINGS = 8


def applies(problem: Problem, bound: int) -> bool:
    """Whether crowds are rows, slots are labels, everybody may come anywhere, and crowds are hardly ever cut in three."""
    return problem.plain and problem.people <= _PIECES * bound * problem.rows


class Overflow:
    """One cooling towards a K, in chunks; crowds begin whole, in a random order, each in the slot with most seats left."""

    def __init__(self, problem: Problem, k: int, schedule: int, state: np.ndarray, order: np.ndarray) -> None:
        rows, slots = problem.rows, problem.slots
        matrix = np.zeros((rows, slots), np.int64)
        load = np.zeros(slots, np.int64)
        where = np.zeros((rows, max(1, min(slots, int(problem.sizes.max()) // k))), np.int64)
        for row in order:
            slot = int(np.argmax(problem.capacities - load))
            matrix[row, slot], where[row, 0] = problem.sizes[row], slot
            load[slot] += problem.sizes[row]
        cold = max(_COLDEST, _COLD * problem.people / rows)
        hot = max(2 * cold, _HOT * problem.people / rows)
        self.relief = Relief(k, schedule, hot, cold)
        self.crowding = Crowding(
            matrix=matrix,
            where=where,
            number=np.ones(rows, np.int64),
            load=load,
            capacities=problem.capacities,
            memory=np.array([0, np.maximum(load - problem.capacities, 0).sum()], np.int64),
            heat=np.zeros(1),
            state=state,
        )

    @property
    def everybody_seated(self) -> bool:
        """Whether everybody has a seat."""
        return bool(self.crowding.memory[OVERFLOW] == 0)

    @property
    def done(self) -> bool:
        """Whether the schedule is over, or everybody has a seat."""
        return self.everybody_seated or bool(self.crowding.memory[STEP] >= self.relief.schedule)

    @property
    def matrix(self) -> np.ndarray:
        """Who is where; a plan if everybody has a seat."""
        return self.crowding.matrix

    def steps(self, number: int) -> int:
        """Do some steps; returns how many were done."""
        number = min(number, self.relief.schedule - int(self.crowding.memory[STEP]))
        return int(relieve(self.crowding, self.relief, number))

    def run(self, run: Run, most: int) -> int:
        """Go on until everybody has a seat, or the schedule, the steps allowed or the budget are over; the steps done."""
        spent = 0
        while not self.done and spent < most and (chunk := run.chunk(min(100_000, most - spent))):
            done = self.steps(chunk)
            run.spend(done)
            spent += done
        return spent


def raise_k(
    problem: Problem, matrix: np.ndarray, bound: int, run: Run, seeds: Seeds, limit: int
) -> np.ndarray:
    """Aim at the bound, then at less and at the bound again, until it is reached or ``limit`` steps are done.

    The plan is at least as good as the one given.

    >>> from shoal.runtime import Budget
    >>> problem = Problem([6] * 12, [6] * 12)
    >>> thirds = np.kron(np.eye(4, dtype=int), [[3, 3, 0], [0, 3, 3], [3, 0, 3]])
    >>> run = Budget(iterations=10_000).start(direction=problem.direction)
    >>> problem.value(thirds), problem.value(raise_k(problem, thirds, 6, run, Seeds(1), 10_000))
    (3, 6)
    """
    step, spent, attempt = bound - problem.value(matrix), 0, 0
    while (k := problem.value(matrix)) < bound and spent < limit and not run.stopped:
        place = seeds.child(attempt)
        order = place.child("order").generator().permutation(problem.rows)
        schedule = max(100, limit // _COOLINGS)
        cooling = Overflow(problem, min(bound, k + step), schedule, place.child("cool").state(), order)
        attempt += 1
        spent += cooling.run(run, limit - spent)
        if cooling.everybody_seated:
            matrix = cooling.matrix
            run.report(problem.value(matrix), phase="overflow")
            step *= 2
        else:
            step = step // 2 or bound - k
    return matrix


def warm_up() -> None:
    """Compile the kernel on a tiny problem."""
    state = np.arange(1, 5, dtype=np.uint64)
    Overflow(Problem([4, 3], [2, 5]), 2, 100, state, np.arange(2)).steps(10)
