"""Any frame that a format can hold comes back from it as it went in; anything else is an ``InputError``."""

import datetime as dt
import subprocess
import tempfile
from pathlib import Path

import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from shoal import InputError, sources
from shoal.sources import isolated
from shoal.sources.inference import MISSING_MARKS

FORMATS = [".csv", ".tsv", ".parquet", ".arrow", ".feather", ".xlsx"]
ODD = ['x"', "x,y", "x;y", "x\ny", "x\r\ny", "x\ty", "=1+1", "x ", " x", "x|", "'x", "http://x"]
words = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs", "Cn"]), max_size=6)
KINDS = {
    "integer": (pl.Int64, st.integers(-(2**53), 2**53)),
    "number": (pl.Float64, st.floats(allow_nan=False, allow_infinity=False)),
    "flag": (pl.Boolean, st.booleans()),
    "day": (pl.Date, st.dates(dt.date(1900, 3, 1))),
    "moment": (
        pl.Datetime("us"),
        st.datetimes(dt.datetime(1900, 3, 1)).map(lambda m: m.replace(microsecond=0)),
    ),
    # Text that begins with a letter is no number, no date and no mark for missing.
    "text": (pl.String, words.map("x".__add__)),
    "odd": (pl.String, st.sampled_from(ODD)),
}
# A single column whose name holds a separator cannot be told from two columns.
names = words.map(lambda word: "v" + "".join(sign for sign in word if sign not in ",;|"))


@st.composite
def frames(draw, kinds=tuple(KINDS)):
    chosen = draw(st.lists(st.sampled_from(kinds), min_size=1, max_size=5))
    labels = draw(st.lists(names, min_size=len(chosen), max_size=len(chosen), unique=True))
    height = draw(st.integers(0, 6))
    columns = {}
    for label, kind in zip(labels, chosen, strict=True):
        dtype, values = KINDS[kind]
        columns[label] = pl.Series(
            draw(st.lists(st.none() | values, min_size=height, max_size=height)), dtype=dtype
        )
    return pl.DataFrame(columns)


def expected(frame: pl.DataFrame, ending: str) -> pl.DataFrame:
    """What a format keeps: text has no type for a column without values, Excel none for whole floats."""
    empty = [name for name in frame.columns if frame[name].null_count() == frame.height]
    if ending in (".csv", ".tsv", ".xlsx"):
        frame = frame.with_columns(pl.col(empty).cast(pl.String))
    if ending == ".xlsx":
        frame = frame.with_columns(pl.col(pl.Datetime).cast(pl.Datetime("ms")))
    return frame


@pytest.mark.parametrize("ending", [ending for ending in FORMATS if ending != ".xlsx"])
@settings(max_examples=40, deadline=None)
@given(frame=frames())
def test_any_frame_comes_back(ending, frame):
    comes_back(ending, frame)


def _answered_here(command: list[str], *, input: bytes, **_: object) -> subprocess.CompletedProcess[bytes]:
    return subprocess.CompletedProcess(command, 0, stdout=isolated.answered(input))


@settings(max_examples=40, deadline=None)
@given(frame=frames())
def test_any_frame_comes_back_from_excel(frame):
    """What the child says is asked for here: a process of its own takes longer than all it does (tests/sources/test_excel.py)."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr("shoal.sources.isolated.subprocess.run", _answered_here)
        comes_back(".xlsx", frame)


def comes_back(ending: str, frame: pl.DataFrame) -> None:
    if ending == ".xlsx":
        # Excel cuts records without any value at the end and has sixteen digits.
        assume(frame.height and any(value is not None for value in frame.row(-1)))
        frame = frame.with_columns(pl.col(pl.Float64).round_sig_figs(12))
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"frame{ending}"
        sources.write(frame, path)
        data = sources.read(path)
        back = data.frame
        if ending == ".xlsx":
            # One kind of number, one of time: whole floats come back as integers, midnights as dates.
            meant = expected(frame, ending).schema
            back = back.with_columns(
                pl.col(name).cast(dtype)
                for name, dtype in meant.items()
                if (back.schema[name], dtype) in ((pl.Int64, pl.Float64), (pl.Date, pl.Datetime("ms")))
            )
        assert_frame_equal(
            back, expected(frame, ending), rel_tol=1e-11 if ending == ".xlsx" else 0, abs_tol=0
        )
        assert data.notes == ()
        if frame.width > 1:
            chosen = frame.columns[::-1][:2]
            assert sources.read(path, columns=chosen).frame.equals(data.frame.select(chosen))
        sources.write(back, path, force=True, like=data)
        assert_frame_equal(sources.read(path).frame, data.frame, rel_tol=1e-11, abs_tol=0)


@settings(max_examples=40, deadline=None)
@given(
    frame=frames(("integer", "number", "text")),
    separator=st.sampled_from([";", "\t", "|"]),
    encoding=st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "cp1252"]),
)
def test_any_text_dialect_comes_back_without_being_told(frame, separator, encoding):
    assume(frame.width > 1)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "frame.csv"
        try:
            sources.write(frame, path, separator=separator, decimal=",", encoding=encoding)
        except InputError as error:
            assert "characters that cp1252 lacks" in str(error)
            assert not path.exists()
            return
        data = sources.read(path)
        assert data.dialect.separator == separator
        assert_frame_equal(data.frame, expected(frame, ".csv"), rel_tol=0, abs_tol=0)


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=6))
@settings(max_examples=100, deadline=None)
def test_any_text_comes_back_as_the_same_text(value):
    """Whatever type is inferred, writing it again gives the same file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "frame.csv"
        sources.write(pl.DataFrame({"row": ["a"], "value": [value]}), path)
        content = path.read_bytes()
        data = sources.read(path)
        if data.frame.schema["value"] == pl.String:
            assert data.frame["value"].to_list() == [value]
            sources.write(data.frame, path, force=True)
            assert path.read_bytes() == content
        else:
            assert value.strip() == value or data.frame.schema["value"].is_numeric()
            assert value.strip() not in MISSING_MARKS


def test_parquet_and_arrow_keep_every_type(tmp_path):
    frame = pl.DataFrame(
        {
            "i": pl.Series([1, None], dtype=pl.Int8),
            "u": pl.Series([1, None], dtype=pl.UInt64),
            "f": pl.Series([0.1, None], dtype=pl.Float32),
            "c": pl.Series(["a", None], dtype=pl.Categorical),
            "e": pl.Series(["a", None], dtype=pl.Enum(["a", "b"])),
            "d": pl.Series(["1.50", None]).cast(pl.Decimal(10, 2)),
            "l": [[1], None],
            "t": [dt.time(1), None],
            "z": pl.Series([dt.datetime(2024, 1, 1), None]).dt.replace_time_zone("Europe/Madrid"),
        }
    )
    for ending in (".parquet", ".arrow", ".feather"):
        sources.write(frame, tmp_path / f"x{ending}")
        assert_frame_equal(sources.read(tmp_path / f"x{ending}").frame, frame)
        with pytest.raises(InputError, match="column 'x' is not in"):
            sources.read(tmp_path / f"x{ending}", columns=["x"])
