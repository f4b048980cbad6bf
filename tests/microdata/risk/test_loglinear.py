"""Log-linear models: fits against a plain loop over cells, risk against Poisson's sums."""

import math
from collections import Counter
from itertools import combinations, product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.microdata.risk.brute_force import two_way_fit

from shoal.microdata.risk import loglinear, loglinear_kernels
from shoal.microdata.risk.loglinear import _pairs, main_effects, risk_of_fit, two_way

ROWS = st.lists(st.tuples(*[st.integers(0, size - 1) for size in (2, 3, 2, 2)]), min_size=3, max_size=60)
SHAPE = (2, 3, 2, 2)


def classes(rows: list[tuple[int, ...]]) -> tuple[np.ndarray, np.ndarray]:
    counted = Counter(rows)
    return np.array(list(counted), dtype=np.int32).T.copy(), np.array(list(counted.values()))


def everywhere(rows: list[tuple[int, ...]], sizes: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """All cells of the table, those without records too."""
    counted = Counter(rows)
    cells = list(product(*map(range, sizes)))
    return np.array(cells, dtype=np.int32).T.copy(), np.array([counted[cell] for cell in cells])


@given(ROWS)
@settings(max_examples=60, deadline=None)
def test_independent_keys(rows: list[tuple[int, ...]]) -> None:
    codes, records = classes(rows)
    shares = [Counter(column) for column in zip(*rows, strict=True)]
    expected = [
        len(rows) * math.prod(shares[key][code] / len(rows) for key, code in enumerate(cell))
        for cell in codes.T
    ]
    assert main_effects(codes, SHAPE, records) == pytest.approx(expected, rel=1e-12)


@given(ROWS)
@settings(max_examples=15, deadline=None)
def test_two_way_effects(rows: list[tuple[int, ...]]) -> None:
    cells, records = everywhere(rows, SHAPE)
    fitted, converged = two_way(cells, SHAPE, records)
    plain = np.array(list(two_way_fit(rows, SHAPE, rounds=200).values()))
    halfway = np.array(list(two_way_fit(rows, SHAPE, rounds=100).values()))
    if converged and np.abs(plain - halfway).max() < 1e-7:
        assert fitted == pytest.approx(plain, abs=2e-4)
    elif converged:
        # Where some effects have no end, plain rounds come near ever more slowly: leaps must not be behind them.
        assert largest_miss(fitted, cells, records) <= largest_miss(plain, cells, records) + 1e-4


def largest_miss(fitted: np.ndarray, cells: np.ndarray, records: np.ndarray) -> float:
    """By how many records a pair of values is missed at most."""
    off: Counter[tuple[int, ...]] = Counter()
    for cell, own, count in zip(cells.T.tolist(), fitted.tolist(), records.tolist(), strict=True):
        for a, b in combinations(range(len(cell)), 2):
            off[a, b, cell[a], cell[b]] += own - count  # type: ignore[assignment]
    return max(map(abs, off.values()))


def test_leaps_come_to_the_end_of_plain_rounds_sooner(monkeypatch: pytest.MonkeyPatch) -> None:
    # Occupation nearly says education and sex: every plain round goes a small part of what is left.
    rng = np.random.default_rng(2)
    sex, education = rng.integers(0, 2, 5000), rng.integers(0, 8, 5000)
    occupation = np.clip(rng.normal(5 * education + 3 * sex, 4.0), 0, 39).astype(int)
    age = np.clip(rng.normal(education, 2.0), 0, 9).astype(int)
    sizes = (10, 2, 8, 40)
    codes, records = classes(list(zip(age.tolist(), sex.tolist(), education.tolist(), occupation.tolist())))
    rounds = 0
    plain_round = loglinear._scale_to_pairs

    def counted(*given: Any) -> Any:
        nonlocal rounds
        rounds += 1
        return plain_round(*given)

    monkeypatch.setattr(loglinear, "_scale_to_pairs", counted)
    fitted, converged = two_way(codes, sizes, records)
    table, pairs = np.full(math.prod(sizes), 5000 / math.prod(sizes)), list(_pairs(codes, sizes, records))
    off = []
    for place in range(1500):
        plain_round(table, pairs)
        if place + 1 in (rounds, 1500):
            off.append(np.abs(table[np.ravel_multi_index(tuple(codes), sizes)] - fitted).max())
    assert converged and off[1] < 1e-3
    assert off[0] > 20 * off[1]


def test_the_fit_keeps_every_pair() -> None:
    rng = np.random.default_rng(3)
    rows = [tuple(row) for row in rng.integers(0, [3, 4, 2, 3], (400, 4)).tolist()]
    cells, records = everywhere(rows, (3, 4, 2, 3))
    fitted, converged = two_way(cells, (3, 4, 2, 3), records)
    assert converged
    for a, b in ((0, 1), (0, 3), (1, 2), (2, 3)):
        for pair in {(row[a], row[b]) for row in rows}:
            inside = (cells[a] == pair[0]) & (cells[b] == pair[1])
            assert fitted[inside].sum() == pytest.approx(
                sum((row[a], row[b]) == pair for row in rows), abs=1e-3
            )


def mean_inverse(count: int, rate: float) -> float:
    """E 1/(f + X) term by term."""
    last = int(rate + 40 * math.sqrt(rate) + 60)
    return math.fsum(
        math.exp(j * math.log(rate) - rate - math.lgamma(j + 1)) / (count + j) for j in range(last)
    )


@given(st.integers(1, 300), st.floats(1e-9, 2000.0))
@settings(max_examples=200, deadline=None)
def test_the_mean_of_an_inverse(count: int, rate: float) -> None:
    assert loglinear_kernels.mean_inverse(count, rate) == pytest.approx(mean_inverse(count, rate), rel=1e-11)


def test_risk_of_uniques_by_the_formulas() -> None:
    counts, fitted, fraction = np.array([1, 1, 3]), np.array([0.2, 4.0, 2.0]), 0.1
    rates = fitted * 9
    found = risk_of_fit(counts, fitted, fraction)
    assert found.tau1 == pytest.approx(sum(math.exp(-h) for h in rates[:2]), rel=1e-12)
    assert found.tau2 == pytest.approx(sum((1 - math.exp(-h)) / h for h in rates[:2]), rel=1e-12)
    assert found.reidentifications == pytest.approx(found.tau2 + 3 * mean_inverse(3, rates[2]), rel=1e-12)
    assert risk_of_fit(counts, fitted, 1.0).reidentifications == pytest.approx(3.0)
