"""The proof: branch and cut on the cells that can still be part of a cheaper pattern, run by SCIP.

Inequalities are separated at every node; a 0-1 point is accepted only if the audit finds it safe. Rounded patterns
are tried along the way. One node is four units of work, and every hundred programmes solved to separate are one.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from shoal.runtime import Run, informative
from shoal.tables.exact.inequalities import Inequalities
from shoal.tables.exact.relaxation import Separator
from shoal.tables.problem import Problem

# A node counts as this many units of work, and this many programmes of the separation as one.
_PER_NODE = 4
_PER_UNIT = 100
# Without a network a repair takes as long as several nodes. Nodes between two of them, fewest and most: twice as many after one
# that brought nothing, half after others.
_PAUSES = (4, 64)


@dataclass
class Incumbent:
    """The best pattern so far and what it costs."""

    pattern: np.ndarray
    cost: float


@dataclass
class Hooks:
    """What the tree asks of its caller.

    ``safe`` says whether a pattern is; ``lacking`` returns inequalities that an unsafe one violates (none: it is safe),
    ``still_lacking`` those of the requirements that the last pattern failed, which is quicker (none: it may be safe);
    ``rounded`` makes a safe pattern from a fractional point; ``offer`` takes a safe pattern.
    """

    safe: Callable[[np.ndarray], bool]
    lacking: Callable[[np.ndarray], Inequalities]
    still_lacking: Callable[[np.ndarray], Inequalities]
    rounded: Callable[[np.ndarray], np.ndarray | None]
    offer: Callable[[np.ndarray], None]


def branch_and_cut(
    problem: Problem,
    separator: Separator,
    columns: np.ndarray,
    rows: Inequalities,
    incumbent: Incumbent,
    hooks: Hooks,
    run: Run,
) -> tuple[float, bool]:
    """Search for patterns cheaper than the incumbent within the columns; returns the bound and whether it is proved."""
    import pyscipopt

    model = pyscipopt.Model()
    _configure(model, run)
    if problem.table.network is not None:
        # Points are rounded by flows; heuristics that know nothing of these take time and find nothing. And a second round of
        # cuts takes longer than the nodes it saves.
        model.setHeuristics(pyscipopt.SCIP_PARAMSETTING.OFF)
        model.setParam("separating/maxrounds", 1)
    variables = [model.addVar(vtype="B", obj=float(problem.cost[cell])) for cell in columns]
    variable = dict(zip(columns.tolist(), variables, strict=True))
    for cells, values, rhs in zip(rows.cells, rows.values, rows.rhs, strict=True):
        terms = pyscipopt.quicksum(
            float(value) * variable[int(cell)] for cell, value in zip(cells, values, strict=True)
        )
        if cells.size:
            model.addCons(terms >= rhs, removable=True, dynamic=False)
    # A node is left after a few rounds, and filling rows is most of their work.
    separator.few = True
    tree = _Tree(problem, separator, columns, variables, incumbent, hooks, run, model)
    handler, events, heuristic = _plugins(pyscipopt, tree)
    model.includeConshdlr(
        handler,
        "protection",
        "every requirement is met",
        sepapriority=10,
        enfopriority=-10,
        chckpriority=-10,
        sepafreq=1,
        needscons=False,
        maxprerounds=0,
    )
    model.includeEventhdlr(events, "budget", "counts nodes")
    model.includeHeur(
        heuristic,
        "guidedrepair",
        "guided repair",
        "Y",
        priority=100000,
        freq=1,
        timingmask=pyscipopt.SCIP_HEURTIMING.AFTERLPNODE,
    )
    margin = 1e-7 * max(1.0, incumbent.cost)
    model.setObjlimit(incumbent.cost - margin)
    _optimise(model, run)
    separator.few = False
    tree.spend(int(model.getNTotalNodes()) - tree.nodes)
    status = model.getStatus()
    closed = status in ("optimal", "infeasible", "inforunbd")
    # What the tree accepted must have been taken over; otherwise its end proves nothing about the incumbent.
    if closed and model.getNSols() and float(model.getPrimalbound()) < incumbent.cost - 10.0 * margin:
        closed = False
    bound = incumbent.cost if closed else min(float(model.getDualbound()), incumbent.cost)
    if abs(bound) >= 1e19:
        bound = 0.0
    model.freeProb()
    return bound, closed


def _optimise(model: Any, run: Run) -> None:
    """Solve for as long as the run has time: the solver's own clock counts the compilation of kernels, too."""
    model.optimize()
    while model.getStatus() == "timelimit" and not run.stopped:
        left = run.remaining().seconds
        model.setParam("limits/time", float(model.getSolvingTime()) + max(0.01, left or 0.0))
        model.optimize()


def _configure(model: Any, run: Run) -> None:
    model.hideOutput()
    left = run.remaining()
    settings: dict[str, Any] = {
        # Ctrl-C is for the run to see.
        "misc/catchctrlc": False,
        "presolving/maxrounds": 0,
        "presolving/maxrestarts": 0,
        "misc/allowstrongdualreds": False,
        # Reduced costs may fix what a cheaper pattern cannot contain; only the strong reductions take a handler for complete.
        "misc/allowweakdualreds": True,
        "misc/usesymmetry": 0,
        "nodeselection/bfs/stdpriority": 1000000,
        # The clock of the run decides; this limit is for what takes long between two looks at it.
        "timing/clocktype": 2 if run.budget.by_wall_clock else 1,
        "randomization/randomseedshift": 0,
        "parallel/maxnthreads": 1,
        "lp/threads": 1,
        "separating/maxroundsroot": 30,
        "separating/maxrounds": 4,
        # The inequalities that come in are rounded already; aggregating long ones takes more time than all the rest.
        "separating/aggregation/maxtriesroot": 100,
        "limits/gap": 1e-7,
    }
    for name, value in settings.items():
        model.setParam(name, value)
    if left.iterations is not None:
        model.setParam("limits/totalnodes", -(-left.iterations // _PER_NODE))
    if left.seconds is not None:
        model.setParam("limits/time", max(0.01, left.seconds))


@dataclass
class _Tree:
    """What the plug-ins share."""

    problem: Problem
    separator: Separator
    columns: np.ndarray
    variables: list[Any]
    incumbent: Incumbent
    hooks: Hooks
    run: Run
    model: Any
    transformed: list[Any] = field(default_factory=list)
    nodes: int = 0
    spent: int = 0

    def __post_init__(self) -> None:
        self.place = {int(cell): place for place, cell in enumerate(self.columns)}
        self._programmes = self.separator.solved
        left = self.run.remaining().iterations
        self.allowed = left if left is not None else 10**9

    def point(self, solution: Any = None) -> np.ndarray:
        x = np.zeros(self.problem.table.cells)
        if not self.transformed:
            self.transformed = [self.model.getTransformedVar(variable) for variable in self.variables]
        x[self.columns] = [self.model.getSolVal(solution, variable) for variable in self.transformed]
        x[self.problem.sensitive] = 1.0
        return np.clip(x, 0.0, 1.0)

    def pattern(self, x: np.ndarray) -> np.ndarray:
        return self.columns[x[self.columns] > 0.5]

    def add(self, rows: Inequalities, *, force: bool = False) -> bool:
        """Add inequalities to the relaxation of the tree; whether one shows that nothing is left."""
        # What the tree has fixed for good needs no place in a row, and filling rows is most of the work.
        left = {
            int(cell): variable
            for cell, variable in zip(self.columns, self.transformed, strict=True)
            if variable.getUbGlobal() > 0.5
        }
        for cells, values, rhs in zip(rows.cells, rows.values, rows.rhs, strict=True):
            row = self.model.createEmptyRowUnspec("cut", lhs=rhs, rhs=None, local=False, removable=True)
            self.model.cacheRowExtensions(row)
            for cell, value in zip(cells.tolist(), values.tolist(), strict=True):
                if cell in left:
                    self.model.addVarToRow(row, left[cell], value)
            self.model.flushRowExtensions(row)
            dead = self.model.addCut(row, forcecut=force)
            self.model.addPoolCut(row)
            self.model.releaseRow(row)
            if dead:
                return True
        return False

    def spend(self, nodes: int) -> None:
        """Account for these nodes and for the programmes solved since the last call."""
        units, rest = divmod(self.separator.solved - self._programmes, _PER_UNIT)
        self._programmes = self.separator.solved - rest
        self.nodes += nodes
        work = max(0, min(_PER_NODE * nodes + units, self.allowed - self.spent))
        self.spent += work
        self.run.spend(work)

    def safe(self, x: np.ndarray) -> bool:
        """Whether a pattern is safe, unless it is dearer than the best: then it is of no use, and refused unseen."""
        pattern = self.pattern(x)
        best = self.incumbent
        if self.problem.total_cost(pattern) > best.cost + 1e-9 * max(1.0, best.cost):
            return False
        if np.array_equal(pattern, np.sort(best.pattern)):
            return True
        if not self.hooks.safe(pattern):
            return False
        self.hooks.offer(pattern)
        return True


def _plugins(scip: Any, tree: _Tree) -> tuple[Any, Any, Any]:
    outcome = scip.SCIP_RESULT

    class Handler(scip.Conshdlr):
        """Separates fractional points and refuses unsafe patterns."""

        def conssepalp(self, constraints: Any, useful: int) -> dict[str, Any]:
            # A node of a large table can take long: what it costs is counted as it goes.
            tree.spend(0)
            if tree.run.stopped:
                self.model.interruptSolve()
                return {"result": outcome.DIDNOTRUN}
            x = tree.point()
            rows = tree.separator.separate(x, tree.columns, least=0.02, bridges=tree.model.getDepth() == 0)
            if not len(rows):
                return {"result": outcome.DIDNOTFIND}
            return {"result": outcome.CUTOFF if tree.add(rows) else outcome.SEPARATED}

        def consenfolp(self, constraints: Any, useful: int, infeasible: bool) -> dict[str, Any]:
            if tree.run.stopped:
                self.model.interruptSolve()
            x = tree.point()
            whole = np.abs(x - np.round(x)).max() < 1e-6
            if not whole:
                return {"result": outcome.INFEASIBLE}
            pattern = tree.pattern(x)
            rows = tree.hooks.lacking(pattern)
            if not len(rows):
                tree.hooks.offer(pattern)
                return {"result": outcome.FEASIBLE}
            return {"result": outcome.CUTOFF if tree.add(rows, force=True) else outcome.SEPARATED}

        def consenfops(
            self, constraints: Any, useful: int, infeasible: bool, objective: bool
        ) -> dict[str, Any]:
            return {"result": outcome.SOLVELP}

        def conscheck(
            self,
            constraints: Any,
            solution: Any,
            integrality: bool,
            rows: bool,
            reason: bool,
            completely: bool,
            **other: Any,
        ) -> dict[str, Any]:
            x = tree.point(solution)
            if np.abs(x - np.round(x)).max() > 1e-6:
                return {"result": outcome.INFEASIBLE}
            return {"result": outcome.FEASIBLE if tree.safe(x) else outcome.INFEASIBLE}

        def conslock(self, constraint: Any, locktype: Any, positive: int, negative: int) -> None:
            # Showing a cell can break protection; hiding one never does.
            for variable in tree.variables:
                self.model.addVarLocksType(
                    self.model.getTransformedVar(variable)
                    if self.model.getStageName() != "PROBLEM"
                    else variable,
                    locktype,
                    positive,
                    negative,
                )

    class Events(scip.Eventhdlr):
        """Counts nodes and ends the search when the budget is spent."""

        def eventinit(self) -> None:
            self.model.catchEvent(scip.SCIP_EVENTTYPE.NODESOLVED, self)

        def eventexit(self) -> None:
            self.model.dropEvent(scip.SCIP_EVENTTYPE.NODESOLVED, self)

        def eventexec(self, event: Any) -> dict[str, Any]:
            tree.spend(1)
            bound = float(self.model.getDualbound())
            if abs(bound) < 1e19:
                known = informative(min(bound, tree.incumbent.cost), tree.incumbent.cost)
                tree.run.report(bound=known, phase="branch and cut")
            if tree.run.stopped:
                self.model.interruptSolve()
            return {"result": outcome.SUCCESS}

    class Rounding(scip.Heur):
        """Repairs the fractional point into a safe pattern and offers it."""

        pause = _PAUSES[0] if tree.problem.table.network is None else 0
        due = 0

        def heurexec(self, timing: Any, infeasible: bool) -> dict[str, Any]:
            if infeasible or tree.run.stopped:
                if tree.run.stopped:
                    self.model.interruptSolve()
                return {"result": outcome.DIDNOTRUN}
            if tree.nodes < self.due:
                return {"result": outcome.DIDNOTRUN}
            before = tree.incumbent.cost
            pattern = tree.hooks.rounded(tree.point())
            enough = before - 1e-9 * max(1.0, before)
            cheaper = pattern is not None and tree.problem.total_cost(pattern) < enough
            if self.pause:
                self.pause = min(_PAUSES[1], max(_PAUSES[0], self.pause // 2 if cheaper else 2 * self.pause))
                self.due = tree.nodes + self.pause
            if pattern is None or not cheaper:
                return {"result": outcome.DIDNOTFIND}
            tree.hooks.offer(pattern)
            pattern = tree.incumbent.pattern
            if not all(int(cell) in tree.place for cell in pattern):
                return {"result": outcome.DIDNOTFIND}
            solution = self.model.createSol(self)
            for cell in pattern:
                self.model.setSolVal(solution, tree.variables[tree.place[int(cell)]], 1.0)
            taken = self.model.trySol(solution, printreason=False)
            return {"result": outcome.FOUNDSOL if taken else outcome.DIDNOTFIND}

    return Handler(), Events(), Rounding()
