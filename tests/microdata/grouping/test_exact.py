import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.microdata.grouping import published
from tests.microdata.grouping.partitions import all_partitions

from shoal.errors import InputError
from shoal.microdata.grouping import exact, exact_kernels
from shoal.microdata.grouping.bounds import lower_bound
from shoal.microdata.grouping.evaluator import Evaluator, protect, score_from_scratch
from shoal.microdata.grouping.exact import ExactOptions
from shoal.microdata.grouping.problem import GroupingProblem, Scoring, groups_of
from shoal.microdata.grouping.verify import verify
from shoal.runtime import Budget, Seeds


def enumerated(problem):
    """The best score of all partitions."""
    partitions = all_partitions(problem.n)
    with Evaluator(problem) as evaluator:
        return min(score.value for score in evaluator.scores(partitions))


@pytest.mark.parametrize("n, bell", [(1, 1), (2, 2), (3, 5), (4, 15), (5, 52), (6, 203), (7, 877)])
def test_partitions_are_met_once_each(n, bell):
    full = 2**n - 1
    assert len(set(all_partitions(n))) == bell
    cost = np.zeros(full + 1)
    for small in range(n + 1):
        groups, left = np.zeros((2000, n), dtype=np.int64), np.zeros(2000, dtype=np.int64)
        count = exact_kernels.branches(cost, cost, full, small, 1.0, groups, left)
        below = [all_partitions(int(rest).bit_count()) if rest else [()] for rest in left[:count]]
        assert sum(len(part) for part in below) == bell
        assert (
            len(
                {
                    (*row, rest)
                    for row, rest in zip(map(tuple, groups[:count].tolist()), left[:count].tolist())
                }
            )
            == count
        )


@settings(deadline=None)
@given(st.integers(1, 5), st.integers(0, 10**6))
def test_the_cheapest_partition_of_each_set(n, seed):
    cost = np.random.default_rng(seed).integers(0, 20, 2**n).astype(float)
    best = exact_kernels.cheapest_partitions(cost)
    slow = min(sum(cost[mask] for mask in partition) for partition in all_partitions(n))
    assert best[-1] == slow and best[0] == 0


def problem_of(seed, n, m, k, kind, scoring=None):
    generator = np.random.default_rng(seed)
    if kind == "whole":
        values = generator.integers(0, 5, (m, n)).astype(float)
    elif kind == "correlated":
        values = generator.normal(size=(m, 2)) @ generator.normal(size=(2, n)) + 0.2 * generator.normal(
            size=(m, n)
        )
    else:
        values = generator.lognormal(size=(m, n))
    return GroupingProblem.of(values, k, scoring)


@settings(deadline=None, max_examples=60)
@given(
    st.integers(0, 10**6),
    st.integers(1, 5),
    st.integers(8, 40),
    st.integers(2, 4),
    st.sampled_from(["whole", "correlated", "skewed"]),
    st.sampled_from([Scoring(), Scoring(bounds="strict"), Scoring.of("literal")]),
)
def test_exact_equals_enumeration(seed, n, m, k, kind, scoring):
    problem = problem_of(seed, n, m, k, kind, scoring)
    found = exact.solve(problem)
    verify(problem, found)
    best = enumerated(problem)
    assert found.optimal and found.value == pytest.approx(best, abs=1e-8)
    assert lower_bound(problem) <= best + 1e-9


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("n", [6, 7])
def test_exact_equals_enumeration_of_more_attributes(n, seed):
    problem = problem_of(
        seed, n, 60 + 20 * seed, 3 + 5 * (seed % 3), ["whole", "correlated", "skewed"][seed % 3]
    )
    found = exact.solve(problem, threads=1 + seed % 2)
    verify(problem, found)
    assert found.optimal and found.value == pytest.approx(enumerated(problem), abs=1e-8)


def test_many_branches_with_witnesses_find_the_same(monkeypatch):
    # Small branches and rounds make a small problem go through everything a large one does.
    monkeypatch.setattr(exact, "_SMALL", 2)
    monkeypatch.setattr(exact, "_ROUND", 8)
    monkeypatch.setattr(exact, "search", lambda evaluator, options, run, seeds, start: _single(evaluator))
    work = 0
    for seed in range(6):
        problem = problem_of(seed, 6, 90, 8 + 4 * seed, ["correlated", "skewed"][seed % 2])
        found = exact.solve(problem, threads=2)
        assert found.optimal and found.value == pytest.approx(enumerated(problem), abs=1e-8)
        work += found.work
    assert work > 60


def _single(evaluator):
    from types import SimpleNamespace

    partition = (2**evaluator.problem.n - 1,)
    return SimpleNamespace(partition=partition, value=evaluator.scores([partition])[0].value, evaluations=0)


def test_sure_links_are_links_of_every_completion():
    problem = problem_of(3, 5, 60, 3, "correlated")
    full = 31
    with Evaluator(problem) as evaluator:
        evaluator.cluster(range(1, full + 1))
        pool = evaluator.pool
        slot_of = np.concatenate([[0], evaluator.slots(tuple(range(1, full + 1)))])
        witnesses = np.arange(problem.m)
        gaps = exact_kernels.widest_gaps(problem.points, pool, slot_of, witnesses)
        rows = np.empty((5, problem.clusters))
        seen = 0
        for settled, rest in [((1, 2), 28), ((3, 4), 24), ((1, 6), 24), ((9, 2), 20), ((1, 2, 4), 24)]:
            sure = {
                i
                for i in range(problem.m)
                if not exact_kernels.is_beaten(
                    problem.points,
                    pool,
                    slot_of[list(settled)],
                    i,
                    gaps[rest, i],
                    np.arange(problem.m),
                    rows,
                )
            }
            seen += len(sure)
            attributes = [a for a in range(5) if rest >> a & 1]
            for part in all_partitions(len(attributes)):
                completion = [tuple(attributes[b] for b in group) for group in groups_of(part)]
                linked = linked_records(problem, [*groups_of(settled), *completion])
                assert sure <= linked
        assert seen > 20


def linked_records(problem, groups):
    """Who is linked, with all distances compared."""
    from shoal.microdata.measures.linkage import link_by_distance

    links = link_by_distance(problem.points, protect(problem, tuple(groups)))
    return set(np.flatnonzero(~links.beaten & (links.tied == 1)).tolist())


def test_an_interrupted_proof_keeps_a_valid_bound(monkeypatch):
    monkeypatch.setattr(exact, "_SMALL", 2)
    problem = problem_of(1, 7, 80, 4, "skewed")
    best = exact.solve(problem).value
    bounds = []
    for allowed in (0, 1, 10, 40):
        found = exact.solve(problem, budget=Budget(iterations=allowed))
        verify(problem, found)
        assert found.bound <= best + 1e-9 <= found.value + 2e-9 and found.work <= allowed
        bounds.append(found.bound)
    assert bounds == sorted(bounds) and bounds[1] > bounds[0]


def test_census_of_fewer_attributes():
    problem = GroupingProblem.of(published.census()[:, :7], 25)
    found = exact.solve(problem, seeds=Seeds(1))
    assert found.optimal and found.value == pytest.approx(enumerated(problem), abs=1e-8)
    assert found.clustered == 127
    assert score_from_scratch(problem, found.groups).value == pytest.approx(found.value)


def test_too_much_is_refused_in_one_line():
    generator = np.random.default_rng(0)
    with pytest.raises(InputError, match="takes up to 13 attributes and there are 14"):
        exact.solve(GroupingProblem.of(generator.normal(size=(30, 14)), 3))
    with pytest.raises(InputError, match=r"would need .* MB"):
        exact.solve(GroupingProblem.of(generator.normal(size=(500, 12)), 3), ExactOptions(memory_mb=1))
