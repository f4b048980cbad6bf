"""Dates as people write them are dates, and are written back as they came."""

import datetime as dt

import polars as pl
import pytest

from shoal import sources


@pytest.fixture
def read(tmp_path):
    def reading(values, **options):
        path = tmp_path / "people.csv"
        path.write_text("row;day\n" + "".join(f"{row};{value}\n" for row, value in enumerate(values)))
        return sources.read(path, **options)

    return reading


@pytest.mark.parametrize(
    ("values", "first", "said"),
    [
        (["01/02/1961", "31/12/2024", ""], dt.date(1961, 2, 1), "dd/mm/yyyy"),
        (["01/02/1961", "12/31/2024"], dt.date(1961, 1, 2), "mm/dd/yyyy"),
        (["1/2/1961", "31/12/2024"], dt.date(1961, 2, 1), "dd/mm/yyyy"),
        (["01.02.1961", "31.12.2024"], dt.date(1961, 2, 1), "dd.mm.yyyy"),
        (["1.2.1961", "13.2.1961"], dt.date(1961, 2, 1), "dd.mm.yyyy"),
        (["01-02-1961", "31-12-2024"], dt.date(1961, 2, 1), "dd-mm-yyyy"),
        (["1961/02/01", "2024/12/11"], dt.date(1961, 2, 1), "yyyy/mm/dd"),
        (["1961-2-1", "2024-12-11"], dt.date(1961, 2, 1), "yyyy-mm-dd"),
        (["01/02/1961 09:05", "31/12/2024 23:59"], dt.datetime(1961, 2, 1, 9, 5), "dd/mm/yyyy time"),
        (["1/2/1961 9:05:07", "31/12/2024 23:59:00"], dt.datetime(1961, 2, 1, 9, 5, 7), "dd/mm/yyyy time"),
        (["01/02/1961 9:05", "31/12/2024 23:59"], dt.datetime(1961, 2, 1, 9, 5), "dd/mm/yyyy time"),
        (["1961-02-01 09:05:07", "2024-12-31 10:00:00"], dt.datetime(1961, 2, 1, 9, 5, 7), "yyyy-mm-dd time"),
    ],
)
def test_dates_are_read_said_and_written_back_as_they_came(read, tmp_path, values, first, said):
    data = read(values)
    assert data.frame["day"][0] == first
    assert data.notes[1:] == (f"dates read as {said} in column day",)
    assert data.as_written["day"].to_list() == [value or None for value in values]
    sources.write(data.frame, tmp_path / "out.csv", like=data)
    assert (tmp_path / "out.csv").read_text() == (tmp_path / "people.csv").read_text()


@pytest.mark.parametrize(
    "values",
    [
        ["01/02/2024", "11/12/2024"],  # no value settles which is the month
        ["1.2.2024", "3.4.2024"],
    ],
)
def test_unclear_dates_stay_text_and_are_said(read, values):
    data = read(values)
    assert data.frame["day"].to_list() == values
    assert data.notes[1:] == (
        "dates kept as text in column day: no value tells whether day or month comes first",
    )


@pytest.mark.parametrize(
    "values",
    [
        ["31/12/2024", "12/31/2024"],  # two orders
        ["30/02/2024", "31/12/2024"],  # no such day
        ["31/12/2024", "1/2/2024", "01/02/2024"],  # with and without zeros
        ["31/12/24", "30/11/24"],  # a century is missing
        ["31/12/2024", "31.12.2024"],
        ["31/12/2024", "unknown"],
        ["31/12/2024 25:00", "31/12/2024 12:00"],
        ["12.5.3", "1.5.3"],
    ],
)
def test_what_one_form_does_not_hold_stays_text(read, values):
    data = read(values)
    assert data.frame["day"].to_list() == values
    assert not any("dates" in note for note in data.notes)


def test_what_the_data_came_from_settles_an_unclear_order(read, tmp_path):
    before = read(["01/02/2024", "31/12/2024"])
    after = read(["01/02/2024", "11/12/2024"], like=before)
    assert after.frame["day"].to_list() == [dt.date(2024, 2, 1), dt.date(2024, 12, 11)]
    settled = read(["01/31/2024", "02/01/2024"], like=before)  # the values themselves come first
    assert settled.frame["day"].to_list() == [dt.date(2024, 1, 31), dt.date(2024, 2, 1)]


def test_dates_that_their_form_cannot_hold_any_more_are_written_in_the_usual_one(read, tmp_path):
    data = read(["01/02/2024 10:00", "31/12/2024 11:00"])
    mean = data.frame.with_columns(day=pl.lit(dt.datetime(2024, 7, 1, 10, 30, 15)))
    sources.write(mean, tmp_path / "out.csv", like=data)
    assert (tmp_path / "out.csv").read_text() == "row;day\n0;2024-07-01T10:30:15\n1;2024-07-01T10:30:15\n"
    numbers = data.frame.with_columns(day=pl.lit(7))
    sources.write(numbers, tmp_path / "numbers.csv", like=data)
    assert (tmp_path / "numbers.csv").read_text() == "row;day\n0;7\n1;7\n"


def test_another_format_has_dates_of_its_own(read, tmp_path):
    data = read(["01/02/2024", "31/12/2024"])
    sources.write(data.frame, tmp_path / "out.tsv", like=data)
    assert (tmp_path / "out.tsv").read_text() == "row\tday\n0\t2024-02-01\n1\t2024-12-31\n"
    sources.write(data.frame, tmp_path / "out.parquet", like=data)
    assert sources.read(tmp_path / "out.parquet").frame.equals(data.frame)


def test_types_of_dates_are_decided_by_every_record(read):
    values = ["31/12/2024"] * 3000 + ["12/31/2024"]
    assert read(values).frame.schema["day"] == pl.String
    assert read(values[:-1]).frame.schema["day"] == pl.Date
    assert read(["11/12/2024"] * 3000 + ["31/12/2024"]).frame["day"][0] == dt.date(2024, 12, 11)
