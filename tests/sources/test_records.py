"""The quick check of records against the standard library's reader, which is slow and obvious."""

import csv
import io

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shoal import InputError
from shoal.sources import records
from shoal.sources.records import regular, regularise

texts = st.text(st.sampled_from('ab1,;" \n\ré'), max_size=40)
fields = st.text(st.sampled_from('ab1,;" \n\ré'), max_size=6)


def array(text: str) -> np.ndarray:
    return np.frombuffer(text.encode(), dtype=np.uint8)


def obviously_regular(text: str, width: int) -> bool:
    """Each record has the width, by the standard reader."""
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except csv.Error:
        return False
    return all(len(row) == width or (width == 1 and not row) for row in rows)


@pytest.fixture(autouse=True, params=[records._CHUNK, 3], ids=["one block", "tiny blocks"])
def _chunks(request, monkeypatch):
    monkeypatch.setattr(records, "_CHUNK", request.param)


@given(texts, st.integers(1, 3))
def test_what_passes_the_quick_check_is_regular_and_polars_agrees(text, width):
    if not regular(array(text), ",", width):
        return
    assert obviously_regular(text, width)
    rows = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    if rows:
        frame = pl.read_csv(
            io.BytesIO(text.encode()), has_header=False, infer_schema=False, raise_if_empty=False
        )
        if any(any(row) for row in rows):
            assert [tuple(field or "" for field in row) for row in frame.rows()] == [
                tuple(row or [""]) for row in rows
            ]


@given(
    st.integers(1, 3).flatmap(
        lambda width: st.lists(st.lists(fields, min_size=width, max_size=width), min_size=1)
    )
)
def test_what_is_written_regularly_passes(rows):
    output = io.StringIO(newline="")
    csv.writer(output).writerows(rows)
    assert regular(array(output.getvalue()), ",", len(rows[0]))


@given(texts, st.integers(1, 3))
def test_the_careful_reader_gives_regular_records_or_a_line(text, width):
    try:
        result = regularise(text, ",", width, "x.csv")
    except InputError as error:
        line = int(str(error).split()[1])
        assert 1 <= line <= len(text.splitlines()) + 1
        return
    assert regular(array(result.decode()), ",", width)
    expected = list(csv.reader(io.StringIO(text, newline=""), strict=True))
    if width > 1:
        expected = [row for row in expected if len(row) == width]
    assert list(csv.reader(io.StringIO(result.decode(), newline=""), strict=True)) == expected


@pytest.mark.parametrize(
    ("text", "width", "line"),
    [
        ("a,b\n1,2\n3\n", 2, 3),
        ("a,b\n1,2,3\n", 2, 2),
        ('a,b\n"1\n1",2\n3\n', 2, 4),
        ('a,b\n1,"2\n3,4\n', 2, 2),
        ("a\n1\n2,3\n", 1, 3),
    ],
)
def test_the_line_of_the_first_fault(text, width, line):
    assert not regular(array(text), ",", width)
    with pytest.raises(InputError, match=f"line {line} of 'x.csv'"):
        regularise(text, ",", width, "x.csv")
