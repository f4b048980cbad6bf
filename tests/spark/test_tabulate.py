"""Tables built on a cluster are those of one machine: totals, contributors, sensitive cells and levels."""

import numpy as np
import polars as pl
import pytest

import shoal
from shoal.spark import tabulate

pytestmark = pytest.mark.xdist_group("spark")


def firms(n: int = 1_200) -> pl.DataFrame:
    draw = np.random.default_rng(4)
    turnover = draw.lognormal(3, 2, n).round(0)
    turnover[draw.integers(0, n, 30)] = 0
    return pl.DataFrame(
        {
            "region": draw.choice(["n", "s", "e"], n, p=[0.6, 0.39, 0.01]),
            "sector": draw.choice(["a", "b", "c", "d"], n, p=[0.5, 0.3, 0.19, 0.01]),
            "turnover": turnover,
            "firm": draw.integers(0, 500, n),
            "group": pl.Series(draw.integers(0, 60, n)).replace(0, None),
            "weight": draw.integers(1, 4, n),
        }
    )


@pytest.mark.parametrize(
    "asked",
    [
        {"value": "turnover", "contributor": "firm", "holding": "group", "weight": "weight"},
        {
            "value": "turnover",
            "rules": ["p-percent(10)", "dominance(2,70)", "frequency(3)"],
            "cost": "contributors",
        },
        {},
    ],
)
def test_it_is_the_table_of_one_machine(given, asked) -> None:
    frame = firms()
    mine = tabulate(given(frame, 3), ["region", "sector"], **asked)
    theirs = shoal.tabulate(frame, ["region", "sector"], **asked)
    assert mine.frame.columns == theirs.frame.columns
    assert mine.frame.select("region", "sector", "status").equals(
        theirs.frame.select("region", "sector", "status")
    )
    assert mine.by_rule == theirs.by_rule
    for column in ("value", "contributors", "lower", "upper", "cost"):
        one, other = (made.frame[column].fill_null(-1).to_numpy() for made in (mine, theirs))
        assert one == pytest.approx(other, rel=1e-9), column
    assert mine.counts == theirs.counts
    if asked.get("rules"):
        assert shoal.suppress(mine).pattern.equals(shoal.suppress(theirs).pattern)


def test_what_cannot_be_tabulated_is_refused(given) -> None:
    none = pl.when(pl.int_range(pl.len()) == 3)
    frame = firms(150).with_columns(
        gap=pl.lit(None, pl.String),
        hole=none.then(float("nan")).otherwise(1.0),
        nobody=none.then(pl.lit("")).otherwise(pl.lit("x")),
        one=pl.lit("all"),
        negative=none.then(-5.0).otherwise(pl.col("turnover")),
    )
    data = given(frame)
    for dimension, contributor, words in (
        ("hole", None, "'hole' has missing values"),
        ("region", "hole", "'hole' has missing values"),
        ("region", "nobody", "'nobody' has missing values"),
    ):
        with pytest.raises(shoal.InputError, match=words):
            tabulate(data, [dimension], contributor=contributor)
    with pytest.raises(shoal.InputError, match=r"needs .*contributor.* more than 100 records"):
        tabulate(data, ["one"], value="turnover", weight="weight", weights_public=True)
    with pytest.raises(shoal.InputError, match="'negative'"):
        tabulate(data, ["region"], value="negative", contributor="firm", rules=["p-percent(10)"])
    with pytest.raises(shoal.InputError, match="'gap' has missing values"):
        tabulate(data, ["gap"])
    with pytest.raises(shoal.InputError, match="at most, not 200"):
        tabulate(data, ["region"], rules=["frequency(200)"])
    with pytest.raises(shoal.InputError, match="not numeric"):
        tabulate(data, ["region"], value="sector")
