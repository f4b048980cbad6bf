"""Data shuffling: a model draws new values, and each record gets the original value of the same rank.

K. Muralidhar and R. Sarathy, Data shuffling: a new masking approach for numerical data, Management Science 52(5), 2006. The
model is a normal copula with the rank correlations of the data; a record's own confidential values do not enter what is drawn
for it, only its predictors do.
"""

from collections.abc import Iterator

import numpy as np
from pydantic import Field
from scipy.special import ndtri

from shoal.errors import InputError, parameter, unknown
from shoal.microdata.perturbation import noise_kernels as kernels
from shoal.microdata.perturbation.change import Change
from shoal.microdata.perturbation.column_names import ColumnNames
from shoal.microdata.perturbation.problem import Problem
from shoal.microdata.perturbation.promises.same_values import SameValues
from shoal.microdata.perturbation.ranking import Ranking, ranking
from shoal.microdata.perturbation.ranking_kernels import parted
from shoal.microdata.perturbation.varying import check_orders, varying_numbers
from shoal.numbers import counted
from shoal.remarks import Remark, warning
from shoal.runtime.options import Options
from shoal.runtime.secrets import Secret

# Correlations of fewer records than this are chance; those of the whole file stand in for them.
_FEW = 30
# What is left of a direction in which there is nothing: a copula must not be singular.
_LEAST = 1e-8


class ShuffleOptions(Options):
    """What the new values depend on."""

    predictors: ColumnNames = Field(
        (),
        description="columns released as they are, with which the shuffled ones keep their rank correlations: numbers, dates "
        "or ordered values",
    )


def perturb(problem: Problem, options: ShuffleOptions, *, secret: Secret) -> Change:
    """Give the values of each column to other records, in the order of what the model draws."""
    _check_predictors(problem, options)
    names = (*problem.columns, *options.predictors)
    check_orders(problem, names)
    rankings = [
        ranking(
            varying_numbers(problem, name), problem.strata, problem.identities, secret.draws("ties", name)
        )
        for name in names
    ]
    d = len(problem.columns)
    keys = np.array([secret.draws("shuffle", name, *problem.columns).key for name in problem.columns])
    drawn = kernels.normals(keys, problem.identities)
    scores = np.stack([_scores(found, problem.strata) for found in rankings], axis=1)
    ranks = np.stack([_standard_ranks(found, problem.strata) for found in rankings], axis=1)
    # Sums depend in their last digits on the order, so records are taken in that of who they are.
    overall = conditional(correlations(ranks[np.argsort(problem.identities)]), d)
    for members in problem.members:
        members = members[np.argsort(problem.identities[members])]
        model = overall if members.size < _FEW else conditional(correlations(ranks[members]), d)
        drawn[members] = _from_model(drawn[members], scores[members][:, d:], *model)
    donors = {
        name: _reassigned(rankings[place], drawn[:, place], problem.strata)
        for place, name in enumerate(problem.columns)
    }
    return Change(
        donors=donors,
        promises=(SameValues(problem.columns, problem.strata),),
        facts=_facts(rankings, ranks, donors, d),
        remarks=tuple(_remarks(problem, options)),
    )


def _check_predictors(problem: Problem, options: ShuffleOptions) -> None:
    for name in options.predictors:
        if name not in problem.data.columns:
            raise unknown("column", name, problem.data.columns, where="in the data")
        if name in problem.columns:
            raise InputError(
                f"column '{name}' cannot be shuffled and be a predictor at once; take it out of {parameter('columns')} or of the "
                "option 'predictors'"
            )
    if len(set(options.predictors)) < len(options.predictors):
        raise InputError("a column is named twice in the option 'predictors'")


def correlations(ranks: np.ndarray) -> np.ndarray:
    """The correlations of normal numbers that have the rank correlations of the data, the nearest that go together.

    ``ranks`` count from the middle, NaN where a value is missing: each pair of columns is compared over the records that have
    both. Between normal numbers a rank correlation ρ is one of 2 sin(π ρ / 6).

    >>> ranks = np.array([[-1.0, -1.0], [0.0, 0.0], [1.0, 1.0]])
    >>> correlations(ranks).round(6).tolist()
    [[1.0, 1.0], [1.0, 1.0]]
    """
    found = 2.0 * np.sin(np.pi / 6.0 * _rank_correlations(ranks))
    np.fill_diagonal(found, 1.0)
    sizes, directions = np.linalg.eigh(found)
    root = directions * np.sqrt(np.maximum(sizes, _LEAST))
    root /= np.sqrt((root**2).sum(axis=1))[:, None]
    nearest: np.ndarray = root @ root.T
    return nearest


def _rank_correlations(ranks: np.ndarray) -> np.ndarray:
    d = ranks.shape[1]
    present = ~np.isnan(ranks)
    filled = np.where(present, ranks, 0.0)
    sums = kernels.products(filled, np.zeros(d))
    squares = np.repeat(np.diag(sums)[:, None], d, axis=1)
    if not present.all():
        squares = kernels.products(np.hstack([filled**2, present]), np.zeros(2 * d))[:d, d:]
    lengths = np.sqrt(squares * squares.T)
    found: np.ndarray = np.clip(sums / np.where(lengths > 0, lengths, 1.0), -1.0, 1.0)
    return found


def conditional(matrix: np.ndarray, d: int) -> tuple[np.ndarray, np.ndarray]:
    """How the first d columns depend on the others, and the root of what is left of their covariance."""
    beside = matrix[d:, d:]
    slopes = np.linalg.solve(beside, matrix[d:, :d]) if beside.size else np.zeros((0, d))
    left = matrix[:d, :d] - matrix[:d, d:] @ slopes
    sizes, directions = np.linalg.eigh(left)
    root = (directions * np.sqrt(np.maximum(sizes, 0.0))).T
    return np.ascontiguousarray(slopes), np.ascontiguousarray(root)


def _from_model(noise: np.ndarray, scores: np.ndarray, slopes: np.ndarray, root: np.ndarray) -> np.ndarray:
    found = np.zeros_like(noise)
    kernels.add_turned(found, noise, np.zeros(noise.shape[1]), root)
    if slopes.size:
        kernels.add_turned(found, np.ascontiguousarray(scores), np.zeros(slopes.shape[0]), slopes)
    return found


def _scores(ranks: Ranking, strata: np.ndarray) -> np.ndarray:
    """Normal scores of the ranks within strata; 0, the middle, where a value is missing."""
    sizes = np.maximum(ranks.sizes, 1)[strata]
    scores = ndtri((ranks.mid_ranks() - 0.5) / sizes)
    return np.where(np.isnan(scores), 0.0, scores)


def _standard_ranks(ranks: Ranking, strata: np.ndarray) -> np.ndarray:
    """Ranks within strata as distances from the middle, in shares of the stratum; NaN where a value is missing."""
    sizes = ranks.sizes[strata]
    standard: np.ndarray = (ranks.mid_ranks() - (sizes + 1) / 2.0) / np.maximum(sizes, 1)
    return standard


def _reassigned(ranks: Ranking, drawn: np.ndarray, strata: np.ndarray) -> np.ndarray:
    """For each record the one whose value it gets: of the same rank among the values as the drawn one among those drawn."""
    own = ranks.order
    by_model, _ = parted(own[np.argsort(drawn[own])], strata, ranks.starts.size - 1)
    donors = np.arange(drawn.size)
    donors[by_model] = ranks.order
    return donors


def _facts(
    rankings: list[Ranking], ranks: np.ndarray, donors: dict[str, np.ndarray], d: int
) -> tuple[tuple[str, object], ...]:
    released = ranks.copy()
    still = 0
    for place, found in enumerate(donors.values()):
        released[:, place] = ranks[found, place]
        values = rankings[place].values
        still += int((values[found] == values).sum())
    facts: list[tuple[str, object]] = [("values that fell to records with the same one", still)]
    if ranks.shape[1] > 1:
        change = np.abs(_rank_correlations(released) - _rank_correlations(ranks))[:d]
        facts.append(("largest change of a rank correlation", round(float(change.max()), 4)))
    return tuple(facts)


def _remarks(problem: Problem, options: ShuffleOptions) -> Iterator[Remark]:
    yield warning(
        "released-extremes",
        "the largest and the smallest values are released as they are, on other records",
        *problem.columns,
    )
    if not options.predictors:
        yield warning(
            "weakened-relations",
            "what is shuffled keeps no relation to columns that are released as they are; the option 'predictors' names those "
            "whose rank correlations are to be kept",
            *problem.columns,
        )
    small = sum(members.size < _FEW for members in problem.members)
    if small:
        yield warning(
            "small-stratum",
            f"{counted(small, 'stratum has', 'strata have')} fewer than {_FEW} records; their values are drawn with the "
            "correlations of the whole file, and in the smallest some stay where they were",
        )
