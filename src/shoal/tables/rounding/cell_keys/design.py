"""The perturbation table of the largest entropy (J. Marley and V. Leaver, 2011; S. Giessing and R. Tent, 2019).

For each count i the chances p(d) of its changes d maximise −Σ p·log p with Σ p = 1, Σ d·p = 0 and Σ d²·p = V. They are
p(d) ∝ exp(a·d + b·d²), and the two numbers minimise a convex function of two variables (the dual), found by Newton's method.
The least of the dual is a bound that no table exceeds. Where a count is so small that no chances have the variance, those with
the nearest variance there is are taken.
"""

import numpy as np

from shoal.runtime.budget import StopReason
from shoal.runtime.direction import Direction
from shoal.runtime.options import NoOptions
from shoal.runtime.solver import SearchContext, solver
from shoal.tables.rounding.cell_keys.problem import DesignProblem
from shoal.tables.rounding.cell_keys.solution import PerturbationTable

_BITS = 1.0 / np.log(2.0)
# Nearer than this to the least or the largest variance there is, the chances are those of that end.
_EDGE = 1e-6
# What Newton's method still promises to gain when steps are taken without looking at the value.
_NEAR = 1e-11


@solver(NoOptions)
def solve(problem: DesignProblem, options: NoOptions, context: SearchContext) -> PerturbationTable:
    """One row after the other."""
    run = context.run(direction=Direction.MAXIMISE)
    wide = problem.deviation
    chances = np.zeros((problem.rows, 2 * wide + 1))
    chances[0, wide] = 1.0
    entropy, bound = 0.0, 0.0
    for count in range(1, problem.rows):
        changes = problem.changes(count)
        mine, most = _row(changes, problem.variance)
        chances[count, changes + wide] = mine
        entropy += _entropy(mine)
        bound += most
    run.finish(StopReason.OPTIMAL)
    bound = max(bound, entropy)
    run.report(entropy, bound=bound)
    grid = np.arange(-wide, wide + 1)
    return PerturbationTable(
        value=entropy,
        bound=bound,
        optimal=bound - entropy <= 1e-6 * max(1.0, bound),
        chances=chances,
        variances=chances @ grid**2,
        **run.closing(),
    )


def _entropy(chances: np.ndarray) -> float:
    known = chances[chances > 0]
    return float(-(known * np.log(known)).sum() * _BITS)


def _row(changes: np.ndarray, variance: float) -> tuple[np.ndarray, float]:
    """The chances of one row, and a bound on their entropy in bits."""
    least, most = (_extreme(changes, sign) for sign in (1.0, -1.0))
    squares = changes.astype(float) ** 2
    low, high = float(least @ squares), float(most @ squares)
    if variance <= low + _EDGE or variance >= high - _EDGE:
        found = least if variance <= low + _EDGE else most
        return found, _entropy(found)
    return _tilted(changes.astype(float), variance)


def _extreme(changes: np.ndarray, sign: float) -> np.ndarray:
    """Chances without bias of the least (sign 1) or the largest variance there is."""
    from scipy.optimize import linprog

    squares = changes.astype(float) ** 2
    sums = np.stack([np.ones(changes.size), changes.astype(float)])
    found = linprog(sign * squares, A_eq=sums, b_eq=[1.0, 0.0], bounds=(0, None), method="highs-ds")
    chances = np.maximum(found.x, 0.0)
    return np.asarray(chances / chances.sum())


def _tilted(changes: np.ndarray, variance: float) -> tuple[np.ndarray, float]:
    moments = np.stack([changes, changes**2])
    wanted = np.array([0.0, variance])
    scale = np.array([1.0, max(1.0, float(np.abs(changes).max()))])
    moments, wanted = moments / scale[:, None], wanted / scale
    tilt = np.zeros(2)

    def dual(at: np.ndarray) -> tuple[float, np.ndarray]:
        powers = at @ moments
        top = powers.max()
        weights = np.exp(powers - top)
        return float(top + np.log(weights.sum()) - at @ wanted), weights / weights.sum()

    value, chances = dual(tilt)
    for _ in range(500):
        slope = moments @ chances - wanted
        if np.abs(slope).max() < 1e-14:
            break
        centred = moments - (moments @ chances)[:, None]
        bend = (centred * chances) @ centred.T + 1e-14 * np.eye(2)
        step = np.linalg.solve(bend, slope)
        if float(slope @ step) < _NEAR:
            # The values no longer tell two points apart, but the slopes do.
            other, there = dual(tilt - step)
            if np.abs(moments @ there - wanted).max() >= np.abs(slope).max():
                break
            tilt, value, chances = tilt - step, other, there
            continue
        length = 1.0
        while length > 1e-10:
            other, there = dual(tilt - length * step)
            if other <= value - 1e-4 * length * float(slope @ step) or length < 1e-9:
                break
            length *= 0.5
        tilt = tilt - length * step
        value, chances = other, there
    return chances, value * _BITS
