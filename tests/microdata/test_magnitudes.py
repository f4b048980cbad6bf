"""Very large and very small values: the same figures as in another unit, or one line; never a traceback."""

import json
import warnings
from functools import cache

import numpy as np
import polars as pl
import pytest
from tests.cli.running import shoal as command

import shoal
from shoal import InputError
from shoal.microdata.measures.classic import Definitions
from shoal.report.bins import histogram


def table(factor: float = 1.0) -> pl.DataFrame:
    draw = np.random.default_rng(7)
    values = draw.normal(100, 30, (40, 2)) * factor
    return pl.DataFrame({"a": values[:, 0], "b": values[:, 1], "w": draw.integers(1, 9, 40).astype(float)})


# Powers of two change no digit; 40 values of 2**1005 are near the largest that can be added up.
FACTORS = [2.0**1005, 2.0**600, 2.0**-600, 2.0**-1000]


@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize("keywords", [{}, {"aggregate": "median"}, {"sample_weights": "w"}], ids=str)
def test_another_unit_gives_the_same_groups_and_loss(factor, keywords):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plain, scaled = (
            shoal.microaggregate(table(unit), 4, columns=["a", "b"], method="mdav", **keywords)
            for unit in (1.0, factor)
        )
        scaled.report()
    assert scaled.labels.tolist() == plain.labels.tolist()
    assert scaled.loss == pytest.approx(plain.loss)
    assert (scaled.frame["a"] / factor).to_list() == pytest.approx(plain.frame["a"].to_list())


@pytest.mark.parametrize("factor", FACTORS)
@pytest.mark.parametrize("scaling", ["min-max", "z-score", "none"])
def test_another_unit_gives_the_same_measures(factor, scaling):
    assert measures(factor, scaling) == pytest.approx(measures(1.0, scaling))


@cache
def measures(unit, scaling):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = shoal.microaggregate(table(unit), 4, columns=["a", "b"], method="mdav")
        compared = shoal.compare(
            table(unit),
            result.frame,
            columns=["a", "b"],
            record_links=result.record_links,
            definitions=Definitions(scaling=scaling, within=0.2),
            references=True,
        )
        compared.report()
    return {key: value for key, value in compared.to_dict().items() if isinstance(value, float)}


@pytest.mark.parametrize("kept", [1e308, 2.0**1005, 1e-310])
def test_a_kept_column_of_any_size_is_looked_at(kept):
    frame = table().with_columns(twice=pl.col("a") * (kept / 400))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        result = shoal.microaggregate(frame, 4, columns=["a"], method="mdav")
    assert any("'twice', released as it is, nearly determines it" in text for text in result.warnings)


@pytest.mark.parametrize("large", [1.7e308, -1.7e308])
def test_values_that_cannot_be_added_up_are_refused(large, tmp_path):
    frame = table().with_columns(a=pl.when(pl.int_range(pl.len()) < 3).then(large).otherwise("a"))
    with pytest.raises(
        InputError, match="'a' holds 3 values beyond 6e\\+305, too large to be added up"
    ) as told:
        shoal.microaggregate(frame, 4, columns=["a", "b"])
    assert "1.7" not in str(told.value)
    with pytest.raises(InputError, match="too large to be added up"):
        shoal.microaggregate(frame, 4, columns=["b"], sample_weights="a")
    with pytest.raises(InputError, match="too large to be added up"):
        shoal.group_attributes(frame, 4, columns=["a", "b"])
    path = tmp_path / "large.csv"
    frame.write_csv(path)
    for asked in (
        ["microaggregate", path, "-k", 4, "--columns", "a,b"],
        ["microaggregate", path, "-k", 4, "--columns", "a,b", "--aggregate", "median"],
        ["microaggregate", path, "-k", 4, "--groups", "a;b"],
        ["group", path, "-k", 4, "--columns", "a,b"],
        ["compare", path, path, "--columns", "a,b", "--paired-by-position"],
    ):
        outcome = command(*asked, "--json")
        assert outcome.code == 2 and outcome.json["kind"] == "input", outcome
        assert json.loads(outcome.out)["error"].startswith("column 'a' holds 3 values")


def test_values_as_near_as_can_be_are_one_bin():
    near = 2.0**53 + 2.0 * np.arange(40)
    assert sum(bin_.count for bin_ in histogram(near)) >= 38
    assert len(histogram(np.repeat([1.0, np.nextafter(1.0, 2)], 20))) == 1
