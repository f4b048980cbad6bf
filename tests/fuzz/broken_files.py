"""Files as they come: whole, damaged, in a strange encoding, of strange types, or something else altogether."""

import datetime
import decimal
import gzip
import io
import sqlite3
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.feather as feather
import pyarrow.parquet as pq
from tests.fuzz.draw import Draw
from tests.fuzz.markers import Markers
from tests.fuzz.names import column_names

SIZES = (0, 1, 2, 3, 4, 5, 7, 9, 10, 11, 12, 14, 15, 20, 29, 40)
_NUMBERS = (
    "nan",
    "NaN",
    "inf",
    "-inf",
    "Infinity",
    "1e308",
    "-1e308",
    "1.7976931348623157e308",
    "1e-320",
    "-0.0",
    "9223372036854775807",
    "-9223372036854775809",
    "18446744073709551616",
    "1" * 60,
    "0x1F",
    "1_000",
    "1,5",
    "1.234,56",
    "٣",
    "½",
    "1e400",
    "",
    "NA",
    "null",
    "-",
    "TRUE",
    "12/31/2020",
    "2020-02-30",
    "25:61",
)


def column(draw: Draw, markers: Markers, size: int) -> list[Any]:
    """The values of one column, as texts or plain Python values."""
    kind = draw.randrange(12) if draw.bad(1) else draw.choice((1, 2, 3, 4, 6, 7, 8))
    if kind == 0:
        return [markers.text() for _ in range(size)]
    if kind == 1:
        few = [markers.text() for _ in range(draw.randint(1, 4))]
        return draw.choices(few, k=size)
    if kind in (2, 3, 4):
        return [markers.number() for _ in range(size)]
    if kind == 5:
        return [markers.whole() for _ in range(size)]
    if kind == 6:
        return [draw.randint(0, 6) for _ in range(size)]
    if kind == 7:
        return [round(draw.lognormvariate(3, 2), 3) for _ in range(size)]
    if kind == 8:
        return [draw.choice((1, 1, 2)) for _ in range(size)]
    if kind == 9:
        return [
            f"20{draw.randint(10, 29)}-{draw.randint(1, 12):02}-{draw.randint(1, 28):02}" for _ in range(size)
        ]
    if kind == 10:
        return [markers.number() if draw.random() < 0.8 else None for _ in range(size)]
    return [draw.choice(_NUMBERS) if draw.random() < 0.4 else draw.randint(1, 99) for _ in range(size)]


def text_file(draw: Draw, markers: Markers, names: list[str], columns: list[list[Any]]) -> bytes:
    """A text file in some dialect, sometimes damaged."""
    separator = draw.choice(",;\t|") if draw.bad(0.4) else ","
    ends = draw.choice(("\r\n", "\r", "mixed")) if draw.bad(0.4) else "\n"

    def cell(value: Any) -> str:
        text = "" if value is None else str(value)
        if any(sign in text for sign in f'{separator}"\n\r') and not draw.bad(0.05):
            return '"' + text.replace('"', '""') + '"'
        return text

    lines = [separator.join(map(cell, names))]
    if draw.bad(0.03):  # without a header, the first record is taken for one
        lines = []
        markers.forget(values[0] for values in columns if values)
    for record in zip(*columns, strict=True):
        cells = [cell(value) for value in record]
        if draw.bad(0.01):
            cells += ["extra"] * draw.randint(1, 3) if draw.random() < 0.5 else cells[:0]
        lines.append(separator.join(cells))
    text = "".join(line + (draw.choice(("\n", "\r\n", "\r")) if ends == "mixed" else ends) for line in lines)
    encoding = "utf-8"
    if draw.bad(0.3):
        encoding = draw.choice(("utf-8-sig", "utf-16", "utf-16-le", "latin-1", "cp1252", "cp037"))
    return damaged(draw, text.encode(encoding, errors="replace"))


def damaged(draw: Draw, content: bytes, chance: float = 0.2) -> bytes:
    """The content as it is, or cut, or with wrong bytes in it."""
    if not draw.bad(chance) or not content:
        return content
    place = draw.randrange(len(content))
    return draw.choice(
        (
            content[:place],
            content[:place] + b"\x00" * draw.randint(1, 40) + content[place:],
            content[:place] + b'"' + content[place:],
            content[:place]
            + bytes(draw.randrange(256) for _ in range(draw.randint(1, 9)))
            + content[place + 1 :],
            content[:place] + b"\xff\xfe" + content[place:],
            content + content,
            b"",
            b"\x00",
            b"\n\n\n",
            content[::-1],
            gzip.compress(content, mtime=0),
        )
    )


def strange_array(draw: Draw, markers: Markers, size: int) -> pa.Array:
    """A column of a type that a text file cannot have."""
    text = [markers.text() for _ in range(size)]
    day = datetime.datetime(2020, 1, 1)
    return draw.choice(
        (
            lambda: pa.array([[1, 2]] * size, pa.list_(pa.int64())),
            lambda: pa.array([[word] for word in text], pa.list_(pa.string())),
            lambda: pa.array([{"x": word} for word in text], pa.struct([("x", pa.string())])),
            lambda: pa.array([datetime.timedelta(days=place) for place in range(size)], pa.duration("us")),
            lambda: pa.array([decimal.Decimal(place) / 4 for place in range(size)], pa.decimal128(20, 2)),
            lambda: pa.array([word.encode() for word in text], pa.binary()),
            lambda: pa.array([b"\xff\xfe\x00"] * size, pa.binary()),
            lambda: pa.array(draw.choices(text or ["x"], k=size)).dictionary_encode(),
            lambda: pa.nulls(size),
            lambda: pa.nulls(size, pa.float64()),
            lambda: pa.array([datetime.time(place % 24) for place in range(size)], pa.time64("us")),
            lambda: pa.array([day] * size, pa.timestamp("ns", tz="Europe/Madrid")),
            lambda: pa.array([day.date()] * size, pa.date32()),
            lambda: pa.array([2**64 - 1 - place for place in range(size)], pa.uint64()),
            lambda: pa.array(
                [draw.choice((float("nan"), float("inf"), -1e308, 1e308, 5e-324)) for _ in range(size)]
            ),
            lambda: pa.array([draw.choice((True, False, None)) for _ in range(size)]),
            lambda: pa.array([float(place) for place in range(size)], pa.float32()),
            lambda: pa.array([place % 100 for place in range(size)], pa.int8()),
        )
    )()


def data_file(
    draw: Draw, markers: Markers, folder: Path, stem: str, names: list[str] | None = None
) -> tuple[str, list[str]]:
    """Write a file of records into a folder; its address for the command line and the names of its columns."""
    size = draw.choice(SIZES) if draw.bad(0.7) else draw.choice((10, 12, 14, 20, 29, 40))
    names = column_names(draw, draw.randint(1, 5)) if names is None else names
    columns = [column(draw, markers, size) for _ in names]
    kinds, weights = (
        ("csv", "parquet", "arrow", "xlsx", "db", "sav", "other", "missing"),
        (60, 14, 6, 6, 4, 1, 6, 3),
    )
    kind = draw.choices(kinds, weights)[0] if draw.bad(0.8) else draw.choice(("csv", "csv", "csv", "parquet"))
    if kind == "csv":
        ending = draw.choice((".tsv", ".txt", ".CSV")) if draw.bad(0.1) else ".csv"
        (folder / f"{stem}{ending}").write_bytes(text_file(draw, markers, names, columns))
        return f"{stem}{ending}", names
    if kind in ("parquet", "arrow"):
        arrays = [
            strange_array(draw, markers, size) if draw.bad(0.4) else pa.array(_of_one_type(values))
            for values in columns
        ]
        table, written = pa.Table.from_arrays(arrays, names), io.BytesIO()
        if kind == "parquet":
            pq.write_table(table, written)
        else:
            feather.write_feather(table, written, compression="uncompressed")
        (folder / f"{stem}.{kind}").write_bytes(damaged(draw, written.getvalue(), 0.1))
        return f"{stem}.{kind}", names
    frame = pl.DataFrame({name: _of_one_type(values) for name, values in zip(names, columns, strict=True)})
    if kind == "xlsx":
        return _workbook(draw, frame, folder / f"{stem}.xlsx"), list(frame.columns)
    if kind == "db":
        return _database(draw, frame, folder, stem), list(frame.columns)
    if kind == "missing":
        return f"{stem}.csv", names
    if kind == "sav":
        (folder / f"{stem}.sav").write_bytes(
            b"$FL2@(#) SPSS DATA FILE" + draw.randbytes(draw.randint(0, 400))
        )
        return f"{stem}.sav", names
    ending = draw.choice(
        (".csv", ".parquet", ".arrow", ".xlsx", ".dta", ".sas7bdat", ".sav", ".jj", ".jpeg", "", ".jj.gz")
    )
    (folder / f"{stem}{ending}").write_bytes(draw.randbytes(draw.randint(0, 300)))
    return f"{stem}{ending}", names


def _of_one_type(values: list[Any]) -> list[Any]:
    kinds = {type(value) for value in values if value is not None}
    return values if len(kinds) <= 1 else [None if value is None else str(value) for value in values]


def _workbook(draw: Draw, frame: pl.DataFrame, path: Path) -> str:
    import xlsxwriter

    with xlsxwriter.Workbook(str(path), {"in_memory": True, "nan_inf_to_errors": True}) as book:
        sheet = book.add_worksheet("data")
        for place, name in enumerate(frame.columns):
            sheet.write(0, place, name)
            for row, value in enumerate(frame[name].to_list(), 1):
                if value is not None:
                    sheet.write(row, place, value)
        if draw.random() < 0.3:
            book.add_worksheet("other").write(draw.choice((0, 5, 1000)), 0, "note")
    path.write_bytes(damaged(draw, path.read_bytes(), 0.15))
    return path.name + draw.choice(("", "", "", "", "::data", "::nothing"))


def _database(draw: Draw, frame: pl.DataFrame, folder: Path, stem: str) -> str:
    def quoted(name: str) -> str:
        return '"' + name.replace('"', '""') + '"'

    table = draw.choice(("people", "people", "my table", 'x"y', "a;b"))
    names = [name for name in frame.columns if "\x00" not in name] or ["a"]
    with sqlite3.connect(folder / f"{stem}.db") as database:
        database.execute(
            f"CREATE TABLE {quoted(table)} ({', '.join(quoted(name) for name in dict.fromkeys(names))})"
        )
    database.close()
    path = folder / f"{stem}.db"
    path.write_bytes(damaged(draw, path.read_bytes(), 0.1))
    return f"sqlite:///{stem}.db::{table if draw.random() < 0.9 else 'nothing'}"
