"""pMSE: how well a model tells original records from released ones.

The two tables are stacked, a model predicts which record is of which, and pMSE is the mean of (p̂ − ½)²: 0 if it cannot. What is
to be expected of a release without fault depends on how it was made (Snoke and others, JRSS A 181, 2018). With k parameters, N
records in all and c = ½ of them released:

- ``independent``, a new sample of the same population: (k − 1)·c(1 − c)/N;
- ``synthetic``, drawn from a model that was fitted to the original: (k − 1)·c(1 − c)²/N;
- ``paired``, each record released in a changed form: as if either of the two could have been the original. Over all such
  exchanges the linearised statistic has mean tr(A·M) and a variance of its own, with A the inverse of X′X and M = ¼·Σδδ′ over the
  differences δ of a record and its release. The other two would call noise "better than perfect".
"""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from shoal.microdata.measures.mixed import MixedTables
from shoal.microdata.measures.utility.design import Terms, main_terms, products_of, with_products
from shoal.microdata.measures.utility.logistic import Fitted, design, fit
from shoal.microdata.measures.utility.moment_kernels import weighted_products
from shoal.microdata.measures.utility.tree import separability
from shoal.runtime import Seeds

Made = Literal["paired", "independent", "synthetic"]

#: Of larger files a sample is looked at; models with more terms are left out.
RECORDS = 5000
TERMS = 150


@dataclass(frozen=True)
class Propensity:
    """One model: pMSE, what is expected of a release without fault, the ratio of both, and by how many deviations they differ.

    ``ratio`` and ``z`` are ``None`` where nothing is expected.
    """

    model: str
    pmse: float
    expected: float
    ratio: float | None
    z: float | None
    parameters: int
    converged: bool


@dataclass(frozen=True)
class Distinguished:
    """All models, and the AUC of a cross-fitted tree (½: nobody can tell).

    ``by_column`` is pMSE of a model with one column alone; ``left_out`` names models that would have too many terms.
    """

    made: Made
    records: int
    models: tuple[Propensity, ...]
    tree_pmse: float
    tree_auc: float
    by_column: tuple[tuple[str, float], ...] = ()
    left_out: tuple[str, ...] = ()


def distinguish(
    tables: MixedTables, made: Made = "paired", *, seeds: Seeds, records: int = RECORDS, terms: int = TERMS
) -> Distinguished | None:
    """Try to tell the two tables apart; ``None`` with fewer than two records, or no column.

    >>> table = np.random.default_rng(0).normal(size=(50, 2))
    >>> distinguish(MixedTables.of_numbers(table, table), seeds=Seeds(0)).models[0].pmse
    0.0
    """
    looked_at = tables.sample(records, seeds, "propensity")
    if looked_at.records < 2 or not looked_at.columns:
        return None
    main = main_terms(looked_at)
    models, left_out = [], []
    for name in ("main effects", "two-way"):
        if name == "two-way" and len(looked_at.columns) < 2:
            continue
        posed = main if name == "main effects" else _coarse_enough(looked_at, main, terms)
        size = len(posed.of) if name == "main effects" else products_of(posed)
        if size > terms:
            left_out.append(f"{name}: {size} terms, more than {terms}")
            continue
        models.append(_judged(name, posed if name == "main effects" else with_products(posed), made))
    pmse, auc = separability(looked_at, seeds=seeds.child("tree"))
    return Distinguished(
        made, looked_at.records, tuple(models), pmse, auc, _by_column(looked_at, main), tuple(left_out)
    )


def _coarse_enough(tables: MixedTables, main: Terms, most: int) -> Terms:
    """Terms with so few categories in each column that their products are not too many, if that helps."""
    found = main
    for categories in (8, 6, 5, 4, 3, 2):
        if products_of(found) <= most:
            break
        found = main_terms(tables, categories=categories)
    return found


def _by_column(tables: MixedTables, main: Terms) -> tuple[tuple[str, float], ...]:
    found = []
    for place, name in enumerate(tables.columns):
        own = [term for term, of in enumerate(main.of) if of == (place,)]
        found.append((name, _fitted(Terms(main.before[:, own], main.after[:, own], main.of[:0]))[1]))
    return tuple(found)


def _judged(name: str, terms: Terms, made: Made) -> Propensity:
    matrix = design(np.vstack([terms.before, terms.after]))
    fitted, pmse = _fitted(terms, matrix)
    mean, deviation = null_of(matrix, made)
    small = mean <= 1e-15
    return Propensity(
        name,
        pmse,
        mean,
        None if small else pmse / mean,
        None if deviation <= 1e-15 else (pmse - mean) / deviation,
        fitted.parameters,
        fitted.converged,
    )


def _fitted(terms: Terms, matrix: np.ndarray | None = None) -> tuple[Fitted, float]:
    if matrix is None:
        matrix = design(np.vstack([terms.before, terms.after]))
    fitted = fit(matrix, np.repeat([0.0, 1.0], terms.before.shape[0]))
    pmse = float(np.square(fitted.probabilities - 0.5).mean())
    # What is left of rounding is no difference.
    return fitted, 0.0 if pmse < 1e-28 else pmse


def null_of(matrix: np.ndarray, made: Made) -> tuple[float, float]:
    """Mean and standard deviation of pMSE for a release without fault, made in this way.

    The first half of the rows of the ``design`` is the original, the second half the release.

    >>> null_of(np.hstack([np.ones((4, 1)), np.array([[-1.0], [1.0], [-1.0], [1.0]])]), "independent")[0]
    0.0625
    """
    total, parameters = matrix.shape
    if made != "paired":
        unit = 0.25 / total if made == "independent" else 0.125 / total
        return (parameters - 1) * unit, float(np.sqrt(2.0 * (parameters - 1))) * unit
    half = total // 2
    apart = np.ascontiguousarray(matrix[half:, 1:] - matrix[:half, 1:])
    if apart.shape[1] == 0:
        return 0.0, 0.0
    ones = np.ones(total)
    # The constant is orthogonal to the centred columns, and a pair does not differ in it.
    inverse = np.linalg.inv(weighted_products(np.ascontiguousarray(matrix[:, 1:]), ones))
    moved = 0.25 * (inverse @ weighted_products(apart, ones[:half]))
    own = 0.25 * ((apart @ inverse) * apart).sum(axis=1)
    variance = 2.0 * float(np.trace(moved @ moved) - np.square(own).sum())
    return float(np.trace(moved)) / total, float(np.sqrt(max(0.0, variance))) / total
