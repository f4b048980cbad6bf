"""Types that only one of the databases has."""

import datetime as dt
from decimal import Decimal

import polars as pl
import pytest
from polars.testing import assert_frame_equal

from shoal import InputError, sources


def test_sqlite_types_its_values_and_not_its_columns(sqlite_database):
    database = sqlite_database
    database.run(
        "CREATE TABLE t (i INTEGER, mixed INTEGER, numbers, d DATE, odd DATE, m DATETIME, b BOOLEAN, p DECIMAL(8,2), n REAL)",
        "INSERT INTO t VALUES (1, 1, 1, '2024-01-31', '31.1.2024', '2024-01-31 12:00:00', 1, 1.25, 3)",
        "INSERT INTO t VALUES (2, 'x', 2.5, NULL, '2024-02-01', '2024-01-31 12:00:00.5', 0, 2, NULL)",
    )
    frame = sources.read(database("t")).frame
    assert frame.rows() == [
        (
            1,
            "1",
            1.0,
            dt.date(2024, 1, 31),
            "31.1.2024",
            dt.datetime(2024, 1, 31, 12),
            True,
            Decimal("1.25"),
            3.0,
        ),
        (
            2,
            "x",
            2.5,
            None,
            "2024-02-01",
            dt.datetime(2024, 1, 31, 12, 0, 0, 500_000),
            False,
            Decimal("2.00"),
            None,
        ),
    ]
    assert sources.read(database("T"), columns=["i"]).frame.height == 2  # SQLite does not care for case
    with pytest.raises(InputError, match="exists already"):
        sources.write(frame, database("T"))
    database.run("CREATE TABLE blobs (x)", "INSERT INTO blobs VALUES (x'00'), ('a')")
    with pytest.raises(InputError, match="column 'x' mixes binary and other values"):
        sources.read(database("blobs"))
    with pytest.raises(InputError, match="more than 15 digits"):
        sources.write(pl.DataFrame({"p": [Decimal("1234567890123.456")]}), database("digits"))


@pytest.mark.xdist_group("postgresql")
def test_postgresql(postgresql_database):
    database = postgresql_database
    database.run(
        "CREATE TYPE mood AS ENUM ('good', 'bad')",
        "CREATE SCHEMA lab",
        "CREATE TABLE lab.t (u uuid, e mood, a integer[], j jsonb, n numeric, big numeric, z timestamptz, iv interval,"
        " c char(3), r real, s smallint GENERATED ALWAYS AS IDENTITY)",
        "INSERT INTO lab.t VALUES ('a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11', 'good', '{1,2}', '{\"k\": 1}', 1.25, 'NaN',"
        " '2024-01-31 12:00+02', '1 day', 'ab', 0.1), (NULL, NULL, NULL, NULL, 100, 2.5, NULL, NULL, NULL, NULL)",
    )
    frame = sources.read(database("lab.t")).frame
    assert frame.schema["n"] == pl.Decimal(38, 2)
    assert frame.schema["big"] == pl.Float64
    assert frame.schema["z"] == pl.Datetime("us", "UTC")
    assert frame.schema["r"] == pl.Float32
    assert frame["u"][0] == "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"
    assert frame["z"][0] == dt.datetime(2024, 1, 31, 10, tzinfo=dt.UTC)
    assert frame.select("e", "a", "j", "iv").row(0) == ("good", "{1,2}", '{"k": 1}', "1 day")
    sources.write(frame, database("lab.copy"))
    assert_frame_equal(sources.read(database("lab.copy")).frame, frame)
    assert database.run("SELECT count(*) FROM lab.copy") == [(2,)]
    news = pl.DataFrame(
        {"u": [frame["u"][0]], "e": ["bad"], "j": ["[2]"], "z": [dt.datetime(2024, 2, 1, tzinfo=dt.UTC)]}
    )
    sources.update_columns(database("lab.t"), "u", news)
    changed = sources.read(database("lab.t"), columns=["e", "j", "z"]).frame.sort("e", nulls_last=True)
    assert changed.row(0) == news.row(0)[1:]
    with pytest.raises(InputError, match="a value does not fit its column"):
        sources.update_columns(database("lab.t"), "u", news.with_columns(e=pl.lit("worse")))
    sources.write(frame, database("lab.t"), force=True)  # the identity is always generated: made anew
    assert_frame_equal(sources.read(database("lab.t")).frame, frame)
    with pytest.raises(InputError, match="column 'x' holds NUL"):
        sources.write(pl.DataFrame({"x": ["a\0b"]}), database("t"))
    database.run("CREATE VIEW lab.w AS SELECT s FROM lab.t")
    with pytest.raises(InputError, match="other objects depend on it"):
        sources.write(pl.DataFrame({"x": [1]}), database("lab.t"), force=True)


@pytest.mark.xdist_group("mariadb")
def test_mariadb(mariadb_database):
    database = mariadb_database
    database.run(
        "ALTER DATABASE CHARACTER SET latin1",
        "CREATE TABLE t (flag boolean, tiny tinyint(1), u bigint unsigned, f float, b bit(3), y year, t time(3),"
        " e enum('good', 'bad'), j json, d decimal(50, 2), x varchar(9) COLLATE latin1_german1_ci)",
        "INSERT INTO t VALUES (1, 5, 18446744073709551615, 0.1, 5, 2024, '12:00:00.5', 'good', '[1]', 1.25, 'ä')",
    )
    frame = sources.read(database("t")).frame
    row = frame.row(0)
    assert row[:3] == (True, 5, 2**64 - 1)
    assert frame.schema["f"] == pl.Float32
    assert frame["f"][0] == pl.Series([0.1], dtype=pl.Float32)[0]
    assert row[4:] == (5, 2024, dt.time(12, 0, 0, 500_000), "good", "[1]", "1.25", "ä")
    sources.write(frame, database("copy"))  # the characters fit, whatever the database prefers
    copy = sources.read(database("copy")).frame
    assert copy.rows() == frame.rows()
    sources.update_columns(database("t"), "x", pl.DataFrame({"x": ["ä"], "y": [2025]}))
    assert sources.read(database("t"), columns=["y"]).frame.rows() == [(2025,)]
    database.run("CREATE TABLE old (id integer, x integer) ENGINE=MyISAM", "INSERT INTO old VALUES (1, 2)")
    with pytest.raises(InputError, match="engine MyISAM, which cannot undo"):
        sources.update_columns(database("old"), "id", pl.DataFrame({"id": [1], "x": [3]}))
    with pytest.raises(InputError, match="out of range"):
        sources.update_columns(database("t"), "x", pl.DataFrame({"x": ["ä"], "tiny": [500]}))
