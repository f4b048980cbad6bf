"""Counts are whole numbers: an attacker who knows that can exclude more than a linear programme shows.

On networks nothing changes, since all corners of the attacker's polytope are whole there (Hoffman and Kruskal 1956).
"""

import numpy as np

from shoal.tables.problem import DOWN, UP, WIDTH, Problem
from shoal.tables.safety.watching import Watch, unwatched

# So much work for each requirement; one that no whole table was found for by then counts as failed, on every machine alike.
_NODES = 2_000


def integer_failures(
    problem: Problem, complementary: np.ndarray, watch: Watch = unwatched
) -> tuple[int, ...]:
    """Sensitive cells whose requirement no whole-number table meets; only the outsider is asked.

    ``TimeIsOver`` if there is no time for all of them.
    """
    if problem.table.network is not None:
        return ()
    from scipy.optimize import Bounds, LinearConstraint, milp

    hidden = np.flatnonzero(problem.hidden_mask(complementary))
    column = {int(cell): place for place, cell in enumerate(hidden)}
    matrix = problem.table.matrix[:, hidden]
    low = np.ceil(-problem.down[hidden] - 1e-9)
    high = np.floor(np.minimum(problem.up[hidden], 1e9) + 1e-9)
    wanted = problem.requirements
    # Another whole number is at least 1 away, however little is asked for.
    needs = np.maximum(1.0, np.ceil(wanted.need - 1e-6))
    shown = np.zeros(wanted.size, dtype=bool)
    failures = set()
    for place in range(wanted.size):
        if shown[place]:
            continue
        cell, kind = int(wanted.cell[place]), int(wanted.kind[place])
        need = needs[place]
        reached = 0.0
        for direction in (UP, DOWN) if kind == WIDTH else (kind,):
            if reached >= need - 1e-6:
                continue
            goal = np.zeros(hidden.size)
            goal[column[cell]] = -1.0 if direction == UP else 1.0
            watch.look()
            found = milp(
                goal,
                constraints=LinearConstraint(matrix, 0.0, 0.0),
                bounds=Bounds(low, high),
                integrality=np.ones(hidden.size),
                options={"node_limit": _NODES, **watch.seconds_left()},
            )
            watch.look()
            if found.x is None:
                continue
            reached += abs(found.x[column[cell]])
            # What one table shows of other cells need not be asked again.
            change = found.x[[column[int(other)] for other in wanted.cell]]
            shown |= wanted.reached_by(change) >= needs - 1e-6
        if reached < need - 1e-6:
            failures.add(cell)
    return tuple(sorted(failures))
