"""Recoding from counted combinations of keys: the levels and the people of the records they were counted from."""

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.errors import Infeasible
from shoal.microdata.recoding.recode_counts import Members, recode_tuples


def members_of(frame: pl.DataFrame, keys: list[str], tuples: pl.DataFrame) -> Members:
    """By looking at one person after the other."""
    place = {row: number for number, row in enumerate(tuples.rows())}
    alone, whose, several = np.zeros(tuples.height, dtype=np.int64), [], []
    for number, person in enumerate(frame["who"].unique().to_list()):
        own = {place[row] for row in frame.filter(pl.col("who") == person).select(keys).rows()}
        if len(own) == 1:
            alone[own.pop()] += 1
            continue
        whose += [number] * len(own)
        several += sorted(own)
    return Members(alone, np.array(whose, dtype=np.int64), np.array(several, dtype=np.int64))


@pytest.mark.parametrize("seed", range(12))
def test_units_are_held_as_with_all_records(seed: int) -> None:
    draw = np.random.default_rng(seed)
    n, keys = 60, ["age", "zip"]
    frame = pl.DataFrame(
        {
            "age": draw.integers(20, 40, n),
            "zip": draw.choice(["10", "11", "20", "21"], n),
            "who": draw.integers(0, int(draw.integers(12, 50)), n),
        }
    )
    counted = frame.group_by(keys).len().sort(keys)
    tuples = counted.select(keys)
    asked = {"hierarchies": {"age": "intervals(5,10)"}, "suppress": float(draw.choice([0.0, 0.1, 0.3]))}
    k = int(draw.integers(2, 6))
    members = members_of(frame, keys, tuples)
    assert members.people == frame["who"].n_unique()
    try:
        theirs = shoal.recode(frame, keys, k, method="lattice", unit="who", drop=["who"], **asked)
    except Infeasible:
        with pytest.raises(Infeasible):
            recode_tuples(tuples, counted["len"].to_numpy(), k, orders={}, members=members, **asked)
        return
    mine = recode_tuples(tuples, counted["len"].to_numpy(), k, orders={}, members=members, **asked)
    assert mine.levels == dict(theirs.levels)
    assert mine.solution.value == pytest.approx(theirs.loss)
    assert mine.suppressed_people == theirs.suppressed_people
    assert mine.problem.limit == theirs.limit
