"""K, vectors and diversity on a cluster are those of one machine."""

from importlib import import_module
from inspect import isfunction

import numpy as np
import polars as pl
import pytest

import shoal
import shoal.spark
from shoal.spark import anonymity

pytestmark = pytest.mark.xdist_group("spark")


@pytest.fixture(scope="module")
def people() -> pl.DataFrame:
    draw = np.random.default_rng(5)
    n = 3_000
    age = draw.integers(18, 60, n).astype(float)
    age[:40], age[40:60] = np.nan, -0.0
    return pl.DataFrame(
        {
            "age": age,
            "zip.code": pl.Series(draw.integers(0, 9, n)).cast(pl.String).replace("3", None),
            "ill": draw.choice(["flu", "gout", "none"], n),
            "who": draw.integers(0, 2_200, n),
        }
    ).with_columns(who=pl.when(pl.col("who") > 20).then("who"))


def test_it_agrees_with_one_machine(people, given) -> None:
    data = given(people, 3)
    mine = anonymity(data, ["age", "zip.code"], unit="who", confidential=["ill"])
    theirs = shoal.anonymity(people, ["age", "zip.code"], unit="who", confidential=["ill"])
    assert mine.vector.to_dict() == theirs.vector.to_dict()
    assert (mine.people, mine.k, mine.units, mine.records) == (
        theirs.people,
        theirs.k,
        theirs.units,
        theirs.records,
    )
    assert list(mine.people) == sorted(mine.people)
    assert mine.diversity is not None and theirs.diversity is not None
    assert mine.diversity.distinct == theirs.diversity.distinct
    assert mine.diversity.entropy == pytest.approx(theirs.diversity.entropy)
    plain = anonymity(data, ["age", "zip.code"])
    assert plain.vector.to_dict() == shoal.anonymity(people, ["age", "zip.code"]).vector.to_dict()


def test_what_cannot_be_counted_is_refused(people, given) -> None:
    data = given(people)
    with pytest.raises(shoal.InputError, match="did you mean 'age'"):
        anonymity(data, ["agee"])
    with pytest.raises(shoal.InputError, match="value of its own"):
        anonymity(data, ["age"], null="wildcard")
    with pytest.raises(shoal.InputError, match="DataFrame of Spark, not DataFrame"):
        anonymity(people, ["age"])
    with pytest.raises(shoal.InputError, match="type map"):
        anonymity(data.selectExpr("age", "map('a', 1) m"), ["m"])


def test_functions_stand_before_modules_of_their_name() -> None:
    for name in shoal.spark.__all__:
        import_module(f"shoal.spark.{name}")
    assert all(isfunction(getattr(shoal.spark, name)) for name in shoal.spark.__all__)
