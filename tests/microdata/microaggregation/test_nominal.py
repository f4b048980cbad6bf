"""Categories without an order beside numbers and ordered ones: one group, the same values, in the codes of the columns."""

from collections import Counter
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cli.running import shoal as command

import shoal
from shoal import InputError
from shoal.microdata.microaggregation.aggregate import mostly_missing, nominal_modes
from shoal.microdata.microaggregation.problem import CATEGORY_DISTANCE


def survey(seed=0, n=60, gaps=0.1) -> pl.DataFrame:
    draw = np.random.default_rng(seed)
    age = draw.integers(18, 80, n)

    def some(values):
        return [None if draw.random() < gaps else value for value in values]

    return pl.DataFrame(
        {
            "age": some(age.tolist()),
            "job": some(
                draw.choice(["nurse", "clerk", "miner", "judge"], n, p=[0.5, 0.3, 0.15, 0.05]).tolist()
            ),
            "region": draw.choice([11, 7, 3], n).tolist(),
            "education": some(draw.choice(["1 none", "2 school", "3 higher"], n).tolist()),
            "person": [f"p{one}" for one in draw.integers(0, n // 2, n)],
        }
    )


def protect(frame, k=3, **keywords):
    usual = {
        "columns": ["age"],
        "nominal": ["job", "region"],
        "ordinal": ["education"],
        "drop": ["person"],
        "method": "mdav",
        "bound": False,
    }
    return shoal.microaggregate(frame, k, **{**usual, **keywords})


COLUMNS = ["age", "job", "region", "education"]


def expected_value(own: list, whole: list, kind: str):
    """The value of a group, by the words of the manual."""
    if kind == "nominal":
        counts, overall = Counter(own), Counter(whole)
        return min(counts, key=lambda value: (-counts[value], -overall[value], value is None, str(value)))
    known = [value for value in own if value is not None]
    if 2 * (len(own) - len(known)) > len(own):
        return None
    if kind == "ordinal":
        return sorted(known)[(len(known) - 1) // 2]
    return float(np.rint(np.mean(known)))


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([0.0, 0.1, 0.6]), st.integers(2, 5))
def test_every_group_has_its_own_values_and_they_are_the_usual_ones(seed, gaps, k):
    frame = survey(seed, gaps=gaps)
    result = protect(frame, k)
    assert result.frame.columns == COLUMNS
    kinds = {"age": "number", "job": "nominal", "region": "nominal", "education": "ordinal"}
    for group in range(int(result.labels.max()) + 1):
        rows = np.flatnonzero(result.labels == group).tolist()
        assert len(rows) >= k
        for name, kind in kinds.items():
            values = frame[name].to_list()
            own = {result.frame[name][row] for row in rows}
            assert own == {expected_value([values[row] for row in rows], values, kind)}
    classes = result.frame.group_by(COLUMNS).len()["len"]
    assert classes.min() == result.k_protected >= k
    for name in ("job", "region", "education"):
        assert result.frame[name].dtype == frame[name].dtype
        assert set(result.frame[name].to_list()) <= set(frame[name].to_list())


def pairwise(frame, result) -> tuple[float, float]:
    """The loss counted value by value: numbers and ranks by their deviations, categories by whether they differ."""
    error = total = 0.0
    for name in ("job", "region"):
        before, after = frame[name].to_list(), result.frame[name].to_list()
        error += CATEGORY_DISTANCE * sum(a != b for a, b in zip(before, after, strict=True))
        total += CATEGORY_DISTANCE * sum(a != b for a in before for b in before) / (2 * len(before))
    for name in ("age", "education"):
        before, after = frame[name].to_list(), result.frame[name].to_list()
        if name == "education":
            ranks = pl.Series([value for value in before if value is not None]).rank().to_list()
            rank_of = dict(zip([value for value in before if value is not None], ranks, strict=True))
            before, after = ([None if v is None else rank_of[v] for v in side] for side in (before, after))
        known = np.array([value for value in before if value is not None], dtype=float)
        mean, deviation = known.mean(), known.std(ddof=1)
        placed = [[0.0 if v is None else (v - mean) / deviation for v in side] for side in (before, after)]
        error += sum((a - b) ** 2 for a, b in zip(*placed, strict=True))
        total += sum(a * a for a in placed[0])
        error += CATEGORY_DISTANCE * sum(
            (a is None) != (b is None) for a, b in zip(before, after, strict=True)
        )
        gaps = sum(value is None for value in before)
        total += CATEGORY_DISTANCE * gaps * (len(before) - gaps) / len(before)
    return error, total


@pytest.mark.parametrize("seed", range(20))
def test_the_loss_is_what_it_says(seed):
    frame = survey(seed, gaps=0.2 if seed % 2 else 0.0)
    result = protect(frame, bound=True)
    error, total = pairwise(frame, result)
    assert result.sse == pytest.approx(error)
    assert result.sst == pytest.approx(total)
    assert result.bound is None or result.bound <= result.loss
    assert not result.optimal  # the proof is one for means, and a category is none


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**6))
def test_modes_and_gaps_equal_a_count_by_hand(seed):
    draw = np.random.default_rng(seed)
    n = int(draw.integers(1, 40))
    labels = np.unique(draw.integers(0, 5, n), return_inverse=True)[1].reshape(-1)
    positions = draw.integers(0, 4, n)
    overall = Counter(positions.tolist())
    for group, mode in enumerate(nominal_modes(positions, labels).tolist()):
        own = Counter(positions[labels == group].tolist())
        assert mode == min(own, key=lambda value: (-own[value], -overall[value], value))
    missing = draw.random(n) < 0.5
    expected = [
        2 * missing[labels == group].sum() > (labels == group).sum() for group in range(labels.max() + 1)
    ]
    assert mostly_missing(missing, labels).tolist() == expected


@pytest.mark.parametrize("name", COLUMNS)
def test_the_check_sees_one_wrong_value(name):
    frame = survey(3)
    result = protect(frame)
    values = result.frame[name].to_list()
    other = next(value for value in frame[name].to_list() if value != values[0])
    changed = result.frame.with_columns(pl.Series(name, [other, *values[1:]], dtype=result.frame[name].dtype))
    with pytest.raises(AssertionError):
        result.verify(changed)
    with pytest.raises(AssertionError):
        # A whole group with another of its values.
        rows = result.labels == 0
        moved = [other if row else value for row, value in zip(rows, values, strict=True)]
        result.verify(result.frame.with_columns(pl.Series(name, moved, dtype=result.frame[name].dtype)))
    with pytest.raises(AssertionError):
        replace(result, parts=(replace(result.parts[0], sse=result.sse * 0.9),)).verify()


def test_a_group_stands_for_k_units():
    frame = survey(5, n=120)
    result = protect(frame, 4, unit="person")
    people = [
        set(frame["person"].filter(pl.Series(result.labels == g))) for g in range(result.labels.max() + 1)
    ]
    assert min(map(len, people)) >= 4
    assert result.k_protected >= 4


def test_what_categories_lost_is_counted():
    frame = survey(8, n=200)
    result = protect(frame, 10)
    job = next(change for change in result.categories.columns if change.column == "job")
    before, after = frame["job"].to_list(), result.frame["job"].to_list()
    assert job.changed == sum(a != b for a, b in zip(before, after, strict=True)) / 200
    had, have = Counter(before), Counter(after)
    assert job.values == len(had)
    assert job.lost == sum(value not in have for value in had)
    assert job.rarer == sum(0 < 2 * have[value] < had[value] for value in had)
    single = [
        g
        for g in range(result.labels.max() + 1)
        if len({before[r] for r in np.flatnonzero(result.labels == g)}) == 1
    ]
    assert job.one_value == np.isin(result.labels, single).mean()
    rows = set(frame.select(COLUMNS).rows())
    new = [row not in rows for row in result.frame.with_columns(pl.col("age").cast(pl.Int64)).rows()]
    assert result.categories.new_combinations == pytest.approx(sum(new) / 200)


def test_without_nominal_columns_nothing_changes():
    frame = survey(gaps=0.0)
    result = shoal.microaggregate(frame, 3, columns=["age"], method="mdav")
    assert result.categories is None
    with pytest.raises(InputError, match="missing values"):
        shoal.microaggregate(survey(), 3, columns=["age"])


def test_all_categories_that_could_be_known():
    frame = survey(gaps=0.0).drop("education")
    result = shoal.microaggregate(frame, 3, nominal=["*"], drop=["person"], method="mdav")
    assert set(result.columns) == {"age", "job", "region"}
    assert result.k_release >= 3


@pytest.mark.parametrize(
    ("keywords", "message"),
    [
        ({"nominal": ["job", "job"]}, "named twice"),
        ({"nominal": ["education"]}, "cannot be an ordered one"),
        ({"nominal": ["person"]}, "cannot be"),
        ({"nominal": ["jobs"]}, "job"),
        ({"groups": "auto"}, "groups numbers only"),
    ],
)
def test_what_cannot_be_is_refused_in_one_line(keywords, message):
    with pytest.raises(InputError, match=message) as error:
        protect(survey(), **keywords)
    assert "\n" not in str(error.value)


def test_a_column_of_very_many_values_is_refused():
    frame = pl.DataFrame({"x": range(600), "name": [f"n{one}" for one in range(600)]})
    with pytest.raises(InputError, match="600 values, more than 500"):
        shoal.microaggregate(frame, 3, columns=["x"], nominal=["name"])


def test_the_same_from_the_command_line(tmp_path):
    survey(2, n=90).write_csv(tmp_path / "in.csv")
    out = tmp_path / "out.csv"
    options = [
        "-k",
        "4",
        "--columns",
        "age",
        "--nominal",
        "job,region",
        "--ordinal",
        "education",
        "--drop",
        "person",
    ]
    report = tmp_path / "report.html"
    outcome = command(
        "microaggregate", tmp_path / "in.csv", *options, "-o", out, "--report", report, "--json"
    )
    assert outcome.code == 0, outcome.err
    found = outcome.json
    assert {row["column"] for row in found["categories"]} == {"education", "job", "region"}
    assert found["k_protected"] >= 4
    released = pl.read_csv(out)
    assert released.group_by(released.columns).len()["len"].min() >= 4
    assert "true value" in report.read_text()


def test_numbers_given_out_are_no_categories():
    frame = (
        survey(gaps=0.0)
        .drop("education")
        .with_columns(pl.Series("patient", [1000 + row // 3 for row in range(60)]))
    )
    result = shoal.microaggregate(frame, 3, nominal=["*"], drop=["person"], method="mdav")
    assert "patient" not in result.columns
    assert any("'patient' looks like the number of a unit" in warning for warning in result.warnings)
