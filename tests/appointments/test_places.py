"""Rank, position, distance and gain of plans; random instances; and the vector in one model beside level by level."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cli.running import shoal

from shoal.anonymity.vector import AnonymityVector
from shoal.appointments import vector_rank as places
from shoal.appointments.api import assign_sizes
from shoal.errors import InputError


def test_the_worked_example_has_the_published_places():
    found = shoal(
        *(
            "assign",
            "--group-sizes",
            "4,4,5,2",
            "--capacities",
            "4,2,4,3,2",
            "--objective",
            "vector",
            "--json",
        )
    ).json
    assert (found["rank"], found["rank_before"], found["vectors"]) == ("144", "154", "176")
    assert found["distance"] == "10" and found["position"] == pytest.approx(144 / 175)
    assert found["gain"] == pytest.approx((144 - int(found["rank_random"])) / 154)
    assert found["mean_crowd"] == pytest.approx((2 * 2 * 2 + 3 * 3 + 2 * 4 * 4) / 15)
    text = shoal(
        *("assign", "--group-sizes", "4,4,5,2", "--capacities", "4,2,4,3,2", "--objective", "vector")
    ).out
    assert "144 of 175" in text and "gain over random seats" in text and "mean crowd of a person" in text


@settings(deadline=None, max_examples=60)
@given(st.lists(st.integers(1, 6), min_size=1, max_size=5), st.integers(0, 3))
def test_places_agree_with_enumeration(sizes, seed):
    people = sum(sizes)
    plan = assign_sizes(sizes, [people], method="greedy", seed=seed)
    every = sorted(_vectors(people), reverse=True)
    found = plan.places
    assert found.vectors == len(every)
    assert (found.rank, found.before, found.random) == tuple(
        every.index(vector) for vector in (plan.vector, plan.vector_before, plan.random)
    )
    assert 0.0 <= found.position <= 1.0 and found.distance == found.before - found.rank


def _vectors(people, largest=None):
    """All vectors of so many people, by trying all sizes of the largest crowd."""
    largest = people if largest is None else largest
    if people == 0:
        return [AnonymityVector(())]
    return [
        AnonymityVector({**rest.to_dict(), size: rest.to_dict().get(size, 0) + 1})
        for size in range(1, min(people, largest) + 1)
        for rest in _vectors(people - size, size)
    ]


def test_of_very_many_people_no_place_is_computed():
    many = AnonymityVector({1: places.RANKED_UP_TO + 1})
    assert places.places(many, many, many) is None
    assert set(places.figures(None).values()) == {None}
    assert places.places(AnonymityVector((3,)), AnonymityVector((3,)), AnonymityVector((3,))).gain is None


def test_a_random_instance_is_drawn_from_its_ranges(tmp_path):
    arguments = (
        "--population",
        25,
        "--min-group",
        3,
        "--max-group",
        7,
        "--min-capacity",
        3,
        "--max-capacity",
        7,
    )
    found = shoal("generate", "instance", "random", *arguments, "--seed", 4, "--json").json
    assert sum(found["groups"]) == 25 and all(size <= 7 for size in found["groups"])
    assert sum(found["capacities"]) >= 25 and all(3 <= size <= 7 for size in found["capacities"])
    again = shoal("generate", "instance", "random", *arguments, "--seed", 4, "--json").json
    assert again == found
    wrong = shoal("generate", "instance", "random", "--min-group", 9, "--max-group", 3)
    assert wrong.code == 2 and "range" in wrong.err
    file = tmp_path / "random.json"
    shoal("generate", "instance", "random", *arguments, "-o", file)
    assert shoal("assign", "--instance", file, "--json").json["people"] == 25


@settings(deadline=None, max_examples=25)
@given(
    st.lists(st.integers(1, 5), min_size=1, max_size=3), st.lists(st.integers(1, 5), min_size=1, max_size=3)
)
def test_one_model_and_level_by_level_agree(sizes, seats):
    seats = [*seats, max(1, sum(sizes) - sum(seats))]
    levels, whole = (
        assign_sizes(sizes, seats, objective="vector", method="lexicographic", options={"model": model})
        for model in ("levels", "one-shot")
    )
    assert levels.optimal and whole.optimal and levels.vector == whole.vector


def test_one_model_refuses_what_its_weights_cannot_hold():
    with pytest.raises(InputError, match="too many people"):
        assign_sizes(
            [40] * 12, [35] * 15, objective="vector", method="lexicographic", options={"model": "one-shot"}
        )
