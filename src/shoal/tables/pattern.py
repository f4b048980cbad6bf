"""A suppression pattern, and the independent check of one by linear programmes. Imports no solver."""

from dataclasses import dataclass, field

import numpy as np

from shoal.search import Solution
from shoal.tables.problem import DOWN, TOLERANCE, UP, WIDTH, Problem


@dataclass(frozen=True, kw_only=True)
class Pattern(Solution):
    """The further cells to hide; ``value`` is what hiding them costs and ``bound`` the least any safe pattern costs.

    ``record`` holds what a method counted on its way (generations, failures …).
    """

    complementary: np.ndarray
    record: dict[str, float] = field(default_factory=dict)

    @property
    def gap_percent(self) -> float | None:
        """How far the cost may be above the best possible, in percent of the cost; ``None`` without a bound."""
        if self.bound is None:
            return None
        return 100.0 * (self.value - self.bound) / self.value if self.value > 0 else 0.0


def verify(problem: Problem, pattern: Pattern) -> None:
    """Raise ``AssertionError`` unless the pattern hides what it may, costs what it says, and protects every cell.

    Protection is checked with one linear programme per requirement, skipping those an earlier solution already
    meets; nothing here is shared with the methods that make patterns.
    """
    cells = np.asarray(pattern.complementary)
    assert np.unique(cells).size == cells.size, "a complementary cell is listed twice"
    assert problem.candidates[cells].all(), "a cell is hidden that may not be"
    cost = problem.total_cost(cells)
    tolerance = 1e-7 * max(1.0, cost)
    assert abs(cost - pattern.value) <= tolerance, f"the pattern costs {cost}, not {pattern.value} as claimed"
    assert pattern.bound is None or pattern.bound <= cost + tolerance, "the bound is above the cost"
    assert not pattern.optimal or pattern.bound is not None, "optimal without a bound to show it"
    assert not pattern.optimal or cost - pattern.bound <= 1e-5 * max(1.0, cost), (
        "optimal, but the bound is lower"
    )
    failures = unprotected(problem, cells)
    if failures:
        raise AssertionError(
            f"{len(failures)} requirements are not met; the first is that of the cell "
            f"{problem.table.name(failures[0][0])}"
        )
    if problem.sums is not None:
        for place in range(problem.table.relations):
            hidden = given_away(problem, problem.hidden_mask(cells), place)
            assert hidden.size == 0 or problem.sums(hidden), (
                "a relation gives away a sum that is sensitive itself"
            )


def given_away(problem: Problem, hidden: np.ndarray, relation: int) -> np.ndarray:
    """The hidden cells of a relation if their sum can be computed from it: all of one sign; else nothing."""
    table = problem.table
    cells = table.relation(relation)
    signs = table.signs[table.starts[relation] : table.starts[relation + 1]]
    chosen = hidden[cells]
    if not chosen.any() or np.unique(np.sign(signs[chosen])).size > 1:
        return np.empty(0, dtype=np.int64)
    return cells[chosen].astype(np.int64)


def unprotected(problem: Problem, complementary: np.ndarray) -> list[tuple[int, int, int]]:
    """The requirements a pattern fails: (cell, kind, insider or −1)."""
    hidden = np.flatnonzero(problem.hidden_mask(complementary))
    attack = _Attack(problem, hidden)
    wanted = problem.requirements
    moved: list[np.ndarray] = []
    failures: list[tuple[int, int, int]] = []
    for place in range(wanted.size):
        met, change = attack.meets(
            int(wanted.cell[place]), int(wanted.kind[place]), float(wanted.need[place])
        )
        if not met:
            failures.append((int(wanted.cell[place]), int(wanted.kind[place]), -1))
        moved.append(change)
    for number, known in enumerate(problem.insiders):
        inside = np.isin(hidden, known)
        if not inside.any():
            continue
        # A solution that leaves the insider's cells alone shows that the insider cannot exclude it either.
        doubtful = [
            place
            for place in range(wanted.size)
            if wanted.cell[place] not in known and bool((np.abs(moved[place][inside]) > 1e-9).any())
        ]
        if not doubtful:
            continue
        narrow = _Attack(problem, hidden, fixed=inside)
        for place in doubtful:
            met, _ = narrow.meets(int(wanted.cell[place]), int(wanted.kind[place]), float(wanted.need[place]))
            if not met:
                failures.append((int(wanted.cell[place]), int(wanted.kind[place]), number))
    return failures


class _Attack:
    """What the attacker can still hold possible, as one resident linear programme over the hidden cells."""

    def __init__(self, problem: Problem, hidden: np.ndarray, fixed: np.ndarray | None = None) -> None:
        import highspy

        self.problem = problem
        self.hidden = hidden
        self.place = {int(cell): column for column, cell in enumerate(hidden)}
        low, high = -problem.down[hidden], problem.up[hidden]
        if fixed is not None:
            low, high = np.where(fixed, 0.0, low), np.where(fixed, 0.0, high)
        rows = problem.table.matrix[:, hidden].tocsr()
        rows = rows[np.flatnonzero(np.diff(rows.indptr))]
        model = highspy.HighsLp()
        model.num_col_, model.num_row_ = hidden.size, rows.shape[0]
        model.col_cost_ = np.zeros(hidden.size)
        model.col_lower_ = low
        model.col_upper_ = np.where(np.isfinite(high), high, highspy.kHighsInf)
        model.row_lower_ = model.row_upper_ = np.zeros(rows.shape[0])
        model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        model.a_matrix_.start_ = rows.indptr
        model.a_matrix_.index_ = rows.indices
        model.a_matrix_.value_ = rows.data
        self.solver = highspy.Highs()
        # Only the objective changes, so the last basis stays feasible: the primal method (4) goes on from it.
        for option, value in (
            ("output_flag", False),
            ("presolve", "off"),
            ("threads", 1),
            ("simplex_strategy", 4),
        ):
            self.solver.setOptionValue(option, value)
        self.solver.passModel(model)
        self.lowest = np.zeros(hidden.size)
        self.highest = np.zeros(hidden.size)
        self.low_at: list[np.ndarray] = [np.zeros(hidden.size)] * hidden.size
        self.high_at: list[np.ndarray] = [np.zeros(hidden.size)] * hidden.size
        self.solved: set[tuple[int, int]] = set()

    def meets(self, cell: int, kind: int, need: float) -> tuple[bool, np.ndarray]:
        """Whether the requirement holds, and by how much the cells move in the solutions that show it."""
        column = self.place[cell]
        slack = TOLERANCE * 10.0 * max(1.0, abs(float(self.problem.table.values[cell])))
        slack = min(slack, 0.5 * need)
        if kind in (UP, WIDTH) and self._reached(column, kind) < need - slack:
            self._solve(column, UP)
        if kind in (DOWN, WIDTH) and self._reached(column, kind) < need - slack:
            self._solve(column, DOWN)
        moved = np.zeros(self.hidden.size)
        if kind in (UP, WIDTH):
            moved = np.abs(self.high_at[column])
        if kind in (DOWN, WIDTH):
            moved = np.maximum(moved, np.abs(self.low_at[column]))
        return self._reached(column, kind) >= need - slack, moved

    def _reached(self, column: int, kind: int) -> float:
        rise, fall = self.highest[column], -self.lowest[column]
        return float(rise if kind == UP else fall if kind == DOWN else rise + fall)

    def _solve(self, column: int, kind: int) -> None:
        if (column, kind) in self.solved:
            return
        self.solved.add((column, kind))
        self.solver.changeColCost(column, -1.0 if kind == UP else 1.0)
        self.solver.run()
        status = self.solver.modelStatusToString(self.solver.getModelStatus())
        if status == "Unbounded":
            change = np.zeros(self.hidden.size)
            change[column] = np.inf if kind == UP else -np.inf
            change[:] = np.where(change == 0.0, np.inf, change)
            self.solver.changeColCost(column, 0.0)
            self._keep(column, change)
            return
        assert status == "Optimal", f"the linear programme of the check ended as '{status}'"
        change = np.array(self.solver.getSolution().col_value)
        self.solver.changeColCost(column, 0.0)
        for other in np.flatnonzero((change > self.highest) | (change < self.lowest)):
            self._keep(int(other), change)

    def _keep(self, column: int, change: np.ndarray) -> None:
        if change[column] > self.highest[column]:
            self.highest[column] = change[column]
            self.high_at[column] = change
        elif change[column] < self.lowest[column]:
            self.lowest[column] = change[column]
            self.low_at[column] = change
