"""The semidefinite bound against all partitions of tiny problems, and its proof against exact arithmetic."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.microdata import casc
from tests.microdata.brute_force import least_error

from shoal.microdata.microaggregation.bounds.alternating_directions import Region, improved
from shoal.microdata.microaggregation.bounds.lower_bounds import lower_bound, turned_points
from shoal.microdata.microaggregation.bounds.semidefinite import Proof, first_proof, semidefinite_bound
from shoal.microdata.microaggregation.problem import Problem
from shoal.runtime import Budget, Control

# The lowest losses seen, published or by our own search.
LOWEST = {3: 14.46, 4: 17.10, 5: 20.17, 6: 23.50, 10: 30.14}


def tiny(n: int, k: int, d: int, seed: int, kind: int) -> Problem:
    """Records of several kinds: skewed, with twins, in two clumps far apart, on a grid."""
    random = np.random.default_rng(seed)
    points = np.exp(random.normal(size=(n, d)))
    if kind == 1:
        points = np.round(points)
    elif kind == 2:
        points += 1e4 * (random.random((n, 1)) < 0.5)
    elif kind == 3:
        points = random.integers(0, 3, size=(n, d)) * 1e-7
    return Problem(points, min(k, n))


def check(problem: Problem, region: int) -> None:
    bound = semidefinite_bound(problem, region=region)
    assert lower_bound(problem) <= bound <= least_error(problem)


SHAPES = (
    st.integers(2, 8),
    st.integers(2, 5),
    st.integers(1, 4),
    st.integers(0, 2**32 - 1),
    st.integers(0, 3),
)


@settings(max_examples=200, deadline=None)
@given(*SHAPES, st.sampled_from([5, 8, 100]))
def test_never_above_the_optimum(n: int, k: int, d: int, seed: int, kind: int, region: int) -> None:
    check(tiny(n, k, d, seed, kind), region)


@pytest.mark.long
@settings(max_examples=3000, deadline=None)
@given(*SHAPES, st.sampled_from([5, 8, 100]))
def test_never_above_the_optimum_of_thousands(
    n: int, k: int, d: int, seed: int, kind: int, region: int
) -> None:
    check(tiny(n, k, d, seed, kind), region)


def exact_value(proof: Proof, points: np.ndarray) -> Fraction:
    """What prices and charges prove, without rounding: the charges are the distances less the changed ones."""
    n, prices = len(points), [Fraction(float(price)) for price in proof.prices]
    rows = [[Fraction(float(value)) for value in row] for row in points]
    value = (proof.k - 1) * sum(prices) - sum(Fraction(float(own)) for own in proof.diagonal) / 2
    for x, y in combinations(range(n), 2):
        distance = sum((a - b) ** 2 for a, b in zip(rows[x], rows[y], strict=True))
        value -= max(Fraction(0), prices[x] + prices[y] - distance + charge(proof, x, y))
    return value / proof.k


def charge(proof: Proof, x: int, y: int) -> Fraction:
    return sum((Fraction(float(one.get((x, y), 0.0))) for one in proof.charges), Fraction(0))


class Recorded(Proof):
    """A proof that remembers the charges it was changed by."""

    charges: list[dict[tuple[int, int], float]]

    def change(self, members: np.ndarray, charges: np.ndarray) -> None:
        made = {(int(x), int(y)): charges[i, j] for i, x in enumerate(members) for j, y in enumerate(members)}
        self.charges = [*getattr(self, "charges", []), made]
        super().change(members, charges)


@pytest.mark.parametrize("seed", range(6))
def test_rounding_never_raises_what_is_proved(seed: int) -> None:
    problem = tiny(30, 4, 3, seed, seed % 3)
    turned = turned_points(problem)
    first = first_proof(turned, problem, 1, Budget().start())
    assert first is not None
    proof = Recorded(turned.points, first.prices, problem.k)
    before = proof.value
    assert proof.improve(np.arange(30), 40, Budget().start())
    assert before < proof.value <= exact_value(proof, turned.points)
    # As a matrix the charges are positive semidefinite, with room for what the eigenvalues here may be off.
    (made,) = proof.charges
    matrix = np.array([[made[x, y] for y in range(30)] for x in range(30)])
    np.fill_diagonal(matrix, proof.diagonal)
    assert (matrix == matrix.T).all()
    assert np.linalg.eigvalsh(matrix)[0] >= -1e-12 * np.trace(matrix)


@pytest.mark.parametrize("k", [2, 3, 4])
def test_a_wrong_factor_costs_quality_and_never_validity(k: int, monkeypatch: pytest.MonkeyPatch) -> None:
    from shoal.microdata.microaggregation.bounds import semidefinite

    random = np.random.default_rng(k)

    def astray(region: Region, *rest: object) -> object:
        found = improved(region, *rest)  # type: ignore[arg-type]
        assert found is not None
        noise = 1.0 + 0.02 * random.normal(size=found.factor.shape)
        return found._replace(factor=found.factor * noise, prices=found.prices * random.uniform(0.9, 1.1))

    monkeypatch.setattr(semidefinite, "improved", astray)
    for seed in range(20):
        check(tiny(8, k, 3, seed, 0), 100)


def test_stopped_early_it_is_still_a_bound() -> None:
    problem = Problem(np.random.default_rng(0).normal(size=(120, 3)), 5)
    full = semidefinite_bound(problem)
    control = Control()
    control.cancel()
    for budget in (Budget(iterations=1), Budget(iterations=8), Budget(seconds=1e-9), Budget(control=control)):
        assert 0.0 <= semidefinite_bound(problem, budget=budget) <= full * (1 + 1e-9)
    assert semidefinite_bound(problem, threads=2) == full


def test_iterations_are_steps() -> None:
    seen: list[int] = []
    problem = Problem(np.random.default_rng(0).normal(size=(90, 3)), 4)
    semidefinite_bound(problem, budget=Budget(iterations=50), observer=lambda now: seen.append(now.work))
    assert max(seen) == 50


@pytest.mark.parametrize("k", sorted(LOWEST))
def test_proves_nine_tenths_of_the_lowest_loss_on_tarragona(k: int) -> None:
    problem = Problem.standardised(casc.tarragona(), k)
    assert 0.9 <= problem.percent(semidefinite_bound(problem)) / LOWEST[k] <= 1.0
