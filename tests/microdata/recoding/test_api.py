"""Recoding from frame to frame: what a user asks for is what is released."""

import datetime as dt
import json
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import shoal
from shoal import Infeasible, InputError, sources
from shoal.microdata.recoding.mapping import AppliedMapping
from shoal.microdata.recoding.margins import largest_change
from shoal.microdata.recoding.report import _keys

AGES = {"age": "intervals(5,10,20,top=85,cover=0..119)"}


def survey(n: int = 400, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "person": np.arange(n) % (n - 40),
            "age": rng.integers(18, 90, n),
            "sex": rng.choice(["f", "m"], n),
            "zip": rng.choice(["10115", "10117", "20095", "20097", "80331"], n),
            "education": rng.choice(["none", "school", "university"], n, p=[0.1, 0.6, 0.3]),
            "diagnosis": rng.choice(["a", "b", "c", "d"], n, p=[0.5, 0.3, 0.15, 0.05]),
            "income": rng.normal(2000, 500, n).round(2),
        }
    )


KEYS = ["age", "sex", "zip", "education"]


def smallest(frame: pl.DataFrame, keys: list[str]) -> int:
    return int(frame.group_by(keys).len()["len"].min())


def test_k_holds_and_nothing_else_changes() -> None:
    data = survey()
    safe = shoal.recode(data, KEYS, 5, suppress=0.05, method="lattice", hierarchies=AGES)
    assert smallest(safe.frame, KEYS) == safe.k_release >= 5
    assert safe.frame.columns == data.columns
    assert safe.records + safe.suppressed_records == data.height
    assert safe.suppressed_records <= 0.05 * data.height
    kept = np.flatnonzero(safe.record_links.released >= 0)
    for name in ("income", "diagnosis", "person"):
        assert safe.frame[name].to_list() == data[name].gather(kept).to_list()
    # A key at level 0 keeps its type.
    same = [name for name, level in safe.levels.items() if level == 0]
    assert same and all(safe.frame[name].to_list() == data[name].gather(kept).to_list() for name in same)


@pytest.mark.parametrize("method", ["auto", "lattice", "local-suppression", "local"])
def test_every_method_gives_a_release(method: str) -> None:
    data = survey()
    safe = shoal.recode(data, KEYS, 4, method=method, hierarchies=AGES, drop=["person"])
    assert smallest(safe.frame, KEYS) == safe.k_release >= 4
    assert safe.suppressed_records == 0
    assert "person" not in safe.frame.columns
    assert 0 < safe.loss < 1
    assert safe.bound is None or safe.bound <= safe.loss
    assert not safe.optimal or safe.bound == pytest.approx(safe.loss)


def test_local_methods_lose_less_than_whole_columns() -> None:
    data = survey()
    loss = {
        method: shoal.recode(data, KEYS, 4, method=method, hierarchies=AGES).loss
        for method in ("auto", "lattice", "local")
    }
    assert loss["auto"] <= loss["local"] < loss["lattice"]


def test_one_level_for_each_key_is_what_software_that_reads_no_mixed_levels_gets() -> None:
    data = survey()
    safe = shoal.recode(data, KEYS, 4, uniform=True, hierarchies=AGES)
    assert None not in safe.levels.values() and safe.chosen != "local"
    mixed = shoal.recode(data, KEYS, 4, hierarchies=AGES)
    assert mixed.loss < safe.loss <= shoal.recode(data, KEYS, 4, method="lattice", hierarchies=AGES).loss
    reason = next(text for text in mixed.notes if text.startswith("chosen"))
    assert "lattice" in reason and f"local {mixed.loss:.6g}" in reason


def test_units_are_counted_once() -> None:
    data = survey()
    safe = shoal.recode(data, ["age", "sex"], 8, unit="person", method="lattice", hierarchies=AGES)
    people = safe.frame.group_by("age", "sex").agg(pl.col("person").n_unique())["person"]
    assert int(people.min()) == safe.k_release >= 8


def test_models_hold_in_every_class() -> None:
    data = survey(600)
    safe = shoal.recode(
        data,
        ["age", "sex", "zip"],
        3,
        suppress=0.1,
        method="lattice",
        hierarchies=AGES,
        confidential=["diagnosis"],
        models=["distinct(3)", "closeness(0.4)"],
    )
    classes = safe.frame.group_by("age", "sex", "zip").agg("diagnosis")
    shares = data["diagnosis"].value_counts(normalize=True)
    whole = dict(zip(shares["diagnosis"], shares["proportion"], strict=True))
    for values in classes["diagnosis"]:
        assert values.n_unique() >= 3
        own = {value: values.to_list().count(value) / len(values) for value in whole}
        assert sum(abs(own[value] - whole[value]) for value in whole) / 2 <= 0.4 + 1e-9
    assert [one.model for one in safe.models] == ["distinct(3)", "closeness(0.4)"]
    assert safe.homogeneous[0].classes == 0


def test_classes_that_share_a_value_are_counted() -> None:
    data = pl.DataFrame({"sex": ["f"] * 3 + ["m"] * 3, "hiv": ["yes", "yes", "yes", "no", "no", "yes"]})
    safe = shoal.recode(data, ["sex"], 3, method="lattice", confidential=["hiv"])
    assert [(one.column, one.classes, one.people) for one in safe.homogeneous] == [("hiv", 1, 3)]
    assert any("share one value" in warning for warning in safe.warnings)


def test_the_population_is_looked_at() -> None:
    everybody = survey(2000, 1)
    data = everybody.head(200)
    safe = shoal.recode(
        data,
        ["age", "sex"],
        1,
        population=everybody,
        models=["k-map(20)"],
        method="lattice",
        hierarchies=AGES,
    )
    levels = safe.levels
    recoded = shoal.recode(
        everybody, ["age", "sex"], 1, levels=levels, method="lattice", hierarchies=AGES
    ).frame
    counts = {row[:2]: row[2] for row in recoded.group_by("age", "sex").len().iter_rows()}
    assert min(counts[row] for row in safe.frame.select("age", "sex").iter_rows()) >= 20


def test_strata_are_recoded_each_on_its_own() -> None:
    data = survey(600)
    safe = shoal.recode(data, ["age", "zip"], 5, by=["sex"], method="lattice", hierarchies=AGES)
    assert smallest(safe.frame, ["age", "zip", "sex"]) == safe.k_release >= 5
    assert safe.mapping is None and len(safe.parts) == 2


def test_levels_by_hand_and_keys_that_stay() -> None:
    data = survey()
    by_hand = shoal.recode(
        data, ["age", "sex"], 2, levels={"age": 4}, method="lattice", suppress=0.2, hierarchies=AGES
    )
    assert by_hand.levels == {"age": 4, "sex": 0}
    stays = shoal.recode(data, KEYS, 3, method="auto", stay=["sex"], hierarchies=AGES)
    assert stays.frame["sex"].to_list() == data["sex"].to_list()
    with pytest.raises(Infeasible, match="%"):
        shoal.recode(data, KEYS, 5, levels={"age": 0}, method="lattice")


def test_a_mapping_is_applied_to_next_years_file(tmp_path: Path) -> None:
    this, following = survey(400, 1), survey(500, 2)
    safe = shoal.recode(this, ["age", "sex"], 5, method="lattice", hierarchies=AGES)
    path = tmp_path / "mapping.json"
    path.write_text(safe.mapping.text(), encoding="utf-8")
    again = shoal.recode(following, ["age", "sex"], 5, apply=path, suppress=0.3)
    assert again.levels == safe.levels
    assert set(again.frame["age"]) - {"*"} <= {
        label for level in again.proposals[0].hierarchy.labels for label in level
    }
    assert smallest(again.frame, ["age", "sex"]) >= 5
    same = shoal.recode(following, ["age", "sex"], 5, apply=AppliedMapping.read(path), suppress=0.3)
    assert same.frame.equals(again.frame)
    with pytest.raises(InputError, match="other keys"):
        shoal.recode(following, ["age", "zip"], 5, apply=path)
    path.write_text(json.dumps({"kind": "something else"}), encoding="utf-8")
    with pytest.raises(InputError, match="no mapping"):
        shoal.recode(following, ["age", "sex"], 5, apply=path)


def test_missing_is_a_value_of_its_own_and_no_blank() -> None:
    data = pl.DataFrame({"zip": ["a", "a", None, None, "b"], "sex": ["f"] * 5})
    safe = shoal.recode(data, ["zip", "sex"], 2, method="local-suppression", suppress=0.2)
    assert safe.frame["zip"].null_count() == 2
    assert safe.k_release == 2


def test_those_left_out_may_be_kept_without_keys() -> None:
    data = survey()
    safe = shoal.recode(
        data, ["age", "sex"], 5, suppress=0.2, keep_suppressed=True, method="lattice", hierarchies=AGES
    )
    assert safe.frame.height == data.height
    starred = safe.frame.filter((pl.col("age") == "*") & (pl.col("sex") == "*"))
    assert starred.height == safe.suppressed_records
    assert starred.height == 0 or starred.height >= 5


def test_frames_come_back_as_they_came() -> None:
    data = survey(120)
    for made in (data.to_pandas(), pa.table(data.to_dict(as_series=False))):
        safe = shoal.recode(made, ["age", "sex"], 3, method="lattice", suppress=0.5, hierarchies=AGES)
        assert type(safe.frame) is type(made)
    index = data.to_pandas().set_index(pd.Index(range(1000, 1120)))
    safe = shoal.recode(index, ["age", "sex"], 3, method="lattice", suppress=0.5, hierarchies=AGES)
    assert set(safe.frame.index) <= set(index.index)


def test_the_order_of_records_changes_nothing_but_their_order() -> None:
    data = survey().with_row_index("row")
    shuffled = data.sample(fraction=1.0, shuffle=True, seed=3)
    for method in ("auto", "lattice", "local"):
        one = shoal.recode(data, KEYS, 4, method=method, suppress=0.02, hierarchies=AGES)
        two = shoal.recode(shuffled, KEYS, 4, method=method, suppress=0.02, hierarchies=AGES)
        assert one.loss == two.loss and one.levels == two.levels
        if method == "lattice":
            assert one.frame.sort("row").equals(two.frame.sort("row"))


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".parquet", ".arrow", ".xlsx"])
def test_no_format_loses_what_was_checked(tmp_path: Path, ending: str) -> None:
    data = survey(150).with_columns(born=pl.lit(dt.date(2000, 1, 31)))
    safe = shoal.recode(data, [*KEYS, "born"], 3, suppress=0.1, hierarchies=AGES)
    path = tmp_path / f"safe{ending}"
    sources.write(safe.frame, path)
    safe.verify(sources.read(path).frame)


def test_a_release_that_was_changed_is_noticed() -> None:
    data = survey()
    safe = shoal.recode(data, ["age", "sex"], 4, method="lattice", suppress=0.1, hierarchies=AGES)
    labels = safe.frame["age"].to_list()
    other = next(label for label in labels if label != labels[0])
    for broken in (
        safe.frame.with_columns(age=pl.Series([other, *labels[1:]])),
        safe.frame.head(safe.frame.height - 1),
        safe.frame.with_columns(age=pl.lit("*")),
    ):
        with pytest.raises(AssertionError):
            safe.verify(broken)


REFUSED = {
    "no such column": ({"quasi": ["agee"]}, "did you mean 'age'"),
    "k above the data": ({"k": 1000}, "only 400 records"),
    "a limit out of range": ({"suppress": 1.5}, "suppress must be .* at most 1, not 1.5"),
    "confidential among the keys": ({"confidential": ["age"]}, "is a key"),
    "a model without its column": ({"models": ["distinct(2)"]}, "no confidential column"),
    "a model that is none": (
        {"models": ["distinkt(2)"], "confidential": ["diagnosis"]},
        "did you mean 'distinct'",
    ),
    "a model without its number": (
        {"models": ["distinct()"], "confidential": ["diagnosis"]},
        "distinct\\(l\\)",
    ),
    "no population": ({"models": ["k-map(3)"]}, "population="),
    "a level too high": ({"levels": {"age": 99}}, "level of column 'age'"),
    "a hierarchy of no key": ({"hierarchies": {"income": "star"}}, "among the keys"),
    "two parents": ({"hierarchies": {"sex": [["f", "x", "*"], ["m", "x", "+"]]}}, "two parents"),
    "lines of different length": ({"hierarchies": {"sex": [["f", "*"], ["m"]]}}, "row 2"),
    "values that are not covered": ({"hierarchies": {"sex": [["f", "*"]]}}, "not in the hierarchy"),
    "twice the same key": ({"quasi": ["age", "age"]}, "named twice"),
    "one level by a method that gives several": ({"uniform": True, "method": "local"}, "uniform"),
    "one level in strata": ({"uniform": True, "by": ["zip"]}, "uniform.*by"),
    "weights of nothing": ({"weights": {"age": 0, "sex": 0}}, "all 0"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_cannot_be_done_is_refused_before_any_work(case: str) -> None:
    given, words = REFUSED[case]
    asked = {"quasi": ["age", "sex"], "k": 5, "method": "lattice", **given}
    with pytest.raises(InputError, match=words) as caught:
        shoal.recode(survey(), **asked)
    assert "\n" not in str(caught.value)


def test_a_column_that_gives_a_key_away_is_named() -> None:
    data = survey().with_columns(born=2020 - pl.col("age"))
    safe = shoal.recode(data, ["age", "sex"], 5, method="lattice", hierarchies=AGES)
    assert any("'born'" in warning and "determines" in warning for warning in safe.warnings)


def test_explain_shows_neighbours_and_the_front() -> None:
    data = survey()
    safe = shoal.recode(
        data, ["age", "sex"], 5, method="lattice", hierarchies=AGES, suppress=0.05, explain=True
    )
    why = safe.explanation
    assert why.chosen.loss == pytest.approx(safe.loss)
    for one in why.neighbours:
        if one.people_left_out <= safe.limit:
            assert one.loss >= safe.loss - 1e-12
    assert [one.people_left_out for one in why.front] == sorted(one.people_left_out for one in why.front)
    allowed = [one for one in why.front if one.people_left_out <= safe.limit]
    assert allowed[-1].loss == pytest.approx(safe.loss)
    assert "records left out" in safe.report().html()


def families(n: int = 120) -> pl.DataFrame:
    rng = np.random.default_rng(5)
    sizes = rng.integers(1, 5, n)
    household = np.repeat(np.arange(n), sizes)
    total = household.size
    return pl.DataFrame(
        {
            "household": household,
            "region": np.repeat(rng.choice(["n", "s", "w"], n), sizes),
            "age": rng.integers(0, 90, total),
            "sex": rng.choice(["f", "m"], total),
            "cost": rng.gamma(2.0, 100.0, total),
        }
    )


@pytest.mark.parametrize("method", ["auto", "lattice", "local"])
def test_members_of_a_household_show_what_they_share_alike(method: str) -> None:
    data = families()
    safe = shoal.recode(
        data, ["region", "age", "sex"], 4, household="household", method=method, hierarchies=AGES
    )
    shown = safe.frame.group_by("household").agg(pl.col("region").n_unique())["region"]
    assert int(shown.max()) == 1
    assert safe.k_households >= 1
    assert safe.levels["region"] is not None and safe.suppressed_cells["region"] == 0


def test_whole_households_are_counted() -> None:
    data = pl.DataFrame({"h": [1, 1, 2, 2, 3, 3], "sex": ["f", "m", "m", "f", "f", "f"]})
    assert shoal.recode(data, ["sex"], 1, household="h", method="lattice").k_households == 1
    assert shoal.recode(data.head(4), ["sex"], 1, household="h", method="lattice").k_households == 2


def test_too_few_values_for_a_mean_are_refused_by_what_recoding_can_do() -> None:
    data = pl.DataFrame({"sex": ["f"] * 6 + ["m"] * 6, "cost": [1.0, 2.0, *[None] * 4, *range(6)]})
    with pytest.raises(
        shoal.InputError, match=r"2 values in 1 of 2 classes of equal keys, fewer than k = 3.*average=, drop"
    ):
        shoal.recode(data, ["sex"], 3, average=["cost"])


def test_numbers_are_averaged_within_the_classes() -> None:
    data = families()
    safe = shoal.recode(data, ["age", "sex"], 4, average=["cost"], method="lattice", hierarchies=AGES)
    together = safe.frame.group_by("age", "sex", "cost").len()["len"]
    assert int(together.min()) == safe.averages.k >= 4
    assert safe.frame["cost"].sum() == pytest.approx(data["cost"].sum())
    means = safe.frame.group_by("age", "sex").agg(pl.col("cost").mean()).sort("age", "sex")
    labels = safe.frame.select("age", "sex")
    before = (
        pl.concat([labels, data.select("cost")], how="horizontal")
        .group_by("age", "sex")
        .agg(pl.col("cost").mean())
    )
    assert np.allclose(means["cost"], before.sort("age", "sex")["cost"])
    with pytest.raises(AssertionError, match="averaged"):
        safe.verify(safe.frame.with_columns(cost=data["cost"]))


def test_blanks_that_match_anything_are_fewer_and_told_both_ways() -> None:
    data = survey(200)
    strict = shoal.recode(
        data, ["sex", "zip", "education", "age"], 3, method="local-suppression", measure="cells"
    )
    loose = shoal.recode(
        data,
        ["sex", "zip", "education", "age"],
        3,
        method="local-suppression",
        measure="cells",
        null="wildcard",
    )
    assert sum(loose.suppressed_cells.values()) < sum(strict.suppressed_cells.values())
    keys = ["sex", "zip", "education", "age"]
    rows = loose.frame.select(pl.col(keys).cast(pl.String)).rows()
    matches = [
        sum(all(a == b or "*" in (a, b) for a, b in zip(one, other, strict=True)) for other in rows)
        for one in rows
    ]
    assert min(matches) == loose.k_release >= 3
    assert smallest(loose.frame, keys) == loose.k_strict < 3
    assert any("matched anything" in warning for warning in loose.warnings)
    with pytest.raises(InputError, match="matches, not classes"):
        shoal.recode(data, ["sex"], 2, null="wildcard", models=["distinct(2)"], confidential=["diagnosis"])


def test_a_wholly_blank_column_has_changed_all_of_its_shares():
    people = pl.DataFrame({"age": [31, 38, 47, 44] * 5, "town": list("aabb") * 5})
    found = shoal.recode(people, quasi=["age", "town"], k=5, levels={"age": 0, "town": 1}, unit="record")
    assert set(found.frame["town"]) == {"*"}
    changes = {name: largest_change(margins) for name, margins in found.margins.items()}
    assert changes == {"age": 0.0, "town": 1.0}
    assert {row[0]: row[5] for row in _keys(found)} == {"age": "0.0000", "town": "1.0000"}
