"""Valid inequalities from one capacity inequality Σ cap·y ≥ need over 0-1 variables.

Coefficients are capped at the need; cells that are (nearly) chosen are moved to the right-hand side (knapsack covers,
Carr et al. 2000); and mixed-integer rounding (Nemhauser and Wolsey 1990) is tried with several divisors. All are
written as Σ φ(cap)·y ≥ 1, where φ depends on the capacity only, so that a coefficient can be computed for any cell later.
"""

from typing import Any

import numpy as np

from shoal.runtime.kernels import kernel

# Cells with at least such a share are moved to the right-hand side; divisors are these shares of the need.
THRESHOLDS = (2.0, 0.999, 0.6)
SHARES = (0.98, 0.9, 0.7, 0.55, 0.45)


@kernel
def coefficient(cap: float, need: float, divisor: float) -> Any:
    """φ(cap): capped at the need, and rounded with the divisor unless that is 0."""
    if cap >= need:
        return 1.0
    if divisor == 0.0:
        return cap / need
    scaled = need / divisor
    ceiling = np.ceil(scaled)
    part = scaled - (ceiling - 1.0)
    quotient = cap / divisor
    whole = np.floor(quotient)
    return (whole * part + min(quotient - whole, part)) / (part * ceiling)


@kernel
def _value(
    caps: np.ndarray, shares: np.ndarray, size: int, above: np.ndarray, need: float, divisor: float
) -> Any:
    total = 0.0
    for i in range(size):
        if shares[i] < above:
            total += coefficient(caps[i], need, divisor) * shares[i]
    return total


@kernel
def best_two(caps: np.ndarray, shares: np.ndarray, size: int, need: float, least: float) -> Any:
    """The two most violated inequalities at the point ``shares``: rows (violation, threshold, need, divisor)."""
    found = np.zeros((2, 4))
    present = np.empty(12)
    for t in range(3):
        above = THRESHOLDS[t]
        left = need
        moved = 0
        for i in range(size):
            if shares[i] >= above:
                left -= caps[i]
                moved += 1
        if left <= 1e-6 * need or (t > 0 and moved == 0):
            continue
        several = 0
        for i in range(size):
            if (
                shares[i] < above
                and shares[i] > 0.01
                and caps[i] < left
                and several < 12
                and caps[i] > 0.02 * left
            ):
                fresh = True
                for j in range(several):
                    if abs(present[j] - caps[i]) <= 1e-9 * left:
                        fresh = False
                if fresh:
                    present[several] = caps[i]
                    several += 1
        for choice in range(1 + len(SHARES) + several):
            divisor = 0.0
            if choice > len(SHARES):
                divisor = present[choice - 1 - len(SHARES)]
            elif choice > 0:
                divisor = SHARES[choice - 1] * left
            if divisor > 0.0:
                scaled = left / divisor
                if scaled - (np.ceil(scaled) - 1.0) > 0.999 or scaled - (np.ceil(scaled) - 1.0) < 0.01:
                    continue
            violation = 1.0 - _value(caps, shares, size, above, left, divisor)
            if violation > least and violation > found[1, 0] + 1e-9:
                weakest = 1
                if violation > found[0, 0] + 1e-9:
                    for part in range(4):
                        found[1, part] = found[0, part]
                    weakest = 0
                found[weakest, 0] = violation
                found[weakest, 1] = above
                found[weakest, 2] = left
                found[weakest, 3] = divisor
    return found
