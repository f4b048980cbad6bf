"""Excel workbooks, written cell by cell: one sheet with a header."""

import datetime
import io
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import polars as pl

from shoal.errors import InputError
from shoal.sources.atomic import workshop

_ROWS, _COLUMNS, _TEXT = 1_048_576, 16_384, 32_767
_EXACT = 2**53
_MADE = datetime.datetime(1980, 1, 1)
_FIRST_DAY = datetime.date(1900, 3, 1)


def write_excel(frame: pl.DataFrame, path: Path) -> None:
    """Write a frame as a plain sheet; what Excel would change on the quiet is refused."""
    if frame.height >= _ROWS or frame.width > _COLUMNS:
        raise InputError(
            f"an Excel sheet holds {_ROWS - 1} records of {_COLUMNS} columns; write .parquet or .csv"
        )
    plain = frame.select(_plain(frame[name]) for name in frame.columns)
    # The writer keeps records in files for a while: beside the unfinished workbook, not where all temporary files are.
    with workshop(path) as folder, _workbook(path, folder) as book:
        sheet = book.add_worksheet("data")
        day = book.add_format({"num_format": "yyyy-mm-dd"})
        moment = book.add_format({"num_format": "yyyy-mm-dd hh:mm:ss"})
        for column, name in enumerate(frame.columns):
            sheet.write_string(0, column, name)
        writers = [_writer(sheet, dtype, day, moment) for dtype in plain.dtypes]
        for row, record in enumerate(plain.iter_rows(), start=1):
            for column, value in enumerate(record):
                if value is not None:
                    writers[column](row, column, value)


@contextmanager
def _workbook(path: Path, folder: Path) -> Iterator[Any]:
    import xlsxwriter  # type: ignore[import-untyped]

    options = {"constant_memory": True, "strings_to_formulas": False, "strings_to_urls": False}
    file = _Patient(path, "wb")
    book = xlsxwriter.Workbook(file, options | {"tmpdir": str(folder)})
    # When it was made is nobody's business, and the same run gives the same bytes.
    book.set_properties({"created": _MADE})
    yield book
    book.close()
    file.close()
    if file.failure is not None:
        raise file.failure


class _Patient(io.FileIO):
    """A file that keeps a failure to itself until it is asked.

    The library writes once more when a broken archive is thrown away; a second failure there would print a traceback.
    """

    failure: OSError | None = None

    def write(self, data: Any) -> int:
        rest = memoryview(data).cast("B")
        length = len(rest)
        while len(rest) and self.failure is None and not self.closed:
            try:
                rest = rest[super().write(rest) :]
            except OSError as error:
                self.failure = error
        return length

    def seek(self, offset: int, whence: int = 0) -> int:
        return 0 if self.failure is not None or self.closed else super().seek(offset, whence)

    def tell(self) -> int:
        return 0 if self.failure is not None or self.closed else super().tell()


def _writer(sheet: Any, dtype: pl.DataType, day: Any, moment: Any) -> Callable[[int, int, Any], Any]:
    plain: Callable[[int, int, Any], Any] = sheet.write_number
    if dtype == pl.Date:
        return lambda row, column, value: sheet.write_datetime(row, column, value, day)
    if isinstance(dtype, pl.Datetime):
        return lambda row, column, value: sheet.write_datetime(row, column, value, moment)
    if dtype == pl.String:
        plain = sheet.write_string
    if dtype == pl.Boolean:
        plain = sheet.write_boolean
    return plain


def _plain(values: pl.Series) -> pl.Series:
    """The values as Excel can hold them."""
    name, dtype = values.name, values.dtype
    if dtype.is_nested() or dtype in (pl.Binary, pl.Object):
        raise InputError(f"column '{name}' holds {dtype}, which an Excel sheet cannot")
    if dtype.is_integer() and _beyond(values, _EXACT):
        raise InputError(f"column '{name}' holds integers beyond 2^53, which Excel would round")
    if dtype.is_float() and not values.drop_nulls().is_finite().all():
        raise InputError(f"column '{name}' holds NaN or infinite numbers, which an Excel sheet cannot")
    if dtype.is_decimal():
        return values.cast(pl.Float64)
    if dtype == pl.Date or (isinstance(dtype, pl.Datetime) and dtype.time_zone is None):
        first = values.cast(pl.Date).min()
        if isinstance(first, datetime.date) and first < _FIRST_DAY:
            raise InputError(f"column '{name}' holds dates before March 1900, which an Excel sheet cannot")
        return values
    if dtype.is_numeric() or dtype == pl.Boolean:
        return values
    if dtype == pl.Null:
        return values.cast(pl.String)
    text = values.dt.to_string("iso") if dtype == pl.Duration else values.cast(pl.String)
    if text.str.contains("[\ufffe\uffff]").any():
        raise InputError(f"column '{name}' holds characters that an Excel cell cannot")
    if (text.str.len_chars().max() or 0) > _TEXT:  # type: ignore[operator]
        raise InputError(
            f"column '{name}' holds texts of more than {_TEXT} characters, which an Excel cell cannot"
        )
    return text


def _beyond(values: pl.Series, limit: int) -> bool:
    low: Any = values.min()
    high: Any = values.max()
    return low is not None and bool(low < -limit or high > limit)
