"""The public function on frames: what goes in, what comes out, and what is refused."""

import datetime as dt
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal import InputError
from shoal.microdata.microaggregation.bounds import lower_bounds as bounds
from shoal.runtime import Budget


def survey(n: int = 60, seed: int = 0) -> pl.DataFrame:
    draw = np.random.default_rng(seed)
    return pl.DataFrame(
        {
            "person": np.arange(n) // 2,
            "income": draw.lognormal(8, 0.3, n).round(2),
            "age": draw.integers(18, 90, n),
            "region": draw.choice(["north", "south"], n),
            "born": [
                dt.date(1990, 1, 1) + dt.timedelta(days=int(days)) for days in draw.integers(0, 9000, n)
            ],
            "education": draw.choice(["1 low", "2 middle", "10 high"], n),
        }
    )


def protect(frame=None, k=3, **keywords):
    return shoal.microaggregate(survey() if frame is None else frame, k, **{"method": "mdav", **keywords})


def plain_loss(before: pl.DataFrame, after: pl.DataFrame, columns: list[str]) -> float:
    """100·SSE/SST from the frames alone."""
    sse = sst = 0.0
    for name in columns:
        x = before[name].to_numpy().astype(float)
        y = after[name].to_numpy().astype(float)
        sd = x.std(ddof=1)
        sse += (((x - y) / sd) ** 2).sum()
        sst += (((x - x.mean()) / sd) ** 2).sum()
    return 100 * sse / sst


def test_every_released_record_equals_at_least_k_minus_1_others():
    before = survey()
    result = protect(before, 4, columns=["income", "age"])
    sizes = result.frame.group_by("income", "age").len()["len"]
    assert sizes.min() >= 4
    assert result.k_protected == sizes.min()
    assert result.loss == pytest.approx(plain_loss(before, result.frame, ["income", "age"]), rel=1e-9)
    assert result.bound <= result.loss
    assert result.frame.drop("income", "age").equals(before.drop("income", "age"))
    means = before.with_columns(group=result.labels).with_columns(pl.col("income").mean().over("group"))
    assert np.allclose(means["income"], result.frame["income"], rtol=1e-12)


@pytest.mark.parametrize("kind", ["polars", "pandas", "arrow"])
def test_what_comes_out_is_what_went_in(kind):
    frame = survey()
    given_frame = {
        "polars": frame,
        "pandas": frame.to_pandas().set_index("person"),
        "arrow": frame.to_arrow(),
    }[kind]
    before = given_frame.copy() if kind == "pandas" else given_frame
    result = protect(given_frame, columns=["income", "age"])
    assert type(result.frame) is type(given_frame)
    if kind == "pandas":
        assert result.frame.index.equals(given_frame.index)
        pd.testing.assert_frame_equal(before, given_frame)
        released = pl.from_pandas(result.frame.reset_index())
    else:
        released = pl.DataFrame(result.frame)
    assert released["income"].to_list() == protect(frame, columns=["income", "age"]).frame["income"].to_list()


def test_integers_become_floats_unless_rounded_and_dates_stay_dates():
    result = protect(columns=["age", "born"])
    assert result.frame.schema["age"] == pl.Float64
    assert result.frame.schema["born"] == pl.Date
    rounded = protect(columns=["age", "born"], aggregate="rounded-mean")
    assert rounded.frame.schema["age"] == pl.Int64
    assert rounded.loss >= result.loss - 1e-9
    means = survey().with_columns(group=result.labels).group_by("group").agg(pl.col("born").mean())
    assert set(means["born"].cast(pl.Date)) == set(result.frame["born"])


def test_medians_are_medians():
    before = survey()
    result = protect(before, columns=["income"], aggregate="median")
    medians = before.with_columns(group=result.labels).with_columns(pl.col("income").median().over("group"))
    assert result.frame["income"].to_list() == pytest.approx(medians["income"].to_list())
    assert result.loss >= result.bound


def test_ordinal_columns_release_values_that_exist_and_sort_naturally():
    before = survey()
    result = protect(before, columns=["income"], ordinal=["education"])
    assert set(result.frame["education"]) <= set(before["education"])
    # "10 high" comes after "2 middle": the middle of {1, 2, 10} is 2.
    three = pl.DataFrame({"education": ["1 low", "10 high", "2 middle"]})
    assert protect(three, ordinal=["education"]).frame["education"].to_list() == ["2 middle"] * 3


@pytest.mark.parametrize(
    "column",
    [
        pl.Series("rating", ["lo", "hi", "mid"] * 4, dtype=pl.Enum(["lo", "mid", "hi"])),
        pd.Series(
            ["lo", "hi", "mid"] * 4,
            name="rating",
            dtype=pd.CategoricalDtype(["lo", "mid", "hi"], ordered=True),
        ),
    ],
    ids=["enum", "ordered"],
)
def test_categories_keep_the_order_they_were_declared_in(column):
    frame = column.to_frame()
    assert set(protect(frame, 12, ordinal=["rating"]).frame["rating"]) == {"mid"}


def test_categories_of_no_declared_order_that_begin_with_numbers_sort_by_them():
    ages = pl.Series("age", ["0-4", "10-14", "5-9"] * 4, dtype=pl.Categorical)
    assert set(protect(ages.to_frame(), 12, ordinal=["age"]).frame["age"]) == {"5-9"}


def test_odd_values_of_an_ordinal_column_are_ordered_or_missing():
    sizes = pl.DataFrame({"size": ["m²", "05", "5", "²"] * 3})
    order = {"size": ["m²", "05", "5", "²"]}
    assert set(protect(sizes, 12, ordinal=order).frame["size"]) == {"05"}
    gaps = pl.DataFrame({"grade": [float("nan"), 1.0, 2.0, 3.0] * 4})
    assert set(protect(gaps, 12, ordinal=["grade"], missing="impute").frame["grade"]) == {2.0}


def test_gaps_that_stay_in_an_ordinal_pandas_column_pass_the_check():
    frame = pd.DataFrame({"grade": [None] * 3 + ["a", "b", "c"] * 3, "x": [99.0] * 3 + [1.0, 5.0, 9.0] * 3})
    released = protect(
        frame,
        columns=["x"],
        ordinal={"grade": ["a", "b", "c"]},
        missing="impute",
        attribute_weights={"grade": 0},
    )
    assert released.frame["grade"].isna().sum() == 3


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
@pytest.mark.parametrize("zone", ["UTC", "Europe/Madrid"])
def test_moments_keep_their_time_zone(zone, unit):
    days = pd.date_range("2020-03-28", periods=9, tz=zone).as_unit(unit)
    for frame in (pd.DataFrame({"seen": days}), pl.DataFrame({"seen": days})):
        released = protect(frame, 9, columns=["seen"]).frame["seen"]
        assert released.dtype == frame["seen"].dtype
        utc = [day.timestamp() for day in days]
        assert released[0].timestamp() == pytest.approx(sum(utc) / len(utc), abs=1e-3)


def test_rounded_integers_may_be_missing_in_pandas_and_as_large_as_they_go():
    frame = pd.DataFrame(
        {"a": pd.array([None] * 3 + [1, 2, 3] * 3, dtype="Int64"), "x": [99.0] * 3 + [1.0] * 9}
    )
    released = protect(frame, columns=["a", "x"], missing="impute", aggregate="rounded-mean").frame["a"]
    assert released.isna().tolist() == [True] * 3 + [False] * 9
    large = pl.DataFrame({"a": pl.Series([2**63 + 2**20 * step for step in range(6)], dtype=pl.UInt64)})
    assert (
        protect(large, columns=["a"], aggregate="rounded-mean").frame["a"].to_list()
        == [2**63 + 2**20] * 3 + [2**63 + 2**20 * 4] * 3
    )


def test_groups_never_cross_strata():
    before = survey()
    result = protect(before, columns=["income", "age"], by=["region"])
    per_group = (
        before.with_columns(group=result.labels).group_by("group").agg(pl.col("region").n_unique(), pl.len())
    )
    assert per_group["region"].max() == 1
    assert per_group["len"].min() >= 3


def test_strata_that_read_the_same_stay_apart():
    frame = pl.DataFrame(
        {
            "x": [1.0, 9.0] * 12,
            "area": ["a, b"] * 6 + ["a"] * 6 + ["missing"] * 6 + [None] * 6,
            "part": ["c"] * 6 + ["b, c"] * 6 + ["d"] * 12,
        }
    )
    released = protect(frame, 6, columns=["x"], by=["area", "part"]).frame
    assert released["x"].unique().to_list() == [5.0]


def test_small_strata_are_named_and_counted():
    frame = pl.DataFrame({"x": [1.0, 2.0, 3.0, 4.0], "where": ["a", "a", "a", "b"]})
    with pytest.raises(
        InputError, match=r"1 of 2 strata by .* have fewer than k = 3 records, the smallest 1; the first"
    ):
        protect(frame, columns=["x"], by=["where"])


def test_sorted_order_cannot_be_traced_back():
    before = survey()
    result = protect(before, columns=["income", "age"], order="sorted")
    keys = result.frame.select("income", "age").rows()
    assert keys == sorted(keys)
    shuffled = protect(
        before.sample(fraction=1.0, shuffle=True, seed=3), columns=["income", "age"], order="sorted"
    )
    assert result.loss == pytest.approx(shuffled.loss)
    if result.loss == shuffled.loss:
        assert result.frame.equals(shuffled.frame)
    index = pd.Index([f"r{i}" for i in range(60)], name="secret")
    released = protect(before.to_pandas().set_index(index), columns=["income"], order="sorted").frame
    assert list(released.index) == list(range(60))
    assert not any("original order" in note for note in result.notes)
    assert any("original order" in note for note in protect(before, columns=["income"]).notes)


def test_missing_values_are_refused_set_aside_or_filled():
    before = survey().with_columns(
        pl.when(pl.col("age") > 75).then(None).otherwise(pl.col("age")).alias("age")
    )
    gaps = before["age"].null_count()
    assert gaps > 0
    with pytest.raises(InputError, match=f"{gaps} records have missing values"):
        protect(before, columns=["income", "age"])
    aside = protect(before, columns=["income", "age"], missing="aside")
    assert (aside.records, aside.set_aside) == (60 - gaps, gaps)
    assert aside.frame.height == 60 - gaps
    filled = protect(before, k=12, columns=["income", "age"], missing="impute")
    assert filled.frame.height == 60
    assert filled.frame["age"].null_count() == 0
    assert filled.bound is None, "a bound over imputed points would not be one for the known values"


def test_sample_weights_keep_weighted_totals():
    before = survey().with_columns(w=pl.Series(np.random.default_rng(5).integers(1, 50, 60)))
    result = protect(before, columns=["income"], sample_weights="w")
    assert (before["income"] * before["w"]).sum() == pytest.approx(
        (result.frame["income"] * before["w"]).sum()
    )
    assert any("'w'" in warning and "weight" in warning for warning in result.warnings)


def test_attribute_weights_change_what_counts():
    equal = protect(columns=["income", "age"], k=5)
    heavy = protect(columns=["income", "age"], k=5, attribute_weights={"age": 100.0})

    def kept(result, name):
        return next(c.variance_kept_percent for c in result.changes.columns if c.column == name)

    assert kept(heavy, "age") > kept(equal, "age")
    with pytest.raises(InputError, match="did you mean 'age'"):
        protect(columns=["income", "age"], attribute_weights={"agee": 2.0})


def test_attribute_groups_are_protected_one_by_one_and_k_of_the_release_is_told():
    result = protect(groups=[["income"], ["age"]], k=3)
    for name in ("income", "age"):
        assert result.frame.group_by(name).len()["len"].min() >= 3
    together = result.frame.group_by("income", "age").len()["len"].min()
    assert result.k_release == together
    assert any("separate groups" in warning for warning in result.warnings)
    if together < 3:
        assert any("below k = 3" in warning for warning in result.warnings)


def test_k_of_the_release_counts_units_and_declared_quasi_identifiers():
    by_record = protect(columns=["income", "age"], k=4)
    by_person = protect(columns=["income", "age"], k=4, unit="person")
    assert by_person.k_protected <= by_record.k_protected
    counted = (
        survey()
        .with_columns(income=by_person.frame["income"], age=by_person.frame["age"])
        .group_by("income", "age")
        .agg(pl.col("person").n_unique())["person"]
        .min()
    )
    assert by_person.k_protected == counted
    assert (
        protect(columns=["income", "age"], k=4, unit="person", quasi=["income", "age"]).k_release == counted
    )
    finer = protect(columns=["income", "age"], k=4, quasi=["income", "age", "region"])
    assert finer.k_release == finer.frame.group_by("income", "age", "region").len()["len"].min()
    dropped = protect(columns=["income", "age"], k=4, unit="person", drop=["person"])
    assert "person" not in dropped.frame.columns
    assert (dropped.k_release, dropped.k_protected) == (by_person.k_release, by_person.k_protected)


def test_the_choice_of_columns_leaves_out_what_measures_nothing_and_says_so():
    frame = survey().with_columns(year=pl.lit(1999) + pl.Series(range(60)) % 9, wgt=pl.lit(2.5))
    result = protect(frame)
    assert result.columns == ("income", "age")
    note = result.notes[0]
    for word in ("year (a year)", "wgt (a weight)"):
        assert word in note
    assert "person" in frame.columns
    everything = protect(frame, columns=["*"])
    assert set(everything.columns) == {"person", "income", "age", "year", "wgt"}


def test_a_kept_column_that_gives_a_protected_one_away_is_pointed_out():
    frame = survey().with_columns(turnover=pl.col("income") * 3, cost=pl.col("income") * 2 + pl.col("age"))
    profit = frame.with_columns(profit=pl.col("turnover") - pl.col("cost"))
    result = protect(profit, columns=["profit"])
    assert any(
        "'profit' is protected" in warning and "nearly determine" in warning for warning in result.warnings
    )
    clean = protect(survey(), columns=["income"])
    assert not any("determines" in warning for warning in clean.warnings)


def test_gaps_in_one_kept_column_do_not_hide_what_another_gives_away():
    frame = survey().with_columns(
        twice=pl.col("income") * 2 + 1, rare=pl.Series([1.5, 2.0, 7.0, 3.5] + [None] * 56)
    )
    warnings = protect(frame, columns=["income"]).warnings
    assert any("'twice', released as it is, nearly determines it" in line for line in warnings)


def test_every_column_that_gives_a_protected_one_away_is_named():
    scaled = {f"scaled {number}": pl.col("income") * number + number for number in range(2, 14)}
    [alone] = [
        remark
        for remark in protect(survey().with_columns(**scaled), columns=["income"]).remarks
        if remark.kind == "determined-column"
    ]
    assert set(scaled) <= set(alone.columns) and all(f"'{name}'" in alone.text for name in scaled)
    draws = np.random.default_rng(5).normal(size=(5, 60))
    parts = {f"part {number}": pl.Series(values) for number, values in enumerate(draws)}
    frame = survey().select("age").with_columns(**parts).with_columns(sum=pl.sum_horizontal(*parts))
    [together] = [
        remark for remark in protect(frame, columns=["sum"]).remarks if remark.kind == "determined-column"
    ]
    assert set(parts) <= set(together.columns) and all(f"'{name}'" in together.text for name in parts)


def test_kept_units_weights_and_unique_texts_are_pointed_out():
    frame = survey().with_columns(
        factor=pl.col("age") * 1.5, email=pl.format("{}@example.org", pl.int_range(pl.len()))
    )
    told = " ".join(protect(frame, columns=["income"], unit="person", sample_weights="factor").warnings)
    assert "'person' is released as it is and says whose record" in told
    assert "'factor' is released as it is and holds sample weights, which may be known" in told
    assert "'email' is released as it is and looks like an identifier" in told
    quiet = protect(
        frame,
        columns=["income"],
        sample_weights="factor",
        quasi=["income", "factor"],
        drop=["email", "person"],
    )
    assert any("unit='person'" in line for line in quiet.warnings)
    told = [line for line in quiet.warnings if "below k" not in line and "unit='person'" not in line]
    assert not any("'factor'" in line or "'email'" in line or "'person'" in line for line in told)


@pytest.mark.parametrize(("by", "easy"), [([], 2.0), (["region"], 4.0)])
def test_a_target_is_a_loss_in_percent(by, easy):
    for target, reason in ((easy, "target"), (easy / 4, "iterations")):
        budget = Budget(iterations=200, target=target)
        found = protect(survey(200), columns=["income", "age"], method="ils", by=by, budget=budget)
        assert found.stopped_by == reason
        assert (found.loss <= target) == (reason == "target")


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("magnitude", [1e-300, 1e-14, 1e300])
def test_what_is_told_does_not_depend_on_the_unit_of_a_column(magnitude):
    frame = survey().select("income", pl.col("age").cast(pl.Float64))
    plain, scaled = (
        protect(some, columns=["income", "age"])
        for some in (frame, frame.with_columns(age=pl.col("age") / 100 * magnitude))
    )
    assert scaled.loss == pytest.approx(plain.loss)
    assert scaled.changes.largest_correlation_change == pytest.approx(
        plain.changes.largest_correlation_change
    )
    ages = [found.changes.columns[1].variance_kept_percent for found in (plain, scaled)]
    assert ages[1] == pytest.approx(ages[0])
    assert scaled.notes == plain.notes


def test_printing_a_result_shows_no_original_value():
    before = survey()
    printed = repr(protect(before, columns=["income"], ordinal=["education"], order="sorted", drop=["age"]))
    assert not any(str(value) in printed for value in before["income"])


def test_the_report_says_with_what_settings_it_was_made():
    found = protect(
        columns=["income", "age"],
        options={"distance": "manhattan"},
        attribute_weights={"age": 2.5},
        sample_weights="age",
        drop=["education"],
        unit="person",
        budget=Budget(iterations=77),
    )
    html = found.report().html()
    for value in ("distance = manhattan", "age = 2.5", "education", "person", "is a value of its own", "77"):
        assert f"<dd>{value}</dd>" in html


def test_distributions_are_not_drawn_where_units_have_several_records():
    for unit, drawn in ((None, True), ("person", False)):
        html = protect(survey(), columns=["income", "age"], unit=unit).report().html()
        assert ("income: between the 1st" in html) == drawn
        assert ("some units have several records" in html) == (not drawn)


def test_names_like_our_own_do_not_matter():
    frame = survey().with_columns(pl.lit(1.5).alias("place before sorting"))
    released = protect(frame, columns=["income"], order="sorted").frame
    assert released.columns == frame.columns


def test_skew_and_constants_are_remarked():
    frame = pl.DataFrame(
        {"x": [1.0] * 40 + [1000.0], "y": [float(i % 7) for i in range(41)], "z": [4.0] * 41}
    )
    result = protect(frame, columns=["x", "y", "z"])
    assert any("x: strongly skewed" in note for note in result.notes)
    assert any("z: constant" in note for note in result.notes)
    assert result.frame["z"].to_list() == [4.0] * 41


def test_start_labels_are_used_and_checked():
    start = np.arange(60) // 3
    result = protect(columns=["income"], start=start)
    assert result.k_protected >= 3
    with pytest.raises(InputError, match="59 labels"):
        protect(columns=["income"], start=start[:-1])
    with pytest.raises(InputError, match="several groups="):
        protect(groups=[["income"], ["age"]], start=start)


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"k": 1}, "k must be at least 2"),
        ({"k": 61}, "only 60 records"),
        ({"columns": ["incom"]}, "did you mean 'income'"),
        ({"columns": ["region"]}, "is not numeric"),
        ({"columns": ["income", "income"]}, "named twice"),
        ({"columns": []}, "at least one column"),
        ({"method": "mdva"}, "did you mean 'mdav'"),
        ({"options": {"distnace": "manhattan"}}, "did you mean 'distance'"),
        ({"aggregate": "mode"}, "aggregate 'mode'"),
        ({"missing": "drop"}, "missing 'drop'"),
        ({"order": "random"}, "order 'random'"),
        ({"by": ["regoin"]}, "did you mean 'region'"),
        ({"columns": ["income"], "by": ["income"]}, "cannot be among the strata"),
        ({"columns": ["income"], "drop": ["income"]}, "cannot be among the columns to drop"),
        ({"columns": ["income"], "largest": 2}, "below k"),
        ({"columns": ["income"], "sample_weights": "region"}, "not numeric"),
        ({"columns": ["income"], "attribute_weights": {"income": 0}}, "all 0"),
        ({"columns": ["income"], "attribute_weights": {"income": float("inf")}}, "finite number"),
        ({"columns": ["income"], "quasi": ["age", "age"]}, "named twice"),
        ({"columns": ["income"], "quasi": ["income", "age"], "drop": ["age"]}, "'age' is dropped"),
        ({"columns": ["income"], "quasi": ["income", "person"], "unit": "person"}, "unit column at once"),
        ({"columns": ["income", "person"], "unit": "person"}, "cannot say whose records"),
    ],
)
def test_bad_input_is_one_clear_line(keywords, message):
    with pytest.raises(InputError, match=message) as caught:
        protect(**{"k": 3, **keywords})
    assert "\n" not in str(caught.value)


def test_infinities_no_records_and_no_numbers_are_refused():
    with pytest.raises(InputError, match="1 infinite"):
        protect(pl.DataFrame({"x": [1.0, 2.0, float("inf"), 3.0]}), columns=["x"])
    with pytest.raises(InputError, match="no records"):
        protect(pl.DataFrame({"x": []}, schema={"x": pl.Float64}))
    with pytest.raises(InputError, match="no numeric column"):
        protect(pl.DataFrame({"x": ["a", "b", "c"]}))


def test_frames_that_cannot_be_read_are_refused():
    numbers = np.arange(12.0).reshape(6, 2)
    for frame, message in (
        (survey().lazy(), "in memory, not LazyFrame"),
        (numbers, "in memory, not ndarray"),
        (pd.DataFrame(numbers), "must be texts"),
        (pd.DataFrame(numbers, columns=["x", "x"]), "several columns of one name"),
    ):
        with pytest.raises(InputError, match=message):
            protect(frame, 3)


def test_a_tampered_release_fails_its_check():
    result = protect(columns=["income", "age"])
    result.verify()
    for name in ("income", "age"):
        wrong = result.frame.with_columns(
            pl.when(pl.int_range(pl.len()) == 7).then(pl.col(name) + 0.01).otherwise(pl.col(name)).alias(name)
        )
        with pytest.raises(AssertionError, match="differs within a group"):
            result.verify(wrong)
    with pytest.raises(AssertionError, match="records"):
        result.verify(result.frame.head(59))
    shifted = result.frame.with_columns(pl.col("income") * 1.001)
    with pytest.raises(AssertionError):
        result.verify(shifted)
    part = result.parts[0]
    with pytest.raises(AssertionError, match="fewer than k"):
        replace(result, k=7, parts=(part,)).verify()


@settings(max_examples=40, deadline=None)
@given(
    values=st.lists(st.tuples(st.floats(-1e6, 1e6), st.integers(-1000, 1000)), min_size=4, max_size=25),
    k=st.integers(2, 4),
    aggregate=st.sampled_from(["mean", "median", "rounded-mean"]),
)
def test_any_numbers_are_protected_and_verified(values, k, aggregate):
    frame = pl.DataFrame({"a": [float(a) for a, _ in values], "b": [b for _, b in values]})
    result = protect(frame, k, columns=["a", "b"], aggregate=aggregate)
    assert result.frame.group_by("a", "b").len()["len"].min() >= k
    assert result.k_release >= k
    assert result.bound is None or result.bound <= result.loss + 1e-9


def test_what_changed_is_told_in_units_a_reader_knows():
    frame = survey().with_columns(seen=pl.col("born").cast(pl.Datetime("us")))
    result = protect(
        frame,
        columns=["income", "born", "seen"],
        ordinal=["education"],
        attribute_weights={"education": 0, "seen": 0},
    )
    rows = {row[0]: row[1:] for row in (change.row() for change in result.changes.columns)}
    assert list(rows) == ["income", "born", "seen", "education (ranks)"]
    born = frame["born"].to_physical()
    assert rows["born"][0] == str(dt.date(1970, 1, 1) + dt.timedelta(days=int(born.mean())))
    assert rows["born"][2] == f"{born.std():,.4g} days"
    assert rows["seen"][0] == f"{frame['seen'].mean():%Y-%m-%d %H:%M}"
    assert rows["income"][0] == pytest.approx(frame["income"].mean())


def test_what_changed_is_weighted_as_the_groups_are():
    weight = np.random.default_rng(5).integers(1, 6, 60)
    before = survey().with_columns(w=pl.Series(weight))
    result = protect(before, columns=["income", "age"], sample_weights="w")
    # Whole weights mean the same as repeating the record.
    place = np.repeat(np.arange(60), weight)
    for change in result.changes.columns:
        old, new = (np.asarray(table[change.column])[place] for table in (before, result.frame))
        assert change.mean_before == pytest.approx(old.mean())
        assert change.mean_after == pytest.approx(change.mean_before)
        assert change.variance_kept_percent == pytest.approx(100 * new.var() / old.var())
    expected = np.corrcoef(before.select("income", "age").to_numpy()[place].T)
    assert result.changes.correlations_before == pytest.approx(expected)
    assert any("weighted by w" in note for note in result.notes)


def test_dates_and_nearly_unique_texts_that_are_kept_are_pointed_out():
    texts = [f"{day}.1.1980" for day in range(59)] + ["0.1.1980"]
    frame = survey().with_columns(
        text=pl.Series(texts), wave=pl.when(pl.col("age") > 50).then(dt.date(2020, 1, 1))
    )
    result = protect(frame, drop=["person"])
    told = " ".join(result.warnings)
    assert "'born' is released as it is and holds dates that few records share" in told
    assert "'text' is released as it is and looks like an identifier (nearly every text is unique)" in told
    assert not any("'wave'" in line for line in result.warnings if "below k" not in line)
    assert "born (a date)" in result.notes[0]
    both = protect(frame, columns=["income", "born"])
    assert not any("'born'" in line for line in both.warnings)


@pytest.mark.parametrize("columns", [["income", "age"], ["*"]])
def test_a_column_to_protect_that_is_in_no_group_is_refused(columns):
    with pytest.raises(InputError, match="'age' is to be protected, but it is in none of the groups"):
        protect(columns=columns, groups=[["income"]], drop=["person"])
    assert protect(columns=["income", "age"], groups=[["income"], ["age"]]).columns == ("income", "age")


def test_a_text_alone_is_the_name_of_one_column():
    one = protect(columns="income", by="region", drop="person", quasi="income")
    assert one.columns == one.quasi == ("income",)
    assert "person" not in one.frame.columns
    assert protect(groups=["income", "age"]).columns == ("income", "age")


def test_a_result_shows_itself_in_one_line():
    text = repr(protect(columns=["income"]))
    assert text.startswith(
        "Microaggregation(records=60, columns=('income',), k=3, k_release=1, k_protected=3, loss="
    )
    assert "\n" not in text and len(text) < 200


@pytest.mark.parametrize("k", ["5", 2.5, None])
def test_k_must_be_a_whole_number(k):
    with pytest.raises(InputError, match="whole number"):
        protect(k=k)


def test_amounts_without_repeats_are_protected_and_numbers_given_out_are_not():
    draw = np.random.default_rng(9)
    amounts = np.unique(draw.lognormal(9, 1.2, 400).astype(int))[:60]
    frame = pl.DataFrame(
        {
            "amount": draw.permutation(amounts),
            "folder": draw.permutation(np.arange(5000, 5060)),
            "passport": draw.choice(np.arange(10_000_000, 99_999_999, 971), 60, replace=False),
        }
    )
    result = protect(frame)
    assert result.columns == ("amount",)
    assert "folder (a running number)" in result.notes[0] and "passport (a number given" in result.notes[0]
    renamed = protect(frame.rename({"passport": "x", "folder": "y"}))
    assert renamed.columns == ("amount",)
    assert "x (a unique integer)" in renamed.notes[0]
    kept = protect(frame.with_columns(x=draw.normal(size=60)), columns=["x"])
    assert any(
        "'amount' is released as it is and holds exact numbers that few records share" in text
        for text in kept.warnings
    )


def test_k_of_the_release_counts_all_that_could_be_known_and_says_so():
    frame = survey(400).drop("born")
    result = protect(frame, k=5, drop=["person"])
    assert result.columns == ("income", "age")
    assert result.quasi == ("income", "age", "region", "education") and result.quasi_guessed
    classes = result.frame.group_by("income", "age", "region", "education").len()["len"]
    assert result.k_release == classes.min() < 5 <= result.k_protected
    alone = int(classes.filter(classes < 5).sum())
    line = next(text for text in result.warnings if "below k = 5" in text)
    assert f"is {classes.min()}, below k = 5: {alone} of 400 records are in smaller classes" in line
    assert f"over the protected columns alone K is {result.k_protected}" in line
    assert "'region' and 'education' may be known, too" in line
    named = protect(frame, k=5, drop=["person"], quasi=["income", "age"])
    assert named.k_release == named.k_protected == result.k_protected and not named.quasi_guessed
    assert not any("below k" in text for text in named.warnings)


def test_what_somebody_says_of_columns_corrects_the_guess():
    frame = survey(200).drop("born", "person")
    told = protect(frame, k=5, roles={"region": "confidential", "education": "other"})
    assert told.quasi == ("income", "age") and told.k_release == told.k_protected
    assert protect(frame, roles={"age": "identifier"}).columns == ("income",)
    with pytest.raises(InputError, match="role 'quasi' is unknown; there are: identifier"):
        protect(frame, roles={"age": "quasi"})
    with pytest.raises(InputError, match="did you mean 'age'"):
        protect(frame, roles={"agee": "other"})


def test_identifiers_lead_the_warnings_and_each_kind_is_one_line():
    frame = survey(100).with_columns(
        name=pl.format("Ode {}", pl.int_range(pl.len())),
        email=pl.format("{}@example.org", pl.int_range(pl.len())),
        seen=pl.col("born").dt.offset_by("1y"),
        rent=pl.col("age") * 1.37 + pl.int_range(pl.len()) * 0.01,
        household=pl.int_range(pl.len()) // 3,
        w=pl.int_range(pl.len()) * 1.5,
        w2=pl.int_range(pl.len()) * 2.5,
    )
    warnings = protect(frame, columns=["income"]).warnings
    assert warnings[0] == (
        "columns 'person', 'name' and 'email' are released as they are and look like identifiers; "
        "drop them unless they are meant to be public"
    )
    assert warnings[1].startswith(
        "K of the release over income, person, age, region, born, education, name, email and 4 more columns is 1"
    )
    for words in (
        "dates that few records share",
        "exact numbers that few",
        "records of one household",
        "sample weights",
    ):
        assert sum(words in line for line in warnings) == 1, words
    assert any("'born' and 'seen' are released as they are and hold dates" in line for line in warnings)
    assert any("'w' and 'w2' are released as they are and hold sample weights" in line for line in warnings)


def test_a_release_in_which_k_is_lower_than_stated_is_not_verified():
    frame = survey(60).drop("born", "education", "person")
    result = protect(frame, by=["region"], columns=["income", "age"])
    result.verify()
    assert result.k_release == 3
    changed = result.frame.with_columns(
        region=pl.when(pl.int_range(pl.len()) == 7).then(pl.lit("west")).otherwise("region")
    )
    with pytest.raises(AssertionError, match="K over income, age, region is 1, not 3"):
        result.verify(changed)
    people = survey(60).drop("born", "education")
    by_person = protect(
        people, columns=["income", "age"], unit="person", quasi=["income", "age"], order="sorted"
    )
    by_person.verify()
    with pytest.raises(AssertionError, match="K over income, age is"):
        replace(by_person, k_release=by_person.k_release + 1).verify()


class Slow:
    """A clock on which every look takes so many seconds."""

    def __init__(self, a_look: float) -> None:
        self.now = 0.0
        self.a_look = a_look

    def __call__(self) -> float:
        self.now += self.a_look
        return self.now


def many(n: int = 3000, d: int = 4) -> pl.DataFrame:
    points = np.random.default_rng(3).random((n, d))
    return pl.DataFrame(points, schema=[f"x{place}" for place in range(d)])


def counted(monkeypatch, module, name) -> list[str]:
    calls: list[str] = []
    real = getattr(module, name)

    def counting(*arguments):
        calls.append(name)
        return real(*arguments)

    monkeypatch.setattr(module, name, counting)
    return calls


@pytest.mark.parametrize("k", [3, 5])
def test_the_bound_ends_with_the_time_limit(monkeypatch, k):
    searches = counted(monkeypatch, bounds, "nearest")
    frame = many(10_000)
    free = protect(frame, k, columns=["*"], threads=1)
    assert free.bound > 0 and len(searches) > 30
    assert not any("time limit" in note for note in free.notes)
    searches.clear()
    rushed = protect(frame, k, columns=["*"], threads=1, budget=Budget(seconds=2.0, clock=Slow(0.1)))
    # Two seconds are twenty looks at the clock, and there is one before each slice.
    assert len(searches) <= 20
    assert rushed.bound is None or rushed.bound < free.bound
    assert any("the time limit cut the work on the bound short" in note for note in rushed.notes)
    assert "the time limit cut the work on the bound short" in rushed.report().html()


def test_no_work_is_done_on_a_bound_when_no_time_is_left(monkeypatch):
    columns = counted(monkeypatch, bounds, "optimal_error")
    trees = counted(monkeypatch, bounds, "tree_of")
    result = protect(many(), 3, columns=["*"], budget=Budget(seconds=1.0, clock=Slow(100.0)))
    assert (columns, trees) == ([], [])
    assert result.bound is None and not result.optimal
    assert "<dd>unknown</dd>" in result.report().html()


def test_the_bound_has_a_share_of_the_time_that_the_search_leaves():
    usual = protect(many(600), 5, columns=["*"])
    generous = protect(many(600), 5, columns=["*"], budget=Budget(seconds=1e6))
    assert usual.bound < generous.bound <= usual.loss


def test_a_bound_that_is_reached_is_not_said_to_be_cut_short():
    result = protect(many(7), 4, columns=["*"], budget=Budget(seconds=1.0, clock=Slow(100.0)))
    assert result.optimal and not any("cut" in note for note in result.notes)
