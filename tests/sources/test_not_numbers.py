"""A column that is not numeric is refused with the record and the shape of what is no number, never the value."""

import datetime as dt

import narwhals as nw
import pandas as pd
import polars as pl
import pytest

import shoal
from shoal.errors import Message
from shoal.sources.not_numbers import first_not_number, shape_of, why_not_numeric


@pytest.mark.parametrize(
    ("text", "shape"),
    [
        ("99,99", "a number with a comma; if that is the decimal mark, try decimal='comma'"),
        ("1.234,5", "a number with thousands separators"),
        ("1,234.5", "a number with thousands separators"),
        ("1 234", "a number with thousands separators"),
        ("1.5.7", "a number with two decimal marks"),
        ("02139", "digits with a leading zero, as codes have"),
        ("+34", "a number with a plus sign"),
        ("12345678901234567890", "more digits than a number keeps, as long codes have"),
        ("12%", "a number with a per cent sign"),
        ("€ 12.50", "a number with a currency sign"),
        ("<5", "a number with a sign for less or more before it"),
        ("18-34", "a range of numbers"),
        ("75 kg", "a number followed by letters"),
        ("Muñoz García", "letters"),
        ("A12", "letters and digits"),
        ("31/12/1961", "a date"),
        ("?", "other signs than digits"),
        ("a@b.org", "letters, digits and other signs"),
    ],
)
def test_shapes_say_nothing_of_the_value(text, shape):
    assert Message(shape_of(text)) == shape
    assert text not in shape


def test_the_first_record_that_is_no_number_is_named():
    assert first_not_number(["1", "-2.5", ".5", "1e3", "NA", "", " 7 ", None, 8, 2.5, "x"]) == (11, "letters")
    assert first_not_number(["1", "NaN", "inf", "2."]) is None


@pytest.mark.parametrize(
    ("values", "why"),
    [
        (pl.Series(["1", "SECRET"]), "record 2 holds letters"),
        (pl.Series(["1", "2"]), "its numbers are kept as text"),
        (pl.Series(["SECRET", "b"], dtype=pl.Enum(["SECRET", "b"])), "record 1 holds letters"),
        (pl.Series([True, False]), "it holds true and false"),
        (pl.Series([dt.timedelta(1)]), "it holds lengths of time"),
        (pl.Series([dt.time(1)]), "it holds times of day"),
        (pl.Series([[1]]), "it holds lists"),
        (pl.Series([{"SECRET": 1}]), "it holds records within records"),
        (pl.Series([b"SECRET"]), "it holds bytes"),
        (pl.Series([None, None]), "it holds no values"),
        (pd.Series(["1", "SECRET"], dtype=object), "record 2 holds letters"),
        (pd.Series(["SECRET", "b"], dtype="category"), "record 1 holds letters"),
    ],
)
def test_every_type_is_told_in_words(values, why):
    assert why_not_numeric(nw.from_native(values, series_only=True)) == why


@pytest.mark.parametrize(
    "use",
    [
        lambda frame: shoal.microaggregate(frame, 2, columns=["pay"]),
        lambda frame: shoal.group_attributes(frame, 2, columns=["pay", "age"]),
        lambda frame: shoal.compare(frame, frame, columns=["pay"], paired_by_position=True),
        lambda frame: shoal.suppress(frame.select("name", "age", "pay"), sensitive=[("ann", "age")]),
    ],
)
def test_every_command_says_it(use):
    names, pays = (
        ["ann", "bob", "eve", *(f"n{number}" for number in range(40))],
        ["7", "8", "99,99", *["4"] * 40],
    )
    frame = pl.DataFrame({"name": names, "age": range(1, 44), "pay": pays})
    with pytest.raises(
        shoal.InputError, match=r"column 'pay' .*is not numeric: record 3 holds a number with a"
    ) as no:
        use(frame)
    assert "99" not in str(no.value)
