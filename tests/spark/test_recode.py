"""Recoding on a cluster: the levels, the loss and the classes of one machine."""

from pathlib import Path

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.spark import recode
from shoal.spark.writing import stage_parts

pytestmark = pytest.mark.xdist_group("spark")


def people(n: int = 1_500) -> pl.DataFrame:
    draw = np.random.default_rng(2)
    return pl.DataFrame(
        {
            "age": draw.integers(18, 70, n),
            "zip": draw.choice(["10", "11", "12", "20", "21", "30"], n),
            "sex": pl.Series(draw.choice(["f", "m", "-"], n, p=[0.5, 0.49, 0.01])).replace("-", None),
            "pay": draw.integers(0, 9, n),
        }
    )


def test_it_recodes_as_one_machine_does(given, tmp_path: Path) -> None:
    frame = people()
    asked = {"hierarchies": {"age": "intervals(5,10,20,40)"}, "suppress": 0.04}
    mine = recode(given(frame, 3), ["age", "zip", "sex"], 6, **asked)
    theirs = shoal.recode(frame, ["age", "zip", "sex"], 6, method="lattice", **asked)
    assert (mine.levels, mine.loss, mine.bound) == (
        dict(theirs.levels),
        pytest.approx(theirs.loss),
        pytest.approx(theirs.bound),
    )
    assert mine.optimal and mine.k_release == theirs.k_release >= 6
    assert mine.suppressed_records == theirs.suppressed_records > 0
    out = tmp_path / "safe"
    mine.write(str(out))
    after = pl.read_parquet(f"{out}/*.parquet")
    assert after.columns == frame.columns
    # The same records, whatever their order.
    assert sorted(after.rows(), key=repr) == sorted(theirs.frame.rows(), key=repr)
    # What is checked is what lies on the disk, in the folder that does not have its place yet.
    read: list[tuple[int, list[str]]] = []
    staged = stage_parts(
        mine.frame,
        str(tmp_path / "again"),
        force=False,
        records=mine.records,
        columns=("zip",),
        verify=lambda written: read.append((written.count(), written.inputFiles())),
    )
    [(records, files)] = read
    assert records == mine.records and files and all(f"{tmp_path}/.again." in file for file in files)
    assert not (tmp_path / "again").exists()
    staged.close()
    assert not list(tmp_path.glob(".again*"))


def test_units_are_held_and_warned_of_as_on_one_machine(given, tmp_path: Path) -> None:
    draw = np.random.default_rng(4)
    frame = people(400).with_columns(
        person=pl.Series(draw.integers(0, 150, 400)),
        half=pl.Series(draw.integers(0, 12, 400)) / 2 - 0.0,
        born=pl.Series(draw.integers(1950, 2000, 400)),
    )
    frame = frame.with_columns(
        half=pl.when(pl.col("half") == 1).then(float("nan")).otherwise("half"), town=pl.col("zip") + "x"
    )
    keys = ["age", "zip", "half"]
    asked = {"hierarchies": {"age": "intervals(5,10,20)"}, "suppress": 0.1, "unit": "person"}
    for drop in ([], ["person", "pay"]):
        mine = recode(given(frame, 3), keys, 4, drop=drop, **asked)
        theirs = shoal.recode(frame, keys, 4, method="lattice", drop=drop, **asked)
        assert (mine.levels, mine.loss) == (dict(theirs.levels), pytest.approx(theirs.loss))
        assert (mine.suppressed_people, mine.suppressed_records, mine.limit) == (
            theirs.suppressed_people,
            theirs.suppressed_records,
            theirs.limit,
        )
        assert mine.k_release == theirs.k_release >= 4 and mine.anonymity.unit == "person"
        assert list(map(str, mine.warnings)) == list(map(str, theirs.warnings)) and mine.warnings
    assert mine.recoding == mine.levels and sum(mine.suppressed_cells.values()) == 0
    told = mine.report().html()
    assert "shoal.spark.recode(frame=…)" in told and "may be known of somebody, too" in told
    # A class of one person is refused, though its records are as many as before.
    from pyspark.sql import functions as f

    first = recode(given(frame, 2), ["zip"], 4, unit="person")
    with pytest.raises(AssertionError, match="fewer than k units"):
        first.verify(first.frame.withColumn("person", f.lit(1)))
    with pytest.raises(shoal.InputError, match="needs all records in one place"):
        recode(given(frame), ["zip"], 4, method="local")
    with pytest.raises(TypeError, match="nonsense"):
        recode(given(frame), ["zip"], 4, nonsense=1)


def test_the_check_refuses_what_was_tampered_with(given) -> None:
    from pyspark.sql import functions as f

    mine = recode(given(people(400)), ["zip", "sex"], 3, suppress=0.2)
    with pytest.raises(AssertionError):
        mine.verify(mine.frame.withColumn("zip", f.lit("10")))
    with pytest.raises(AssertionError):
        mine.verify(mine.frame.limit(380))


def test_what_cannot_be_recoded_is_refused(given) -> None:
    data = given(people(100))
    with pytest.raises(shoal.InputError, match="did you mean 'zip'"):
        recode(data, ["zipp"])
    with pytest.raises(shoal.InputError, match="only 100 records"):
        recode(data, ["zip"], 101)
    with pytest.raises(shoal.Infeasible, match="even the coarsest"):
        recode(data, ["zip", "sex"], 40, stay=["zip", "sex"])
