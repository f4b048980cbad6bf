"""Logistic regression by iteratively reweighted least squares (Newton's method)."""

from dataclasses import dataclass, field

import numpy as np

from shoal.microdata.measures.utility.moment_kernels import independent, weighted_products

_STEPS = 25
_ENOUGH = 1e-10
# As in R: a column of which less than this (squared) is its own is a sum of others.
ALIASED = 1e-11


@dataclass(frozen=True, eq=False)
class Fitted:
    """Fitted probabilities, how many parameters were estimated, and whether the estimates settled.

    They do not where the two groups can be told apart without error.
    """

    probabilities: np.ndarray = field(repr=False)
    parameters: int
    converged: bool


def design(table: np.ndarray) -> np.ndarray:
    """A constant and the columns of a table that are no sums of it and of those before, centred and scaled.

    >>> design(np.array([[1.0, 2.0], [2.0, 4.0], [3.0, 6.0]])).shape
    (3, 2)
    """
    centred = table - table.mean(axis=0)
    spread = np.sqrt(np.square(centred).mean(axis=0))
    flat = spread <= 1e-12 * np.maximum(1e-300, np.abs(table).max(axis=0, initial=0.0))
    scaled = np.ascontiguousarray((centred / np.where(flat, 1.0, spread))[:, ~flat])
    kept = independent(weighted_products(scaled, np.ones(scaled.shape[0])), ALIASED)
    return np.ascontiguousarray(np.hstack([np.ones((table.shape[0], 1)), scaled[:, kept]]))


def fit(matrix: np.ndarray, outcome: np.ndarray) -> Fitted:
    """Fit the chance of an outcome on the columns of a ``design``.

    >>> found = fit(design(np.array([[0.0], [0.0], [1.0], [1.0]])), np.array([0.0, 1.0, 1.0, 1.0]))
    >>> found.probabilities.round(2).tolist(), found.parameters
    ([0.5, 0.5, 1.0, 1.0], 2)
    """
    share = float(outcome.mean())
    coefficients = np.zeros(matrix.shape[1])
    coefficients[0] = np.log(share / (1.0 - share))
    line = np.full(matrix.shape[0], coefficients[0])
    deviance = _deviance(line, outcome)
    for _ in range(_STEPS):
        chance = _chance(line)
        weights = np.maximum(chance * (1.0 - chance), 1e-12)
        score = (matrix * (outcome - chance)[:, None]).sum(axis=0)
        step = np.linalg.lstsq(weighted_products(matrix, weights), score, rcond=1e-13)[0]
        line = line + (matrix * step).sum(axis=1)
        new = _deviance(line, outcome)
        settled = abs(deviance - new) <= _ENOUGH * (abs(new) + 0.1)
        deviance = new
        if settled:
            return Fitted(_chance(line), matrix.shape[1], converged=bool(np.abs(line).max() < 30.0))
    return Fitted(_chance(line), matrix.shape[1], converged=False)


def _chance(line: np.ndarray) -> np.ndarray:
    chance: np.ndarray = 1.0 / (1.0 + np.exp(-np.clip(line, -500.0, 500.0)))
    return chance


def _deviance(line: np.ndarray, outcome: np.ndarray) -> float:
    return float(2.0 * (np.logaddexp(0.0, line) - outcome * line).sum())
