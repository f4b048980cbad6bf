import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.microdata import casc

from shoal.microdata.microaggregation.construct import v_mdav
from shoal.microdata.microaggregation.construct.v_mdav import VMdavOptions
from shoal.microdata.microaggregation.problem import Problem
from shoal.microdata.microaggregation.solution import numbered_by_appearance
from shoal.microdata.microaggregation.verify import verify


def slow_v_mdav(points: np.ndarray, k: int, largest: int | None, gamma: float) -> np.ndarray:
    n = len(points)
    cap = largest or n
    distance = np.sqrt(np.square(points[:, None] - points[None]).sum(axis=2))
    outwards = np.square(points - points.mean(axis=0)).sum(axis=1)
    free = list(range(n))
    groups: list[list[int]] = []

    def fits(left: int, now: list[int]) -> bool:
        room = sum(cap - len(group) for group in [*groups, now])
        return left <= (left // k) * cap + room

    while len(free) >= k:
        seed = max(free, key=lambda i: (outwards[i], -i))
        group = sorted(free, key=lambda i: (i != seed, distance[seed, i], i))[:k]
        free = [i for i in free if i not in group]
        while free and len(group) < min(2 * k - 1, cap):
            inside = {i: min(distance[i, m] for m in group) for i in free}
            candidate = min(free, key=lambda i: (inside[i], i))
            others = [distance[candidate, i] for i in free if i != candidate]
            if not inside[candidate] < gamma * min(others, default=np.inf):
                break
            if not fits(len(free) - 1, [*group, candidate]):
                break
            group.append(candidate)
            free.remove(candidate)
        groups.append(group)
    means = [points[group].mean(axis=0) for group in groups]
    for i in free:
        open_groups = [g for g in range(len(groups)) if len(groups[g]) < cap]
        nearest = min(open_groups, key=lambda g: (np.square(points[i] - means[g]).sum(), g))
        groups[nearest].append(i)
    labels = np.empty(n, dtype=np.int64)
    for number, group in enumerate(groups):
        labels[group] = number
    return numbered_by_appearance(labels)


@settings(max_examples=150, deadline=None)
@given(
    st.integers(2, 4),
    st.integers(0, 24),
    st.none() | st.integers(0, 4),
    st.sampled_from([0.0, 0.2, 0.7, 1.1, 3.0]),
    st.integers(0, 2**32 - 1),
)
def test_equals_the_slow_twin(k: int, more: int, cap: int | None, gamma: float, seed: int) -> None:
    n = k + more
    largest = None if cap is None else k + cap
    if largest is not None and (n // k) * largest < n:
        return
    problem = Problem(np.random.default_rng(seed).normal(size=(n, 3)), k, largest)
    solution = v_mdav.solve(problem, VMdavOptions(gamma=gamma))
    verify(problem, solution)
    assert solution.labels.tolist() == slow_v_mdav(problem.points, k, largest, gamma).tolist()


@pytest.mark.parametrize(
    ("name", "gamma", "losses"),
    [
        ("tarragona", 0.2, {3: 16.96, 4: 19.70, 5: 22.88, 10: 33.26}),
        ("census", 0.2, {3: 5.69, 4: 7.52, 5: 8.98, 10: 14.07}),
        ("eia", 1.1, {5: 1.30, 10: 2.82}),
    ],
)
def test_published_losses(name: str, gamma: float, losses: dict[int, float]) -> None:
    """Those of Solanas and Martínez-Ballesté that this reading of the method meets to 0.6 % of each.

    Their gamma is not printed for each entry. The two left out are EIA at k = 3 and 4 (0.53 and 0.75 there, 0.51
    and 0.97 here with gamma 1.1).
    """
    table = casc.eia(columns=11) if name == "eia" else getattr(casc, name)()
    for k, published in losses.items():
        loss = v_mdav.solve(Problem.standardised(table, k), VMdavOptions(gamma=gamma)).loss_percent
        assert loss == pytest.approx(published, rel=0.006)


def test_gamma_zero_makes_groups_of_k() -> None:
    problem = Problem(np.random.default_rng(0).normal(size=(40, 2)), 4)
    assert set(v_mdav.solve(problem, VMdavOptions(gamma=0.0)).sizes.tolist()) == {4}
