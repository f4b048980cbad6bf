"""Models measured in any table: every figure against definitions in plain Python, and what is refused."""

import math
from collections import Counter, defaultdict
from typing import Any

import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.cli.running import shoal as command

import shoal
from shoal.microdata.anonymity.api import anonymity

TREE = {"a": "x", "b": "x", "c": "y", "d": "y", None: "y"}
ROWS = [["a", "x", "*"], ["b", "x", "*"], ["c", "y", "*"], ["d", "y", "*"]]
OF_VALUES = [
    "distinct(2)",
    "distinct(3)",
    "entropy(1.7)",
    "recursive(2,2)",
    "recursive(1.5,3)",
    "closeness(0.3)",
    "closeness(0.25,ordered)",
    "likeness(0.8)",
    "enhanced-likeness(2)",
]

records = st.lists(
    st.tuples(
        st.sampled_from([1, 2, None]),
        st.sampled_from(["f", "m"]),
        st.sampled_from(["a", "b", "c", "d", None]),
        st.sampled_from([1, 2, 3, 4, None]),
    ),
    min_size=1,
    max_size=25,
).filter(lambda rows: any(row[2] for row in rows))


def frame_of(rows: list[tuple[Any, ...]]) -> pl.DataFrame:
    kinds = {"zip": pl.Int64, "sex": pl.String, "ill": pl.String, "person": pl.Int64}
    return pl.DataFrame(rows, schema=kinds, orient="row")


def classes_of(rows: list[tuple[Any, ...]], *, unit: bool) -> dict[Any, tuple[set[Any], list[Any]]]:
    """The people of each class and what they say; a person says a value once."""
    people: dict[Any, set[Any]] = defaultdict(set)
    said: dict[Any, Any] = defaultdict(set if unit else list)
    for place, (zip_code, sex, ill, person) in enumerate(rows):
        people[zip_code, sex].add(person if unit else place)
        if unit:
            said[zip_code, sex].add((person, ill))
        else:
            said[zip_code, sex].append((place, ill))
    return {key: (people[key], [ill for _, ill in said[key]]) for key in people}


def plainly(text: str, values: list[Any], whole: list[Any]) -> tuple[float, bool]:
    """What a model measures in a class, and whether the class fails, from the papers."""
    name, arguments = text[:-1].split("(")
    limits = arguments.split(",")
    known = sorted(Counter(v for v in values if v is not None).values(), reverse=True)
    if name == "distinct":
        return len(known), len(known) < int(limits[0])
    if name == "entropy":
        shares = [n / sum(known) for n in known]
        found = math.exp(-sum(p * math.log(p) for p in shares)) if known else 0.0
        return found, found < float(limits[0]) - 1e-9
    if name == "recursive":
        rest = sum(known[int(limits[1]) - 1 :])
        found = known[0] / rest if rest else math.inf
        return found, not (known and known[0] < float(limits[0]) * rest)
    every = sorted(set(whole), key=lambda value: (value is None, value or ""))
    p = {value: values.count(value) / len(values) for value in every}
    q = {value: whole.count(value) / len(whole) for value in every}
    if name.endswith("likeness"):
        gains = [(p[value] - q[value]) / q[value] for value in every if p[value]]
        most = [
            min(float(limits[0]), -math.log(q[value]) if name.startswith("enhanced") else math.inf)
            for value in every
            if p[value]
        ]
        return max(0.0, *gains), any(gain > m + 1e-9 for gain, m in zip(gains, most, strict=True))
    differences = [p[value] - q[value] for value in every]
    if limits[1:] == ["ordered"]:
        steps = max(1, len(every) - 1)
        found = sum(abs(sum(differences[: end + 1])) for end in range(len(every) - 1)) / steps
    elif limits[1:] == ["hierarchical"]:
        groups: dict[str, float] = defaultdict(float)
        for value, difference in zip(every, differences, strict=True):
            groups[TREE[value]] += difference
        found = (sum(map(abs, differences)) + sum(map(abs, groups.values()))) / 4
    else:
        found = sum(map(abs, differences)) / 2
    return found, found > float(limits[0]) + 1e-9


@settings(max_examples=120, deadline=None)
@given(records, st.booleans())
def test_every_model_of_values_is_what_the_papers_say(rows: list[tuple[Any, ...]], unit: bool) -> None:
    asked = [*OF_VALUES, *(["closeness(0.3,hierarchical)"] if all(row[2] for row in rows) else [])]
    found = anonymity(
        frame_of(rows),
        ["zip", "sex"],
        confidential="ill",
        unit="person" if unit else None,
        models=asked,
        ordinal={"ill": ["a", "b", "c", "d"]},
        hierarchies={"ill": ROWS} if len(asked) > len(OF_VALUES) else None,
    )
    classes = classes_of(rows, unit=unit)
    whole = [ill for _, ill in {(row[3], row[2]) for row in rows}] if unit else [row[2] for row in rows]
    for text, outcome in zip(asked, found.models, strict=True):
        judged = {key: plainly(text, values, whole) for key, (_, values) in classes.items()}
        least = text.startswith(("distinct", "entropy"))
        worst = (min if least else max)(value for value, _ in judged.values())
        failing = [key for key, (_, fails) in judged.items() if fails]
        assert outcome.worst == pytest.approx(worst, abs=1e-12), text
        assert outcome.failing_classes == len(failing), text
        # Somebody with records in several failing classes is one person.
        assert outcome.failing_people == len(set().union(*[classes[key][0] for key in failing]))
        assert outcome.holds == (not failing) and outcome.model == text and outcome.column == "ill"
    assert found.meets_models == all(outcome.holds for outcome in found.models)


@settings(max_examples=80, deadline=None)
@given(records, records, st.booleans())
def test_people_are_counted_beside_the_population(
    rows: list[tuple[Any, ...]], others: list[tuple[Any, ...]], unit: bool
) -> None:
    everybody = [*rows, *others]
    asked = ["k-map(3)", "presence(0,0.6)", "presence(0.3,0.8)", "presence(0.4,1)", "largest-risk(0.3)"]
    found = anonymity(
        frame_of(rows),
        ["zip", "sex"],
        unit="person" if unit else None,
        models=[*asked, "average-risk(0.4)"],
        population=frame_of(everybody),
    )
    own = {key: len(people) for key, (people, _) in classes_of(rows, unit=unit).items()}
    all_of = Counter(row[:2] for row in everybody)
    shares = {key: own.get(key, 0) / all_of[key] for key in all_of}
    k_map, upper, both, lower, largest, average = found.models
    assert k_map.worst == min(all_of[key] for key in own)
    assert k_map.failing_classes == sum(all_of[key] < 3 for key in own)
    assert upper.worst == max(shares.values())
    assert upper.failing_classes == sum(share > 0.6 + 1e-9 for share in shares.values())
    out = {key: max(0.3 - share, share - 0.8) for key, share in shares.items()}
    assert max(0.3 - both.worst, both.worst - 0.8) == pytest.approx(max(out.values()))
    assert both.failing_classes == sum(value > 1e-9 for value in out.values()) and both.limit == (0.3, 0.8)
    assert lower.worst == min(shares.values())
    assert largest.worst == 1 / min(own.values()) and largest.failing_classes == sum(
        n < 4 for n in own.values()
    )
    assert average.worst == found.average_risk and average.holds == (found.average_risk <= 0.4 + 1e-9)
    assert average.failing_classes == 0


def test_several_columns_are_measured_each_on_its_own() -> None:
    frame = pl.DataFrame({"q": [1, 1, 2, 2], "a": ["x", "y", "x", "x"], "b": [1, 2, 3, 4]})
    found = anonymity(
        frame, "q", confidential=["a", "b"], models=["distinct(2)", "b: closeness(0.6,ordered)"]
    )
    assert [(one.named, one.holds) for one in found.models] == [
        ("distinct(2) of a", False),
        ("distinct(2) of b", True),
        ("closeness(0.6,ordered) of b", True),
    ]
    assert [(one.column, one.distinct) for one in found.diversities] == [("a", 1), ("b", 2)]
    assert found.diversity is not None and found.diversity.column == "a"


def test_frames_of_all_kinds_are_judged_alike() -> None:
    frame = frame_of([(1, "f", "a", 1), (1, "f", "b", 1), (None, "f", "a", 2), (2, "m", None, 3)])
    asked: dict[str, Any] = {"confidential": "ill", "models": ["distinct(2)", "closeness(0.2)"]}
    expected = anonymity(frame, ["zip", "sex"], **asked).models
    for other in (frame.lazy(), frame.to_arrow(), pd.DataFrame(frame.to_pandas())):
        assert anonymity(other, ["zip", "sex"], **asked).models == expected


def test_a_recoded_release_meets_the_models_it_was_made_for() -> None:
    frame = shoal_people()
    demands = ["distinct(3)", "closeness(0.4)"]
    release = shoal.recode(frame, ["age", "sex"], 3, models=demands, confidential=["ill"], method="lattice")
    found = anonymity(release.frame, ["age", "sex"], confidential="ill", models=demands)
    assert found.meets_models
    assert [one.worst for one in found.models] == pytest.approx([one.worst for one in release.models])
    assert not anonymity(frame, ["age", "sex"], confidential="ill", models=demands).meets_models


def shoal_people() -> pl.DataFrame:
    return pl.DataFrame(
        {
            "age": [20 + (7 * place) % 40 for place in range(60)],
            "sex": ["f" if place % 3 else "m" for place in range(60)],
            "ill": ["abcd"[place * place % 4 if place % 7 else 3] for place in range(60)],
        }
    )


@pytest.mark.parametrize(
    ("asked", "part"),
    [
        ({"models": ["distinct(2)"]}, "no confidential column is named: confidential="),
        (
            {
                "models": ["closeness(0.2,hierarchical)"],
                "confidential": "ill",
                "hierarchies": {"ill": ROWS[:2]},
            },
            "1 value is not in the hierarchy of column 'ill' (as given): record 3",
        ),
        (
            {
                "models": ["closeness(0.2,ordered)"],
                "confidential": "ill",
                "ordinal": {"ill": ["b", "a"]},
            },
            "the order of column 'ill' lacks 1 of its values",
        ),
        ({"models": ["k-map(2)"], "population": pl.LazyFrame({"sex": ["f"]})}, "is not in the population"),
        ({"models": ["k-map(2)"], "population": 7}, "frame in memory, not int"),
        ({"models": ["distinct"], "confidential": "ill"}, "written like distinct"),
        ({"models": ["sex: distinct(2)"], "confidential": "ill"}, "among the confidential"),
        ({"models": ["ill: k-map(2)"], "confidential": "ill"}, "about people"),
        ({"models": ["k-map(2)"]}, "population="),
        ({"population": pl.DataFrame({"zip": [1]})}, "no model looks at the population"),
        (
            {"models": ["k-map(2)"], "population": pl.DataFrame({"zipp": [1]})},
            "not in the population; did you mean",
        ),
        ({"models": ["k-map(2)"], "population": pl.DataFrame({"zip": [1]})}, "more in the data"),
        ({"models": ["distinct(2)"], "confidential": "ill", "null": "wildcard"}, "null='wildcard'"),
        ({"models": ["closeness(0.2,ordered)"], "confidential": "ill"}, "ordinal="),
        ({"models": ["closeness(0.2,hierarchical)"], "confidential": "ill"}, "hierarchies="),
        ({"models": ["distinct(2)"], "confidential": "ill", "ordinal": ["ill"]}, "no closeness"),
        ({"models": ["distinct(2)"], "confidential": "ill", "hierarchies": {"ill": ROWS}}, "no closeness"),
        ({"confidential": ["ill", "ill"]}, "named twice"),
        ({"confidential": ["ill", "zip"]}, "quasi-identifier and the confidential"),
    ],
)
def test_what_makes_no_sense_is_refused_in_a_line(asked: dict[str, Any], part: str) -> None:
    frame = frame_of([(1, "f", "a", 1), (1, "f", "b", 1), (2, "m", "c", 2)]).drop("sex")
    with pytest.raises(shoal.InputError) as refusal:
        anonymity(frame, ["zip"], **asked)
    text = str(refusal.value)
    assert part in text and "\n" not in text


def test_a_model_is_measured_and_becomes_a_gate_where_it_is_required(tmp_path: Any) -> None:
    path = tmp_path / "people.csv"
    shoal_people().write_csv(path)
    asked = ["anonymity", path, "--quasi", "sex", "--confidential", "ill", "--model", "distinct(5)"]
    told = command(*asked, "--json").json
    assert told["models"] == [
        {
            "model": "distinct(5)",
            "column": "ill",
            "worst": told["distinct_l"],
            "limit": 5,
            "failing_classes": 2,
            "failing_people": 60,
            "holds": False,
        }
    ]
    refused = command(*asked, "--require-models")
    assert refused.code == 3 and "distinct(5) of ill does not hold" in refused.err
    assert command(*asked[:-1], "distinct(2)", "--require-models").code == 0
    useless = command("anonymity", path, "--quasi", "sex", "--require-models")
    assert useless.code == 2 and "--model" in useless.err
    page = tmp_path / "report.html"
    assert command(*asked, path, "--report", page, "--model", "recursive(2,9)").code == 0
    assert "classes that fail" in page.read_text() and "too few values" in page.read_text()


def test_a_result_in_python_has_the_report_of_the_command_without_values() -> None:
    hidden = {"a": "zqa", "b": "zqb", "c": "zqc", "d": "zqd"}
    frame = shoal_people().with_columns(pl.col("ill").replace(hidden))
    found = shoal.anonymity(frame, ["sex"], confidential="ill", models=["distinct(5)", "recursive(2,9)"])
    page = found.report().html()
    assert "zq" not in page and "shoal.anonymity(frame=…)" in page
    for words in ("distinct(5) of ill", "too few values", "fails for 60 records", "is a value of its own"):
        assert words in page
    with pytest.raises(shoal.InputError, match="no records"):
        shoal.anonymity(frame.head(0), ["sex"]).report()


def test_hierarchies_orders_and_a_population_come_from_files(tmp_path: Any) -> None:
    path, tree = tmp_path / "people.csv", tmp_path / "ill.csv"
    frame = shoal_people()
    frame.write_csv(path)
    tree.write_text("\n".join(";".join(row) for row in ROWS) + "\n")
    found = command(
        *("anonymity", path, "--quasi", "sex,age", "--confidential", "ill", "--json"),
        *("--model", "closeness(0.1,hierarchical)", "--hierarchy", f"ill={tree}"),
        *("--model", "closeness(0.1,ordered)", "--ordinal", "ill=a<b<c<d"),
        *("--model", "k-map(2)", "--population-file", path),
    ).json
    expected = anonymity(
        frame,
        ["sex", "age"],
        confidential="ill",
        models=["closeness(0.1,hierarchical)", "closeness(0.1,ordered)", "k-map(2)"],
        hierarchies={"ill": ROWS},
        ordinal={"ill": ["a", "b", "c", "d"]},
        population=frame,
    )
    assert [one["worst"] for one in found["models"]] == [one.worst for one in expected.models]
    assert not expected.meets_models
