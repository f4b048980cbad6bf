"""``anonymity`` on frames of all kinds, against a count in plain Python."""

import datetime
import math
import pickle
import subprocess
import sys
from collections import Counter, defaultdict
from decimal import Decimal

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal import InputError
from shoal.anonymity import AnonymityVector
from shoal.microdata.anonymity.api import anonymity

PEOPLE = {
    "zip": [1, 1, 2, 2, 2, None, None],
    "sex": ["f", "f", "m", "m", "m", "f", None],
    "weight": [50.0, 50.0, float("nan"), None, 70.0, 50.0, 70.0],
    "person": ["a", "a", "b", "c", "d", "e", "e"],
    "illness": ["flu", "cold", "flu", "flu", "cold", None, "flu"],
}
KINDS = {
    "pandas": pd.DataFrame,
    "pandas with nullable types": lambda data: pd.DataFrame(data).convert_dtypes(),
    "pandas with objects": lambda data: pd.DataFrame(data, dtype=object),
    "polars": lambda data: pl.DataFrame(data, strict=False),
    "polars lazy": lambda data: pl.LazyFrame(data, strict=False),
    "arrow": lambda data: pl.DataFrame(data, strict=False).to_arrow(),
}


def missing(value) -> bool:
    return value is None or (isinstance(value, float) and math.isnan(value))


def rows_of(data, names):
    return [
        tuple(None if missing(value) else value for value in row)
        for row in zip(*(data[name] for name in names))
    ]


def compatible(one, other) -> bool:
    return all(a is None or b is None or a == b for a, b in zip(one, other))


def twin(data, quasi, *, unit=None, null="own", confidential=None):
    """Everything by comparing each record with each other."""
    rows = rows_of(data, quasi)
    people = [row[0] for row in rows_of(data, [unit])] if unit else list(range(len(rows)))
    alike = compatible if null == "wildcard" else (lambda one, other: one == other)
    groups = {row: [place for place, other in enumerate(rows) if alike(row, other)] for row in rows}
    sizes = {row: len({people[place] for place in places}) for row, places in groups.items()}
    smallest = defaultdict(lambda: 10**9)
    for row, person in zip(rows, people):
        smallest[person] = min(smallest[person], sizes[row])
    found = {
        "k": min(sizes.values(), default=0),
        "vector": AnonymityVector.from_sizes(sizes.values()),
        "people": dict(sorted(Counter(smallest.values()).items())),
        "units": len(set(people)),
        "average": sum(1 / size for size in smallest.values()) / len(smallest) if smallest else 0.0,
    }
    if confidential:
        values = [row[0] for row in rows_of(data, [confidential])]
        said = [
            Counter(value for _, value in {(people[p], values[p]) for p in places} if value is not None)
            for places in groups.values()
        ]
        said = [counts for counts in said if counts]
        found["distinct"] = min((len(counts) for counts in said), default=None)
        found["entropy"] = min((math.exp(entropy(counts.values())) for counts in said), default=None)
    return found


def entropy(counts) -> float:
    total = sum(counts)
    return -sum(count / total * math.log(count / total) for count in counts)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("null", ["own", "wildcard"])
@pytest.mark.parametrize("unit", [None, "person"])
@pytest.mark.parametrize("quasi", [["zip", "sex"], ["weight", "sex"], ["zip", "sex", "weight"]])
def test_every_kind_of_frame_gives_the_same(kind, null, unit, quasi):
    frame = KINDS[kind](PEOPLE)
    result = anonymity(frame, quasi, unit=unit, null=null, confidential="illness")
    expected = twin(PEOPLE, quasi, unit=unit, null=null, confidential="illness")
    assert (result.k, result.vector, result.people) == (expected["k"], expected["vector"], expected["people"])
    assert (result.records, result.units) == (7, expected["units"])
    assert result.average_risk == pytest.approx(expected["average"])
    assert result.diversity.distinct == expected["distinct"]
    assert result.diversity.entropy == pytest.approx(expected["entropy"])
    assert (result.null, result.unit, result.quasi) == (null, unit, tuple(quasi))


CELLS = {
    "a": st.sampled_from([None, 1, 2, 3]),
    "b": st.sampled_from([None, "x", "y"]),
    "c": st.sampled_from([None, float("nan"), 0.5, 1.5]),
    "d": st.sampled_from([None, True, False]),
    "person": st.sampled_from([None, 1, 2, 3, 4, 5]),
    "illness": st.sampled_from([None, "flu", "cold", "cough"]),
}
DATA = st.integers(0, 14).flatmap(
    lambda rows: st.fixed_dictionaries(
        {name: st.lists(cell, min_size=rows, max_size=rows) for name, cell in CELLS.items()}
    )
)
SCHEMA = {
    "a": pl.Int64,
    "b": pl.String,
    "c": pl.Float64,
    "d": pl.Boolean,
    "person": pl.Int64,
    "illness": pl.String,
}


@settings(max_examples=150, deadline=None)
@given(
    DATA,
    st.lists(st.sampled_from("abcd"), min_size=1, max_size=4, unique=True),
    st.sampled_from([None, "person"]),
    st.sampled_from(["own", "wildcard"]),
    st.sampled_from([None, "illness"]),
    st.sampled_from(["polars", "pandas"]),
)
def test_random_frames_agree_with_the_twin(data, quasi, unit, null, confidential, kind):
    frame = pl.DataFrame(data, schema=SCHEMA) if kind == "polars" else pd.DataFrame(data)
    expected = twin(data, quasi, unit=unit, null=null, confidential=confidential)
    if confidential and data["illness"] and expected["distinct"] is None:
        with pytest.raises(InputError, match="has no values"):
            anonymity(frame, quasi, unit=unit, null=null, confidential=confidential)
        return
    result = anonymity(frame, quasi, unit=unit, null=null, confidential=confidential)
    assert (result.k, result.vector, result.people) == (expected["k"], expected["vector"], expected["people"])
    assert result.units == expected["units"]
    assert result.average_risk == pytest.approx(expected["average"])
    assert result.below(3) == sum(people for size, people in expected["people"].items() if size < 3)
    if result.overlapping:
        assert result.rank is None
        assert result.vectors is None
    else:
        assert result.rank == result.vector.rank
        assert result.average_risk == pytest.approx(result.vector.average_risk)
    if confidential and data["illness"]:
        assert result.diversity.distinct == expected["distinct"]
        assert result.diversity.entropy == pytest.approx(expected["entropy"])
        assert 1 <= result.diversity.entropy <= result.diversity.distinct


@settings(max_examples=40, deadline=None)
@given(DATA, st.permutations("abcd"))
def test_more_columns_never_help(data, names):
    frame = pl.DataFrame(data, schema=SCHEMA)
    vectors = [anonymity(frame, names[: number + 1]).vector for number in range(4)]
    assert vectors == sorted(vectors)


@settings(max_examples=40, deadline=None)
@given(DATA, st.sampled_from([None, "person"]))
def test_a_wildcard_never_makes_k_smaller(data, unit):
    frame = pl.DataFrame(data, schema=SCHEMA)
    own, wild = (anonymity(frame, list("abcd"), unit=unit, null=null).k for null in ("own", "wildcard"))
    assert own <= wild


def test_wildcards_in_pieces_give_the_same(monkeypatch):
    from shoal.anonymity import wildcard

    whole = anonymity(pl.DataFrame(PEOPLE, strict=False), ["zip", "sex"], unit="person", null="wildcard")
    monkeypatch.setattr(wildcard, "_ROWS_AT_ONCE", 2)
    pieces = anonymity(pl.DataFrame(PEOPLE, strict=False), ["zip", "sex"], unit="person", null="wildcard")
    assert pieces == whole


def test_people_below_a_size_and_risks():
    result = anonymity(pl.DataFrame({"q": list("AABBBCCCCCD")}), "q")
    assert result.people == {1: 1, 2: 2, 3: 3, 5: 5}
    assert [result.below(size) for size in (1, 2, 3, 5, 10)] == [0, 1, 3, 6, 11]
    assert (result.maximum_risk, result.average_risk) == (1.0, 4 / 11)


def test_records_of_one_person_count_once():
    frame = pl.DataFrame({"zip": [1, 1, 1, 2, 2], "person": ["a", "a", "a", "b", "c"]})
    assert anonymity(frame, "zip").k == 2
    result = anonymity(frame, "zip", unit="person")
    assert (result.k, result.records, result.units) == (1, 5, 3)
    assert result.vector == AnonymityVector((1, 1))
    assert (result.average_risk, result.rank) == (2 / 3, 1)


def test_a_person_in_several_classes_is_as_exposed_as_in_the_smallest():
    frame = pl.DataFrame({"zip": [1, 1, 2], "person": ["a", "b", "a"]})
    result = anonymity(frame, "zip", unit="person")
    assert result.overlapping
    assert result.people == {1: 1, 2: 1}
    assert result.average_risk == 0.75
    assert result.rank is None


def test_diversity_of_the_published_definition():
    frame = pl.DataFrame({"q": [1, 1, 1, 1, 2, 2], "illness": ["flu", "flu", "flu", "cold", "flu", "cold"]})
    found = anonymity(frame, "q", confidential="illness").diversity
    assert (found.column, found.distinct) == ("illness", 2)
    assert found.entropy == pytest.approx(math.exp(entropy([3, 1])))
    alike = anonymity(frame.with_columns(illness=pl.lit("flu")), "q", confidential="illness").diversity
    assert (alike.distinct, alike.entropy) == (1, 1.0)


def test_values_of_any_type():
    day = datetime.date(2026, 1, 1)
    frame = pl.DataFrame(
        {
            "date": [day, day, None],
            "money": [Decimal("1.10"), Decimal("1.10"), None],
            "kind": pl.Series(["x", "x", "y"], dtype=pl.Categorical),
            "bytes": [b"a", b"a", b"b"],
            "list": [[1], [1], [2]],
            "nothing": [None, None, None],
        }
    )
    assert anonymity(frame, frame.columns).vector == AnonymityVector((1, 1))
    mixed = pd.DataFrame({"mixed": [1, "1", 1, None, day], "other": pd.Categorical(list("aaabb"))})
    assert anonymity(mixed, ["mixed", "other"]).vector == AnonymityVector((3, 1))
    assert anonymity(mixed, ["mixed", "other"], null="wildcard").k == 1
    assert anonymity(pd.DataFrame({0: [1, 1], 1: [2, 2]}), [0, 1]).k == 2


def test_minus_zero_is_zero():
    for frame in (pl.DataFrame({"x": [0.0, -0.0]}), pd.DataFrame({"x": [0.0, -0.0]})):
        assert anonymity(frame, "x").k == 2


@pytest.mark.parametrize("kind", KINDS)
def test_smallest_classes_by_value(kind):
    frame = KINDS[kind]({"size": ["x-ray", "x-ray", "y", None], "age": [30, 30, 40, 50]})
    result = anonymity(frame, ["size", "age"])
    found = result.smallest(2)
    assert found.columns == ["size", "age", "class size"]
    assert sorted(found.rows(), key=str) == [("y", 40, 1), (None, 50, 1)]
    assert result.smallest(99).height == 3
    assert result.smallest(99)["class size"].to_list() == [1, 1, 2]
    assert "x-ray" not in repr(result)
    with pytest.raises(InputError, match="at least one"):
        result.smallest(0)


def test_names_that_look_like_patterns():
    frame = pl.DataFrame({"^a.*$": [1, 1, 2], "*": [1, 2, 2], "abc": [1, 1, 1]})
    assert anonymity(frame, ["^a.*$"]).vector == AnonymityVector((1, 1))
    assert anonymity(frame, ["*", "abc"]).vector == AnonymityVector((1, 1))


@pytest.mark.parametrize("kind", KINDS)
def test_an_empty_frame_has_k_zero(kind):
    for options in ({}, {"unit": "b"}, {"confidential": "b"}, {"null": "wildcard"}):
        result = anonymity(KINDS[kind]({"a": [], "b": []}), ["a"], **options)
        assert (result.k, result.records, result.classes, result.people) == (0, 0, 0, {})
        assert (result.maximum_risk, result.average_risk, result.rank) == (0.0, 0.0, 0)
        assert result.smallest(3).height == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ((["agee"],), "column 'agee' is not in the data; did you mean 'age'"),
        ((["age"], {"unit": "persn"}), "column 'persn' is not in the data; did you mean 'person'"),
        ((["age"], {"confidential": "illnes"}), "'illness'"),
        (([],), "at least one"),
        (((),), "at least one"),
        ((["age", "zip", "age"],), "'age' is named twice"),
        ((["age"], {"unit": "age"}), "at once"),
        ((["age"], {"confidential": "age"}), "at once"),
        ((["age"], {"unit": "zip", "confidential": "zip"}), "at once"),
        ((["age"], {"null": "any"}), "meaning of missing values 'any' is unknown"),
        ((7,), "list of names"),
        (([["age"]],), "is not in the data"),
    ],
)
@pytest.mark.parametrize("kind", ["pandas", "polars", "polars lazy", "arrow"])
def test_wrong_arguments_get_one_line(arguments, words, kind):
    frame = KINDS[kind]({"age": [1, 2], "zip": [1, 1], "person": [1, 2], "illness": ["a", "b"]})
    quasi, options = (*arguments, {})[:2]
    with pytest.raises(InputError, match=words) as caught:
        anonymity(frame, quasi, **options)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("frame", [[1, 2], {"a": [1]}, None, "people.csv", pd.Series([1])])
def test_what_is_no_frame_is_refused(frame):
    with pytest.raises(InputError, match="pandas, Polars or Arrow"):
        anonymity(frame, ["a"])


def test_two_columns_of_one_name_are_refused():
    with pytest.raises(InputError, match="several columns of one name"):
        anonymity(pd.DataFrame([[1, 2]], columns=["a", "a"]), ["a"])
    with pytest.raises(InputError, match="several columns of one name"):
        anonymity(pa.table([[1], [2]], names=["a", "a"]), ["a"])


def test_values_that_cannot_be_compared_are_refused_without_showing_them():
    with pytest.raises(InputError, match="'secret' holds values that cannot be compared") as caught:
        anonymity(pd.DataFrame({"secret": [[12345], [2]]}), ["secret"])
    assert "12345" not in str(caught.value)
    with pytest.raises(InputError, match="'secret' holds Python objects"):
        anonymity(pl.DataFrame({"secret": pl.Series([object(), object()], dtype=pl.Object)}), ["secret"])


def test_a_lazy_frame_that_fails_does_not_show_values():
    plan = pl.LazyFrame({"secret": ["12345", "abc"]}).select(pl.col("secret").cast(pl.Int64))
    with pytest.raises(InputError, match="could not be computed") as caught:
        anonymity(plan, ["secret"])
    assert "abc" not in str(caught.value)


@pytest.mark.parametrize("kind", KINDS)
def test_the_frame_is_left_alone(kind):
    frame, before = KINDS[kind](PEOPLE), KINDS[kind](PEOPLE)
    anonymity(frame, ["zip", "weight"], unit="person", null="wildcard", confidential="illness")
    if isinstance(frame, pl.LazyFrame):
        frame, before = frame.collect(), before.collect()
    if isinstance(frame, pa.Table):
        # Arrow holds that NaN differs from itself.
        frame, before = pl.from_arrow(frame), pl.from_arrow(before)
    assert frame.equals(before)


def test_a_result_can_be_sent_to_another_process():
    result = anonymity(pd.DataFrame(PEOPLE), ["zip", "sex"])
    again = pickle.loads(pickle.dumps(result))
    assert again == result
    assert again.smallest(2).rows() == result.smallest(2).rows()


def test_it_is_the_public_function():
    assert shoal.anonymity is anonymity
    assert shoal.AnonymityVector is AnonymityVector


@pytest.mark.parametrize(
    "first",
    [
        "import shoal.anonymity",
        "import shoal.anonymity.vector",
        "from shoal.anonymity import ranks",
        "shoal.k = 2",
    ],
)
def test_the_function_stands_before_the_package_whatever_is_imported_first(first):
    code = f"import shoal; {first}; from shoal.microdata.anonymity.api import anonymity as own"
    check = "assert shoal.anonymity is own; from shoal import anonymity; assert anonymity is own"
    subprocess.run([sys.executable, "-c", f"{code}; {check}"], check=True)


def test_importing_it_loads_nothing_heavy():
    heavy = ("numpy", "polars", "numba", "narwhals")
    code = f"import sys, shoal.microdata.anonymity.api; print([m for m in {heavy} if m in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"


def test_the_command_tells_the_mean_class(tmp_path):
    from tests.cli.running import shoal as command

    pl.DataFrame({"zip": ["a", "a", "a", "b", "b", "c"]}).write_csv(tmp_path / "people.csv")
    arguments = ("anonymity", tmp_path / "people.csv", "--quasi", "zip")
    assert command(*arguments, "--json").json["mean_class"] == pytest.approx((9 + 4 + 1) / 6)
    assert "mean size of a class" in command(*arguments).out
