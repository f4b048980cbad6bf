"""``shoal.risk``: against brute force on small files, against the answers of peers, and what it refuses."""

from collections.abc import Iterator
from dataclasses import replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest
from tests.benchmark_data import benchmark_file
from tests.microdata.risk import brute_force

import shoal
from shoal.microdata.risk.report import facts, figures
from shoal.microdata.risk.result import Risk

KEYS7 = ["urbrur", "roof", "walls", "water", "electcon", "relat", "sex"]


def small_files(number: int, seed: int, *, gaps: float) -> Iterator[pl.DataFrame]:
    """Few records with few values, so that there are duplicates; weights with and without parts of people, households."""
    rng = np.random.default_rng(seed)
    made = 0
    while made < number:
        records, keys = int(rng.integers(2, 14)), int(rng.integers(1, 5))
        values = rng.integers(0, int(rng.integers(2, 4)), (records, keys)).astype(object)
        values[rng.random((records, keys)) < gaps] = None
        if made % 7 == 0:
            values[0] = None
        columns = {f"k{place}": values[:, place].tolist() for place in range(keys)}
        frame = pl.DataFrame(columns, schema=dict.fromkeys(columns, pl.Int64))
        if any(frame[name].n_unique() < 2 or frame[name].drop_nulls().is_empty() for name in columns):
            continue
        made += 1
        yield frame.with_columns(
            w=pl.Series(
                np.where(rng.random(records) < 0.3, 0.5, rng.integers(1, 40, records)) + rng.integers(0, 2)
            ),
            h=pl.Series(rng.integers(0, 4, records)),
        )


def keys_of(frame: pl.DataFrame) -> list[str]:
    return [name for name in frame.columns if name.startswith("k")]


def check_against_brute_force(frame: pl.DataFrame, null: str) -> None:
    keys = keys_of(frame)
    found = shoal.risk(frame, keys, sample_weights="w", household="h", null=null, riskiest=3)
    rows = frame.select(keys).rows()
    weights = [Fraction(weight) for weight in frame["w"]]
    f, F = brute_force.counts(rows, weights, null)
    own = found.records_at_risk.frame()
    assert own["sample_count"].to_list() == f
    assert own["population_count"].to_list() == pytest.approx([float(value) for value in F], rel=1e-13)
    risks = [brute_force.exact_risk(count, total, 50) for count, total in zip(f, F, strict=True)]
    assert own["individual_risk"].to_list() == pytest.approx([float(risk) for risk in risks], rel=1e-13)
    assert (found.uniques, found.pairs, found.k) == (f.count(1), f.count(2), min(f))
    check_households(found, own, risks, f, frame["h"].to_list())
    total = sum(float(risk) for risk in risks)
    assert found.unknown.expected_reidentifications == pytest.approx(total, rel=1e-12)
    assert found.known.expected_reidentifications == pytest.approx(sum(1 / count for count in f), rel=1e-12)
    check_estimate(found, own, f)
    order = sorted(range(len(f)), key=lambda i: (-own["risk"][i], f[i], i))[:3]
    assert [one.record - 1 for one in found.riskiest] == order
    assert found.values_of_riskiest() == tuple(rows[i] for i in order)
    assert found.quantiles[0.5] == sorted(own["individual_risk"])[(len(f) - 1) // 2]
    for place, one in enumerate(found.contributions):
        left = [row[:place] + row[place + 1 :] for row in rows]
        f, F = brute_force.counts(left, weights, null)
        expected = sum(float(brute_force.exact_risk(a, b, 50)) for a, b in zip(f, F, strict=True))
        assert (one.k, one.uniques) == (min(f), f.count(1))
        assert one.expected == pytest.approx(expected, rel=1e-12)
        assert one.expected_known == pytest.approx(sum(1 / count for count in f), rel=1e-12)


def check_estimate(found: Risk, own: pl.DataFrame, counts: list[int]) -> None:
    """The risks of the records add up to the expected matches; nothing is above what counts alone say."""
    matches = found.journalist.expected_matches
    assert own["risk"].sum() == pytest.approx(matches.value, rel=1e-9)
    assert matches.low <= matches.value <= matches.high
    assert matches.high <= found.prosecutor.expected_matches.value * (1 + 1e-12)
    for low, risk, high, count in zip(own["risk_low"], own["risk"], own["risk_high"], counts, strict=True):
        assert 0.0 < low <= risk * (1 + 1e-12) and risk <= high * (1 + 1e-12) and high <= (1 + 1e-12) / count
    assert found.journalist.expected_persons.high <= found.prosecutor.expected_persons.value * (1 + 1e-12)
    assert found.prosecutor.expected_matches.value == pytest.approx(sum(1 / count for count in counts))


def check_households(
    found: Risk, own: pl.DataFrame, risks: list[Decimal], counts: list[int], households: list[int]
) -> None:
    for told, single in ((found.unknown, risks), (found.known, [Decimal(1) / count for count in counts])):
        joint = brute_force.household_risk(single, households)
        assert told.expected_households == pytest.approx(float(sum(joint.values())), rel=1e-12)
        persons = float(sum(joint[household] for household in households))
        assert told.expected_persons == pytest.approx(persons, rel=1e-12)
        assert told.largest_household_risk == pytest.approx(float(max(joint.values())), rel=1e-12)
        assert told.worst_risk >= told.largest_risk
    joint = brute_force.household_risk(risks, households)
    assert own["household_risk"].to_list() == pytest.approx(
        [float(joint[household]) for household in households], rel=1e-12
    )


@pytest.mark.parametrize("null", ["own", "wildcard"])
def test_equal_to_brute_force(null: str) -> None:
    for frame in small_files(200, seed=1, gaps=0.25):
        check_against_brute_force(frame, null)


@pytest.mark.long
@pytest.mark.parametrize("null", ["own", "wildcard"])
def test_equal_to_brute_force_on_thousands(null: str) -> None:
    for frame in small_files(5000, seed=2, gaps=0.15):
        check_against_brute_force(frame, null)


@pytest.mark.parametrize("null", ["own", "wildcard"])
def test_against_a_population_everything_is_counted(null: str) -> None:
    rng = np.random.default_rng(4)
    for people in small_files(80, seed=3, gaps=0.2):
        keys = keys_of(people)
        sample = people[sorted(rng.choice(people.height, max(2, people.height // 2), replace=False).tolist())]
        if any(sample[name].n_unique() < 2 or sample[name].drop_nulls().is_empty() for name in keys):
            continue
        found = shoal.risk(sample, keys, population_file=people, household="h", null=null)
        rows, everybody = sample.select(keys).rows(), people.select(keys).rows()
        F = [sum(brute_force.alike(row, other, null) for other in everybody) for row in rows]
        assert found.records_at_risk.frame()["population_count"].to_list() == F
        assert found.unknown.expected_reidentifications == pytest.approx(sum(1 / count for count in F))
        alone = [sum(brute_force.alike(row, other, null) for other in everybody) == 1 for row in everybody]
        assert found.population_uniques == {"counted": sum(alone)}
        assert found.uniques_in_sample == {"counted": F.count(1)}
        assert found.loglinear == {} and found.population == people.height
        for place, one in enumerate(found.contributions):
            left = [row[:place] + row[place + 1 :] for row in rows]
            others = [row[:place] + row[place + 1 :] for row in everybody]
            hidden = [sum(brute_force.alike(row, other, null) for other in others) for row in left]
            assert one.expected == pytest.approx(sum(1 / count for count in hidden))


def test_blanked_records_are_held_against_a_complete_population() -> None:
    # Somebody whose value is blanked is compatible with people that he is not: no reason to miss anybody in the population.
    rng = np.random.default_rng(6)
    refused = 0
    for people in small_files(120, seed=5, gaps=0.0):
        keys = keys_of(people)
        sample = people[sorted(rng.choice(people.height, max(2, people.height // 2), replace=False).tolist())]
        blanked = sample.with_columns(
            pl.when(pl.Series(rng.random(sample.height) < 0.7)).then(pl.col(name)).alias(name)
            for name in keys
        )
        if any(blanked[name].n_unique() < 2 or blanked[name].drop_nulls().is_empty() for name in keys):
            continue
        found = shoal.risk(blanked, keys, population_file=people, null="wildcard").records_at_risk.frame()
        rows, everybody = blanked.select(keys).rows(), people.select(keys).rows()
        F = [sum(brute_force.alike(row, other, "wildcard") for other in everybody) for row in rows]
        f = [sum(brute_force.alike(row, other, "wildcard") for other in rows) for row in rows]
        assert found["population_count"].to_list() == F and found["sample_count"].to_list() == f
        refused += any(more > count for more, count in zip(f, F, strict=True))
    assert refused > 5


def test_a_population_that_lacks_somebody_is_refused_with_blanks_too() -> None:
    sample = pl.DataFrame({"a": ["x", "x", None], "b": [1, 2, 2]})
    people = pl.DataFrame({"a": ["x", "y", "y"], "b": [1, 1, 2]})
    with pytest.raises(shoal.InputError, match="fewer with the same keys than the sample: record 2"):
        shoal.risk(sample, ["a", "b"], population_file=people, null="wildcard")


def test_blanked_records_beside_a_population_are_told_what_to_do() -> None:
    sample = pl.DataFrame({"a": ["x", None, None], "b": [1, 2, 2]})
    people = pl.DataFrame({"a": ["x", "y", "y"], "b": [1, 2, 2]})
    with pytest.raises(shoal.InputError, match=r"2 records .*\(2 lack a key: null='wildcard' lets"):
        shoal.risk(sample, ["a", "b"], population_file=people)
    assert shoal.risk(sample, ["a", "b"], population_file=people, null="wildcard").records == 3
    with pytest.raises(shoal.InputError, match=r"1 class has .*\(2 records lack a key: fill it in"):
        shoal.anonymity(sample, ["a", "b"], models=["k-map(2)"], population=people)


def test_a_wholly_missing_record_counts_for_everybody() -> None:
    frame = pl.DataFrame({"a": [1, 2, None], "b": ["x", "y", None], "w": [10.0, 20.0, 5.0]})
    own = shoal.risk(frame, ["a", "b"], sample_weights="w", null="wildcard").records_at_risk.frame()
    assert own["sample_count"].to_list() == [2, 2, 3]
    assert own["population_count"].to_list() == [15.0, 25.0, 35.0]


def test_answers_of_sdcmicro() -> None:
    survey = pl.read_csv(benchmark_file("casc/testdata.csv"))
    peer = pl.read_csv(benchmark_file("oracles/testdata7_risk.csv"), null_values="NaN")
    found = shoal.risk(survey, KEYS7, sample_weights="sampling_weight", household="ori_hid")
    own = found.records_at_risk.frame()
    assert own["sample_count"].to_list() == peer["fk"].to_list()
    assert own["population_count"].to_list() == peer["Fk"].to_list()
    exact = peer["exact"].is_not_null()
    assert own.filter(exact)["individual_risk"].to_list() == pytest.approx(
        peer.filter(exact)["exact"].to_list(), rel=1e-12
    )
    assert (found.uniques, found.pairs) == (157, 124)
    assert found.unknown.expected_reidentifications == pytest.approx(10.775525136, abs=5e-10)
    assert found.expected_persons == pytest.approx(51.799591464, abs=5e-10)
    assert found.expected_households == pytest.approx(10.509675071, abs=5e-10)
    assert found.population_uniques == pytest.approx({"zayatz": 874.225503, "pitman": 576.661575}, abs=5e-7)
    alone = shoal.risk(survey, KEYS7, population=458_000)
    assert alone.expected_persons == pytest.approx(10.775525136, abs=5e-10)
    assert alone.population_uniques == pytest.approx(dict(found.population_uniques), rel=1e-12)


def test_answers_of_sdcmicro_with_missing_values() -> None:
    survey = pl.read_csv(benchmark_file("oracles/testdata_na_noempty.csv"), null_values="NA")
    peer = pl.read_csv(benchmark_file("oracles/testdata_na_noempty_risk.csv"), null_values="NaN")
    found = shoal.risk(survey, KEYS7, sample_weights="w", null="wildcard")
    own = found.records_at_risk.frame()
    assert own["sample_count"].to_list() == peer["fk"].to_list()
    assert own["population_count"].to_list() == pytest.approx(peer["Fk"].to_list(), rel=1e-12)
    assert (found.uniques, found.pairs // 2, found.pairs) == (12, 13 // 2, 13)
    assert found.expected_persons == pytest.approx(2.098926498, abs=5e-10)


SURVEY = pl.DataFrame(
    {
        "age": [31, 31, 47, 52, 52, 60],
        "sex": ["f", "f", "m", "f", None, "m"],
        "w": [50.0, 50.0, 80.0, 20.0, 20.0, 1.0],
        "h": [1, 1, 2, 2, 3, 3],
        "gone": pl.Series([None] * 6, dtype=pl.Int64),
        "same": [7] * 6,
        "texts": ["1", "2", "3", "4", "5", "6"],
    }
)
QUASI = ["age", "sex"]
ZERO = SURVEY.with_columns(w=pl.Series([1.0, 0.0, 2.0, -1.0, 1.0, 1.0]))
HOLES = SURVEY.with_columns(
    w=pl.Series([1.0, None, 2.0, 1.0, 1.0, 1.0]), h=pl.Series([1, None, 2, 2, None, 3])
)


@pytest.mark.parametrize(
    ("frame", "quasi", "more", "words"),
    [
        (SURVEY, ["agee"], {}, "did you mean 'age'"),
        (SURVEY, ["age", "age"], {}, "named twice"),
        (SURVEY, [], {}, "at least one column"),
        (SURVEY, ["age", "gone"], {}, "'gone' has no values"),
        (SURVEY, ["age", "same"], {}, "'same' has one value in all records"),
        (SURVEY, QUASI, {"sample_weights": "age"}, "quasi-identifier and sample_weights="),
        (SURVEY, QUASI, {"household": "sex"}, "quasi-identifier and household="),
        (SURVEY, QUASI, {"household": "h", "sample_weights": "h"}, "at once"),
        (SURVEY, QUASI, {"sample_weights": "texts"}, "no numbers"),
        (SURVEY, QUASI, {"sample_weights": "weight"}, "not in the data"),
        (ZERO, QUASI, {"sample_weights": "w"}, "0 or negative in 2 records (the first is record 2)"),
        (HOLES, QUASI, {"sample_weights": "w"}, "have gaps: record 2"),
        (HOLES, QUASI, {"household": "h"}, "missing in 2 records (the first is record 2)"),
        (SURVEY, QUASI, {"population": 5}, "fewer than the 6 records"),
        (SURVEY, QUASI, {"population": 0}, "at least 1"),
        (SURVEY, QUASI, {"population": 2.5}, "whole number"),
        (SURVEY, QUASI, {"population_file": SURVEY.head(3)}, "fewer than the 6 of the sample"),
        (SURVEY, QUASI, {"population_file": SURVEY.drop("sex")}, "the population has no column 'sex'"),
        (SURVEY, QUASI, {"population_file": SURVEY, "population": 9}, "leave out population="),
        (SURVEY, QUASI, {"population_file": SURVEY, "sample_weights": "w"}, "leave out sample_weights="),
        (SURVEY, QUASI, {"population_file": pl.concat([SURVEY[2:]] * 2)}, "fewer with the same keys"),
        (SURVEY, QUASI, {"null": "any"}, "null"),
        (SURVEY, QUASI, {"respondents": "some"}, "respondents"),
        (SURVEY, QUASI, {"riskiest": -1}, "at least 0"),
        (SURVEY.head(0), QUASI, {}, "no records"),
        (5, QUASI, {}, "frame"),
    ],
)
def test_bad_input_is_one_line(frame: Any, quasi: list[str], more: dict[str, Any], words: str) -> None:
    with pytest.raises(shoal.InputError) as refused:
        shoal.risk(frame, quasi, **more)
    assert words in str(refused.value) and "\n" not in str(refused.value)


def test_weights_below_one_are_warned_of() -> None:
    frame = SURVEY.with_columns(w=pl.Series([0.25, 0.25, 80.0, 20.0, 20.0, 1.0]))
    found = shoal.risk(frame, QUASI, sample_weights="w")
    assert "2 records have a sample weight below 1" in found.warnings[0]
    assert found.records_at_risk.individual[0] == 0.5
    assert found.largest_risk == 1.0


def test_without_a_population_the_sample_is_all_there_is() -> None:
    found = shoal.risk(SURVEY, QUASI)
    assert found.unknown == found.known
    assert (found.basis, found.population, dict(found.population_uniques), dict(found.loglinear)) == (
        "sample",
        None,
        {},
        {},
    )
    assert any("nothing is known of the population" in note for note in found.notes)
    assert found.estimates == {"individual risk": 5.0, "respondents known": 5.0}
    assert found.journalist.source == "sample"
    assert replace(found.journalist, source="sample") == found.prosecutor


def test_unequal_weights_flag_the_formulas_for_one_fraction() -> None:
    equal = shoal.risk(SURVEY, QUASI, population=600)
    assert equal.equal_weights and not any("one fraction" in note for note in equal.notes)
    unequal = shoal.risk(SURVEY, QUASI, sample_weights="w")
    assert any("one fraction" in note for note in unequal.notes)
    assert any("'w' differ" in note for note in unequal.notes)
    stated = shoal.risk(SURVEY, QUASI, sample_weights="w", population=1000)
    assert any("weights sum to 221" in text for text in stated.warnings) and stated.population == 1000


def test_models_that_say_nothing_are_left_out_with_a_reason() -> None:
    one = shoal.risk(SURVEY, ["age"], population=600)
    assert dict(one.loglinear) == {} and any("at least two keys" in note for note in one.notes)
    two = shoal.risk(SURVEY, QUASI, population=600)
    assert set(two.loglinear) == {"main"} and any("at least three keys" in note for note in two.notes)
    wide = pl.DataFrame({name: np.arange(150) for name in "abc"})
    found = shoal.risk(wide, ["a", "b", "c"], population=600)
    assert set(found.loglinear) == {"main"} and any("3,375,000 cells" in note for note in found.notes)
    assert "pitman" not in found.population_uniques and any("Pitman" in note for note in found.notes)
    whole = shoal.risk(SURVEY, QUASI, population=6)
    assert dict(whole.population_uniques) == {} and any("no larger" in note for note in whole.notes)


def test_what_is_reckoned_with_depends_on_who_knows_who_responded() -> None:
    known = shoal.risk(SURVEY, QUASI, population=60_000)
    unknown = shoal.risk(SURVEY, QUASI, population=60_000, respondents="unknown")
    assert known.worst_risk == 1.0 and known.estimates["respondents known"] == 5.0
    assert unknown.worst_risk == unknown.journalist.largest_risk.high < 0.2
    # Other estimates stand beside it and judge nothing.
    assert unknown.estimates == {
        "latent classes, upper end of the interval": unknown.journalist.expected_matches.high
    }
    assert set(unknown.loglinear) == {"main"} and "pitman" in unknown.population_uniques


def test_frames_of_all_kinds_give_the_same() -> None:
    polars = shoal.risk(SURVEY, QUASI, sample_weights="w", household="h", null="wildcard")
    for frame in (SURVEY.to_pandas(), SURVEY.to_arrow()):
        other = shoal.risk(frame, QUASI, sample_weights="w", household="h", null="wildcard")
        assert (other.unknown, other.known, other.contributions) == (
            polars.unknown,
            polars.known,
            polars.contributions,
        )
    people = pd.concat([SURVEY.to_pandas()] * 2)
    assert shoal.risk(SURVEY.to_pandas(), QUASI, population_file=people).unknown.largest_risk == 0.5


def test_the_report_shows_no_values() -> None:
    named = SURVEY.with_columns(sex=pl.Series(["zqF", "zqF", "zqM", "zqF", None, "zqM"]))
    found = shoal.risk(named, QUASI, sample_weights="w", household="h")
    page = found.report().html()
    assert "zq" not in page and "zq" not in repr(found)
    for words in ("Zayatz", "usually too low", "not a bound", "What each key adds", "riskiest"):
        assert words in page


@pytest.mark.parametrize("scale", [1.0, 0.02])
def test_scaled_weights_are_warned_of(scale: float) -> None:
    frame = pl.DataFrame({"a": [1, 1, 2, 3], "b": list("xyxy"), "w": np.array([0.5, 1.5, 1.2, 0.8]) * scale})
    found = shoal.risk(frame, ["a", "b"], sample_weights="w")
    assert any("no more than there are records, as scaled weights do" in text for text in found.warnings)
    census = shoal.risk(frame.with_columns(w=1.0), ["a", "b"], sample_weights="w")
    assert census.warnings == ()
    assert not any(
        "scaled" in text for text in shoal.risk(frame.with_columns(w=9.5), "a", sample_weights="w").warnings
    )


def test_figures_stand_beside_the_intruder_they_are_of():
    for who in ("known", "unknown"):
        found = shoal.risk(SURVEY, QUASI, population=60_000, respondents=who)
        shown, told = found.glance(), figures(found, None)
        assert "respondents" not in shown and "respondents" not in repr(found)
        for name, own in (("prosecutor", found.prosecutor), ("journalist", found.journalist)):
            assert shown[f"{name}_largest_risk"] == own.largest_risk.value
            assert shown[f"{name}_expected_matches"] == own.expected_matches.value
            assert f"{name}_largest_risk={own.largest_risk.value:.6g}" in repr(found)
            assert f"{name} largest risk" in found._repr_html_()
            assert told[name]["expected_matches"] == own.expected_matches.value
            assert told[name]["largest_risk_interval"] == [own.largest_risk.low, own.largest_risk.high]
        assert shown["journalist_expected_matches_interval"][1] > shown["journalist_expected_matches"]
        assert told["respondents"] == who
        # The fields that were there first are by the individual risk, the journalist's.
        assert told[f"respondents_{who}"]["largest_risk"] == getattr(found, who).largest_risk
        assert told["figures_of"] == "unknown" and told["largest_risk"] == found.unknown.largest_risk
    line = dict(facts(found, None))["expected correct matches, journalist"]
    assert "(90 % interval " in line
    exact = shoal.risk(SURVEY, QUASI, population_file=SURVEY)
    assert "interval" not in dict(facts(exact, None))["expected correct matches, journalist"]
    assert exact.journalist.source == "population file" and exact.journalist.population_uniques.value == 4


NUMBERED = pl.concat([SURVEY] * 10).with_columns(
    hid=pl.int_range(60) // 2 + 100,
    pid=pl.int_range(60) + 100_000,
    huge=pl.int_range(60).cast(pl.Float64) * 1e9 + 1.5,
    sampling_weight=pl.int_range(60) % 7 + 20.5,
    household_weights=pl.int_range(60) % 5 + 40.5,
)


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("huge", "add up to a population of more than 10,000,000,000"),
        ("pid", "'pid' cannot be sample weights: its values are whole numbers in close order"),
    ],
)
def test_a_column_that_holds_no_weights_is_refused_before_work(name: str, words: str) -> None:
    with pytest.raises(shoal.InputError) as refused:
        shoal.risk(NUMBERED, QUASI, sample_weights=name)
    assert words in str(refused.value)


def test_of_several_weights_none_is_taken_and_all_are_named() -> None:
    found = shoal.risk(NUMBERED.drop("w"), QUASI)
    (remark,) = (item for item in found.remarks if item.kind == "several-weights")
    assert remark.severity == "warning" and remark.columns == ("sampling_weight", "household_weights")
    assert "'sampling_weight' and 'household_weights' look like sample weights" in remark.text
    assert found.basis == "sample"
    for chosen in ({"sample_weights": "sampling_weight"}, {"population": 900}):
        named = shoal.risk(NUMBERED, QUASI, **chosen)
        assert not any(item.kind == "several-weights" for item in named.remarks)
    one = shoal.risk(NUMBERED.drop("w", "sampling_weight"), QUASI)
    assert not any(item.kind == "several-weights" for item in one.remarks)


def test_few_records_are_warned_of() -> None:
    frame = pl.concat([SURVEY] * 60)
    few, enough = (shoal.risk(frame.head(size), QUASI, population=60_000).remarks for size in (299, 300))
    assert any(item.kind == "few-records" and item.severity == "warning" for item in few)
    assert not any(item.kind == "few-records" for item in enough)


def test_a_very_large_population_leaves_nothing_too_small_for_a_number():
    draw = np.random.default_rng(4)
    frame = pl.DataFrame({"age": draw.integers(18, 90, 1500), "area": draw.integers(0, 6, 1500)})
    for population in (1_000_000, 2_000_000, 10**12):
        found = shoal.risk(frame, quasi=["age", "area"], population=population).journalist
        assert found.population_uniques is not None
        assert found.population_uniques.low <= found.population_uniques.value <= found.population_uniques.high
