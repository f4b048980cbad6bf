"""The check of a grouping makes its own MDAV and its own score; it refuses every planted lie."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.mutants import complaint, forged

from shoal.microdata.grouping.evaluator import Evaluator, protect, score_from_scratch
from shoal.microdata.grouping.methods import METHODS
from shoal.microdata.grouping.problem import GroupingProblem, Scoring, canonical
from shoal.microdata.grouping.solution import Grouping
from shoal.microdata.grouping.verify import _linked, plain_mdav, verify
from shoal.microdata.measures.fitness import Fitness
from shoal.microdata.microaggregation.construct.mdav import mdav_labels
from shoal.runtime import Budget, Seeds

SEEDS = st.integers(0, 2**32)


def table(rng: np.random.Generator) -> np.ndarray:
    """Some records: normal, skewed, or whole numbers with many ties."""
    shape = int(rng.integers(8, 60)), int(rng.integers(2, 6))
    values = [rng.normal(size=shape), np.exp(rng.normal(size=shape)), rng.integers(0, 6, shape).astype(float)]
    return values[rng.integers(3)]


def grouped(seed: int) -> tuple[GroupingProblem, Grouping]:
    """A small problem and a grouping with the score the searches give it."""
    rng = np.random.default_rng(seed)
    scoring = Scoring.of(
        ["compatible", "literal"][rng.integers(2)], ["compatible", "strict"][rng.integers(2)]
    )
    problem = GroupingProblem.of(table(rng), int(rng.integers(2, 5)), scoring)
    of = rng.integers(0, problem.n, problem.n)
    partition = canonical([np.flatnonzero(of == group).tolist() for group in np.unique(of)])
    with Evaluator(problem) as evaluator:
        (score,) = evaluator.scores([partition])
    return problem, Grouping(value=score.value, partition=partition, score=score)


def scored(solution: Grouping, **changes: float) -> Grouping:
    score = Fitness(**{**{name: getattr(solution.score, name) for name in ("il", "id", "dld")}, **changes})
    return forged(solution, score=score, value=score.value)


LIES: dict[str, tuple[Any, str]] = {
    "loss too low": (lambda p, s: scored(s, il=s.score.il - 1e-5), "il is"),
    "disclosure too low": (lambda p, s: scored(s, id=s.score.id - 100 / (10 * p.m * p.n)), "id is"),
    "one more link": (lambda p, s: scored(s, dld=s.score.dld + 100 / p.m), "dld is"),
    "value too low": (lambda p, s: forged(s, value=s.value - 1e-5), "the score is"),
    "bound above the score": (lambda p, s: forged(s, bound=s.value + 1e-5), "bound is above"),
    "optimal for no reason": (lambda p, s: forged(s, optimal=True), "optimal without"),
    "an attribute left out": (lambda p, s: forged(s, partition=(*s.partition[:-1], 0)), "empty"),
    "a group left out": (lambda p, s: forged(s, partition=s.partition[:-1]), "each once"),
    "an attribute twice": (lambda p, s: forged(s, partition=(*s.partition, 1)), "each once"),
    "an attribute nobody has": (lambda p, s: forged(s, partition=(*s.partition, 1 << p.n)), "each once"),
}


@pytest.mark.parametrize("lie", LIES)
@settings(max_examples=15)
@given(seed=SEEDS)
def test_lies_are_refused(lie: str, seed: int) -> None:
    problem, honest = grouped(seed)
    assert complaint(verify, problem, honest) is None
    tell, text = LIES[lie]
    with pytest.raises(AssertionError, match=text):
        verify(problem, tell(problem, honest))


@settings(max_examples=20)
@given(seed=SEEDS)
def test_the_score_of_another_grouping_is_refused(seed: int) -> None:
    problem, honest = grouped(seed)
    together = canonical([range(problem.n)])
    other = score_from_scratch(problem, (tuple(range(problem.n)),))
    accepted = complaint(verify, problem, forged(honest, partition=together)) is None
    assert accepted == (abs(other.il - honest.score.il) + abs(other.id - honest.score.id) < 1e-7)


@settings(max_examples=60)
@given(seed=SEEDS)
def test_the_plain_mdav_is_the_fast_one(seed: int) -> None:
    rng = np.random.default_rng(seed)
    points, k = table(rng), int(rng.integers(2, 6))
    for bounds, enough in (("strict", 2 * k), ("compatible", k + 1)):
        for distance in ("euclidean", "manhattan"):
            fast = mdav_labels(points, k, bounds=bounds, distance=distance)
            plain = plain_mdav(points, k, enough_for_second=enough, manhattan=distance == "manhattan")
            assert plain.tolist() == fast.tolist()


@settings(max_examples=40)
@given(seed=SEEDS)
def test_links_are_those_of_all_distances(seed: int) -> None:
    problem, honest = grouped(seed)
    released = protect(problem, honest.groups)
    linked = 0
    for record, own in enumerate(released):
        mine = float(np.square(problem.points[record] - own).sum())
        others = np.square(problem.points[record] - np.delete(released, record, axis=0)).sum(axis=1)
        linked += bool((others > mine * (1 + 1e-10) + 1e-20).all())
    assert _linked(problem.points, released) == pytest.approx(100.0 * linked / problem.m)


@pytest.mark.parametrize("method", METHODS)
def test_what_the_methods_make_is_accepted(method: str) -> None:
    problem = GroupingProblem.of(np.exp(np.random.default_rng(1).normal(size=(60, 5))), 4)
    found = METHODS[method].solve(problem, None, budget=Budget(iterations=30), seeds=Seeds(1), threads=1)
    verify(problem, found)
