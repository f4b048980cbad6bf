"""The largest K by constraint programming: is there a plan with no crowd below K? Decided for one K after the other.

For a fixed K a cell is empty or holds at least K, and once it is known which cells are used the rest is a flow with lower
bounds; so only the pattern of used cells is hard, and the sizes of the numbers do not matter.
"""

import itertools
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

import numpy as np
from pydantic import Field

from shoal.appointments.bounds.limits import largest_k
from shoal.appointments.problem import Problem
from shoal.appointments.solvers import cp_sat, filling
from shoal.appointments.solvers.cp_sat import Answer
from shoal.appointments.solvers.method import SearchResult, method
from shoal.errors import Infeasible, InputError
from shoal.runtime import Run, Seeds
from shoal.runtime.options import Options

if TYPE_CHECKING:
    from ortools.sat.python.cp_model import CpSolver

DEFAULT_UNITS = 20_000


class ConstraintOptions(Options):
    """``search``: decide one K after the other by bisection, or let the solver maximise K itself."""

    search: Literal["bisect", "maximise"] = Field(
        default="bisect", description="decide one K after the other, or let the solver maximise K itself"
    )


#: Whether there is a plan (``None``: not known within the budget), and such a plan.
Decision: TypeAlias = tuple[bool | None, np.ndarray | None]


class SeatModel:
    """The model all aims share: who sits where, and how many people of a crowd are at a label.

    ``seats[row, slot]`` are variables for allowed places; ``cells[crowd, label]`` are pairs of a count and a literal for
    "somebody is there". Cells that can never be used have no entry.
    """

    def __init__(self, problem: Problem, smallest: int = 1) -> None:
        from ortools.sat.python.cp_model import CpModel, Domain

        self.problem = problem
        self.model = CpModel()
        self._domain = Domain
        self.smallest = smallest
        self.seats: dict[tuple[int, int], Any] = {}
        self.cells: dict[tuple[int, int], tuple[Any, Any, int]] = {}
        self._rows_of = [np.flatnonzero(problem.crowds == crowd) for crowd in range(problem.pinned.shape[0])]
        self._slots_of = [np.flatnonzero(problem.labels == label) for label in range(problem.pinned.shape[1])]
        self._build()

    def _build(self) -> None:
        problem, model = self.problem, self.model
        for crowd, rows in enumerate(self._rows_of):
            for label, slots in enumerate(self._slots_of):
                self._cell(crowd, label, rows, slots)
        for row in range(problem.rows):
            own = [seat for (r, _), seat in self.seats.items() if r == row]
            model.add(sum(own) == int(problem.sizes[row]))
        by_slot: dict[int, list[Any]] = {}
        for (_, slot), seat in self.seats.items():
            by_slot.setdefault(slot, []).append(seat)
        for slot, seats in by_slot.items():
            model.add(sum(seats) <= int(problem.capacities[slot]))
        if problem.diverse:
            self._demand_diversity()

    def _cell(self, crowd: int, label: int, rows: np.ndarray, slots: np.ndarray) -> None:
        problem, model = self.problem, self.model
        pinned = int(problem.pinned[crowd, label])
        places = [
            (int(row), int(slot))
            for row in rows
            for slot in slots
            if problem.eligible[row, slot] and problem.capacities[slot] > 0
        ]
        most = sum(int(problem.sizes[row]) for row in {row for row, _ in places})
        most = pinned + min(most, sum(int(problem.capacities[slot]) for slot in {slot for _, slot in places}))
        if most < self.smallest and not pinned:
            return
        if not places:
            if pinned:
                self.cells[crowd, label] = (pinned, True, most)
            return
        used = True if pinned else model.new_bool_var("")
        own = []
        for row, slot in places:
            top = int(min(problem.sizes[row], problem.capacities[slot]))
            if len(places) == 1 and not pinned:
                low = min(self.smallest, top)
                domain = self._domain.from_intervals([[0, 0], [low, top]])
                seat = model.new_int_var_from_domain(domain, "")
            else:
                seat = model.new_int_var(0, top, "")
            self.seats[row, slot] = seat
            own.append(seat)
        count = own[0] if len(own) == 1 and not pinned else sum(own) + pinned
        self.cells[crowd, label] = (count, used, most)
        if not pinned:
            model.add(count <= most * used)
            model.add(count >= max(1, self.smallest) * used)

    def _demand_diversity(self) -> None:
        problem, model = self.problem, self.model
        for (crowd, label), (_, used, _) in self.cells.items():
            required = int(problem.required_kinds[crowd])
            if required <= 1:
                continue
            present: list[Any] = []
            for kind in range(problem.pinned_kinds.shape[2]):
                if problem.pinned_kinds[crowd, label, kind]:
                    present.append(1)
                    continue
                if seats := self._seats_at(crowd, label, kind):
                    here = model.new_bool_var("")
                    model.add(sum(seats) >= here)
                    present.append(here)
            if problem.pinned[crowd, label]:
                # Who is pinned stays as is; only newcomers bring the duty.
                everyone = self._seats_at(crowd, label)
                if not everyone:
                    continue
                used = model.new_bool_var("")
                model.add(sum(everyone) <= int(problem.people) * used)
            model.add(sum(present) >= required * used)

    def _seats_at(self, crowd: int, label: int, kind: int | None = None) -> list[Any]:
        """The variables of a crowd (or of one kind of its people) at a label."""
        rows = [row for row in self._rows_of[crowd] if kind is None or self.problem.kinds[row] == kind]
        seats = (self.seats.get((int(row), int(slot))) for row in rows for slot in self._slots_of[label])
        return [seat for seat in seats if seat is not None]

    def demand(self, k: int) -> None:
        """No occupied cell below k, with what follows from it for the number of pieces."""
        problem, model = self.problem, self.model
        for (crowd, label), (count, used, _) in self.cells.items():
            if problem.pinned[crowd, label]:
                model.add(count >= k)
            else:
                model.add(count >= k * used)
        for crowd in range(problem.pinned.shape[0]):
            own = [used for (q, _), (_, used, _) in self.cells.items() if q == crowd]
            if own:
                total = int(problem.crowd_sizes[crowd])
                model.add(sum(own) <= max(1, total // k))
                model.add(sum(own) >= 1)
        if not problem.pinned.any():
            for label, seats in enumerate(problem.label_capacities.tolist()):
                own = [used for (_, column), (_, used, _) in self.cells.items() if column == label]
                if own:
                    model.add(sum(own) <= seats // k)
        self._break_symmetry()

    def _break_symmetry(self) -> None:
        # Slots of equal capacity are ordered by their share of the largest group.
        problem = self.problem
        if not problem.plain:
            return
        largest = int(np.argmax(problem.sizes))
        order = np.argsort(problem.capacities, kind="stable")
        for one, other in itertools.pairwise(order):
            if problem.capacities[one] == problem.capacities[other]:
                first, second = self.seats.get((largest, int(one))), self.seats.get((largest, int(other)))
                if first is not None and second is not None:
                    self.model.add(first >= second)

    def hint(self, matrix: np.ndarray) -> None:
        """Begin the search near a known plan."""
        problem = self.problem
        cells = problem.cells(matrix)
        for (row, slot), seat in self.seats.items():
            self.model.add_hint(seat, int(matrix[row, slot]))
        for (crowd, label), (_, used, _) in self.cells.items():
            if used is not True:
                self.model.add_hint(used, int(cells[crowd, label] > 0))

    def matrix(self, solver: "CpSolver") -> np.ndarray:
        """The plan the solver found."""
        found = np.zeros((self.problem.rows, self.problem.slots), np.int64)
        for (row, slot), seat in self.seats.items():
            found[row, slot] = solver.value(seat)
        return found

    def decided(self, run: Run, seeds: Seeds, most: int | None) -> Decision:
        """What the solver says within ``most`` units of work."""
        answer, solver = cp_sat.run_model(self.model, run, seeds, most=most)
        if answer is Answer.SOLVED:
            return True, self.matrix(solver)
        return (False if answer is Answer.INFEASIBLE else None), None


def decide(problem: Problem, k: int, run: Run, seeds: Seeds, *, most: int | None = None) -> Decision:
    """Whether a plan with no crowd below k exists."""
    model = SeatModel(problem, k)
    model.demand(k)
    return model.decided(run, seeds, most)


def close_in(
    problem: Problem, matrix: np.ndarray, high: int, run: Run, seeds: Seeds, effort: int
) -> tuple[np.ndarray, int]:
    """Bisect between the plan's K and the bound, with at most ``effort`` units for each K; returns plan and bound.

    A K that cannot be decided within the effort is left aside for the smaller ones below it.
    """
    low, undecided = problem.value(matrix), high + 1
    while low < min(high, undecided - 1) and not run.stopped:
        k = (low + min(high, undecided - 1) + 1) // 2
        answer, found = decide(problem, k, run, seeds.child(k), most=effort)
        if answer and found is not None:
            matrix = found
            low = problem.value(found)
        elif answer is False:
            high = k - 1
        else:
            undecided = k
        run.report(low, bound=high, phase=f"deciding K = {k}")
    return matrix, high


def seat_anyhow(problem: Problem, run: Run, seeds: Seeds) -> np.ndarray:
    """Some plan that obeys all rules; only diversity makes this hard. Raises ``Infeasible`` if there is none."""
    if not problem.diverse:
        return filling.better_rule(problem)
    for candidate in (filling.fit(problem), filling.greedy(problem)):
        if diverse_enough(problem, candidate):
            return candidate
    # This is not counted: without any plan there is nothing to return.
    model = SeatModel(problem)
    answer, solver = cp_sat.solve(model.model, run, seeds, 60_000)
    if answer is Answer.SOLVED:
        return model.matrix(solver)
    if answer is Answer.INFEASIBLE:
        raise Infeasible(f"no plan keeps {problem.diversity} kinds of people in every crowd at every slot")
    if run.budget.control.cancelled:
        # There is no plan yet that could be kept.
        raise KeyboardInterrupt
    more = "ask for fewer" if run.budget.seconds is None else "ask for fewer, or give it more time"
    raise Infeasible(f"no plan with {problem.diversity} kinds of people in every crowd was found; {more}")


def diverse_enough(problem: Problem, matrix: np.ndarray) -> bool:
    """Whether every cell with newcomers holds as many kinds as it must."""
    kinds = problem.pinned_kinds.copy()
    rows, slots = np.nonzero(matrix)
    kinds[problem.crowds[rows], problem.labels[slots], problem.kinds[rows]] = True
    newcomers = problem.cells(matrix) > problem.pinned
    return bool((~newcomers | (kinds.sum(axis=2) >= problem.required_kinds[:, None])).all())


@method(DEFAULT_UNITS)
def solve(problem: Problem, options: ConstraintOptions, run: Run, seeds: Seeds) -> SearchResult:
    """Bisect on K with a constraint solver; work counts thousandths of its deterministic seconds."""
    if problem.objective != "k":
        raise InputError("method 'constraint' has objective k only; use lexicographic or auto for vectors")
    matrix = seat_anyhow(problem, run, seeds.child("start"))
    high = largest_k(problem)
    run.report(problem.value(matrix), bound=high, phase="greedy")
    if options.search == "maximise":
        return SearchResult(*_maximise(problem, matrix, high, run, seeds))
    effort = 500
    while problem.value(matrix) < high and not run.stopped:
        matrix, high = close_in(problem, matrix, high, run, seeds.child(effort), effort)
        effort *= 2
    return SearchResult(matrix, high)


def _maximise(
    problem: Problem, matrix: np.ndarray, high: int, run: Run, seeds: Seeds
) -> tuple[np.ndarray, int]:
    low = problem.value(matrix)
    model = SeatModel(problem, low)
    k = model.model.new_int_var(low, high, "k")
    for (crowd, label), (count, used, _) in model.cells.items():
        if problem.pinned[crowd, label]:
            model.model.add(count >= k)
        else:
            model.model.add(count >= k).only_enforce_if(used)
    model.hint(matrix)
    model.model.maximize(k)
    answer, solver = cp_sat.run_model(model.model, run, seeds)
    if answer is Answer.SOLVED:
        matrix = model.matrix(solver)
        high = min(high, int(solver.best_objective_bound + 1e-6))
    return matrix, high
