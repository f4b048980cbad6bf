"""Operator statistics against the printed formulas and against a slow count of random lives."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal.runtime.evolution.statistics import Ledger, efficiency

costs = st.floats(0.01, 1000)


def _mutation(child, parent):
    """Efficiency of a mutation as it was first defined."""
    if child <= parent:
        return (1 - child / parent) * 100
    return (parent / child - 1) * 100


def _crossover(child, one, other):
    """Efficiency of a crossover as it was first defined."""
    r = 2 * child / (one + other)
    return (1 - r) * 100 if r <= 1 else (1 / r - 1) * 100


@given(costs, costs, costs)
def test_efficiency_is_that_of_the_formulas(child, one, other):
    assert float(efficiency(child, one)) == pytest.approx(_mutation(child, one), abs=1e-9)
    assert float(efficiency(child, (one + other) / 2)) == pytest.approx(
        _crossover(child, one, other), abs=1e-9
    )


@given(costs, costs)
def test_two_equal_parents_are_like_one_and_a_clone_has_none(child, parent):
    assert efficiency(child, (parent + parent) / 2) == efficiency(child, parent)
    assert _crossover(child, parent, parent) == pytest.approx(_mutation(child, parent))
    assert efficiency(parent, parent) == 0
    assert math.copysign(1, efficiency(parent, parent)) == 1


@given(costs, costs)
def test_efficiency_is_symmetric_and_bounded(child, parent):
    assert float(efficiency(child, parent)) == pytest.approx(-float(efficiency(parent, child)))
    assert -100 <= efficiency(child, parent) <= 100


def test_efficiency_at_the_ends():
    assert efficiency(np.array([0.0, 0.0, 5.0]), np.array([5.0, 0.0, 0.0])).tolist() == [100.0, 0.0, -100.0]
    assert np.isnan(efficiency(-1.0, 5.0))


@st.composite
def lives(draw):
    """A number of generations, and children: (operator, birth, cost, parents' cost, uses, death or None)."""
    generations = draw(st.integers(1, 5))
    children = []
    for _ in range(draw(st.integers(0, 25))):
        birth = draw(st.integers(0, generations - 1))
        death = draw(st.none() | st.integers(birth, generations - 1))
        used = draw(st.booleans()) if birth + 1 < generations and death != birth else False
        cost, parents = draw(st.integers(1, 4)), draw(st.sampled_from([1.0, 1.5, 2.0, 3.0]))
        children.append((draw(st.integers(0, 2)), birth, cost, parents, used, death))
    return generations, children


def _mean(values):
    return sum(values) / len(values) if values else math.nan


@given(lives(), st.integers(1, 3))
def test_statistics_count_what_happened(story, founders):
    generations, children = story
    ledger = Ledger(founders)
    ledger.used(range(founders))
    ledger.died([0], generation=0)
    for operator, birth, cost, parents, used, death in children:
        number = ledger.born(operator=operator, generation=birth, cost=cost, parents=parents)
        if used:
            ledger.used([0, number, number])
        if death is not None:
            ledger.died([number], generation=death)
    measured = ledger.statistics(["A", "B", "C"], generations)
    for operator in range(3):
        for generation in range(generations):
            born = [child for child in children if child[:2] == (operator, generation)]
            ages = [(generations if death is None else death) - birth for _, birth, *_, death in born]
            percent = [_mutation(cost, parents) for _, _, cost, parents, _, _ in born]
            at = (operator, generation)
            assert measured.made[at] == len(born)
            assert measured.survived[at] == sum(age > 0 for age in ages)
            assert measured.unused[at] == sum(not used for *_, used, _ in born)
            assert measured.lifetime[at] == pytest.approx(_mean(ages), nan_ok=True)
            assert measured.improved[at] == sum(cost < parents for _, _, cost, parents, *_ in born)
            assert measured.worse[at] == sum(cost > parents for _, _, cost, parents, *_ in born)
            assert measured.equal[at] == sum(cost == parents for _, _, cost, parents, *_ in born)
            gains, losses = [p for p in percent if p > 0], [p for p in percent if p < 0]
            assert measured.gain[at] == pytest.approx(_mean(gains), nan_ok=True)
            assert measured.loss[at] == pytest.approx(_mean(losses), nan_ok=True)
            assert measured.highest[at] == pytest.approx(max(percent, default=math.nan), nan_ok=True)
            assert measured.lowest[at] == pytest.approx(min(percent, default=math.nan), nan_ok=True)
    assert (measured.improved + measured.worse + measured.equal == measured.made).all()
    records = measured.to_records()
    assert sum(record["made"] for record in records) == len(children)
    assert all(record["made"] > 0 and record["operator"] in "ABC" for record in records)
    assert not any(isinstance(value, float) and math.isnan(value) for r in records for value in r.values())


def test_before_the_first_generation_there_is_nothing():
    nothing = Ledger(3).statistics(["A", "B"], 0)
    assert nothing.made.shape == (2, 0)
    assert nothing.to_records() == []
