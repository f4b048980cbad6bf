"""Targeted record swapping: households at risk exchange their place of living with households like them.

N. Shlomo, C. Tudor and P. Groom, Data swapping for protecting census tables, Privacy in Statistical Databases, 2010. Who is
drawn first is decided by weighted keys (P. S. Efraimidis and P. G. Spirakis, Weighted random sampling with a reservoir,
Information Processing Letters 97(5), 2006), a function of the secret, the level and the household, so that the order of the file
does not matter.
"""

from collections.abc import Iterator

import numpy as np
from pydantic import Field

from shoal.errors import InputError, parameter, unknown
from shoal.microdata.columns.identities import group_identities
from shoal.microdata.perturbation.change import Change
from shoal.microdata.perturbation.column_names import ColumnNames
from shoal.microdata.perturbation.problem import Problem
from shoal.microdata.perturbation.promises.same_households import (
    AtRiskMoved,
    FewLeave,
    HouseholdsWhole,
    RegionsAsLarge,
)
from shoal.microdata.perturbation.record_swapping.exchange_kernels import Pools, exchange
from shoal.microdata.perturbation.record_swapping.households import (
    Households,
    alike,
    numbered,
    read_households,
)
from shoal.microdata.perturbation.record_swapping.warnings import (
    notes_on_share,
    warnings_on,
    warnings_on_order,
)
from shoal.runtime.options import Options
from shoal.runtime.secrets import Secret


class RecordSwapOptions(Options):
    """Who moves, and who may move in."""

    share: float = Field(
        0.05, ge=0, le=1, description="the share of households that change their place, at least"
    )
    k: int = Field(
        3,
        ge=2,
        le=10**9,
        description="a household is at risk in a region where fewer than k records share the keys of one of its members",
    )
    match_size: bool = Field(
        default=True,
        description="exchange only households of the same number of members, so that regions keep their population",
    )
    similar: ColumnNames = Field(
        (),
        description="columns in which exchanged households should agree; given up one by one from the last where nobody fits",
    )


def perturb(problem: Problem, options: RecordSwapOptions, *, secret: Secret) -> Change:
    """Exchange the regions of households, first of those at risk, then of others up to the share."""
    _check(problem, options)
    households = read_households(problem)
    partner = partners(problem, households, options, secret)
    moved = partner >= 0
    target = np.where(moved, partner, np.arange(households.count))
    at_risk, left, level_at_risk = 0, 0, households.level_at_risk(options.k)
    for level, own in enumerate(households.paths):
        risky = level_at_risk == level
        at_risk += int(risky.sum())
        # Somebody who moved, but not far enough, stayed.
        left += int((risky & (own == own[target])).sum())
    donors = np.where(
        moved[households.of_record],
        households.first[target[households.of_record]],
        np.arange(problem.records),
    )
    top = households.paths[0]
    across = int((moved & (top != top[target])).sum())
    where = (problem.household, problem.regions)
    return Change(
        donors=dict.fromkeys(problem.regions, donors),
        promises=(
            HouseholdsWhole(*where),
            RegionsAsLarge(*where, persons=options.match_size),
            AtRiskMoved(*where, problem.quasi, options.k, left),
            *([FewLeave(*where, problem.quasi, options.k)] if len(problem.regions) > 1 else []),
        ),
        facts=(
            ("households", households.count),
            ("households at risk", at_risk),
            ("households at risk left where they are", left),
            ("households exchanged", int(moved.sum())),
            (f"households that change their {problem.regions[0]}", across),
        ),
        remarks=(
            *warnings_on(problem, options.share, households, moved, left),
            *warnings_on_order(problem),
            *notes_on_share(options.share, households.count, int(moved.sum()), at_risk),
        ),
    )


def _check(problem: Problem, options: RecordSwapOptions) -> None:
    for name, given in (("regions", problem.regions), ("quasi", problem.quasi)):
        if not given:
            raise InputError(f"record swapping needs {parameter(name)}")
        if len(set(given)) < len(given):
            raise InputError(f"a column is named twice in {parameter(name)}")
    for name in options.similar:
        if name not in problem.data.columns:
            raise unknown("column", name, problem.data.columns, where="in the data")
        if name in problem.regions or name == problem.household:
            raise InputError(f"option 'similar': column '{name}' is the place or the household itself")
    for name in problem.quasi:
        if name in problem.regions or name == problem.household:
            raise InputError(f"column '{name}' cannot be a key and the place or household at once")


def partners(
    problem: Problem, households: Households, options: RecordSwapOptions, secret: Secret
) -> np.ndarray:
    """For each household the one it exchanges its place with; −1 for those who stay."""
    who = _identities(problem, households, secret)
    partner = np.full(households.count, -1)
    profiles = list(_profiles(problem, households, options))
    level_at_risk = households.level_at_risk(options.k)
    levels = len(households.paths)
    everybody = np.zeros(households.count, dtype=np.int64)
    for level in range(levels):
        order = _drawn_order(households, who, level, secret)
        wanting = order[level_at_risk[order] == level]
        wanted = np.array([households.count])
        for around in range(level - 1, -2, -1):
            for profile in profiles:
                wanting = wanting[partner[wanting] < 0]
                if wanting.size:
                    pools = _pools(households, around, level, profile)
                    exchange(wanting, Pools(*pools, order, everybody, wanted), partner)
    finest = levels - 1
    order = _drawn_order(households, who, levels, secret)
    group, wanted = _still_wanted(households, partner, options.share)
    # For the share alone nobody leaves the coarsest region, unless it is the only one there is.
    for around in range(finest - 1, -2 if finest == 0 else -1, -1):
        for profile in profiles:
            if (wanted > 0).any():
                pools = _pools(households, around, finest, profile)
                exchange(order, Pools(*pools, order, group, wanted), partner)
    return partner


def _identities(problem: Problem, households: Households, secret: Secret) -> np.ndarray:
    if problem.household is None:
        return problem.identities[households.first]
    column = problem.data[problem.household]
    own = group_identities([column], secret)
    return np.where(column.is_null().to_numpy(), problem.identities, own)[households.first]


def _profiles(problem: Problem, households: Households, options: RecordSwapOptions) -> Iterator[np.ndarray]:
    """What households must agree in, from everything asked to what is never given up."""
    parts = [households.size if options.match_size else np.zeros(households.count, dtype=np.int64)]
    parts += [alike(problem, households, name) for name in options.similar]
    for count in range(len(parts), 0, -1):
        yield numbered(parts[:count])


def _drawn_order(households: Households, who: np.ndarray, level: int, secret: Secret) -> np.ndarray:
    """The households in the order in which they are drawn, those with rarer members rather first."""
    risk = 1.0 / households.rarest[min(level, len(households.paths) - 1)]
    waiting = -np.log1p(-secret.draws("households", level).uniforms(who)) / risk
    return np.argsort(waiting)


def _pools(
    households: Households, around: int, level: int, profile: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The pool of each household, those alike in the same surrounding region, and its cell, those in the same region."""
    surrounding = households.paths[around] if around >= 0 else np.zeros(households.count, dtype=np.int64)
    pool = numbered([surrounding, profile])
    cell = numbered([pool, households.paths[level]])
    return np.where(households.placed, pool, -1), cell


def _still_wanted(households: Households, partner: np.ndarray, share: float) -> tuple[np.ndarray, np.ndarray]:
    """Where each household counts, the region around the finest, and how many are still to move in each."""
    group = (
        numbered([households.paths[-2]])
        if len(households.paths) > 1
        else np.zeros(households.count, dtype=np.int64)
    )
    placed = np.bincount(group, weights=households.placed)
    moved = np.bincount(group, weights=partner >= 0)
    return group, np.ceil(share * placed * (1 - 1e-12)).astype(np.int64) - moved.astype(np.int64)
