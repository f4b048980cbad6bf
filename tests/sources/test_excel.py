import datetime as dt

import polars as pl
import pytest
import xlsxwriter

from shoal import InputError, sources


def test_codes_and_formulas_stay_text(tmp_path):
    frame = pl.DataFrame(
        {"zip": ["02139", "=1+1", "http://example.org"], "n": [1, None, 3], "x": [1.5, 2.0, None]}
    )
    sources.write(frame, tmp_path / "x.xlsx")
    data = sources.read(tmp_path / "x.xlsx")
    assert data.frame.equals(frame)
    assert data.frame.schema == frame.schema


def test_headers_and_sheets(tmp_path):
    def book(*rows, sheets=1):
        path = tmp_path / "x.xlsx"
        with xlsxwriter.Workbook(path) as workbook:
            for _ in range(sheets):
                sheet = workbook.add_worksheet()
                for number, row in enumerate(rows):
                    sheet.write_row(number, 0, row)
        return path

    with pytest.raises(InputError, match=r"columns 1 and 2 of 'x\.xlsx' have the same name"):
        sources.read(book(["a", "a"], [1, 2]))
    with pytest.raises(InputError, match="is empty"):
        sources.read(book())
    with pytest.raises(InputError, match="only numbers"):
        sources.read(book([5, 3], [1, 2]))
    with pytest.raises(InputError, match=r"column 'c' is not in 'x\.xlsx'"):
        sources.read(book(["a", "b"], [1, 2]), columns=["c"])
    data = sources.read(book(["a", "b"], [1, "x"], sheets=3))
    assert data.notes == ("first of 3 sheets read, 'Sheet1'; another is read as FILE::SHEET",)
    assert data.frame.rows() == [(1, "x")]
    assert sources.read(book(["a", "b"])).frame.shape == (0, 2)


def test_what_a_sheet_cannot_hold_is_refused(tmp_path):
    for values, message in (
        ([2**53 + 1], "beyond 2\\^53"),
        ([float("nan")], "NaN or infinite"),
        ([float("inf")], "NaN or infinite"),
        ([dt.date(1890, 1, 1)], "before March 1900"),
        ([[1]], "holds List"),
        (["\uffff"], "characters that an Excel cell cannot"),
        (["x" * 40_000], "more than 32767 characters"),
    ):
        with pytest.raises(InputError, match=message):
            sources.write(pl.DataFrame({"x": values}), tmp_path / "x.xlsx")
    with pytest.raises(InputError, match="holds 1048575 records"):
        sources.write(pl.DataFrame({"x": range(1_048_576)}), tmp_path / "x.xlsx")
    assert list(tmp_path.iterdir()) == []


def test_other_types_become_what_excel_has(tmp_path):
    frame = pl.DataFrame(
        {
            "d": pl.Series(["1.50"]).cast(pl.Decimal(10, 2)),
            "t": [dt.time(12, 30)],
            "c": pl.Series(["a"], dtype=pl.Categorical),
            "m": [dt.datetime(2024, 1, 31, 12, 30)],
            "n": [None],
        }
    )
    sources.write(frame, tmp_path / "x.xlsx")
    row = sources.read(tmp_path / "x.xlsx").frame.row(0)
    assert row == (1.5, "12:30:00", "a", dt.datetime(2024, 1, 31, 12, 30), None)


def test_reading_says_nothing_on_standard_error(tmp_path, capfd):
    sources.write(pl.DataFrame({"x": [None, None], "y": [1, 2]}), tmp_path / "x.xlsx")
    assert sources.read(tmp_path / "x.xlsx").frame.rows() == [(None, 1), (None, 2)]
    assert capfd.readouterr() == ("", "")


def workbook(path, **sheets):
    """A workbook with these rows in these sheets; a row is a list of values from the first column on."""
    with xlsxwriter.Workbook(path) as book:
        for name, rows in sheets.items():
            sheet = book.add_worksheet(name)
            for number, row in enumerate(rows):
                for column, value in enumerate(row):
                    if value is not None:
                        sheet.write(number, column, value)
    return path


def test_a_sheet_is_chosen_by_its_name(tmp_path):
    path = workbook(tmp_path / "x.xlsx", Notes=[["read me"]], Data=[["a", "b"], [1, "x"]], Empty=[])
    data = sources.read(f"{path}::Data")
    assert data.frame.rows() == [(1, "x")]
    assert data.notes == ()
    assert str(data.address) == f"{path}::Data"
    assert sources.read(f"{path}::data").frame.rows() == [(1, "x")]
    with pytest.raises(
        InputError, match=r"sheet 'Dat' is not in 'x\.xlsx', which has 3; did you mean 'Data'"
    ):
        sources.read(f"{path}::Dat")
    with pytest.raises(InputError, match=r"sheet 'Empty' of 'x\.xlsx' is empty"):
        sources.read(f"{path}::Empty")
    with pytest.raises(InputError, match="names no sheet"):
        sources.read(f"{path}::")
    with pytest.raises(InputError, match=r"'x\.csv' has no sheets"):
        sources.read(f"{tmp_path}/x.csv::Data")


def test_one_sheet_of_a_workbook_cannot_be_written(tmp_path):
    place = f"{tmp_path}/x.xlsx::Data"
    with pytest.raises(InputError, match="written whole, with one sheet; leave out ::Data"):
        sources.check_writable(place)
    with pytest.raises(InputError, match="written whole"):
        sources.write(pl.DataFrame({"x": [1]}), place)
    assert list(tmp_path.iterdir()) == []


def test_titles_above_the_header_are_passed_over_and_said(tmp_path):
    rows = [
        [None],
        ["Firms of the north"],
        ["all figures in thousands"],
        [],
        ["firm", "staff", "2019", "2020"],
    ]
    path = workbook(tmp_path / "x.xlsx", Data=[*rows, ["Ax", 3, 1.5, 2], ["By", 4, 2, 2.5]])
    data = sources.read(path)
    assert data.frame.columns == ["firm", "staff", "2019", "2020"]
    assert data.frame.rows() == [("Ax", 3, 1.5, 2.0), ("By", 4, 2.0, 2.5)]
    assert data.notes == ("column names taken from row 5 of the sheet, below titles (guessed)",)
    assert sources.read(path, header_row=5).notes == ()
    with pytest.raises(InputError, match=r"the sheet of 'x\.xlsx' has no row 9"):
        sources.read(path, header_row=9)
    with pytest.raises(InputError, match="counts from 1"):
        sources.read(path, header_row=-1)


def test_the_header_row_is_what_the_sheet_calls_it(tmp_path):
    rows = [["Title", "2024"], [], ["a", "b"], [1, 2], [3, 4.5]]
    path = workbook(tmp_path / "x.xlsx", Data=rows)
    data = sources.read(path, header_row=3)
    assert data.frame.columns == ["a", "b"]
    assert data.frame.rows() == [(1, 2.0), (3, 4.5)]
    matrix = workbook(tmp_path / "m.xlsx", Data=[[None, "2019", "2020"], ["north", 1, 2]])
    assert sources.read(matrix).frame.columns == ["", "2019", "2020"]
    lonely = workbook(tmp_path / "l.xlsx", Data=[["Ann's list"], ["Ann", "f", 34], ["Bob", "m", 35]])
    with pytest.raises(
        InputError, match=r"columns 2 and 3 of 'l\.xlsx' have no name; header_row="
    ) as refusal:
        sources.read(lonely)  # a row of values is no header
    assert "Ann" not in str(refusal.value)
