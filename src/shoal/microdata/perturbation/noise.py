"""Noise: numbers get random ones added, alone, with the correlations of the data, or so that means and covariances stay.

J. J. Kim, A method for limiting disclosure in microdata based on random noise and transformation, ASA Section on Survey
Research Methods, 1986 (correlated noise). Exact noise: ``exact_noise``.
"""

from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np
from pydantic import Field

from shoal.errors import InputError, first_record, parameter
from shoal.microdata.perturbation import noise_kernels as kernels
from shoal.microdata.perturbation.change import Change
from shoal.microdata.perturbation.exact_noise import exactly_noised, fewest_units
from shoal.microdata.perturbation.problem import Problem
from shoal.microdata.perturbation.promises.promise import Promise
from shoal.microdata.perturbation.promises.same_moments import SameMoments
from shoal.microdata.perturbation.ranking_kernels import parted
from shoal.microdata.perturbation.varying import varying_numbers
from shoal.numbers import counted
from shoal.remarks import Remark, warning
from shoal.runtime.options import Options
from shoal.runtime.secret_kernels import chained
from shoal.runtime.secrets import Secret

# The spread of fewer records than this says little; noise is then measured by that of the whole column.
_FEW = 10


class NoiseOptions(Options):
    """How much noise, and of which kind."""

    amount: float = Field(
        10.0,
        gt=0,
        le=1000,
        description="the standard deviation of the noise, in percent of that of the column in its stratum",
    )
    kind: Literal["exact", "correlated", "additive"] = Field(
        "exact",
        description="exact: means, variances and covariances stay as they were in every stratum; correlated: noise with "
        "the correlations of the data; additive: each column on its own",
    )
    round: bool = Field(
        default=False,
        description="round columns of whole numbers; means and covariances are then nearly kept, not exactly",
    )


def perturb(problem: Problem, options: NoiseOptions, *, secret: Secret) -> Change:
    """Add noise to all columns at once."""
    whole = [_is_whole(problem, name) for name in problem.columns]
    if options.round and not any(whole):
        raise InputError("option 'round': no column holds whole numbers, so there is nothing to round")
    original = np.stack([varying_numbers(problem, name) for name in problem.columns], axis=1)
    # Powers of two take no digits, and squares of what is left neither vanish nor grow out of bounds.
    powers = np.frexp(np.nanmax(np.abs(original), axis=0))[1]
    table = np.ldexp(original, -powers)
    exact = options.kind == "exact"
    groups = _groups(problem, _patterns(problem, table) if exact else problem.strata)
    if exact:
        _check_sizes(table, groups)
    # Were the same numbers added to two files that differ in one value, both releases together would give every value away.
    file = _fingerprint(problem, original, secret, who=exact)
    keys = np.array([secret.draws("noise", name, *problem.columns, file).key for name in problem.columns])
    share = options.amount / 100.0
    overall = None if exact else _spread(table[np.concatenate(groups)], options.kind)
    found = np.empty_like(table)
    for rows in groups:
        own, noise = table[rows], kernels.normals(keys, problem.identities[rows])
        if overall is None:
            found[rows] = _exact(own, noise, share)
        else:
            spread = overall if rows.size < _FEW else _spread(own, options.kind)
            found[rows] = _added(own, noise, share, spread)
    found = np.ldexp(found, powers)
    if options.round:
        found[:, whole] = np.rint(found[:, whole])
    promises: tuple[Promise, ...] = ()
    if options.kind == "exact" and not options.round:
        promises = (SameMoments(problem.columns, problem.strata),)
    return Change(
        numbers={name: np.ascontiguousarray(found[:, place]) for place, name in enumerate(problem.columns)},
        promises=promises,
        facts=_facts(options, original, found),
        remarks=tuple(_remarks(problem, options, original, found, whole)),
    )


def _is_whole(problem: Problem, name: str) -> bool:
    kind = problem.numbers(name).kind
    if kind in ("ordinal", "moment"):
        raise InputError(
            f"noise is added to numbers, and column '{name}' holds others; "
            f"{parameter('method', 'rank-swap')} takes dates and ordered values"
        )
    return kind == "integer"


def _patterns(problem: Problem, table: np.ndarray) -> np.ndarray:
    """A number for each stratum and set of columns with values: if the moments of the records of each are kept, so are those
    of the stratum over all records that have the values.
    """
    found = problem.strata.astype(np.int64)
    for column in range(table.shape[1]):
        gaps = np.isnan(table[:, column])
        if gaps.any():
            _, found = np.unique(2 * found + gaps, return_inverse=True)
    return found


def _groups(problem: Problem, numbers: np.ndarray) -> list[np.ndarray]:
    """The records of each number, in an order that is not that of the file: sums depend on it in their last digits."""
    order, starts = parted(np.argsort(problem.identities), numbers, int(numbers.max()) + 1)
    return [rows for rows in np.split(order, starts[1:-1]) if rows.size]


def _fingerprint(problem: Problem, table: np.ndarray, secret: Secret, *, who: bool) -> int:
    """A number for the values and their strata and, if asked, for whose they are; the order of the records does not matter."""
    labels = problem.stratum_values or tuple(
        (str(number),) for number in range(int(problem.strata.max()) + 1)
    )
    strata = np.array([secret.draws("stratum", *map(repr, label)).key[0] for label in labels])
    key = secret.draws("file").key
    hashes = chained(
        key, problem.identities if who else np.zeros_like(problem.identities), strata[problem.strata]
    )
    # One word for zeros of both signs, and one for all gaps.
    words = np.where(np.isnan(table), np.nan, table + 0.0).view(np.uint64)
    for column in range(table.shape[1]):
        hashes = chained(key, hashes, np.ascontiguousarray(words[:, column]))
    return int(hashes.sum(dtype=np.uint64))


def _check_sizes(table: np.ndarray, groups: Sequence[np.ndarray]) -> None:
    columns = [int((~np.isnan(table[rows[0]])).sum()) for rows in groups]
    needed = [fewest_units(count) if count else 0 for count in columns]
    small = [rows for rows, least in zip(groups, needed, strict=True) if rows.size < least]
    if small:
        most = max(least for rows, least in zip(groups, needed, strict=True) if rows.size < least)
        raise InputError(
            f"{counted(len(small), 'group')} of records of one stratum with values in the same columns "
            f"{'is' if len(small) == 1 else 'are'} too small for exact noise, which needs {most} records: the kept means and "
            f"variances of a few give them away; {first_record(np.concatenate(small))}. Make strata coarser, take fewer columns "
            "or those without gaps, or choose the kind 'correlated'"
        )


def _exact(table: np.ndarray, noise: np.ndarray, share: float) -> np.ndarray:
    """Records with values in the same columns."""
    present = ~np.isnan(table[0])
    if present.all():
        return exactly_noised(table, noise, share)
    found = table.copy()
    if not present.any():
        return found
    own, drawn = np.ascontiguousarray(table[:, present]), np.ascontiguousarray(noise[:, present])
    found[:, present] = exactly_noised(own, drawn, share)
    return found


def _added(table: np.ndarray, noise: np.ndarray, share: float, spread: np.ndarray) -> np.ndarray:
    """Records of a stratum; a gap plus noise is a gap."""
    found = table.copy()
    kernels.add_turned(found, noise, np.zeros(noise.shape[1]), share * spread)
    return found


def _spread(table: np.ndarray, kind: str) -> np.ndarray:
    """The matrix that gives independent noise the deviations of some records and, if asked, their correlations."""
    d = table.shape[1]
    present = ~np.isnan(table)
    counts = np.maximum(present.sum(axis=0), 1)
    means = np.where(present, table, 0.0).sum(axis=0) / counts
    centred = np.where(present, table - means, 0.0)
    deviations = np.sqrt((centred**2).sum(axis=0) / np.maximum(counts - 1, 1))
    deviations[deviations <= 1e-14 * np.abs(means)] = 0.0
    if kind == "additive":
        return np.diag(deviations)
    standard = centred / np.where(deviations > 0, deviations, 1.0)
    both = kernels.products(np.ascontiguousarray(present.astype(np.float64)), np.zeros(d))
    correlations = kernels.products(np.ascontiguousarray(standard), np.zeros(d)) / np.maximum(both - 1.0, 1.0)
    # Taken from different records, correlations need not go together: the nearest that do.
    sizes, directions = np.linalg.eigh(correlations)
    root = directions * np.sqrt(np.maximum(sizes, 0.0))
    lengths = np.sqrt((root**2).sum(axis=1))
    found: np.ndarray = (root / np.where(lengths > 0, lengths, 1.0)[:, None]).T * deviations
    return np.ascontiguousarray(found)


def _facts(options: NoiseOptions, table: np.ndarray, noisy: np.ndarray) -> tuple[tuple[str, object], ...]:
    facts: list[tuple[str, object]] = [
        ("kind of noise", options.kind),
        ("standard deviation of the noise in percent of that of the column", options.amount),
    ]
    if options.kind != "exact":
        facts.append(("expected factor of the variances", 1.0 + (options.amount / 100.0) ** 2))
    facts.append(("values without noise", int((noisy == table).sum())))
    return tuple(facts)


def _remarks(
    problem: Problem, options: NoiseOptions, table: np.ndarray, noisy: np.ndarray, whole: Sequence[bool]
) -> Iterator[Remark]:
    still = int((noisy == table).sum())
    if still:
        yield warning(
            "unchanged-values",
            f"{counted(still, 'value is', 'values are')} released as they were: their column does not vary in their stratum, or "
            "rounding took the noise away",
        )
    below = [
        name
        for place, name in enumerate(problem.columns)
        if np.nanmin(table[:, place]) >= 0 > np.nanmin(noisy[:, place])
    ]
    if below:
        yield warning(
            "impossible-values",
            f"{', '.join(below)}: some released values are negative, and none was before; {parameter('method', 'rank-swap')} and "
            f"{parameter('method', 'shuffle')} release only values that exist",
            *below,
        )
    if any(whole) and not options.round:
        names = [name for name, of_whole in zip(problem.columns, whole, strict=True) if of_whole]
        text = "columns of whole numbers are released with decimals; the option 'round' rounds them"
        yield warning("added-decimals", text, *names)
    if options.kind == "exact" and options.round:
        text = "rounding moves means and covariances a little, so nothing exact is promised of them"
        yield warning("inexact-moments", text, *problem.columns)
    if options.kind == "additive" and len(problem.columns) > 1:
        text = "independent noise weakens the relations between columns; the kinds 'correlated' and 'exact' keep them"
        yield warning("weakened-relations", text, *problem.columns)
