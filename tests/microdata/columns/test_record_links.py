"""The file that says which released record is which: written for its owner alone, read with suspicion."""

import stat
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.cli.running import shoal as command

import shoal
from shoal import InputError, sources
from shoal.microdata.columns.record_links import RecordLinks


@pytest.fixture
def survey() -> pl.DataFrame:
    draw = np.random.default_rng(3)
    gaps = pl.Series("rent", draw.normal(900, 200, 50).round(1)).scatter([4, 20, 21], None)
    return pl.DataFrame({"income": draw.lognormal(8, 0.4, 50).round(2), "rent": gaps, "mark": range(50)})


@pytest.mark.parametrize("order", ["keep", "sorted"])
def test_links_lead_from_each_record_to_its_own(survey, order):
    result = shoal.microaggregate(
        survey, 4, columns=["income", "rent"], method="mdav", missing="aside", order=order
    )
    links = result.record_links
    assert (links.records, links.released_records) == (50, 47)
    assert np.flatnonzero(links.released < 0).tolist() == [4, 20, 21]
    originals, released = links.rows()
    # The mark of each record was released as it is.
    assert result.frame["mark"].gather(released).to_list() == survey["mark"].gather(originals).to_list()
    assert "released" not in repr(links)


def test_a_file_of_links_is_for_its_owner_alone_and_says_so(survey, tmp_path):
    data, out, links = (tmp_path / name for name in ("survey.csv", "safe.csv", "links.csv"))
    survey.write_csv(data)
    links.write_text("old")
    links.chmod(0o644)
    asked = ["microaggregate", data, "-k", 4, "--columns", "income,rent", "--method", "mdav"]
    asked += ["--missing", "aside", "--order", "sorted", "-o", out, "--record-links", links]
    assert command(*asked).code == 2 and links.read_text() == "old"
    told = command(*asked, "--force")
    assert told.code == 0, told
    assert stat.S_IMODE(links.stat().st_mode) == 0o600
    lines = links.read_text().splitlines()
    assert lines[0] == "original,released,note" and len(lines) == 51
    assert all(line.endswith(",internal") for line in lines[2:]) and '"internal: sums' in lines[1]
    assert [number for number, line in enumerate(lines[1:], 1) if line == f"{number},,internal"] == [
        5,
        21,
        22,
    ]
    assert "internal" not in out.read_text() and "original" not in out.read_text()
    read = RecordLinks.read(links)
    assert read.csv() == links.read_text()
    originals, released = read.rows()
    assert pl.read_csv(out)["mark"].gather(released).to_list() == survey["mark"].gather(originals).to_list()
    with pytest.raises(InputError, match="exists already"):
        read.write(links)


def test_links_are_not_written_where_another_output_goes(survey, tmp_path):
    survey.write_csv(tmp_path / "survey.csv")
    out = tmp_path / "safe.csv"
    asked = ["microaggregate", tmp_path / "survey.csv", "--columns", "income", "--method", "mdav"]
    assert command(*asked, "-o", out, "--record-links", out, "--force").code == 2
    assert not out.exists()


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "header must name original and released"),
        ("income,rent\n1,2\n", "header must name original and released"),
        ("original,released\n1,1\n2,two\n", "line 3 of 'links.csv' is no record link"),
        ("original,released\n1,1\n2,2.5\n", "line 3 of 'links.csv' is no record link"),
        ("original,released\n1\n", "line 2 of 'links.csv' is no record link"),
        ("original,released\n0,1\n", "line 2 of 'links.csv' is no record link"),
        ("original,released\n,1\n", "line 2 of 'links.csv' is no record link"),
        (f"original,released\n{'9' * 5000},1\n", "line 2 of 'links.csv' is no record link"),
        ("original,released\n1,1\n1,2\n", "not one to one: every original record from 1 to 2"),
        ("original,released\n1,1\n2,1\n", "not one to one: every released record from 1 to 2"),
        ("original,released\n1,1\n2,3\n", "not one to one: every released record from 1 to 2"),
        ("original,released\n1,1\n9007199254740000,2\n", "not one to one"),
    ],
)
def test_a_file_that_links_nothing_is_refused(tmp_path, text, message):
    path = tmp_path / "links.csv"
    path.write_text(text)
    with pytest.raises(InputError, match=message):
        RecordLinks.read(path)


def test_what_is_no_text_or_not_there_is_refused(tmp_path):
    with pytest.raises(InputError, match="is not there"):
        RecordLinks.read(tmp_path / "none.csv")
    (tmp_path / "links.csv").write_bytes(b"original,released\n\xff\xfe\n")
    with pytest.raises(InputError, match="not a text file"):
        RecordLinks.read(tmp_path / "links.csv")


def test_the_note_and_the_order_of_lines_do_not_count(tmp_path):
    path = tmp_path / "links.csv"
    path.write_text("note,released,original\nanything,1,3\n,,2\n\nmine,2,1\n")
    assert RecordLinks.read(path).released.tolist() == [1, -1, 0]


def test_links_of_another_release_are_refused_though_no_column_was_left_alone(tmp_path):
    rng = np.random.default_rng(1)
    survey = pl.DataFrame({"income": rng.normal(2000, 300, 120), "rent": rng.normal(800, 90, 120)})
    fine, coarse = (
        shoal.microaggregate(survey, k, columns=["income", "rent"], method="mdav", order="sorted")
        for k in (5, 25)
    )
    assert fine.record_links.released_records == coarse.record_links.released_records
    with pytest.raises(InputError, match="of another release"):
        shoal.compare(survey, fine.frame, record_links=coarse.record_links)
    fine.record_links.write(tmp_path / "links.csv")
    for name in ("safe.csv", "safe.xlsx", "safe.parquet"):
        sources.write(fine.frame, tmp_path / name)
        again = sources.read(tmp_path / name).frame
        assert shoal.compare(survey, again, record_links=tmp_path / "links.csv").records == 120
    changed = fine.frame.with_columns(pl.col("rent").round(0))
    with pytest.raises(InputError, match="changed since"):
        shoal.compare(survey, changed, record_links=tmp_path / "links.csv")


def test_a_damaged_last_line_is_refused(tmp_path):
    file = tmp_path / "links.csv"
    file.write_text(
        "original,released,note\n1,1,internal\n# internal: sums by place of the release {broken\n"
    )
    with pytest.raises(InputError, match="what it notes of the release must be sums"):
        RecordLinks.read(file)


def test_any_reader_of_tables_reads_them_and_files_of_earlier_versions_are_read(tmp_path: Path):
    links = RecordLinks.of(
        [True, True, False], [1, 0], {"pay": np.array([3.0, 5.0]), "a, b": np.array([1.0, 2.0])}
    )
    path = tmp_path / "links.csv"
    links.write(path)
    pandas = pytest.importorskip("pandas")
    table = pandas.read_csv(path)
    assert list(table.columns) == ["original", "released", "note"] and len(table) == 3
    assert pl.read_csv(path).height == 3 and table["note"].str.startswith("internal").all()
    assert RecordLinks.read(path).sums == links.sums
    earlier = "original,released,note\n1,2,internal\n2,1,internal\n3,,internal\n"
    path.write_text(earlier + '# internal: sums by place of the release {"pay": 2.5}\n')
    found = RecordLinks.read(path)
    assert found.released.tolist() == links.released.tolist() and found.sums == {"pay": 2.5}
