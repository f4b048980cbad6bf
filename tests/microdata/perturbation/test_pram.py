"""PRAM: what is drawn, against the chances; strata, gaps, forbidden combinations, matrices; and that checks can fail."""

import json
from collections import Counter
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import shoal
from shoal.microdata.perturbation.matrices import internal_matrices, published_matrices
from shoal.microdata.perturbation.pram_kernels import drawn
from shoal.microdata.perturbation.transitions import corrected
from shoal.runtime.secret_kernels import uniform
from shoal.runtime.secrets import Secret

JOBS = ["clerk", "nurse", "smith", "cook"]


def people(records: int = 400, seed: int = 0) -> pl.DataFrame:
    rng = np.random.default_rng(seed)
    age = rng.integers(0, 90, records)
    return pl.DataFrame(
        {
            "person": np.arange(records),
            "job": rng.choice(JOBS, records, p=[0.5, 0.3, 0.15, 0.05]),
            "sex": rng.choice(["f", "m"], records),
            "age": age,
            "marital": np.where(age < 15, "single", rng.choice(["single", "married", "widowed"], records)),
        }
    ).with_columns(job=pl.when(pl.col("person") % 20 == 0).then(None).otherwise("job"))


@given(st.integers(0, 2**64 - 1), st.integers(1, 6), st.integers(1, 40), st.integers(0, 100))
def test_drawn_is_the_first_column_above_the_number(key, size, records, seed):
    rng = np.random.default_rng(seed)
    keys = np.array([key, 1], dtype=np.uint64)
    rows = rng.random((size, size))
    upto = np.cumsum(rows / rows.sum(axis=1)[:, None], axis=1)
    upto[:, -1] = 1.0
    identities = rng.integers(0, 2**63, records).astype(np.uint64)
    row_of, members = rng.integers(0, size, records), np.arange(records)
    found = drawn(keys, identities, members, row_of, upto)
    for item in range(records):
        chance = uniform(keys, identities[item], np.uint64(0))
        assert found[item] == next(place for place in range(size) if chance < upto[row_of[item], place])


def test_values_become_others_as_often_as_the_matrix_says():
    frame = pl.DataFrame({"id": range(60_000), "job": (["clerk"] * 3 + ["nurse"] * 2 + ["smith"]) * 10_000})
    safe = shoal.perturb(frame, "pram", "job", options={"change": 0.3}, seed=5)
    matrix = safe.details[0].groups[0].matrix
    seen = Counter(zip(frame["job"], safe.frame["job"], strict=True))
    for row, true in enumerate(["clerk", "nurse", "smith"]):
        counts = [seen[true, other] for other in ["clerk", "nurse", "smith"]]
        assert stats.chisquare(counts, matrix[row] * sum(counts)).pvalue > 1e-4
    assert safe.changed["job"] / 60_000 == pytest.approx(0.3, abs=0.01)


@given(st.integers(0, 10**6), st.floats(0.01, 0.6))
@settings(max_examples=60)
def test_what_is_promised_holds(seed, change):
    frame = people(120, seed)
    rule = "age=0..14,marital=widowed|married"
    safe = shoal.perturb(
        frame, "pram", ["job", "marital"], by="sex", forbid=rule, options={"change": change}, seed=seed
    )
    assert safe.frame.columns == frame.columns
    assert safe.frame.select("person", "sex", "age").equals(frame.select("person", "sex", "age"))
    assert safe.frame["job"].is_null().equals(frame["job"].is_null())
    assert safe.frame.filter((pl.col("age") < 15) & (pl.col("marital") != "single")).height == 0
    for item in safe.details:
        for group in item.groups:
            assert group.shares @ group.matrix == pytest.approx(group.shares, abs=1e-12)
            assert group.expected_change <= change * (1 + 1e-9)
    # Nobody gets what nobody of the same stratum has.
    for stratum in ("f", "m"):
        own = frame.filter(sex=stratum)["job"].drop_nulls()
        assert set(safe.frame.filter(sex=stratum)["job"].drop_nulls()) <= set(own)


@pytest.mark.parametrize("key", [None, "person"])
def test_another_order_gives_the_same_records(key):
    frame = people().drop([] if key else ["person"])
    turned = frame.sample(fraction=1.0, shuffle=True, seed=4)
    secret = Secret.new()
    first = shoal.perturb(frame, "pram", ["job", "marital"], by="sex", key=key, secret=secret)
    second = shoal.perturb(turned, "pram", ["job", "marital"], by="sex", key=key, secret=secret)
    if key:
        assert second.frame.sort("person").equals(first.frame.sort("person"))
    else:
        assert second.frame.sort(frame.columns).equals(first.frame.sort(frame.columns))
    assert second.for_release
    assert not shoal.perturb(frame, "pram", "job", key=key).frame.equals(first.frame)


@pytest.mark.parametrize("kind", ["pandas", "categories", "arrow"])
def test_any_frame_gives_the_same(kind):
    frame = people()
    plain = shoal.perturb(frame, "pram", ["job", "age"], seed=1).frame
    given_frame = {
        "pandas": lambda: frame.to_pandas().set_index(pd.Index(range(400, 0, -1))),
        "categories": lambda: frame.with_columns(pl.col("job").cast(pl.Categorical)),
        "arrow": frame.to_arrow,
    }[kind]()
    found = shoal.perturb(given_frame, "pram", ["job", "age"], seed=1).frame
    if kind == "pandas":
        assert found.index.tolist() == list(range(400, 0, -1))
        found = pl.from_pandas(found)
    back = pl.from_arrow(found) if kind == "arrow" else found
    assert back.with_columns(pl.col("job").cast(pl.String)).to_dicts() == plain.to_dicts()


def test_a_second_column_sees_what_the_first_became():
    frame = pl.DataFrame({"id": range(300), "a": ["x", "y", "y"] * 100, "b": ["u", "u", "v"] * 100})
    for seed in range(20):
        safe = shoal.perturb(frame, "pram", ["a", "b"], forbid="a=x,b=v", options={"change": 0.4}, seed=seed)
        assert safe.frame.filter(a="x", b="v").height == 0
        assert min(safe.changed.values()) > 0


def test_a_matrix_of_ones_own(tmp_path: Path):
    frame = pl.DataFrame({"id": range(900), "a": ["x", "y", "y"] * 300})
    path = tmp_path / "chances.csv"
    path.write_text("true,x,y\nx,0.6,0.4\ny,0.1,0.9\n")
    kept = shoal.perturb(frame, "pram", "a", matrix=path, seed=0)
    group = kept.details[0].groups[0]
    assert group.shares @ group.matrix == pytest.approx(group.shares, abs=1e-12)
    plain = shoal.perturb(frame, "pram", "a", matrix=path, options={"keep_shares": False}, seed=0)
    assert plain.details[0].groups[0].matrix.tolist() == [[0.6, 0.4], [0.1, 0.9]]
    assert not any("stay the same" in promise.text for promise in plain.promises)
    # One third is x: 1/3·0.4 + 2/3·0.1 = 20 % change by the matrix. Turned back by Bayes x is seen as 4/15, of which 3/4 were x,
    # and y as 11/15, of which 2/11 were x: 1/3·(0.6·1/4 + 0.4·9/11) + 2/3·(0.1·3/4 + 0.9·2/11) = 31.8 % change.
    assert dict(kept.facts)["values of a expected to change"].startswith(
        "20 % by the matrix as given, 31.8 % by the one"
    )
    assert "values of a expected to change" not in dict(plain.facts)
    half = shoal.perturb(frame, "pram", "a", matrix=path, options={"alpha": 0.5}, seed=0)
    assert dict(half.facts)["values of a expected to change"].startswith(
        "10 % by the matrix as given, 15.9 % by"
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("true,x,y\nx,0.5,0.5\ny,0.5,0.5\n", "singular"),
        ("true,x,y\nx,0,1\ny,1,0\n", "nothing to chance"),
        ("true,x,y\nx,1,0\ny,0,1\n", "nothing to chance"),
        ("true,x,y\nx,0.5,0.6\ny,0.5,0.5\n", "add up to 1"),
        ("true,x,y\nx,-0.5,1.5\ny,0.5,0.5\n", "add up to 1"),
        ("true,x,y\nx,0.5,nan\ny,0.5,0.5\n", "add up to 1"),
        ("true,x,y\nx,0.5\ny,0.5,0.5\n", "line 2.*2 numbers"),
        ("true,x,z\nx,0.6,0.4\nz,0.5,0.5\n", "1 of the 2 categories"),
        ("true,x\ny,1\n", "same categories"),
        ("", "same categories"),
    ],
)
def test_matrices_that_cannot_be_used(tmp_path: Path, text: str, message: str):
    path = tmp_path / "chances.csv"
    path.write_text(text)
    frame = pl.DataFrame({"id": range(6), "a": ["x", "y"] * 3})
    with pytest.raises(shoal.InputError, match=message):
        shoal.perturb(frame, "pram", "a", matrix=path, seed=0)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"columns": None}, "name the columns"),
        ({"columns": ["nothing"]}, "not in the data"),
        ({"columns": ["constant"]}, "one value for all"),
        ({"columns": ["empty"]}, "no values"),
        ({"columns": ["job"], "by": ["job"]}, "strata at once"),
        ({"columns": ["job"], "drop": ["job"]}, "dropped at once"),
        ({"columns": ["job"], "key": "sex"}, "does not tell the records apart"),
        ({"columns": ["job"], "forbid": "job=clerk"}, "two or more columns"),
        ({"columns": ["job"], "forbid": "job=clerk,sex"}, "COLUMN=VALUE"),
        ({"columns": ["job"], "forbid": "sex=f,age=0..9"}, "none of the columns"),
        ({"columns": ["job"], "forbid": "job=clerk,sex=f"}, "rules out what is in the data"),
        ({"columns": ["job"], "forbid": "job=baker,sex=f"}, "no record meets"),
        ({"columns": ["job"], "regions": ["sex"]}, "does nothing with method 'pram'"),
        ({"columns": ["job"], "options": {"change": 0.0}}, "above 0"),
        ({"columns": ["job"], "options": {"change": 1.0}}, "below 1"),
        ({"columns": ["job"], "options": {"alpha": 0.5}}, "alpha"),
        ({"columns": ["job"], "options": {"window": 3}}, "not an option"),
        ({"columns": ["job"], "seed": 1, "secret": Secret.new()}, "do not go together"),
        ({"columns": ["person"]}, "more than the 500"),
    ],
)
def test_what_is_refused(arguments, message):
    frame = people(600).with_columns(constant=pl.lit(1), empty=pl.lit(None))
    with pytest.raises(shoal.InputError, match=message) as problem:
        shoal.perturb(frame, "pram", **arguments)
    assert not any(job in str(problem.value) for job in JOBS)


def test_lists_are_not_released():
    frame = people(40).with_columns(answers=pl.Series([[1, 2]] * 40))
    with pytest.raises(shoal.InputError, match="'answers' holds lists or records; remove it with drop="):
        shoal.perturb(frame, "pram", "job")
    assert shoal.perturb(frame, "pram", "job", drop=["answers"]).records == 40


def test_no_records():
    with pytest.raises(shoal.InputError, match="no records"):
        shoal.perturb(people().head(0), "pram", "job")


def test_checks_notice_what_is_wrong():
    frame = people()
    safe = shoal.perturb(frame, "pram", "marital", forbid="age=0..14,marital=widowed|married", seed=1)
    safe.verify()
    child = frame["age"].arg_min()
    wrong = {
        "others": safe.frame.with_columns(age=pl.col("age") + 1),
        "gaps": safe.frame.with_columns(
            marital=pl.when(pl.col("person") == 3).then(None).otherwise("marital")
        ),
        "forbidden": safe.frame.with_columns(
            marital=pl.when(pl.col("person") == child).then(pl.lit("widowed")).otherwise("marital")
        ),
        "new": safe.frame.with_columns(
            marital=pl.when(pl.col("person") == 5).then(pl.lit("engaged")).otherwise("marital")
        ),
        "fewer": safe.frame.head(399),
        "columns": safe.frame.drop("sex"),
    }
    for name, released in wrong.items():
        with pytest.raises(AssertionError, match=r"not kept|number of released"):
            safe.verify(released)
            pytest.fail(name)


def test_a_release_that_is_sorted_is_checked_all_the_same():
    safe = shoal.perturb(people(), "pram", "job", order="sorted", drop="person", seed=2)
    assert safe.frame["job"].drop_nulls().is_sorted()
    safe.verify()
    links = safe.record_links.released
    assert people()["age"].to_list() == [safe.frame["age"][int(place)] for place in links]
    with pytest.raises(AssertionError):
        safe.verify(safe.frame.reverse())


def test_matrices_for_inside_and_for_publication():
    frame = pl.concat([people(400), people(60, 1).with_columns(sex=pl.lit("d"))])
    safe = shoal.perturb(frame, "pram", "job", by="sex", seed=2)
    inside = json.loads(internal_matrices(safe))
    assert "internal" in inside["note"]
    assert [matrix["stratum"] for matrix in inside["matrices"]] == [["d"], ["f"], ["m"]]
    published = published_matrices(safe)
    outside = json.loads(published)
    assert "1 of 3 strata, with fewer than 100 records, are left out of the matrices to publish" in safe.notes
    assert not any("to publish" in note for note in shoal.perturb(frame, "pram", "job", seed=2).notes)
    few = shoal.perturb(frame.head(60), "pram", "job", seed=2).notes
    assert "fewer than 100 records have no matrix that could be published" in few
    # The small stratum is not there, and no count can be worked out.
    assert [matrix["stratum"] for matrix in outside["matrices"]] == [["f"], ["m"]]
    for matrix in outside["matrices"]:
        rows = np.array(matrix["matrix"])
        assert rows.sum(axis=1) == pytest.approx(1)
        assert "records" not in matrix and "shares" not in matrix
        for job in set(matrix["categories"]) - {"all others"}:
            assert frame.filter(sex=matrix["stratum"][0], job=job).height >= 10


def of_counts(**counts: int) -> pl.DataFrame:
    values = [name for name, count in counts.items() for _ in range(count)]
    return pl.DataFrame({"id": range(len(values)), "a": values})


def published_of(tmp_path: Path | None = None, **counts: int) -> dict:
    more = {}
    if tmp_path is not None:
        more["matrix"] = tmp_path / "chances.csv"
        names = sorted(counts)
        rows = ["," + ",".join(names)]
        for row, name in enumerate(names):
            chances = [0.5 + 0.02 * row if other == name else 0.0 for other in names]
            rest = (1 - sum(chances)) / (len(names) - 1)
            rows.append(",".join([name, *(str(chance or rest) for chance in chances)]))
        more["matrix"].write_text("\n".join(rows))
    return json.loads(published_matrices(shoal.perturb(of_counts(**counts), "pram", "a", seed=0, **more)))


@pytest.mark.parametrize("given_matrix", [False, True])
def test_a_published_matrix_tells_no_more_than_rounded_counts(tmp_path: Path, given_matrix: bool):
    own = tmp_path if given_matrix else None
    first = published_of(own, x=57, y=62, z=31)
    assert first == published_of(own, x=64, y=59, z=29)
    assert first != published_of(own, x=57, y=82, z=31)


def test_rare_categories_are_published_together():
    found = published_of(x=300, y=200, u=7, v=8, w=2)["matrices"][0]
    assert found["categories"] == ["x", "y", "all others"]
    rows = np.array(found["matrix"])
    # Of 20 in 520, as the rounded counts have it.
    p = np.array([300, 200, 20]) / 520
    t = 0.2 / (1 - (np.array([300, 200, 10, 10]) ** 2).sum() / 520**2)
    assert rows == pytest.approx((1 - t) * np.eye(3) + t * p, abs=2e-4)


def test_published_matrices_correct_counts():
    frame = of_counts(x=400, y=330, z=170, u=50, v=4)
    true = np.array([400, 330, 170, 50])
    found = []
    for seed in range(60):
        safe = shoal.perturb(frame, "pram", "a", options={"change": 0.3}, seed=seed)
        matrix = json.loads(published_matrices(safe))["matrices"][0]
        seen = Counter(safe.frame["a"].to_list())
        assert matrix["categories"] == ["u", "x", "y", "z"]
        found.append(corrected(matrix["matrix"], [seen[name] for name in ("u", "x", "y", "z")])[0])
    mean, error = np.mean(found, axis=0), np.std(found, axis=0) / np.sqrt(60)
    assert (np.abs(mean[[1, 2, 3, 0]] - true) < 4 * error.max() + 3).all()


def test_a_matrix_that_cannot_be_turned_once_it_keeps_shares(tmp_path: Path):
    path = tmp_path / "chances.csv"
    path.write_text("true,x,y\nx,0.500002,0.499998\ny,0.5,0.5\n")
    with pytest.raises(shoal.InputError, match="nearly singular"):
        shoal.perturb(of_counts(x=60, y=60), "pram", "a", matrix=path, seed=0)
    mixed = shoal.perturb(
        of_counts(x=60, y=60),
        "pram",
        "a",
        matrix=path,
        options={"keep_shares": False, "alpha": 0.5},
        seed=0,
    )
    assert mixed.details[0].groups[0].matrix == pytest.approx(
        np.array([[0.75, 0.25], [0.25, 0.75]]), abs=1e-5
    )


def test_a_stratum_in_which_a_matrix_only_renames_is_warned_of(tmp_path: Path):
    path = tmp_path / "chances.csv"
    path.write_text("true,x,y,z\nx,0,1,0\ny,0.5,0,0.5\nz,0,0.5,0.5\n")
    frame = pl.DataFrame(
        {
            "id": range(600),
            "g": ["one", "two"] * 300,
            "a": [*["x", "x", "y", "y"] * 75, *["x", "x", "y", "z"] * 75],
        }
    ).with_columns(a=pl.when((pl.col("g") == "one") & (pl.col("a") == "z")).then(pl.lit("x")).otherwise("a"))
    found = shoal.perturb(frame, "pram", "a", by="g", matrix=path, seed=0)
    assert any("300 values of column 'a' are not left to chance" in text for text in found.warnings)


def test_what_a_stratum_tells_is_told(tmp_path: Path):
    frame = pl.DataFrame(
        {
            "id": range(300),
            "g": ["one"] * 150 + ["two"] * 150,
            "a": ["x"] * 140 + ["y"] * 10 + ["x", "y"] * 75,
        }
    )
    safe = shoal.perturb(frame, "pram", "a", by="g", options={"change": 0.05}, seed=0)
    highest = max(max(group.truth) for group in safe.details[0].groups)
    assert max(safe.details[0].truth.values()) < highest == max(safe.details[0].highest_truth.values())
    assert f"in one stratum up to {highest:.3g}" in dict(safe.facts)["a seen value of a is true"]
    path = tmp_path / "chances.csv"
    path.write_text("true,x,y,z\nx,0.8,0.1,0.1\ny,0.1,0.8,0.1\nz,0.1,0.1,0.8\n")
    less = shoal.perturb(frame, "pram", "a", by="g", matrix=path, seed=0)
    assert any("in 2 groups of column 'a' not all categories" in text for text in less.warnings)


def test_one_value_that_prevails_is_warned_of():
    frame = pl.DataFrame({"id": range(100), "a": ["x"] * 95 + ["y"] * 5})
    safe = shoal.perturb(frame, "pram", "a", options={"change": 0.4}, seed=0)
    assert any("one value prevails" in text for text in safe.warnings)
    alone = shoal.perturb(
        pl.DataFrame({"id": range(4), "g": [1, 1, 2, 2], "a": ["x", "x", "x", "y"]}),
        "pram",
        "a",
        by="g",
        seed=0,
    )
    assert any("2 values of column 'a' cannot change" in text for text in alone.warnings)


def test_a_seed_is_not_for_release():
    safe = shoal.perturb(people(), "pram", "job", seed=0)
    assert not safe.for_release
    assert "not for release" in safe.warnings[0]
    page = safe.report().html()
    assert "not for release" in page
    assert safe.secret.content.hex() not in page
    assert shoal.perturb(people(), "pram", "job").for_release
