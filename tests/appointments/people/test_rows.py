"""From people to plans and back: everybody has a seat they may have, and the anonymity is what was promised."""

import numpy as np
import polars as pl
import pytest

from shoal.anonymity.vector import AnonymityVector
from shoal.appointments.api import assign, assign_sizes
from shoal.errors import Infeasible, InputError
from shoal.microdata.anonymity.api import anonymity

PEOPLE = pl.DataFrame(
    {
        "id": range(15),
        "zip": ["88888", "11111", "11111", "88888", "88888", "11111", "11111", "11111"]
        + ["11111", "88888", "11111", "11111", "88888", "88888", "11111"],
        "gender": ["m", "m", "f", "f", "m", "f", "f", "m", "f", "f", "m", "f", "m", "m", "m"],
    }
)
SLOTS = pl.DataFrame(
    {
        "slot": ["A9", "A13", "B9", "B13", "C13"],
        "capacity": [4, 2, 4, 3, 2],
        "centre": ["A", "A", "B", "B", "C"],
        "hour": [9, 13, 9, 13, 13],
    }
)


def recount(plan, columns):
    return anonymity(plan.people, columns).vector


def test_the_published_example_from_people():
    plan = assign(PEOPLE, SLOTS, quasi=["zip", "gender"], objective="vector", seed=3)
    assert plan.optimal
    assert list(plan.vector_before) == [0, 1, 0, 2, 1]
    assert list(plan.vector) == [0, 2, 1, 2] == list(recount(plan, ["zip", "gender", "slot"]))
    assert plan.people.columns == ["id", "zip", "gender", "slot", "centre", "hour"]
    assert plan.people.drop("slot", "centre", "hour").equals(PEOPLE)
    assert plan.loads.tolist() == [4, 2, 4, 3, 2]
    joined = plan.people.join(SLOTS, on="slot")
    assert (joined["centre"] == joined["centre_right"]).all()
    assert plan.exposed_before == 10
    assert plan.exposed == 15


def test_an_attacker_who_knows_less():
    by_centre = assign(PEOPLE, SLOTS, quasi=["zip", "gender"], objective="vector", known=["centre"], seed=0)
    nothing = assign(PEOPLE, SLOTS, quasi=["zip", "gender"], objective="vector", known=[], seed=0)
    everything = assign(
        PEOPLE, SLOTS, quasi=["zip", "gender"], objective="vector", known=["centre", "hour"], seed=0
    )
    assert by_centre.optimal
    assert by_centre.vector == recount(by_centre, ["zip", "gender", "centre"])
    assert everything.vector == recount(everything, ["zip", "gender", "slot"])
    assert nothing.vector == nothing.vector_before
    assert by_centre.vector_before <= by_centre.vector <= everything.vector
    for plan, place in ((by_centre, "centre"), (everything, "slot")):
        crowds = plan.people.group_by(place).agg(
            pl.struct("zip", "gender").n_unique().alias("crowds"), pl.col("slot").n_unique().alias("slots")
        )
        assert plan.homogeneous == crowds.filter(pl.col("crowds") == 1)["slots"].sum()
    assert nothing.homogeneous == 0


def test_a_result_shows_nothing_of_a_person():
    plan = assign(PEOPLE, SLOTS, quasi=["zip", "gender"], seed=0)
    assert repr(plan).startswith(f"Appointments(people={len(PEOPLE)}, k={plan.k}, ")
    assert len(repr(plan).splitlines()) == 1
    with pytest.raises(
        InputError, match="slot attribute 'center' is not in the slots; did you mean 'centre'"
    ):
        assign(PEOPLE, SLOTS, quasi="zip", known=["center"])


def test_people_go_only_where_they_may():
    people = PEOPLE.with_columns(
        pl.when(pl.col("zip") == "88888").then(pl.lit("A;B")).otherwise(pl.lit("")).alias("near")
    )
    plan = assign(people, SLOTS, quasi=["zip", "gender"], eligible="near", objective="vector", seed=0)
    assert set(plan.people.filter(pl.col("zip") == "88888")["centre"]) <= {"A", "B"}
    assert plan.vector == recount(plan, ["zip", "gender", "slot"])
    hours = people.with_columns(pl.lit("hour=9; centre=A;centre=B").alias("near"))
    with pytest.raises(Infeasible, match="cannot be seated"):
        assign(hours, SLOTS, quasi=["zip"], eligible="near")
    with pytest.raises(InputError, match="neither a slot nor"):
        assign(people.with_columns(pl.lit("Z").alias("near")), SLOTS, quasi=["zip"], eligible="near")


def test_eligibility_from_a_table():
    table = pl.DataFrame(
        {"zip": ["88888", "88888", "11111", "11111", "11111"], "centre": ["A", "B", "A", "B", "C"]}
    )
    plan = assign(PEOPLE, SLOTS, quasi=["zip", "gender"], eligible=table, seed=0)
    assert set(plan.people.filter(pl.col("zip") == "88888")["centre"]) <= {"A", "B"}
    with pytest.raises(Infeasible, match="9 of 15 people have no slot"):
        assign(PEOPLE, SLOTS, quasi=["zip"], eligible=table.filter(pl.col("zip") == "88888"))
    with pytest.raises(InputError, match="needs a column of the people and a column of the slots"):
        assign(PEOPLE, SLOTS, quasi=["zip"], eligible=table.select("zip"))


def test_eligibility_classes_are_one_crowd_unless_known():
    # Two halves of one crowd that can come at different hours, into slots of one label.
    people = pl.DataFrame({"q": ["x"] * 6, "can": ["9"] * 3 + ["13"] * 3})
    slots = pl.DataFrame({"slot": [1, 2], "capacity": [3, 3], "centre": ["A", "A"], "hour": [9, 13]})
    together = assign(people, slots, quasi="q", eligible="can", known=["centre"], seed=0)
    assert (together.k, together.k_bound, together.optimal) == (6, 6, True)
    apart = assign(people, slots, quasi="q", eligible="can", known=["centre"], eligibility_known=True, seed=0)
    assert apart.k == 3


def test_pinned_people_keep_their_slot_and_count():
    given = [None] * 15
    given[2], given[5] = "C13", "C13"
    people = PEOPLE.with_columns(pl.Series("slot", given))
    plan = assign(people, SLOTS, quasi=["zip", "gender"], pinned="slot", objective="vector", seed=0)
    assert plan.people["slot"][2] == plan.people["slot"][5] == "C13"
    assert plan.people["slot"].null_count() == 0
    assert plan.vector == recount(plan, ["zip", "gender", "slot"])
    assert plan.loads.tolist() == [4, 2, 4, 3, 2]
    with pytest.raises(InputError, match="names a slot that is not"):
        assign(people.with_columns(pl.lit("Z").alias("slot")), SLOTS, quasi="zip", pinned="slot")
    with pytest.raises(InputError, match="fewer seats than people"):
        assign(people.with_columns(pl.lit("C13").alias("slot")), SLOTS, quasi="zip", pinned="slot")


def test_everybody_pinned_is_a_check_of_an_old_plan():
    plan = assign(PEOPLE, SLOTS, quasi=["zip", "gender"], seed=1)
    again = assign(plan.people, SLOTS, quasi=["zip", "gender"], pinned="slot")
    assert again.assignment is None
    assert again.vector == plan.vector
    assert again.people.equals(plan.people)
    came = np.ones(15, bool)
    came[:5] = False
    kept = plan.people.filter(pl.Series(came))
    assert again.attended(came) == anonymity(kept, ["zip", "gender", "slot"]).vector
    assert again.attended(np.zeros(15, bool)).k == 0


def test_partly_booked_slots():
    slots = SLOTS.with_columns(capacity=pl.col("capacity") + 3, booked=pl.lit(3))
    plan = assign(PEOPLE, slots, quasi=["zip", "gender"], objective="vector", seed=0)
    assert list(plan.vector) == [0, 2, 1, 2]
    assert plan.loads.tolist() == [7, 5, 7, 6, 5]
    assert "booked" not in plan.people.columns


def test_diversity_keeps_several_values_in_every_crowd():
    people = PEOPLE.with_columns(pl.Series("risk", ["low", "high", "low"] * 5))
    slots = SLOTS.with_columns(capacity=pl.col("capacity") + 2)
    plan = assign(people, slots, quasi=["zip", "gender"], diverse="risk", objective="vector", seed=0)
    owned = people.group_by("zip", "gender").agg(own=pl.col("risk").n_unique())
    found = (
        plan.people.group_by("zip", "gender", "slot")
        .agg(here=pl.col("risk").n_unique())
        .join(owned, on=["zip", "gender"])
    )
    assert (found["here"] >= found["own"].clip(upper_bound=2)).all()


def test_people_are_placed_at_random_within_their_crowd():
    people = pl.DataFrame({"q": ["x"] * 40})
    slots = pl.DataFrame({"slot": [1, 2], "capacity": [20, 20]})
    seen = {tuple(assign(people, slots, quasi="q").slot_of) for _ in range(5)}
    assert len(seen) == 5, "without a seed the draw must differ"
    repeated = {tuple(assign(people, slots, quasi="q", seed=4).slot_of) for _ in range(3)}
    assert len(repeated) == 1
    firsts = [assign(people, slots, quasi="q", seed=seed).slot_of[0] for seed in range(40)]
    assert 8 < sum(firsts) < 32


def test_frames_of_any_kind():
    pandas = pytest.importorskip("pandas")
    pyarrow = pytest.importorskip("pyarrow")
    frame = pandas.DataFrame({"q": [1, 1, 2], "name": ["a", "b", "c"]}, index=[7, 8, 9])
    plan = assign(frame, SLOTS.to_pandas(), quasi="q", seed=0)
    assert isinstance(plan.people, pandas.DataFrame)
    assert list(plan.people.index) == [7, 8, 9]
    assert list(plan.people.columns) == ["q", "name", "slot", "centre", "hour"]
    assert list(frame.columns) == ["q", "name"]
    arrow = assign(pyarrow.table({"q": [1, 1, 2]}), SLOTS, quasi="q", seed=0).people
    assert isinstance(arrow, pyarrow.Table)
    with pytest.raises(InputError, match="must be a pandas, Polars or Arrow frame"):
        assign([1, 2], SLOTS, quasi="q")


@pytest.mark.parametrize("known", [None, ["center", "hour"]])
def test_rows_that_say_where_and_when_are_slots(known) -> None:
    """Table 5 as it is printed: nothing but where, when and how many."""
    printed = SLOTS.select(Center="centre", Hour="hour", Capacity="capacity")
    asked = None if known is None else ["Center", "Hour"]
    plan = assign(PEOPLE, printed, quasi=["zip", "gender"], objective="vector", known=asked, seed=3)
    assert list(plan.vector) == [0, 2, 1, 2] == list(recount(plan, ["zip", "gender", "Center", "Hour"]))
    assert plan.people.columns == ["id", "zip", "gender", "slot", "Center", "Hour"]
    assert set(plan.people["slot"]) == {1, 2, 3, 4, 5} and printed.columns == ["Center", "Hour", "Capacity"]
    with pytest.raises(InputError, match=r"'slot' is not in the slots; .*then each row is one"):
        assign(PEOPLE, printed.with_columns(doctor=pl.lit("x")), quasi="zip")


@pytest.mark.parametrize(
    ("slots", "text"),
    [
        (SLOTS.rename({"capacity": "size"}), "column 'capacity' is not in the slots"),
        (SLOTS.rename({"slot": "place"}), "column 'slot' is not in the slots"),
        (pl.concat([SLOTS, SLOTS[:1]]), "1 slot is listed twice"),
        (SLOTS.with_columns(capacity=pl.lit(0)), "1 or more"),
        (SLOTS.with_columns(capacity=pl.lit(-2)), "1 or more"),
        (SLOTS.with_columns(capacity=pl.lit(2.5)), "whole numbers"),
        (SLOTS.with_columns(capacity=pl.lit("many")), "whole numbers"),
        (SLOTS.with_columns(booked=pl.lit(9)), "between 0 and the capacity"),
        (SLOTS[:0], "empty"),
    ],
)
def test_bad_slots_are_refused(slots, text):
    with pytest.raises(InputError, match=text):
        assign(PEOPLE, slots, quasi="zip")


def test_bad_people_are_refused():
    with pytest.raises(InputError, match="column 'zipp' is not in the people; did you mean 'zip'"):
        assign(PEOPLE, SLOTS, quasi=["zipp"])
    with pytest.raises(InputError, match="at least one quasi-identifier"):
        assign(PEOPLE, SLOTS, quasi=[])
    with pytest.raises(InputError, match="no people"):
        assign(PEOPLE[:0], SLOTS, quasi="zip")
    with pytest.raises(Infeasible, match="15 people and 9 seats: 6 seats are missing"):
        assign(PEOPLE, SLOTS[2:], quasi="zip")
    with pytest.raises(InputError, match="already have a column 'hour'"):
        assign(PEOPLE.with_columns(hour=pl.lit(1)), SLOTS, quasi="zip")
    with pytest.raises(InputError, match="method 'best' is not a method of appointments"):
        assign(PEOPLE, SLOTS, quasi="zip", method="best")
    with pytest.raises(InputError, match="cannot optimise objective vector"):
        assign(PEOPLE, SLOTS, quasi="zip", method="genetic", objective="vector")


def test_random_instances_from_people_agree_with_a_recount():
    for seed in range(25):
        generator = np.random.default_rng(seed)
        people = pl.DataFrame(
            {"q": generator.integers(0, 4, 20), "can": generator.choice(["", "A", "B"], 20)}
        )
        slots = pl.DataFrame(
            {
                "slot": range(4),
                "capacity": generator.integers(8, 12, 4),
                "centre": ["A", "A", "B", "B"],
                "hour": [9, 10, 9, 10],
            }
        )
        known = [None, ["centre"], ["hour"]][seed % 3]
        plan = assign(people, slots, quasi="q", eligible="can", known=known, seed=seed, iterations=200)
        columns = ["q", *(known or ["slot"])]
        assert plan.vector == recount(plan, columns)
        assert plan.k <= plan.k_bound <= plan.k_before
        wrong = plan.people.filter((pl.col("can") != "") & (pl.col("can") != pl.col("centre")))
        assert wrong.height == 0


def test_sizes_and_report():
    plan = assign_sizes([28, 72, 44, 56], [100, 100, 50])
    assert (plan.k, plan.k_bound, plan.optimal) == (28, 28, True)
    with pytest.raises(InputError, match="capacities must be 1 or more"):
        assign_sizes([3], [4, 0])
    report = assign(PEOPLE, SLOTS, quasi=["zip", "gender"], seed=0).report().html()
    assert "No plan can help them" in report
    assert "88888" not in report
    assert AnonymityVector.from_sizes([1]).k == 1
