import ctypes
import datetime as dt
import importlib
import sys

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from shoal import InputError, sources

pyreadstat = pytest.importorskip("pyreadstat", reason="needs the extra 'stat'")

PEOPLE = pl.DataFrame(
    {
        "sex": [1, 2, None, 1],
        "income": [1000.5, 2500.25, None, 0.0],
        "zip": ["02139", None, "28004", "é"],
        "born": [dt.date(1990, 2, 28), None, dt.date(2001, 1, 1), dt.date(1950, 12, 31)],
        "seen": [dt.datetime(2024, 1, 31, 12, 30), None, dt.datetime(2024, 1, 1), dt.datetime(2000, 1, 1)],
        "debt": [5, 2, None, 3],
    }
)
VARIABLES = {"sex": "Sex of the person", "income": "Monthly income in euros"}
SEXES = {1: "man", 2: "woman"}


@pytest.fixture
def spss(tmp_path):
    path = tmp_path / "people.sav"
    coded = PEOPLE.with_columns(debt=pl.Series([5, 2, 99, 903]))
    pyreadstat.write_sav(
        coded,
        str(path),
        file_label="A survey",
        note=["collected in May"],
        column_labels=VARIABLES,
        variable_value_labels={"sex": SEXES, "debt": {99: "refused"}},
        missing_ranges={"debt": [99, {"lo": 900, "hi": 999}]},
        variable_format={"sex": "F8.2", "debt": "F4.0", "income": "F10.2", "born": "EDATE10"},
        variable_measure={"sex": "nominal", "income": "scale"},
        variable_display_width={"sex": 12},
    )
    return path


def test_spss_labels_and_codes_declared_missing(spss):
    data = sources.read(spss)
    expected = PEOPLE.with_columns(debt=pl.Series([5, 2, None, None]))
    assert_frame_equal(data.frame, expected)
    labels = data.labels
    assert labels.format == "spss"
    assert labels.variables == VARIABLES
    assert labels.values == {"sex": SEXES, "debt": {99: "refused"}}
    assert set(map(str, labels.missing["debt"])) == {"99.0", "{'lo': 900.0, 'hi': 999.0}"}
    assert labels.measures == {"sex": "nominal", "income": "scale"}
    assert (labels.file, labels.notes) == ("A survey", ("collected in May",))
    assert data.notes == ("codes declared missing read as missing in 1 column(s)",)


def test_spss_labels_survive_the_way_through(spss, tmp_path):
    data = sources.read(spss)
    sources.write(data.frame, tmp_path / "out.sav", like=data)
    again = sources.read(tmp_path / "out.sav")
    assert_frame_equal(again.frame, data.frame)
    assert again.labels == data.labels
    assert again.notes == ()
    # A protected column is no longer whole, a coarsened one no longer a number: their labels go as far as they fit.
    changed = data.frame.with_columns(sex=pl.Series(["m", "w", "m", "m"]), debt=pl.col("debt") + 0.5).drop(
        "zip"
    )
    sources.write(changed, tmp_path / "changed.sav", like=data)
    after = sources.read(tmp_path / "changed.sav")
    assert_frame_equal(after.frame, changed)
    assert after.labels.variables == VARIABLES
    assert after.labels.values == {"debt": {99: "refused"}}
    assert "zip" not in after.labels.formats


def test_labels_cross_from_spss_to_stata_and_back(spss, tmp_path):
    data = sources.read(spss)
    sources.write(data.frame, tmp_path / "people.dta", like=data)
    stata = sources.read(tmp_path / "people.dta")
    assert_frame_equal(stata.frame, data.frame)
    assert stata.labels.format == "stata"
    assert stata.labels.variables == VARIABLES
    assert stata.labels.values == {"sex": SEXES, "debt": {99: "refused"}}
    assert stata.labels.file == "A survey"
    sources.write(stata.frame, tmp_path / "again.dta", like=stata)
    again = sources.read(tmp_path / "again.dta")
    assert_frame_equal(again.frame, stata.frame)
    assert again.labels == stata.labels
    sources.write(stata.frame, tmp_path / "again.sav", like=stata)
    back = sources.read(tmp_path / "again.sav")
    assert_frame_equal(back.frame, data.frame)
    assert back.labels.values == {"sex": SEXES, "debt": {99: "refused"}}
    sources.write(stata.frame, tmp_path / "plain.csv", like=stata)
    assert sources.read(tmp_path / "plain.csv").labels is None


@pytest.mark.parametrize("ending", [".sav", ".dta"])
def test_types_without_labels(tmp_path, ending):
    frame = pl.DataFrame(
        {
            "i8": pl.Series([1, None], dtype=pl.Int8),
            "i64": [2**40, -(2**53)],
            "b": [True, None],
            "f32": pl.Series([0.1, None], dtype=pl.Float32),
            "c": pl.Series(["a", None], dtype=pl.Categorical),
            "n": [None, None],
            "t": [dt.time(1, 2, 3), None],
            "z": pl.Series([dt.datetime(2024, 1, 1), None]).dt.replace_time_zone("UTC"),
            "d": pl.Series(["1.50", None]).cast(pl.Decimal(10, 2)),
        }
    )
    sources.write(frame, tmp_path / f"x{ending}")
    back = sources.read(tmp_path / f"x{ending}").frame
    assert back.row(0) == (1, 2**40, 1, *frame.row(0)[3:7], dt.datetime(2024, 1, 1), 1.5)
    assert back.row(1)[1] == -(2**53)
    assert back.null_count().row(0) == (1, 0, 1, 1, 1, 2, 1, 1, 1)
    columns = sources.read(tmp_path / f"x{ending}", columns=["c", "i8"])
    assert columns.frame.columns == ["c", "i8"]
    with pytest.raises(InputError, match=r"column 'i9' is not in .*; did you mean 'i8'"):
        sources.read(tmp_path / f"x{ending}", columns=["i9"])


@pytest.mark.parametrize("ending", [".sav", ".dta"])
def test_what_the_programs_cannot_hold_is_refused(tmp_path, ending):
    for frame, message in (
        (pl.DataFrame({"two words": [1]}), "cannot be the name of a variable"),
        (pl.DataFrame({"x" * 70: [1]}), "cannot be the name of a variable"),
        (pl.DataFrame({"with": [1]}), "cannot be the name of a variable"),
        (pl.DataFrame({"x": [2**60]}), "beyond 2\\^53"),
        (pl.DataFrame({"x": [[1]]}), "holds List"),
    ):
        with pytest.raises(InputError, match=message):
            sources.write(frame, tmp_path / f"x{ending}")
    assert list(tmp_path.iterdir()) == []


def write_sas(path, rows):
    """A real SAS file by way of the C library inside pyreadstat, which can write them although pyreadstat does not."""
    library = ctypes.CDLL(importlib.import_module("pyreadstat._readstat_writer").__file__)
    library.readstat_writer_init.restype = ctypes.c_void_p
    library.readstat_add_variable.restype = ctypes.c_void_p
    library.readstat_add_variable.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int, ctypes.c_size_t]
    for name in ("readstat_begin_row", "readstat_end_row", "readstat_end_writing", "readstat_writer_free"):
        getattr(library, name).argtypes = [ctypes.c_void_p]
    library.readstat_variable_set_label.argtypes = [ctypes.c_void_p, ctypes.c_char_p]
    library.readstat_begin_writing_sas7bdat.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_long]
    library.readstat_insert_double_value.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_double]
    library.readstat_insert_string_value.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p]
    library.readstat_insert_missing_value.argtypes = [ctypes.c_void_p, ctypes.c_void_p]
    chunks = []
    take = ctypes.CFUNCTYPE(ctypes.c_ssize_t, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_void_p)
    sink = take(lambda data, length, _: chunks.append(ctypes.string_at(data, length)) or length)
    writer = library.readstat_writer_init()
    library.readstat_set_data_writer.argtypes = [ctypes.c_void_p, take]
    assert library.readstat_set_data_writer(writer, sink) == 0
    text = library.readstat_add_variable(writer, b"zip", 0, 8)
    number = library.readstat_add_variable(writer, b"income", 5, 8)
    library.readstat_variable_set_label(number, b"Monthly income")
    assert library.readstat_begin_writing_sas7bdat(writer, None, len(rows)) == 0
    for code, value in rows:
        assert library.readstat_begin_row(writer) == 0
        assert library.readstat_insert_string_value(writer, text, code.encode()) == 0
        if value is None:
            library.readstat_insert_missing_value(writer, number)
        else:
            library.readstat_insert_double_value(writer, number, value)
        assert library.readstat_end_row(writer) == 0
    assert library.readstat_end_writing(writer) == 0
    library.readstat_writer_free(writer)
    path.write_bytes(b"".join(chunks))


def test_sas_is_read_and_not_written(tmp_path):
    write_sas(tmp_path / "people.sas7bdat", [("02139", 1000.5), ("28004", None)])
    data = sources.read(tmp_path / "people.sas7bdat")
    assert data.frame.rows() == [("02139", 1000.5), ("28004", None)]
    assert data.labels.format == "sas"
    assert data.labels.variables == {"income": "Monthly income"}
    sources.write(data.frame, tmp_path / "people.sav", like=data)
    assert sources.read(tmp_path / "people.sav").labels.variables == {"income": "Monthly income"}
    for attempt in (sources.check_writable, lambda path: sources.write(data.frame, path)):
        with pytest.raises(InputError, match=r"SAS files can only be read; write \.sav"):
            attempt(tmp_path / "out.sas7bdat")


def test_without_the_extra_it_says_what_to_install(tmp_path, monkeypatch):
    (tmp_path / "people.sav").write_bytes(b"x")
    monkeypatch.setitem(sys.modules, "pyreadstat", None)
    for attempt in (
        lambda: sources.read(tmp_path / "people.sav"),
        lambda: sources.check_writable(tmp_path / "out.dta"),
    ):
        with pytest.raises(InputError, match="install Shoal with its extra 'stat'"):
            attempt()


@pytest.mark.parametrize("ending", ["sav", "dta"])
def test_nobody_learns_when_a_file_was_made(tmp_path, ending):
    path = tmp_path / f"people.{ending}"
    sources.write(pl.DataFrame({"age": [31.5, 40.0]}), path)
    pyreadstat = pytest.importorskip("pyreadstat")
    read = pyreadstat.read_sav if ending == "sav" else pyreadstat.read_dta
    assert read(str(path))[1].creation_time.year == 1980
    assert sources.read(path).frame["age"].to_list() == [31.5, 40.0]
