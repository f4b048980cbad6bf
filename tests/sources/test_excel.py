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
    assert data.notes == ("first of 3 sheets read",)
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
