"""Rank swapping: every value changes places with one a few ranks above or below.

R. A. Moore, Controlled data-swapping techniques for masking public use microdata sets, U.S. Bureau of the Census, 1996. The
partner is uniform among those within the window that have none yet.
"""

from collections.abc import Iterator

import numpy as np
from pydantic import Field

from shoal.microdata.perturbation import rank_swapping_kernels
from shoal.microdata.perturbation.change import Change
from shoal.microdata.perturbation.problem import Problem
from shoal.microdata.perturbation.promises.same_values import RanksMoved, SameValues
from shoal.microdata.perturbation.ranking import ranking
from shoal.microdata.perturbation.varying import check_orders, varying_numbers
from shoal.numbers import counted
from shoal.remarks import Remark, warning
from shoal.runtime.options import Options
from shoal.runtime.secrets import Draws, Secret


class RankSwapOptions(Options):
    """How far values may move."""

    window: float = Field(
        5.0,
        gt=0,
        le=100,
        description="how far a value may move, in percent of the ranks of its stratum; at least one rank",
    )


def perturb(problem: Problem, options: RankSwapOptions, *, secret: Secret) -> Change:
    """Exchange the values of each column between records of near ranks."""
    check_orders(problem, problem.columns)
    donors, stayed, still = {}, 0, 0
    for name in problem.columns:
        values = varying_numbers(problem, name)
        found = swapped_places(
            values, problem, options.window, (secret.draws("ties", name), secret.draws("partners", name))
        )
        donors[name] = found
        alone = (found == np.arange(found.size)) & ~np.isnan(values)
        stayed += int(alone.sum())
        same = values[found] == values
        still += int((same & ~alone).sum())
    return Change(
        donors=donors,
        promises=(
            SameValues(problem.columns, problem.strata),
            RanksMoved(problem.columns, options.window, problem.strata, problem.orders),
        ),
        facts=(
            ("window in percent of the ranks", options.window),
            ("values without a partner, left as they are", stayed),
            ("values exchanged for an equal one", still),
        ),
        remarks=tuple(_remarks(problem, options)),
    )


def swapped_places(
    values: np.ndarray, problem: Problem, window: float, draws: tuple[Draws, Draws]
) -> np.ndarray:
    """For each record the one whose value it gets; draws for the order of ties, and for partners."""
    ties, partners = draws
    found = ranking(values, problem.strata, problem.identities, ties)
    widths = window_in_ranks(found.sizes, window)
    ranks = rank_swapping_kernels.partners(
        partners.key, problem.identities[found.order], found.starts, widths
    )
    donors = np.arange(values.size)
    donors[found.order] = found.order[ranks]
    return donors


def window_in_ranks(sizes: np.ndarray, window: float) -> np.ndarray:
    """How many ranks a value may move in strata of these sizes: the window in percent, and at least one.

    >>> window_in_ranks(np.array([1000, 30, 7]), 5.0).tolist()
    [50, 1, 1]
    """
    return np.maximum(1, np.floor(sizes * (window / 100.0) * (1.0 + 1e-12))).astype(np.int64)


def _remarks(problem: Problem, options: RankSwapOptions) -> Iterator[Remark]:
    yield warning(
        "released-extremes",
        "the largest and the smallest values are released as they are, on records of near ranks: whoever is known for an "
        "extreme value is still found by it; top and bottom coding, or noise, hides that",
        *problem.columns,
    )
    small = [members.size for members in problem.members if 0 < members.size * options.window < 100]
    if small:
        yield warning(
            "small-stratum",
            f"the window is less than one rank in {counted(len(small), 'stratum', 'strata')}; there values move by one rank",
        )
    if len(problem.columns) > 1:
        yield warning(
            "weakened-relations",
            "columns are swapped one by one, so relations between them weaken, and a narrow window leaves each record near its "
            "own: whoever knows several values finds it by their windows together",
            *problem.columns,
        )
