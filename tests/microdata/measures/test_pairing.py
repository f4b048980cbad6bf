"""Records are paired as the user says, and a pairing that cannot be right is never measured."""

import numpy as np
import pandas as pd
import polars as pl
import pytest
from tests.cli.running import shoal as command

import shoal
from shoal import InputError
from shoal.microdata.columns.record_links import RecordLinks

COLUMNS = ["income", "rent"]


@pytest.fixture
def survey() -> pl.DataFrame:
    draw = np.random.default_rng(11)
    return pl.DataFrame(
        {
            "person": [f"p{number}" for number in draw.permutation(200)],
            "income": draw.lognormal(8, 0.5, 200).round(2),
            "rent": draw.normal(900, 200, 200).round(1),
            "town": draw.choice(["a", "b", "c"], 200),
        }
    )


def protect(frame, **keywords):
    return shoal.microaggregate(frame, 3, columns=COLUMNS, method="mdav", **keywords)


def figures(original, released, **pairing):
    found = shoal.compare(original, released, columns=COLUMNS, **pairing).to_dict()
    return {name: found[name] for name in ("il", "id", "id_sd", "dld", "pld", "k")}


def test_a_sorted_release_has_the_risk_of_the_same_release_in_kept_order(survey):
    kept, ordered = protect(survey), protect(survey, order="sorted")
    expected = figures(survey, kept.frame, paired_by_position=True)
    assert expected["dld"] > 20
    assert figures(survey, ordered.frame, record_links=ordered.record_links) == pytest.approx(expected)
    assert figures(survey, ordered.frame, key="person") == pytest.approx(expected)
    bare = survey.drop("person", "town")
    for frame, released in ((survey, ordered.frame), (bare, protect(bare, order="sorted").frame)):
        with pytest.raises(InputError, match="not in the same order; use key= or record_links="):
            figures(frame, released, paired_by_position=True)


def test_the_command_never_measures_a_sorted_release_by_position(survey, tmp_path):
    data, links = tmp_path / "survey.csv", tmp_path / "links.csv"
    survey.drop("person").write_csv(data)
    asked = ["microaggregate", data, "-k", 3, "--columns", "income,rent", "--method", "mdav"]
    for order in ("keep", "sorted"):
        told = command(
            *asked, "--order", order, "-o", tmp_path / f"{order}.csv", "--record-links", links, "--force"
        )
        assert told.code == 0, told
    compare = [
        "compare",
        data,
        tmp_path / "sorted.csv",
        "--columns",
        "income,rent",
        "--max-risk",
        15,
        "--json",
    ]
    unsaid = command(*compare)
    assert unsaid.code == 2
    assert all(way in unsaid.json["error"] for way in ("--key", "--record-links", "--paired-by-position"))
    assert command(*compare, "--paired-by-position").code == 2
    linked = command(*compare, "--record-links", links)
    compare[2] = tmp_path / "keep.csv"
    kept = command(*compare, "--paired-by-position")
    assert linked.code == kept.code == 3, "the worst risk is far above 15 %"
    assert linked.json["dld"] == pytest.approx(kept.json["dld"]) and linked.json["dld"] > 20
    assert (linked.json["pairing"], kept.json["pairing"]) == ("record-links", "position")


def test_several_releases_have_links_of_their_own(survey, tmp_path):
    survey.write_csv(tmp_path / "survey.csv")
    files = []
    for order in ("keep", "sorted"):
        result = protect(survey, order=order)
        result.frame.write_csv(tmp_path / f"{order}.csv")
        result.record_links.write(tmp_path / f"{order}-links.csv")
        files += ["--record-links", tmp_path / f"{order}-links.csv"]
    asked = ["compare", tmp_path / "survey.csv", tmp_path / "keep.csv", tmp_path / "sorted.csv"]
    asked += ["--columns", "income,rent", "--json"]
    first, second = command(*asked, *files).json["releases"]
    assert first["dld"] == pytest.approx(second["dld"])
    one = command(*asked, *files[:2])
    assert one.code == 2 and "2 releases and 1 files of record links" in one.json["error"]


def test_records_set_aside_are_left_out(survey):
    gaps = survey.with_columns(rent=pl.when(pl.int_range(pl.len()) % 20 == 0).then(None).otherwise("rent"))
    result = protect(gaps, missing="aside", order="sorted")
    found = shoal.compare(gaps, result.frame, columns=COLUMNS, record_links=result.record_links)
    assert (found.records, found.left_out) == (190, 0)
    assert any("10 records are not in the protected data" in note for note in found.notes)
    same = protect(gaps, missing="aside")
    there = gaps.drop_nulls("rent")
    assert found.dld == pytest.approx(figures(there, same.frame, paired_by_position=True)["dld"])


def test_links_of_other_tables_are_refused(survey):
    links = protect(survey).record_links
    with pytest.raises(InputError, match="links are of 200 original records, but the original data has 150"):
        figures(survey.head(150), survey.head(150), record_links=links)
    with pytest.raises(
        InputError, match="links are of 200 protected records, but the protected data has 150"
    ):
        figures(survey, survey.head(150), record_links=links)


@pytest.mark.parametrize("ways", [{}, {"key": "person", "paired_by_position": True}])
def test_one_way_is_said(survey, ways):
    with pytest.raises(InputError, match=r"key=.*record_links=.*paired_by_position="):
        figures(survey, survey, **ways)


def test_values_that_protection_left_alone_testify_for_or_against_positions(survey):
    released = protect(survey).frame
    found = shoal.compare(survey, released, columns=COLUMNS, paired_by_position=True)
    assert any("person, town agree in all of them" in note for note in found.notes)
    bare = shoal.compare(survey, released.select(COLUMNS), columns=COLUMNS, paired_by_position=True)
    assert any("nothing in the two tables confirms" in warning for warning in bare.warnings)
    shuffled = released.sample(fraction=1.0, shuffle=True, seed=1)
    for wrong in (shuffled, shuffled.drop("person"), shuffled.drop("town")):
        with pytest.raises(
            InputError, match=r"'(person|town)' has the same values in both tables, but at other"
        ):
            figures(survey, wrong, paired_by_position=True)
    # Blanked values do not hide it, and nothing that was recoded speaks against a right pairing.
    blanked = pl.when(pl.int_range(pl.len()) % 9 == 0).then(None).otherwise("town").alias("town")
    with pytest.raises(InputError, match="'town' has the same values"):
        figures(survey, shuffled.drop("person").with_columns(blanked), paired_by_position=True)
    recoded = released.with_columns(blanked).with_columns(
        person=pl.col("person").str.slice(0, 2), town=pl.col("town").replace("c", "b")
    )
    assert figures(survey, recoded, paired_by_position=True)["dld"] > 20


@pytest.mark.parametrize("number", [50, 199])
def test_two_records_that_changed_places_are_enough(survey, number):
    places = list(range(200))
    places[0], places[number] = places[number], places[0]
    with pytest.raises(InputError, match="'person' has the same values"):
        figures(survey, protect(survey).frame[places], paired_by_position=True)


def test_a_release_that_follows_a_sorted_original_is_in_the_same_order(survey):
    # Nearly sorted before, sorted after: that is what averaging does.
    nearly = survey.sort("income")[[1, 0, *range(2, 200)]]
    assert figures(nearly, protect(nearly).frame, paired_by_position=True)["dld"] > 20


def test_a_key_may_be_the_index_of_a_pandas_frame(survey):
    original = survey.to_pandas().set_index("person")
    released = protect(original).frame.sample(frac=1.0, random_state=2)
    expected = figures(survey, protect(survey).frame, paired_by_position=True)
    assert figures(original, released, key="person") == pytest.approx(expected)
    with pytest.raises(InputError, match="say how the records"):
        figures(original, released)
    with pytest.raises(InputError, match="column 'person' is not in the protected data"):
        figures(original, released.reset_index(drop=True), key="person")


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda table: table.with_columns(person=pl.lit("p1")), "must be different for all records"),
        (lambda table: table.with_columns(person=pl.col("person") + "x"), "no record of the two tables"),
        (
            lambda table: table.with_columns(person=pl.when(pl.int_range(pl.len()) > 9).then("person")),
            "every record of the protected data needs a value in 'person'",
        ),
        (
            lambda table: table.with_columns(person=pl.col("person").replace("p7", "p700")),
            "1 records of the protected data have a 'person' that no original record has",
        ),
    ],
)
def test_a_key_that_does_not_tell_records_is_refused(survey, spoil, message):
    with pytest.raises(InputError, match=message):
        figures(survey, spoil(protect(survey).frame), key="person")
    pandas = spoil(protect(survey).frame).to_pandas()
    assert isinstance(pandas, pd.DataFrame)
    with pytest.raises(InputError, match=message):
        figures(survey.to_pandas(), pandas, key="person")


def test_links_of_another_release_of_the_same_size_are_refused(survey):
    ordered = protect(survey, order="sorted")
    others = shoal.microaggregate(survey, 3, columns=["rent"], method="mdav", order="sorted").record_links
    # A file of links that does not tell its release: the columns left alone still do.
    others = RecordLinks(others.released)
    with pytest.raises(InputError, match="they are of another release"):
        figures(survey, ordered.frame, record_links=others)


def test_a_key_that_was_given_out_anew_is_refused(survey):
    numbered = survey.drop("person").with_row_index("number")
    anew = protect(numbered, order="sorted").frame.drop("number").with_row_index("number")
    with pytest.raises(InputError, match="'number' joins others"):
        figures(numbered, anew, key="number")


def test_a_key_stands_against_one_column_that_was_swapped(survey):
    released = protect(survey).frame
    expected = figures(survey, released, key="person")
    coded = survey.with_columns(code=pl.col("income").rank().cast(pl.String))
    swapped = released.with_columns(town=pl.col("town").reverse(), code=coded["code"])
    assert figures(coded, swapped, key="person", quasi=COLUMNS) == pytest.approx(
        figures(survey, released, key="person", quasi=COLUMNS)
    )
    assert expected["dld"] > 20


def test_a_release_sorted_by_its_dates_is_not_paired_by_position(survey):
    days = np.random.default_rng(3).integers(0, 900, survey.height)
    dated = survey.select(pl.Series("day", days).cast(pl.Int32).cast(pl.Date), "income", "rent")
    released = shoal.microaggregate(dated, 3, columns=["day", *COLUMNS], method="mdav", order="sorted").frame
    with pytest.raises(InputError, match="sorted by 'day'"):
        figures(dated, released, paired_by_position=True)


def test_columns_that_follow_nothing_are_not_paired_by_position(survey):
    bare = survey.select(COLUMNS)
    released = protect(bare).frame
    assert figures(bare, released, paired_by_position=True)["dld"] > 20
    with pytest.raises(InputError, match="no column compared follows the original"):
        figures(bare, released.sample(fraction=1, shuffle=True, seed=1), paired_by_position=True)


def test_a_pairing_that_nothing_confirms_is_a_warning_that_quiet_does_not_silence(survey, tmp_path):
    original, released = tmp_path / "original.csv", tmp_path / "released.csv"
    survey.select(COLUMNS).write_csv(original)
    protect(survey).frame.select(COLUMNS).write_csv(released)
    said = command("compare", original, released, "--paired-by-position", "--quiet")
    assert said.code == 0
    assert said.err == "warning: records are paired by position, which nothing in the two tables confirms\n"
