"""An upper bound on K from patterns: how crowds can be cut into pieces, and how slots can be filled with them.

For a fixed K every crowd is cut into pieces of at least K, and every slot is filled with such pieces. If for some prices of the
piece sizes the cheapest way to cut all crowds costs more than the dearest way to fill all slots is worth, no plan exists.
Good prices are the duals of the linear programme in which crowds choose cutting patterns, slots choose filling patterns, and as
many pieces of each size are cut as are filled in: the cutting-stock programme of Gilmore and Gomory (A linear programming
approach to the cutting-stock problem, 1961) seen from both sides. Patterns are generated as they are needed. What the
programme says is never trusted: its prices are rounded to whole numbers, and the inequality is checked exactly.
"""

from typing import Any

import numpy as np

from shoal.appointments.problem import Problem
from shoal.runtime import Run
from shoal.runtime.kernels import kernel
from shoal.runtime.linear_programmes import quiet_highs

# Beyond this many seats the paths become long; a round of pricing counts as this many units of work.
MOST_SEATS, MOST_CROWDS, UNITS_PER_ROUND, MOST_ROUNDS = 3_000, 3_000, 4, 300
SCALE = 10_000_000
_NEVER = np.int64(2**60)


def cheapest_cuts(prices: np.ndarray, k: int, size: int, choice: np.ndarray) -> np.ndarray:
    """The least price of cutting 0 … ``size`` people into pieces of at least k; ``choice`` gets the last piece."""
    cost = np.full(size + 1, _NEVER)
    cost[0] = 0
    _cut(prices, k, size, choice, cost)
    return cost


# Machine code of kernels that return no arrays is kept; these write into arrays that they are given.
@kernel
def _cut(prices: np.ndarray, k: int, size: int, choice: np.ndarray, cost: np.ndarray) -> None:
    largest = prices.size - 1
    for people in range(k, size + 1):
        for piece in range(k, min(people, largest) + 1):
            before = cost[people - piece]
            if before < _NEVER and before + prices[piece] < cost[people]:
                cost[people] = before + prices[piece]
                choice[people] = piece


def dearest_fills(prices: np.ndarray, k: int, seats: int, choice: np.ndarray) -> np.ndarray:
    """The most that pieces of at least k in 0 … ``seats`` seats are worth; ``choice`` is 0 where a seat stays empty."""
    worth = np.zeros(seats + 1, np.int64)
    _fill(prices, k, seats, choice, worth)
    return worth


@kernel
def _fill(prices: np.ndarray, k: int, seats: int, choice: np.ndarray, worth: np.ndarray) -> None:
    largest = prices.size - 1
    for room in range(1, seats + 1):
        worth[room] = worth[room - 1]
        choice[room] = 0
        for piece in range(k, min(room, largest) + 1):
            value = worth[room - piece] + prices[piece]
            if value > worth[room]:
                worth[room] = value
                choice[room] = piece


def applies(problem: Problem) -> bool:
    """Whether the bound can be computed: nobody is pinned, and numbers are not too large."""
    return bool(
        not problem.pinned.any()
        and int(problem.label_capacities.max()) <= MOST_SEATS
        and int(problem.crowd_sizes.max()) <= MOST_CROWDS
    )


class Patterns:
    """The programme for one problem and one K."""

    def __init__(self, problem: Problem, k: int) -> None:
        self.k = k
        seats = problem.label_capacities
        self.sizes, self.crowds = np.unique(problem.crowd_sizes[problem.crowd_sizes > 0], return_counts=True)
        self.seats, self.slots = np.unique(seats[seats >= k], return_counts=True)
        self.people = int(problem.crowd_sizes.sum())
        self.cuts: list[tuple[int, list[int]]] = []
        self.fills: list[tuple[int, list[int]]] = []

    def excluded(self, run: Run) -> bool | None:
        """Whether no plan exists; ``None`` if the budget ended before that was known. False proves nothing."""
        if int(self.sizes.min()) < self.k or int((self.seats * self.slots).sum()) < self.people:
            return True
        largest = int(min(self.sizes.max(), self.seats.max()))
        if largest < self.k:
            return True
        master = self._master(largest)
        prices = np.zeros(largest + 1, np.int64)
        cut_choice = np.zeros(int(self.sizes.max()) + 1, np.int64)
        fill_choice = np.zeros(int(self.seats.max()) + 1, np.int64)
        kinds = largest - self.k + 1
        for _ in range(MOST_ROUNDS):
            if run.remaining(iterations=UNITS_PER_ROUND).iterations != UNITS_PER_ROUND or run.stopped:
                return None
            run.spend(UNITS_PER_ROUND)
            master.run()
            if master.getInfo().objective_function_value < 1e-7:
                return False
            duals = np.array(master.getSolution().row_dual)
            prices[self.k :] = np.rint(-SCALE * duals[:kinds]).astype(np.int64)
            cost = cheapest_cuts(prices, self.k, cut_choice.size - 1, cut_choice)
            worth = dearest_fills(prices, self.k, fill_choice.size - 1, fill_choice)
            needed = sum(
                int(number) * int(cost[size]) for size, number in zip(self.sizes, self.crowds, strict=True)
            )
            had = sum(
                int(number) * int(worth[room]) for room, number in zip(self.seats, self.slots, strict=True)
            )
            if needed > had:
                return True
            if not self._add_patterns(master, duals, kinds, cost, worth, cut_choice, fill_choice):
                return False
        return False

    def _master(self, largest: int) -> Any:
        master = quiet_highs(solver="simplex")
        nothing, infinity = np.array([], np.int32), np.inf
        for _ in range(largest - self.k + 1):
            master.addRow(0.0, 0.0, 0, nothing, np.array([]))
        for number in self.crowds:
            master.addRow(float(number), float(number), 0, nothing, np.array([]))
        for number in self.slots:
            master.addRow(-infinity, float(number), 0, nothing, np.array([]))
        for place in range(self.crowds.size):
            # A crowd that is not cut costs one; at cost 0 all of them are.
            row = np.array([largest - self.k + 1 + place], np.int32)
            master.addCol(1.0, 0.0, infinity, 1, row, np.array([1.0]))
        return master

    def _add_patterns(
        self,
        master: Any,
        duals: np.ndarray,
        kinds: int,
        cost: np.ndarray,
        worth: np.ndarray,
        cut_choice: np.ndarray,
        fill_choice: np.ndarray,
    ) -> int:
        """Add the pattern of each crowd size and slot size that improves the programme most; says how many did."""
        added = 0
        for place, size in enumerate(self.sizes.tolist()):
            if cost[size] < SCALE * duals[kinds + place] - 1:
                pieces, left = [], size
                while left:
                    pieces.append(int(cut_choice[left]))
                    left -= pieces[-1]
                self.cuts.append((place, pieces))
                self._add(master, pieces, 1.0, kinds + place)
                added += 1
        for place, room in enumerate(self.seats.tolist()):
            if -worth[room] < SCALE * duals[kinds + self.sizes.size + place] - 1:
                pieces, left = [], room
                while left:
                    piece = int(fill_choice[left])
                    if piece:
                        pieces.append(piece)
                    left -= piece or 1
                self.fills.append((place, pieces))
                self._add(master, pieces, -1.0, kinds + self.sizes.size + place)
                added += 1
        return added

    def _add(self, master: Any, pieces: list[int], sign: float, row: int) -> None:
        found, number = np.unique(pieces, return_counts=True)
        rows = np.concatenate([found - self.k, [row]]).astype(np.int32)
        values = np.concatenate([sign * number, [1.0]])
        master.addCol(0.0, 0.0, np.inf, rows.size, rows, values)


def lower(problem: Problem, low: int, high: int, run: Run) -> int:
    """The bound ``high`` on K, lowered as far as patterns exclude what lies above; ``low`` is known to be possible."""
    # What excludes K excludes all above it, since a plan with a larger K is also one with K.
    feasible = low
    while feasible < high:
        k = (feasible + high + 1) // 2
        answer = Patterns(problem, k).excluded(run)
        if answer is None:
            return high
        if answer:
            high = k - 1
        else:
            feasible = k
    return high


def warm_up() -> None:
    """Compile the kernels on tiny numbers."""
    cheapest_cuts(np.zeros(3, np.int64), 1, 2, np.zeros(3, np.int64))
    dearest_fills(np.zeros(3, np.int64), 1, 2, np.zeros(3, np.int64))
