"""The checks of a partition and of a release accept what the methods make and refuse every planted lie."""

from datetime import date, timedelta
from typing import Any

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.mutants import complaint, forged

from shoal import microaggregate
from shoal.microdata.microaggregation.methods import METHODS
from shoal.microdata.microaggregation.problem import Problem
from shoal.microdata.microaggregation.result import Microaggregation
from shoal.microdata.microaggregation.solution import Partition
from shoal.microdata.microaggregation.verify import verify
from shoal.runtime import Budget, Seeds

SEEDS = st.integers(0, 2**32)


def partitioned(seed: int) -> tuple[Problem, Partition]:
    """A small problem and what a method makes of it."""
    rng = np.random.default_rng(seed)
    n, k = int(rng.integers(9, 30)), 3
    points = rng.normal(size=(n, 2)) * 10.0 ** rng.integers(-3, 4, 2) + rng.integers(0, 100, 2)
    problem = Problem.standardised(points, k, largest=[None, 5][rng.integers(2)])
    method = METHODS[["mdav", "projection", "ils"][rng.integers(3)]]
    return problem, method.solve(problem, None, budget=Budget(iterations=20), seeds=Seeds(seed), threads=1)


def relabelled(partition: Partition, change: Any) -> Partition:
    labels = partition.labels.copy()
    change(labels)
    return forged(partition, labels=labels)


def exchanged(partition: Partition) -> Partition:
    one = 0
    two = int(np.flatnonzero(partition.labels != partition.labels[0])[0])
    return relabelled(partition, lambda at: at.__setitem__([one, two], at[[two, one]]))


PARTITION_LIES = {
    "loss too low": (lambda p, s: forged(s, value=s.value * 0.999), "the loss is"),
    "loss too high": (lambda p, s: forged(s, value=s.value * 1.001), "the loss is"),
    "total wrong": (lambda p, s: forged(s, sst=s.sst * 2), "the loss of one group"),
    "two records exchanged": (lambda p, s: exchanged(s), "the loss is"),
    "a record alone": (
        lambda p, s: relabelled(s, lambda at: at.__setitem__(0, at.max() + 1)),
        "fewer than k",
    ),
    "a number nobody has": (lambda p, s: relabelled(s, lambda at: at.__iadd__(at > 0)), "fewer than k"),
    "numbered from 1": (lambda p, s: forged(s, labels=s.labels + 1), "numbered from 0"),
    "numbers below 0": (lambda p, s: forged(s, labels=s.labels - 1), "numbered from 0"),
    "labels that are no integers": (lambda p, s: forged(s, labels=s.labels.astype(float)), "integers"),
    "a record without label": (lambda p, s: forged(s, labels=s.labels[:-1]), "labels for"),
    "all in one group": (lambda p, s: forged(s, labels=np.zeros_like(s.labels)), "more than|the loss is"),
    "bound above the loss": (lambda p, s: forged(s, bound=s.value * 1.01), "bound is above"),
    "optimal for no reason": (lambda p, s: forged(s, bound=None, optimal=True), "optimal without"),
}


@pytest.mark.parametrize("lie", PARTITION_LIES)
@settings(max_examples=10)
@given(seed=SEEDS)
def test_lies_about_a_partition_are_refused(lie: str, seed: int) -> None:
    problem, honest = partitioned(seed)
    assert complaint(verify, problem, honest) is None
    tell, text = PARTITION_LIES[lie]
    with pytest.raises(AssertionError, match=text):
        verify(problem, tell(problem, honest))


@settings(max_examples=25)
@given(seed=SEEDS)
def test_the_loss_is_that_of_the_definition(seed: int) -> None:
    problem, honest = partitioned(seed)
    plain = 0.0
    for group in range(honest.groups):
        members = problem.points[honest.labels == group]
        plain += sum(float(np.square(record - members.mean(axis=0)).sum()) for record in members)
    verify(problem, forged(honest, value=plain, bound=None, optimal=False))


def people(rng: np.random.Generator, n: int = 40) -> pl.DataFrame:
    """Numbers, whole numbers, dates, grades, gaps, weights and two regions."""
    income = np.exp(rng.normal(size=n)) * 1000
    return pl.DataFrame(
        {
            "income": [None if rng.random() < 0.05 else float(value) for value in income],
            "visits": rng.integers(0, 500, n),
            "born": [date(1950, 1, 1) + timedelta(days=int(day)) for day in rng.integers(0, 20_000, n)],
            "grade": rng.choice(["a", "b", "c", "d"], n),
            "weight": rng.uniform(0.5, 2.0, n),
            "region": rng.permutation(np.repeat(["n", "s"], n // 2)),
        }
    )


def released(seed: int) -> Microaggregation:
    """A release with one of the settings there are."""
    rng = np.random.default_rng(seed)
    return microaggregate(
        people(rng),
        k=4,
        columns=["income", "visits", "born"],
        ordinal={"grade": ["a", "b", "c", "d"]},
        method="mdav",
        missing="impute",
        aggregate=["mean", "median", "rounded-mean"][rng.integers(3)],
        sample_weights=[None, "weight"][rng.integers(2)],
        by=[["region"], []][rng.integers(2)],
        groups=[None, [["income", "visits"], ["born", "grade"]]][rng.integers(2)],
        quasi=["income", "visits", "born", "grade"],
        order=["keep", "sorted"][rng.integers(2)],
    )


def changed(result: Microaggregation, column: str, change: Any) -> pl.DataFrame:
    values = result.frame[column].to_list()
    change(values)
    return result.frame.with_columns(
        pl.Series(column, values, dtype=result.frame[column].dtype, strict=False)
    )


def whole_group(result: Microaggregation, column: str, to: Any) -> pl.DataFrame:
    """The frame with another value for all of one group, so that groups stay alike within."""
    part = next(part for part in result.parts if column in part.columns)
    labels = part.labels[result._check.permutation]

    def change(values: list[Any]) -> None:
        first = next(at for at, value in enumerate(values) if value is not None)
        other = to(values[first])
        for at in np.flatnonzero(labels == labels[first]):
            values[at] = other

    return changed(result, column, change)


def groups_exchanged(result: Microaggregation, column: str) -> pl.DataFrame:
    part = next(part for part in result.parts if column in part.columns)
    labels = part.labels[result._check.permutation]

    def change(values: list[Any]) -> None:
        far = max(range(len(values)), key=lambda at: (values[at] is not None, values[at] or 0))
        near = min(range(len(values)), key=lambda at: (values[at] is None, values[at] or 0))
        high, low = values[far], values[near]
        for at in range(len(values)):
            values[at] = (
                low if labels[at] == labels[far] else high if labels[at] == labels[near] else values[at]
            )

    return changed(result, column, change)


def first_part(result: Microaggregation, **changes: Any) -> Microaggregation:
    return forged(result, parts=(forged(result.parts[0], **changes), *result.parts[1:]))


def other_grade(grade: str) -> str:
    return "d" if grade < "c" else "a"


FRAME_LIES = {
    "a value changed": lambda r: changed(r, "visits", lambda v: v.__setitem__(0, v[0] + 1)),
    "a value gone": lambda r: changed(r, "visits", lambda v: v.__setitem__(0, None)),
    "a group raised": lambda r: whole_group(r, "visits", lambda v: v + 2),
    "a group raised by a millionth": lambda r: whole_group(r, "income", lambda v: v * (1 + 1e-6)),
    "a group without its value": lambda r: whole_group(r, "income", lambda v: None),
    "a group days later": lambda r: whole_group(r, "born", lambda v: v + timedelta(days=60)),
    "a group of another grade": lambda r: whole_group(r, "grade", other_grade),
    "a grade nobody knows": lambda r: whole_group(r, "grade", lambda v: "e"),
    "two groups exchanged": lambda r: groups_exchanged(r, "income"),
    "a record lost": lambda r: r.frame.head(-1),
    "records in another order": lambda r: r.frame.reverse(),
}

RESULT_LIES = {
    "loss too low": lambda r: first_part(r, sse=r.parts[0].sse * 0.9999),
    "loss too high": lambda r: first_part(r, sse=r.parts[0].sse * 1.0001),
    "total wrong": lambda r: first_part(r, sst=r.parts[0].sst * 1.1),
    "bound above the loss": lambda r: first_part(r, bound=r.parts[0].sse * 1.001),
    "optimal for no reason": lambda r: first_part(r, optimal=True, bound=None),
    "a record in a group of its own": lambda r: first_part(
        r, labels=np.concatenate([[r.parts[0].labels.max() + 1], r.parts[0].labels[1:]])
    ),
    "all in one group": lambda r: first_part(r, labels=np.zeros_like(r.parts[0].labels)),
    "k larger than it was": lambda r: forged(r, k=r.k + r.records),
    "K of the columns too large": lambda r: forged(r, k_protected=r.k_protected + 1),
    "K of the release too large": lambda r: forged(r, k_release=r.k_release + 1),
}


@settings(max_examples=25)
@given(seed=SEEDS)
def test_lies_about_a_release_are_refused(seed: int) -> None:
    result = released(seed)
    assert complaint(result.verify) is None
    for lie, tell in FRAME_LIES.items():
        assert complaint(result.verify, tell(result)) is not None, lie
    for lie, tell in RESULT_LIES.items():
        assert complaint(tell(result).verify) is not None, lie


def test_a_group_across_strata_is_refused() -> None:
    frame = people(np.random.default_rng(3))
    result = microaggregate(frame, k=4, columns=["visits"], by=["region"], method="mdav")
    whole = microaggregate(frame, k=4, columns=["visits"], method="mdav")
    lie = forged(whole, _check=forged(whole._check, strata=result._check.strata))
    assert complaint(lie.verify) == "a group crosses strata"


def test_a_value_of_one_heavy_record_is_refused() -> None:
    frame = people(np.random.default_rng(4))
    result = microaggregate(frame, k=4, columns=["visits"], sample_weights="weight", method="mdav")
    heavy = result._check.weights.copy()
    heavy[0] = 1e6
    few = np.where(result.labels == result.labels[0], 0.0, heavy)
    few[0] = 1.0
    for weights, text in ((heavy, "dominates"), (few, "fewer than k")):
        lie = forged(result, _check=forged(result._check, weights=weights))
        with pytest.raises(AssertionError, match=text):
            lie.verify()


def test_values_that_differ_in_their_last_digits_are_judged_by_what_these_say() -> None:
    rng = np.random.default_rng(5)
    frame = pl.DataFrame({"x": 1e15 + rng.integers(0, 50, 60).astype(float), "y": rng.normal(size=60)})
    result = microaggregate(frame, k=4, columns=["x", "y"], method="mdav")
    result.verify()
    assert complaint(first_part(result, sse=result.parts[0].sse * 1.5).verify) is not None
