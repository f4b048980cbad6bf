"""A first line that is a record is not taken for column names, and ordinary files are left in peace."""

import datetime as dt

import polars as pl
import pytest
from tests.benchmark_data import benchmark_file
from tests.cli.running import shoal

from shoal import InputError, sources

RECORDS = {
    "a date above dates": "SECRET,2024-02-29\nBob,2023-01-01\nCid,2022-12-24\n",
    "decimals that do not rise": "SECRET,1711.25,38\nBob,980.5,51\nCid,2200.0,44\n",
    "an area that comes again": "north,37\nsouth,41\nnorth,29\nsouth,53\n",
    "in no order, each among its own": "SECRET,1711,38\nBob,980,51\nCid,2200,30\n",
}
DOUBTFUL = {
    "one number": "SECRET,38\nBob,51\nCid,30\n",
    "rising by chance": "SECRET,38,1711\nBob,51,980\nCid,30,2200\n",
    "words that come again": "north,yes\nsouth,no\nnorth,yes\nsouth,yes\n",
}
NAMES = {
    "ordinary": "name,age\nBob,51\nCid,30\n",
    "years": "region,2019,2020,2021\nnorth,1,2,3\nsouth,2000,2040,2050\n",
    "years with a gap": "region,2015,2020\nnorth,1000,2500\nsouth,2030,1990\n",
    "falling years": "region,2021,2020\nnorth,1,2\nsouth,3,4\n",
    "one year": "region,2021\nnorth,1000\nsouth,4000\n",
    "classes of a matrix": "region,11,12,21\nnorth,10,20,30\nsouth,15,5,7\n",
    "limits": "region,0.1,0.5,0.9\nnorth,0.05,0.4,0.95\nsouth,0.2,0.6,0.99\n",
    "classes and a total": "region,2,1,total\nnorth,1,2,3\nsouth,2,3,5\n",
    "dates as names": "region,2024-01-01,2024-02-01\nnorth,1,2\nsouth,3,4\n",
    "words": "name,town\nBob,Rom\nCid,Lyon\n",
    "a name that is a value": "name,answer\nname,yes\nCid,no\n",
    "nothing below": "name,age\n",
}


@pytest.fixture
def file(tmp_path):
    def write(text: str):
        path = tmp_path / "people.csv"
        path.write_text(text)
        return path

    return write


@pytest.mark.parametrize("kind", RECORDS)
def test_a_record_in_place_of_names_is_refused_without_its_values(kind, file):
    path = file(RECORDS[kind])
    told = shoal("anonymity", path, "--quasi", "x")
    assert told.code == 2
    assert "the first line of 'people.csv' looks like a record" in told.err and "--header-row 0" in told.err
    first = RECORDS[kind].splitlines()[0].split(",")
    assert not any(field in told.out + told.err for field in first)
    width = len(first)
    data = sources.read(path, header_row=0)
    assert data.frame.columns == [f"column{number}" for number in range(1, width + 1)]
    assert data.frame.height == len(RECORDS[kind].splitlines())
    assert sources.read(path, header_row=1).frame.columns == first


@pytest.mark.parametrize("kind", DOUBTFUL)
def test_a_line_that_may_be_a_record_is_warned_of_before_anything_else(kind, file):
    path = file(DOUBTFUL[kind])
    assert len(sources.read(path).warnings) == 1
    told = shoal("anonymity", path, "--quasi", DOUBTFUL[kind].split(",")[0], "--quiet")
    assert told.code == 0
    assert told.err.splitlines()[0].startswith("warning: the first line of 'people.csv' may be a record")
    assert sources.read(path, header_row=1).warnings == sources.read(path, header_row=0).warnings == ()


@pytest.mark.parametrize("kind", NAMES)
def test_no_false_alarm(kind, file):
    data = sources.read(file(NAMES[kind]))
    assert data.warnings == ()
    assert ",".join(data.frame.columns) == NAMES[kind].splitlines()[0]


@pytest.mark.parametrize(
    "name",
    [
        "casc/census.csv",
        "casc/tarragona.csv",
        "casc/eia_11num.csv",
        "adult/adult.csv",
        "water-treatment/water-treatment.csv",
    ],
)
def test_no_false_alarm_on_files_of_others(name):
    assert sources.read(benchmark_file(name)).warnings == ()


def test_a_sheet_is_looked_at_too(tmp_path):
    path = tmp_path / "people.xlsx"
    rows = [
        ("SECRET", dt.date(2024, 2, 29), 38),
        ("Bob", dt.date(2023, 1, 1), 51),
        ("Cid", dt.date(2022, 12, 24), 44),
    ]
    pl.DataFrame(rows, orient="row").write_excel(path, include_header=False)
    with pytest.raises(InputError, match=r"the first row of 'people\.xlsx' looks like a record") as problem:
        sources.read(path)
    assert "SECRET" not in str(problem.value)
    data = sources.read(path, header_row=0)
    assert data.frame.shape == (3, 3) and data.frame.columns == ["column1", "column2", "column3"]
    assert data.frame["column3"].to_list() == [38, 51, 44]


def test_a_release_with_numbers_for_names_is_written_and_read_back(tmp_path):
    path, out = tmp_path / "wide.csv", tmp_path / "safe.csv"
    path.write_text("9.5,7.25,3\n" + "".join(f"{n % 7 / 2 + 6},{n % 5 / 4 + 5},{n % 3}\n" for n in range(40)))
    told = shoal("microaggregate", path, "-k", 3, "--header-row", 1, "--columns", "9.5,7.25", "-o", out)
    # Names of numbers alone are refused whatever is said; the others are taken at their word.
    assert told.code == 2
    path.write_text("who," + path.read_text().replace("\n", "\nx,")[: -len("x,")])
    told = shoal("microaggregate", path, "-k", 3, "--header-row", 1, "--columns", "9.5,7.25", "-o", out)
    assert told.code == 0, told.err


def test_a_column_named_like_a_pattern_is_one_column(file):
    path = file("name,*,^.*$\nBob,a,b\n")
    assert sources.read(path).frame.rows() == [("Bob", "a", "b")]
    assert sources.read(path, columns=["*", "name"]).frame.rows() == [("a", "Bob")]
