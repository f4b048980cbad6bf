"""Probabilistic record linkage: links are decided by which attributes agree, weighted by how telling agreement is.

Fellegi and Sunter, A theory for record linkage, JASA 64 (1969); the weights are estimated by expectation maximisation as
in Jaro, JASA 84 (1989). Averages almost never agree exactly, so two values agree when they fall into the same tenth of
the original column, or lie within a share of its standard deviation.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from shoal.microdata.measures.scaling import deviations
from shoal.runtime import Seeds
from shoal.runtime.kernels import kernel

# Up to this many records links are made one to one; of more, a sample of this size is linked.
LARGEST = 5000
_PATTERNS_KEPT = 16
_SAMPLED = 1200


@dataclass(frozen=True, eq=False)
class ProbabilisticLinks:
    """How many records are linked to their own, expected when equal records are told apart by chance.

    ``agreement`` and ``coincidence`` are the estimated probabilities that an attribute agrees for a true pair and for
    any other pair (m and u of Fellegi and Sunter).
    """

    records: int
    expected: float
    agreement: np.ndarray
    coincidence: np.ndarray

    @property
    def percent(self) -> float:
        """Expected links in percent of the records linked."""
        return 100.0 * self.expected / max(1, self.records)


class _Crowds(NamedTuple):
    """Records that are alike: the values of each crowd, its size, and the crowd of each record."""

    values: np.ndarray
    sizes: np.ndarray
    of_record: np.ndarray

    @staticmethod
    def of(table: np.ndarray) -> "_Crowds":
        values, crowd, sizes = np.unique(table, axis=0, return_inverse=True, return_counts=True)
        return _Crowds(values, sizes, crowd.reshape(-1))


def link_by_agreement(
    original: np.ndarray,
    protected: np.ndarray,
    *,
    within: float | None = None,
    largest: int = LARGEST,
    seeds: Seeds | None = None,
) -> ProbabilisticLinks:
    """Link every original record to one protected record, each protected record once, with the largest total weight.

    Agreement is the same tenth of the original column, or with ``within`` a distance of at most that many standard
    deviations. Records that agree with the same others are alike for the intruder: a link between two such crowds counts
    with the chance that it hits the right one.

    >>> table = np.arange(40.0).reshape(20, 2)
    >>> link_by_agreement(table, table).percent
    50.0
    """
    m = original.shape[0]
    if m > largest:
        chosen = np.sort((seeds or Seeds(0)).child("sample").generator().choice(m, largest, replace=False))
        original, protected = original[chosen], protected[chosen]
    if m == 0 or original.shape[1] == 0:
        return ProbabilisticLinks(min(m, largest), 1.0 if m else 0.0, np.zeros(0), np.zeros(0))
    if within is None:
        before, after = _tenths(original, protected)
        reach = np.zeros(original.shape[1])
    else:
        before, after = original, protected
        reach = within * deviations(original)
    one, two = _Crowds.of(before), _Crowds.of(after)
    agreement, coincidence = _estimate(one, two, reach, seeds or Seeds(0))
    gain = np.log(agreement / coincidence)
    penalty = np.log((1.0 - agreement) / (1.0 - coincidence))
    links = _assign(_weights(one.values, two.values, reach, gain, penalty), one.of_record, two.of_record)
    chance = 1.0 / (one.sizes[one.of_record] * two.sizes[two.of_record])
    # Record i is right if its crowd is linked to that of its own protected record; between two crowds with c links
    # each of the a·b pairs is as likely as any other.
    expected = float((links[one.of_record, two.of_record] * chance).sum())
    return ProbabilisticLinks(original.shape[0], expected, agreement, coincidence)


def _tenths(original: np.ndarray, protected: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    before, after = np.empty(original.shape), np.empty(protected.shape)
    for column in range(original.shape[1]):
        edges = np.unique(np.quantile(original[:, column], np.linspace(0.1, 0.9, 9)))
        before[:, column] = np.searchsorted(edges, original[:, column], side="left")
        after[:, column] = np.searchsorted(edges, protected[:, column], side="left")
    return before, after


def _estimate(one: _Crowds, two: _Crowds, reach: np.ndarray, seeds: Seeds) -> tuple[np.ndarray, np.ndarray]:
    """Probabilities m and u by expectation maximisation over all pairs.

    Each record has exactly one true match, so the posterior is held to that many matches in all: left free, it would
    settle on the many pairs that agree because attributes are correlated.
    """
    attributes = one.values.shape[1]
    if attributes <= _PATTERNS_KEPT:
        counts = _count_patterns(one, two, reach)
        seen = np.flatnonzero(counts)
        patterns = ((seen[:, None] >> np.arange(attributes)) & 1).astype(np.float64)
        counts = counts[seen]
    else:
        patterns, counts = _sampled_patterns(one, two, reach, seeds)
    share = 1.0 / float(one.sizes.sum())
    weights = counts / counts.sum()
    overall = weights @ patterns
    agreement = np.full(attributes, 0.9)
    coincidence = np.clip(overall, _FLOOR, 1 - 2 * _FLOOR)
    for _ in range(200):
        true = patterns @ np.log(agreement) + (1 - patterns) @ np.log(1 - agreement)
        other = patterns @ np.log(coincidence) + (1 - patterns) @ np.log(1 - coincidence)
        posterior = weights * _posterior(true - other, weights, share)
        rest = weights - posterior
        new_coincidence = np.clip(rest @ patterns / max(rest.sum(), 1e-300), _FLOOR, 1 - 2 * _FLOOR)
        new_agreement = np.clip(posterior @ patterns / max(posterior.sum(), 1e-300), _FLOOR, 1 - _FLOOR)
        # An attribute never speaks against a match by agreeing.
        new_agreement = np.maximum(new_agreement, new_coincidence + 0.5 * _FLOOR)
        moved = max(np.abs(new_agreement - agreement).max(), np.abs(new_coincidence - coincidence).max())
        agreement, coincidence = new_agreement, new_coincidence
        if moved < 1e-9:
            break
    return agreement, coincidence


_FLOOR = 1e-6


def _posterior(log_ratio: np.ndarray, weights: np.ndarray, share: float) -> np.ndarray:
    """The chance that a pair of each pattern is a match, such that matches make up their known share of all pairs."""
    if share >= 1:
        return np.ones(log_ratio.size)
    low, high = -float(log_ratio.max()) - 60.0, -float(log_ratio.min()) + 60.0
    for _ in range(60):
        middle = (low + high) / 2
        if weights @ _logistic(log_ratio + middle) < share:
            low = middle
        else:
            high = middle
    return _logistic(log_ratio + high)


def _logistic(odds: np.ndarray) -> np.ndarray:
    result: np.ndarray = 1.0 / (1.0 + np.exp(-np.clip(odds, -700.0, 700.0)))
    return result


def _sampled_patterns(
    one: _Crowds, two: _Crowds, reach: np.ndarray, seeds: Seeds
) -> tuple[np.ndarray, np.ndarray]:
    # There are too many patterns to count them all, so those of a sample of records are collected.
    generator = seeds.child("patterns").generator()
    first = np.sort(generator.permutation(one.sizes.size)[:_SAMPLED])
    second = np.sort(generator.permutation(two.sizes.size)[:_SAMPLED])
    found: dict[bytes, float] = {}
    for row in first:
        agree = np.packbits(np.abs(one.values[row] - two.values[second]) <= reach, axis=1)
        for key, size in zip(agree, two.sizes[second], strict=True):
            name = key.tobytes()
            found[name] = found.get(name, 0.0) + float(size * one.sizes[row])
    packed = np.frombuffer(b"".join(found), dtype=np.uint8).reshape(len(found), -1)
    patterns = np.unpackbits(packed, axis=1)[:, : one.values.shape[1]].astype(np.float64)
    return patterns, np.array(list(found.values()))


def _assign(weights: np.ndarray, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """How many links each pair of crowds gets in a one-to-one assignment of largest weight."""
    from scipy.optimize import linear_sum_assignment

    rows, columns = linear_sum_assignment(weights[first][:, second], maximize=True)
    links = np.zeros(weights.shape)
    np.add.at(links, (first[rows], second[columns]), 1.0)
    return links


@kernel
def _count_patterns(one, two, reach):  # type: ignore[no-untyped-def]
    first, second = one.values, two.values
    d = first.shape[1]
    counts = np.zeros(1 << d)
    for i in range(first.shape[0]):
        for j in range(second.shape[0]):
            pattern = 0
            for a in range(d):
                if abs(first[i, a] - second[j, a]) <= reach[a]:
                    pattern |= 1 << a
            counts[pattern] += one.sizes[i] * two.sizes[j]
    return counts


@kernel
def _weights(one, two, reach, gain, penalty):  # type: ignore[no-untyped-def]
    weights = np.zeros((one.shape[0], two.shape[0]))
    for i in range(one.shape[0]):
        for j in range(two.shape[0]):
            total = 0.0
            for a in range(one.shape[1]):
                total += gain[a] if abs(one[i, a] - two[j, a]) <= reach[a] else penalty[a]
            weights[i, j] = total
    return weights


def warm_up() -> None:
    """Compile the kernels."""
    table = np.arange(8.0).reshape(4, 2)
    link_by_agreement(table, table)
