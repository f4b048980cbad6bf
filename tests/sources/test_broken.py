"""Broken bytes give an ``InputError`` or a frame, and never anything else."""

import datetime as dt
import random
import signal
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

import polars as pl
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from shoal import InputError, sources

FRAME = pl.DataFrame(
    {
        "i": [1, 2, None],
        "s": ["007", "é", None],
        "f": [1.5, 2.0, None],
        "d": [dt.date(2024, 1, 31), None, None],
    }
)


@cache
def whole(ending: str) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"x{ending}"
        sources.write(FRAME, path)
        return path.read_bytes()


def attempt(content: bytes, ending: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / f"x{ending}"
        path.write_bytes(content)
        try:
            assert isinstance(sources.read(path).frame, pl.DataFrame)
        except InputError as error:
            assert "\n" not in str(error)
            assert len(str(error)) < 200


@pytest.mark.parametrize("ending", [".csv", ".tsv", ".parquet", ".arrow", ".xlsx"])
@settings(max_examples=80, deadline=None)
@given(content=st.binary(max_size=60))
@example(content=b"")
@example(content=b"\xef\xbb\xbf")
@example(content=b"\xff\xfe")
@example(content=b"\xff\xfea")
@example(content=b'"')
@example(content=b"\n")
@example(content=b"\r")
@example(content=b'a,"b\r"\n')
@example(content=b"PAR1PAR1")
@example(content=b"ARROW1\0\0")
@example(content=b"PK\x03\x04")
def test_arbitrary_bytes(ending, content):
    attempt(content, ending)


mutations = st.lists(
    st.tuples(st.floats(0, 1, exclude_max=True), st.integers(0, 255)), min_size=1, max_size=8
)


def mutated(content: bytes, changes: list[tuple[float, int]], length: float) -> bytes:
    spoilt = bytearray(content)
    for place, byte in changes:
        spoilt[int(place * len(spoilt))] = byte
    return bytes(spoilt[: max(1, round(length * len(spoilt)))])


@settings(max_examples=80, deadline=None)
@given(changes=mutations, length=st.just(1.0) | st.floats(0, 1))
def test_spoilt_text_files(changes, length):
    attempt(mutated(whole(".csv"), changes, length), ".csv")


@settings(max_examples=15, deadline=None)
@given(changes=mutations, length=st.just(1.0) | st.floats(0, 1))
def test_spoilt_workbooks(changes, length):
    """Each is parsed in a process of its own, so a few must do."""
    attempt(mutated(whole(".xlsx"), changes, length), ".xlsx")


def spoilt(ending: str, number: int) -> bytes:
    draw = random.Random(f"{ending} {number}")
    changes = [(draw.random(), draw.randrange(256)) for _ in range(draw.randint(1, 8))]
    return mutated(whole(ending), changes, draw.choice((1.0, draw.random())))


READ_SPOILT = """
import sys
from tests.sources.test_broken import attempt, spoilt
for number in range(int(sys.argv[2]), 80):
    print(number, flush=True)
    attempt(spoilt(sys.argv[1], number), sys.argv[1])
print("done", flush=True)
"""


@pytest.mark.parametrize("ending", [".parquet", ".arrow"])
def test_spoilt_binary_files(ending):
    """Wrong bytes can make Polars ask for memory beyond all bounds, and then it ends the process: nothing can be caught.

    So these files are read in a child, and only that end of it is let pass; any other is a defect of ours.
    """
    first, ended = 0, 0
    while True:
        child = subprocess.run(
            [sys.executable, "-c", READ_SPOILT, ending, str(first)],
            capture_output=True,
            text=True,
            check=False,
        )
        seen = child.stdout.split()
        if seen[-1] == "done":
            break
        assert child.returncode == -signal.SIGABRT and "memory allocation" in child.stderr, child.stderr[
            -2000:
        ]
        first, ended = int(seen[-1]) + 1, ended + 1
    assert ended <= 4


@pytest.mark.parametrize("ending", [".sav", ".dta", ".sas7bdat"])
def test_spoilt_statistical_files(ending):
    """The C library behind these crashes on many of them, so each is parsed in a process of its own: a few must do."""
    pytest.importorskip("pyreadstat", reason="needs the extra shoal[stat]")
    content = whole(".sav" if ending == ".sas7bdat" else ending)
    attempt(b"nonsense", ending)
    attempt(content[: len(content) // 2], ending)
    # A number of records beyond all memory, as a few wrong bytes in the header can make it.
    attempt(content[:80] + b"\x03\x00\x00\x3c" + content[84:], ending)
    attempt(content[:180] + b"\xff" * 12 + content[192:], ending)
