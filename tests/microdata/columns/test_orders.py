"""The order of an ordinal column: declared, read from its numbers, or stated; never guessed from the alphabet."""

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from tests.cli.running import shoal as command

import shoal
from shoal import InputError
from shoal.microdata.columns.orders import orders_in_words, parse_orders

LEVELS = ["sin estudios", "primaria", "secundaria", "universidad"]


def protect(frame, ordinal, k=4, **keywords):
    return shoal.microaggregate(frame, k, ordinal=ordinal, method="mdav", **keywords).frame


def middle(frame, ordinal) -> str:
    """What all records of one group become."""
    released = protect(frame, ordinal, k=len(frame))
    values = {str(value) for value in pl.DataFrame(released)["education"]}
    assert len(values) == 1
    return values.pop()


# In the alphabet the middle of these is "sin estudios"; in the order of schools it is "primaria".
PUPILS = ["sin estudios"] * 4 + ["primaria"] + ["secundaria"] * 2 + ["universidad"] * 2


@pytest.mark.parametrize(
    "frame",
    [
        pl.DataFrame({"education": PUPILS}),
        pl.DataFrame({"education": PUPILS}, schema={"education": pl.Categorical}),
        pd.DataFrame({"education": PUPILS}),
        pd.DataFrame({"education": pd.Categorical(PUPILS, categories=LEVELS)}),
        pa.table({"education": pa.array(PUPILS).dictionary_encode()}),
    ],
    ids=["text", "categories", "pandas", "unordered", "dictionary"],
)
def test_texts_without_an_order_are_refused_and_named_by_column_only(frame):
    with pytest.raises(InputError, match="'education' holds texts, and nothing says their order") as refused:
        protect(frame, ["education"])
    assert not any(level in str(refused.value) for level in LEVELS)
    assert middle(frame, {"education": LEVELS}) == "primaria"


@pytest.mark.parametrize(
    "frame",
    [
        pl.DataFrame({"education": PUPILS}, schema={"education": pl.Enum(LEVELS)}),
        pd.DataFrame({"education": pd.Categorical(PUPILS, categories=LEVELS, ordered=True)}),
        pa.table(
            {
                "education": pa.DictionaryArray.from_arrays(
                    pa.array([LEVELS.index(level) for level in PUPILS]), pa.array(LEVELS), ordered=True
                )
            }
        ),
    ],
    ids=["enum", "ordered categories", "ordered dictionary"],
)
def test_a_declared_order_is_taken(frame):
    assert middle(frame, ["education"]) == "primaria"


def test_a_value_outside_the_stated_order_is_counted_and_not_shown():
    frame = pl.DataFrame({"education": [*PUPILS, "doctorado-secreto", "doctorado-secreto"]})
    with pytest.raises(
        InputError, match=r"2 records of column 'education'.* the first is record 10"
    ) as refused:
        protect(frame, {"education": LEVELS})
    assert "doctorado" not in str(refused.value)


@pytest.mark.parametrize(
    ("values", "order", "expected"),
    [
        ([3, 1, 2, 2, 1], [3, 1, 2], 1),
        ([3, 1, 2, 2, 1], ["3", "1", "2"], 1),
        ([True, False, True], ["true", "false"], True),
        ([1.5, 2.5, 2.5], ["2.5", "1.5"], 2.5),
    ],
)
def test_numbers_can_have_another_order_than_their_own(values, order, expected):
    released = protect(pl.DataFrame({"code": values}), {"code": order}, k=len(values))["code"]
    assert set(released) == {expected}
    assert released.dtype == pl.Series(values).dtype


def test_numbers_and_dates_have_an_order_of_their_own():
    frame = pl.DataFrame({"age": [1, 5, 40, 41, 42]})
    assert set(protect(frame, "age", k=5)["age"]) == {40}
    days = frame.select(day=pl.col("age").cast(pl.Date))
    assert protect(days, ["day"], k=5)["day"].n_unique() == 1
    with pytest.raises(InputError, match="an order of their own"):
        protect(days, {"day": ["1970-01-02"]})


def test_texts_that_begin_with_numbers_of_their_own_are_in_their_order_and_that_is_said():
    bands = pl.DataFrame({"age": ["5-9", "85+", "10-14", "0-4", "15-19"]})
    result = shoal.microaggregate(bands, 5, ordinal=["age"], method="mdav")
    assert set(result.frame["age"]) == {"10-14"}
    assert "age: texts in the order of the numbers they begin with" in result.notes


@pytest.mark.parametrize(
    "texts", [["1.000", "500", "2.000"], ["1,000-2,000", "500-999"], ["05", "5"], ["<18", "18"]]
)
def test_numbers_that_can_be_read_in_two_ways_are_no_order(texts):
    with pytest.raises(InputError, match="nothing says their order"):
        protect(pl.DataFrame({"size": texts * 3}), ["size"])


@pytest.mark.parametrize("order", [["a"], ["a", "b", "a"], []])
def test_an_order_names_each_value_once(order):
    with pytest.raises(InputError, match="at least two values, each once"):
        protect(pl.DataFrame({"grade": ["a", "a", "b", "b"]}), {"grade": order})


@pytest.mark.parametrize(
    "column",
    [
        pl.Series("odd", [[1], [2]] * 4),
        pl.Series("odd", [{"a": 1}, {"a": 2}] * 4),
        pl.Series("odd", [[1, 2], [2, 3]] * 4, dtype=pl.Array(pl.Int64, 2)),
        pl.Series("odd", [b"a", b"b"] * 4),
        pl.Series("odd", [None] * 8),
        pl.Series("odd", [None] * 8, dtype=pl.String),
        pl.Series("odd", [float("nan")] * 8),
    ],
    ids=["list", "struct", "array", "bytes", "null", "text", "nan"],
)
@pytest.mark.parametrize("missing", ["refuse", "aside", "impute"])
def test_columns_that_can_have_no_order_are_refused(column, missing, tmp_path):
    frame = pl.DataFrame({"x": range(8), "odd": column})
    with pytest.raises(InputError, match=r"'odd' (holds lists or records|holds bytes|is empty)"):
        protect(frame, ["odd"], missing=missing, columns=["x"])
    frame.write_parquet(tmp_path / "odd.parquet")
    told = command(
        "microaggregate", tmp_path / "odd.parquet", "-k", 4, "--columns", "x", "--ordinal", "odd", "--json"
    )
    assert told.code == 2 and told.json["kind"] == "input" and "'odd'" in told.json["error"]


def test_an_order_is_written_as_it_is_read():
    text = 'age,"a=b"=x<"up to 1,000"<y z'
    orders = parse_orders(text)
    assert orders == {"age": None, "a=b": ["x", "up to 1,000", "y z"]}
    assert parse_orders(orders_in_words(orders)) == {"a=b": orders["a=b"]}
    assert parse_orders(None) == parse_orders(" ") == {}


@pytest.mark.parametrize("text", ["=a<b", "x=", "x=a<", "x=a=b", "x=a<<b", 'x="a<b', "x,x", "a<b"])
def test_an_order_that_cannot_be_read_is_refused(text):
    with pytest.raises(InputError, match="ordinal="):
        parse_orders(text)


def test_the_command_takes_an_order(tmp_path):
    data, out = tmp_path / "pupils.csv", tmp_path / "safe.csv"
    pl.DataFrame({"education": PUPILS}).write_csv(data)
    asked = ["microaggregate", data, "-k", 9, "--method", "mdav", "-o", out, "--json", "--ordinal"]
    refused = command(*asked, "education")
    assert refused.code == 2 and '--ordinal "education=low<middle<high"' in refused.json["error"]
    assert not out.exists()
    assert command(*asked, "education=" + "<".join(LEVELS)).code == 0
    assert set(pl.read_csv(out)["education"]) == {"primaria"}


def test_value_labels_of_spss_say_the_order(tmp_path):
    pyreadstat = pytest.importorskip("pyreadstat")
    data, out = tmp_path / "pupils.sav", tmp_path / "safe.sav"
    # The codes are against the order of schools, the texts against that of the alphabet.
    codes = {"sin estudios": 4.0, "primaria": 3.0, "secundaria": 2.0, "universidad": 1.0}
    letters = {"c": "primaria", "a": "secundaria", "b": "universidad"}
    frame = pl.DataFrame({"education": [codes[level] for level in PUPILS], "degree": list("ccaabbbbc")})
    pyreadstat.write_sav(
        frame,
        str(data),
        variable_value_labels={"education": {code: text for text, code in codes.items()}, "degree": letters},
        variable_measure={"education": "ordinal", "degree": "ordinal"},
    )
    asked = ["microaggregate", data, "-k", 9, "--method", "mdav", "-o", out, "--force", "--json", "--ordinal"]
    told = command(*asked, "education=" + "<".join(LEVELS))
    assert told.code == 0, told
    assert set(pyreadstat.read_sav(str(out))[0]["education"]) == {codes["primaria"]}
    assert command(*asked, "degree").code == 0
    labels = list(pyreadstat.read_sav(str(data))[1].variable_value_labels["degree"])
    ranked = sorted(frame["degree"], key=labels.index)
    assert set(pyreadstat.read_sav(str(out))[0]["degree"]) == {ranked[4]}
