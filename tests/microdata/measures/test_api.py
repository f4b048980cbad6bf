import json
import re
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
import polars as pl
import pytest

import shoal
from shoal.cli.main import main
from shoal.errors import InputError
from shoal.microdata.measures.api import compare as compare_tables
from shoal.microdata.measures.classic import Definitions, measure
from shoal.microdata.measures.report import facts
from shoal.microdata.measures.utility.all_utility import Utility
from shoal.microdata.measures.utility.classification import Classification, Prediction

compare = partial(compare_tables, paired_by_position=True)


@pytest.fixture
def tables():
    generator = np.random.default_rng(1)
    before = pl.DataFrame(generator.lognormal(size=(60, 3)).round(3), schema=["income", "rent", "age"])
    after = before.with_columns(pl.all().rank("ordinal").floordiv(5).cast(pl.Float64))
    return before.with_columns(name=pl.lit("x")), after.with_columns(name=pl.lit("x"))


def test_figures_are_those_of_the_arrays(tables):
    before, after = tables
    found = compare(before, after)
    direct = measure(before.drop("name").to_numpy(), after.drop("name").to_numpy())
    figures = found.to_dict()
    assert figures["il"] == pytest.approx(direct.loss.il)
    for name in ("il1", "il1s", "il2", "il3", "il4", "il5"):
        assert figures[name] == pytest.approx(getattr(direct.loss, name).value)
    for name in ("id", "id_sd", "dld", "pld", "dr", "score"):
        assert figures[name] == pytest.approx(getattr(direct, name))
    assert figures["fitness"] == pytest.approx(direct.fitness.value)
    assert figures["il"] == pytest.approx(20 * sum(figures[f"il{i}"] for i in range(1, 6)))
    assert figures["dr"] == pytest.approx(0.5 * figures["id"] + 0.25 * (figures["dld"] + figures["pld"]))
    assert figures["score"] == pytest.approx((figures["il"] + figures["dr"]) / 2)
    by_attack = {attack["name"]: attack["percent"] for attack in figures["attacks"]}
    assert by_attack["pld"] == figures["pld"]
    # A mean over the columns can hide the one that is given away.
    for name in ("id", "id_sd"):
        by_column = [column[name] for column in figures["attributes"]]
        assert by_attack[name] == figures[f"{name}_worst"] == max(by_column)
        assert sum(by_column) / len(by_column) == pytest.approx(figures[name])
    assert figures["worst_risk"]["percent"] == max(by_attack.values()) == figures["attacks"][0]["percent"]
    assert {"dld", "rank-windows", "mahalanobis", "attribute-inference", "membership"} <= set(by_attack)
    assert json.loads(json.dumps(figures, allow_nan=False)) == figures


def test_one_column_that_is_given_away_is_the_worst_risk():
    rng = np.random.default_rng(3)
    before = pl.DataFrame({name: rng.normal(50, 10, 40) for name in "abcd"})
    after = before.with_columns(pl.Series(name, rng.permutation(before[name].to_numpy())) for name in "abc")
    found = compare(before, after, attacks=["none"], utility=["none"])
    assert found.worst_risk["percent"] == found.id_worst == 100.0 > 2 * found.id
    assert found.worst_in_words().startswith("100.00 % (interval disclosure, column 'd')")


def test_a_column_of_one_value_gives_nothing_away():
    rng = np.random.default_rng(4)
    before = pl.DataFrame({"a": rng.normal(50, 10, 40), "c": [3.0] * 40})
    after = before.with_columns(pl.Series("a", rng.permutation(before["a"].to_numpy())))
    found = compare(before, after, columns=["a", "c"], attacks=["none"], utility=["none"])
    assert [one.constant for one in found.attributes] == [False, True]
    assert found.attributes[1].id == 100.0
    assert found.id_worst == found.attributes[0].id < 100.0
    assert found.id_sd_worst == found.attributes[0].id_sd < 100.0
    assert all(dict(one.details).get("worst_column", "a") == "a" for one in found.nearness)


@pytest.mark.parametrize("convert", [pl.DataFrame.to_pandas, pl.DataFrame.to_arrow])
def test_any_frame_gives_the_same(tables, convert):
    before, after = tables
    assert compare(convert(before), convert(after)).to_dict() == compare(before, after).to_dict()


def test_records_are_matched_by_a_key(tables):
    before, after = (table.with_row_index("person") for table in tables)
    moved = after.sample(fraction=1.0, shuffle=True, seed=3)
    expected = compare(before, after, columns=["income", "rent", "age"])
    by_key = partial(compare_tables, before, key="person")
    assert by_key(moved, columns=["income", "rent", "age"]).score == expected.score
    fewer = by_key(moved.head(40), columns=["income"])
    assert fewer.records == 40 and any("20 records are not in the protected" in note for note in fewer.notes)


def test_missing_values_are_left_out_and_counted(tables):
    before, after = tables
    holes = after.with_columns(pl.when(pl.int_range(pl.len()) < 7).then(None).otherwise("rent").alias("rent"))
    found = compare(before, holes)
    assert (found.records, found.left_out) == (53, 7)
    assert found.score == compare(before[7:], after[7:]).score


def test_an_intruder_may_know_less(tables):
    found = compare(*tables, known=[["income"], ["income", "rent", "age"]])
    alone = [compare(*tables, known=[names]).dld for names in (["income"], ["income", "rent", "age"])]
    assert found.dld == pytest.approx(sum(alone) / 2) and found.dld_worst == pytest.approx(max(alone))


def test_strict_ties_find_fewer_links(tables):
    before, _ = tables
    flat = before.with_columns(pl.lit(1.0).alias(name) for name in ("income", "rent", "age"))
    assert compare(before, flat).dld == pytest.approx(100 / 60)
    assert compare(before, flat, definitions=Definitions(ties="strict")).dld == 0


def test_constant_columns_and_a_single_record_make_no_nan():
    one = pd.DataFrame({"a": [3.0], "b": [0.0]})
    flat = pd.DataFrame({"a": [3.0] * 9, "b": [0.0] * 9})
    for table in (one, flat):
        figures = compare(table, table, columns=["a", "b"]).to_dict()
        assert json.dumps(figures, allow_nan=False)


@pytest.mark.parametrize(
    "change, message",
    [
        (lambda b, a: compare(b, a.head(50)), "60 records and the protected data 50"),
        (
            lambda b, a: compare(b, a, columns=["incom"]),
            "'incom' is not in the original data; did you mean 'income'",
        ),
        (
            lambda b, a: compare(b.with_columns(name=pl.lit([1])), a, columns=["name"]),
            "'name' of the original data holds lists",
        ),
        (
            lambda b, a: compare(b, a, columns=["rent"], categories=["age"]),
            "'age' of categories= is not among",
        ),
        (lambda b, a: compare(b, a, attacks=["membershp"]), "did you mean 'membership'"),
        (lambda b, a: compare(b, a, utility=["none", "pmse"]), "'none' stands alone"),
        (lambda b, a: compare(b, a, ways=9), "columns tabulated together"),
        (lambda b, a: compare(b, a, columns=["rent"], ways=3), "too few for tables of 3"),
        (
            lambda b, a: compare(b.select("rent"), a.select("rent"), attacks=["mixed-linkage"]),
            "needs a column of categories",
        ),
        (
            lambda b, a: compare(b.select("name"), a, columns=["name"], attacks=["mahalanobis"]),
            "needs a column of numbers",
        ),
        (lambda b, a: compare(b, a, columns=["rent"], utility=["eigenvalues"]), "2 columns of numbers"),
        (lambda b, a: compare(b.select("rent"), a, attacks=["attribute-inference"]), "needs 2 columns"),
        (lambda b, a: compare(b, a, known=[["rents"]]), "did you mean 'rent'"),
        (lambda b, a: compare(b, a, quasi=["zip"]), "'zip' is not in the protected data"),
        (
            lambda b, a: compare_tables(b, a, columns=["rent"], key="name"),
            "must be different for all records",
        ),
        (lambda b, a: compare(b.select("name"), a), "no numeric column in common"),
        (
            lambda b, a: compare(b, a.with_columns(rent=pl.lit(None, pl.Float64))),
            "no record with a value in every column",
        ),
    ],
)
def test_bad_input_is_one_line(tables, change, message):
    with pytest.raises(InputError, match=message) as caught:
        change(*tables)
    assert "\n" not in str(caught.value)


POSITION = "--paired-by-position"


def run(arguments, capsys):
    with pytest.raises(SystemExit) as ended:
        main([str(argument) for argument in arguments])
    return ended.value.code, capsys.readouterr()


@pytest.fixture
def files(tables, tmp_path):
    before, after = tables
    before.write_csv(tmp_path / "before.csv")
    after.write_csv(tmp_path / "after.csv")
    return tmp_path


def test_the_command_prints_one_object(files, tables, capsys):
    code, printed = run(["compare", files / "before.csv", files / "after.csv", POSITION, "--json"], capsys)
    figures = json.loads(printed.out)
    assert code == 0
    fields = "il1 il1s il2 il3 il4 il5 il id id_sd dld pld dr score fitness sse_percent k"
    assert set(fields.split(" ")) <= set(figures)
    assert figures["score"] == pytest.approx(compare(*tables).score)


def test_the_gate_is_the_worst_risk(files, capsys):
    arguments = ["compare", files / "before.csv", files / "before.csv", POSITION, "--max-risk", "50"]
    code, printed = run(arguments, capsys)
    assert code == 3 and "worst risk is 100.00 %" in printed.err


def test_several_releases_make_a_map(files, capsys):
    report = files / "map.html"
    code, printed = run(
        [
            "compare",
            files / "before.csv",
            files / "after.csv",
            files / "before.csv",
            POSITION,
            "--report",
            report,
        ],
        capsys,
    )
    page = report.read_text()
    assert code == 0 and "worst risk" in printed.out
    assert page.count("<svg") == 8 and "MDAV k=5" in page and "unprotected" in page
    assert "://" not in re.sub(r"http://www\.w3\.org/\S+", "", page)


def test_a_bad_width_is_one_line(files, capsys):
    arguments = ["compare", files / "before.csv", files / "after.csv", POSITION, "--widths", "wide"]
    code, printed = run(arguments, capsys)
    assert code == 2 and printed.err.startswith("shoal: --widths needs percentages")


def test_k_is_counted_over_all_that_could_be_known():
    draw = np.random.default_rng(2)
    before = pl.DataFrame(
        {
            "id": np.arange(80),
            "income": draw.lognormal(8, 0.4, 80),
            "age": draw.integers(18, 90, 80),
            "town": draw.choice(["a", "b", "c"], 80),
            "diagnosis": draw.choice(["x", "y"], 80),
        }
    )
    safe = shoal.microaggregate(before, 5, columns=["income"], method="mdav", drop=["id"])
    found = compare_tables(before, safe.frame, columns=["income"], record_links=safe.record_links)
    assert found.quasi == safe.quasi == ("income", "age", "town") and found.quasi_guessed
    assert found.k == safe.k_release == safe.frame.group_by(found.quasi).len()["len"].min()
    assert found.k_compared == safe.k_protected >= 5 > found.k
    named = compare_tables(
        before, safe.frame, columns=["income"], quasi=["income"], record_links=safe.record_links
    )
    assert named.k == named.k_compared == found.k_compared and not named.quasi_guessed
    corrected = compare_tables(
        before,
        safe.frame,
        columns=["income"],
        roles={"age": "other", "town": "confidential"},
        record_links=safe.record_links,
    )
    assert corrected.quasi == ("income",)
    assert {"k_compared": found.k_compared, "quasi_guessed": True}.items() <= found.to_dict().items()


@pytest.fixture
def survey():
    draw = np.random.default_rng(3)
    return pl.DataFrame(
        {
            "income": draw.lognormal(8, 0.5, 300).round(0),
            "age": draw.integers(18, 90, 300),
            "job": draw.choice(["clerk", "nurse", "smith", "cook"], 300),
        }
    )


def test_a_table_without_records_is_named(survey, tmp_path, capsys):
    with pytest.raises(InputError, match=r"^there are no records in 'release'$"):
        compare(survey, survey.clear())
    with pytest.raises(InputError, match="no records in the original data"):
        compare(survey.clear(), survey)
    survey.write_csv(tmp_path / "all.csv")
    survey.clear().write_csv(tmp_path / "hdr.csv")
    code, printed = run(["compare", tmp_path / "all.csv", tmp_path / "hdr.csv", POSITION], capsys)
    assert code == 2
    assert printed.err.strip() == f"shoal: there are no records in '{tmp_path / 'hdr.csv'}'"


def test_the_worst_risk_by_its_name(survey):
    found = compare(survey, survey.with_columns(pl.col("income") * 1.1), columns=["income"])
    assert (
        found.worst_risk
        == found.to_dict()["worst_risk"]
        == dict(zip(("measure", "percent"), found.worst, strict=True))
    )


def test_a_risk_of_columns_that_nobody_changed_is_called_so(survey):
    swapped = survey.with_columns(pl.col("job").shuffle(seed=1))
    found = compare(survey, swapped, columns=["income", "age", "job"])
    assert found.worst[1] > 99
    (note,) = [text for text in found.notes if "released as they are" in text]
    assert note.endswith(
        f"{found.worst[1]:.2f} %, comes from columns that were released as they are: 'income' and 'age'"
    )
    # Where all were changed nothing of the kind is said, and where nothing was, all are named.
    noisy = survey.with_columns(pl.col("income", "age") * 1.001 + 0.1, pl.col("job").shuffle(seed=1))
    assert not any(
        "released as they are" in text for text in compare(survey, noisy, columns=survey.columns).notes
    )
    same = compare(survey.select("income", "job"), survey, columns=["income", "job"])
    assert any(text.endswith("released as they are: 'income' and 'job'") for text in same.notes)


def test_randomised_categories_hide_nobody_whose_numbers_are_known(survey):
    before = survey.select("income", "job")
    noise = np.random.default_rng(4).normal(size=300)
    after = before.with_columns(income=before["income"] + 8 * noise, job=before["job"].shuffle(seed=1))
    found = compare(before, after, columns=["income", "job"])
    mixed = next(attack for attack in found.tried if attack.name == "mixed-linkage")
    alone = compare(before.select("income"), after.select("income"))
    assert mixed.percent == found.dld == alone.dld > 0
    assert dict(mixed.details)["by_numbers_alone"] is True
    # Categories that are true help, and then nothing is left out.
    true = compare(before, after.with_columns(before["job"]), columns=["income", "job"])
    better = next(attack for attack in true.tried if attack.name == "mixed-linkage")
    assert better.percent > mixed.percent
    assert dict(better.details)["by_numbers_alone"] is False


def test_a_gain_is_no_negative_loss(survey):
    useful = Utility(
        classification=Classification(300, (Prediction("job", 0.5, 0.6), Prediction("age", 0.7, 0.75)))
    )
    for classification, told in (
        (useful, "0.0750 gained on average"),
        (_turned(useful), "0.0750 lost on average"),
    ):
        found = replace(compare(survey, survey, columns=["income"]), utility=classification)
        assert dict(facts([found], None))["classification"].endswith(told)
        assert "-0.0" not in dict(facts([found], None))["classification"]


def _turned(useful):
    turned = [Prediction(one.column, one.release, one.original) for one in useful.classification.predictions]
    return Utility(classification=Classification(300, tuple(turned)))
