"""What the check of a pattern asks for: the levels as they are given, and that nothing is known exactly."""

from dataclasses import dataclass

import numpy as np

from shoal.tables.problem import DOWN, RESOLUTION, ROUNDING, UP, WIDTH, Problem


@dataclass(frozen=True, eq=False)
class Needs:
    """What must be possible: ``cell[i]`` rises (``UP``), falls (``DOWN``) or both together (``WIDTH``) by ``need[i]``."""

    cell: np.ndarray
    kind: np.ndarray
    need: np.ndarray
    point: float


def needs_of(problem: Problem, up: np.ndarray, down: np.ndarray) -> Needs:
    """The levels as they are given; every interval is wider than a point, whatever they say."""
    cells = problem.sensitive
    usable = problem.candidates.copy()
    usable[cells] = True
    room = np.concatenate([up[usable], down[usable]])
    room = room[(room > 0) & np.isfinite(room)]
    least = RESOLUTION * float(room.min(initial=np.inf) if room.size else 1.0)
    point = np.maximum(least, ROUNDING * np.abs(problem.table.values[cells]))
    width = np.maximum(problem.sliding, point)
    asked = [
        (int(cell), kind, float(need))
        for cell, *levels in zip(cells, problem.upper, problem.lower, width, strict=True)
        for kind, need in zip((UP, DOWN, WIDTH), levels, strict=True)
        # A width is had where what is asked above and below comes to as much.
        if (need > levels[0] + levels[1] if kind == WIDTH else need > 0)
    ]
    asked.sort()
    cell, kind, need = np.array(asked, dtype=np.float64).reshape(-1, 3).T
    return Needs(cell.astype(np.int64), kind.astype(np.int64), need, least)
