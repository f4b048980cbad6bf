import datetime as dt
from decimal import Decimal

import polars as pl
import pytest
import sqlalchemy as sa
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from polars.testing import assert_frame_equal

from shoal import InputError, sources

PEOPLE = pl.DataFrame(
    {
        "id": [3, 1, 2],
        "zip": ["02139", None, "28004"],
        "age": pl.Series([31, None, 47], dtype=pl.Int32),
        "wage": [1.5, 2.25, None],
        "paid": [Decimal("10.50"), Decimal("-3.25"), None],
        "adult": [True, None, False],
        "born": [dt.date(1990, 2, 28), dt.date(1899, 1, 1), None],
        "seen": [dt.datetime(2024, 1, 31, 12, 0, 1, 250), None, dt.datetime(1970, 1, 1)],
        "note": ["", "naïve 😀 'quoted' \"twice\" \\ %s :x", None],
    },
    schema_overrides={"paid": pl.Decimal(10, 2)},
)

NASTY = [
    'people"; DROP TABLE victims; --',
    "people'); DROP TABLE victims; -- \\",
    "people`; DROP TABLE victims; --",
    "100%s %(x)s",
    ":colon a)b(c",
    "sélect",
]


def stored(frame: pl.DataFrame, kind: str) -> pl.DataFrame:
    """What the database can give back of a frame: SQLite has one type of integer."""
    if kind == "sqlite":
        return frame.with_columns(pl.col(pl.Int32, pl.Int16).cast(pl.Int64))
    return frame


def test_round_trip_keeps_values_types_and_nulls(database):
    sources.write(PEOPLE, database("people"))
    data = sources.read(database("people"))
    assert_frame_equal(data.frame, stored(PEOPLE, database.kind))
    assert data.labels is None
    assert sources.list_tables(database.url) == ("people",)
    empty = PEOPLE.clear()
    sources.write(empty, database("empty"))
    assert_frame_equal(sources.read(database("empty")).frame, stored(empty, database.kind))


def test_small_types_come_back_as_the_database_has_them(database):
    frame = pl.DataFrame(
        {
            "i8": pl.Series([-128, 127], dtype=pl.Int8),
            "u8": pl.Series([0, 255], dtype=pl.UInt8),
            "u32": pl.Series([0, 2**32 - 1], dtype=pl.UInt32),
            "i64": [-(2**63), 2**63 - 1],
            "f32": pl.Series([0.1, 1e30], dtype=pl.Float32),
            "c": pl.Series(["a", "b"], dtype=pl.Categorical),
            "nothing": [None, None],
            "time": [dt.time(1, 2, 3, 4), dt.time(0)],
            "bytes": [b"\x00\xff", b""],
        }
    )
    sources.write(frame, database("types"))
    back = sources.read(database("types")).frame
    assert back.rows() == frame.rows()
    floats = pl.Float32 if database.kind == "postgresql" else pl.Float64
    assert back.schema["f32"] == floats
    assert back.schema["time"] == pl.Time
    assert back.schema["bytes"] == pl.Binary
    assert back.schema["c"] == pl.String


def test_columns_are_chosen_in_the_order_asked_for(database):
    sources.write(PEOPLE, database("people"))
    data = sources.read(database("people"), columns=["age", "id"])
    assert data.frame.columns == ["age", "id"]
    with pytest.raises(InputError, match="column 'agee' is not in table 'people'; did you mean 'age'"):
        sources.read(database("people"), columns=["agee"])


def test_unknown_tables_get_a_suggestion(database):
    sources.write(PEOPLE, database("people"))
    with pytest.raises(InputError, match="table 'poeple' is not in the database; did you mean 'people'"):
        sources.read(database("poeple"))
    with pytest.raises(InputError, match="schema 'nowhere'"):
        sources.read(database("nowhere.people"))


def test_existing_tables_are_replaced_only_with_force(database):
    sources.write(PEOPLE, database("people"))
    sources.check_writable(database("other"), force=False)
    for attempt in (
        lambda: sources.check_writable(database("people"), force=False),
        lambda: sources.write(PEOPLE.head(1), database("people")),
    ):
        with pytest.raises(InputError, match="table 'people' exists already; force="):
            attempt()
    assert sources.read(database("people")).frame.height == 3
    sources.check_writable(database("people"), force=True)
    sources.write(PEOPLE.head(1).select("id"), database("people"), force=True)
    assert sources.read(database("people")).frame.rows() == [(3,)]


def test_replacing_with_the_same_columns_keeps_key_and_index(database):
    text = "varchar(20)"
    database.run(
        f"CREATE TABLE people (id integer PRIMARY KEY, zip {text} NOT NULL)",
        "CREATE INDEX by_zip ON people (zip)",
        "INSERT INTO people VALUES (1, 'old')",
    )
    identity = pl.Int64 if database.kind == "sqlite" else pl.Int32
    frame = pl.DataFrame({"id": [2, 1], "zip": ["b", "a"]}, schema_overrides={"id": identity})
    sources.write(frame, database("people"), force=True)
    assert sources.read(database("people")).frame.rows() == [(1, "a"), (2, "b")]  # in the order of the key
    with database.connect() as connection:
        inspector = sa.inspect(connection)
        assert [index["name"] for index in inspector.get_indexes("people")] == ["by_zip"]
        assert inspector.get_pk_constraint("people")["constrained_columns"] == ["id"]
    twice = pl.DataFrame({"id": [1, 1], "zip": ["b", "a"]}, schema_overrides={"id": identity})
    with pytest.raises(InputError, match="key") as caught:
        sources.write(twice, database("people"), force=True)
    assert "'a'" not in str(caught.value)
    assert sources.read(database("people")).frame.rows() == [(1, "a"), (2, "b")]
    long = pl.DataFrame({"id": [1], "zip": ["x" * 21]}, schema_overrides={"id": identity})
    sources.write(long, database("people"), force=True)  # does not fit: made anew
    assert sources.read(database("people")).frame.rows() == long.rows()


def test_tables_that_others_refer_to_are_not_replaced(database):
    database.run(
        "CREATE TABLE people (id integer PRIMARY KEY)",
        "CREATE TABLE visits (person integer, FOREIGN KEY (person) REFERENCES people (id))",
        "INSERT INTO people VALUES (1)",
    )
    with pytest.raises(InputError, match="'people' is referred to by 'visits'"):
        sources.write(pl.DataFrame({"id": [2]}), database("people"), force=True)
    with pytest.raises(InputError, match="foreign keys that would get lost"):
        sources.write(pl.DataFrame({"other": [2]}), database("visits"), force=True)
    assert sources.read(database("people")).frame.rows() == [(1,)]


def test_views_are_read_and_not_written(database):
    database.run("CREATE TABLE people (id integer)", "INSERT INTO people VALUES (7)")
    database.run("CREATE VIEW seven AS SELECT id FROM people")
    assert sources.read(database("seven")).frame.rows() == [(7,)]
    assert sources.list_tables(database.url) == ("people", "seven")
    with pytest.raises(InputError, match="is a view"):
        sources.write(PEOPLE, database("seven"), force=True)


def test_names_that_look_like_sql_are_only_names(database):
    database.run("CREATE TABLE victims (id integer)")
    for name in NASTY:
        frame = pl.DataFrame({name: [1, 2], f"{name}!": ["%s", "'; DROP TABLE victims; --"]})
        sources.write(frame, database(name))
        assert_frame_equal(sources.read(database(name), columns=[f"{name}!", name]).frame, frame[:, ::-1])
        sources.write(frame.head(1), database(name), force=True)
        sources.update_columns(database(name), name, pl.DataFrame({name: [1], f"{name}!": ["x"]}))
        assert sources.read(database(name)).frame.rows() == [(1, "x")]
        with pytest.raises(InputError, match="is not in"):
            sources.read(database("victims"), columns=[name])
    with pytest.raises(InputError, match="is not in"):
        sources.read(database("1; DROP TABLE victims"))
    assert set(sources.list_tables(database.url)) == {"victims", *NASTY}


def test_names_that_the_database_would_change_are_refused(database):
    database.run("CREATE TABLE other (id integer)")
    for frame in (pl.DataFrame({"x" * 70: [1]}), pl.DataFrame({"": [1]}), pl.DataFrame({"a\0": [1]})):
        if database.kind != "sqlite" or not frame.columns[0].startswith("x"):
            with pytest.raises(InputError):
                sources.write(frame, database("t"))
    if database.kind != "postgresql":
        with pytest.raises(InputError, match="does not tell columns 'Age' and 'age' apart"):
            sources.write(pl.DataFrame({"Age": [1], "age": [2]}), database("t"))
    with pytest.raises(InputError):
        sources.write(pl.DataFrame({"a": [[1, 2]]}), database("t"))
    with pytest.raises(InputError):
        sources.write(pl.DataFrame({"a": [1]}), database("_shoal_new_x"))
    assert sources.list_tables(database.url) == ("other",)


def test_numbers_that_the_database_cannot_hold_are_refused(database):
    frame = pl.DataFrame({"x": [float("nan"), 1.0]})
    if database.kind == "postgresql":
        sources.write(frame, database("t"))
        assert_frame_equal(sources.read(database("t")).frame, frame)
    else:
        with pytest.raises(InputError, match="column 'x' holds NaN"):
            sources.write(frame, database("t"))
        with pytest.raises(InputError, match=r"'t' is not in|does not exist"):
            sources.read(database("t"))


def test_columns_are_updated_and_the_rest_stays(database):
    database.run(
        "CREATE TABLE people (id integer PRIMARY KEY, sex varchar(5), rec integer, wage double precision)",
        "CREATE INDEX by_sex ON people (sex)",
        "INSERT INTO people VALUES (0, 'man', -1, 0.5), (1, 'woman', -1, NULL), (2, 'man', -1, 2)",
    )
    news = pl.DataFrame({"id": [2, 0], "rec": [7, None]})
    sources.update_columns(database("people"), "id", news)
    after = [(0, "man", None, 0.5), (1, "woman", -1, None), (2, "man", 7, 2.0)]
    assert sources.read(database("people")).frame.rows() == after
    sources.update_columns(
        database("people"), ["id", "sex"], pl.DataFrame({"id": [1], "sex": ["woman"], "rec": [3]})
    )
    after[1] = (1, "woman", 3, None)
    for wrong, message in (
        (pl.DataFrame({"id": [1, 9], "rec": [1, 1]}), "1 of 2 keys are not in table 'people'"),
        (pl.DataFrame({"id": [1, 1], "rec": [1, 1]}), "same key"),
        (pl.DataFrame({"id": [1, None], "rec": [1, 1]}), "missing"),
        (
            pl.DataFrame({"id": [1], "reck": [1]}),
            "column 'reck' is not in table 'people'; did you mean 'rec'",
        ),
        (pl.DataFrame({"id": [1], "rec": [1.5]}), "whole numbers"),
        (pl.DataFrame({"id": [1]}), "at least one key column and one other"),
        (pl.DataFrame({"rec": [1]}), "key column 'id'"),
    ):
        with pytest.raises(InputError, match=message):
            sources.update_columns(database("people"), "id", wrong)
    with pytest.raises(InputError, match="share their key"):
        sources.update_columns(database("people"), "sex", pl.DataFrame({"sex": ["man"], "rec": [1]}))
    assert sources.read(database("people")).frame.rows() == after
    with database.connect() as connection:
        assert [index["name"] for index in sa.inspect(connection).get_indexes("people")] == ["by_sex"]


def test_an_update_by_a_text_key_of_a_table_without_index(database):
    frame = pl.DataFrame({"code": [f"é{i:05d}" for i in range(3000)], "rec": [-1] * 3000})
    sources.write(frame, database("people"))
    news = frame.with_columns(rec=pl.int_range(3000, dtype=pl.Int64)).reverse()
    sources.update_columns(database("people"), "code", news)
    assert_frame_equal(sources.read(database("people")).frame.sort("code"), news.sort("code"))


def test_big_tables_come_in_batches(database):
    count = 50_001
    frame = pl.DataFrame({"id": range(count), "x": [i / 7 for i in range(count)]})
    sources.write(frame, database("big"))
    assert_frame_equal(sources.read(database("big")).frame.sort("id"), frame)


cells = {
    "integer": st.none() | st.integers(-(2**63), 2**63 - 1),
    "number": st.none() | st.floats(allow_nan=False, allow_infinity=False),
    "text": st.none() | st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=8),
    "flag": st.none() | st.booleans(),
    "day": st.none() | st.dates(dt.date(1000, 1, 1)),
    "moment": st.none() | st.datetimes(dt.datetime(1000, 1, 1)),
}
frames = st.lists(st.tuples(*cells.values()), max_size=6).map(
    lambda rows: pl.DataFrame(
        rows,
        schema=dict(
            zip(cells, (pl.Int64, pl.Float64, pl.String, pl.Boolean, pl.Date, pl.Datetime("us")), strict=True)
        ),
        orient="row",
    )
)


@settings(max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(frame=frames)
def test_any_frame_comes_back_as_it_went(database, frame):
    sources.write(frame, database("anything"), force=True)
    assert_frame_equal(sources.read(database("anything")).frame, frame, check_row_order=False)
