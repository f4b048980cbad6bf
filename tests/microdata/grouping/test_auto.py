"""Groups found on the way to a release: what is written is strict and has figures of its own."""

import json

import numpy as np
import polars as pl
import pytest

from shoal.cli.main import main
from shoal.microdata.grouping.api import group_attributes
from shoal.microdata.measures.api import compare
from shoal.microdata.microaggregation.api import microaggregate

NAMES = ["turnover", "staff", "profit", "assets", "debt"]


@pytest.fixture
def firms():
    generator = np.random.default_rng(5)
    values = np.exp(
        generator.normal(size=(60, 2)) @ generator.normal(size=(2, 5)) + generator.normal(size=(60, 5))
    )
    size = pl.Series("size", ["small", "large"] * 30, dtype=pl.Enum(["small", "large"]))
    return pl.DataFrame(values, schema=NAMES).with_columns(size)


def test_the_release_is_strict_and_scored_on_its_own(firms):
    # With k = 22 the scored clustering of 60 records ends in a cluster of 16.
    result = microaggregate(firms, 22, groups="auto", method="mdav")
    assert result.grouping.smallest_cluster == 16
    assert min(part.sizes.min() for part in result.parts) >= 22
    assert [part.columns for part in result.parts] == list(result.grouping.groups)
    own = compare(firms, result.frame, columns=NAMES, record_links=result.record_links)
    assert result.fitness.value == pytest.approx(own.fitness.value)
    assert result.k_release == own.k
    result.verify()


def test_groups_are_those_of_the_search(firms):
    result = microaggregate(firms, 20, groups="auto", method="mdav", seed=3)
    assert len(result.parts) > 1
    assert result.grouping.groups == group_attributes(firms, 20, columns=NAMES, seed=3).groups
    assert any("separate groups" in warning for warning in result.warnings)


def test_ordered_columns_stay_on_their_own(firms):
    result = microaggregate(firms, 5, groups="auto", method="mdav", ordinal=["size"])
    assert ("size",) in [part.columns for part in result.parts]


def test_named_groups_are_scored_too(firms):
    result = microaggregate(firms, 5, groups=[NAMES[:2], NAMES[2:]], method="mdav")
    assert result.grouping is None and result.fitness is not None
    assert microaggregate(firms, 5, columns=NAMES, method="mdav").fitness is None


def test_gaps_do_not_stop_the_search(firms):
    holes = firms.with_columns(pl.when(pl.int_range(pl.len()) < 4).then(None).otherwise("debt").alias("debt"))
    for missing, records in (("aside", 56), ("impute", 60)):
        result = microaggregate(holes, 5, groups="auto", method="mdav", missing=missing)
        assert result.records == records and result.fitness is not None


def test_the_command_reports_both_scores(firms, tmp_path, capsys):
    firms.write_csv(tmp_path / "firms.csv")
    out = tmp_path / "safe.csv"
    arguments = ["microaggregate", tmp_path / "firms.csv", "-k", 20, "--groups", "auto", "--method", "mdav"]
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in [*arguments, "-o", out, "--json"]])
    printed = json.loads(capsys.readouterr().out)
    assert ended.value.code == 0 and out.exists()
    assert {"score", "il", "id", "dld", "method"} <= set(printed["grouping"])
    assert {"score", "il", "id", "dld"} == set(printed["release"])
    assert printed["min_cluster"] >= 20 and printed["k_release"] < 20 and printed["warnings"]
    main_groups = sorted(name for group in printed["groups"] for name in group)
    assert main_groups == sorted(NAMES)
