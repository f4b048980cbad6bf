import codecs
import datetime as dt
import random
import re

import polars as pl
import pytest

from shoal import InputError, sources
from shoal.sources import inference


@pytest.fixture
def read(tmp_path):
    def reader(content, name="people.csv", **options):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return sources.read(path, **options)

    return reader


@pytest.fixture
def refusal(read):
    """The message for a file that must be refused; never more than a line, and never its content."""

    def message(content, **options):
        with pytest.raises(InputError) as caught:
            read(content, **options)
        assert "\n" not in str(caught.value)
        assert "SECRET" not in str(caught.value)
        return str(caught.value)

    return message


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_the_separator_is_guessed_and_said(read, separator):
    data = read(f"a{separator}b\n1{separator}x\n2{separator}y\n")
    assert data.frame.rows() == [(1, "x"), (2, "y")]
    shown = "tab" if separator == "\t" else f"'{separator}'"
    assert data.notes == (() if separator == "," else (f"separator {shown} (guessed)",))
    assert data.dialect.separator == separator
    assert read(f"a{separator}b\n1{separator}x\n", separator=separator).notes == ()


def test_tab_files_and_words_for_signs(read):
    assert read("a\tb,c\n1\t2\n", name="x.tsv").frame.columns == ["a", "b,c"]
    assert read("a\tb\n1\t2\n", separator="tab").frame.columns == ["a", "b"]
    assert read("a;b\n1;2,5\n", separator="semicolon", decimal="comma").frame.rows() == [(1, 2.5)]


def test_the_decimal_comma_is_guessed_and_said(read):
    data = read("a;b;c;d;e\n1,5;1;x;1.5;\n2;2;y;2.5;NaN\n")
    assert data.frame.rows()[0] == (1.5, 1, "x", "1.5", None)
    assert data.frame.dtypes == [pl.Float64, pl.Int64, pl.String, pl.String, pl.Float64]
    assert "decimal comma (guessed)" in data.notes
    assert read('a,b\n"1,5",2\n').frame.rows() == [("1,5", 2)]  # could as well be thousands
    assert read('a,b\n"1,5",2\n', decimal=",").frame.rows() == [(1.5, 2)]
    assert read("a;b\n1.500;2\n", decimal=",").frame.rows() == [("1.500", 2)]
    assert read("a;b\n1.5;2\n").frame.rows() == [(1.5, 2)]
    assert read("a;b\n1,5;2\n", decimal=".").frame.rows() == [("1,5", 2)]


@pytest.mark.parametrize(
    ("encoding", "start", "shown"),
    [
        ("utf-8", b"", None),
        ("utf-8", codecs.BOM_UTF8, "utf-8-sig"),
        ("utf-16-le", codecs.BOM_UTF16_LE, "utf-16"),
        ("utf-16-be", codecs.BOM_UTF16_BE, "utf-16"),
        ("latin-1", b"", "cp1252"),
        ("cp1252", b"", "cp1252"),
    ],
)
def test_the_encoding_is_guessed_and_said(read, encoding, start, shown):
    word = "Muñoz “quoted”" if encoding == "cp1252" else "Muñoz"
    data = read(start + f"name,añada\n{word},1\n".encode(encoding))
    assert data.frame.rows() == [(word, 1)]
    assert data.frame.columns == ["name", "añada"]
    assert data.notes == ((f"encoding {shown} (guessed)",) if shown else ())
    data = read(f"name,x\n{word},1\n".encode(encoding), encoding=encoding)
    assert data.frame.rows() == [(word, 1)]
    assert data.notes == ()


def test_broken_encodings_are_refused_with_the_line(refusal):
    good = "name,x\nMuñoz SECRET,1\nPeña,2\n".encode()
    assert "line 4" in refusal(good + b"SECRET\xff,3\n")
    assert "broken UTF-8" in refusal(good + b"SECRET\xff,3\n")
    assert "line 2 of 'people.csv' is neither UTF-8 nor Windows-1252" in refusal(
        b"name,x\nSECRET\x81\xf1,3\n"
    )
    assert "line 2 of 'people.csv' holds a NUL byte" in refusal(b"name,x\nSECRET\0,3\n")
    assert "line 2 of 'people.csv' holds a NUL" in refusal(b"name,x\nSECRET\0,3\n", encoding="latin-1")
    assert "line 3 of 'people.csv' is not big5" in refusal(b"name,x\na,1\nSECRET\xff,3\n", encoding="big5")
    assert "not utf-8; it looks like cp1252" in refusal(b"name,x\nSECRET\xf1,3\n", encoding="utf-8")
    assert "is not utf-16" in refusal(codecs.BOM_UTF16_LE + b"a\0,\0b\0\n\0S\0\x00\xd8")
    assert "encoding 'klingon' is unknown" in refusal(b"a\n", encoding="klingon")
    assert "separator 'ab'" in refusal(b"a\n", separator="ab")
    assert "decimal sign ';'" in refusal(b"a\n", decimal=";")


def test_headers(read, refusal):
    assert "is empty" in refusal("")
    assert "first line of 'people.csv' is empty" in refusal("\nSECRET,b\n1,2\n")
    assert "columns 1 and 3 of 'people.csv' have the same name" in refusal("SECRET,b,SECRET\n1,2,3\n")
    assert "columns 2 and 3 of 'people.csv' have no name" in refusal("SECRET,,\n1,2,3\n")
    assert "holds only numbers" in refusal("35,2139,1.5\n36,2140,2\n")
    assert "holds only numbers" in refusal("5\n6\n")
    assert "quote out of place" in refusal('a,b\n"SECRET,1\n2,3\n')
    assert "column 'agee' is not in 'people.csv'; did you mean 'age'" in refusal(
        "age,x\n1,2\n", columns=["agee"]
    )
    assert read("1,2,3\n9,8,7\n").frame.columns == ["1", "2", "3"]  # counted columns
    assert read(",2019,2020\na,1,2\n").frame.columns == ["", "2019", "2020"]  # a matrix with row names
    assert read('"a\nb","c ""d"""\n1,2\n').frame.columns == ["a\nb", 'c "d"']
    assert read("a,b").frame.shape == (0, 2)
    assert read("a\nx").frame.shape == (1, 1)


def test_ragged_records_are_refused_with_the_line(refusal):
    assert "line 3 of 'people.csv' has 1 field, its header has 2" in refusal("a,b\n1,2\nSECRET\n4,5\n")
    assert "line 2 of 'people.csv' has 3 fields, its header has 2" in refusal("a,b\n1,2,SECRET\n")
    assert "line 2" in refusal('a,b\n1,"SECRET"x\n2,3\n')


def test_untidy_but_clear_files_are_read(read):
    assert read("a,b\n1,2\n\n3,4\n \n\n").frame.rows() == [(1, 2), (3, 4)]
    assert read("a,b\r\n1,2\r\n3,4\r\n").frame.rows() == [(1, 2), (3, 4)]
    assert read("a,b\r1,2\r3,4\r").frame.rows() == [(1, 2), (3, 4)]
    assert read('size,n\n5" pipe,1\n6" pipe,2\n').frame.rows() == [('5" pipe', 1), ('6" pipe', 2)]
    assert read("a, b\n 1, x\n 2, y\n").frame.rows() == [(1, " x"), (2, " y")]
    assert read('a;b\n"1";"x"\n"";"y"\n').frame.rows() == [(1, "x"), (None, "y")]
    assert read("a\n1\n\n3\n").frame.rows() == [(1,), (None,), (3,)]


@pytest.mark.parametrize(
    ("values", "dtype"),
    [
        (["02139", "10001"], pl.String),
        (["0", "10", "-3"], pl.Int64),
        (["+34", "35"], pl.String),
        (["007.5", "1.5"], pl.String),
        (["0.5", "-0.25", ".5", "1e-3"], pl.Float64),
        (["9223372036854775807", "-9223372036854775808"], pl.Int64),
        (["9223372036854775808", "1"], pl.String),
        (["12345678901234567890", "1.5"], pl.String),
        (["1_000", "2"], pl.String),
        (["0x1F", "2"], pl.String),
        (["true", "false", ""], pl.Boolean),
        (["True", "False"], pl.String),
        (["2024-01-31", ""], pl.Date),
        (["2024-02-30", "2024-01-31"], pl.String),
        (["31.1.2024", "1.2.2024"], pl.Date),
        (["31.01.2024", "1.2.2024"], pl.String),
        (["2024-01-31T12:00:00", "2024-01-31T12:00:01"], pl.Datetime("us")),
        (["2024-01-31T12:00:00.250000", ""], pl.Datetime("us")),
        (["2024-01-31 12:00:00"], pl.Datetime("us")),
        (["2024-01-31 12:00:00", "2024-01-31"], pl.String),
        (["NA", "5", ".", "NULL"], pl.Int64),
        (["NA", "5,5"], pl.String),
        (["NA", "NL"], pl.String),
        (["NA", "NA"], pl.String),
        (["inf", "-inf", "NaN", "1.5"], pl.Float64),
        (["", ""], pl.String),
    ],
)
def test_a_column_is_a_number_or_date_only_if_nothing_is_lost(read, values, dtype):
    lines = "".join(f'{i},"{value}"\n' for i, value in enumerate(values))
    frame = read("row,value\n" + lines).frame
    assert frame.schema["value"] == dtype
    if dtype == pl.String:
        assert frame["value"].to_list() == values


def test_types_are_decided_by_every_record(read):
    count = 3 * inference._SAMPLE
    columns = {
        "zip": ["10001"] * count + ["02139"],
        "late": [""] * count + ["7"],
        "float": ["1"] * count + ["1.5"],
        "text": ["1"] * count + ["x"],
        "long": ["1"] * count + ["99999999999999999999"],
        "whole": ["1"] * count + ["2"],
        "none": [""] * (count + 1),
    }
    lines = "\n".join(",".join(record) for record in zip(*columns.values(), strict=True))
    frame = read(",".join(columns) + "\n" + lines + "\n").frame
    text, whole = pl.String, pl.Int64
    assert frame.dtypes == [text, whole, pl.Float64, text, text, whole, text]
    assert frame["zip"].to_list() == columns["zip"]
    commas = lines.replace(",", ";").replace("1.5", "1,5")
    data = read(";".join(columns) + "\n" + commas + "\n")
    assert data.frame.dtypes == frame.dtypes
    assert "decimal comma (guessed)" in data.notes


def test_marks_for_missing_are_said(read):
    data = read("a,b\nNA,x\n5,NA\n")
    assert data.frame.rows() == [(None, "x"), (5, "NA")]
    assert data.notes == ("NA and the like read as missing in column a",)


def test_a_file_is_written_as_it_came(tmp_path):
    path = tmp_path / "firms.csv"
    content = "firm;añada;x\r\n007;1,5;é\r\n008;;\r\n".encode("cp1252")
    path.write_bytes(content)
    data = sources.read(path)
    sources.write(data.frame, tmp_path / "out.csv", like=data)
    assert (tmp_path / "out.csv").read_bytes() == content
    sources.write(data.frame, tmp_path / "out.tsv", like=data)  # another format: its own usual way
    assert (tmp_path / "out.tsv").read_text(encoding="utf-8") == "firm\tañada\tx\n007\t1.5\té\n008\t\t\n"
    sources.write(
        data.frame, tmp_path / "own.csv", like=data, separator="|", decimal=".", encoding="utf-8-sig"
    )
    assert (
        (tmp_path / "own.csv").read_bytes().startswith(codecs.BOM_UTF8 + "firm|añada|x\r\n007|1.5|é".encode())
    )
    sources.write(data.frame, tmp_path / "wide.csv", encoding="utf-16")
    again = sources.read(tmp_path / "wide.csv")
    assert again.frame.equals(data.frame)
    assert again.dialect.encoding == "utf-16"


def test_what_a_text_file_cannot_hold_is_refused(tmp_path):
    for frame, options, message in (
        (pl.DataFrame({"x": ["σ"]}), {"encoding": "latin-1"}, "characters that iso8859-1 lacks"),
        (pl.DataFrame({"x": [[1]]}), {}, "column 'x' holds List"),
        (pl.DataFrame({"x": [b"1"]}), {}, "column 'x' holds Binary"),
        (pl.DataFrame({"x": ["\0"]}), {}, "column 'x' holds NUL"),
        (pl.DataFrame({"x": [1.5]}), {"decimal": ","}, "cannot both be ','"),
    ):
        with pytest.raises(InputError, match=message):
            sources.write(frame, tmp_path / "x.csv", **options)
    assert list(tmp_path.iterdir()) == []


def test_dates_times_and_others_are_written_readably(tmp_path):
    frame = pl.DataFrame(
        {
            "d": [dt.date(2024, 1, 31), None],
            "t": [dt.datetime(2024, 1, 31, 12), None],
            "f": [dt.datetime(2024, 1, 31, 12, 0, 0, 5), None],
            "z": [dt.datetime(2024, 1, 31, 12, tzinfo=dt.UTC), None],
            "c": pl.Series(["a", "b"], dtype=pl.Categorical),
        }
    )
    sources.write(frame, tmp_path / "x.csv")
    lines = (tmp_path / "x.csv").read_text().splitlines()
    assert lines[1] == "2024-01-31,2024-01-31T12:00:00,2024-01-31T12:00:00.000005,2024-01-31T12:00:00+00:00,a"
    back = sources.read(tmp_path / "x.csv").frame
    assert back.select("d", "t", "f").equals(frame.select("d", "t", "f"))


def test_names_of_files_are_taken_as_they_are(tmp_path):
    for name in ("a*b.csv", "[x].csv", "~.csv", "a b?.csv", "é.csv"):
        sources.write(pl.DataFrame({"x": [1]}), tmp_path / name)
        assert sources.read(tmp_path / name).frame.rows() == [(1,)]
    with pytest.raises(InputError, match=r"file 'é.cvs.csv' .* did you mean 'é.csv'"):
        sources.read(tmp_path / "é.cvs.csv")
    with pytest.raises(InputError, match="not there: its folder does not exist"):
        sources.read(tmp_path / "nowhere" / "x.csv")
    (tmp_path / "folder.csv").mkdir()
    with pytest.raises(InputError, match="is a folder"):
        sources.read(tmp_path / "folder.csv")
    with pytest.raises(InputError):
        sources.read("a\0b.csv")


@pytest.mark.parametrize("kind", ["integer", "point", "comma"])
def test_what_numbers_would_lose_is_found_as_by_looking_at_every_text(kind):
    patterns = {
        "integer": r"^(?:\+|-?0[0-9]|-0$)",
        "point": r"^(?:\+|-?0[0-9]|-?[0-9]{16,}$)",
        "comma": r"^(?:\+|-?0[0-9]|-?[0-9]{16,}$)|\.",
    }
    draw = random.Random(kind)
    for _ in range(300):
        texts = [
            "".join(draw.choice("0019+-.,e") for _ in range(draw.choice([0, 1, 2, 3, 18])))
            for _ in range(draw.randint(1, 3))
        ]
        wanted = any(re.search(patterns[kind], text) for text in texts)
        assert inference._spoilt(pl.Series([*texts, None], dtype=pl.String), kind) == wanted, texts
